/**
 * A list of which the oldest entries can be forgotten. An entry keeps its index, so that what names it by its index stays right.
 *
 * A live lab has no end, and a page can be open for days.
 */

/**
 * What can be read by index, such as an array or a log; a forgotten entry is undefined.
 * @template T
 * @typedef {{readonly length: number, at(index: number): T | undefined}} Entries
 */

/** @template T */
export class Log {
  /** @param {number} [first] the index of the first entry */
  constructor(first = 0) {
    /** The index of the oldest entry that is not forgotten. */
    this.first = first;
    /** @type {T[]} */
    this.entries = [];
  }

  /** The index that the next entry will have. */
  get length() {
    return this.first + this.entries.length;
  }

  /** @param {number} index @returns {T | undefined} */
  at(index) {
    return this.entries[index - this.first];
  }

  /** @param {T} entry */
  push(entry) {
    this.entries.push(entry);
  }

  /** Forget all entries before an index. @param {number} first */
  forget(first) {
    this.entries = this.entries.slice(Math.max(0, first - this.first));
    this.first = Math.max(this.first, first);
  }
}
