/**
 * Compare the picture of a run with its trace at random moments: in between two events, within an instant, and while it is played.
 * Print what is wrong, as a JSON array of texts. A test in Python gives it the runs of many seeds.
 *
 *     node picture.mjs run.json seed
 *
 * What the trace says is computed here again, from the events alone.
 */

import { readFileSync } from "node:fs";

import * as numbers from "../state/change_numbers.js";
import { parseInstant } from "../state/lab_time.js";
import { Timeline } from "../timeline.js";

const MOMENTS = 1_000;

/** What the timeline takes from a browser: a page that is seen, whose user likes motion. Frames are counted below. */
Object.assign(globalThis, {
  document: { hidden: false },
  matchMedia: () => ({ matches: false }),
  requestAnimationFrame: () => 1,
  cancelAnimationFrame: () => {},
});

const run = JSON.parse(readFileSync(process.argv[2], "utf-8"));
/** @type {any[]} */
const events = run.events;
const random = generator(Number(process.argv[3]));

const timeline = new Timeline(false);
timeline.begin({ topology: run.topology, startAt: parseInstant(run.topology.start) ?? 0, setup: run.setup });
timeline.take(events);
timeline.publishNow();
timeline.caughtUp.value = true;

/** @type {Set<string>} */
const faults = new Set();

const hops = hopsOf(events);
/** By which store each change was made. @type {Map<string, string>} */
const madeBy = new Map(events.filter(({ type }) => type === "change.made").map(({ number, node }) => [number, node]));
const brought = arrivalsOf(events);
const began = events[0].at;
const ended = events[events.length - 1].at;
for (let nth = 0; nth < MOMENTS; nth++) {
  const hop = hops[Math.floor(random() * hops.length)];
  const inHop = hop && nth % 2 ? hop.begin + random() * (hop.end - hop.begin) : began + random() * (ended - began);
  if (nth % 4 < 3) timeline.travelToInstant(inHop);
  else timeline.travelTo(Math.floor(random() * (events.length + 1)));
  check();
}
// Play a part of the run, frame by frame, at a speed that shows every step.
const from = Math.floor(random() * events.length);
timeline.speed.value = 1;
timeline.play(timeline.marks.pace.after(from), Math.min(events.length, from + 150));
let last = timeline.playhead;
while (timeline.advance(16)) {
  const { playhead } = timeline;
  if (playhead.count < last.count || playhead.at < last.at) faults.add("a play goes back");
  last = playhead;
  timeline.publishNow();
  check();
}
process.stdout.write(JSON.stringify([...faults].slice(0, 20)));
process.exit(0);

/** Compare what is shown with the trace. */
function check() {
  const { count, at } = timeline.playhead;
  const told = `at ${at}, after ${count} of ${events.length} events`;
  if (count > 0 && events[count - 1].at > at) faults.add(`${told}: an event of the future is shown`);
  if (count < events.length && events[count].at < at) faults.add(`${told}: an event of the past is not shown`);
  checkMails(told);
  checkStores(told);
}

/** Each envelope is where its hop is, and each hop that is under way has an envelope. @param {string} told */
function checkMails(told) {
  const moment = timeline.playhead;
  const expected = hops.filter((hop) => hop.last >= moment.count && hop.begin <= moment.at && hop.cause < moment.count);
  const crossings = timeline.marks.onTheirWay(moment);
  const keyOf = (/** @type {any} */ { mail, from, to, end }) => `${mail} ${from} ${to} ${end}`;
  const drawn = new Map(crossings.map(({ arrow, gone }) => [keyOf({ ...arrow, end: arrow.end }), gone]));
  for (const hop of expected) {
    const gone = drawn.get(keyOf({ ...hop, end: hop.last }));
    if (gone === undefined) faults.add(`${told}: ${hop.mail} from ${hop.from} to ${hop.to} is not seen`);
    else if (hop.end > hop.begin) {
      const real = Math.min(1, (moment.at - hop.begin) / (hop.end - hop.begin));
      if (Math.abs(gone - real) > 1e-6) faults.add(`${told}: ${hop.mail} is at ${gone} of its way, not at ${real}`);
    } else if (gone < 0 || gone > 1) faults.add(`${told}: ${hop.mail} is beside its way`);
  }
  if (crossings.length > expected.length) faults.add(`${told}: more envelopes than hops`);
}

/** A store shows a foreign change only after a mail with it has arrived there. @param {string} told */
function checkStores(told) {
  const state = timeline.shown.value;
  const { count } = timeline.playhead;
  if (!state || state.count !== count) {
    faults.add(`${told}: the state is that after ${state?.count} events`);
    return;
  }
  for (const [name, server] of Object.entries(state.servers)) {
    for (const [folder, table] of Object.entries(server.tables)) {
      for (const [guid, ranges] of table.numbers) {
        for (const [low, high] of ranges) {
          for (let counter = low; counter <= high; counter++) {
            const since = brought.get(`${name} ${folder} ${guid}:${counter}`);
            const made = madeBy.get(`${guid}:${counter}`);
            if (made === undefined || made === name) continue;
            if (since === undefined || since >= count)
              faults.add(`${told}: ${name} shows ${guid}:${counter} too early`);
          }
        }
      }
    }
  }
}

/**
 * Return the hops of a trace: of which mail, between which servers, when, and by which events they were caused and ended.
 * @param {any[]} trace
 */
function hopsOf(trace) {
  /** @type {Map<string, number>} */
  const queued = new Map();
  /** @type {{mail: string, from: string, to: string, begin: number, end: number, cause: number, last: number}[]} */
  const ended = [];
  /** @type {Map<string, any>} */
  const sent = new Map();
  trace.forEach((event) => {
    if (event.type === "hop.sent") {
      const key = `${event.mail} ${event.next_hop}`;
      sent.set(key, [...(sent.get(key) ?? []), event]);
    }
  });
  trace.forEach((event, index) => {
    if (event.type === "hop.received" || event.type === "hop.dropped") {
      const end = (sent.get(`${event.mail} ${event.node}`) ?? []).shift();
      // Of a second copy, and of a hop whose sender died, only the receiver tells; it is drawn as one that took no time.
      const from = end?.node ?? (event.authenticated === false ? "" : event.peer);
      if (from)
        ended.push({
          mail: event.mail,
          from,
          to: event.node,
          begin: Math.min(end?.begun_at ?? end?.at ?? event.at, event.at),
          end: event.at,
          cause: queued.get(`${event.mail} ${from}`) ?? 0,
          last: index,
        });
    }
    if (event.type === "mail.submitted" || event.type === "hop.received")
      queued.set(`${event.mail} ${event.node}`, index);
  });
  return ended;
}

/**
 * Return the index of the first arrival of each change at each store.
 * @param {any[]} trace
 * @returns {Map<string, number>}
 */
function arrivalsOf(trace) {
  /** @type {Map<string, number>} */
  const found = new Map();
  trace.forEach((event, index) => {
    if (event.type !== "mail.received") return;
    for (const { folder, cnset, cnset_fai, expired, expired_fai } of event.folders) {
      const told = [cnset, cnset_fai, expired, expired_fai].map(numbers.parse).reduce(numbers.union);
      for (const [guid, ranges] of told) {
        for (const [low, high] of ranges) {
          for (let counter = low; counter <= high; counter++) {
            const key = `${event.node} ${folder} ${guid}:${counter}`;
            if (!found.has(key)) found.set(key, index);
          }
        }
      }
    }
  });
  return found;
}

/** Numbers between 0 and 1 that depend on the seed alone (mulberry32). @param {number} seed */
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
