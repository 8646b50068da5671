/**
 * What a mail reader shows of a state: the tree of folders, the posts of a folder on one or several servers, what a server does
 * not have yet, and where a change is. Pure functions of the state, and for `whereIs` of the events.
 *
 * A store shows only what it has. The console knows more: `existing` of a folder names every change in the lab. So a list of
 * posts can have a row for a post that the store does not have yet.
 */

import * as numbers from "./change_numbers.js";
import { HIERARCHY, splitNumber, storeName } from "./lab_state.js";

/**
 * @typedef {import("./lab_state.js").LabState} LabState
 * @typedef {import("./events.js").LabEvent} LabEvent
 * @typedef {import("./lab_state.js").Change} Change
 * @typedef {import("./lab_state.js").Entry} Entry
 * @typedef {import("./lab_state.js").Item} Item
 * @typedef {import("./lab_time.js").LabTime} LabTime
 *
 * @typedef {object} TreeRow A folder in the tree.
 * @property {string} id
 * @property {string} path
 * @property {string} name the last part of the path
 * @property {string} parent the id of the parent; "" at the top
 * @property {number} depth 0 at the top
 * @property {boolean} branches it has subfolders
 *
 * @typedef {object} Cell A post on one server.
 * @property {Item | null} item what the server shows; null if it has nothing of this post
 * @property {readonly string[]} missing the changes of this post that exist and that the server does not have
 *
 * @typedef {object} PostRow A post, and what each of the compared servers has of it.
 * @property {string} object
 * @property {LabTime} at when the post was created
 * @property {readonly Cell[]} cells in the order of the servers
 *
 * @typedef {object} Place Whether a server has a change.
 * @property {string} server
 * @property {boolean} has
 * @property {LabTime | null} at since when; null if it is not known
 * @property {string} way how it came: "made here", "broadcast", "backfill" ...
 * @property {string} mail the Message-ID of the mail that brought it; "" if there was none
 * @property {Entry | null} entry the backfill array entry that names the change
 */

/** The most missing numbers that are looked up one by one. A new replica can lack all changes of a folder. */
const MOST_MISSING = 2_000;

// --- the tree

/**
 * Return all folders that exist, as rows of a tree: each parent directly before its subfolders.
 * @param {LabState} state
 * @returns {TreeRow[]}
 */
export function folderTree(state) {
  const folders = Object.values(state.folders)
    .filter((folder) => folder.id !== HIERARCHY && !folder.deleted)
    // "/" sorts like the lowest letter, so that nothing comes between a parent and its subfolders.
    .map(({ id, path }) => ({ id, path, key: path.toLowerCase().replaceAll("/", "\u0000") }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.id < b.id ? -1 : 1));
  /** @type {TreeRow[]} */
  const above = [];
  return folders.map(({ id, path }) => {
    while (above.length && !path.startsWith(`${above[above.length - 1].path}/`)) above.pop();
    const parent = above.at(-1);
    if (parent) parent.branches = true;
    const row = {
      id,
      path,
      name: parent ? path.slice(parent.path.length + 1) : path,
      parent: parent?.id ?? "",
      depth: above.length,
      branches: false,
    };
    above.push(row);
    return row;
  });
}

/**
 * Return the rows of the tree that are to be seen. With a filter these are the folders whose path contains it, and their
 * parents; without one, all folders that are not below a folded one.
 * @param {readonly TreeRow[]} rows
 * @param {string} filter
 * @param {(id: string) => boolean} folded
 * @returns {TreeRow[]}
 */
export function visibleRows(rows, filter, folded) {
  const term = filter.trim().toLowerCase();
  /** @type {Set<string>} */
  const hidden = new Set();
  if (!term) {
    return rows.filter((row) => {
      const below = hidden.has(row.parent) || (row.parent !== "" && folded(row.parent));
      if (below) hidden.add(row.id);
      return !below;
    });
  }
  const ids = new Set();
  const parents = new Map(rows.map((row) => [row.id, row.parent]));
  for (const row of rows) {
    if (!row.path.toLowerCase().includes(term)) continue;
    for (let id = row.id; id && !ids.has(id); id = parents.get(id) ?? "") ids.add(id);
  }
  return rows.filter((row) => ids.has(row.id));
}

/**
 * Return whether a server knows that a folder exists. Folders of the topology are known from the start; a later folder is
 * known when the change of the hierarchy has arrived.
 * @param {LabState} state
 * @param {string} server
 * @param {string} folder
 */
export function knowsFolder(state, server, folder) {
  const item = state.servers[server]?.tables[HIERARCHY]?.items[folder];
  return item ? !item.deleted : splitNumber(folder)[0] === state.setup;
}

/**
 * Return whether a server has a replica of a folder. A replica that waits for its deletion counts.
 * @param {LabState} state
 * @param {string} server
 * @param {string} folder
 */
export function hasReplica(state, server, folder) {
  const table = state.servers[server]?.tables[folder];
  return table?.pending === true || (state.folders[folder]?.replicas.includes(server) ?? false);
}

// --- posts

/**
 * Return all numbers of a set as traces write them, `{guid}:17`, but at most `limit`.
 * @param {numbers.NumberSet} set
 * @param {number} limit
 */
function changesOf(set, limit) {
  /** @type {string[]} */
  const changeNumbers = [];
  for (const [guid, ranges] of set) {
    for (const [low, high] of ranges) {
      for (let counter = low; counter <= high; counter++) {
        if (changeNumbers.length >= limit) return changeNumbers;
        changeNumbers.push(`${guid}:${counter}`);
      }
    }
  }
  return changeNumbers;
}

