import assert from "node:assert/strict";
import { test } from "node:test";

import { Future } from "../forecast/future.js";
import { prospectOf, prospectOfMail, whyLacks } from "../forecast/prospect.js";
import { notable } from "../forecast/what_if.js";
import { History } from "../state/history.js";
import { replicaSummary } from "../state/summary.js";
import { carriedWords } from "../views/size_words.js";
import { TOPOLOGY } from "./organization.js";

const FOLDER = "5e:1";
const LACK = { server: "B", folder: FOLDER, number: "aa:1" };
const HOUR = 3_600_000_000;
const START = Date.UTC(2003, 9, 21) * 1000;
const CONTENT = 4;
const REQUEST = 8;
const STATUS = 16;

/** @param {number} type @param {string} cnset */
const about = (type, cnset) => ({
  message_type: type,
  size: 1,
  number: 1,
  folders: [{ folder: FOLDER, cnset, cnset_fai: "", row: "", row_fai: "", updates: 0, expired: "", expired_fai: "" }],
});

/** @param {string} node @param {string} type @param {number} hours @param {object} more */
const event = (node, type, hours, more) =>
  /** @type {any} */ ({ node, type, at: START + hours * HOUR, lamport: 1, seq: 1, words: "", ...more });

const MADE = { folder: FOLDER, object: "aa:1", number: "aa:1", kind: "message", operation: "create", subject: "Hello" };
const APPLIED = { ...MADE, stands_for: "aa:1", way: "backfill", deleted: false };
const MISSING = { folder: FOLDER, entry: 1, cnset: "aa:1", cnset_fai: "" };

/** @param {any[]} events */
function labAfter(events) {
  const history = new History(TOPOLOGY, START, "5e");
  history.add([
    event("A", "node.started", 0, { replica_guid: "aa", reason: "first", version: "2003" }),
    event("B", "node.started", 0, { replica_guid: "bb", reason: "first", version: "2003" }),
    ...events,
  ]);
  return history;
}

const POSTED = [
  event("A", "change.made", 0, MADE),
  event("A", "mail.submitted", 0.25, { mail: "m1", recipients: ["B-IS@contoso.test"], ...about(CONTENT, "aa:1") }),
];
const LOST = [
  ...POSTED,
  event("B", "hop.dropped", 0.25, { mail: "m1", sender: "A", fault: "F1", recipients: ["B-IS@contoso.test"] }),
  event("A", "hop.sent", 0.25, { mail: "m1", next_hop: "B", connector: null, recipients: ["B-IS@contoso.test"] }),
];
const HEALS = [
  event("lab", "clock.changed", 0.3, { to: START + 36 * HOUR, rate: 0, how: "warp" }),
  event("B", "mail.received", 24, { mail: "m2", sender: "A", recipients: ["B"], ...about(STATUS, "") }),
  event("B", "entry.made", 24, { ...MISSING, local: true, due_at: START + 30 * HOUR }),
  event("B", "request.sent", 30, { ...MISSING, source: "A", retry_at: START + 42 * HOUR }),
  event("A", "mail.received", 30, { mail: "m3", sender: "B", recipients: ["A"], ...about(REQUEST, "aa:1") }),
  event("B", "version.applied", 30, APPLIED),
];

test("a future says what each connector will carry", () => {
  const history = labAfter(LOST);
  const crosses = { mail: "m4", next_hop: "B", recipients: ["B"], attempt: 1, queue_id: 1, begun_at: null };
  const hops = [
    event("A", "hop.sent", 1, { ...crosses, connector: "X", size: 1000 }),
    event("A", "hop.sent", 2, { ...crosses, connector: "X", size: 24 }),
    event("A", "hop.sent", 3, { ...crosses, connector: null, size: 7 }),
  ];
  const future = new Future(history.keepNow(), hops, START + 36 * HOUR);
  assert.deepEqual([...future.carried], [["X", { mails: 2, bytes: 1024 }]]);
  assert.equal(carriedWords({ mails: 2, bytes: 1024 }), "2 mails, 1.0 KB");
});

test("a lost change is expected by a status, a request and its answer", () => {
  const history = labAfter(LOST);
  const future = new Future(history.keepNow(), HEALS, START + 36 * HOUR);
  assert.deepEqual(prospectOf(history.now, future, LACK), {
    why: "the copy was lost between A and B",
    steps: ["A's status tells B at 22 Oct 00:00", "B asks A at 22 Oct 06:00", "B has it at 22 Oct 06:00"],
    at: START + 30 * HOUR,
    hop: null,
  });
  assert.equal(future.agreedAt, START + 30 * HOUR);
});

test("a replica that is behind is expected to have everything when the last of its changes comes", () => {
  const history = labAfter(LOST);
  const future = new Future(history.keepNow(), HEALS, START + 36 * HOUR);
  assert.equal(future.completeAt("B"), START + 30 * HOUR);
  assert.equal(future.completeAt("B", FOLDER), START + 30 * HOUR);
  assert.equal(future.completeAt("A"), undefined);
  assert.equal(future.completeAt("B", "5e:2"), undefined);
  const never = new Future(history.keepNow(), HEALS.slice(0, 3), START + 36 * HOUR);
  assert.equal(never.completeAt("B"), null);
});

