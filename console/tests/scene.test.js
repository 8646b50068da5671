import assert from "node:assert/strict";
import { test } from "node:test";

import { PARTS, SELECTABLE, VIEWS } from "../page.js";
import { OPENING, readScene, writeScene } from "../scene.js";
import { MINUTE_US, parseInstant } from "../state/lab_time.js";

const START = parseInstant("2003-10-22T00:15:00Z") ?? 0;

/** Names as they can stand in an address: also those that an address must escape. */
const NAMES = ["A", "HQ2003", "<1.A@contoso.test>", "a+b c&d=e#f%20", "Büro/日本 ", "__proto__", "1-1", "'\"`;:@"];

/** A small generator of numbers from 0 to 1 (mulberry32), so that a failure can be repeated. @param {number} seed */
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** @param {() => number} random @returns {import("../scene.js").Scene} */
function anyScene(random) {
  const upTo = (/** @type {number} */ most) => Math.floor(random() * (most + 1));
  /** @template T @param {readonly T[]} choices @returns {T} */
  const one = (choices) => choices[upTo(choices.length - 1)];
  const name = () => one(NAMES);
  const ordered = random() < 0.5;
  const from = ordered ? upTo(1e6) / 1000 : START + upTo(1e9);
  const length = ordered ? 1 + upTo(1e5) / 1000 : 1 + upTo(1e9);
  const until = ordered ? Math.round((from + length) * 1000) / 1000 : from + length;
  return {
    step: one([0, 1, 17]),
    view: one(/** @type {(keyof typeof VIEWS)[]} */ (Object.keys(VIEWS))),
    selection: one([
      null,
      { kind: one(SELECTABLE), id: name() },
      { kind: "post", id: name(), folder: name(), server: name() },
    ]),
    part: one(/** @type {(keyof typeof PARTS)[]} */ (Object.keys(PARTS))),
    reader: { folder: one(["", name()]), server: one(["", name()]), beside: one(["", null, name()]) },
    origins: one([null, name()]),
    search: one(["", "from:A is:lost", name()]),
    moment: one([null, "end", { at: START + upTo(1e12), count: one([null, upTo(99_999)]) }]),
    plays: one([false, true]),
    axis: { ordered, span: one([null, /** @type {const} */ ([from, until])]) },
  };
}

test("fifty random scenes, and a thousand more, are read as they were written", () => {
  const random = generator(20031022);
  for (let nth = 0; nth < 1_050; nth++) {
    const scene = anyScene(random);
    const fragment = writeScene(scene);
    assert.deepEqual(readScene(fragment), { scene, unread: [] }, fragment);
    assert.equal(new URL(`file:///run.html#${fragment}`).hash, fragment && `#${fragment}`, "as the browser keeps it");
  }
});

test("a page that was just opened has nothing in its address", () => {
  assert.equal(writeScene(OPENING), "");
  assert.deepEqual(readScene(""), { scene: OPENING, unread: [] });
});

test("an address can be written by hand", () => {
  const { scene, unread } = readScene("view=folders&select=server&id=B&at=2003-10-22T00:15Z");
  assert.deepEqual(unread, []);
  assert.deepEqual(scene, {
    ...OPENING,
    view: "folders",
    selection: { kind: "server", id: "B" },
    moment: { at: START, count: null },
  });
});

test("an address that a stranger wrote gives known words and bounded values, and names what cannot be read", () => {
  const moment = { at: START, count: null };
  const axis = { ordered: true, span: null };
  /** What an address says, what of it cannot be read, and what stands all the same. @type {[string, string[], object?][]} */
  const written = [
    ["view=constructor", ["view"]],
    ["view=__proto__&part=toString", ["view", "part"]],
    ["select=__proto__&id=A", ["select"]],
    ["select=server", ["select"]],
    ["at=javascript:alert(1)", ["at"]],
    ["at=2003-13-45T99:99Z", ["at"]],
    ["at=%2B275000-01-01T00:00Z", ["at"]],
    ["at=2003-10-22T00:15Z&event=1e9", ["event"], { moment }],
    ["at=2003-10-22T00:15Z&event=-1", ["event"], { moment }],
    ["event=99999999999999999999", ["event"]],
    ["step=0x10", ["step"]],
    ["axis=diagonal", ["axis"]],
    ["from=2003-10-22T00:15Z", ["from"]],
    ["from=2003-10-22T00:15Z&until=2003-10-22T00:15Z", ["from"]],
    ["axis=order&from=NaN&until=Infinity", ["from"], { axis }],
    ["axis=order&from=5&until=4", ["from"], { axis }],
    [`search=${"x".repeat(501)}`, ["search"]],
    [`search=${"x".repeat(5_000)}`, ["its length"]],
    ["%E0%A4%A&=&&&==%", []],
    ["unknown=1&lab=//stranger.test", []],
  ];
  for (const [fragment, names, readable] of written) {
    const { scene, unread } = readScene(fragment);
    assert.deepEqual(unread, names, fragment);
    assert.deepEqual(scene, { ...OPENING, ...readable }, fragment);
  }
  assert.deepEqual(readScene("view=replicas&part=nothing").scene, { ...OPENING, view: "replicas" });
});

test("what is too long for an address, or beyond its years, does not stand in it", () => {
  const fragment = writeScene({
    ...OPENING,
    search: "x".repeat(501),
    moment: { at: Number.MAX_SAFE_INTEGER * 100, count: 3 },
    axis: { ordered: false, span: [-1e18, START + MINUTE_US] },
  });
  assert.equal(fragment, "");
  assert.equal(writeScene({ ...OPENING, axis: { ordered: true, span: [0, 1e21] } }), "axis=order");
});
