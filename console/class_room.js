/**
 * A class as one page sees it: where the lesson stands, the votes, and the map of its lab. The server says each change over one
 * stream; events of the lab are asked for when the server says that there are more.
 *
 * | state | the page shows | what comes next |
 * |---|---|---|
 * | out | the form to join | joined |
 * | in | the class | out, if the server does not know the secret any more |
 */

import { ROOM } from "./api.js";
import { Address } from "./address.js";
import { eventsOf } from "./source/event_stream.js";
import { LiveSource } from "./source/live.js";
import { Refused } from "./source/refused.js";
import { askServer } from "./source/server_door.js";
import { Store } from "./store.js";
import { signal } from "./vendor/preact.js";

/**
 * @typedef {object} Seen What everybody sees.
 * @property {"waiting" | "playing" | "text" | "question" | "shown" | "ended"} state
 * @property {string | null} lesson
 * @property {string | null} title
 * @property {string | null} introduction
 * @property {string | null} lab the path of the common lab
 * @property {number | null} step
 * @property {number | null} steps
 * @property {string | null} kind
 * @property {string | null} text
 * @property {import("./lesson_player.js").Highlight | null} highlight
 * @property {number | null} question the step of the question that is asked or answered
 * @property {string | null} asked the text of the question that is answered
 * @property {string[] | null} choices
 * @property {Record<string, number> | null} tally the votes by choice, if they are shown
 * @property {string | null} answer
 * @property {string | null} because
 *
 * @typedef {{pupils: number, voted: number, events: number}} Counts events: how many the common lab has
 * @typedef {{id: string, name: string, vote: string | null, lab: string | null, tab: boolean}} You tab: whether the server has the
 *   lab in a browser tab
 *
 * @typedef {object} Listed A pupil, as the trainer sees it.
 * @property {string} id
 * @property {string} name
 * @property {boolean} here whether a page of the pupil is open
 * @property {number | null} step
 * @property {string | null} vote
 * @property {string | null} lab
 *
 * @typedef {object} OfTrainer What only the trainer sees.
 * @property {string | null} notes
 * @property {string | null} following
 * @property {Record<string, number> | null} votes
 * @property {Listed[]} list
 * @property {{id: string, name: string, lab: string, events: number} | null} projected whose lab the projector shows
 */

/** How long to wait before a stream is opened again, in milliseconds: three hundred pages do not come back in one moment. */
const AGAIN_MS = 1000;
const SPREAD_MS = 2000;

/** The answer to a secret that is not known. */
const UNKNOWN = 401;

/** The answer to a request for events of a run history that the lab does not have any more. */
const ANOTHER_HISTORY = 409;

export class ClassRoom {
  /**
   * @param {string} key of the class, or the trainer's token
   * @param {boolean} trains whether it is the trainer's token
   * @param {import("./preferences.js").Preferences} preferences
   */
  constructor(key, trains, preferences) {
    this.key = key;
    this.trains = trains;
    this.preferences = preferences;
    /** What requests carry: the secret of the pupil, or the trainer's token. */
    this.secret = trains ? key : keptSecret(key);
    this.state = signal(/** @type {"out" | "in"} */ (this.secret ? "in" : "out"));
    this.seen = signal(/** @type {Seen | null} */ (null));
    this.counts = signal(/** @type {Counts} */ ({ pupils: 0, voted: 0, events: 0 }));
    this.you = signal(/** @type {You | null} */ (null));
    this.ofTrainer = signal(/** @type {OfTrainer | null} */ (null));
    this.connected = signal(true);
    /** How often `read` has asked: only the answer to the newest question holds. */
    this.reads = 0;
    /** Whether this page is the projector's, which can show the lab of a pupil. */
    this.projects = false;
    /** Why the last thing did not work. */
    this.notice = signal("");
    /** The lab whose map is shown: the common one, or on the projector that of a pupil. @type {import("./vendor/preact.js").Signal<Store | null>} */
    this.mapped = signal(/** @type {Store | null} */ (null));
    /** @type {import("./source/server_door.js").Door} */
    this.door = {
      origin: null,
      open: null,
      ask: (target, question = {}) =>
        askServer(target, { ...question, headers: { ...question.headers, Authorization: `Bearer ${this.secret}` } }),
      follow: () => () => undefined, // `catchUp` asks for the events
    };
  }

