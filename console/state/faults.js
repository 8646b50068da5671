/** The kinds of fault: what each does, and what a form asks for to inject it. The lab checks every value. */

/**
 * @typedef {object} Field
 * @property {string} name as the API calls it
 * @property {string} label
 * @property {"server" | "connector" | "mail type" | "end" | "verb" | "effect" | "number" | "duration" | "yes"} kind
 * @property {boolean} [required]
 * @property {string} [first] what the form has at first
 * @property {string} [hint]
 *
 * @typedef {object} FaultForm
 * @property {string} kind
 * @property {string} name
 * @property {string} does
 * @property {readonly Field[]} fields
 */

/** The types of mail as faults name them. */
export const MAIL_TYPES = [
  "hierarchy",
  "content",
  "backfill request",
  "status",
  "status request",
  "hierarchy response",
  "content response",
];

/** The steps of the SMTP dialogue at which something can go wrong. STARTTLS is only in labs with certificates. */
export const VERBS = ["connect", "EHLO", "AUTH", "MAIL", "RCPT", "XEXCH50", "DATA", "BDAT", "end of data", "QUIT"];

/** What can go wrong at such a step. */
export const EFFECTS = ["451", "504", "550", "disconnect", "silence", "tarpit"];

/** The kinds that separate servers, sites, or the ends of a connector. */
export const SEPARATIONS = ["cut", "blackhole"];

/** @type {Field} */
const FROM = { name: "from", label: "from", kind: "server" };
/** @type {Field} */
const TO = { name: "to", label: "to", kind: "server" };
/** @type {Field} */
const TYPE = { name: "type", label: "type of mail", kind: "mail type" };
/** @type {Field} */
const CONNECTOR = { name: "connector", label: "on connector", kind: "connector" };
/** @type {readonly Field[]} */
const ENDS = [
  CONNECTOR,
  { name: "from", label: "or between", kind: "end" },
  { name: "to", label: "and", kind: "end" },
  { name: "oneWay", label: "only from the first to the second", kind: "yes" },
];
/** @type {Field} */
const COUNT = { name: "count", label: "how many", kind: "number", hint: "empty: until it is healed" };
/** @type {Field} */
const LASTS = { name: "lasts", label: "for", kind: "duration", hint: "such as 2 h" };
const MAILS = [FROM, TO, TYPE, CONNECTOR, COUNT];

/** @type {readonly FaultForm[]} */
export const FAULT_FORMS = [
  {
    kind: "lose",
    name: "Lose",
    does: "The receiving server accepts the mail, and drops it.",
    fields: withCount(MAILS, "1"),
  },
  {
    kind: "delay",
    name: "Delay",
    does: "The mail waits in the queue of the sending server.",
    fields: [...MAILS, { name: "by", label: "by", kind: "duration", first: "20 min", required: true }],
  },
  { kind: "duplicate", name: "Duplicate", does: "The sending server sends the mail twice.", fields: MAILS },
  {
    kind: "reorder",
    name: "Reorder",
    does: "The first of two mails waits, so that the second overtakes it.",
    fields: [...withCount(MAILS, "1"), { name: "by", label: "the first waits", kind: "duration", first: "20 min" }],
  },
  {
    kind: "alter",
    name: "Alter",
    does: "The mail arrives altered. Only its signature reveals this.",
    fields: [...MAILS, LASTS],
  },
  {
    kind: "hold",
    name: "Hold",
    does: "All mail from one server to another waits in the queue until the time is over.",
    fields: [FROM, TO, CONNECTOR, { ...LASTS, first: "2 h", required: true }],
  },
  {
    kind: "cut",
    name: "Cut",
    does: "Connections are refused: on a connector, or between two servers or sites.",
    fields: ENDS,
  },
  {
    kind: "blackhole",
    name: "Black hole",
    does: "Packets are dropped: connections are neither accepted nor refused, and each attempt takes 10 s.",
    fields: ENDS,
  },
  {
    kind: "smtp",
    name: "SMTP",
    does: "A step of the SMTP dialogue goes wrong on the receiving server.",
    fields: [
      { name: "at", label: "at", kind: "verb", required: true, first: "RCPT" },
      { name: "does", label: "answer", kind: "effect", required: true, first: "451" },
      { name: "by", label: "tarpit delays by", kind: "duration", hint: "such as 20 min" },
      FROM,
      TO,
      CONNECTOR,
      COUNT,
      LASTS,
    ],
  },
  {
    kind: "unstamp",
    name: "Unstamp",
    does: "The directory entry of a server loses its mail addresses, and does not get new ones.",
    fields: [{ name: "server", label: "server", kind: "server", required: true }],
  },
];

/**
 * @param {readonly Field[]} fields
 * @param {string} first
 * @returns {Field[]}
 */
function withCount(fields, first) {
  return fields.map((each) => (each.name === "count" ? { ...each, first } : each));
}

/**
 * Return what the API takes for the values of a form. Empty values are left out.
 * @param {string} kind
 * @param {Record<string, string | boolean>} values
 * @returns {Record<string, unknown>}
 */
export function faultRequest(kind, values) {
  /** @type {Record<string, unknown>} */
  const request = { kind };
  for (const [name, value] of Object.entries(values)) {
    const given = typeof value === "string" ? value.trim() : value;
    if (given === "" || given === false) continue;
    request[name] = name === "count" ? Number(given) : given;
  }
  const { oneWay } = request;
  delete request.oneWay;
  if (SEPARATIONS.includes(kind) && !request.connector && !oneWay && request.from && request.to) {
    request.between = [request.from, request.to];
    delete request.from;
    delete request.to;
  }
  return request;
}
