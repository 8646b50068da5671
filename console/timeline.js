/**
 * The events of the lab in the browser: the history, the moment that is shown, and how the screen gets there.
 *
 * All views show one moment. It moves along the axis of `state/pace.js`: when the past is played, and when the present moves on,
 * for example because the clock jumped to the next mail. Frames of the map and of the diagram read `playhead`; views that show the
 * state read `shown`, which follows it some times a second.
 *
 * A live lab has no end. It forgets its oldest events, and so does this page, unless the user is at one of them; the history then
 * begins with a state of the past, not with that of the run's beginning.
 */

import { stateOf } from "./state/checkpoint.js";
import { History } from "./state/history.js";
import { beginning } from "./state/lab_state.js";
import { Marks } from "./state/marks.js";
import { Sums } from "./state/sums.js";
import { computed, effect, signal } from "./vendor/preact.js";

/**
 * @typedef {import("./source/live.js").Beginning} Beginning
 * @typedef {import("./state/events.js").LabEvent} LabEvent
 * @typedef {import("./state/lab_time.js").LabTime} LabTime
 * @typedef {import("./state/pace.js").Moment} Moment
 *
 * @typedef {object} Play A play of past events.
 * @property {number} to how many events come before its last moment
 * @property {number} stepMs how long a step takes at speed 1
 */

/** How long a step of the axis takes on the screen, in milliseconds, and the longest play at speed 1. */
const STEP_MS = 450;
const LONGEST_PLAY_MS = 12_000;

/** When the present moves on, the screen is behind it by about this time at most, in milliseconds. */
const MOST_BEHIND_MS = 900;

/** The shortest time between two paintings of the state, in milliseconds. Mails move between them without the state. */
const PUBLISH_MS = 100;

/** The most events that a page of a live lab keeps, and how many are left when it forgets the oldest ones. */
const MOST_EVENTS = 100_000;
const LEFT_EVENTS = 60_000;

/** How fast the past is played, compared with the usual speed. */
export const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];

/** Events that begin or end a hop. */
const HOPS = new Set(["hop.sent", "hop.received", "hop.dropped", "hop.failed"]);

/** @type {Moment} */
const BEGINNING = { count: 0, at: 0, place: -1 };

/**
 * Wait until a condition on signals holds.
 * @param {() => boolean} condition
 * @returns {Promise<void>}
 */
function until(condition) {
  return new Promise((resolve) => {
    const stop = effect(() => {
      if (!condition()) return;
      queueMicrotask(() => stop());
      resolve();
    });
  });
}

