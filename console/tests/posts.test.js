import assert from "node:assert/strict";
import { test } from "node:test";

import { apply } from "../state/apply.js";
import { beginning } from "../state/lab_state.js";
import {
  entryFor,
  folderTree,
  knowsFolder,
  postRows,
  visibleRows,
  visibleText,
  whereIs,
  winnerReason,
} from "../state/posts.js";

const TOPOLOGY = {
  organization: "Contoso",
  domain: "contoso.test",
  sites: ["SEA"],
  connectors: [],
  servers: {
    A: { site: "SEA", version: "2003" },
    B: { site: "SEA", version: "2003" },
    C: { site: "SEA", version: "2003" },
  },
  folders: {
    Projects: { replicas: ["A", "B"] },
    "Projects/Old": { replicas: ["A"] },
    "Projects-2": { replicas: ["A"] },
  },
};
const PROJECTS = "5e:1";
let seq = 0;

/** @param {readonly object[]} events */
function labAfter(events) {
  const state = beginning(TOPOLOGY, 0, "5e");
  const all = [started("A", "aa"), started("B", "bb"), started("C", "cc"), ...events];
  for (const event of all) apply(state, /** @type {any} */ (event));
  return { state, all: /** @type {any[]} */ (all) };
}

/** @param {string} node @param {string} guid */
const started = (node, guid) => ({
  type: "node.started",
  node,
  seq: ++seq,
  at: 0,
  replica_guid: guid,
  reason: "restart",
  version: "2003",
});

/** @param {string} node @param {string} number @param {number} at @param {object} [more] */
const made = (node, number, at, more = {}) => ({
  type: "change.made",
  node,
  seq: ++seq,
  at,
  folder: PROJECTS,
  object: number,
  number,
  kind: "message",
  operation: "create",
  subject: `post ${number}`,
  ...more,
});

/** @param {string} node @param {string} number @param {number} at @param {object} [more] */
const applied = (node, number, at, more = {}) => ({
  type: "version.applied",
  node,
  seq: ++seq,
  at,
  folder: PROJECTS,
  object: number,
  number,
  stands_for: number,
  way: "broadcast",
  deleted: false,
  ...more,
});

test("The tree lists each parent before its subfolders, and a name with a hyphen is no subfolder.", () => {
  const rows = folderTree(labAfter([]).state);
  assert.deepEqual(
    rows.map(({ name, depth, branches }) => [name, depth, branches]),
    [
      ["Projects", 0, true],
      ["Old", 1, false],
      ["Projects-2", 0, false],
    ],
  );
});

test("A filter shows matching folders with their parents, folded or not; folding hides everything below a folder.", () => {
  const rows = folderTree(labAfter([]).state);
  const names = (/** @type {any[]} */ found) => found.map(({ path }) => path);
  assert.deepEqual(names(visibleRows(rows, "OLD", () => true)), ["Projects", "Projects/Old"]);
  assert.deepEqual(names(visibleRows(rows, "", () => true)), ["Projects", "Projects-2"]);
  assert.equal(visibleRows(rows, "", () => false).length, 3);
});

test("A folded folder hides folders at any depth below it.", () => {
  const rows = ["a", "a/b", "a/b/c"].map((path, depth) => ({
    id: path,
    path,
    name: path.slice(-1),
    parent: path.slice(0, -2),
    depth,
    branches: depth < 2,
  }));
  assert.deepEqual(
    visibleRows(rows, "", (id) => id === "a").map(({ id }) => id),
    ["a"],
  );
});

test("A post that a server does not have is a gap; the newest post is first.", () => {
  const { state } = labAfter([made("A", "aa:1", 10), applied("B", "aa:1", 20), made("A", "aa:2", 30)]);
  const rows = postRows(state, PROJECTS, ["A", "B"]);
  assert.deepEqual(
    rows.map(({ object, cells }) => [object, cells.map(({ item, missing }) => item?.number ?? missing.join())]),
    [
      ["aa:2", ["aa:2", "aa:2"]],
      ["aa:1", ["aa:1", "aa:1"]],
    ],
  );
  assert.equal(rows[0].cells[1].item, null);
});

