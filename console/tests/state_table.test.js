/** State tables in Microsoft's words, and faults in words and as requests. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { apply } from "../state/apply.js";
import { faultRequest, fieldsOf } from "../state/faults.js";
import { beginning } from "../state/lab_state.js";
import { stateTable } from "../state/state_table.js";

const SETUP = "f".repeat(32);
const GUID = { A: "a".repeat(32), B: "b".repeat(32), C: "c".repeat(32) };
const P = `${SETUP}:1`;

function newLab() {
  const servers = Object.fromEntries(Object.keys(GUID).map((name) => [name, { site: "SEA", version: "2003" }]));
  const state = beginning(
    {
      organization: "Contoso",
      domain: "contoso.test",
      sites: ["SEA"],
      connectors: [],
      servers,
      folders: { Projects: { replicas: ["A", "B", "C"] } },
    },
    0,
    SETUP,
  );
  let seq = 0;
  /**
   * @template {import("../state/events.js").LabEvent["type"]} T
   * @param {string} node
   * @param {T} type
   * @param {Partial<import("../state/events.js").EventOf<T>>} [more]
   */
  const happens = (node, type, more = {}) =>
    apply(state, /** @type {any} */ ({ node, type, seq: ++seq, at: seq * 1e6, ...more }));
  for (const [name, guid] of Object.entries(GUID)) {
    happens(name, "node.started", { version: "2003", replica_guid: guid, reason: "first" });
  }
  return { state, happens };
}

/** @param {ReturnType<typeof newLab>["state"]} state @param {string} server */
const shown = (state, server, folder = P) =>
  Object.fromEntries(stateTable(state, server, folder).map((row) => [row.store, row.data.map((line) => line.text)]));

test("a row says what a store has, what it lacks, and what it has not reported", () => {
  const { state, happens } = newLab();
  happens("A", "change.made", {
    folder: P,
    object: `${GUID.A}:1`,
    number: `${GUID.A}:1`,
    kind: "message",
    operation: "create",
    subject: "x",
  });
  assert.deepEqual(shown(state, "A"), {
    A: ["Last update sent: none"],
    B: ["nothing received", "A-1 exists, not reported"],
    C: ["nothing received", "A-1 exists, not reported"],
  });
  happens("B", "row.replaced", { folder: P, store: "A", cnset: `${GUID.A}:1-2`, cnset_fai: "", sent_at: 1 });
  happens("B", "version.applied", {
    folder: P,
    object: `${GUID.A}:2`,
    number: `${GUID.A}:2`,
    stands_for: `${GUID.A}:2`,
    deleted: false,
  });
  const rows = stateTable(state, "B", P);
  assert.deepEqual(shown(state, "B").A, ["A-2 received"]);
  assert.deepEqual(shown(state, "B").B, ["Last update sent: none", "A-1 missing"]);
  assert.equal(rows[1].data[1].kind, "missing");
  assert.deepEqual(shown(state, "B").C, ["nothing received", "A-1..2 exist, not reported"]);
  assert.deepEqual(
    rows.map((row) => [row.replica, row.local, row.heardAt]),
    [
      ["Projects on Server A", false, 5e6],
      ["Projects on Server B", true, null],
      ["Projects on Server C", false, null],
    ],
  );
});

test("changes above the highest one that a store has are not received yet", () => {
  const { state, happens } = newLab();
  happens("B", "row.replaced", { folder: P, store: "A", cnset: `${GUID.A}:1`, cnset_fai: "", sent_at: 1 });
  assert.deepEqual(shown(state, "B").B, ["Last update sent: none", "A-1 exists, not received"]);
});

test("the last update sent is the store's own highest number in its last mail", () => {
  const { state, happens } = newLab();
  happens("A", "change.made", {
    folder: P,
    object: `${GUID.A}:1`,
    number: `${GUID.A}:1`,
    kind: "message",
    operation: "create",
    subject: "x",
  });
  const fai = { cnset_fai: "", row_fai: "", expired_fai: "" };
  const folders = [{ folder: P, cnset: `${GUID.A}:1`, row: `${GUID.A}:1`, updates: 1, expired: "", ...fai }];
  happens("A", "mail.submitted", { mail: "m", message_type: 4, recipients: ["B-IS@contoso.test"], folders, size: 1 });
  assert.deepEqual(shown(state, "A").A, ["Last update sent: A-1"]);
});

test("the stores of the start have the topology's folders without any mail", () => {
  const { state } = newLab();
  assert.deepEqual(shown(state, "A", "1-1"), {
    A: ["Last update sent: none"],
    B: ["Setup-1 received"],
    C: ["Setup-1 received"],
  });
});

test("a schema becomes a form, and the form a request: empty fields are left out, and ends are a list", () => {
  const lose = fieldsOf({
    properties: {
      kind: { enum: ["lose"] },
      from: { type: "string", format: "server", title: "from" },
      type: { enum: ["content", "status"], title: "type of mail" },
      link: { type: "array", items: { type: "string", format: "server" } },
      count: { type: "integer", title: "how many", examples: [1] },
    },
    required: ["kind"],
  });
  assert.deepEqual(
    lose.map(({ name, label, kind, first }) => [name, label, kind, first]),
    [
      ["from", "from", "server", ""],
      ["type", "type of mail", "word", ""],
      ["count", "how many", "number", "1"],
    ],
  );
  assert.deepEqual(faultRequest("lose", lose, { from: "A", type: "", count: "2" }), {
    kind: "lose",
    from: "A",
    count: 2,
  });
  const cut = fieldsOf({
    properties: {
      between: { type: "array", items: { type: "string", format: "server or site" } },
      one_way: { type: "boolean" },
      connector: { type: "string", format: "connector" },
    },
  });
  const ends = { "between.0": "A", "between.1": "B" };
  assert.deepEqual(faultRequest("cut", cut, { ...ends, one_way: true, connector: "" }), {
    kind: "cut",
    between: ["A", "B"],
    one_way: true,
  });
  assert.deepEqual(faultRequest("cut", cut, { "between.0": "", one_way: false, connector: "SEA-NYC" }), {
    kind: "cut",
    connector: "SEA-NYC",
  });
  const hold = fieldsOf({
    properties: { lasts: { type: "string", format: "span", examples: ["2 h"] } },
    required: ["lasts"],
  });
  assert.deepEqual([hold[0].required, hold[0].first, hold[0].hint], [true, "2 h", "such as 2 h"]);
});
