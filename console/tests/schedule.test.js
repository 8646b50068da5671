import assert from "node:assert/strict";
import { test } from "node:test";

import { scheduleChoices, scheduleSlots, scheduleText, scheduleWord, SLOTS_A_WEEK } from "../state/schedule.js";

for (const text of [
  "never",
  "every 1 h",
  "every 4 h",
  "Mon-Fri 20:00-06:00",
  "Sat,Sun",
  "Mon-Sun",
  "12:15",
  "Sun 23:00-01:00",
  "Mon,Wed-Fri 08:00-08:30; Tue 09:15",
  "Tue; Mon 12:00-24:00",
])
  test(`${text} is written as it was read`, () => {
    assert.equal(scheduleText(/** @type {Set<number>} */ (scheduleSlots(text))), text);
  });

test("other spellings mean the same", () => {
  for (const [text, same] of [
    ["every hour", "every 1 h"],
    ["daily 12:15", "12:15"],
    ["saturday, sunday", "Sat,Sun"],
    ["Fri-Mon 10:00", "Mon,Fri-Sun 10:00"],
    ["Mon 00:00-12:00; Mon 12:00-24:00", "Mon"],
  ])
    assert.equal(scheduleText(/** @type {Set<number>} */ (scheduleSlots(text))), same);
});

test("a text that is no schedule has no grid", () => {
  for (const text of ["at noon", "Mon 25:00", "Mon 12:10", "Mon 12:00-12:00", "every 3 h", "", "Mon-Tue-Wed", "24:00"])
    assert.equal(scheduleSlots(text), null, text);
});

test("each choice has the words of its version, and a schedule of times is one of them", () => {
  assert.deepEqual(
    scheduleChoices("5.5", true).map(([, words]) => words),
    ["Use information store schedule", "Always", "Never", "Selected times"],
  );
  assert.deepEqual(scheduleChoices("2003", false), scheduleChoices("2000", false));
  assert.equal(new Map(scheduleChoices("2007", true)).get("every 2 h"), "Run every 2 hours");
  assert.deepEqual(["Default", "always", "every hour", "00:00", "Sat"].map(scheduleWord), [
    "default",
    "always",
    "every 1 h",
    "custom",
    "custom",
  ]);
});

test("the whole week is a schedule of times, and not the same as always", () => {
  const week = new Set(Array.from({ length: SLOTS_A_WEEK }, (_, slot) => slot));
  assert.equal(scheduleText(week), "Mon-Sun");
  assert.equal(scheduleSlots("always")?.size, 0);
});
