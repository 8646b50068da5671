/**
 * The list of all mails, and what is searched in it.
 *
 * A search has words, which may stand anywhere in what the list shows, and filters: `from:A to:B type:status folder:Projects
 * change:A-1 is:lost`. All must fit. A value with spaces stands in quotation marks: `type:"status request"`.
 */

import { folderName, setName } from "./lab_state.js";
import { mailTypeName } from "./mail_types.js";

/**
 * @typedef {import("./lab_state.js").LabState} LabState
 * @typedef {import("./lab_state.js").Mail} Mail
 *
 * @typedef {"waiting" | "on its way" | "arrived" | "lost" | "gone"} Whereabouts
 *
 * @typedef {object} Row One mail of the list, in words.
 * @property {string} id
 * @property {number | undefined} messageType
 * @property {string} type
 * @property {string} from
 * @property {string[]} to
 * @property {string[]} folders
 * @property {string[]} changes the changes that it brings or asks for, by folder
 * @property {number} at
 * @property {number} size
 * @property {Whereabouts[]} is where its copies are
 */

/** What can be searched by name. */
export const FILTERS = ["from", "to", "type", "folder", "change", "is"];

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
    from: mail.from,
    to: [...mail.to],
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
  if (mail.legs.some(({ outcome }) => outcome === "arrived")) places.push("arrived");
  return places.length ? places : ["gone"];
}

/**
 * Return what tells whether a row fits a search; null if everything fits.
 * @param {string} search
 * @returns {((row: Row) => boolean) | null}
 */
function fitting(search) {
  const terms = [...search.toLowerCase().matchAll(/(?:(\w+):)?(?:"([^"]*)"|(\S+))/g)].map(
    ([term, name, quoted, plain]) =>
      FILTERS.includes(name) ? { name, value: quoted ?? plain } : { name: "", value: quoted ?? term },
  );
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
      return row.from.toLowerCase() === value;
    case "to":
      return row.to.some((store) => store.toLowerCase() === value);
    case "type":
      return row.type.includes(value);
    case "folder":
      return row.folders.some((folder) => folder.toLowerCase().includes(value));
    case "change":
      return row.changes.some((set) => hasChange(set, value));
    case "is":
      return row.is.some((place) => place.replaceAll(" ", "-") === value.replaceAll(" ", "-"));
    default:
      return [row.type, row.from, ...row.to, ...row.folders, ...row.changes, row.id]
        .join(" ")
        .toLowerCase()
        .includes(value);
  }
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
