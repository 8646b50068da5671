/**
 * The list of all mails, and what is searched in it.
 *
 * A search has words, which may stand anywhere in what the list shows, and filters: `from:A to:B type:status folder:Projects
 * change:A-1 day:2003-10-21 is:lost`. All must fit. A value with spaces stands in quotation marks: `type:"status request"`. `from`
 * and `to` take a server or a part of an address, and `about` takes a part of a subject or of a folder. The verb `pflab track` finds
 * the same mails.
 */

import { folderName, setName } from "./lab_state.js";
import { isoInstant } from "./lab_time.js";
import { mailTypeName } from "./mail_types.js";

/**
 * @typedef {import("./lab_state.js").LabState} LabState
 * @typedef {import("./lab_state.js").Mail} Mail
 *
 * @typedef {"waiting" | "on its way" | "arrived" | "lost" | "returned" | "deleted" | "gone"} Whereabouts
 *
 * @typedef {object} Row One mail of the list, in words.
 * @property {string} id
 * @property {number | undefined} messageType
 * @property {string} type
 * @property {string} from
 * @property {string[]} to
 * @property {string} subject of ordinary mail
 * @property {string[]} folders
 * @property {string[]} changes the changes that it brings or asks for, by folder
 * @property {number} at
 * @property {number} size
 * @property {Whereabouts[]} is where its copies are
 */

/** What can be searched by name. */
export const FILTERS = ["from", "to", "about", "type", "folder", "change", "day", "is", "id"];

/** The states that a copy can have, as a search and the verb `track` name them. */
export const STATES = ["delivered", "waiting", "lost", "returned", "deleted"];

/**
 * Return the mails of a state that a search fits, the newest first, and how many mails there are.
 * @param {LabState} state
 * @param {ReadonlySet<string>} crossing the mails that are on their way
 * @param {string} search
 * @param {number} most how many rows are returned
 * @returns {{rows: Row[], fitting: number, all: number}}
 */
export function mailList(state, crossing, search, most) {
  const waiting = new Set(Object.values(state.servers).flatMap((server) => Object.keys(server.queue)));
  const fits = fitting(search);
  const mails = state.mails.values().reverse();
  /** @type {Row[]} */
  const rows = [];
  let count = 0;
  for (const mail of mails) {
    if (!fits && rows.length === most) break;
    const row = rowOf(state, mail, crossing, waiting);
    if (fits && !fits(row)) continue;
    count += 1;
    if (rows.length < most) rows.push(row);
  }
  return { rows, fitting: fits ? count : mails.length, all: mails.length };
}

/**
 * @param {LabState} state
 * @param {Mail} mail
 * @param {ReadonlySet<string>} crossing
 * @param {ReadonlySet<string>} waiting
 * @returns {Row}
 */
function rowOf(state, mail, crossing, waiting) {
  const named = mail.folders.filter(({ folder }) => folder);
  return {
    id: mail.id,
    messageType: mail.type,
    type: mailTypeName(mail.type),
    from: mail.sender || mail.from,
    to: [...mail.to],
    subject: mail.subject,
    folders: named.map(({ folder }) => folderName(state, folder)),
    changes: named.map(({ cnset }) => setName(state, cnset)).filter(Boolean),
    at: mail.at,
    size: mail.size,
    is: whereabouts(mail, crossing, waiting),
  };
}

/**
 * @param {Mail} mail
 * @param {ReadonlySet<string>} crossing
 * @param {ReadonlySet<string>} waiting
 * @returns {Whereabouts[]}
 */
function whereabouts(mail, crossing, waiting) {
  /** @type {Whereabouts[]} */
  const places = [];
  if (mail.legs.some(({ outcome }) => outcome === "lost")) places.push("lost");
  if (crossing.has(mail.id)) places.push("on its way");
  else if (waiting.has(mail.id)) places.push("waiting");
  if (mail.returned.length) places.push("returned");
  if (mail.deleted.length) places.push("deleted");
  if (mail.received.length || mail.legs.some(({ outcome }) => outcome === "arrived")) places.push("arrived");
  return places.length ? places : ["gone"];
}

