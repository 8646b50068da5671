/**
 * The events of the lab in the browser: the history, the moment that is shown, and the play of past events.
 */

import { History } from "./state/history.js";
import { Marks } from "./state/marks.js";
import { computed, effect, signal } from "./vendor/preact.js";

/**
 * @typedef {import("./source/live.js").Beginning} Beginning
 * @typedef {import("./state/events.js").LabEvent} LabEvent
 */

/** How long the console takes to play one event that people can see, in milliseconds, and the longest play. */
const PLAYED_EVENT_MS = 450;
const LONGEST_PLAY_MS = 12_000;

/** The events that take time when the past is played; all others are played with the next one of these. */
const SEEN = new Set([
  "change.made",
  "hop.sent",
  "hop.failed",
  "fault.injected",
  "node.started",
  "node.stopped",
  "entry.made",
]);

/** The shortest time between two paintings of the state, in milliseconds. Mails move between them without the state. */
const PUBLISH_MS = 100;

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

export class Timeline {
  /** @param {boolean} live whether more events can come */
  constructor(live) {
    this.live = live;
    /** @type {History | null} */
    this.history = null;
    this.marks = new Marks();
    /** Whether the topology is known, so that the lab can be drawn. Its events may still be arriving. */
    this.opened = signal(false);
    /** Whether all events have arrived that the lab had when the console was opened. */
    this.caughtUp = signal(false);
    /** How many events the history has; changes with every batch. */
    this.head = signal(0);
    this.published = 0;
    this.publishing = 0;
    /** The number of events up to the moment that is shown; null for the present. */
    this.moment = signal(/** @type {number | null} */ (null));
    /** New events move no mails, because they will be played: a lesson plays what happened up to its next text. */
    this.holdsFlights = false;
    /** What cancels the play of past events that is under way. */
    this.playing = signal(/** @type {(() => void) | null} */ (null));
    /** Called with each batch of events that has just happened; the map moves mails with it. @type {Set<(events: LabEvent[]) => void>} */
    this.watchers = new Set();

    /** The state of the lab at the moment that is shown. */
    this.shown = computed(() => {
      const head = this.head.value;
      const moment = this.moment.value;
      if (!this.opened.value || !this.history) return null;
      return moment === null || moment >= head ? { ...this.history.now } : this.history.after(moment);
    });
    this.travelling = computed(() => this.moment.value !== null);
  }

  /** Begin with the lab as it was before its first event. @param {Beginning} beginning */
  begin({ topology, startAt, setup }) {
    this.history = new History(topology, startAt, setup);
    this.opened.value = true;
  }

  /**
   * Take events that follow those of the history.
   * @param {LabEvent[]} events
   */
  take(events) {
    this.history?.add(events);
    this.marks.add(events);
    this.publish();
    if (this.caughtUp.value && this.moment.value === null && !this.holdsFlights)
      for (const watch of this.watchers) watch(events);
  }

  /** Let the views see the events that have arrived, now or soon. */
  publish() {
    if (this.publishing) return;
    const wait = Math.max(0, this.published + PUBLISH_MS - performance.now());
    this.publishing = setTimeout(() => {
      this.publishing = 0;
      this.published = performance.now();
      this.head.value = this.history?.events.length ?? 0;
    }, wait);
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
   * Go to the next event, after the moment that is shown, that a text is in; after the last event, to the first.
   * The events that are still arriving are searched too.
   * @param {string} text small letters
   * @returns {Promise<boolean>} whether an event has the text
   */
  async find(text) {
    await until(() => this.caughtUp.value);
    const events = this.history?.events ?? [];
    const from = this.moment.value ?? 0;
    for (let step = 0; step < events.length; step++) {
      const index = (from + step) % events.length;
      const { node, words, type } = events[index];
      if (`${node} ${words ?? type}`.toLowerCase().includes(text)) {
        this.travelTo(index + 1);
        return true;
      }
    }
    return false;
  }
  /**
   * Play past events: show one moment after the other, and let the mails move on the map.
   * @param {number} from how many events come before the first moment
   * @param {number} to how many come before the last one; the present, if no event has come since
   */
  play(from, to) {
    this.playing.value?.();
    const events = this.history?.events.slice(from, to) ?? [];
    // Each event gets the time at which it is shown: a step later than the one before it, if people can see it.
    let seen = 0;
    const shownAfter = events.map((event) => (SEEN.has(event.type) ? ++seen : seen));
    const step = Math.min(PLAYED_EVENT_MS, LONGEST_PLAY_MS / Math.max(1, seen));
    let done = 0;
    let frame = 0;
    let painted = 0;
    const began = performance.now();
    const stop = () => {
      cancelAnimationFrame(frame);
      this.playing.value = null; // first: travelTo stops what is playing
      this.travelTo(to);
    };
    const paint = () => {
      const now = performance.now();
      if (now - painted < PUBLISH_MS) {
        frame = requestAnimationFrame(paint);
        return;
      }
      painted = now;
      const steps = (now - began) / step;
      const before = done;
      while (done < events.length && shownAfter[done] <= steps) done += 1;
      if (done > before) {
        this.moment.value = from + done;
        for (const watch of this.watchers) watch(events.slice(before, done));
      }
      if (done === events.length) stop();
      else frame = requestAnimationFrame(paint);
    };
    this.moment.value = from;
    this.playing.value = stop;
    frame = requestAnimationFrame(paint);
  }

  /**
   * Show the lab as it was after so many events; null shows the present again.
   * @param {number | null} count
   */
  travelTo(count) {
    if (this.playing.value) this.playing.value();
    const head = this.head.value;
    this.moment.value = count === null || (count >= head && this.live) ? null : Math.max(0, Math.min(count, head));
  }

  /**
   * Move the moment that is shown by so many events.
   * @param {number} by
   */
  travelBy(by) {
    this.travelTo((this.moment.value ?? this.head.value) + by);
  }
}
