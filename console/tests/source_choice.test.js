import assert from "node:assert/strict";
import { test } from "node:test";

import { choicesOf, groupsOf, keyColumns, sortedHolders } from "../state/source_choice.js";

const HOUR = 3_600_000_000;

/** @param {string} store @param {object} [more] */
const candidate = (store, more = {}) => ({
  store,
  down: false,
  leaving: false,
  preferred: false,
  cost: 10,
  version: "2003",
  has: 1,
  passed_over: "",
  site: "NYC",
  near: false,
  group: 0,
  has_all: true,
  affinity: null,
  transit_us: null,
  backfilled_at: 0,
  ...more,
});

/** @param {string} method @param {object[]} candidates @param {string[]} chosen */
const choice = (method, candidates, chosen) =>
  /** @type {any} */ ({
    type: "sources.considered",
    node: "B",
    folder: "5e:1",
    at: 10 * HOUR,
    cnset: "aa:1-3",
    cnset_fai: "",
    method,
    candidates,
    chosen,
  });

test("a sorted list marks the first key that put a holder behind the one before", () => {
  const event = choice(
    "sorted list",
    [
      candidate("A", { near: true, site: "SEA", cost: 0 }),
      candidate("C", { passed_over: "the ones before it have all it has" }),
      candidate("D", { cost: 10, version: "2000", passed_over: "is not known to have any of it", has: 0 }),
      candidate("E", { down: true, passed_over: "is not known to have any of it", has: 0 }),
    ],
    ["A"],
  );
  const columns = keyColumns(event);
  const holders = sortedHolders(event);
  assert.deepEqual(
    holders.map(({ decides }) => decides !== null && columns[decides].title),
    [false, "Cost", "Version", "Up"],
  );
  assert.deepEqual(
    columns.flatMap(({ title, differs }) => (differs ? title : [])),
    ["Up", "Cost", "Version", "Claims"],
  );
  assert.deepEqual(
    holders.map(({ asked, passedOver }) => asked || passedOver),
    [true, "the ones before it have all it has", "is not known to have any of it", "is not known to have any of it"],
  );
});

test("the six groups have their holders in the order of the search, with what orders them", () => {
  const event = choice(
    "six groups",
    [
      candidate("A", { group: 1, near: true, backfilled_at: 4 * HOUR }),
      candidate("C", { group: 2, affinity: 20 }),
      candidate("D", { group: 3, transit_us: 2 * HOUR }),
      candidate("F", { group: 6, down: true }),
    ],
    ["A"],
  );
  const groups = groupsOf(event);
  assert.equal(groups.length, 6);
  assert.deepEqual(
    groups.map(({ holders }) => holders.map(({ store, values }) => `${store}: ${values[0]}`).join()),
    [
      "A: last asked 6 h before",
      "C: affinity 20",
      "D: its mail takes 2 h",
      "",
      "",
      "F: marked down, no mail of it has come",
    ],
  );
  assert.equal(groups[5].name, "older, elsewhere, without affinity");
});

test("the choices about a change are found, the newest first", () => {
  const first = choice("sorted list", [], []);
  const other = { ...choice("sorted list", [], []), cnset: "aa:7" };
  const last = { ...choice("sorted list", [], []), at: 11 * HOUR };
  const events = [first, other, last];
  assert.deepEqual(choicesOf(events, 3, { server: "B", folder: "5e:1", number: "aa:2" }, 9), [last, first]);
  assert.deepEqual(choicesOf(events, 2, { server: "B", folder: "" }, 1), [other]);
  assert.deepEqual(choicesOf(events, 3, { server: "A", folder: "" }, 9), []);
});
