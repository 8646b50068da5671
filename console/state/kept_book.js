/**
 * A table of many entries, of which any number of earlier tables are kept, as of a tree (kept_tree.js). Entries are never removed.
 *
 * Entries stand on pages in the order in which they came. A generation copies the pages that it changes; these are the last ones,
 * because a mail is told of soon after it was sent. So keeping costs the same after a thousand entries and after a million.
 */

/** How many entries a page has. */
const PAGE = 256;

/** @template {object} T */
export class Book {
  /** @param {keyof T} key the field of an entry that has its id */
  constructor(key) {
    this.key = key;
    this.gen = 0;
    this.length = 0;
    /** @type {T[][]} */
    this.pages = [];
    /** The generation in which each page was copied. @type {number[]} */
    this.copied = [];
    /**
     * Where each entry is. Earlier and later books share it; an earlier book has not all of the entries.
     * @type {Map<string, number>}
     */
    this.places = new Map();
    /** Where the entries are that a book has for itself. @type {Map<string, number> | null} */
    this.added = null;
  }

  /** @param {string} id @returns {T | undefined} */
  get(id) {
    const place = this.placeOf(id);
    if (place === undefined || place >= this.length) return undefined;
    // Another run that parted from the same book can have put in its own entry at this place.
    const entry = this.pages[Math.floor(place / PAGE)][place % PAGE];
    return entry[this.key] === id ? entry : undefined;
  }

  /** @param {string} id */
  placeOf(id) {
    return this.added?.get(id) ?? this.places.get(id);
  }

  /** @returns {T[]} the entries in the order in which they came */
  values() {
    return this.pages.flat();
  }

  toJSON() {
    return Object.fromEntries(this.values().map((entry) => [entry[this.key], entry]));
  }

  /** Put in an entry, which may replace that with its id. The book must belong to the present generation. @param {T} entry */
  set(entry) {
    const id = /** @type {string} */ (entry[this.key]);
    let place = this.placeOf(id);
    if (place !== this.length && this.get(id) === undefined) {
      if (place !== undefined) this.added ??= new Map(); // a run that parted from this one has it elsewhere
      place = this.length;
      (this.added ?? this.places).set(id, place);
    }
    place ??= this.length;
    if (place === this.length) this.length += 1;
    const page = Math.floor(place / PAGE);
    if (this.copied[page] !== this.gen) {
      this.pages[page] = this.pages[page]?.slice() ?? [];
      this.copied[page] = this.gen;
    }
    this.pages[page][place % PAGE] = entry;
  }
}

/**
 * Return a book for changing, which takes the place of the one that is given.
 * @template {object} T
 * @param {number} gen the present generation
 * @param {Book<T>} before
 * @returns {Book<T>}
 */
export function ownBook(gen, before) {
  return before.gen === gen ? before : copyOf(before, { gen });
}

/**
 * Return a book of a run that parts from the one that the book belongs to, such as what is expected of it.
 * @template {object} T
 * @param {Book<T>} before
 * @returns {Book<T>}
 */
export function apart(before) {
  return copyOf(before, { added: new Map(before.added) });
}

/**
 * @template {object} T
 * @param {Book<T>} before
 * @param {Partial<Book<T>>} different
 * @returns {Book<T>}
 */
function copyOf({ key, gen, length, places, added, pages, copied }, different) {
  const fields = { gen, length, places, added, pages: pages.slice(), copied: copied.slice() };
  return Object.assign(new Book(key), fields, different);
}
