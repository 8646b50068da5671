/**
 * Asks a live lab for its future, and asks again when the lab has changed.
 *
 * The lab answers from a copy of its databases, so each question costs it something. It is asked only while somebody looks at the
 * present and the clock stands still or is slow; never while events are still coming, and never for more than a tenth of the time.
 */

import { LAB } from "../api.js";
import { parseInstant } from "../state/lab_time.js";
import { computed, effect, signal } from "../vendor/preact.js";
import { Future } from "./future.js";

/**
 * @typedef {import("../lab_clock.js").LabClock} LabClock
 * @typedef {import("../source/live.js").Source} Source
 * @typedef {import("../timeline.js").Timeline} Timeline
 * @typedef {import("./future.js").Answer} Answer
 * @typedef {import("./what_if.js").ComparedAnswer} ComparedAnswer
 * @typedef {import("./what_if.js").Comparison} Comparison
 */

/** How far a forecast looks: a store that is behind learns it from a status within a day, and asks within twelve hours. */
const WITHIN = "36 h";

/** How far a forecast looks once one had more events than this: with a thousand folders, 36 hours take the lab some seconds. */
const NEAR = "6 h";
const MANY_EVENTS = 5_000;

/** How far two futures are compared: a loss that is expected later heals later. */
const COMPARED_WITHIN = "72 h";

/** How long no event may come before the lab is asked, in milliseconds. */
const QUIET_MS = 250;

/** How many times as long as the answer took the lab is left alone. */
const REST = 10;

/** Events after which a mail on a line may be there no more, until the lab is asked again. */
const DISTURBANCES = new Set([
  "fault.injected",
  "fault.healed",
  "node.started",
  "node.stopped",
  "store.deleted",
  "store.created",
  "backup.restored",
  "backup.elsewhere",
]);

/** The fastest clock, in lab seconds for each second, of which the future is shown. Above it, it would be over too soon. */
const FASTEST = 60;

export class Forecast {
  /**
   * @param {Source} source
   * @param {Timeline} timeline
   * @param {LabClock} clock
   */
  constructor(source, timeline, clock) {
    this.source = source;
    this.timeline = timeline;
    this.clock = clock;
    /** Whether the user wants to see the future. A lesson asks its learners for it, so there they decide. */
    this.enabled = signal(source.live && !source.base);
    /** What the lab answered last about its present; null while it is not known. */
    this.known = signal(/** @type {Future | null} */ (null));
    /** The future of the present, if the user wants to see it; null while it is not known. */
    this.future = computed(() => (this.enabled.value ? this.known.value : null));
    /** The newest future that was known. What has begun in it goes on while the lab is asked again. @type {Future | null} */
    this.last = null;
    /** Why the lab has given no forecast. */
    this.refused = signal("");
    /** @type {ReturnType<typeof setTimeout> | 0} */
    this.timer = 0;
    this.asking = false;
    /** Whether much happens in the lab. */
    this.busy = false;
    this.restUntil = 0;
    this.stops = () => {};
  }

  /** Begin to follow the lab. */
  start() {
    const { clock, timeline } = this;
    const rate = computed(() => (clock.reading.value?.warping ? Infinity : (clock.reading.value?.rate ?? 0)));
    const waits = computed(
      () => timeline.head.value > 0 && Object.values(timeline.history?.now.servers ?? {}).some(hasQueue),
    );
    const look = () => this.consider();
    document.addEventListener("visibilitychange", look);
    const stop = effect(() => {
      const slow = rate.value <= FASTEST;
      const present = timeline.moment.value === null && timeline.caughtUp.value;
      // A mail that waits can be on a slow line, which is no future.
      const wanted = this.enabled.value || (this.source.live && waits.value);
      const count = timeline.head.value;
      if (!wanted || !slow) this.last = null;
      if (this.last?.count !== count) this.known.value = null;
      this.may = wanted && slow && present;
      this.consider();
    });
    this.stops = () => {
      stop();
      document.removeEventListener("visibilitychange", look);
    };
  }

  stop() {
    this.stops();
    this.may = false;
    clearTimeout(this.timer);
  }

  /** Ask the lab soon, if its future is wanted and not known. */
  consider() {
    clearTimeout(this.timer);
    if (!this.may || this.asking || document.hidden || this.known.peek()) return;
    const restMs = this.restUntil - performance.now();
    this.timer = setTimeout(() => void this.ask(), Math.max(QUIET_MS, restMs));
  }

  async ask() {
    const { timeline } = this;
    const { history } = timeline;
    if (!history) return;
    const began = performance.now();
    const count = history.events.length;
    this.asking = true;
    try {
      const answer = await this.foresee({ within: this.busy ? NEAR : WITHIN });
      this.busy ||= answer.events.length > MANY_EVENTS;
      const same = this.may && history.events.length === count && timeline.head.peek() === count;
      if (same) this.known.value = this.last = this.futureOf(answer);
      this.refused.value = "";
    } catch (error) {
      // The next event asks again.
      this.refused.value = error instanceof Error ? error.message : String(error);
    }
    this.asking = false;
    const took = performance.now() - began;
    this.restUntil = performance.now() + REST * took;
    if (!this.refused.peek()) this.consider();
  }

  /**
   * Ask the lab for both futures of its present: with these steps of a scenario, and without them.
   * @param {readonly Record<string, unknown>[]} steps
   * @returns {Promise<Comparison>}
   */
  async compare(steps) {
    const answer = /** @type {ComparedAnswer} */ (
      await this.foresee({ within: COMPARED_WITHIN, steps, compare: true })
    );
    const { from_at, without, differences } = answer;
    return { with: this.futureOf(answer), without: this.futureOf({ ...without, from_at }), differences };
  }

  /** @param {{within: string, steps?: readonly Record<string, unknown>[], compare?: boolean}} body @returns {Promise<Answer>} */
  foresee(body) {
    return this.source.request(LAB.forecast, { method: "POST", body });
  }

  /** Return the future of the present, as the lab told it. @param {Answer} answer */
  futureOf(answer) {
    const history = /** @type {import("../state/history.js").History} */ (this.timeline.history);
    const [from, until] = [answer.from_at, answer.to_at].map((instant) => parseInstant(instant) ?? 0);
    return new Future(history.keepNow(), answer.events, until, from);
  }

  /**
   * Return the hops that have begun in the present and not ended, if the present is on the screen.
   * @returns {import("../state/marks.js").Crossing[]}
   */
  crossings() {
    const { timeline, clock } = this;
    const known = this.known.value ?? this.last;
    if (!known || !timeline.history || timeline.moment.value !== null || timeline.follows()) return [];
    const { entries, first } = timeline.history.events;
    const since = entries.slice(known.count - first);
    if (since.some(({ type }) => DISTURBANCES.has(type))) return [];
    const told = new Set(since.map(({ mail }) => mail));
    return known.crossings(clock.shownPresent()).filter(({ arrow }) => !told.has(arrow.mail));
  }
}

/** @param {import("../state/lab_state.js").Server} server */
function hasQueue({ queue }) {
  for (const _ in queue) return true;
  return false;
}
