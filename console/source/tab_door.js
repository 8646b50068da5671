/**
 * The door to a lab in this browser: a worker runs it (tab/lab_worker.js), and answers through a port.
 *
 * To the worker: `Order`. From it: `Reply`, and, of no request, `Condition`.
 */

import { signal } from "../vendor/preact.js";
import { LabStreams } from "./lab_streams.js";
import { Refused } from "./refused.js";

/**
 * @typedef {import("./server_door.js").Door} Door
 *
 * @typedef {{id: number, method: string, target: string, headers: Record<string, string>, body: Uint8Array | null}
 *   | {id: number, cancel: true}
 *   | {id: number, open: Beginning}} Order
 *
 * @typedef {{how: "new"} | {how: "kept"} | {how: "topology", content: string} | {how: "file", content: Uint8Array}} Beginning
 *   How a worker begins with a lab: with the one of its address, with the one that the browser has kept, with another topology, or
 *   with the file of a lab. The last two replace a lab that is open.
 *
 * @typedef {{id: number, kind: "start", a: number, b: string}
 *   | {id: number, kind: "body", a: Uint8Array, b: null}
 *   | {id: number, kind: "end", a: null, b: null}
 *   | {id: number, kind: "failed", a: string, b: null}} Reply start: the status and the headers as JSON. failed: why.
 *
 * @typedef {object} Condition How the worker is.
 * @property {"loading" | "choosing" | "ready" | "failed"} state choosing: a lab is kept, and somebody must `open` one
 * @property {number} step how much of the start is done, from 0 to 1
 * @property {string} words what it does, or why it has failed; of a worker that is choosing, why the last choice has failed; of one that
 *   is ready, why the browser does not keep its lab
 * @property {{keptAt: number, organization: string, labTime: string}} [kept] the lab that is kept
 *
 * @typedef {object} Call A request that is under way.
 * @property {number} at when it was sent, in milliseconds
 * @property {(answer: Response) => void} resolve called again, it has no effect
 * @property {(reason: unknown) => void} reject
 * @property {ReadableStreamDefaultController<Uint8Array> | null} body null until the answer has begun
 */

/** Answers without a body (Fetch standard: null body status). */
const WITHOUT_BODY = new Set([204, 205, 304]);

/** @implements {Door} */
export class TabDoor {
  /** @param {MessagePort | Worker} port */
  constructor(port) {
    this.port = port;
    /** No other program reaches a lab in a tab. @type {string | null} */
    this.origin = null;
    /** @type {Map<number, Call>} */
    this.calls = new Map();
    this.last = 0;
    /** When the worker was heard last, in milliseconds. */
    this.heard = performance.now();
    this.condition = signal(/** @type {Condition} */ ({ state: "loading", step: 0, words: "" }));
    /** Whether the lab was up. */
    this.wasReady = false;
    this.streams = new LabStreams((target, question) => this.ask(target, question));
    port.onmessage = (/** @type {MessageEvent<Reply | Condition>} */ { data }) => this.take(data);
  }

  /** @type {import("./server_door.js").Ask} */
  ask(target, { method = "GET", headers = {}, body, signal: ending } = {}) {
    return new Promise((resolve, reject) => {
      ending?.throwIfAborted();
      const { state, words } = this.condition.peek();
      if (state === "failed") throw new Refused(words, 0);
      const id = ++this.last;
      this.calls.set(id, { at: performance.now(), resolve, reject, body: null });
      ending?.addEventListener("abort", () => this.cancel(id, ending.reason), { once: true });
      const content = typeof body === "string" ? new TextEncoder().encode(body) : (body ?? null);
      this.post({ id, method, target, headers, body: content });
    });
  }

  /** Begin with a lab. Throws Refused with the mistakes in it. @type {NonNullable<Door["open"]>} */
  open = (beginning) => {
    return new Promise((resolve, reject) => {
      const id = ++this.last;
      this.calls.set(id, { at: performance.now(), resolve: () => resolve(), reject, body: null });
      this.post({ id, open: beginning });
    });
  };

  /** @type {Door["follow"]} */
  follow(tell) {
    return this.streams.reader(tell);
  }

  /** Return for how long the worker has not answered a request, in milliseconds. */
  silentMs() {
    const waiting = [...this.calls.values()].filter(({ body }) => body === null).map(({ at }) => at);
    return waiting.length > 0 ? performance.now() - Math.max(Math.min(...waiting), this.heard) : 0;
  }

  /** Tell the worker that this page is hidden. A browser may end a hidden page, and its worker, without a word. */
  hide() {
    this.port.postMessage({ hidden: true });
  }

  /** Tell the worker that this page ends. */
  leave() {
    this.port.postMessage({ leave: true });
  }

  /** @param {Order} order */
  post(order) {
    this.port.postMessage(order);
  }

  /** @param {number} id @param {unknown} reason */
  cancel(id, reason) {
    const call = this.calls.get(id);
    if (!call) return;
    this.post({ id, cancel: true });
    this.end(id, call, reason);
  }

  /** @param {Reply | Condition} message */
  take(message) {
    this.heard = performance.now();
    if (!("id" in message)) {
      this.condition.value = message;
      this.wasReady ||= message.state === "ready";
      if (message.state !== "failed") return;
      for (const [id, call] of this.calls) this.end(id, call, new Refused(message.words, 0));
      return;
    }
    const { id, kind, a, b } = message;
    const call = this.calls.get(id);
    if (!call) return; // it was cancelled
    if (kind === "start") call.resolve(this.answer(id, call, a, JSON.parse(b)));
    else if (kind === "body") call.body?.enqueue(a);
    else if (kind === "failed") this.end(id, call, new Refused(a, 0));
    else {
      this.calls.delete(id);
      call.resolve(new Response()); // of an order that has no answer but its end
      call.body?.close();
    }
  }

  /** @param {number} id @param {Call} call @param {number} status @param {HeadersInit} headers */
  answer(id, call, status, headers) {
    const content = new ReadableStream({
      start: (controller) => {
        call.body = controller;
      },
      cancel: () => {
        if (this.calls.delete(id)) this.post({ id, cancel: true });
      },
    });
    if (WITHOUT_BODY.has(status)) return new Response(null, { status, headers });
    return new Response(content, { status, headers });
  }

  /** End a call that has failed. @param {number} id @param {Call} call @param {unknown} reason */
  end(id, call, reason) {
    this.calls.delete(id);
    call.reject(reason);
    call.body?.error(reason);
  }
}
