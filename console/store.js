/**
 * The console's state, in one place: the history of the lab, the moment that is shown, and what the user has selected.
 *
 * Views read signals and call the functions here. A view never keeps a copy of the lab's state.
 */

import { LessonPlayer } from "./lesson_player.js";
import { History } from "./state/history.js";
import { Marks } from "./state/marks.js";
import { computed, effect, signal } from "./vendor/preact.js";

/**
 * @typedef {import("./source/live.js").LiveSource} LiveSource
 * @typedef {import("./source/replay.js").ReplaySource} ReplaySource
 * @typedef {import("./source/live.js").Clock} Clock
 * @typedef {import("./state/lab_state.js").LabState} LabState
 * @typedef {import("./state/events.js").LabEvent} LabEvent
 *
 * @typedef {{kind: "server" | "mail" | "connector" | "folder" | "replica" | "post", id: string, folder?: string, server?: string}} Selection
 *
 * @typedef {object} Opened What the view "Folders" shows. An empty name: the view chooses.
 * @property {string} folder an id
 * @property {string} server
 * @property {string | null} beside the server to compare with; null: none
 * @typedef {"map" | "replicas" | "folders"} View
 * @typedef {"" | "faults" | "lessons" | "keys" | "mail"} Dialog
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

/** How often the console asks a live lab for its clock, in milliseconds. Events tell of every change in between. */
const CLOCK_EVERY_MS = 1000;

export class Store {
  /** @param {LiveSource | ReplaySource} source */
  constructor(source) {
    this.source = source;
    /** @type {History | null} */
    this.history = null;
    this.marks = new Marks();
    /** Whether the topology is known, so that the lab can be drawn. Its events may still be arriving. */
    this.opened = signal(false);
    /** How many events the history has; changes with every batch. */
    this.head = signal(0);
    this.ticking = 0;
    this.published = 0;
    this.publishing = 0;
    /** The number of events up to the moment that is shown; null for the present. */
    this.moment = signal(/** @type {number | null} */ (null));
    this.view = signal(/** @type {View} */ ("map"));
    this.reader = signal(/** @type {Opened} */ ({ folder: "", server: "", beside: "" }));
    /** The folder whose changes the view "Replicas" shows by origin; null: all folders. */
    this.origins = signal(/** @type {string | null} */ (null));
    this.selection = signal(/** @type {Selection | null} */ (null));
    /** The part of a server's panel that is shown, kept when another server is selected: so one compares servers. */
    this.part = signal("state");
    this.dialog = signal(/** @type {Dialog} */ (""));
    /** New events move no mails, because they will be played: a lesson plays what happened up to its next text. */
    this.holdsFlights = false;
    this.connected = signal(true);
    this.clock = signal(/** @type {Clock | null} */ (null));
    this.failure = signal("");
    this.notice = signal("");
    this.busy = signal("");
    /** What a lesson points at. */
    this.highlight = signal(/** @type {import("./lesson_player.js").Highlight | null} */ (null));
    /** What cancels the play of past events that is under way. */
    this.playing = signal(/** @type {(() => void) | null} */ (null));
    /** Called with each batch of events that has just happened; the map moves mails with it. @type {Set<(events: LabEvent[]) => void>} */
    this.watchers = new Set();

    /** The lesson whose lab this is, if there is one. */
    this.lesson = new LessonPlayer(this);

    /** The state of the lab at the moment that is shown. */
    this.shown = computed(() => {
      const head = this.head.value;
      const moment = this.moment.value;
      if (!this.opened.value || !this.history) return null;
      return moment === null || moment >= head ? { ...this.history.now } : this.history.after(moment);
    });
    this.travelling = computed(() => this.moment.value !== null);
  }

  async open() {
    const { topology, startAt, setup } = await this.source.begin();
    this.history = new History(topology, startAt, setup);
    this.opened.value = true;
    if (this.source.live) await this.readClock();
    let caughtUp = false;
    await this.source.follow(
      (events) => {
        this.history?.add(events);
        this.marks.add(events);
        this.publish();
        if (caughtUp && this.moment.value === null && !this.holdsFlights)
          for (const watch of this.watchers) watch(events);
      },
      (connected) => {
        this.connected.value = connected;
      },
    );
    caughtUp = true;
    performance.mark("caught up"); // for make bench-console
    this.head.value = this.history.events.length;
    // At the end of a finished run all servers are stopped; what is worth looking at is the moment before.
    const ends = this.history.events.findIndex((event) => event.type === "run.ended");
    if (!this.source.live && ends > 0) {
      const stops = this.history.events.slice(0, ends).findLastIndex((event) => event.type !== "node.stopped");
      this.travelTo(stops + 1);
    }
    if (this.source.base) await this.lesson.open();
    if (this.source.live) this.ticking = setInterval(() => void this.readClock(), CLOCK_EVERY_MS);
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
    return new Promise((resolve) => {
      const stop = effect(() => {
        if (this.head.value < count) return;
        queueMicrotask(() => stop());
        resolve();
      });
    });
  }

  /** Ask the lab nothing more. */
  close() {
    clearInterval(this.ticking);
    this.source.close();
  }

  async readClock() {
    if (!("clock" in this.source)) return;
    try {
      const clock = await this.source.clock();
      if (clock.history !== this.source.history) location.reload(); // the lab was reset: no event here is true any more
      this.clock.value = clock;
      this.connected.value = true;
    } catch {
      this.connected.value = false;
    }
  }

  /** Return the lab time that the clock shows now: that of the moment that is shown, or the present, between two readings. */
  labTime() {
    const state = this.shown.value;
    const clock = this.clock.value;
    if (this.travelling.value || !clock) return state?.at ?? 0;
    const since = clock.warping ? 0 : (performance.now() - clock.read) * 1000 * clock.rate;
    return Math.max(clock.at + since, this.history?.now.at ?? 0);
  }

  /**
   * Do something in the lab. A refusal becomes a notice, and `busy` says what is under way.
   * @param {string} what for people: "Stopping A"
   * @param {() => Promise<unknown>} work
   * @returns {Promise<boolean>} whether the lab did it
   */
  async act(what, work) {
    this.busy.value = what;
    try {
      await work();
      return true;
    } catch (error) {
      this.tell(error instanceof Error ? error.message : String(error));
      return false;
    } finally {
      this.busy.value = "";
      await this.readClock();
    }
  }

  /**
   * Send a request that changes the lab.
   * @param {string} what
   * @param {string} path
   * @param {unknown} [body]
   * @param {string} [method]
   */
  async send(what, path, body, method = "POST") {
    return this.act(what, () => this.source.request(path, { method, body }));
  }

  /** @param {string} text */
  tell(text) {
    this.notice.value = text;
  }

  /** @param {Selection | null} selection */
  select(selection) {
    this.selection.value = selection;
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
    this.moment.value =
      count === null || (count >= head && this.source.live) ? null : Math.max(0, Math.min(count, head));
  }

  /**
   * Move the moment that is shown by so many events.
   * @param {number} by
   */
  travelBy(by) {
    this.travelTo((this.moment.value ?? this.head.value) + by);
  }
}
