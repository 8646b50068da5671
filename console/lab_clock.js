/** The clock of a live lab, which the console reads now and then, and the lab time between two readings. */

import { calm } from "./timeline.js";
import { signal } from "./vendor/preact.js";

/**
 * @typedef {import("./source/live.js").Clock} Clock
 * @typedef {import("./source/live.js").Source} Source
 * @typedef {import("./timeline.js").Timeline} Timeline
 */

/** How often the console asks a live lab for its clock, in milliseconds. Events tell of every change in between. */
const CLOCK_EVERY_MS = 1000;

export class LabClock {
  /**
   * @param {Source} source
   * @param {Timeline} timeline
   * @param {() => void} reset called when the lab has been reset: then no event here is true any more
   */
  constructor(source, timeline, reset) {
    this.source = source;
    this.timeline = timeline;
    this.reset = reset;
    this.stopped = false;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.timer = undefined;
    /** The newest reading; null in a finished run. */
    this.reading = signal(/** @type {Clock | null} */ (null));
    /** Whether the lab answers. */
    this.connected = signal(true);
  }

  /** Read the clock again and again. */
  start() {
    this.timer = setInterval(() => void this.read(), CLOCK_EVERY_MS);
  }

  stop() {
    this.stopped = true;
    clearInterval(this.timer);
  }

  async read() {
    if (!("clock" in this.source)) return;
    try {
      const clock = await this.source.clock();
      if (this.stopped) return;
      if (clock.history !== this.source.history) {
        this.reset();
        return;
      }
      this.reading.value = clock;
      this.connected.value = true;
    } catch {
      this.connected.value = false;
    }
  }

  /** Return the lab time that is shown now: that of a moment of the past, or the present. */
  labTime() {
    const { moment, playhead, history } = this.timeline;
    if (moment.value || !this.reading.value || this.timeline.follows()) return playhead.at || (history?.now.at ?? 0);
    return this.present();
  }

  /** Return the lab time of the present at which mails are drawn. Without motion, this is the last event's while the clock runs. */
  shownPresent() {
    const last = this.timeline.history?.now.at ?? 0;
    return calm() && this.reading.value?.rate ? last : this.present();
  }

  /** Return the lab time of the present, between two readings of the clock. */
  present() {
    const clock = this.reading.value;
    const last = this.timeline.history?.now.at ?? 0;
    if (!clock) return last;
    const since = clock.warping ? 0 : (performance.now() - clock.read) * 1000 * clock.rate;
    return Math.max(clock.at + since, last);
  }
}
