import assert from "node:assert/strict";
import { test } from "node:test";

import { Marks } from "../state/marks.js";
import { Timeline } from "../timeline.js";
import { TOPOLOGY } from "./organization.js";

/** What the timeline takes from a browser: a page that nobody sees, so that the newest moment is shown at once. */
Object.assign(globalThis, {
  document: { hidden: true },
  matchMedia: () => ({ matches: true }),
  requestAnimationFrame: () => 1,
  cancelAnimationFrame: () => {},
});

const A = "a".repeat(32);
const FOLDER = `${"c".repeat(32)}:1`;
const BEGINNING = {
  topology: TOPOLOGY,
  startAt: 0,
  setup: "c".repeat(32),
};
const PIECE = 5_000;
const EVENTS = 130_000;

/** A post and the mail with it, which takes half of the time to the next one. @param {number} nth @returns {any[]} */
function cycle(nth) {
  const number = `${A}:${nth + 1}`;
  const claim = { folder: FOLDER, cnset: number, cnset_fai: "", row: number, row_fai: "", updates: 1 };
  const hop = { mail: `${nth}@A`, recipients: ["B-IS@contoso.test"], size: 9 };
  const [at, later] = [nth * 1_000, nth * 1_000 + 500];
  const change = {
    folder: FOLDER,
    object: number,
    number,
    kind: "message",
    operation: "create",
    subject: `Post ${nth}`,
  };
  return [
    { type: "change.made", node: "A", at, ...change },
    { type: "mail.submitted", node: "A", at, message_type: 4, folders: [claim], ...hop },
    { type: "hop.received", node: "B", at: later, peer: "A", ...hop },
    { type: "hop.sent", node: "A", at: later, begun_at: at, next_hop: "B", ...hop },
    { type: "mail.received", node: "B", at: later, sender: "A", message_type: 4, folders: [claim], ...hop },
  ];
}

const events = Array.from({ length: EVENTS / 5 }, (_, nth) => cycle(nth)).flat();

/** @param {(timeline: Timeline, count: number) => void} [look] called after each piece of events */
function filled(look) {
  const timeline = new Timeline(true);
  timeline.begin(BEGINNING);
  for (let count = 0; count < EVENTS; count += PIECE) {
    timeline.take(events.slice(count, count + PIECE));
    timeline.publishNow();
    look?.(timeline, count);
  }
  return timeline;
}

test("a page of a live lab forgets the oldest events, and shows every moment that is left as it was", () => {
  const timeline = filled();
  const { history, marks } = timeline;
  assert.ok(history && history.events.entries.length <= 100_000);
  const { first, length } = history.events;
  assert.ok(first > 0);
  assert.equal(length, EVENTS);
  const whole = new Marks();
  whole.add(events);
  assert.ok(marks.arrows.length < whole.arrows.length);
  for (const count of [first, first + 7, first + 2_342, EVENTS - 3, EVENTS]) {
    const posts = Math.ceil(count / 5);
    const state = history.after(count);
    assert.equal(state.count, count);
    assert.deepEqual(state.servers.A.tables[FOLDER].numbers.get(A), [[1, posts]]);
    const moment = marks.pace.after(count);
    assert.deepEqual([moment.count, moment.at], [count, whole.pace.after(count).at]);
    assert.deepEqual(
      marks.onTheirWay(moment).map(({ arrow, gone }) => [arrow.mail, arrow.type, gone]),
      whole.onTheirWay(whole.pace.after(count)).map(({ arrow, gone }) => [arrow.mail, arrow.type, gone]),
    );
  }
  timeline.travelTo(0);
  assert.equal(timeline.playhead.count, first);
  timeline.travelToInstant(0);
  assert.equal(timeline.playhead.count, first);
});

test("nothing is forgotten while the user looks at it", () => {
  const { history } = filled((timeline, count) => {
    if (count === 2 * PIECE) timeline.travelTo(7_000);
  });
  assert.equal(history?.events.first, 0);
});
