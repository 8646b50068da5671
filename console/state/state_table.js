/**
 * A store's replication state table of one folder, in the words that Microsoft's tools used: `A-1 received`, `A-1 missing`,
 * `A-1 exists, not received`. The store's own row shows the last update that it sent; the row of another store shows what that
 * store said it has. `pflab state` prints the same.
 */

import * as numbers from "./change_numbers.js";
import { HIERARCHY, beganEmpty, folderName, numbersOfSetup, setName, storeName } from "./lab_state.js";

/**
 * @typedef {import("./lab_state.js").LabState} LabState
 * @typedef {import("./lab_state.js").LabTime} LabTime
 * @typedef {import("./change_numbers.js").NumberSet} NumberSet
 *
 * @typedef {{text: string, kind: "has" | "missing" | "unreported"}} DataLine
 *
 * @typedef {object} TableRow
 * @property {string} store
 * @property {string} replica `Projects on Server A`
 * @property {boolean} local it is the row of the store itself
 * @property {readonly DataLine[]} data
 * @property {LabTime | null} heardAt when a mail about the folder last came; null in the own row and if there was none
 */

/** The most ranges of a set that one line names. */
const MOST_RANGES = 6;

/**
 * Return the rows of a store's state table of a folder in the order of their names, as `pflab state` prints them.
 * @param {LabState} state
 * @param {string} server
 * @param {string} folder
 * @returns {TableRow[]}
 */
export function stateTable(state, server, folder) {
  const table = state.servers[server]?.tables[folder];
  // A store that joined later began with nothing, and has heard of nobody until their mails come.
  const began = folder === HIERARCHY && !beganEmpty(state, server);
  const first = began ? numbersOfSetup(state) : numbers.NOTHING;
  const has = numbers.union(table?.numbers ?? numbers.NOTHING, first);
  const rows = table?.rows ?? {};
  const numbersOfAll = Object.values(rows).reduce((sum, row) => numbers.union(sum, row.numbers), has);
  const holders = folder === HIERARCHY ? Object.keys(state.servers) : (state.folders[folder]?.replicas ?? []);
  const stores = [...new Set([...holders, ...Object.keys(rows), server])].sort((a, b) =>
    a.localeCompare(b, "en", { numeric: true }),
  );
  const replica = folder === HIERARCHY ? "Folder hierarchy (1-1)" : folderName(state, folder);
  return stores.map((store) => {
    const local = store === server;
    const row = rows[store] ?? (beganEmpty(state, store) ? undefined : { numbers: first, heardAt: null });
    return {
      store,
      replica: `${replica} on Server ${store}`,
      local,
      data: local
        ? ownData(state, server, has, numbersOfAll, table?.sentAt ? table.sent : null)
        : otherData(state, row?.numbers, numbersOfAll),
      heardAt: local ? null : (row?.heardAt ?? null),
    };
  });
}

/**
 * @param {LabState} state
 * @param {string} server
 * @param {NumberSet} has
 * @param {NumberSet} existing
 * @param {NumberSet | null} update
 * @returns {DataLine[]}
 */
function ownData(state, server, has, existing, update) {
  const last = update?.get(state.servers[server].guid)?.at(-1);
  const newest = last ? `${storeName(state, state.servers[server].guid)}-${last[1]}` : "none";
  return [
    { text: `Last update sent: ${newest}`, kind: "has" },
    ...missingData(state, has, existing),
    ...unknownData(state, has, existing, "received", "missing"),
  ];
}

/**
 * @param {LabState} state
 * @param {NumberSet | undefined} row
 * @param {NumberSet} existing
 * @returns {DataLine[]}
 */
function otherData(state, row, existing) {
  const has = row ?? numbers.NOTHING;
  /** @type {DataLine[]} */
  const lines = [];
  for (const guid of shownGuids(state, has)) {
    const ranges = has.get(guid) ?? [];
    const holes = holesOf(has, existing, guid);
    const numberWords = holes.size
      ? rangesName(state, numbers.ofGuid(has, guid))
      : `${storeName(state, guid)}-${ranges.at(-1)?.[1]}`;
    lines.push({ text: `${numberWords} received`, kind: "has" });
    if (holes.size) lines.push({ text: `${rangesName(state, holes)} missing`, kind: "missing" });
  }
  if (lines.length === 0) lines.push({ text: "nothing received", kind: "has" });
  return [...lines, ...unknownData(state, has, existing, "reported", "unreported")];
}

/**
 * @param {LabState} state
 * @param {NumberSet} has
 * @param {NumberSet} existing
 * @returns {DataLine[]}
 */
function missingData(state, has, existing) {
  return shownGuids(state, has)
    .map((guid) => holesOf(has, existing, guid))
    .filter((holes) => holes.size > 0)
    .map((holes) => ({ text: `${rangesName(state, holes)} missing`, kind: /** @type {const} */ ("missing") }));
}

/**
 * Return the numbers that exist above the highest one of each store.
 * @param {LabState} state
 * @param {NumberSet} has
 * @param {NumberSet} existing
 * @param {string} verb
 * @param {DataLine["kind"]} kind
 * @returns {DataLine[]}
 */
function unknownData(state, has, existing, verb, kind) {
  /** @type {DataLine[]} */
  const lines = [];
  for (const [guid, ranges] of numbers.minus(existing, has)) {
    const highest = has.get(guid)?.at(-1)?.[1] ?? 0;
    const above = ranges.filter(([low]) => low > highest);
    if (above.length === 0) continue;
    const set = new Map([[guid, above]]);
    const exist = numbers.count(set) === 1 ? "exists" : "exist";
    lines.push({ text: `${rangesName(state, set)} ${exist}, not ${verb}`, kind });
  }
  return lines;
}

/**
 * Return the numbers of one store that lie in gaps, or below the first number if a row has them.
 * @param {NumberSet} has
 * @param {NumberSet} existing
 * @param {string} guid
 * @returns {NumberSet}
 */
function holesOf(has, existing, guid) {
  const ranges = has.get(guid) ?? [];
  if (ranges.length === 0) return numbers.NOTHING;
  const between = ranges
    .slice(1)
    .map(([low], index) => /** @type {[number, number]} */ ([ranges[index][1] + 1, low - 1]));
  const lowest = ranges[0][0];
  const below = (existing.get(guid) ?? [])
    .filter(([low]) => low < lowest)
    .map(([low, high]) => /** @type {[number, number]} */ ([low, Math.min(high, lowest - 1)]));
  const gaps = [...below, ...between];
  return gaps.length ? new Map([[guid, gaps]]) : numbers.NOTHING;
}

/**
 * Return the GUIDs of a set in the order of their names. The numbers of the topology's folders are left out if there are others.
 * @param {LabState} state
 * @param {NumberSet} set
 */
function shownGuids(state, set) {
  return [...set.keys()]
    .filter((guid) => guid !== state.setup || set.size === 1)
    .sort((a, b) => storeName(state, a).localeCompare(storeName(state, b), "en", { numeric: true }));
}

/**
 * @param {LabState} state
 * @param {NumberSet} set of one GUID
 */
function rangesName(state, set) {
  const [[guid, ranges]] = set;
  if (ranges.length <= MOST_RANGES) return setName(state, set);
  const first = setName(state, new Map([[guid, ranges.slice(0, MOST_RANGES)]]));
  return `${first}, … up to ${storeName(state, guid)}-${ranges.at(-1)?.[1]} (${ranges.length} ranges)`;
}
