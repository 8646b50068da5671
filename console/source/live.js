/**
 * A lab that runs: its API, and its events as they happen.
 *
 * `base` is the path of the lab on this server: "" for the lab itself, "/lessons/ID" for the lab of a lesson.
 */

import { CLOCK, LAB, events } from "../api.js";
import { parseInstant } from "../state/lab_time.js";
import { LabStreams } from "./lab_streams.js";

/**
 * @typedef {import("../state/events.js").LabEvent} LabEvent
 * @typedef {import("../state/lab_state.js").Topology} Topology
 *
 * @typedef {object} Beginning What a source tells before any event.
 * @property {Topology} topology
 * @property {number} startAt
 * @property {string} setup the GUID that numbers the folders of the topology
 *
 * @typedef {object} Clock
 * @property {number} at lab time in microseconds
 * @property {number} rate
 * @property {boolean} warping
 * @property {string} history the run history; a reset of the lab begins another
 * @property {number} read when this was read, in milliseconds of the browser's clock
 */

/** How many events one request fetches while the console catches up. */
const EVENTS_A_REQUEST = 5_000;

/** An answer that tells what the user did wrong, or what the lab cannot do now. */
export class Refused extends Error {
  /**
   * @param {string} message
   * @param {number} status
   */
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

export class LiveSource {
  /** @param {string} base */
  constructor(base) {
    this.base = base;
    this.live = true;
    /** Ends all requests that are under way, so that none reaches a lab that has ended meanwhile. */
    this.closing = new AbortController();
    /** The run history that the console shows. */
    this.history = "";
    /** How many events of this history the console has. */
    this.count = 0;
  }

  /**
   * Send a request to the lab. Returns the decoded JSON, or the text of another answer. Throws Refused for an error.
   * @param {string} path
   * @param {{method?: string, body?: unknown, raw?: string | Uint8Array, type?: string}} [options]
   * @returns {Promise<any>}
   */
  async request(path, { method = "GET", body, raw, type } = {}) {
    /** @type {RequestInit} */
    const init = { method, headers: {}, signal: this.closing.signal };
    if (raw !== undefined) {
      init.body = /** @type {BodyInit} */ (raw);
      init.headers = { "Content-Type": type ?? "text/plain" };
    } else if (body !== undefined || method === "POST" || method === "PUT") {
      init.body = JSON.stringify(body ?? {});
      init.headers = { "Content-Type": "application/json" };
    }
    let answer;
    try {
      answer = await fetch(this.base + path, init);
    } catch {
      throw new Refused("the lab does not answer; has it been stopped?", 0);
    }
    const kind = answer.headers.get("Content-Type") ?? "";
    const content = kind.includes("json") && !kind.includes("ndjson") ? await answer.json() : await answer.text();
    if (!answer.ok) throw new Refused(content.detail ?? String(content), answer.status);
    return content;
  }

  /** @returns {Promise<Beginning>} */
  async begin() {
    const [topology, lab] = await Promise.all([this.request(LAB.topology), this.request(LAB.state)]);
    this.history = lab.history;
    return { topology, startAt: parseInstant(topology.start) ?? 0, setup: lab.setup };
  }

  /**
   * Give all events up to now, and then each new one. `take` gets them in the order of the run.
   * @param {(events: LabEvent[]) => void} take
   * @param {(connected: boolean) => void} connected
   */
  async follow(take, connected) {
    for (;;) {
      const answer = await fetch(this.base + events(this.history, this.count, EVENTS_A_REQUEST));
      if (!answer.ok) throw new Refused("the lab refuses to send its events", answer.status);
      const text = await answer.text();
      this.count = Number(answer.headers.get("Pflab-Next"));
      if (!text) break;
      take(
        text
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line)),
      );
    }
    /** @type {LabEvent[]} */
    let fresh = [];
    const followed = sharedStreams((news) => {
      if (news.connected !== undefined) connected(news.connected);
      for (const { number, data } of news.arrivals ?? []) {
        if (number <= this.count) continue;
        if (fresh.length === 0) {
          requestAnimationFrame(() => {
            const arrivals = fresh;
            fresh = [];
            take(arrivals);
          });
        }
        this.count = number;
        fresh.push(JSON.parse(data));
      }
    });
    const { signal } = this.closing;
    const follow = () => followed({ base: this.base, history: this.history, count: this.count });
    const leave = () => followed(null);
    signal.addEventListener("abort", leave);
    addEventListener("pagehide", leave, { signal });
    addEventListener("pageshow", follow, { signal }); // the browser shows a page again that it has kept
    follow();
  }

  /** @returns {Promise<Clock>} */
  async clock() {
    const answer = await this.request(CLOCK.now);
    return {
      at: parseInstant(answer.now_at) ?? 0,
      rate: answer.rate,
      warping: answer.warping,
      history: answer.history,
      read: performance.now(),
    };
  }

  close() {
    this.closing.abort();
  }
}

/**
 * Return a function that tells the streams where this page is, or with null that it reads nothing. All pages share the streams, if
 * the browser can share a worker.
 * @param {(told: import("./lab_streams.js").Told) => void} take
 * @returns {(place: import("./lab_streams.js").Place | null) => void}
 */
function sharedStreams(take) {
  if ("SharedWorker" in globalThis) {
    const { port } = new SharedWorker(new URL("shared_streams.js", import.meta.url), { type: "module" });
    port.onmessage = ({ data }) => take(data);
    return (place) => port.postMessage(place);
  }
  return new LabStreams().reader(take);
}
