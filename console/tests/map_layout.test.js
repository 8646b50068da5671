import assert from "node:assert/strict";
import { test } from "node:test";

import { LEAST, mapLayout, orderOf } from "../state/map_layout.js";
import { TOPOLOGY } from "./organization.js";

/** @param {string} from @param {string} to */
const line = (from, to) => ({
  name: `${from}-${to}`,
  kind: "x400",
  between: /** @type {[string, string]} */ ([from, to]),
  cost: 1,
});

const SITES = ["SEA", "NYC", "LON"];

/** Three sites with a server each. @param {import("../state/lab_state.js").Connector[]} connectors */
const joined = (...connectors) => ({
  ...TOPOLOGY,
  sites: SITES,
  servers: Object.fromEntries(SITES.map((site) => [site[0], { site, version: "2003" }])),
  connectors,
});

test("a connector over another site is beside the lines to that site, and its words are not on a card", () => {
  const layout = mapLayout(joined(line("SEA", "NYC"), line("NYC", "LON"), line("LON", "SEA")));
  const heights = layout.connectors.map(({ from }) => from.y);
  const over = layout.connectors
    .map(({ from, to }) => Math.abs(from.x - to.x))
    .findIndex((width) => width > LEAST.between);
  assert.ok(
    heights.every((height, index) => index === over || Math.abs(height - heights[over]) > 20),
    `${heights}`,
  );
  const { label } = layout.connectors[over];
  for (const { x, width } of Object.values(layout.servers)) assert.ok(label.x < x || label.x > x + width);
});

test("sites keep their places when connectors change", () => {
  const first = joined(line("SEA", "NYC"), line("NYC", "LON"));
  const later = joined(line("NYC", "LON"), line("LON", "SEA"));
  const layout = mapLayout(later, LEAST, orderOf(first));
  assert.deepEqual(layout.sites, mapLayout(first).sites);
  assert.notDeepEqual(layout.sites, mapLayout(later).sites);
  assert.deepEqual(
    layout.connectors.map(({ name }) => name),
    ["NYC-LON", "LON-SEA"],
  );
});

test("a new site comes after the others, which keep their places", () => {
  const first = joined(line("SEA", "NYC"), line("NYC", "LON"));
  const later = {
    ...first,
    sites: ["PAR", ...first.sites],
    servers: { ...first.servers, F: { ...first.servers.A, site: "PAR" } },
  };
  const layout = mapLayout(later, LEAST, orderOf(first));
  assert.deepEqual(
    layout.sites.map(({ name }) => name),
    [...orderOf(first), "PAR"],
  );
  assert.ok(layout.servers.F);
});

test("the words of parallel connectors do not overlap, and their lines are on the edge of both sites", () => {
  const lines = [1, 2, 3].map((number) => ({ ...line("SEA", "NYC"), name: `line ${number}` }));
  const layout = mapLayout(joined(...lines, line("NYC", "LON")));
  const [seattle] = layout.sites.filter(({ name }) => name === "SEA");
  const drawn = layout.connectors.slice(0, 3).sort((one, other) => one.label.y - other.label.y);
  drawn.forEach(({ label, from, isNarrow }, index) => {
    assert.ok(from.y > seattle.box.y && from.y < seattle.box.y + seattle.box.height, `${from.y}`);
    assert.equal(isNarrow, index < 2, "only the lowest has room for all its words");
    const next = drawn[index + 1];
    // The name stands 10 above its line with letters of 13, and the one line of words below it ends 19 + 4 below.
    if (next) assert.ok(next.label.y - 10 - 13 >= label.y + 19 + 4 - 1, `${label.y} ${next.label.y}`);
  });
  assert.equal(layout.connectors[3].isNarrow, false);
});
