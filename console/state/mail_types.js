/**
 * The types of replication mail: the name that people read, the name of the colour (see style/theme.css), and the sign on the
 * envelope, which tells the types apart without colours.
 */

/** @type {Readonly<Record<string, string>>} */
const SIGNS = {
  hierarchy: "H",
  content: "C",
  request: "?",
  response: "!",
  status: "S",
  "status-request": "S?",
  other: "M",
};

/** @type {Readonly<Record<number, {name: string, colour: string}>>} */
const TYPES = {
  0x2: { name: "hierarchy", colour: "hierarchy" },
  0x4: { name: "content", colour: "content" },
  0x8: { name: "backfill request", colour: "request" },
  0x10: { name: "status", colour: "status" },
  0x20: { name: "status request", colour: "status-request" },
  0x80000002: { name: "hierarchy response", colour: "response" },
  0x80000004: { name: "content response", colour: "response" },
};

/** Return the sign of the types that have a colour. @param {string} colour */
export const signOf = (colour) => SIGNS[colour];

/** What the legend shows, in the order in which a reader meets it. */
export const LEGEND = [
  { name: "hierarchy", colour: "hierarchy" },
  { name: "content", colour: "content" },
  { name: "backfill request", colour: "request" },
  { name: "hierarchy or content response", colour: "response" },
  { name: "status", colour: "status" },
  { name: "status request", colour: "status-request" },
  { name: "other mail", colour: "other" },
];

/**
 * Return the name of a message type; mail without one is ordinary mail.
 * @param {number | undefined} messageType
 */
export function mailTypeName(messageType) {
  return (messageType !== undefined && TYPES[messageType]?.name) || "ordinary mail";
}

/**
 * Return the name of the colour of a message type.
 * @param {number | undefined} messageType
 */
export function mailColour(messageType) {
  return (messageType !== undefined && TYPES[messageType]?.colour) || "other";
}

/**
 * Return whether a mail asks for the changes that it names; the others bring them.
 * @param {number | undefined} messageType
 */
export function isRequest(messageType) {
  return messageType === 0x8;
}
