/**
 * What a lab says at a glance: how much each server lacks, which folders agree, and how many posts are in conflict.
 *
 * A lab can have a thousand folders, and the screen shows its sums ten times a second. So the sums move from moment to moment: of
 * the events between two moments, forwards or backwards, only the folders that they name are counted again.
 */

import { HIERARCHY } from "./lab_state.js";
import { count, NOTHING } from "./change_numbers.js";
import { replicaSummary } from "./summary.js";

/**
 * @typedef {import("./log.js").Entries<import("./events.js").LabEvent>} Events
 * @typedef {import("./lab_state.js").LabState} LabState
 * @typedef {import("./summary.js").Sync} Sync
 *
 * @typedef {object} Part What one replica adds to the sums.
 * @property {boolean} held the server has the replica, or waits for its deletion
 * @property {boolean} lacks the folder does not agree because of it
 * @property {Sync} sync as long as the server runs
 * @property {number} missing
 * @property {number} waiting backfill array entries
 * @property {readonly string[]} conflicts the objects that are in conflict
 *
 * @typedef {object} ServerSums
 * @property {number} folders how many replicas the server has, that of the hierarchy included
 * @property {number} missing how many changes it lacks in all of them
 * @property {number} waiting backfill array entries
 * @property {number} conflicts
 * @property {readonly {folder: string, sync: Sync}[]} replicas the first ones, what needs attention before what does not
 *
 * @typedef {object} LabSums
 * @property {Readonly<Record<string, ServerSums>>} servers
 * @property {number} folders
 * @property {number} agree how many folders agree: all running holders have everything that exists
 * @property {number} conflicts posts that are in conflict on any server
 */

/** The most replicas of a server that are listed. */
export const MOST_LISTED = 10;

/** Between moments that are further apart, everything is counted again. */
const FAR = 2_000;

/** Events after which all replicas of a server can be different, or a server is new. */
const OF_SERVERS = new Set([
  "organization.changed",
  "node.started",
  "node.stopped",
  "store.deleted",
  "store.created",
  "backup.restored",
  "backup.elsewhere",
]);

/** The order in which replicas are listed. @type {readonly Sync[]} */
const ATTENTION = ["behind", "pending", "locally modified", "away", "in sync"];

export class Sums {
  constructor() {
    /** After how many events the sums are right; -1 before the first use. */
    this.count = -1;
    /** By server and folder. @type {Map<string, Map<string, Part>>} */
    this.parts = new Map();
    /** The servers whose parts have lost the order of the folders. @type {Set<string>} */
    this.unordered = new Set();
    /** The folders that are not deleted. @type {Set<string>} */
    this.folders = new Set();
    /** Those of them of which a replica does not have everything. @type {Set<string>} */
    this.disagreeing = new Set();
    /** By object, on how many servers it is in conflict. @type {Map<string, number>} */
    this.conflicts = new Map();
    /** @type {LabSums} */
    this.totals = { servers: {}, folders: 0, agree: 0, conflicts: 0 };
  }

  /**
   * Return the sums of a state. The sums of a server in which nothing has changed are the same object.
   * @param {LabState} state
   * @param {Events} events of the history that the state belongs to
   * @returns {LabSums}
   */
  of(state, events) {
    if (state.count === this.count) return this.totals;
    const folders = this.count < 0 ? null : named(events, this.count, state.count);
    if (folders === null) {
      for (const cache of [this.parts, this.folders, this.disagreeing, this.conflicts]) cache.clear();
      for (const name in state.servers) this.parts.set(name, new Map());
    }
    /** @type {Set<string>} */
    const changed = new Set(folders === null ? this.parts.keys() : []);
    for (const folder of folders ?? Object.keys(state.folders)) this.countFolder(state, folder, changed);
    this.count = state.count;
    if (changed.size === 0 && folders !== null) return this.totals;
    const servers = folders === null ? {} : { ...this.totals.servers };
    for (const name of changed) servers[name] = this.serverSums(state, name);
    const agree = this.folders.size - this.disagreeing.size;
    this.totals = { servers, folders: this.folders.size, agree, conflicts: this.conflicts.size };
    return this.totals;
  }