test("A list of one server has a row for a post that only another server has.", () => {
  const { state } = labAfter([made("A", "aa:1", 10)]);
  assert.deepEqual(postRows(state, PROJECTS, ["B"])[0].cells[0], { item: null, missing: ["aa:1"] });
});

test("A server without a replica lacks nothing.", () => {
  const { state } = labAfter([made("A", "aa:1", 10)]);
  assert.deepEqual(postRows(state, PROJECTS, ["A", "C"])[0].cells[1], { item: null, missing: [] });
});

test("A deletion that has not arrived is missing; a post that all have deleted is left out.", () => {
  const gone = [made("A", "aa:1", 10), applied("B", "aa:1", 20)];
  const deletion = made("A", "aa:2", 30, { object: "aa:1", operation: "delete" });
  const half = postRows(labAfter([...gone, deletion]).state, PROJECTS, ["A", "B"]);
  assert.equal(half[0].cells[0].item?.deleted, true);
  assert.deepEqual(half[0].cells[1].missing, ["aa:2"]);
  const all = [...gone, deletion, applied("B", "aa:2", 40, { object: "aa:1", deleted: true })];
  assert.deepEqual(postRows(labAfter(all).state, PROJECTS, ["A", "B"]), []);
  // B has never had the post, and will never show it.
  assert.deepEqual(postRows(labAfter([gone[0], deletion]).state, PROJECTS, ["A", "B"]), []);
});

test("Where a change is: who made it, which mail brought it, and who will ask for it.", () => {
  const { state, all } = labAfter([
    { type: "replica.added", node: "A", seq: ++seq, at: 1, folder: PROJECTS, store: "C" },
    made("A", "aa:1", 10),
    { type: "mail.received", node: "B", seq: ++seq, at: 20, mail: "<m@x>", folders: [] },
    applied("B", "aa:2", 20, { stands_for: "aa:1-2" }),
    {
      type: "entry.made",
      node: "C",
      seq: ++seq,
      at: 30,
      folder: PROJECTS,
      entry: 1,
      cnset: "aa:1",
      cnset_fai: "",
      due_at: 99,
    },
  ]);
  assert.deepEqual(
    whereIs(state, all, PROJECTS, "aa:1").map(({ server, has, at, way, mail }) => [server, has, at, way, mail]),
    [
      ["A", true, 10, "made here", ""],
      ["B", true, 20, "broadcast", "<m@x>"],
      ["C", false, null, "", ""],
    ],
  );
  assert.equal(entryFor(state, "C", PROJECTS, "aa:1")?.dueAt, 99);
  assert.equal(entryFor(state, "C", PROJECTS, "aa:2"), null);
});

test("CF-1: the version that was modified last is shown; at equal times the larger GUID decides.", () => {
  const times = { one: 5, two: 4, three: 5 };
  const at = (/** @type {string} */ number) => times[/** @type {"one"} */ (number)];
  assert.equal(winnerReason(["one", "two"], at), "last");
  assert.equal(winnerReason(["one", "two", "three"], at), "guid");
});

test("A later folder is known where the change of the hierarchy has arrived.", () => {
  const folder = made("A", "aa:1", 10, {
    folder: "1-1",
    kind: "folder",
    subject: "New",
    replicas: ["A", "B"],
    parent: "1-1",
  });
  const { state } = labAfter([folder]);
  assert.equal(knowsFolder(state, "A", "aa:1"), true);
  assert.equal(knowsFolder(state, "B", "aa:1"), false);
  assert.equal(knowsFolder(state, "B", PROJECTS), true);
});

test("Characters that turn the direction of text are made visible, letters of any script stay.", () => {
  assert.equal(visibleText("\u202egnp.exe"), "\\u202egnp.exe");
  assert.equal(visibleText("שלום <b>"), "שלום <b>");
});

test("Posts of the same instant are sorted by their numbers, not by their letters or GUIDs.", () => {
  const numbers = ["0c:1", "aa:9", "aa:10", "bb:1", "aa:1"];
  const { state } = labAfter([started("S10", "0c"), ...numbers.map((number) => made("A", number, 10))]);
  assert.deepEqual(
    postRows(state, PROJECTS, ["A"]).map(({ object }) => object),
    ["0c:1", "bb:1", "aa:10", "aa:9", "aa:1"],
  );
});
