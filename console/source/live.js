/**
 * A lab that runs, on a server or in a tab: its API, and its events as they happen. The door says where it is.
 *
 * `base` is the path of the lab behind the door: "" for the lab itself, "/lessons/ID" for the lab of a lesson.
 */

import { CLOCK, LAB, LESSON, LESSONS, events } from "../api.js";
import { parseInstant } from "../state/lab_time.js";
import { Refused } from "./refused.js";

/**
 * @typedef {import("../state/events.js").LabEvent} LabEvent
 * @typedef {import("../state/lab_state.js").Topology} Topology
 *
 * @typedef {LiveSource | import("./replay.js").ReplaySource} Source Where the events of the console come from.
 *
 * @typedef {object} RequestOptions
 * @property {string} [method]
 * @property {unknown} [body] sent as JSON
 * @property {string | Uint8Array} [raw] sent as it is
 * @property {string} [type] the content type of raw
 *
 * @typedef {object} Beginning What a source tells before any event.
 * @property {Topology} topology the organization as it was then
 * @property {number} startAt
 * @property {string} setup the GUID that numbers the folders of the topology
 * @property {number} [forgotten] how many events the lab has forgotten
 * @property {import("../state/checkpoint.js").Checkpoint | null} [checkpoint] the state after these; null if it is not known
 *
 * @typedef {object} Clock
 * @property {number} at lab time in microseconds
 * @property {number} rate
 * @property {boolean} warping
 * @property {string} history the run history; a reset of the lab begins another
 * @property {number} read when this was read, in milliseconds of the browser's clock
 */

/** After how many milliseconds a page takes new events that paints no frame, because nobody sees it. */
const UNSEEN_MS = 500;

/** How many events one request fetches while the console catches up. */
const EVENTS_A_REQUEST = 5_000;

export class LiveSource {
  /**
   * @param {string} base
   * @param {import("./server_door.js").Door} door
   */
  constructor(base, door) {
    this.base = base;
    this.door = door;
    this.live = /** @type {const} */ (true);
    /** Ends all requests that are under way, so that none reaches a lab that has ended meanwhile. */
    this.closing = new AbortController();
    /** The run history that the console shows. */
    this.history = "";
    /** How many events of this history the console has. */
    this.count = 0;
    /**
     * Called before each request that may change the lab; what it returns is called when the lab has done it.
     * @type {(request: {method: string, path: string, body: any}) => () => void}
     */
    this.ordering = () => () => {};
  }

  /** Whether a lesson is played in this lab. */
  get taught() {
    return this.base !== "";
  }

  /** Whether a request that changes nothing can be answered. */
  has() {
    return true;
  }

  /** Where other programs reach the lab; null if none can. */
  get outside() {
    const { origin } = this.door;
    return origin === null ? null : origin + this.base;
  }

  /**
   * Send a request to the lab. Returns the decoded JSON, or the text of another answer. Throws Refused for an error.
   * @param {string} path
   * @param {RequestOptions} [options]
   */
  async request(path, options = {}) {
    const { method = "GET", body } = options;
    const done = method === "GET" ? null : this.ordering({ method, path, body });
    const answer = await this.ask(this.base + path, options);
    done?.();
    return answer;
  }

  /**
   * Send a request to what serves the lab, as to the course of lessons.
   * @param {string} target
   * @param {RequestOptions} [options]
   * @returns {Promise<any>}
   */
  async ask(target, { method = "GET", body, raw, type } = {}) {
    /** @type {import("./server_door.js").Question} */
    const question = { method, signal: this.closing.signal };
    if (raw !== undefined) {
      question.body = raw;
      question.headers = { "Content-Type": type ?? "text/plain" };
    } else if (body !== undefined || method === "POST" || method === "PUT") {
      question.body = JSON.stringify(body ?? {});
      question.headers = { "Content-Type": "application/json" };
    }
    return contentOf(await this.door.ask(target, question));
  }

