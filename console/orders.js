/** What the user orders the lab to do, and what the console says about it. */

import { signal } from "./vendor/preact.js";

/**
 * @typedef {import("./lab_clock.js").LabClock} LabClock
 * @typedef {import("./source/live.js").LiveSource} LiveSource
 * @typedef {import("./source/replay.js").ReplaySource} ReplaySource
 */

export class Orders {
  /**
   * @param {LiveSource | ReplaySource} source
   * @param {LabClock} clock
   */
  constructor(source, clock) {
    this.source = source;
    this.clock = clock;
    /** The newest notice, such as why the lab refuses an order. */
    this.notice = signal("");
    /** What the lab is doing for the user. */
    this.busy = signal("");
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
      await this.clock.read();
    }
  }

  /**
   * Send a request that changes the lab.
   * @param {string} what
   * @param {string} path
   * @param {unknown} [body]
   * @param {string} [method]
   */
  send(what, path, body, method = "POST") {
    return this.act(what, () => this.source.request(path, { method, body }));
  }

  /** @param {string} text */
  tell(text) {
    this.notice.value = text;
  }
}
