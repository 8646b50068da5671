import assert from "node:assert/strict";
import { test } from "node:test";

import * as numbers from "../state/change_numbers.js";
import { History } from "../state/history.js";
import { HIERARCHY } from "../state/lab_state.js";
import { Marks } from "../state/marks.js";
import { folderSummaries, replicaSummary } from "../state/summary.js";
import { TOPOLOGY } from "./organization.js";

const A = "a".repeat(32);
const B = "b".repeat(32);
const SETUP = "c".repeat(32);
const FOLDER = `${SETUP}:1`;

/**
 * @param {string} type
 * @param {string} node
 * @param {Record<string, unknown>} [more]
 * @returns {any}
 */
const event = (type, node, more = {}) => ({ type, node, seq: 1, at: 0, ...more });

/** @param {number} counter */
const post = (counter) =>
  event("change.made", "A", {
    at: counter,
    folder: FOLDER,
    object: `${A}:${counter}`,
    number: `${A}:${counter}`,
    kind: "message",
    operation: "create",
    subject: `Post ${counter}`,
  });

const STARTS = [
  event("node.started", "A", { version: "2003", replica_guid: A, reason: "first" }),
  event("node.started", "B", { version: "2003", replica_guid: B, reason: "first" }),
];

/** A mail from A to B with A's changes up to a number. @param {number} counter @param {boolean} arrives */
const mail = (counter, arrives) => {
  const folders = [
    { folder: FOLDER, cnset: `${A}:1-${counter}`, cnset_fai: "", row: `${A}:1-${counter}`, row_fai: "" },
  ];
  const id = `${counter}@A`;
  const hop = { mail: id, recipients: ["B-IS@contoso.test"] };
  return [
    event("mail.submitted", "A", { mail: id, message_type: 4, folders, recipients: hop.recipients, size: 9 }),
    arrives ? event("hop.received", "B", { ...hop, peer: "A" }) : event("hop.dropped", "B", { ...hop, fault: "F1" }),
    event("hop.sent", "A", { ...hop, next_hop: "B", connector: null }),
    ...(arrives ? [event("mail.received", "B", { mail: id, sender: "A", folders, recipients: hop.recipients })] : []),
  ];
};

const history = () => new History(TOPOLOGY, 0, SETUP);

test("a store that a mail did not reach is behind, and the mail's leg is lost", () => {
  const run = history();
  run.add([...STARTS, post(1), ...mail(1, false)]);
  assert.equal(replicaSummary(run.now, "A", FOLDER).sync, "in sync");
  const summary = replicaSummary(run.now, "B", FOLDER);
  assert.equal(summary.sync, "behind");
  assert.equal(numbers.count(summary.missing), 1);
  assert.deepEqual(
    run.now.mails.get("1@A")?.legs.map(({ from, to, outcome }) => [from, to, outcome]),
    [["A", "B", "lost"]],
  );
  assert.equal(Object.keys(run.now.servers.A.queue).length, 0);
});

test("a change that no mail has carried is a local modification", () => {
  const run = history();
  run.add([...STARTS, post(1)]);
  assert.equal(replicaSummary(run.now, "A", FOLDER).sync, "locally modified");
  assert.deepEqual(
    folderSummaries(run.now).map(({ folder, agrees }) => [folder, agrees]),
    [
      [HIERARCHY, true],
      [FOLDER, false],
    ],
  );
});

test("the state at any earlier moment is the state that the events up to it build, and looking at it changes nothing", () => {
  const events = [...STARTS];
  for (let counter = 1; counter <= 700; counter++) {
    events.push(post(counter));
    if (counter % 50 === 0) events.push(...mail(counter, counter % 100 === 0));
    if (counter === 333) events.push(event("backup.made", "lab", { store: "A", backup: "b1" }));
    if (counter === 555) events.push(event("backup.restored", "lab", { store: "A", backup: "b1" }));
  }
  const run = history();
  run.add(events);
  const present = described(run.now);
  for (const moment of [0, 1, 2, 3, 57, 499, 500, 501, 612, 733, events.length - 1, events.length]) {
    const alone = history();
    alone.add(events.slice(0, moment));
    assert.deepEqual(described(run.after(moment)), described(alone.now), `after ${moment} events`);
  }
  assert.deepEqual(described(run.now), present);
});

