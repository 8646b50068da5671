import assert from "node:assert/strict";
import { test } from "node:test";

import {
  DAY_US,
  HOUR_US,
  MINUTE_US,
  SECOND_US,
  duration,
  fullInstant,
  isoInstant,
  parseInstant,
  relative,
} from "../state/lab_time.js";

test("an instant of the API is read and written again without a loss", () => {
  const at = parseInstant("2003-10-22T00:15:00.250Z");
  assert.equal(at, 1066781700250000);
  assert.equal(isoInstant(at), "2003-10-22T00:15:00.250Z");
  assert.equal(parseInstant("2003-10-22T00:15:00.250999Z"), 1066781700250999);
  assert.equal(isoInstant(1066781700250009), "2003-10-22T00:15:00.250009Z");
  assert.equal(parseInstant("2003-10-22T00:15:00.2500Z"), at);
  assert.equal(parseInstant("2003-10-22T00:15Z"), 1066781700000000);
  assert.equal(parseInstant("soon"), null);
});

test("an instant is shown with its weekday, in UTC", () => {
  assert.equal(fullInstant(1066781700000000), "Wed 22 Oct 2003 00:15:00");
});

test("a duration is shown in its two largest units", () => {
  assert.equal(duration(6 * HOUR_US), "6 h");
  assert.equal(duration(DAY_US - MINUTE_US), "23 h 59 min");
  assert.equal(duration(36 * HOUR_US), "1 d 12 h");
  assert.equal(duration(1.5 * SECOND_US), "1.5 s");
  assert.equal(duration(0.08 * SECOND_US), "80 ms");
  assert.equal(duration(-15 * MINUTE_US), "-15 min");
});

test("an instant is shown as ahead or past", () => {
  assert.equal(relative(6 * HOUR_US, 0), "in 6 h");
  assert.equal(relative(0, 6 * HOUR_US), "6 h ago");
  assert.equal(relative(SECOND_US, 0), "just now");
});