/**
 * The parts of a search.
 * @param {string} search
 * @returns {{text: string, name: string, value: string}[]} text: as it was typed; name: of a filter, "" for a word
 */
function termsOf(search) {
  return [...search.matchAll(/(?:(\w+):)?(?:"([^"]*)"|(\S+))/g)].map(([text, word, quoted, plain]) => {
    const name = word?.toLowerCase() ?? "";
    return FILTERS.includes(name) ? { text, name, value: quoted ?? plain } : { text, name: "", value: quoted ?? text };
  });
}

/** Return what a search wants of a filter; "" if nothing. @param {string} search @param {string} name */
export function filterOf(search, name) {
  return termsOf(search).find((term) => term.name === name)?.value ?? "";
}

/**
 * Return a search with another value of a filter; "" removes the filter.
 * @param {string} search
 * @param {string} name
 * @param {string} value
 */
export function withFilter(search, name, value) {
  const words = value.replace(/["\s]+/g, " "); // a space at the end stays: somebody still types
  const own = words.trim() ? [`${name}:${/\s/.test(words) ? `"${words}"` : words}`] : [];
  const others = termsOf(search).filter((term) => term.name !== name);
  return [...others.map(({ text }) => text), ...own].join(" ");
}

/**
 * Return what tells whether a row fits a search; null if everything fits.
 * @param {string} search
 * @returns {((row: Row) => boolean) | null}
 */
function fitting(search) {
  const terms = termsOf(search.toLowerCase());
  if (terms.length === 0) return null;
  return (row) => terms.every((term) => fitsTerm(row, term));
}

/**
 * @param {Row} row
 * @param {{name: string, value: string}} term
 */
function fitsTerm(row, { name, value }) {
  switch (name) {
    case "from":
      return isNamed(row.from, value);
    case "to":
      return [...row.to, ...row.folders].some((name) => isNamed(name, value));
    case "about":
      return [row.subject, ...row.folders].some((text) => text.toLowerCase().includes(value));
    case "day":
      return isoInstant(row.at).startsWith(value.toUpperCase());
    case "id":
      return row.id.toLowerCase() === value.replace(/^<|>$/g, "");
    case "type":
      return row.type.includes(value);
    case "folder":
      return row.folders.some((folder) => folder.toLowerCase().includes(value));
    case "change":
      return row.changes.some((set) => hasChange(set, value));
    case "is":
      return row.is.some((place) => place.replaceAll(" ", "-") === stateOf(value.replaceAll(" ", "-")));
    default:
      return [row.type, row.from, ...row.to, row.subject, ...row.folders, ...row.changes, row.id]
        .join(" ")
        .toLowerCase()
        .includes(value);
  }
}

/** The list calls a mail arrived, because a store may still find it bad. @param {string} value */
const stateOf = (value) => (value === "delivered" ? "arrived" : value);

/** Return whether words mean a server or a folder, or are a part of an address. @param {string} name @param {string} words */
function isNamed(name, words) {
  return name.includes("@") ? name.toLowerCase().includes(words) : name.toLowerCase() === words;
}

/**
 * Return whether a set in words, such as `A-1..4, B-2`, has a change, such as `a-3`.
 * @param {string} set
 * @param {string} change
 */
function hasChange(set, change) {
  const [, store, counter] = /^(.*)-(\d+)$/.exec(change) ?? [];
  if (!store) return set.toLowerCase().includes(change);
  return set.split(", ").some((range) => {
    const [, name, low, high] = /^(.*)-(\d+)(?:\.\.(\d+))?$/.exec(range) ?? [];
    return name?.toLowerCase() === store && Number(low) <= Number(counter) && Number(counter) <= Number(high ?? low);
  });
}
