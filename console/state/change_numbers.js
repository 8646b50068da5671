/**
 * Sets of change numbers.
 *
 * A trace writes a set as text: `{guid}:1-4,7;{guid}:3`, where a GUID names the store that gave the numbers. Here a set is a Map
 * from a GUID to its ranges, an ascending array of pairs [low, high] that neither overlap nor touch. Sets are never changed
 * in place, so that every moment of a run can keep its own.
 *
 * @typedef {readonly (readonly [number, number])[]} Ranges
 * @typedef {ReadonlyMap<string, Ranges>} NumberSet
 */

/** @type {NumberSet} */
export const NOTHING = new Map();

/**
 * Read a set as traces write it. An empty text is the empty set.
 * @param {string | undefined} text
 * @returns {NumberSet}
 */
export function parse(text) {
  if (!text) return NOTHING;
  /** @type {Map<string, Ranges>} */
  const set = new Map();
  for (const part of text.split(";")) {
    const colon = part.indexOf(":");
    const ranges = part
      .slice(colon + 1)
      .split(",")
      .map((range) => {
        const [low, high] = range.split("-").map(Number);
        return /** @type {[number, number]} */ ([low, high ?? low]);
      });
    set.set(part.slice(0, colon), ranges);
  }
  return set;
}

/**
 * @param {Ranges} one
 * @param {Ranges} other
 * @returns {Ranges}
 */
function joined(one, other) {
  const last = one.at(-1);
  if (last && other.length === 1) {
    // Most sets grow at their end, by one number: no need to sort.
    const [low, high] = other[0];
    if (low >= last[0] && high <= last[1]) return one;
    if (low === last[1] + 1) return [...one.slice(0, -1), [last[0], high]];
    if (low > last[1]) return [...one, other[0]];
  }
  if (other.every(([low, high]) => one.some((range) => range[0] <= low && high <= range[1]))) return one;
  const ascending = [...one, ...other].sort((a, b) => a[0] - b[0]);
  /** @type {[number, number][]} */
  const ranges = [];
  for (const [low, high] of ascending) {
    const before = ranges.at(-1);
    if (before && low <= before[1] + 1) before[1] = Math.max(before[1], high);
    else ranges.push([low, high]);
  }
  return ranges;
}

/**
 * Return the numbers that either set has. If `one` already has all of `other`, return `one` itself.
 * @param {NumberSet} one
 * @param {NumberSet} other
 * @returns {NumberSet}
 */
export function union(one, other) {
  if (other.size === 0) return one;
  if (one.size === 0) return other;
  /** @type {Map<string, Ranges> | null} */
  let sum = null;
  for (const [guid, ranges] of other) {
    const before = one.get(guid);
    const after = before ? joined(before, ranges) : ranges;
    if (after === before) continue;
    sum ??= new Map(one);
    sum.set(guid, after);
  }
  return sum ?? one;
}

/**
 * Return the numbers of `one` that `other` does not have.
 * @param {NumberSet} one
 * @param {NumberSet} other
 * @returns {NumberSet}
 */
export function minus(one, other) {
  /** @type {Map<string, Ranges>} */
  const difference = new Map();
  for (const [guid, ranges] of one) {
    const removals = other.get(guid) ?? [];
    /** @type {[number, number][]} */
    const parts = [];
    let next = 0;
    for (const [low, high] of ranges) {
      let from = low;
      while (next < removals.length && removals[next][1] < from) next++;
      for (let index = next; index < removals.length && removals[index][0] <= high; index++) {
        if (removals[index][0] > from) parts.push([from, removals[index][0] - 1]);
        from = Math.max(from, removals[index][1] + 1);
      }
      if (from <= high) parts.push([from, high]);
    }
    if (parts.length) difference.set(guid, parts);
  }
  return difference;
}

/**
 * Return the size of a set.
 * @param {NumberSet} set
 * @returns {number}
 */
export function count(set) {
  let size = 0;
  for (const ranges of set.values()) for (const [low, high] of ranges) size += high - low + 1;
  return size;
}

/**
 * @param {NumberSet} set
 * @param {string} guid
 * @param {number} counter
 * @returns {boolean}
 */
export function has(set, guid, counter) {
  return (set.get(guid) ?? []).some(([low, high]) => low <= counter && counter <= high);
}

/**
 * Return whether two sets have the same numbers.
 * @param {NumberSet} one
 * @param {NumberSet} other
 * @returns {boolean}
 */
export function equal(one, other) {
  if (one === other) return true;
  return count(one) === count(other) && minus(one, other).size === 0;
}

/**
 * Return the part of a set that one store gave out.
 * @param {NumberSet} set
 * @param {string} guid
 * @returns {NumberSet}
 */
export function ofGuid(set, guid) {
  const ranges = set.get(guid);
  return ranges ? new Map([[guid, ranges]]) : NOTHING;
}

/**
 * Return a set as people read it, such as `A-1..4, A-7, B-3`. An empty set is ''.
 * @param {NumberSet} set
 * @param {(guid: string) => string} nameOf
 * @returns {string}
 */
export function words(set, nameOf) {
  return [...set]
    .map(([guid, ranges]) => /** @type {[string, Ranges]} */ ([nameOf(guid), ranges]))
    .sort(([one], [other]) => one.localeCompare(other, "en", { numeric: true }))
    .flatMap(([name, ranges]) => ranges.map(([low, high]) => `${name}-${low === high ? low : `${low}..${high}`}`))
    .join(", ");
}
