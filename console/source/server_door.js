/** The door to the labs of the server from which the console comes. */

import { LabStreams } from "./lab_streams.js";
import { Refused } from "./refused.js";

/**
 * @typedef {object} Question
 * @property {string} [method]
 * @property {Record<string, string>} [headers]
 * @property {string | Uint8Array} [body]
 * @property {AbortSignal} [signal] ends the request, and the stream that answers it
 *
 * @typedef {(target: string, question?: Question) => Promise<Response>} Ask Send a request. Throws Refused with status 0 if
 *   nothing answers; a lab that refuses answers.
 *
 * @typedef {object} Door How the console reaches labs. No other module sends a request.
 * @property {string | null} origin where other programs reach the labs; null if none can
 * @property {Ask} ask
 * @property {(tell: (told: import("./lab_streams.js").Told) => void) =>
 *   (place: import("./lab_streams.js").Place | null) => void} follow Return a function that takes where a reader of new events
 *   is; null: it reads nothing.
 * @property {null | ((beginning: import("./tab_door.js").Beginning) => Promise<void>)} open Begin with another lab in place of
 *   this one. Throws Refused with the mistakes in it. Null if only those who started the lab can.
 */

/** @implements {Door} */
export class ServerDoor {
  constructor() {
    this.origin = location.origin;
    /** @type {Door["open"]} */
    this.open = null;
  }

  /** @type {Ask} */
  ask(target, question) {
    return askServer(target, question);
  }

  /** All pages of a browser share the streams, if it can share a worker. @type {Door["follow"]} */
  follow(tell) {
    if ("SharedWorker" in globalThis) {
      const { port } = new SharedWorker(new URL("shared_streams.js", import.meta.url), { type: "module" });
      port.onmessage = ({ data }) => tell(data);
      return (place) => port.postMessage(place);
    }
    return new LabStreams(askServer).reader(tell);
  }
}

/** @type {Ask} */
export async function askServer(target, question = {}) {
  try {
    return await fetch(target, /** @type {RequestInit} */ (question));
  } catch {
    throw new Refused("the lab does not answer; has it been stopped?", 0);
  }
}
