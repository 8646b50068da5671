import assert from "node:assert/strict";
import { test } from "node:test";

import { LiveSource } from "../source/live.js";

/** Whether the page is painted; a page that nobody sees gets no frames. */
let painted = true;
Object.assign(globalThis, {
  requestAnimationFrame: (/** @type {() => void} */ act) => (painted ? setTimeout(act) : undefined),
  cancelAnimationFrame: clearTimeout,
});
globalThis.addEventListener ??= () => {};

/**
 * Follow a lab from after so many events. Returns the events that arrive, how often events were lost, and what tells of new ones.
 * @param {Record<number, {events: number[], end: number}>} pieces what the lab answers, by the number of events that the page has
 * @param {number} count
 */
async function followed(pieces, count) {
  /** @type {(news: import("../source/lab_streams.js").Told) => void} */
  let tell = () => {};
  /** @type {import("../source/server_door.js").Door} */
  const door = {
    origin: null,
    open: null,
    ask: async (target) => {
      const { events, end } = pieces[Number(/after=(\d+)/.exec(target)?.[1])];
      const lines = events.map((number) => JSON.stringify({ number }) + "\n").join("");
      return new Response(lines, { headers: { "Pflab-Next": String(end) } });
    },
    follow: (reader) => {
      tell = reader;
      return () => {};
    },
  };
  const source = new LiveSource("", door);
  source.count = count;
  /** @type {number[]} */
  const arrivals = [];
  let losses = 0;
  await source.follow(
    (events) => arrivals.push(...events.map((/** @type {any} */ event) => event.number)),
    () => {},
    () => (losses += 1),
  );
  const news = (/** @type {number[]} */ ...numbers) =>
    tell({ arrivals: numbers.map((number) => ({ number, data: JSON.stringify({ number }) })) });
  return { arrivals, news, losses: () => losses };
}

const later = () => new Promise((resolve) => setTimeout(resolve, 0));

test("all events arrive in order, those of the stream once", async () => {
  const lab = await followed(
    { 4: { events: [5, 6], end: 6 }, 6: { events: [7], end: 7 }, 7: { events: [], end: 7 } },
    4,
  );
  lab.news(7, 8);
  lab.news(8, 9);
  await later();
  assert.deepEqual(lab.arrivals, [5, 6, 7, 8, 9]);
  assert.equal(lab.losses(), 0);
});

test("a page that nobody sees takes events too, each once", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  painted = false;
  const lab = await followed({ 0: { events: [], end: 0 } }, 0);
  lab.news(1);
  t.mock.timers.tick(400);
  assert.deepEqual(lab.arrivals, []);
  lab.news(2);
  t.mock.timers.tick(200);
  assert.deepEqual(lab.arrivals, [1, 2]);
  painted = true;
  lab.news(3);
  t.mock.timers.tick(2000);
  assert.deepEqual(lab.arrivals, [1, 2, 3]);
});

test("a page learns that the lab has forgotten events that it needs, while it loads or after that", async () => {
  const slow = await followed({ 4: { events: [5, 6], end: 6 }, 6: { events: [17], end: 17 } }, 4);
  assert.deepEqual([slow.arrivals, slow.losses()], [[5, 6], 1]);
  const asleep = await followed({ 4: { events: [], end: 4 } }, 4);
  asleep.news(17);
  await later();
  assert.deepEqual([asleep.arrivals, asleep.losses()], [[], 1]);
});

test("the organization of a run's beginning is the one of its first event, also after changes", async () => {
  const [first, present] = [{ start: "2026-01-05T00:00:00Z" }, { start: "2026-01-05T00:00:00Z", revision: 2 }];
  const begun = async (/** @type {object} */ topology, /** @type {string} */ type, after = 0) => {
    /** @type {Record<string, any>} */
    const answers = {
      "/lab/topology": topology,
      "/lab": { setup: "c" },
      "/lab/checkpoint": { history: "h", after, state: null },
    };
    const event = `${JSON.stringify({ type, topology: JSON.stringify(first) })}\n`;
    /** @type {string[]} */
    const targets = [];
    /** @type {import("../source/server_door.js").Door} */
    const door = {
      origin: null,
      open: null,
      ask: async (target) => {
        targets.push(target);
        return target in answers ? Response.json(answers[target]) : new Response(event);
      },
      follow: () => () => {},
    };
    const { topology: organization } = await new LiveSource("", door).begin();
    return [organization, targets.length];
  };
  assert.deepEqual(await begun(present, "run.started"), [first, 4]);
  assert.deepEqual(await begun(first, "run.started"), [first, 3]);
  assert.deepEqual(await begun(present, "run.started", 17), [present, 3], "it then begins with a checkpoint");
  assert.deepEqual(await begun(present, "node.started"), [present, 4], "forgotten in between");
});
