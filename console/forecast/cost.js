/** What an order costs, as the lab answers before it is given: what lines carry because of it, and when all replicas agree. */

import { duration, parseInstant, shortInstant } from "../state/lab_time.js";

/**
 * @typedef {{connector: string, type: string, mails: number, bytes: number}} TrafficRow
 *
 * @typedef {object} CostAnswer What the lab answers to a forecast with `cost`.
 * @property {string} from_at
 * @property {string} to_at
 * @property {boolean} held whether all replicas agree at the end
 * @property {boolean} complete whether the lab could look as far as it was asked to
 * @property {number} mails how many mails servers send
 * @property {TrafficRow[]} traffic
 * @property {Record<string, string>} [lacking] by server; only if they do not agree
 * @property {string[]} [not_asked] the holders that do not run
 * @property {{mails: number, traffic: TrafficRow[]}} without the same without the order
 *
 * @typedef {object} LineCost What a connector carries because of the order.
 * @property {string} connector
 * @property {number} mails
 * @property {number} bytes
 *
 * @typedef {object} Cost
 * @property {LineCost[]} lines
 * @property {number} mails how many more mails servers send, also within sites
 * @property {string} end when all replicas agree, in words
 */

/** How far the lab looks ahead. */
export const COST_WITHIN = "30 d";

/** Return what an order costs. @param {CostAnswer} answer @returns {Cost} */
export function costOf(answer) {
  const { traffic, without } = answer;
  const names = [...new Set([...traffic, ...without.traffic].map(({ connector }) => connector))];
  const lines = names.map((connector) => {
    const [here, there] = [traffic, without.traffic].map((rows) => sumOf(rows, connector));
    return { connector, mails: here.mails - there.mails, bytes: here.bytes - there.bytes };
  });
  return {
    lines: lines.filter(({ mails, bytes }) => mails !== 0 || bytes !== 0),
    mails: answer.mails - without.mails,
    end: endOf(answer),
  };
}

/** @param {TrafficRow[]} rows @param {string} connector */
function sumOf(rows, connector) {
  const own = rows.filter((row) => row.connector === connector);
  return {
    mails: own.reduce((sum, row) => sum + row.mails, 0),
    bytes: own.reduce((sum, row) => sum + row.bytes, 0),
  };
}

/** @param {CostAnswer} answer */
function endOf({ from_at: from, to_at: to, held, complete, lacking = {}, not_asked: stopped = [] }) {
  const [fromAt, toAt] = [from, to].map((instant) => parseInstant(instant) ?? 0);
  if (held && toAt === fromAt) return "All replicas agree as before: nothing has to be sent.";
  if (held) return `All replicas agree ${duration(toAt - fromAt)} later, at ${shortInstant(toAt)}.`;
  const why = [
    ...stopped.map((name) => `${name} does not run`),
    ...Object.entries(lacking).map(([name, numbers]) => `${name} lacks ${numbers}`),
  ];
  const reasons = why.length ? `: ${why.join("; ")}` : "";
  return complete
    ? `Not all replicas agree within ${duration(toAt - fromAt)}${reasons}.`
    : `So much happens that the forecast ends ${duration(toAt - fromAt)} later, at ${shortInstant(toAt)}, and not all replicas agree yet.`;
}