test("the mails that are expected next are those of the first instant at which any leaves", () => {
  const history = labAfter(POSTED);
  const hop = (/** @type {string} */ mail, /** @type {number} */ at, /** @type {string} */ to) =>
    event("A", "hop.sent", at, { mail, next_hop: to, connector: null, recipients: [`${to}-IS@contoso.test`] });
  const future = new Future(
    history.keepNow(),
    [hop("m1", 0.5, "B"), hop("m1", 0.5, "C"), hop("m2", 0.75, "B")],
    START + 36 * HOUR,
  );
  assert.deepEqual(
    future.nextMails().map(({ mail, to }) => [mail, to]),
    [
      ["m1", "B"],
      ["m1", "C"],
    ],
  );
  assert.deepEqual(new Future(history.keepNow(), [], START + 36 * HOUR).nextMails(), []);
});

test("a hop that has begun is under way until it ends, and is no mail that leaves next", () => {
  const history = labAfter(POSTED);
  const sent = { mail: "m1", next_hop: "B", connector: "SEA-NYC", recipients: ["B-IS@contoso.test"] };
  const crosses = event("A", "hop.sent", 0.75, { ...sent, begun_at: START + HOUR / 4 });
  const future = new Future(history.keepNow(), [crosses], START + 36 * HOUR, START + HOUR / 2);
  const at = (/** @type {number} */ hours) =>
    future.crossings(START + hours * HOUR).map(({ arrow, gone }) => [arrow.mail, arrow.to, gone]);
  assert.deepEqual(at(0.2), []);
  assert.deepEqual(at(0.25), [["m1", "B", 0]]);
  assert.deepEqual(at(0.5), [["m1", "B", 0.5]]);
  assert.deepEqual(at(0.75), []);
  assert.deepEqual(future.nextMails(), []);
  assert.equal(
    prospectOfMail(future, "m1", "A", "B"),
    "on its way over SEA-NYC since 21 Oct 00:15, arrives at B at 21 Oct 00:45",
  );
  assert.equal(prospectOf(history.now, future, LACK).why, "the mail with it is on its way from A to B");
});

test("a future changes neither the present nor the history", () => {
  const history = labAfter(LOST);
  const count = history.events.length;
  new Future(history.keepNow(), HEALS, START + 36 * HOUR);
  assert.equal(history.events.length, count);
  assert.equal(history.now.count, count);
  assert.equal(replicaSummary(history.now, "B", FOLDER).missing.size, 1);
});

test("what the forecast does not bring has no end", () => {
  const history = labAfter(LOST);
  const future = new Future(history.keepNow(), HEALS.slice(0, 3), START + 36 * HOUR);
  const { steps, at } = prospectOf(history.now, future, LACK);
  assert.deepEqual(steps, ["A's status tells B at 22 Oct 00:00"]);
  assert.equal(at, null);
  assert.equal(future.agreedAt, null);
});

test("a mail that waits is expected to leave when its line opens", () => {
  const history = labAfter(POSTED);
  assert.equal(whyLacks(history.now, LACK), "the content mail with it waits on A");
  const sent = { mail: "m1", next_hop: "B", connector: "SEA-NYC", recipients: ["B-IS@contoso.test"] };
  const other = { mail: "m8", next_hop: "B", connector: null, recipients: ["B-IS@contoso.test"] };
  const opens = [
    event("A", "hop.sent", 0.5, other),
    event("B", "hop.received", 1.02, { mail: "m1", peer: "A", recipients: ["B-IS@contoso.test"], size: 1 }),
    event("B", "mail.received", 1.02, { mail: "m1", sender: "A", recipients: ["B"], ...about(CONTENT, "aa:1") }),
    event("A", "hop.sent", 1.02, { ...sent, begun_at: START + HOUR }),
  ];
  const future = new Future(history.keepNow(), opens, START + 36 * HOUR);
  const words = "leaves A at 21 Oct 01:00 over SEA-NYC, arrives at B at 21 Oct 01:01:12";
  assert.equal(prospectOfMail(future, "m1", "A", "B"), words);
  const { at, hop } = prospectOf(history.now, future, LACK);
  assert.equal(at, START + 1.02 * HOUR);
  assert.deepEqual(hop, { mail: "m1", from: "A", to: "B", at: START + HOUR });
  const never = new Future(history.keepNow(), [], START + 36 * HOUR);
  assert.equal(prospectOfMail(never, "m1", "A", "B"), "still waits on A at 22 Oct 12:00");
});

test("a request brings nothing to a store that lacks the change too", () => {
  const { now } = labAfter([
    ...LOST,
    event("B", "mail.received", 1, { mail: "m9", sender: "A", recipients: ["B"], ...about(REQUEST, "aa:1") }),
  ]);
  assert.equal(replicaSummary(now, "B", FOLDER).missing.size, 1);
});

test("an attempt that fails again and again is one difference", () => {
  /** @param {number} at @param {any} type @param {string} words */
  const row = (at, type, words) => ({ only: /** @type {"with"} */ ("with"), at, node: "C", type, words });
  const rows = [
    row(1, "hop.failed", "cannot reach E"),
    row(2, "hop.sent", "hands a mail"),
    row(3, "hop.failed", "cannot reach E"),
  ];
  assert.deepEqual(notable(rows), [{ ...rows[0], times: 2, lastAt: 3 }]);
});
