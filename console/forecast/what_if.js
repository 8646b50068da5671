/** What-if questions: changes on trial, written as steps of a scenario, and the two futures that a lab answers with. */

import { shortInstant } from "../state/lab_time.js";

/**
 * @typedef {import("../state/events.js").LabEvent} LabEvent
 * @typedef {import("../state/lab_time.js").LabTime} LabTime
 * @typedef {import("./future.js").Answer} Answer
 * @typedef {import("./future.js").Future} Future
 *
 * @typedef {object} Question
 * @property {string} words for people: "What if B is stopped?"
 * @property {Record<string, unknown>[]} steps
 *
 * @typedef {object} Difference What happens in only one of the two futures.
 * @property {"with" | "without"} only
 * @property {LabTime} at
 * @property {string} node
 * @property {LabEvent["type"]} type
 * @property {string} words
 *
 * @typedef {Answer & {without: Omit<Answer, "from_at">, differences: Difference[]}} ComparedAnswer
 *
 * @typedef {object} Comparison
 * @property {Future} with
 * @property {Future} without
 * @property {Difference[]} differences
 */

/** What is rarely useful: the ends of hops, which mails tell of too, and rows, which follow from mails. */
const NOISE = new Set([
  "hop.sent",
  "hop.received",
  "row.replaced",
  "clock.changed",
  "setting.value",
  "address.stamped",
]);

/** @param {string} server @returns {Question} */
export const ifStopped = (server) => ({ words: `What if ${server} is stopped?`, steps: [{ stop: server }] });

/** @param {string} server @returns {Question} */
export const ifStarted = (server) => ({ words: `What if ${server} is started?`, steps: [{ start: server }] });

/** @param {string} connector @returns {Question} */
export const ifCut = (connector) => ({ words: `What if ${connector} is cut?`, steps: [{ cut: { connector } }] });

/** @param {string} fault an id @returns {Question} */
export const ifHealed = (fault) => ({ words: `What if ${fault} is healed?`, steps: [{ heal: fault }] });

/**
 * Return what to ask about a copy of a mail that waits in a queue.
 * @param {string} mail a Message-ID
 * @param {string} server on which it waits
 * @param {string} nextHop
 * @param {LabTime} [at] when it is expected to leave, if it does not wait yet
 * @returns {Question}
 */
export function ifLost(mail, server, nextHop, at) {
  const lose = { mail, link: [server, nextHop], count: 1 };
  const leaves = at === undefined ? "" : ` at ${shortInstant(at)}`;
  return { words: `What if the mail from ${server} to ${nextHop}${leaves} is lost?`, steps: [{ lose }] };
}

/**
 * Return the differences that people want to read. What a server does again and again, such as an attempt that fails, is one row
 * with its last time.
 * @param {readonly Difference[]} differences
 * @returns {(Difference & {times: number, lastAt: LabTime})[]}
 */
export function notable(differences) {
  /** @type {Map<string, Difference & {times: number, lastAt: LabTime}>} */
  const rows = new Map();
  for (const difference of differences) {
    if (NOISE.has(difference.type)) continue;
    const key = `${difference.only} ${difference.node} ${difference.words}`;
    const row = rows.get(key);
    if (row) Object.assign(row, { times: row.times + 1, lastAt: difference.at });
    else rows.set(key, { ...difference, times: 1, lastAt: difference.at });
  }
  return [...rows.values()];
}
