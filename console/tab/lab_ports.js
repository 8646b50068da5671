/**
 * The ports through which pages talk to the lab of a worker: each order is answered through the port from which it came, and all
 * pages are told how the worker is. Orders that come before the lab is up wait for it.
 */

import { LAB } from "../api.js";

/**
 * @typedef {import("../source/tab_door.js").Order} Order
 * @typedef {import("../source/tab_door.js").Reply} Reply
 * @typedef {import("../source/tab_door.js").Condition} Condition
 * @typedef {Extract<Order, {method: string}>} Request
 *
 * @typedef {(kind: "start" | "body" | "end", a: any, b: any) => void} Send Gets the parts of an answer.
 * @typedef {PromiseLike<unknown> & {cancel: () => void}} Answering An answer that is under way. It can be cancelled.
 *
 * @typedef {object} Lab
 * @property {(request: Request, send: Send) => Answering} answer
 * @property {(beginning: import("../source/tab_door.js").Beginning) => Promise<void>} open Begin with a lab. Throws an error in
 *   plain words.
 * @property {() => void} changed The lab may have changed.
 * @property {() => void} hidden A page is hidden, and may end soon.
 */

/** Return whether a request can change the lab. @param {Request} request */
const mayChange = ({ method, target }) => method !== "GET" && method !== "HEAD" && target !== LAB.forecast;

export class LabPorts {
  /** @param {Lab} lab */
  constructor(lab) {
    this.lab = lab;
    /** @type {Set<MessagePort>} */
    this.ports = new Set();
    /** @type {Condition} */
    this.condition = { state: "loading", step: 0, words: "" };
    /** Requests that wait for the lab. @type {[MessagePort, Request][]} */
    this.waiting = [];
    /** The answers that are under way, by port and number. @type {Map<MessagePort, Map<number, Answering>>} */
    this.answers = new Map();
    /** How many requests that have ended could have changed the lab. */
    this.changes = 0;
  }

  /** @param {MessagePort} port */
  add(port) {
    this.ports.add(port);
    this.answers.set(port, new Map());
    port.onmessage = ({ data }) => this.take(port, data);
    port.addEventListener("close", () => this.remove(port)); // some browsers tell that a page has ended
    port.postMessage(this.condition);
  }

  /** Forget a page, and end the streams that it read. @param {MessagePort} port */
  remove(port) {
    this.ports.delete(port);
    this.waiting = this.waiting.filter(([other]) => other !== port);
    for (const answering of this.answers.get(port)?.values() ?? []) answering.cancel();
    this.answers.delete(port);
  }

  /** Tell all pages how the worker is. Once the lab is up, the requests that wait are answered. @param {Condition} condition */
  tell(condition) {
    this.condition = condition;
    for (const port of this.ports) port.postMessage(condition);
    if (condition.state !== "ready") return;
    for (const [port, request] of this.waiting.splice(0)) this.answer(port, request);
  }

  /** @param {MessagePort} port @param {Order | {leave: true} | {hidden: true}} order */
  take(port, order) {
    if ("leave" in order) this.remove(port);
    else if ("hidden" in order) this.lab.hidden();
    else if ("cancel" in order) {
      this.waiting = this.waiting.filter(([other, { id }]) => other !== port || id !== order.id);
      this.answers.get(port)?.get(order.id)?.cancel();
    } else if ("open" in order) {
      this.lab.open(order.open).then(
        () => reply(port, { id: order.id, kind: "end", a: null, b: null }),
        (/** @type {unknown} */ error) => reply(port, { id: order.id, kind: "failed", a: wordsOf(error), b: null }),
      );
    } else if (this.condition.state === "ready") this.answer(port, order);
    else this.waiting.push([port, order]);
  }

  /** @param {MessagePort} port @param {Request} request */
  answer(port, request) {
    const { id } = request;
    const answers = this.answers.get(port);
    if (!answers) return; // the page has gone
    const answering = this.lab.answer(request, (kind, a, b) => reply(port, { id, kind, a, b }));
    answers.set(id, answering);
    const ended = () => {
      if (mayChange(request)) {
        this.changes++;
        this.lab.changed();
      }
      return answers.delete(id);
    };
    answering.then(ended, (error) => {
      if (ended()) reply(port, { id, kind: "failed", a: wordsOf(error), b: null });
    });
  }
}

/** @param {MessagePort} port @param {Reply} message */
function reply(port, message) {
  port.postMessage(message, message.kind === "body" ? [message.a.buffer] : []);
}

/**
 * Return an error in words for people: of a Python traceback, its last line.
 * @param {unknown} error
 */
export function wordsOf(error) {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().split("\n").at(-1) || "an error without words";
}
