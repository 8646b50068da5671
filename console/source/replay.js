/** A finished run inside this page, as `pflab replay` writes it. It has all events, and no server to ask. */

import { parseInstant } from "../state/lab_time.js";

/**
 * @typedef {import("./live.js").Beginning} Beginning
 * @typedef {import("../state/events.js").LabEvent} LabEvent
 */

export class ReplaySource {
  /** @param {string} packed the run: JSON, compressed by gzip, in base 64 */
  constructor(packed) {
    this.packed = packed;
    this.live = /** @type {const} */ (false);
    this.base = "";
    /** @type {LabEvent[]} */
    this.events = [];
    /** @type {Record<string, any>} */
    this.run = {};
  }

  /** @returns {Promise<Beginning>} */
  async begin() {
    const bytes = Uint8Array.from(atob(this.packed), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    this.run = await new Response(stream).json();
    this.events = this.run.events;
    const { topology, setup } = this.run;
    return { topology, startAt: parseInstant(topology.start) ?? 0, setup };
  }

  /** @param {(events: LabEvent[]) => void} take */
  async follow(take) {
    take(this.events);
  }

  /** @returns {Promise<never>} */
  async request() {
    throw new Error("a finished run cannot be changed");
  }

  close() {}
}