  /**
   * Return a file of the lab, and the name that the lab gives it.
   * @param {string} path
   * @returns {Promise<{name: string, content: Blob}>}
   */
  async file(path) {
    const answer = await this.door.ask(this.base + path, { signal: this.closing.signal });
    if (!answer.ok) await contentOf(answer);
    const [, name = ""] = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "") ?? [];
    return { name, content: new Blob([await answer.arrayBuffer()]) }; // without a type, no browser shows it as a page
  }

  /**
   * Begin a lesson in a lab of its own, and play it up to a step, or to its end if it has fewer. Returns the path of the lab.
   * @param {string} name
   * @param {number} [step] from 1 on; the lesson is played to its first step in any case
   */
  async beginLesson(name, step = 1) {
    const { path } = await this.ask(LESSONS, { method: "POST", body: { name } });
    const next = path.replace(/\/$/, "") + LESSON.next;
    for (let seen = 0, status = "waiting"; seen + 1 < step && status === "waiting"; seen++)
      ({ status } = await this.ask(next, { method: "POST", body: { seen } }));
    return /** @type {string} */ (path);
  }

  /**
   * Return the path of a lab in which a lesson is played, or null.
   * @param {string} name
   * @returns {Promise<string | null>}
   */
  async lessonPlayed(name) {
    /** @type {import("../lesson_player.js").Listed[]} */
    const course = await this.ask(LESSONS);
    return course.find((lesson) => lesson.name === name)?.played.at(0)?.path ?? null;
  }

  /** End the lesson whose lab this is. It takes this source with it, so nothing else is asked any more. */
  async endLesson() {
    await this.door.ask(this.base, { method: "DELETE" });
  }

  /** @returns {Promise<Beginning>} */
  async begin() {
    const [topology, lab, { history, after, state }] = await Promise.all([
      this.request(LAB.topology),
      this.request(LAB.state),
      this.request(LAB.checkpoint),
    ]);
    this.history = history;
    this.count = after;
    const startAt = parseInstant(topology.start) ?? 0;
    const first = topology.revision && after === 0 ? await this.firstOrganization(topology) : topology;
    return { topology: first, startAt, setup: lab.setup, forgotten: after, checkpoint: state };
  }

  /**
   * Return the organization with which the run began. If the lab has just forgotten it, the page will begin again.
   * @param {Topology} present the organization as the lab tells of it
   * @returns {Promise<Topology>}
   */
  async firstOrganization(present) {
    const [line] = (await this.request(events(this.history, 0, 1))).split("\n");
    const event = JSON.parse(line);
    return event.type === "run.started" ? JSON.parse(event.topology) : present;
  }

  /**
   * Give all events up to now, and then each new one. `take` gets them in the order of the run.
   * @param {(events: LabEvent[]) => void} take
   * @param {(connected: boolean) => void} connected
   * @param {() => void} lost called when the lab has forgotten events that have not arrived here
   */
  async follow(take, connected, lost) {
    let next = this.eventsAfter(this.count);
    for (;;) {
      const { lines, end } = await next;
      if (end !== this.count + lines.length) {
        lost();
        return;
      }
      this.count = end;
      if (lines.length === 0) break;
      next = this.eventsAfter(end); // the lab writes the next events while the page takes these
      take(lines.map((line) => JSON.parse(line)));
    }
    /** @type {LabEvent[]} */
    let fresh = [];
    const followed = this.door.follow((news) => {
      if (news.connected !== undefined) connected(news.connected);
      for (const { number, data } of news.arrivals ?? []) {
        if (number <= this.count) continue;
        if (number > this.count + 1) {
          followed(null);
          lost();
          return;
        }
        if (fresh.length === 0) {
          atFrame(() => {
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

  /**
   * Return the events after so many, as JSON, and how many events there are up to the last of them.
   * @param {number} count
   * @returns {Promise<{lines: string[], end: number}>}
   */
  async eventsAfter(count) {
    const target = this.base + events(this.history, count, EVENTS_A_REQUEST);
    const answer = await this.door.ask(target, { signal: this.closing.signal });
    if (!answer.ok) throw new Refused("the lab refuses to send its events", answer.status);
    const text = await answer.text();
    return { lines: text ? text.trimEnd().split("\n") : [], end: Number(answer.headers.get("Pflab-Next")) };
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
 * Call a function once: when the page paints its next frame, or after UNSEEN_MS if it paints none.
 * @param {() => void} act
 */
function atFrame(act) {
  const once = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    act();
  };
  const frame = requestAnimationFrame(once);
  const timer = setTimeout(once, UNSEEN_MS);
}

/**
 * Return what an answer contains: decoded JSON, or text. Throws Refused if it is a refusal.
 * @param {Response} answer
 */
async function contentOf(answer) {
  const kind = answer.headers.get("Content-Type") ?? "";
  const content = kind.includes("json") && !kind.includes("ndjson") ? await answer.json() : await answer.text();
  if (!answer.ok) throw new Refused(content.detail ?? String(content), answer.status);
  return content;
}