test("a long run keeps a bounded number of states, and still every moment of it", () => {
  const events = [...STARTS];
  while (events.length < 530_000) events.push(event("clock.changed", "lab", { rate: events.length }));
  const run = history();
  run.add(events);
  assert.ok(run.kept.length <= 256, `${run.kept.length} states are kept`);
  for (const moment of [1, 400_001, 400_007, 399_999, 529_999]) {
    const state = run.after(moment);
    assert.deepEqual([state.count, state.rate], [moment, moment <= STARTS.length ? 0 : moment - 1]);
  }
});

/** @param {import("../state/lab_state.js").LabState} state */
function described(state) {
  return JSON.parse(JSON.stringify({ ...state, gen: 0 }, (key, value) => (key === "gen" ? 0 : plain(value))));
}

/** @param {unknown} value */
const plain = (value) => (value instanceof Map ? Object.fromEntries(value) : value);

test("arrows begin at the sender, although the receiver records a hop first", () => {
  const marks = new Marks();
  marks.add([...mail(1, true), ...mail(2, false)]);
  assert.deepEqual(
    marks.arrows.map(({ from, to, outcome, sentAt }) => [from, to, outcome, sentAt]),
    [
      ["A", "B", "arrived", 0],
      ["A", "B", "lost", 0],
    ],
  );
});

test("sets of change numbers join, subtract and count ranges", () => {
  const set = numbers.parse(`${A}:1-3,7;${B}:2`);
  assert.equal(numbers.count(set), 5);
  assert.equal(
    numbers.words(numbers.union(set, numbers.parse(`${A}:4-6`)), (guid) => guid[0]),
    "a-1..7, b-2",
  );
  assert.equal(
    numbers.words(numbers.minus(set, numbers.parse(`${A}:2,7`)), (guid) => guid[0]),
    "a-1, a-3, b-2",
  );
  assert.equal(numbers.union(set, numbers.parse(`${A}:2`)), set, "nothing new: the same set");
  assert.equal(numbers.minus(set, set).size, 0);
  assert.equal(numbers.parse(""), numbers.NOTHING);
});

test("a mail leaves when its hop begins, and is on its way until it arrives", () => {
  const [submitted, received, sent, read] = mail(1, true).map((step, place) => ({ ...step, at: place ? 90 : 0 }));
  const slow = [...STARTS, submitted, received, { ...sent, begun_at: 2 }, read];
  const run = history();
  run.add(slow);
  assert.deepEqual(
    run.now.mails.get("1@A")?.legs.map((leg) => [leg.sentAt, leg.arrivedAt]),
    [[2, 90]],
  );
  const marks = new Marks();
  marks.add(slow);
  assert.deepEqual(
    marks.arrows.map((arrow) => [arrow.sentAt, arrow.arrivedAt]),
    [[2, 90]],
  );
});

test("the arrows near a place of an axis are found, and those far from it are not looked at", () => {
  const marks = new Marks();
  const events = Array.from({ length: 2_000 }, (_, nth) =>
    mail(nth + 1, true).map((step) => ({ ...step, at: nth * 1_000 })),
  ).flat();
  marks.add(events);
  const { orders } = marks.pace;
  for (const arrow of [marks.arrows[0], marks.arrows[999], marks.arrows[1_999]]) {
    for (const [near, place] of [
      [marks.near(arrow.arrivedAt, arrow.arrivedAt, false), arrow.arrivedAt],
      [marks.near(orders[arrow.end], orders[arrow.end], true), orders[arrow.end]],
    ]) {
      assert.ok(/** @type {any} */ (near).includes(arrow), `at ${place}`);
      assert.ok(/** @type {any} */ (near).length <= 512);
    }
  }
});

test("a store that was deleted stays deleted when it stops, until it starts again", () => {
  const run = history();
  run.add([...STARTS, event("store.deleted", "A", { store: "B" }), event("node.stopped", "B", { how: "stop" })]);
  assert.equal(run.now.servers.B.status, "deleted");
  run.add([event("node.started", "B", { version: "2003", replica_guid: B, reason: "first" })]);
  assert.equal(run.now.servers.B.status, "running");
});

