/**
 * The new events of any number of labs, for any number of readers, over one connection.
 *
 * A browser opens six connections to a server at most, so the pages of a browser share this object (shared_streams.js). It asks
 * for the events of all labs that are read as one stream. When a reader comes that needs more, it asks again from where each lab
 * was, and gives each reader only what this reader does not have.
 */

import { streamOf } from "../api.js";
import { eventsOf } from "./event_stream.js";

/**
 * @typedef {object} Place Where a reader is.
 * @property {string} base the path of the lab
 * @property {string} history its run history
 * @property {number} count how many events the reader has
 *
 * @typedef {{number: number, data: string}} Arrival An event, and its number in the run history.
 *
 * @typedef {object} Told
 * @property {Arrival[]} [arrivals]
 * @property {boolean} [connected] whether more events can come
 *
 * @typedef {Place & {tell: (told: Told) => void}} Reader
 */

/** How long to wait before another attempt, in milliseconds. */
const AGAIN_MS = 2000;

/** How long events are collected before readers are told, in milliseconds. */
const COLLECT_MS = 15;

/** @param {Place} place */
const nameOf = ({ history, base }) => `${history}@${base}`;

export class LabStreams {
  /** @param {import("./server_door.js").Ask} ask */
  constructor(ask) {
    this.ask = ask;
    /** @type {Set<Reader>} */
    this.readers = new Set();
    /** Ends the stream that is read. @type {AbortController | null} */
    this.stream = null;
    /** Whether the stream has begun. */
    this.connected = false;
    /** How many events of each lab the stream has passed. @type {Map<string, number>} */
    this.passed = new Map();
    /** The events since readers were told, by lab. @type {Map<string, Arrival[]>} */
    this.collected = new Map();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.again = undefined;
  }

  /**
   * Return a function that tells where a new reader is, or with null that it reads nothing.
   * @param {(told: Told) => void} tell
   * @returns {(place: Place | null) => void}
   */
  reader(tell) {
    /** @type {Reader | null} */
    let reader = null;
    return (place) => {
      const before = reader;
      reader = place && { ...place, tell };
      if (reader) this.add(reader);
      if (before) this.remove(before);
    };
  }

  /** @param {Reader} reader */
  add(reader) {
    this.readers.add(reader);
    const passed = this.passed.get(nameOf(reader));
    if (this.stream === null || passed === undefined || passed > reader.count) this.open();
    else if (this.connected) reader.tell({ connected: true });
  }

  /** @param {Reader} reader */
  remove(reader) {
    this.readers.delete(reader);
    if (![...this.readers].some((other) => nameOf(other) === nameOf(reader))) this.open();
  }

  /** Ask for the events of all labs that are read. */
  open() {
    clearTimeout(this.again);
    this.stream?.abort();
    this.stream = null;
    this.connected = false;
    this.tellAll();
    this.passed.clear();
    for (const reader of this.readers) {
      const name = nameOf(reader);
      this.passed.set(name, Math.min(reader.count, this.passed.get(name) ?? Infinity));
    }
    if (this.passed.size === 0) return;
    this.stream = new AbortController();
    void this.read(streamOf(...[...this.passed].map(([name, count]) => `${count}@${name}`)), this.stream.signal);
  }

  /**
   * Read a stream to its end, and then ask again.
   * @param {string} target
   * @param {AbortSignal} signal
   */
  async read(target, signal) {
    try {
      const { ok, body } = await this.ask(target, { headers: { Accept: "text/event-stream" }, signal });
      if (ok && body && !signal.aborted) {
        this.connected = true;
        this.readers.forEach((reader) => reader.tell({ connected: true }));
        for await (const event of eventsOf(body)) {
          if (signal.aborted) return;
          if (event.name === "ended") this.end(event.data);
          else this.take(event);
        }
      }
    } catch {
      // the readers learn below that nothing comes any more
    }
    if (signal.aborted) return;
    this.connected = false;
    this.readers.forEach((reader) => reader.tell({ connected: false }));
    this.again = setTimeout(() => this.open(), AGAIN_MS);
  }

  /** Tell the readers of a lab that it has ended. @param {string} name */
  end(name) {
    this.tellAll();
    for (const reader of this.readersOf(name)) {
      this.readers.delete(reader);
      reader.tell({ connected: false });
    }
    this.passed.delete(name);
  }

  /** @param {string} name */
  readersOf(name) {
    return [...this.readers].filter((reader) => nameOf(reader) === name);
  }

  /** @param {import("./event_stream.js").SentEvent} event whose name is that of its lab */
  take({ name, id, data }) {
    const number = Number(id);
    this.passed.set(name, number);
    if (this.collected.size === 0) setTimeout(() => this.tellAll(), COLLECT_MS);
    const arrivals = this.collected.get(name) ?? [];
    this.collected.set(name, arrivals);
    arrivals.push({ number, data });
  }

  /** Give each reader the events that it does not have. */
  tellAll() {
    for (const [name, collected] of this.collected) {
      for (const reader of this.readersOf(name)) {
        const arrivals = collected.filter(({ number }) => number > reader.count);
        if (arrivals.length === 0) continue;
        reader.count = arrivals[arrivals.length - 1].number;
        reader.tell({ arrivals });
      }
    }
    this.collected.clear();
  }
}
