import assert from "node:assert/strict";
import { test } from "node:test";

import { Pace } from "../state/pace.js";

/** @param {string} type @param {number} at @param {number} lamport @returns {any} */
const event = (type, at, lamport) => ({ type, at, lamport, node: "A", seq: lamport });

function pace() {
  const made = new Pace();
  made.add(event("change.made", 0, 1));
  made.add(event("mail.submitted", 300, 2));
  made.add(event("hop.received", 380, 3));
  made.add(event("mail.received", 380, 4));
  return made;
}

test("a step lies after a cause, between two instants, and before an arrival", () => {
  assert.deepEqual(pace().places, [0, 2, 4, 4]);
});

test("lab time passes evenly between two instants, and stands still while a cause or an arrival is seen", () => {
  const axis = pace();
  const seen = [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4].map((place) => axis.moment(place));
  assert.deepEqual(
    seen.map(({ at }) => at),
    [0, 0, 0, 150, 300, 340, 380, 380, 380],
  );
  assert.deepEqual(
    seen.map(({ count }) => count),
    [1, 1, 1, 1, 2, 2, 2, 2, 4],
  );
});

test("an instant between two events is a moment, and what happened up to it has happened", () => {
  const axis = pace();
  assert.deepEqual(axis.at(340), { count: 2, at: 340, place: 2.5 });
  assert.deepEqual(axis.moment(axis.at(340).place), axis.at(340));
  assert.equal(axis.at(380).count, 4);
  assert.deepEqual(axis.at(999), { count: 4, at: 999, place: 4 });
});

test("a moment is found again by its instant and its number of events, and by no other", () => {
  const axis = pace();
  for (const moment of [axis.after(0), axis.after(1), axis.at(340), axis.after(2), axis.after(3), axis.after(4)])
    assert.deepEqual(axis.between(moment.count, moment.at), moment);
  assert.deepEqual(axis.between(4, 999), { ...axis.after(4), at: 999 });
  for (const [count, at] of [
    [1, 301],
    [2, 299],
    [2, 381],
    [3, 379],
    [5, 380],
    [-1, 0],
  ])
    assert.equal(axis.between(count, at), null, `${count} events at ${at}`);
});

test("on the axis of order, what has the larger Lamport number stands to the right, and instants are apart", () => {
  const axis = pace();
  axis.add(event("mail.received", 380, 4));
  assert.deepEqual(axis.orders, [0, 3, 6, 7, 7]);
});