test("a server that was killed is not shown as stopped", () => {
  const kinds = (/** @type {any[]} */ ...events) => {
    const marks = new Marks();
    marks.add(events);
    return marks.spans.map(({ kind, until }) => [kind, until !== null]);
  };
  const kill = event("fault.injected", "lab", { fault: "F1", kind: "kill", details: { server: "B" } });
  const start = event("node.started", "B", { version: "2003", replica_guid: B, reason: "restart" });
  assert.deepEqual(kinds(kill), [["killed", false]]);
  assert.deepEqual(kinds(event("node.stopped", "B", { how: "kill" }), kill, start), [["killed", true]]);
  assert.deepEqual(kinds(event("node.stopped", "B", { how: "stop" })), [["stopped", false]]);
});

test("a wait ends with what it is for: pruned after a request, gone with a replica, or with a store that is restored", () => {
  const entry = { folder: FOLDER, entry: 1, cnset: `${A}:1-3`, cnset_fai: `${A}:2` };
  const made = event("entry.made", "B", { ...entry, due_at: 9 });
  const request = event("request.sent", "B", { ...entry, source: "A", retry_at: 20, at: 9 });
  const lasting = (/** @type {any[]} */ ...events) => {
    const marks = new Marks();
    marks.add(events);
    return [...marks.lasting.values()].map(({ kind }) => kind);
  };
  assert.deepEqual(lasting(made), ["wait"]);
  assert.deepEqual(lasting(made, request), ["request"]);
  assert.deepEqual(lasting(made, request, event("entry.pruned", "B", entry)), []);
  assert.deepEqual(lasting(made, event("replica.dropped", "B", { folder: FOLDER, cnset: "" })), []);
  const backup = event("backup.made", "lab", { store: "B", backup: "b1" });
  const restored = event("backup.restored", "lab", { store: "B", backup: "b1" });
  assert.deepEqual(lasting(backup, made, restored), []);
  assert.deepEqual(lasting(made, backup, request, restored), ["wait"]);
});

test("the only replica of a folder is in sync, because its store sends its changes to nobody", () => {
  const run = history();
  const folder = `${A}:1`;
  run.add([
    ...STARTS,
    event("change.made", "A", {
      folder: HIERARCHY,
      object: folder,
      number: folder,
      kind: "folder",
      operation: "create",
      subject: "Only",
      replicas: ["A"],
    }),
    { ...post(2), folder },
  ]);
  assert.equal(replicaSummary(run.now, "A", folder).sync, "in sync");
  assert.equal(replicaSummary(run.now, "A", HIERARCHY).sync, "locally modified");
});

test("a server that shows the store of another one says so, until it has a store of its own again", () => {
  const run = history();
  const shows = () => run.now.servers.B.shows;
  run.add([...STARTS, event("backup.made", "lab", { store: "A", backup: "b1" })]);
  assert.equal(shows(), "");
  run.add([event("backup.elsewhere", "lab", { store: "B", backup: "b1", of: "A" })]);
  assert.equal(shows(), "A");
  run.add([event("store.deleted", "A", { store: "B", directory_object: 0 })]);
  run.add([event("store.created", "lab", { store: "B", directory_object: 1 })]);
  assert.equal(shows(), "");
});

test("mail of people waits until it is delivered, posted or not, returned or deleted", () => {
  const to = "kim@contoso.test";
  const received = event("hop.received", "A", {
    mail: "m",
    peer: "outside",
    recipients: [to],
    size: 1,
    sender: "lee@x.test",
    subject: "Hi",
  });
  const ends = {
    "mailbox.delivered": { recipient: to, sender: "lee@x.test", subject: "Hi", size: 1 },
    "mail.posted": { recipient: to, sender: "lee@x.test", folder: FOLDER, object: "x" },
    "mail.not_posted": { recipient: to, sender: "lee@x.test", folder: FOLDER, reason: "a repetition" },
    "hop.expired": { recipients: [to], queue_id: 1, reason: "too late" },
    "hop.deleted": { recipients: [to], queue_id: 1 },
  };
  for (const [type, fields] of Object.entries(ends)) {
    const run = history();
    run.add([...STARTS, received]);
    assert.deepEqual(Object.keys(run.now.servers.A.queue), ["m"]);
    run.add([event(type, "A", { mail: "m", ...fields })]);
    assert.deepEqual(Object.keys(run.now.servers.A.queue), [], type);
    const mail = run.now.mails.get("m");
    assert.deepEqual([mail?.sender, mail?.subject, mail?.to], ["lee@x.test", "Hi", [to]]);
    assert.deepEqual(mail?.returned, type === "hop.expired" ? [to] : []);
    assert.deepEqual(mail?.deleted, type === "hop.deleted" ? [to] : []);
    assert.deepEqual(mail?.received, ["mailbox.delivered", "mail.posted"].includes(type) ? ["A"] : []);
  }
});

