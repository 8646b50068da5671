/**
 * What all pages of a browser share: a worker with the streams of the labs that they show (lab_streams.js).
 *
 * A page tells the worker where it is when it is shown, and tells it null when it is left. A page that ends without a word closes
 * its port, which some browsers tell the worker.
 */

import { LabStreams } from "./lab_streams.js";
import { askServer } from "./server_door.js";

const streams = new LabStreams(askServer);

self.addEventListener("connect", (/** @type {any} */ event) => {
  /** @type {MessagePort} */
  const port = event.ports[0];
  const follow = streams.reader((news) => port.postMessage(news));
  port.addEventListener("close", () => follow(null));
  port.onmessage = ({ data }) => follow(data);
});
