import assert from "node:assert/strict";
import { test } from "node:test";

import { parse } from "../state/change_numbers.js";
import { mailLoss, onlyHere, storeLoss } from "../state/losses.js";

const A = "a".repeat(32);

/** @param {string} status @param {Record<string, string>} folders @param {string} name */
const server = (name, status, folders) => ({
  name,
  status,
  paths: {},
  tables: Object.fromEntries(Object.entries(folders).map(([id, set]) => [id, { numbers: parse(set) }])),
});

/** @type {any} */
const STATE = {
  count: 1,
  stores: { [A]: "A" },
  folders: {
    "1-1": { id: "1-1", path: "1-1", replicas: [] },
    "5e:1": { id: "5e:1", path: "Projects", replicas: ["A", "B"] },
    "5e:2": { id: "5e:2", path: "Archive", replicas: ["A"] },
  },
  servers: {
    A: server("A", "stopped", { "1-1": `${A}:1-3`, "5e:1": `${A}:1-9`, "5e:2": `${A}:1-2` }),
    B: server("B", "running", { "1-1": `${A}:1-3`, "5e:1": `${A}:1-8` }),
    C: server("C", "deleted", { "5e:2": `${A}:1-2` }),
  },
  mails: new Map([
    ["content", { type: 4 }],
    ["report", { type: undefined }],
  ]),
};

test("what only one store has is lost with it; a deleted store has nothing any more", () => {
  assert.deepEqual(onlyHere(STATE, "A"), [
    { folder: "Projects", count: 1 },
    { folder: "Archive", count: 2 },
  ]);
  assert.equal(
    storeLoss(STATE, "A"),
    "No other server has 1 change of Projects, 2 changes of Archive: they are lost for good.",
  );
  assert.equal(storeLoss(STATE, "B"), "Other servers have all changes of B.");
});

test("mail of people that is deleted is lost, and replication mail is not", () => {
  assert.equal(
    mailLoss(STATE, ["content", "report"]),
    "2 mails will be deleted, and nobody gets a notice. 1 mail of people never arrives." +
      " What 1 mail of replication would bring comes later by backfill, if a server still has it.",
  );
});
