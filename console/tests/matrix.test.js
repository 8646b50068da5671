import assert from "node:assert/strict";
import { test } from "node:test";

import { apply } from "../state/apply.js";
import { HIERARCHY, beginning } from "../state/lab_state.js";
import { HOUR_US } from "../state/lab_time.js";
import { lagStep, oldestOf, originTable, sortedFolders } from "../state/matrix.js";
import { parse } from "../state/change_numbers.js";
import { replicaSummary } from "../state/summary.js";

const TOPOLOGY = {
  organization: "Contoso",
  domain: "contoso.test",
  sites: ["SEA"],
  connectors: [],
  servers: { A: { site: "SEA", version: "2003" }, B: { site: "SEA", version: "2003" } },
  folders: {
    Zebra: { replicas: ["A", "B"] },
    Alpha: { replicas: ["A", "B"] },
    Middle: { replicas: ["A", "B"] },
  },
};

/** A lab in which B lacks one old change of Zebra, two later ones of Middle, and nothing of Alpha. */
function lab() {
  const state = beginning(TOPOLOGY, 0, "5e");
  let seq = 0;
  const take = (/** @type {object} */ event) => apply(state, /** @type {any} */ ({ seq: ++seq, ...event }));
  for (const [node, guid] of Object.entries({ A: "aa", B: "bb" })) {
    take({ type: "node.started", node, at: 0, replica_guid: guid, reason: "first", version: "2003" });
  }
  const make = (
    /** @type {string} */ node,
    /** @type {string} */ folder,
    /** @type {string} */ number,
    /** @type {number} */ at,
  ) =>
    take({
      type: "change.made",
      node,
      at,
      folder,
      object: number,
      number,
      kind: "message",
      operation: "create",
      subject: "",
    });
  make("A", "5e:1", "aa:1", 10);
  make("A", "5e:3", "aa:2", 20);
  make("A", "5e:3", "aa:3", 30);
  make("B", "5e:3", "bb:1", 40);
  return state;
}

const ALL = { filter: "", order: /** @type {const} */ ("name"), troubleOnly: false };
const names = (/** @type {any} */ state, /** @type {any} */ wanted) =>
  sortedFolders(state, { ...ALL, ...wanted }).map(({ folder }) => state.folders[folder].path);

test("Folders are sorted by name, by trouble, by the oldest missing change, and by how much is missing.", () => {
  const state = lab();
  assert.deepEqual(names(state, {}), ["the hierarchy", "Alpha", "Middle", "Zebra"]);
  assert.deepEqual(names(state, { order: "trouble" }), ["Middle", "Zebra", "the hierarchy", "Alpha"]);
  assert.deepEqual(names(state, { order: "lag" }), ["Zebra", "Middle", "the hierarchy", "Alpha"]);
  assert.deepEqual(names(state, { order: "missing" }), ["Middle", "Zebra", "the hierarchy", "Alpha"]);
});

test("A filter is part of the path, in letters of any case; folders that agree can be left out.", () => {
  assert.deepEqual(names(lab(), { filter: " ZEB " }), ["Zebra"]);
  assert.deepEqual(names(lab(), { troubleOnly: true }), ["Middle", "Zebra"]);
});

test("A replica that waits for its deletion stays in the tables, and does not keep its folder from agreeing.", () => {
  const state = lab();
  let seq = 100;
  const take = (/** @type {object} */ event) => apply(state, /** @type {any} */ ({ seq: ++seq, at: 50, ...event }));
  const change = {
    folder: HIERARCHY,
    object: "5e:1",
    number: "aa:4",
    kind: "folder",
    operation: "edit",
    subject: "Zebra",
  };
  take({ type: "change.made", node: "A", ...change, replicas: ["A"] });
  take({ type: "replica.pending", node: "B", folder: "5e:1" });
  const zebra = sortedFolders(state, ALL).find(({ folder }) => folder === "5e:1");
  assert.deepEqual(
    [zebra?.agrees, zebra?.leaving.map(({ server, sync }) => [server, sync])],
    [true, [["B", "pending"]]],
  );
  assert.deepEqual(
    originTable(state, "5e:1").rows.map(({ replica }) => replica.server),
    ["A", "B"],
  );
});

test("A store that joins later, or is made again, lacks the hierarchy until mails bring it.", () => {
  const servers = { ...TOPOLOGY.servers, C: { site: "SEA", version: "2003", joins: "later" } };
  const state = beginning({ ...TOPOLOGY, servers }, 0, "5e");
  const start = (/** @type {string} */ node, /** @type {string} */ guid) =>
    apply(
      state,
      /** @type {any} */ ({
        type: "node.started",
        node,
        at: 0,
        seq: 1,
        replica_guid: guid,
        reason: "first",
        version: "2003",
      }),
    );
  const lacks = (/** @type {string} */ node) => [...replicaSummary(state, node, HIERARCHY).missing.keys()];
  start("A", "aa");
  start("C", "cc");
  assert.deepEqual([lacks("A"), lacks("C")], [[], ["5e"]]);
  start("A", "ab");
  assert.deepEqual(lacks("A"), ["5e"]);
});

test("The lag of a replica is the age of its oldest missing change, whatever store made it.", () => {
  const state = lab();
  assert.equal(oldestOf(state, parse("bb:1;aa:2-3")), 20);
  assert.equal(oldestOf(state, parse("cc:9")), null);
  assert.deepEqual([0, HOUR_US, 7 * HOUR_US, 40 * HOUR_US].map(lagStep), [0, 1, 2, 3]);
});

test("Servers by origins: what each server has of the changes of each store, and what is missing since when.", () => {
  const { origins, rows } = originTable(lab(), "5e:3");
  assert.deepEqual(
    origins.map(({ name, total }) => [name, total]),
    [
      ["A", 2],
      ["B", 1],
    ],
  );
  assert.deepEqual(
    rows.map(({ replica, cells }) => [
      replica.server,
      ...cells.map(({ has, count, missing, since }) => [has, count, missing, since]),
    ]),
    [
      ["A", ["2..3", 2, "", null], ["", 0, "B-1", 40]],
      ["B", ["", 0, "A-2..3", 20], ["1", 1, "", null]],
    ],
  );
});
