/**
 * All that views read and call, by subject. A view never keeps a copy of the lab's state.
 *
 * timeline: the events, and the moment that is shown. clock: the lab's clock. forecast: its future. page: what is opened and
 * selected. preferences: what the user prefers on every page. orders: what the user orders the lab to do. lesson: the lesson whose
 * lab this is.
 */

import { Forecast } from "./forecast/forecast.js";
import { LabClock } from "./lab_clock.js";
import { LessonPlayer } from "./lesson_player.js";
import { Orders } from "./orders.js";
import { Page } from "./page.js";
import { Timeline } from "./timeline.js";
import { signal } from "./vendor/preact.js";

/** @typedef {import("./preferences.js").Preferences} Preferences */

/** What is told of a lab whose coordinator was started again, after it had forgotten events. */
const FORGOTTEN =
  "The lab has forgotten its first events, and what they led to. This page shows only what has happened since; the traces have all.";

export class Store {
  /**
   * @param {import("./source/live.js").Source} source
   * @param {import("./address.js").Address} address of the page
   * @param {(address: import("./address.js").Address) => void} visit shows another lab in this page, or begins with this one again
   * @param {Preferences} preferences
   */
  constructor(source, address, visit, preferences) {
    this.source = source;
    this.address = address;
    this.visit = visit;
    this.timeline = new Timeline(source.live);
    this.clock = new LabClock(source, this.timeline, () => visit(address));
    this.forecast = new Forecast(source, this.timeline, this.clock);
    this.timeline.seenUntil = () => (this.forecast.crossings().length > 0 ? this.clock.shownPresent() : null);
    this.page = new Page();
    this.preferences = preferences;
    this.orders = new Orders(source, this.clock);
    this.lesson = new LessonPlayer(this);
    /** Why the console cannot show the lab. */
    this.failure = signal("");
    /** Whether the lesson of this address has ended. */
    this.ended = signal(false);
  }

  async open() {
    const { source, timeline, clock } = this;
    const beginning = await source.begin();
    timeline.begin(beginning);
    if (beginning.forgotten && !beginning.checkpoint) this.orders.tell(FORGOTTEN);
    if (source.live) await clock.read();
    await source.follow(
      (events) => timeline.take(events),
      (connected) => {
        clock.connected.value = connected;
      },
      () => this.visit(this.address),
    );
    performance.mark("caught up"); // for make bench-console
    timeline.publishNow();
    timeline.caughtUp.value = true;
    if (!source.live) this.showOpening(); // a user may have gone to another moment meanwhile
    if (source.taught && this.address.role !== "class") await this.lesson.open();
    if (source.live) {
      clock.start();
      this.forecast.start();
    }
  }

  /** Return the hops that are under way at the moment that the views show. */
  crossings() {
    const { timeline, forecast } = this;
    return [...timeline.marks.onTheirWay(timeline.painted.value), ...forecast.crossings()];
  }

  /** Show the moment with which a page begins: the present, or in the replay of a lesson that of the step that is shown. */
  showOpening() {
    const { source, timeline, lesson } = this;
    const beat = source.live ? undefined : lesson.beat();
    if (beat) {
      timeline.travelTo(beat.seq);
      return;
    }
    const events = timeline.history?.events.entries ?? [];
    // At the end of a finished run all servers are stopped; what is worth looking at is the moment before.
    const ends = source.live ? -1 : events.findIndex((event) => event.type === "run.ended");
    const stops = events.slice(0, Math.max(0, ends)).findLastIndex((event) => event.type !== "node.stopped");
    timeline.travelTo(ends > 0 ? stops + 1 : null);
  }

  /** Ask the lab nothing more. */
  close() {
    this.clock.stop();
    this.forecast.stop();
    this.lesson.stop();
    this.source.close();
  }
}
