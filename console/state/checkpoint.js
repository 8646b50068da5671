/**
 * The state of a lab after events that the lab itself has forgotten, as `GET /lab/checkpoint` tells it (pflab/runs/checkpoint.py).
 * A history begins with it as with the beginning of a run.
 */

import * as numbers from "./change_numbers.js";
import { mailFolders } from "./handlers/mails.js";
import { Book } from "./kept_book.js";
import { newGeneration, table } from "./kept_tree.js";

/**
 * @typedef {import("./change_numbers.js").NumberSet} NumberSet
 * @typedef {import("./lab_state.js").LabState} LabState
 * @typedef {import("./lab_state.js").Server} Server
 * @typedef {import("./lab_state.js").Table} Table
 *
 * @typedef {Record<string, [number, number][]>} TakenSet
 * @typedef {Omit<Server, "gen" | "tables" | "queue"> & {tables: Record<string, TakenTable>, queue: Record<string, object>}} TakenServer
 *
 * @typedef {object} TakenTable
 * @property {TakenSet} numbers
 * @property {Record<string, {numbers: [string, string], sentAt: number, heardAt: number}>} rows
 * @property {Record<string, {missing: TakenSet}>} entries
 * @property {Record<string, string | {number: string, deleted: boolean, conflict: string[]}>} items a text is the number of a
 *   version that is neither deleted nor in conflict
 * @property {string[]} conflicts
 * @property {boolean} pending
 * @property {boolean} dropped
 * @property {number | null} sentAt
 * @property {[string, string]} sent
 *
 * @typedef {object} Checkpoint
 * @property {number} count
 * @property {number} at
 * @property {number} rate
 * @property {Record<string, TakenServer>} servers
 * @property {Record<string, {existing: TakenSet}>} folders
 * @property {Record<string, string>} stores
 * @property {Record<string, {folders: import("./events.js").MailFolder[], type: number | null}>} mails
 * @property {Record<string, import("./lab_state.js").Change>} changes
 * @property {LabState["faults"]} faults
 * @property {Record<string, TakenServer>} backups
 * @property {Record<string, string>} linksDown
 * @property {LabState["carried"]} carried
 * @property {import("./lab_state.js").Topology} topology
 */

/**
 * Return the state of a checkpoint.
 * @param {Checkpoint} checkpoint
 * @param {string} setup the GUID that numbers the folders of the topology
 * @returns {LabState}
 */
export function stateOf(checkpoint, setup) {
  const gen = newGeneration();
  /** @type {Book<import("./lab_state.js").Mail>} */
  const mails = new Book("id");
  for (const mail of Object.values(checkpoint.mails)) {
    const type = mail.type ?? undefined;
    mails.set(/** @type {any} */ ({ ...mail, gen, type, folders: mailFolders(mail.folders) }));
  }
  /** @type {Book<import("./lab_state.js").Change>} */
  const changes = new Book("number");
  for (const change of Object.values(checkpoint.changes)) {
    changes.set({ ...change, replicas: change.replicas ?? undefined });
  }
  return {
    gen,
    count: checkpoint.count,
    at: checkpoint.at,
    rate: checkpoint.rate,
    topology: checkpoint.topology,
    servers: entriesOf(checkpoint.servers, (server) => serverOf(gen, server)),
    folders: entriesOf(checkpoint.folders, (folder) => ({ ...folder, gen, existing: setOf(folder.existing) })),
    stores: entriesOf(checkpoint.stores),
    mails,
    changes,
    faults: entriesOf(checkpoint.faults),
    backups: entriesOf(checkpoint.backups, (server) => serverOf(gen, server)),
    linksDown: entriesOf(checkpoint.linksDown),
    carried: entriesOf(checkpoint.carried),
    setup,
  };
}

/**
 * Return a table with the same keys.
 * @param {Record<string, any>} entries
 * @param {(value: any) => any} [convert]
 */
function entriesOf(entries, convert = (value) => value) {
  const copy = /** @type {Record<string, any>} */ (table());
  for (const key in entries) copy[key] = convert(entries[key]);
  return copy;
}

/** @param {number} gen @param {TakenServer} server @returns {Server} */
function serverOf(gen, server) {
  return {
    ...server,
    gen,
    tables: entriesOf(server.tables, (json) => tableOf(gen, json)),
    queue: entriesOf(server.queue, (queued) => ({ ...queued, gen })),
    down: entriesOf(server.down),
    settings: entriesOf(server.settings),
  };
}

/** @param {number} gen @param {TakenTable} json @returns {Table} */
function tableOf(gen, json) {
  return {
    ...json,
    gen,
    numbers: setOf(json.numbers),
    rows: entriesOf(json.rows, (row) => ({ ...row, gen, numbers: unionOf(row.numbers) })),
    entries: entriesOf(json.entries, (entry) => ({ ...entry, gen, missing: setOf(entry.missing) })),
    items: entriesOf(json.items, (item) =>
      typeof item === "string" ? { gen, number: item, deleted: false, conflict: [] } : { ...item, gen },
    ),
    sent: unionOf(json.sent),
  };
}

/** @param {TakenSet} ranges @returns {NumberSet} */
function setOf(ranges) {
  const set = new Map(Object.entries(ranges));
  return set.size ? set : numbers.NOTHING;
}

/** @param {readonly [string, string]} texts @returns {NumberSet} */
function unionOf([one, other]) {
  return numbers.union(numbers.parse(one), numbers.parse(other));
}
