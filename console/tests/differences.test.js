import assert from "node:assert/strict";
import { test } from "node:test";

import { differences } from "../state/differences.js";

/** @param {string} text @param {string} other */
const marked = (text, other) =>
  differences(text, other)
    .map(({ text: piece, differs }) => (differs ? `[${piece}]` : piece))
    .join("");

test("Words that the other text does not have are marked, on each side.", () => {
  const one = "The meeting is on Monday at eleven.";
  const other = "The meeting is on Tuesday at ten.";
  assert.equal(marked(one, other), "The meeting is on [Monday] at [eleven.]");
  assert.equal(marked(other, one), "The meeting is on [Tuesday] at [ten.]");
});

test("Equal texts have no mark, and the pieces are always the whole text.", () => {
  assert.equal(marked("a b\nc", "a b\nc"), "a b\nc");
  assert.deepEqual(differences("", "a"), []);
  const text = "  one\ttwo \n three ";
  const pieces = differences(text, "three two one");
  assert.equal(pieces.map((piece) => piece.text).join(""), text);
});

test("Words in the middle of longer texts are found.", () => {
  assert.equal(marked("a x b c d", "a b y c d"), "a [x ]b c d");
});

test("In very long texts everything between the equal ends differs, at once.", () => {
  const long = (/** @type {string} */ word) => `begin ${`${word} `.repeat(20_000)}end`;
  const pieces = differences(long("x"), long("y"));
  assert.deepEqual(
    pieces.map(({ differs }) => differs),
    [false, true, false],
  );
});
