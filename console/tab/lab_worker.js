/**
 * The worker in which a lab of the browser lives: Python (Pyodide), one lab, and a port for each page that shows it.
 *
 * The name of the worker names the lab: `TOPOLOGY` or `TOPOLOGY GENERATION`. All pages with this name share the worker; where a
 * browser cannot share workers, each page has its own. The files of Python are in the folder `python/` beside that of the console.
 *
 * States: loading -> (choosing ->) ready, or failed. `choosing`: the browser has kept a lab of this name, and the page asks
 * whether to go on with it.
 */

import { CLOCK, LAB } from "../api.js";
import { confine } from "./confinement.js";
import { keepLab, keptLab } from "./kept_labs.js";
import { LabPorts, wordsOf } from "./lab_ports.js";
import { startPython } from "./python.js";

/**
 * @typedef {import("./lab_ports.js").Answering} Answering
 * @typedef {import("./lab_ports.js").Request} Request
 * @typedef {import("./lab_ports.js").Send} Send
 * @typedef {import("../source/tab_door.js").Beginning} Beginning
 *
 * @typedef {Answering & {copy: () => AnsweringTask, destroy: () => void}} AnsweringTask A proxy of a task in Python.
 *
 * @typedef {object} Browser What `pflab.tab.browser` has for JavaScript.
 * @property {(topology?: string, file?: Uint8Array) => Promise<string[]>} open_lab Returns what is wrong with what was given
 * @property {() => Promise<Uint8Array>} saved
 * @property {(method: string, target: string, headers: object, body: Uint8Array | null, send: Send) =>
 *   AnsweringTask} answer
 */

const PYTHON = new URL("../../python/", import.meta.url);

/** Taken at once: `confine` takes it from everybody. */
const { fetch } = self;

/** How often the lab is kept at most, in milliseconds, if it changes all the time. */
const KEEP_EVERY_MS = 3_000;

/** How many times as long as the last keeping took the lab is left alone. */
const REST = 20;

/** After how many attempts the pages say that the lab is not kept. */
const MOST_FAILURES = 3;

/** What Python and browsers say when there is no memory left for a lab. */
const NO_MEMORY = /memory/i;

/** The answer of a lab to a request for which there was no memory: a tab has no disk that could be full. */
const INSUFFICIENT_STORAGE = 507;

const [name = "default"] = self.name.split(" ");

/** Python's side of the lab, when it is loaded. @type {Promise<Browser>} */
const browser = load();

/** Returns whether a lab is open. */
let isOpen = false;

const ports = new LabPorts({ answer, open });

/** @param {Request} request @param {Send} send @returns {Answering} */
function answer({ method, target, headers, body }, send) {
  /** @type {AnsweringTask | null} */
  let answering = null;
  const whole = browser.then((python) => {
    answering = python.answer(method, target, headers, body, (kind, a, b) => {
      send(kind, a, b);
      if (kind === "start" && a === INSUFFICIENT_STORAGE) fail(new Error("no memory is free"));
    });
    // `then` destroys the proxy on which it is called, so a copy of it is awaited, and the proxy can be cancelled.
    return answering.copy().then(destroy, (error) => {
      destroy();
      throw broken(error);
    });
  });
  const destroy = () => answering?.destroy();
  return { then: whole.then.bind(whole), cancel: () => answering?.cancel() };
}

/**
 * Begin with a lab, in place of the one that is open.
 * @param {Beginning} beginning
 */
async function open(beginning) {
  const python = await browser;
  if (isOpen && beginning.how !== "topology" && beginning.how !== "file") return; // another page has chosen already
  const kept = beginning.how === "kept" ? await keptLab(name) : undefined;
  if (!isOpen) tell("loading", 0.8, "Starting the servers");
  const file = beginning.how === "file" ? beginning.content : kept?.content;
  const topology = beginning.how === "topology" ? beginning.content : file ? undefined : await example();
  const mistakes = await python.open_lab(topology, file).catch((error) => {
    throw broken(error);
  });
  if (mistakes.length > 0) {
    if (!isOpen) await choose();
    throw new Error(mistakes.join("\n"));
  }
  isOpen = true;
  ports.changes++;
  tell("ready", 1, "");
}

