/** What a state says at a glance: who is behind, what is missing, which folders agree. Pure functions of the state. */

import * as numbers from "./change_numbers.js";
import { HIERARCHY } from "./lab_state.js";

/**
 * @typedef {import("./lab_state.js").LabState} LabState
 * @typedef {import("./lab_state.js").Server} Server
 * @typedef {import("./change_numbers.js").NumberSet} NumberSet
 * @typedef {"in sync" | "behind" | "locally modified" | "pending" | "away"} Sync
 *
 * @typedef {object} ReplicaSummary
 * @property {string} folder
 * @property {string} server
 * @property {Sync} sync
 * @property {NumberSet} missing what exists in the lab and this store does not have
 * @property {NumberSet} unsent what this store has made and not sent yet
 */

/**
 * @typedef {object} Comparison What a replica lacks and has not sent, and what this was computed from.
 * @property {NumberSet} existing
 * @property {NumberSet} sent
 * @property {string} guid
 * @property {NumberSet} missing
 * @property {NumberSet} unsent
 */

/** The last comparison of each set. Sets never change, and a lab can have 12,000 replicas, so an answer is computed once. */
const comparisons = /** @type {WeakMap<NumberSet, Comparison>} */ (new WeakMap());

/**
 * Compare what a replica has with what exists, and with what its store has sent.
 * @param {NumberSet} has
 * @param {NumberSet} existing
 * @param {NumberSet} sent
 * @param {string} guid of the store
 * @returns {Comparison}
 */
function comparison(has, existing, sent, guid) {
  if (has.size === 0) return { existing, sent, guid, missing: existing, unsent: numbers.NOTHING };
  const before = comparisons.get(has);
  if (before && before.existing === existing && before.sent === sent && before.guid === guid) return before;
  const own = guid ? numbers.ofGuid(has, guid) : numbers.NOTHING;
  const comparison = {
    existing,
    sent,
    guid,
    missing: has === existing ? numbers.NOTHING : numbers.minus(existing, has),
    unsent: own.size ? numbers.minus(own, sent) : numbers.NOTHING,
  };
  comparisons.set(has, comparison);
  return comparison;
}

/** The last lists of held folders of each state, and after how many events. The panel of a server needs one several times. */
const lastLists = /** @type {WeakMap<LabState, {count: number, lists: Map<string, string[]>}>} */ (new WeakMap());

/**
 * Return the folders whose replica a server has, the hierarchy first. A replica that waits for its deletion is included.
 * @param {LabState} state
 * @param {string} server
 * @returns {string[]}
 */
export function heldFolders(state, server) {
  let cache = lastLists.get(state);
  if (cache?.count !== state.count) lastLists.set(state, (cache = { count: state.count, lists: new Map() }));
  const list = cache.lists.get(server) ?? listFolders(state, server);
  cache.lists.set(server, list);
  return list;
}

/**
 * @param {LabState} state
 * @param {string} server
 * @returns {string[]}
 */
function listFolders(state, server) {
  if (state.servers[server]?.status === "not started") return [];
  const tables = state.servers[server]?.tables ?? {};
  return Object.values(state.folders)
    .filter((folder) => folder.id === HIERARCHY || folder.replicas.includes(server) || tables[folder.id]?.pending)
    .filter((folder) => !folder.deleted && !tables[folder.id]?.dropped)
    .map((folder) => folder.id);
}

/**
 * Return how many items a store shows in a folder.
 * @param {LabState} state
 * @param {string} server
 * @param {string} folder
 */
export function shownItems(state, server, folder) {
  const items = Object.values(state.servers[server]?.tables[folder]?.items ?? {});
  return items.filter((item) => !item.deleted).length;
}

/**
 * Compare what a store has with what exists in the lab. A store itself cannot know this.
 * @param {LabState} state
 * @param {string} server
 * @param {string} folder
 * @returns {ReplicaSummary}
 */
export function replicaSummary(state, server, folder) {
  const store = state.servers[server];
  const table = store?.tables[folder];
  const has = table?.numbers ?? numbers.NOTHING;
  const existing = state.folders[folder]?.existing ?? numbers.NOTHING;
  const compared = comparison(has, existing, table?.sent ?? numbers.NOTHING, store?.guid ?? "");
  const { missing } = compared;
  const unsent = hasOthers(state, server, folder) ? compared.unsent : numbers.NOTHING;
  /** @type {Sync} */
  let sync = "in sync";
  if (store?.status !== "running") sync = "away";
  else if (table?.pending) sync = "pending";
  else if (missing.size) sync = "behind";
  else if (unsent.size) sync = "locally modified";
  return { folder, server, sync, missing, unsent };
}

/** Return whether another server has a replica. Without one, a store sends its changes to nobody. @param {LabState} state @param {string} server @param {string} folder */
function hasOthers(state, server, folder) {
  if (folder === HIERARCHY) return Object.keys(state.servers).length > 1;
  return (state.folders[folder]?.replicas ?? []).some((name) => name !== server);
}

/**
 * @typedef {object} FolderSummary
 * @property {string} folder
 * @property {boolean} agrees all running holders have everything that exists
 * @property {ReplicaSummary[]} replicas
 * @property {ReplicaSummary[]} leaving replicas that wait for their deletion, which are not on the list any more
 */

/** The last summaries of each state, and after how many events. Several views need them. */
const summarized = /** @type {WeakMap<LabState, {count: number, folders: FolderSummary[]}>} */ (new WeakMap());

/**
 * Return for each folder with replicas whether its holders agree, as the simulator's oracle judges it: by change numbers.
 * @param {LabState} state
 * @returns {FolderSummary[]}
 */
export function folderSummaries(state) {
  const cache = summarized.get(state);
  if (cache?.count === state.count) return cache.folders;
  const folders = summaries(state);
  summarized.set(state, { count: state.count, folders });
  return folders;
}

/**
 * @param {LabState} state
 * @returns {FolderSummary[]}
 */
function summaries(state) {
  return Object.values(state.folders)
    .filter((folder) => !folder.deleted)
    .map((folder) => {
      const holders = folder.id === HIERARCHY ? Object.keys(state.servers) : folder.replicas;
      const replicas = holders
        .filter((name) => state.servers[name] && !["not started", "deleted"].includes(state.servers[name].status))
        .map((name) => replicaSummary(state, name, folder.id));
      const leaving = Object.values(state.servers)
        .filter(({ name, tables }) => tables[folder.id]?.pending && !holders.includes(name))
        .map(({ name }) => replicaSummary(state, name, folder.id));
      return { folder: folder.id, agrees: replicas.every((replica) => replica.missing.size === 0), replicas, leaving };
    });
}