  /**
   * Send a request. Returns the decoded JSON; null for an answer without content. Throws Refused.
   * @param {string} target
   * @param {{method?: string, body?: unknown, key?: string}} [options] key: what the request carries in place of the secret
   * @returns {Promise<any>}
   */
  async ask(target, { method = "GET", body, key = this.secret } = {}) {
    /** @type {import("./source/server_door.js").Question} */
    const question = { method, headers: { Authorization: `Bearer ${key}` } };
    if (method === "POST") {
      question.headers = { ...question.headers, "Content-Type": "application/json" };
      question.body = JSON.stringify(body ?? {});
    }
    const answer = await askServer(target, question);
    const text = await answer.text();
    const content = text ? JSON.parse(text) : null;
    if (!answer.ok) throw new Refused(content?.detail ?? "the server refuses this", answer.status);
    return content;
  }

  /**
   * Do something, and say why if it does not work. Returns the answer, or undefined.
   * @param {string} target
   * @param {{method?: string, body?: unknown}} [options]
   */
  async act(target, options = { method: "POST" }) {
    this.notice.value = "";
    try {
      return await this.ask(target, options);
    } catch (error) {
      // Once the page has left the class, the reason for that stays.
      if (this.state.value === "in") this.notice.value = error instanceof Error ? error.message : String(error);
      return undefined;
    }
  }

  /** @param {string} name */
  async join(name) {
    this.notice.value = "";
    try {
      const { secret } = await this.ask(ROOM.pupils, { method: "POST", body: { name }, key: this.key });
      this.secret = secret;
      keepSecret(this.key, secret);
      this.state.value = "in";
      await this.open();
    } catch (error) {
      this.notice.value = error instanceof Error ? error.message : String(error);
    }
  }

