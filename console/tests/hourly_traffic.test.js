import assert from "node:assert/strict";
import { test } from "node:test";

import { hourlyTraffic } from "../state/hourly_traffic.js";
import { HOUR_US } from "../state/lab_time.js";

/** @param {number} hour @param {string} mail @param {Record<string, unknown>} [more] @returns {any} */
const hop = (hour, mail, more) => ({
  type: "hop.sent",
  at: (100 + hour) * HOUR_US,
  mail,
  size: 10,
  connector: "X-Y",
  ...more,
});

const EVENTS = [
  hop(0, "old"),
  hop(1.5, "content"),
  hop(1.9, "content"),
  hop(2, "status", { connector: "Y-Z" }),
  hop(2, "status", { connector: null }),
  hop(3, "status"),
  hop(3.2, "of a person", { size: 5 }),
  hop(3.4, "later"),
];

const NOW = 103.9 * HOUR_US;

/** @type {any} */
const STATE = {
  count: EVENTS.length - 1,
  mails: new Map([
    ["content", { type: 4 }],
    ["status", { type: 0x10 }],
  ]),
};

test("each of the last hours has the mails that crossed the connector in it, by type", () => {
  const hours = hourlyTraffic(EVENTS, STATE, NOW, "X-Y", 3);
  assert.deepEqual(
    hours.map(({ at, bytes }) => [at / HOUR_US - 100, bytes]),
    [
      [1, 20],
      [2, 0],
      [3, 15],
    ],
  );
  assert.deepEqual([...hours[0].types], [[4, { mails: 2, bytes: 20 }]]);
  assert.deepEqual(Object.fromEntries(hours[2].types), {
    16: { mails: 1, bytes: 10 },
    undefined: { mails: 1, bytes: 5 },
  });
});

test("an event that the history has forgotten ends the search", () => {
  const events = {
    length: EVENTS.length,
    at: (/** @type {number} */ index) => (index < 5 ? undefined : EVENTS[index]),
  };
  assert.deepEqual(
    hourlyTraffic(events, STATE, NOW, "X-Y", 3).map(({ bytes }) => bytes),
    [0, 0, 15],
  );
});
