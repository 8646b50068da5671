/** The properties of a connector that an administrator changes, all as text (spec: RT-6). */

/**
 * @typedef {import("./lab_state.js").Connector} Connector
 * @typedef {"cost" | "latency" | "bandwidth" | "schedule" | "size_limit" | "affinity" | "senders" | "bridgeheads"} FieldName
 *
 * @typedef {import("./terminal.js").Value} Value
 *
 * @typedef {object} Field
 * @property {FieldName} name as the API has it
 * @property {string} label
 * @property {string[]} examples
 * @property {(connector: Connector) => string} text
 * @property {(text: string, connector: Connector) => Value} value
 */

/** The kinds of connectors in the words of System Manager. @type {Record<string, string>} */
export const KINDS = {
  "routing-group": "routing group connector",
  x400: "X.400 connector",
  direct: "direct",
  "smtp-relay": "SMTP relay",
};

/** What stands for all senders. */
const EVERYBODY = "everybody";

/** @param {string} text */
const asNumber = (text) => (/^\d+$/.test(text) ? Number(text) : text);

/** @param {string} text */
const names = (text) => text.split(",").map((name) => name.trim());

/**
 * Return a property that is a text, also as the API takes it.
 * @param {FieldName} name
 * @param {string} label
 * @param {string} absent the text of a property that is not set
 * @param {string[]} examples
 * @returns {Field}
 */
const plain = (name, label, absent, examples) => ({
  name,
  label,
  examples,
  text: (connector) => [connector[name] ?? absent].flat().join("; "),
  value: (text) => text,
});

/** @type {Field[]} */
export const FIELDS = [
  { ...plain("cost", "Cost", "1", []), value: Number },
  plain("schedule", "Schedule", "always", ["always", "every 1 h", "every 4 h", "never", "Mon-Fri 20:00-06:00"]),
  plain("bandwidth", "Bandwidth", "none", ["none", "64 kbit/s", "2 Mbit/s"]),
  plain("latency", "Latency", "0 ms", ["0 ms", "80 ms", "2 s"]),
  plain("size_limit", "Size limit", "none", ["none", "1 MB"]),
  { ...plain("affinity", "Cost of referrals", "none", ["none", "10"]), value: asNumber },
  {
    name: "senders",
    label: "Accepted senders",
    examples: [EVERYBODY, "kim@contoso.test, lee@contoso.test"],
    text: ({ senders }) => senders?.join(", ") ?? EVERYBODY,
    value: (text) => (text === EVERYBODY ? [] : names(text)),
  },
  {
    name: "bridgeheads",
    label: "Bridgeheads",
    examples: [],
    text: ({ between, bridgeheads }) => between.map((site) => bridgeheads?.[site] ?? "").join(", "),
    value: (text, { between }) => Object.fromEntries(between.map((site, end) => [site, names(text)[end] ?? ""])),
  },
];

/**
 * Return the properties that differ from those of the connector, as the API takes them.
 * @param {Connector} connector
 * @param {Partial<Record<FieldName, string>>} texts
 * @returns {Record<string, Value>}
 */
export function changedFields(connector, texts) {
  /** @type {Record<string, Value>} */
  const changes = {};
  for (const field of FIELDS) {
    const text = texts[field.name]?.trim();
    if (text === undefined) continue;
    const [value, present] = [text, field.text(connector)].map((words) => field.value(words, connector));
    if (JSON.stringify(value) !== JSON.stringify(present)) changes[field.name] = value;
  }
  return changes;
}