  /** Follow the class, until the server does not know this page any more. */
  async open() {
    while (this.state.value === "in") {
      try {
        await this.follow();
      } catch (error) {
        if (/** @type {any} */ (error).status === UNKNOWN) {
          this.leave();
          return; // who joins again opens the class again
        }
      }
      this.connected.value = false;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS + Math.random() * SPREAD_MS));
    }
  }

  leave() {
    keepSecret(this.key, "");
    this.secret = "";
    this.you.value = null;
    this.state.value = "out";
    this.notice.value = this.trains
      ? "This is not the address of the trainer of this class. A class that was started again has a new one."
      : "The class does not know you any more. Join it again.";
  }

  /** Read one stream to its end. */
  async follow() {
    const { ok, status, body } = await askServer(ROOM.stream, { headers: { Authorization: `Bearer ${this.secret}` } });
    if (!ok || !body) throw new Refused("the class refuses to go on", status);
    this.connected.value = true;
    let first = true;
    for await (const { name, data } of eventsOf(body)) {
      const value = JSON.parse(data);
      if (name === "step") await this.stepped(value, first);
      else if (name === "counts") this.counts.value = value;
      else if (name === "class") {
        this.ofTrainer.value = value;
        this.showWanted();
      }
      first = false;
      await this.catchUp().catch(() => undefined); // the map stays as it is until the next change
    }
  }

  /** first: whether the stream begins. @param {Seen} seen @param {boolean} first */
  async stepped(seen, first) {
    const before = this.seen.value;
    this.seen.value = seen;
    if (!this.trains && (first || before?.step !== seen.step || before?.lab !== seen.lab)) await this.read();
    this.showWanted();
  }

  /** Read what only this pupil sees. An answer that another question has overtaken says nothing: it may be older than a vote. */
  async read() {
    this.reads += 1;
    const asked = this.reads;
    const answer = await this.ask(ROOM.seen);
    if (asked !== this.reads) return;
    this.you.value = answer.you;
    this.counts.value = { ...this.counts.value, pupils: answer.pupils, voted: answer.voted };
  }

  /** @param {string} choice */
  async vote(choice) {
    const { step, lab } = this.seen.value ?? {};
    const sent = await this.act(ROOM.votes, { method: "POST", body: { step, choice, lab } });
    if (sent !== undefined) await this.read().catch(() => undefined); // the stream says when there is no connection
  }

  /** Begin a lab of one's own, and let this browser open it. */
  async takeLab() {
    const begun = await this.act(ROOM.forks);
    if (begun === undefined || (await this.act(ROOM.window)) === undefined) return;
    await this.read().catch(() => undefined);
  }

  /** Open the lab of the moment in a tab of this browser. At the first text, the tab begins the lesson itself. */
  async takeToTab() {
    const tab = window.open("", "_blank"); // before anything is waited for, or the browser takes it for an advertisement
    if (!tab) {
      this.notice.value = "The browser does not let this page open a tab.";
      return;
    }
    const { step, lesson } = this.seen.value ?? {};
    if (!step) {
      tab.location.assign(new URL(`./tab/?lesson=${encodeURIComponent(lesson ?? "")}`, document.baseURI));
      return;
    }
    const answer = await this.door.ask(ROOM.lab);
    if (!answer.ok) {
      this.notice.value = (await answer.json()).detail;
      tab.close();
      return;
    }
    const file = new Uint8Array(await answer.arrayBuffer());
    const give = (/** @type {MessageEvent} */ { source, origin }) => {
      if (source !== tab || origin !== new URL(document.baseURI).origin) return;
      removeEventListener("message", give); // loaded again, the tab keeps what the pupil has done
      tab.postMessage(file, origin);
    };
    addEventListener("message", give);
    tab.location.assign(new URL("./tab/?class", document.baseURI));
  }

  /** Show the map of the common lab, or on the projector that of the pupil whose lab the trainer shows. */
  showWanted() {
    const { lab = null, highlight = null } = this.seen.value ?? {};
    const projected = this.projects ? this.ofTrainer.value?.projected : null;
    const wanted = projected ? projected.lab : lab;
    if ((this.mapped.value?.source.base ?? null) !== wanted) this.showLab(wanted);
    if (this.mapped.value) this.mapped.value.page.highlight.value = projected ? null : highlight;
  }

  /** Show the map of a lab from now on. @param {string | null} path */
  showLab(path) {
    this.mapped.value?.close();
    if (path === null) {
      this.mapped.value = null;
      return;
    }
    const address = new Address({ base: path, role: "class" }, false);
    this.mapped.value = new Store(new LiveSource(path, this.door), address, () => this.showLab(path), this.preferences);
  }

  /** Read the events of the lab that is shown, up to now. A lab that went back to an earlier text is read from its beginning. */
  async catchUp() {
    const store = this.mapped.value;
    if (!store || !("history" in store.source)) return;
    const { source, timeline } = store;
    if (!source.history) timeline.begin(await source.begin());
    for (;;) {
      const found = await source.eventsAfter(source.count).catch((/** @type {Refused} */ error) => {
        if (error.status === ANOTHER_HISTORY) return null;
        throw error;
      });
      if (store !== this.mapped.value) return;
      if (found === null || found.end !== source.count + found.lines.length) {
        this.showLab(source.base);
        this.showWanted();
        await this.catchUp();
        return;
      }
      source.count = found.end;
      if (found.lines.length === 0) break;
      timeline.take(found.lines.map((line) => JSON.parse(line)));
    }
    if (!timeline.caughtUp.value) {
      timeline.publishNow();
      timeline.caughtUp.value = true;
    }
  }
}

/** Return the secret that this browser has for a class; "" if it has none. @param {string} key */
function keptSecret(key) {
  try {
    return localStorage.getItem(`pflab-class ${key}`) ?? "";
  } catch {
    return ""; // a browser that keeps nothing joins again
  }
}

/** @param {string} key @param {string} secret */
function keepSecret(key, secret) {
  try {
    if (secret) localStorage.setItem(`pflab-class ${key}`, secret);
    else localStorage.removeItem(`pflab-class ${key}`);
  } catch {
    // the pupil joins again when the page is loaded again
  }
}