  /**
   * Count the replicas of a folder again.
   * @param {LabState} state
   * @param {string} id
   * @param {Set<string>} changed gets the servers whose sums are different now
   */
  countFolder(state, id, changed) {
    const folder = state.folders[id];
    let lacks = false;
    for (const [name, parts] of this.parts) {
      const before = parts.get(id);
      const part = folder && !folder.deleted ? partOf(state, name, id) : null;
      for (const object of before?.conflicts ?? []) this.settle(object, -1);
      for (const object of part?.conflicts ?? []) this.settle(object, 1);
      if (part && !before) this.unordered.add(name);
      if (part) parts.set(id, part);
      else parts.delete(id);
      lacks ||= part?.lacks ?? false;
      if (before || part) changed.add(name);
    }
    if (folder && !folder.deleted) this.folders.add(id);
    else this.folders.delete(id);
    if (lacks) this.disagreeing.add(id);
    else this.disagreeing.delete(id);
  }

  /** @param {string} object @param {number} by */
  settle(object, by) {
    const servers = (this.conflicts.get(object) ?? 0) + by;
    if (servers > 0) this.conflicts.set(object, servers);
    else this.conflicts.delete(object);
  }

  /** Return the parts of a server in the order of the folders. @param {LabState} state @param {string} name */
  partsOf(state, name) {
    const parts = this.parts.get(name) ?? new Map();
    if (!this.unordered.delete(name)) return parts;
    const ordered = new Map();
    for (const id in state.folders) if (parts.has(id)) ordered.set(id, parts.get(id));
    this.parts.set(name, ordered);
    return ordered;
  }

  /** @param {LabState} state @param {string} name @returns {ServerSums} */
  serverSums(state, name) {
    const sums = { folders: 0, missing: 0, waiting: 0, conflicts: 0 };
    const bySync = new Map(ATTENTION.map((sync) => [sync, /** @type {string[]} */ ([])]));
    for (const [folder, { held, sync, missing, waiting, conflicts }] of this.partsOf(state, name)) {
      sums.waiting += waiting;
      sums.conflicts += conflicts.length;
      if (!held) continue;
      sums.folders += 1;
      sums.missing += missing;
      bySync.get(sync)?.push(folder);
    }
    /** @type {{folder: string, sync: Sync}[]} */
    const replicas = [];
    for (const [sync, folders] of bySync) {
      for (const folder of folders) if (replicas.length < MOST_LISTED) replicas.push({ folder, sync });
    }
    return { ...sums, replicas };
  }
}

/**
 * Return the folders that the events between two moments name; null if it can be all of them.
 * @param {Events} events
 * @param {number} one
 * @param {number} other
 * @returns {Set<string> | null}
 */
function named(events, one, other) {
  const [from, until] = one < other ? [one, other] : [other, one];
  if (until - from > FAR || until > events.length) return null;
  /** @type {Set<string>} */
  const folders = new Set();
  for (let index = from; index < until; index++) {
    const event = /** @type {any} */ (events.at(index));
    if (event === undefined) return null;
    if (OF_SERVERS.has(event.type) || event.kind === "kill") return null;
    if (event.folder) folders.add(event.folder);
    if (event.object && (event.kind === "folder" || event.folder === HIERARCHY)) folders.add(event.object);
    for (const claim of event.folders ?? []) folders.add(claim.folder);
  }
  return folders;
}

/**
 * @param {LabState} state
 * @param {string} name
 * @param {string} id
 * @returns {Part | null} null if the server has nothing to do with the folder
 */
function partOf(state, name, id) {
  const server = state.servers[name];
  const table = server.tables[id];
  const listed = id === HIERARCHY || state.folders[id].replicas.includes(name);
  if (!listed && !table) return null;
  const { sync, missing } = replicaSummary(state, name, id);
  let waiting = 0;
  for (const _ in table?.entries) waiting += 1;
  return {
    held: (listed || table?.pending === true) && !table?.dropped,
    lacks: listed && missing.size > 0 && server.status !== "not started" && server.status !== "deleted",
    sync,
    missing: missing === NOTHING ? 0 : count(missing),
    waiting,
    conflicts: table?.conflicts ?? [],
  };
}
