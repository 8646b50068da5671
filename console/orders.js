/** What the user orders the lab to do, and what the console says about it. */

import { CLOCK, LAB, events as eventsPath } from "./api.js";
import { clockTime, parseInstant } from "./state/lab_time.js";
import { terminalCommand } from "./state/terminal.js";
import { signal } from "./vendor/preact.js";

/**
 * @typedef {import("./lab_clock.js").LabClock} LabClock
 * @typedef {import("./source/live.js").Source} Source
 */

/** How many events of a step are read to know whether anything could be seen. */
const MOST_STEP_EVENTS = 20;

export class Orders {
  /**
   * @param {Source} source
   * @param {LabClock} clock
   */
  constructor(source, clock) {
    this.source = source;
    this.clock = clock;
    /** The newest notice: what an order has done, or why the lab refuses it. */
    this.notice = signal("");
    /** Whether the notice is a refusal. */
    this.refused = signal(false);
    /** What the lab is doing for the user. */
    this.busy = signal("");
    /** The command that does in a terminal what the last order did; "" if there is none. */
    this.command = signal("");
    if ("ordering" in source) source.ordering = (request) => this.begin(request);
  }

  /**
   * Note an order that the user gives. A forecast is none, because it changes nothing.
   * @param {import("./state/terminal.js").Request} request
   * @returns {() => void} to call when the lab has done it
   */
  begin(request) {
    const { history } = this.clock.timeline;
    const isOrder = request.path !== LAB.forecast;
    const command = history && isOrder ? terminalCommand(request, history.now) : null;
    return () => {
      if (command) this.command.value = command;
    };
  }

  /**
   * Do something in the lab. A refusal becomes a notice in place of the one before, and `busy` says what is under way.
   * @param {string} what for people: "Stopping A"
   * @param {() => Promise<unknown>} work
   * @returns {Promise<boolean>} whether the lab did it
   */
  async act(what, work) {
    this.busy.value = what;
    this.tell("");
    try {
      await work();
      return true;
    } catch (error) {
      this.tell(error instanceof Error ? error.message : String(error), true);
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

  /** Go to the next instant at which anything is due. If nothing happens there that could be seen, say so. */
  async next() {
    const { source } = this;
    if (!("history" in source)) return;
    const before = this.clock.timeline.history?.events.length ?? 0;
    await this.act("Going to the next event", async () => {
      const { moved, now_at: now } = await source.request(CLOCK.step, { method: "POST" });
      /** @type {string} */
      const lines = await source.request(eventsPath(source.history, before, MOST_STEP_EVENTS));
      const types = lines.split("\n").map((line) => (line ? JSON.parse(line).type : "clock.changed"));
      if (types.some((type) => type !== "clock.changed")) return;
      const time = clockTime(parseInstant(now) ?? 0);
      this.tell(
        moved ? `${time}: a check was due, and found nothing to send or to ask for.` : "Nothing is due any more.",
      );
    });
  }

  /**
   * @param {string} text
   * @param {boolean} [refused] whether the lab has refused something
   */
  tell(text, refused = false) {
    this.notice.value = text;
    this.refused.value = refused;
  }
}
