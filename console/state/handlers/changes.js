/** Events of changes and versions: what each store has, conflicts, and the replicas of folders. */

import * as numbers from "../change_numbers.js";
import { ownBook } from "../kept_book.js";
import { own } from "../kept_tree.js";
import { showAt } from "../paths.js";
import { HIERARCHY, folderOf, serverOf, settle, show, tableOf } from "../lab_state.js";

/**
 * @typedef {import("../lab_state.js").Handlers} Handlers
 * @typedef {import("../lab_state.js").LabState} LabState
 * @typedef {import("../lab_state.js").Server} Server
 */

/** @type {Handlers} */
export const CHANGES = {
  "change.made": (state, event) => {
    state.changes = ownBook(state.gen, state.changes);
    state.changes.set({
      folder: event.folder,
      object: event.object,
      number: event.number,
      kind: event.kind,
      operation: event.operation,
      subject: event.subject,
      node: event.node,
      at: event.at,
      replicas: event.replicas ?? undefined,
    });
    const number = numbers.parse(event.number);
    const folder = folderOf(state, event.folder);
    folder.existing = numbers.union(folder.existing, number);
    if (event.kind === "folder") changeFolder(state, event);
    const server = serverOf(state, event.node);
    if (!server) return;
    if (event.kind === "folder") {
      returnToList(state, server, event);
      server.namedAt = event.at;
    }
    const at = tableOf(state, server, event.folder);
    at.numbers = numbers.union(at.numbers, number);
    show(state, at, event.object, event.number, event.operation === "delete");
  },
  "version.applied": (state, event) => {
    const server = serverOf(state, event.node);
    if (!server) return;
    const at = tableOf(state, server, event.folder);
    at.numbers = numbers.union(at.numbers, numbers.parse(event.stands_for));
    if (event.kind === "folder") returnToList(state, server, event);
    const item = at.items[event.object];
    if (!item?.conflict.length) show(state, at, event.object, event.number, event.deleted);
  },
  "version.ignored": (state, event) => {
    const server = serverOf(state, event.node);
    if (!server || event.reason === "no replica") return;
    const at = tableOf(state, server, event.folder);
    at.numbers = numbers.union(at.numbers, numbers.parse(event.stands_for));
  },
  "version.held": (state, event) => lack(state, event.node, event.folder, event.stands_for),
  "version.failed": (state, event) => {
    if (event.folder && event.number) lack(state, event.node, event.folder, event.number);
  },
  "expired.everywhere": (state, event) => {
    const server = serverOf(state, event.node);
    if (!server) return;
    const at = tableOf(state, server, event.folder);
    at.numbers = numbers.union(at.numbers, numbers.union(numbers.parse(event.cnset), numbers.parse(event.cnset_fai)));
  },
  "item.expired": (state, event) => remove(state, event),
  "tombstone.made": (state, event) => {
    const server = serverOf(state, event.node);
    if (server) show(state, tableOf(state, server, event.folder), event.object, event.number, true);
    if (event.folder === HIERARCHY && state.folders[event.object]) folderOf(state, event.object).deleted = true;
  },
  "tombstone.dropped": (state, event) => remove(state, event),
  "conflict.arose": (state, event) => {
    const server = serverOf(state, event.node);
    if (!server) return;
    const at = tableOf(state, server, event.folder);
    const items = own(state.gen, at, "items");
    items[event.object] = { gen: state.gen, number: event.winner, deleted: false, conflict: event.versions };
    if (!at.conflicts.includes(event.object)) at.conflicts = [...at.conflicts, event.object];
  },
  "conflict.ended": (state, event) => {
    const server = serverOf(state, event.node);
    if (!server) return;
    const at = tableOf(state, server, event.folder);
    show(state, at, event.object, event.number, at.items[event.object]?.deleted ?? false);
  },
  "folder.shown": (state, event) => {
    const server = serverOf(state, event.node);
    if (server) showAt(state, server, event.folder, event.path, false);
  },
  "folder.moved": (state, event) => {
    const server = serverOf(state, event.node);
    if (server) showAt(state, server, event.folder, event.path, server.namedAt === event.at);
  },
  "replica.added": (state, event) => {
    const folder = folderOf(state, event.folder);
    if (!folder.replicas.includes(event.store)) folder.replicas = [...folder.replicas, event.store].sort();
    const server = serverOf(state, event.node);
    if (!server || event.store !== event.node) return;
    const at = tableOf(state, server, event.folder);
    at.pending = false;
    at.dropped = false;
  },
  "replica.pending": (state, event) => {
    const folder = folderOf(state, event.folder);
    folder.replicas = folder.replicas.filter((store) => store !== event.node);
    const server = serverOf(state, event.node);
    if (server) tableOf(state, server, event.folder).pending = true;
  },
  "replica.dropped": (state, event) => {
    const server = serverOf(state, event.node);
    if (!server) return;
    const tables = own(state.gen, server, "tables");
    delete tables[event.folder];
    tableOf(state, server, event.folder).dropped = true;
  },
  loss: (state, event) => {
    const folder = folderOf(state, event.folder);
    folder.existing = numbers.minus(folder.existing, numbers.parse(event.cnset));
  },
};

/**
 * A mail accounts for these numbers, but the store could not take them.
 * @param {LabState} state
 * @param {string} node
 * @param {string} folder
 * @param {string} cnset
 */
function lack(state, node, folder, cnset) {
  const server = serverOf(state, node);
  if (!server) return;
  const at = tableOf(state, server, folder);
  at.numbers = numbers.minus(at.numbers, numbers.parse(cnset));
}

/**
 * @param {LabState} state
 * @param {{node: string, folder: string, object: string}} event
 */
function remove(state, event) {
  const server = serverOf(state, event.node);
  if (!server) return;
  const at = tableOf(state, server, event.folder);
  delete own(state.gen, at, "items")[event.object];
  settle(at, event.object);
}

/**
 * @param {LabState} state
 * @param {import("../events.js").ChangeMade} event
 */
function changeFolder(state, event) {
  const folder = folderOf(state, event.object);
  folder.deleted = event.operation === "delete";
  if (event.replicas) folder.replicas = event.replicas;
  if (!event.subject || folder.deleted) return;
  const above = event.parent && event.parent !== HIERARCHY ? state.folders[event.parent] : undefined;
  // If folders are put below each other at the same time, the last one is at the top.
  const parent = above && `${above.path}/`.startsWith(`${folder.path}/`) ? undefined : above;
  if (event.operation === "create") folder.path = parent ? `${parent.path}/${event.subject}` : event.subject;
}

/**
 * A store that waits until it may delete its replica stops waiting when it is on the replica list again.
 * @param {LabState} state
 * @param {Server} server
 * @param {{object: string, number: string}} event
 */
function returnToList(state, server, event) {
  if (!server.tables[event.object]?.pending) return;
  if (state.changes.get(event.number)?.replicas?.includes(server.name))
    tableOf(state, server, event.object).pending = false;
}
