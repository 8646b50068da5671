/**
 * Print the state that the events of a run build, as JSON: by server and folder the change numbers, the rows, the backfill
 * array and what is shown of each item. A test in Python compares this with the databases of the stores. Fail if the sums that
 * move from moment to moment differ from those that are counted at the moment alone.
 *
 *     node end_state.mjs run.json
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { History } from "../state/history.js";
import { pathOn } from "../state/lab_state.js";
import { parseInstant } from "../state/lab_time.js";
import { Sums } from "../state/sums.js";
import { folderSummaries } from "../state/summary.js";

const run = JSON.parse(readFileSync(process.argv[2], "utf-8"));
const history = new History(run.topology, parseInstant(run.topology.start) ?? 0, run.setup);
history.add(run.events);

const moving = new Sums();
const { events } = history;
for (let visit = 0; visit < 200; visit++) {
  // Far and near, forwards and backwards, and at last the present.
  const near = Math.max(0, moving.count) + ((visit * 37) % 41) - 20;
  const moment = visit === 199 ? events.length : visit % 10 ? near : (visit * 7919) % events.length;
  const state = history.after(Math.max(0, Math.min(events.length, moment)));
  const found = moving.of(state, events);
  assert.deepEqual(found, new Sums().of(state, events), `after ${state.count} events`);
  const folders = folderSummaries(state);
  assert.deepEqual([found.folders, found.agree], [folders.length, folders.filter((each) => each.agrees).length]);
}

/** @param {import("../state/change_numbers.js").NumberSet} set */
const text = (set) =>
  [...set]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(
      ([guid, ranges]) => `${guid}:${ranges.map(([low, high]) => (low === high ? low : `${low}-${high}`)).join(",")}`,
    )
    .join(";");

/** @type {Record<string, any>} */
const found = {};
for (const [name, server] of Object.entries(history.now.servers)) {
  found[name] = {};
  for (const [folder, table] of Object.entries(server.tables)) {
    found[name][folder] = {
      path: pathOn(server, history.now.folders[folder]),
      dropped: table.dropped,
      pending: table.pending,
      numbers: text(table.numbers),
      rows: Object.fromEntries(Object.entries(table.rows).map(([store, row]) => [store, text(row.numbers)])),
      entries: Object.fromEntries(Object.values(table.entries).map((entry) => [entry.id, text(entry.missing)])),
      items: Object.fromEntries(
        Object.entries(table.items).map(([object, item]) => [
          object,
          { number: item.number, deleted: item.deleted, conflict: [...item.conflict].sort() },
        ]),
      ),
    };
  }
}
process.stdout.write(JSON.stringify(found));
