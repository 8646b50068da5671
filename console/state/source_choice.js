/**
 * How a store chose whom to ask for what it lacks (BF-3), from the event that records the choice: the sort keys of 2003 and 5.5, or
 * the six groups of 2000, with each holder in the order in which it was considered.
 *
 * Example, 2003: A is asked; C was passed over because its row claims nothing.
 *
 *     holder    cost       version    claims
 *     A         in site    2003       1         asked
 *     C         10         2003       0         is not known to have any of it
 *                ^^ the first key that differs put C behind A
 */

import * as numbers from "./change_numbers.js";
import { splitNumber } from "./lab_state.js";
import { duration } from "./lab_time.js";

/**
 * @typedef {import("./events.js").Candidate} Candidate
 * @typedef {import("./events.js").LabEvent} LabEvent
 * @typedef {import("./events.js").EventOf<"sources.considered">} Choice
 *
 * @typedef {object} Considered A holder in a choice.
 * @property {string} store
 * @property {string} version
 * @property {boolean} asked
 * @property {string} passedOver why it is not asked; "" if it is
 * @property {string[]} values in the order of the keys
 * @property {number | null} decides the index of the key that put it behind the holder before; null: none, or it is the first
 *
 * @typedef {object} Group
 * @property {number} number 1 to 6
 * @property {string} name
 * @property {Considered[]} holders
 */

/** @type {Record<string, {title: string, order: string, value: (candidate: Candidate) => string}>} */
const KEYS = {
  down: { title: "Up", order: "up before down", value: ({ down }) => (down ? "marked down" : "up") },
  leaving: {
    title: "Holder",
    order: "holders before leavers",
    value: ({ leaving }) => (leaving ? "is leaving" : "holder"),
  },
  preferred: {
    title: "Preferred",
    order: "preferred first",
    value: ({ preferred }) => (preferred ? "preferred" : "not preferred"),
  },
  near: { title: "Site", order: "own site first", value: ({ near, site }) => (near ? "same" : site) },
  cost: {
    title: "Cost",
    order: "least cost",
    value: ({ near, cost }) => (near ? "in the site" : cost === null ? "no route" : String(cost)),
  },
  version: { title: "Version", order: "newest version", value: ({ version }) => version },
  has: { title: "Claims", order: "most numbers", value: ({ has }) => (has ? String(has) : "none") },
};

/** The sort keys of each method, the first one decides first. */
const SORTED = {
  "sorted list": [KEYS.down, KEYS.leaving, KEYS.preferred, KEYS.cost, KEYS.version, KEYS.has],
  "two holders": [KEYS.down, KEYS.leaving, KEYS.has, KEYS.near, KEYS.cost],
};

const KINDS = ["in the site", "elsewhere, with affinity", "elsewhere, without affinity"];

const GROUPS = 6;

/** @param {Choice} choice */
const keysOf = (choice) => SORTED[choice.method === "two holders" ? "two holders" : "sorted list"];

/**
 * Return the sort keys of a choice, and for each whether the holders differ in it.
 * @param {Choice} choice
 * @returns {{title: string, order: string, differs: boolean}[]}
 */
export function keyColumns(choice) {
  return keysOf(choice).map(({ title, order, value }) => ({
    title,
    order,
    differs: new Set(choice.candidates.map(value)).size > 1,
  }));
}

/**
 * Return the holders in the order in which a sorted list has them.
 * @param {Choice} choice
 * @returns {Considered[]}
 */
export function sortedHolders(choice) {
  const keys = keysOf(choice);
  return choice.candidates.map((candidate, place) => {
    const values = keys.map(({ value }) => value(candidate));
    const before = choice.candidates[place - 1];
    const decides = before ? keys.findIndex(({ value }, index) => value(before) !== values[index]) : -1;
    return { ...considered(choice, candidate), values, decides: decides < 0 ? null : decides };
  });
}

/**
 * Return the six groups of 2000 with their holders.
 * @param {Choice} choice
 * @returns {Group[]}
 */
export function groupsOf(choice) {
  return Array.from({ length: GROUPS }, (_, index) => ({
    number: index + 1,
    name: `${index < KINDS.length ? "2000 or newer" : "older"}, ${KINDS[index % KINDS.length]}`,
    holders: choice.candidates
      .filter(({ group }) => group === index + 1)
      .map((candidate) => ({ ...considered(choice, candidate), values: [inGroup(choice, candidate)], decides: null })),
  }));
}

/** Return what decides the order within a group. @param {Choice} choice @param {Candidate} candidate */
function inGroup(choice, { near, down, backfilled_at: askedAt, affinity, transit_us: transit }) {
  const key = near
    ? askedAt
      ? `last asked ${duration(choice.at - askedAt)} before`
      : "never asked before"
    : affinity !== null
      ? `affinity ${affinity}`
      : transit !== null
        ? `its mail takes ${duration(transit)}`
        : "no mail of it has come";
  return down ? `marked down, ${key}` : key;
}

/** @param {Choice} choice @param {Candidate} candidate */
function considered({ chosen }, { store, version, passed_over: reason }) {
  const asked = chosen.includes(store);
  return { store, version, asked, passedOver: asked ? "" : reason };
}

/**
 * Return the choices of a server among events, the newest first.
 * @param {import("./log.js").Entries<LabEvent>} events
 * @param {number} end how many events count
 * @param {{server: string, folder: string, number?: string}} query folder "" for all; number: only choices about this change
 * @param {number} most
 * @returns {Choice[]}
 */
export function choicesOf(events, end, { server, folder, number }, most) {
  const [guid, counter] = number ? splitNumber(number) : ["", 0];
  const names = (/** @type {string | undefined} */ set) => numbers.has(numbers.parse(set), guid, counter);
  const choices = [];
  for (let index = Math.min(end, events.length) - 1; index >= 0 && choices.length < most; index--) {
    const event = events.at(index);
    if (event === undefined) break; // forgotten, and all before it
    if (event.type !== "sources.considered" || event.node !== server || (folder && event.folder !== folder)) continue;
    if (number && !names(event.cnset) && !names(event.cnset_fai)) continue;
    choices.push(event);
  }
  return choices;
}
