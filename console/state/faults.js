/** The form of a fault, made from the JSON Schema of its kind that the lab serves. The lab checks every value. */

/**
 * @typedef {object} Field
 * @property {string} name as the API calls it; `between.0` and `between.1` are the ends of `between`
 * @property {string} label
 * @property {"server" | "connector" | "server or site" | "word" | "number" | "span" | "yes" | "text"} kind
 * @property {readonly string[]} [words] what it can be
 * @property {boolean} required
 * @property {string} first what the form has at first
 * @property {string} hint
 */

/** The kinds that separate servers, sites, or the ends of a connector. */
export const SEPARATIONS = ["cut", "blackhole"];

/** Fields that only the panel of a mail fills in. */
const OF_ONE_MAIL = ["link", "mail"];

/** Fields that only a simulated campaign gives. */
const OF_CAMPAIGNS = ["how"];

/**
 * Return the fields of the form for a kind of fault.
 * @param {any} schema
 * @returns {Field[]}
 */
export function fieldsOf(schema) {
  const properties = Object.entries(schema.properties).filter(
    ([name]) => name !== "kind" && !OF_ONE_MAIL.includes(name) && !OF_CAMPAIGNS.includes(name),
  );
  return properties.flatMap(([name, value]) => {
    const required = (schema.required ?? []).includes(name);
    if (value.type !== "array") return [fieldOf(name, value.title ?? name, value, required)];
    return ["between", "and"].map((label, end) => fieldOf(`${name}.${end}`, label, value.items, required));
  });
}

/**
 * @param {string} name
 * @param {string} label
 * @param {any} schema
 * @param {boolean} required
 * @returns {Field}
 */
function fieldOf(name, label, schema, required) {
  const { type, format, examples = [] } = schema;
  const words = schema.enum ?? (examples.length > 1 ? examples : undefined);
  const kind = words
    ? "word"
    : (format ?? { boolean: "yes", integer: "number" }[/** @type {string} */ (type)] ?? "text");
  const first = schema.default ?? (required || kind === "number" ? examples[0] : undefined) ?? "";
  const hint = kind === "span" && examples.length > 0 ? `such as ${examples[0]}` : (schema.description ?? "");
  return { name, label, kind, words, required, first: String(first), hint };
}

/**
 * Return what the API takes for the values of a form. Empty values are left out.
 * @param {string} kind
 * @param {readonly Field[]} fields
 * @param {Record<string, string | boolean>} values
 * @returns {Record<string, unknown>}
 */
export function faultRequest(kind, fields, values) {
  /** @type {Record<string, any>} */
  const request = { kind };
  for (const { name, kind: input } of fields) {
    const entry = values[name];
    const value = typeof entry === "string" ? entry.trim() : entry;
    if (value === "" || value === false || value === undefined) continue;
    const [field, end] = name.split(".");
    if (end === undefined) request[field] = input === "number" ? Number(value) : value;
    else request[field] = [...(request[field] ?? []), value];
  }
  return request;
}
