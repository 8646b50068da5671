/**
 * A tree of plain objects that is changed in place, and of which any number of earlier trees are kept.
 *
 * To keep a tree, call `keep`: it returns the tree and starts a new generation. After that, the first change to an object in the
 * tree copies this object and its parents, so the kept tree stays as it was. Keeping a tree therefore costs nothing.
 */

/**
 * Return an empty table.
 * @template T
 * @returns {Record<string, T>}
 */
export const table = () => Object.create(null);

let generations = 0;

/** Return a generation that no state has had. */
export function newGeneration() {
  generations += 1;
  return generations;
}

/**
 * Return the present tree for keeping, and a tree to go on with.
 * @template {{gen: number}} T
 * @param {T} tree
 * @returns {{kept: T, next: T}}
 */
export function keep(tree) {
  return { kept: tree, next: { ...tree, gen: newGeneration() } };
}

/** The generation in which each table was last copied. A table has the keys of the lab, so its generation is kept beside it. */
const copiedIn = /** @type {WeakMap<object, number>} */ (new WeakMap());

/**
 * Return the table `owner[key]`, for changing. `owner` must belong to the present generation.
 * @template {object} O
 * @template {keyof O} K
 * @param {number} gen
 * @param {O} owner
 * @param {K} key
 * @returns {O[K]}
 */
export function own(gen, owner, key) {
  const before = /** @type {any} */ (owner[key]);
  if (copiedIn.get(before) === gen) return before;
  const copy = Object.assign(table(), before);
  copiedIn.set(copy, gen);
  owner[key] = copy;
  return /** @type {any} */ (copy);
}

/**
 * Return the object at `key` of a table, for changing; undefined if there is none.
 * @template {{gen: number}} T
 * @param {number} gen
 * @param {Record<string, T>} from
 * @param {string | number} key
 * @returns {T | undefined}
 */
export function ownEntry(gen, from, key) {
  const before = from[key];
  if (before === undefined || before.gen === gen) return before;
  return (from[key] = { ...before, gen });
}
