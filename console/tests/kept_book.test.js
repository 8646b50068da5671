import assert from "node:assert/strict";
import { test } from "node:test";

import { Book, apart, ownBook } from "../state/kept_book.js";

/** @typedef {{id: string, value: number}} Entry */

/** @param {Book<Entry>} book */
const contents = (book) => book.values().map(({ id, value }) => [id, value]);

test("a book that is kept stays as it was, whatever later books change", () => {
  let book = ownBook(1, /** @type {Book<Entry>} */ (new Book("id")));
  const kept = [];
  for (let gen = 1; gen <= 20; gen++) {
    book = ownBook(gen, book);
    for (let nth = 0; nth < 100; nth++) book.set({ id: `${gen}.${nth}`, value: gen });
    book.set({ id: "1.0", value: gen * 10 });
    kept.push({ book, found: contents(book) });
  }
  for (const { book: each, found } of kept) assert.deepEqual(contents(each), found);
  assert.equal(book.get("1.0")?.value, 200);
  assert.equal(kept[4].book.get("1.0")?.value, 50);
  assert.equal(kept[4].book.get("6.0"), undefined, "what came later is not in an earlier book");
});

test("two runs that part have their own entries, and what is expected does not come into what happened", () => {
  const base = ownBook(1, /** @type {Book<Entry>} */ (new Book("id")));
  base.set({ id: "a", value: 1 });
  const [run, expected] = [ownBook(2, base), ownBook(3, apart(base))];
  expected.set({ id: "b", value: 3 });
  expected.set({ id: "c", value: 3 });
  run.set({ id: "c", value: 2 });
  run.set({ id: "b", value: 2 });
  assert.deepEqual(contents(run), [["a", 1], ["c", 2], ["b", 2]]); // prettier-ignore
  assert.deepEqual(contents(expected), [["a", 1], ["b", 3], ["c", 3]]); // prettier-ignore
  for (const [book, value] of /** @type {[Book<Entry>, number][]} */ ([
    [run, 2],
    [expected, 3],
  ]))
    // prettier-ignore
    for (const id of ["b", "c"]) assert.equal(book.get(id)?.value, value);
  assert.equal(base.get("b"), undefined);
  // The run played again from the base, as time travel does.
  const again = ownBook(4, base);
  for (const { id } of run.values().slice(1)) again.set({ id, value: 4 });
  assert.deepEqual(contents(again), [["a", 1], ["c", 4], ["b", 4]]); // prettier-ignore
  assert.equal(run.get("c")?.value, 2);
});