/** Whether the user wants no motion. */
export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class Timeline {
  /** @param {boolean} live whether more events can come */
  constructor(live) {
    this.live = live;
    /** @type {History | null} */
    this.history = null;
    this.marks = new Marks();
    this.counted = new Sums();
    /** Whether the topology is known, so that the lab can be drawn. Its events may still be arriving. */
    this.opened = signal(false);
    /** Whether all events have arrived that the lab had when the console was opened. */
    this.caughtUp = signal(false);
    /** How many events the history has; changes with every batch. */
    this.head = signal(0);
    this.published = 0;
    /** @type {ReturnType<typeof setTimeout> | 0} */
    this.publishing = 0;
    /** The moment that the user has chosen or plays; null for the present. */
    this.moment = signal(/** @type {Moment | null} */ (null));
    /** The moment that is on the screen, as it was painted last. */
    this.painted = signal(BEGINNING);
    /** The moment that is on the screen, in this frame. */
    this.playhead = BEGINNING;
    /** The play that is under way. */
    this.playing = signal(/** @type {Play | null} */ (null));
    this.paused = signal(false);
    this.speed = signal(1);
    /** Whether the moment moves along the axis now, and does not jump. */
    this.moving = false;
    /** Where the play is on the axis. */
    this.place = 0;
    this.frame = 0;
    this.framed = 0;
    /** Returns until when mails on their way have been seen while the present waited for an event; null if there are none. */
    this.seenUntil = () => /** @type {LabTime | null} */ (null);
    /** Called in each frame in which the moment moves. @type {Set<() => void>} */
    this.watchers = new Set();

    /** The state of the lab at the moment that is shown. */
    this.shown = computed(() => {
      const { count, at } = this.painted.value;
      if (!this.opened.value || !this.history || this.head.value < 0) return null;
      const state = count < this.history.events.length ? this.history.after(count) : { ...this.history.now };
      state.at = Math.max(state.at, at);
      return state;
    });
    /** The sums of this state. */
    this.sums = computed(() => {
      const state = this.shown.value;
      return state && this.counted.of(state, this.history?.events ?? []);
    });
    this.travelling = computed(() => this.moment.value !== null);
  }

  /** Begin with the lab as it was before its first event. @param {Beginning} beginning */
  begin({ topology, startAt, setup, forgotten = 0, checkpoint = null }) {
    const known = checkpoint ? stateOf(checkpoint, setup) : beginning(topology, startAt, setup);
    const first = { ...known, count: forgotten };
    this.marks.servers = new Set(Object.keys(first.servers));
    if (forgotten) {
      this.marks.resume(first);
      this.playhead = { count: first.count, at: first.at, place: -1 };
    }
    this.history = new History(topology, startAt, setup, first);
    this.head.value = this.history.events.length;
    this.painted.value = this.playhead;
    this.opened.value = true;
  }

  /**
   * Take events that follow those of the history.
   * @param {LabEvent[]} events
   */
  take(events) {
    const { history, marks } = this;
    const before = history?.events.length ?? 0;
    const seenUntil = this.seenUntil();
    history?.add(events);
    marks.add(events);
    this.forget();
    this.publish();
    if (this.moment.value !== null) return;
    const quick = !this.caughtUp.value || document.hidden || calm();
    if (quick) this.show(marks.pace.after(before + events.length));
    else {
      // The present has waited for the first new event. A mail on its way is shown, the time in between is not shown again.
      const waited = this.playhead.count >= before;
      if (waited && !HOPS.has(events[0]?.type)) this.show(marks.pace.after(before + 1));
      else if (waited && seenUntil !== null) {
        this.show(marks.pace.between(before, Math.min(seenUntil, marks.pace.timeOf(before))) ?? this.playhead);
      }
      this.run();
    }
  }

  /** Forget the oldest events, if there are many of them and none of them is looked at. */
  forget() {
    const { history, live } = this;
    if (!history || !live || history.events.entries.length <= MOST_EVENTS) return;
    const first = history.events.length - LEFT_EVENTS;
    const shown = Math.min(this.playhead.count, this.painted.value.count, this.moment.value?.count ?? Infinity);
    if (shown > first) this.marks.forget(history.forget(first), history.now);
  }

  /** Let the views see the events that have arrived, and the moment that is shown, now or soon. */
  publish() {
    if (this.publishing) return;
    const wait = Math.max(0, this.published + PUBLISH_MS - performance.now());
    this.publishing = setTimeout(() => this.publishNow(), wait);
  }

  publishNow() {
    clearTimeout(this.publishing);
    this.publishing = 0;
    this.published = performance.now();
    this.head.value = this.history?.events.length ?? 0;
    this.painted.value = this.playhead;
    if (this.playing.value) this.moment.value = this.playhead;
  }

  /** Show a moment. @param {Moment} moment */
  show(moment) {
    this.playhead = moment;
    for (const watch of this.watchers) watch();
    this.publish();
  }

  /** Move along the axis, frame by frame, until there is nothing to go to. */
  run() {
    if (this.frame) return;
    this.framed = performance.now();
    const next = () => {
      this.frame = 0;
      const now = performance.now();
      const spanMs = Math.min(now - this.framed, PUBLISH_MS); // after a long pause of the page, go on where it was
      this.framed = now;
      this.moving = true;
      const more = this.advance(spanMs);
      this.moving = false;
      if (more) this.frame = requestAnimationFrame(next);
    };
    this.frame = requestAnimationFrame(next);
  }

  /**
   * Go on by a time of the screen. Returns whether there is more to go to.
   * @param {number} spanMs
   * @returns {boolean}
   */
  advance(spanMs) {
    const { pace } = this.marks;
    const play = this.playing.value;
    if (play) {
      if (this.paused.value) return false;
      const end = pace.after(play.to);
      this.place += (spanMs * this.speed.value) / play.stepMs;
      if (this.place >= end.place) {
        this.skip();
        return false;
      }
      const moment = pace.moment(this.place);
      // Without motion, only the moments of events are shown, and nothing between them.
      if (!calm()) this.show(moment);
      else if (moment.count !== this.playhead.count) this.show(pace.after(moment.count));
      return true;
    }
    if (this.moment.value) return false;
    const end = pace.after(pace.count);
    const left = end.place - this.playhead.place;
    const place = this.playhead.place + Math.max(spanMs / STEP_MS, (left * spanMs) / MOST_BEHIND_MS);
    this.show(place >= end.place ? end : pace.moment(place));
    return place < end.place;
  }

  /** Return whether the screen is on its way to the present. */
  follows() {
    return this.moment.value === null && this.playhead.count < this.marks.pace.count;
  }

  /**
   * Wait until the history has so many events. The answer of a request can arrive before the events that it caused.
   * @param {number} count
   * @returns {Promise<void>}
   */
  reached(count) {
    return until(() => this.head.value >= count);
  }

  /**
   * Return which events have a text in their words, by their places in the run.
   * @param {string} text in lower case
   * @returns {Promise<number[]>}
   */
  async find(text) {
    await until(() => this.caughtUp.value);
    /** @type {number[]} */
    const places = [];
    const { entries, first } = this.history?.events ?? { entries: [], first: 0 };
    for (const [index, { node, words, type }] of entries.entries()) {
      if (`${node} ${words ?? type}`.toLowerCase().includes(text)) places.push(first + index);
    }
    return places;
  }

  /**
   * Play past events: show one moment after the other, with the mails on their way.
   * @param {Moment} from the first moment
   * @param {number} to how many events come before the last one; the present, if no event has come since
   */
  play(from, to) {
    const steps = this.marks.pace.after(to).place - from.place;
    this.moment.value = from;
    this.place = from.place;
    this.paused.value = false;
    this.playing.value = { to, stepMs: Math.min(STEP_MS, LONGEST_PLAY_MS / Math.max(1, steps)) };
    this.show(from);
    this.run();
  }

  /** Let the play stand still, or go on. @param {boolean} paused */
  pause(paused) {
    this.paused.value = paused;
    if (!paused) this.run();
  }

  /** End the play at its last moment. */
  skip() {
    const play = this.playing.value;
    if (play) this.travelTo(play.to);
  }

  /** Play from the moment that is shown to the present, or at the end of a run from its beginning, or let the play stand still or go on. */
  togglePlay() {
    const { history, marks } = this;
    const end = history?.events.length ?? 0;
    const ended = this.playhead.count >= end && !this.live; // then a run is played from its beginning
    if (this.playing.value) this.pause(!this.paused.value);
    else if (ended) this.play(marks.pace.after(history?.events.first ?? 0), end);
    else if (this.moment.value) this.play(this.moment.value, end);
  }

  /**
   * Show the lab as it was after so many events; null shows the present again.
   * @param {number | null} count
   */
  travelTo(count) {
    const head = this.history?.events.length ?? 0;
    const present = count === null || (count >= head && this.live);
    this.travel(this.marks.pace.after(present ? head : Math.max(0, count)), present);
  }

  /**
   * Show the lab as it was at an instant, which can lie between two events.
   * @param {LabTime} at
   */
  travelToInstant(at) {
    const moment = this.marks.pace.at(at);
    this.travel(moment, this.live && moment.count === this.marks.pace.count);
  }

  /**
   * Stay at the moment after so many events, whatever happens in the lab.
   * @param {number} count
   */
  stayAt(count) {
    this.travel(this.marks.pace.after(count), false);
  }

  /** @param {Moment} moment @param {boolean} present */
  travel(moment, present) {
    this.playing.value = null;
    this.moment.value = present ? null : moment;
    this.playhead = moment;
    this.publishNow();
    for (const watch of this.watchers) watch();
  }

  /**
   * Move the moment that is shown by so many events.
   * @param {number} by
   */
  travelBy(by) {
    this.travelTo((this.moment.value?.count ?? this.head.value) + by);
  }
}
