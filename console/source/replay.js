/** A finished run, as `pflab replay` writes it into a page. It has all events, and no server to ask. */

import { parseInstant } from "../state/lab_time.js";

/**
 * @typedef {import("./live.js").Beginning} Beginning
 * @typedef {import("../state/events.js").LabEvent} LabEvent
 *
 * @typedef {object} Run
 * @property {import("../state/lab_state.js").Topology & {start: string}} topology
 * @property {string} setup
 * @property {LabEvent[]} events
 */

export class ReplaySource {
  /** @param {() => Run | Promise<Run>} read returns the run */
  constructor(read) {
    this.read = read;
    this.live = /** @type {const} */ (false);
    this.base = "";
    /** @type {LabEvent[]} */
    this.events = [];
  }

  /** @returns {Promise<Beginning>} */
  async begin() {
    const { topology, setup, events } = await this.read();
    this.events = events;
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

/**
 * Return the run inside a page.
 * @param {string} packed the run: JSON, compressed by gzip, in base 64
 * @returns {Promise<Run>}
 */
export function unpacked(packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}