/**
 * Return the posts of a folder, the newest first, with what each of these servers has. A post that all of them have deleted is
 * left out. A post that no listed server has is a row too if it exists in the lab.
 * @param {LabState} state
 * @param {string} folder
 * @param {readonly string[]} servers
 * @returns {PostRow[]}
 */
export function postRows(state, folder, servers) {
  const existing = state.folders[folder]?.existing ?? numbers.NOTHING;
  /** @type {Map<string, {object: string, at: LabTime, cells: {item: Item | null, missing: string[]}[]}>} */
  const rows = new Map();
  const rowOf = (/** @type {string} */ object) => {
    let row = rows.get(object);
    if (!row) {
      // An object has the number of the change that created it.
      row = { object, at: state.changes.get(object)?.at ?? 0, cells: servers.map(() => ({ item: null, missing: [] })) };
      rows.set(object, row);
    }
    return row;
  };
  servers.forEach((server, column) => {
    const table = state.servers[server]?.tables[folder];
    for (const object in table?.items) rowOf(object).cells[column].item = table.items[object];
    if (!hasReplica(state, server, folder)) return;
    for (const number of changesOf(numbers.minus(existing, table?.numbers ?? numbers.NOTHING), MOST_MISSING)) {
      const change = state.changes.get(number);
      if (change && change.kind !== "folder") rowOf(change.object).cells[column].missing.push(number);
    }
  });
  return [...rows.values()]
    .filter(
      ({ cells }) => cells.some(({ item }) => item && !item.deleted) || cells.some((cell) => lacksPost(state, cell)),
    )
    .sort((a, b) => b.at - a.at || later(state, a.object, b.object));
}

/**
 * Compare two posts that were created at the same instant by their numbers, the later one first.
 * @param {LabState} state
 * @param {string} a
 * @param {string} b
 */
function later(state, a, b) {
  const [guid, counter] = splitNumber(a);
  const [otherGuid, otherCounter] = splitNumber(b);
  const byStore = storeName(state, otherGuid).localeCompare(storeName(state, guid), "en", { numeric: true });
  return byStore || otherCounter - counter;
}

/**
 * Return whether a server has nothing of a post that it should show: it was made, and not deleted since.
 * @param {LabState} state
 * @param {Cell} cell
 */
function lacksPost(state, { item, missing }) {
  return !item && missing.length > 0 && missing.every((number) => state.changes.get(number)?.operation !== "delete");
}

/**
 * Return the entry of a server's backfill array that names a change; null if the store does not know that it lacks it.
 * @param {LabState} state
 * @param {string} server
 * @param {string} folder
 * @param {string} number
 * @returns {Entry | null}
 */
export function entryFor(state, server, folder, number) {
  const [guid, counter] = splitNumber(number);
  const entries = state.servers[server]?.tables[folder]?.entries ?? {};
  return Object.values(entries).find(({ missing }) => numbers.has(missing, guid, counter)) ?? null;
}

/**
 * Return why the first of these versions is the one that is shown (CF-1): it was modified last, or at the same time and has the
 * larger replica GUID. `at` is the time of the modification, by number.
 * @param {readonly string[]} versions of a conflict
 * @param {(number: string) => LabTime} at
 * @returns {"last" | "guid"}
 */
export function winnerReason([winner, ...others], at) {
  return others.some((other) => at(other) === at(winner)) ? "guid" : "last";
}

/**
 * Return for each holder of a folder whether it has a change, since when, and which mail brought it.
 *
 * The state says whether a server has the change. The events up to the state say the rest; an event that is not there any more,
 * for example after a restore, leaves the instant unknown.
 * @param {LabState} state
 * @param {import("./log.js").Entries<LabEvent>} events
 * @param {string} folder
 * @param {string} number
 * @returns {Place[]}
 */
export function whereIs(state, events, folder, number) {
  const [guid, counter] = splitNumber(number);
  const holders = Object.keys(state.servers).filter((name) => hasReplica(state, name, folder));
  /** @type {Map<string, {at: LabTime, way: string, mail: string}>} */
  const arrivals = new Map();
  /** @type {Map<string, string>} the mail that each server received last */
  const mails = new Map();
  const end = Math.min(state.count, events.length);
  for (let index = 0; index < end; index++) {
    const event = /** @type {any} */ (events.at(index));
    if (event === undefined) continue; // forgotten
    if (event.type === "mail.received") mails.set(event.node, event.mail ?? "");
    else if (event.type === "change.made" && event.number === number) {
      arrivals.set(event.node, { at: event.at, way: "made here", mail: "" });
    } else if (event.type === "version.applied" && event.folder === folder && brings(event, number, guid, counter)) {
      arrivals.set(event.node, { at: event.at, way: event.way, mail: mails.get(event.node) ?? "" });
    }
  }
  return holders.map((server) => {
    const table = state.servers[server].tables[folder];
    const has = numbers.has(table?.numbers ?? numbers.NOTHING, guid, counter);
    const arrival = has ? arrivals.get(server) : undefined;
    return {
      server,
      has,
      at: arrival?.at ?? null,
      way: arrival?.way ?? "",
      mail: arrival?.mail ?? "",
      entry: has ? null : entryFor(state, server, folder, number),
    };
  });
}

/**
 * @param {any} event
 * @param {string} number
 * @param {string} guid
 * @param {number} counter
 */
function brings(event, number, guid, counter) {
  if (event.number === number) return true;
  return event.stands_for.includes(guid) && numbers.has(numbers.parse(event.stands_for), guid, counter);
}

// --- texts of others

// eslint-disable-next-line no-control-regex -- these characters are what the pattern is for
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Return a name or a subject with control characters made visible. A character that turns the direction of text could make
 * `exe.png` look like another name.
 * @param {string} text
 */
export function visibleText(text) {
  return text.replace(UNSEEN, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
