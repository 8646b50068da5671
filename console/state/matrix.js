/**
 * The two tables of the view "Replicas": folders by servers, with how far behind each replica is, and for one folder servers by
 * origins, with what each server has of the changes that each store made. Pure functions of the state.
 */

import * as numbers from "./change_numbers.js";
import { folderName, HIERARCHY, setName, storeName } from "./lab_state.js";
import { HOUR_US } from "./lab_time.js";
import { folderSummaries } from "./summary.js";

/**
 * @typedef {import("./change_numbers.js").NumberSet} NumberSet
 * @typedef {import("./lab_state.js").LabState} LabState
 * @typedef {import("./lab_time.js").LabTime} LabTime
 * @typedef {import("./summary.js").FolderSummary} FolderSummary
 * @typedef {import("./summary.js").ReplicaSummary} ReplicaSummary
 * @typedef {"trouble" | "name" | "lag" | "missing"} Order
 *
 * @typedef {object} Origin A store that made changes in a folder.
 * @property {string} guid
 * @property {string} name
 * @property {number} total how many of its changes exist
 *
 * @typedef {object} OriginCell What a server has of the changes of one origin.
 * @property {string} has as people read it: `1..40, 42`
 * @property {number} count
 * @property {string} missing as people read it: `A-41`
 * @property {LabTime | null} since when the oldest missing change was made
 */

/**
 * The upper ends of the steps of lag. After 6 hours a store has requested what it knows to lack from a store of its site. After
 * 36 hours at the latest it has got a status that says what it lacks.
 */
export const LAG_STEPS = [
  { below: HOUR_US, words: "less than 1 h" },
  { below: 6 * HOUR_US, words: "less than 6 h" },
  { below: 36 * HOUR_US, words: "less than 36 h" },
  { below: Infinity, words: "36 h and more" },
];

/**
 * Return the step of a lag, from 0 for a short one.
 * @param {number} lagUs
 */
export function lagStep(lagUs) {
  return LAG_STEPS.findIndex(({ below }) => lagUs < below);
}

/**
 * Return when the oldest of these changes was made; null if none is known.
 *
 * A store gives its numbers in ascending order. So the lowest number of each store is its oldest change.
 * @param {LabState} state
 * @param {NumberSet} missing
 * @returns {LabTime | null}
 */
export function oldestOf(state, missing) {
  let oldest = Infinity;
  for (const [guid, ranges] of missing) {
    const change = ranges.length ? state.changes.get(`${guid}:${ranges[0][0]}`) : undefined;
    if (change && change.at < oldest) oldest = change.at;
  }
  return oldest === Infinity ? null : oldest;
}

/**
 * Return the folders whose path contains `filter`, in this order. "trouble": those whose holders do not agree first.
 * @param {LabState} state
 * @param {{filter: string, order: Order, troubleOnly: boolean}} view
 * @returns {FolderSummary[]}
 */
export function sortedFolders(state, { filter, order, troubleOnly }) {
  const text = filter.trim().toLowerCase();
  const keyed = folderSummaries(state)
    .filter(({ agrees }) => !troubleOnly || !agrees)
    .map((folder) => ({ folder, name: folderName(state, folder.folder), key: keyOf(state, folder, order) }))
    .filter(({ name }) => name.toLowerCase().includes(text));
  return keyed.sort((a, b) => a.key - b.key || before(a, b)).map(({ folder }) => folder);
}

/**
 * @param {LabState} state
 * @param {FolderSummary} folder
 * @param {Order} order
 * @returns {number} what comes first is least
 */
function keyOf(state, { agrees, replicas }, order) {
  if (order === "name") return 0;
  if (order === "trouble" || agrees) return agrees ? Infinity : 0;
  if (order === "lag") return Math.min(...replicas.map(({ missing }) => oldestOf(state, missing) ?? Infinity));
  return -replicas.reduce((sum, { missing }) => sum + numbers.count(missing), 0);
}

/**
 * @param {{folder: FolderSummary, name: string}} a
 * @param {{folder: FolderSummary, name: string}} b
 */
function before(a, b) {
  if (a.folder.folder === HIERARCHY) return -1;
  if (b.folder.folder === HIERARCHY) return 1;
  return a.name < b.name ? -1 : 1;
}

/**
 * Return for one folder what each holder has of the changes of each store.
 * @param {LabState} state
 * @param {string} folder
 * @returns {{origins: Origin[], rows: {replica: ReplicaSummary, cells: OriginCell[]}[]}} cells in the order of the origins
 */
export function originTable(state, folder) {
  const existing = state.folders[folder]?.existing ?? numbers.NOTHING;
  const origins = [...existing.keys()]
    .map((guid) => ({ guid, name: storeName(state, guid), total: numbers.count(numbers.ofGuid(existing, guid)) }))
    .sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
  const summary = folderSummaries(state).find((candidate) => candidate.folder === folder);
  const rows = [...(summary?.replicas ?? []), ...(summary?.leaving ?? [])].map((replica) => ({
    replica,
    cells: origins.map(({ guid, total }) => {
      const missing = numbers.ofGuid(replica.missing, guid);
      const has = numbers.minus(numbers.ofGuid(existing, guid), missing);
      return {
        has: numbers.words(has, () => "").replaceAll(/(^|, )-/g, "$1"),
        count: total - numbers.count(missing),
        missing: setName(state, missing),
        since: oldestOf(state, missing),
      };
    }),
  }));
  return { origins, rows };
}