const LINE = { name: "SEA-NYC", kind: "x400", between: ["SEA", "NYC"], cost: 10 };

/** A change of the organization. @param {number} revision @param {object[]} connectors */
const reorganized = (revision, ...connectors) =>
  event("organization.changed", "lab", {
    revision,
    subject: "connector SEA-NYC",
    change: "changed",
    topology: JSON.stringify({ ...TOPOLOGY, sites: ["SEA", "NYC"], revision, connectors }),
  });

test("each moment has the organization as it was then", () => {
  const run = history();
  run.add([...STARTS, reorganized(1, LINE), reorganized(2, { ...LINE, cost: 5 }), reorganized(3)]);
  const costs = (/** @type {number} */ count) => run.after(count).topology.connectors.map(({ cost }) => cost);
  assert.deepEqual([5, 4, 3, 2, 3, 4, 5].map(costs), [[], [5], [10], [], [10], [5], []]);
});

test("a server is there from its addition to its removal, and another one of its name begins with nothing", () => {
  const run = history();
  const { A: first, B: second, ...others } = TOPOLOGY.servers;
  const change = (/** @type {number} */ revision, /** @type {string} */ how, /** @type {object} */ servers) =>
    event("organization.changed", "lab", {
      revision,
      subject: "server B",
      change: how,
      topology: JSON.stringify({ ...TOPOLOGY, revision, servers: { A: first, ...others, ...servers } }),
    });
  const deleted = event("store.deleted", "A", { store: "B", forced: true, directory_object: 0 });
  const version = "2007";
  const added = change(2, "added", { B: { ...second, version, joins: "later" } });
  run.add([...STARTS, event("node.stopped", "B", { how: "stop" }), deleted, change(1, "removed", {}), added]);
  const statuses = [4, 5, 6].map((count) => run.after(count).servers.B?.status);
  assert.deepEqual(statuses, ["deleted", undefined, "not started"]);
  assert.equal(run.now.servers.B.version, version);
  assert.equal(run.now.servers.B.guid, "");
  assert.deepEqual(
    [4, 5, 6].map((count) => run.after(count).folders["1-1"].replicas.includes("B")),
    [true, false, true],
  );
});

test("a connector that is removed is no longer one that does not work", () => {
  const run = history();
  const down = event("link.down", "A", { connector: "SEA-NYC", reason: "refused" });
  run.add([...STARTS, reorganized(1, LINE), down, reorganized(2, { ...LINE, cost: 5 }), reorganized(3)]);
  assert.deepEqual(Object.keys(run.after(5).linksDown), ["SEA-NYC"]);
  assert.deepEqual(Object.keys(run.now.linksDown), []);
});

test("a server knows the change that it has read last, and after a restore the one that its backup has", () => {
  const run = history();
  const read = (/** @type {number} */ revision) => event("organization.read", "B", { revision });
  const backup = event("backup.made", "lab", { store: "B", backup: "b1" });
  const restored = event("backup.restored", "lab", { store: "B", backup: "b1" });
  const empty = event("node.started", "B", { version: "2003", replica_guid: A, reason: "first" });
  run.add([...STARTS, reorganized(1, LINE), read(1), backup, reorganized(2), read(2), restored, read(2), empty]);
  assert.deepEqual(
    [3, 4, 7, 8, 9, 10].map((count) => run.after(count).servers.B.revision),
    [0, 1, 2, 1, 2, 0],
  );
  assert.equal(run.now.servers.A.revision, 0);
});
