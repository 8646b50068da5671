/** A finished run, as `pflab replay` writes it into a page. It has all events, posts and mails, and no server to ask. */

import { LESSON, mail } from "../api.js";
import { parseInstant } from "../state/lab_time.js";

/**
 * @typedef {import("./live.js").Beginning} Beginning
 * @typedef {import("../state/events.js").LabEvent} LabEvent
 * @typedef {import("../views/folders/post_panel.js").Version} Version
 * @typedef {import("../lesson_player.js").Lesson} Lesson
 *
 * @typedef {object} Run
 * @property {import("../state/lab_state.js").Topology & {start: string}} topology
 * @property {string} setup
 * @property {LabEvent[]} events
 * @property {{posts: Record<string, Version>, mails: Record<string, {raw: string, decoded: string}>}} contents by change numbers,
 *   and by Message-IDs
 * @property {Lesson | null} lesson
 */

export class ReplaySource {
  /** @param {() => Run | Promise<Run>} read returns the run */
  constructor(read) {
    this.read = read;
    this.live = /** @type {const} */ (false);
    this.base = "";
    /** Whether a lesson was played in this run. */
    this.taught = false;
    /** @type {LabEvent[]} */
    this.events = [];
    /** The versions of posts, by change number. @type {ReadonlyMap<string, Version>} */
    this.versions = new Map();
    /** What the lab would answer at these paths. @type {Map<string, unknown>} */
    this.answers = new Map();
  }

  /** @returns {Promise<Beginning>} */
  async begin() {
    const { topology, setup, events, contents, lesson } = await this.read();
    this.events = events;
    this.versions = new Map(Object.entries(contents.posts));
    for (const [id, { raw, decoded }] of Object.entries(contents.mails)) {
      this.answers.set(mail(id).raw, raw).set(mail(id).decoded, decoded);
    }
    if (lesson) this.answers.set(LESSON.state, lesson);
    this.taught = lesson !== null;
    return { topology, startAt: parseInstant(topology.start) ?? 0, setup };
  }

  /** @param {(events: LabEvent[]) => void} take */
  async follow(take) {
    take(this.events);
  }

  /** Whether there is an answer to a request that changes nothing. @param {string} path */
  has(path) {
    return this.answers.has(path);
  }

  /**
   * @param {string} path
   * @param {import("./live.js").RequestOptions} [options]
   * @returns {Promise<any>}
   */
  async request(path, { method = "GET" } = {}) {
    if (method !== "GET" || !this.has(path)) throw new Error("a finished run cannot be changed");
    return this.answers.get(path);
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
