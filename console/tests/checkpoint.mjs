/**
 * Compare the state that a lab keeps of events that it forgets with the state that the console builds from these events, and the
 * states and pictures of both after the events that follow. Print what is different, as a JSON array of texts.
 *
 *     node checkpoint.mjs run.json checkpoint.json
 */

import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";

import { parseInstant } from "../state/lab_time.js";
import { Timeline } from "../timeline.js";

/** What the timeline takes from a browser. */
Object.assign(globalThis, {
  document: { hidden: true },
  matchMedia: () => ({ matches: true }),
  requestAnimationFrame: () => 1,
  cancelAnimationFrame: () => {},
});

const [run, checkpoint] = process.argv.slice(2, 4).map((file) => JSON.parse(readFileSync(file, "utf-8")));
const { topology, setup } = run;
const { count } = checkpoint;
const startAt = parseInstant(topology.start) ?? 0;

const whole = new Timeline(true);
whole.begin({ topology, startAt, setup });
whole.take(run.events);
const later = new Timeline(true);
later.begin({ topology, startAt, setup, forgotten: count, checkpoint });
later.take(run.events.slice(count));

/** @type {string[]} */
const differences = [];
const mailsOf = (/** @type {any[]} */ events) => new Set(events.map(({ mail }) => mail));
/**
 * The page that begins with the checkpoint does not have the beginning of these mails on its axis: their first events are before it,
 * or they left at its instant or earlier.
 */
const early = mailsOf(
  run.events.filter(
    (/** @type {any} */ event, /** @type {number} */ index) =>
      index < count || (event.begun_at ?? event.at) <= checkpoint.at,
  ),
);
const moments = [count, count + 1, Math.floor((count + run.events.length) / 2), run.events.length];
for (const moment of moments.filter((each) => each <= run.events.length)) {
  const [full, resumed] = [whole, later].map(({ history }) => plain(history?.after(moment)));
  compare(`after ${moment} events`, full, resumed);
  const [all, some] = [whole, later].map(({ marks }) =>
    marks
      .onTheirWay(marks.pace.after(moment))
      .filter(({ arrow }) => !early.has(arrow.mail))
      .map(({ arrow, gone }) => `${arrow.mail} ${arrow.from} ${arrow.to} ${arrow.type} ${gone.toFixed(6)}`)
      .sort(),
  );
  compare(`the mails on their way after ${moment} events`, all, some);
}
const [lasting, resumed] = [whole, later].map(({ marks }) => [...marks.lasting.keys()].sort());
compare("what lasts at the end", lasting, resumed);
const labels = (/** @type {Timeline} */ { marks }) => marks.dots.filter(({ event }) => event >= count);
compare("the changes that users made", labels(whole), labels(later));
process.stdout.write(JSON.stringify(differences.slice(0, 20)));
process.exit(0);

/**
 * Return a state as plain values: without generations, and with sets in one order.
 * @param {any} value
 * @returns {any}
 */
function plain(value) {
  if (value instanceof Map) return [...value].sort(([one], [other]) => (one < other ? -1 : 1));
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  if (typeof value.toJSON === "function") return plain(value.toJSON());
  const fields = Object.entries(value).filter(([key, field]) => key !== "gen" && field !== undefined);
  return Object.fromEntries(fields.map(([key, field]) => [key, plain(field)]));
}

/**
 * Note where two values differ.
 * @param {string} place
 * @param {any} one
 * @param {any} other
 */
function compare(place, one, other) {
  if (isDeepStrictEqual(one, other)) return;
  const isTable = [one, other].every((value) => value !== null && typeof value === "object" && !Array.isArray(value));
  if (!isTable) {
    differences.push(`${place}: ${JSON.stringify(one)} is ${JSON.stringify(other)}`);
    return;
  }
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    compare(`${place}, ${key}`, one[key], other[key]);
  }
}