/** Return the topology of this address. */
async function example() {
  const answer = await fetch(new URL(`../topology/${encodeURIComponent(name)}.yaml`, PYTHON));
  if (!answer.ok) throw new Error(`there is no example topology “${name}”`);
  return answer.text();
}

/** Load Python and the lab's modules, and let them reach nothing outside of this worker. @returns {Promise<Browser>} */
async function load() {
  const python = await startPython(PYTHON.href, () => tell("loading", 0.3, "Starting Python"));
  tell("loading", 0.6, "Loading the lab");
  const browser = python.pyimport("pflab.tab.browser");
  confine();
  return browser;
}

/** @param {"loading" | "choosing" | "ready" | "failed"} state @param {number} step @param {string} words */
function tell(state, step, words) {
  ports.tell({ state, step, words });
}

/** Begin with a new lab, or ask the pages whether to go on with the one that the browser has kept. */
async function choose() {
  const kept = await keptLab(name).catch(() => undefined); // a browser that keeps nothing, as in a private window
  if (!kept) return open({ how: "new" });
  const { keptAt, organization, labTime } = kept;
  ports.tell({ state: "choosing", step: 0.7, words: "", kept: { keptAt, organization, labTime } });
  return undefined;
}

/** Return the body of an answer of the lab. @param {string} target @returns {Promise<Blob>} */
async function contentOf(target) {
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const parts = [];
  let status = 0;
  const request = { id: 0, method: "GET", target, headers: {}, body: null };
  await answer(request, (kind, a) => {
    if (kind === "start") status = a;
    else if (kind === "body") parts.push(a);
  });
  const content = new Blob(parts);
  if (status !== 200) throw new Error(await content.text());
  return content;
}

/** @param {string} target @returns {Promise<any>} */
const jsonOf = async (target) => JSON.parse(await (await contentOf(target)).text());

/**
 * Keep the lab if it is not as it was kept before. Returns its present state: an instant of a run history, and how many requests
 * could have changed it.
 * @param {string} before
 */
async function keep(before) {
  const { now_at: labTime, history } = await jsonOf(CLOCK.now);
  const state = `${history} ${labTime} ${ports.changes}`;
  if (state === before) return state;
  const { organization } = await jsonOf(LAB.topology);
  const python = await browser;
  const keptAt = Date.now();
  await keepLab(name, { content: await python.saved(), keptAt, organization, labTime });
  return state;
}

/** Keep the lab whenever it has changed. If that fails again and again, the pages say why. */
async function keepAlways() {
  let state = "";
  let failures = 0;
  for (;;) {
    const began = performance.now();
    try {
      if (isOpen) state = await keep(state);
      if (isOpen && failures >= MOST_FAILURES) tell("ready", 1, "");
      failures = 0;
    } catch (error) {
      failures++; // a lab that goes back to a saved one cannot be asked meanwhile
      if (isOpen && failures === MOST_FAILURES)
        tell("ready", 1, `This browser does not keep the lab: ${wordsOf(error)}`);
    }
    const restMs = Math.max(KEEP_EVERY_MS, REST * (performance.now() - began));
    await new Promise((resolve) => setTimeout(resolve, restMs));
  }
}

/** Return an error of Python. If Python cannot go on after it, the worker has failed. @template E @param {E} error */
function broken(error) {
  if (NO_MEMORY.test(wordsOf(error)) || /** @type {any} */ (error)?.pyodide_fatal_error) fail(error);
  return error;
}

/** Say in plain words why there is no lab. It is kept no more, so what was kept is from before. @param {unknown} error */
function fail(error) {
  const words = wordsOf(error);
  const why = isOpen ? "The lab could not go on" : "The lab could not begin";
  isOpen = false;
  tell(
    "failed",
    1,
    NO_MEMORY.test(words) ? `This browser has no memory left for the lab: ${words}` : `${why}: ${words}`,
  );
}

if ("SharedWorkerGlobalScope" in self) {
  self.addEventListener("connect", (/** @type {any} */ event) => ports.add(event.ports[0]));
} else ports.add(/** @type {any} */ (self));
tell("loading", 0.05, "Loading Python");
for (const kind of ["error", "unhandledrejection"]) {
  self.addEventListener(kind, (/** @type {any} */ event) => broken(event.error ?? event.reason)); // of a task in Python
}
browser.then(choose).then(keepAlways, fail);
