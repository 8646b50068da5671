/**
 * A lab in Python for browsers, in Node.js: node answers.mjs SITE, where SITE is the folder that `make site` builds.
 *
 * Each line of standard input is a request as JSON, {method, target, body}; for each a line is written, {status, body}. A body that
 * is a text is a mail; any other is sent as JSON. The lab is loaded as the page's worker loads it (console/tab/lab_worker.js), and begins with the example.
 */

import { createInterface } from "node:readline";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const site = process.argv[2];

/** Only the message of an error: the source of Pyodide is one line of a megabyte. @param {unknown} error */
function end(error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
process.on("uncaughtException", end);
process.on("unhandledRejection", end);

const { startPython } = await import(pathToFileURL(join(site, "console/tab/python.js")).href);
const python = await startPython(join(site, "python/"));
const lab = python.pyimport("pflab.tab.browser");
const mistakes = await lab.open_lab(null, null);
if (mistakes.length > 0) throw new Error(mistakes.join("\n"));

/** @param {{method: string, target: string, body?: object | string}} request @returns {Promise<{status: number, body: string}>} */
function answer({ method, target, body }) {
  const isMail = typeof body === "string";
  const headers = { "content-type": isMail ? "message/rfc822" : "application/json" };
  const content = body === undefined ? null : new TextEncoder().encode(isMail ? body : JSON.stringify(body));
  /** @type {Uint8Array[]} */
  const parts = [];
  let status = 0;
  return new Promise((resolve, reject) => {
    const send = (/** @type {string} */ kind, /** @type {any} */ a) => {
      if (kind === "start") status = a;
      else if (kind === "body") parts.push(a);
      else resolve({ status, body: Buffer.concat(parts).toString() });
    };
    lab.answer(method, target, headers, content, send).catch(reject);
  });
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
}
process.exit(0);
