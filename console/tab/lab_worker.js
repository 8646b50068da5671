/**
 * The worker in which a lab of the browser lives: Python (Pyodide), one lab, and a port for each page that shows it.
 *
 * The name of the worker is `TOPOLOGY GENERATION`; the topology names the lab. All pages with this name share the worker; where a
 * browser cannot share workers, each page has its own. The files of Python are in the folder `python/` beside that of the console.
 *
 * States: loading -> (choosing ->) ready, or failed. `choosing`: the browser has kept a lab of this name, and the page asks
 * whether to go on with it. If a lab does not open, the kept one is offered, with the reason.
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

/** How often the worker looks whether the clock has moved, in milliseconds. */
const LOOK_MS = 3_000;

/** How many times as long as the last keeping took the lab is left alone, if it changes all the time. */
const REST = 20;

/** After how many attempts the pages say that the lab is not kept. */
const MOST_FAILURES = 3;

/** What Python and browsers say when there is no memory left for a lab. */
const NO_MEMORY = /memory/i;

/** The answer of a lab to a request for which there was no memory: a tab has no disk that could be full. */
const INSUFFICIENT_STORAGE = 507;

/** The name of the lab. It may have spaces, and the generation has none. */
const name = self.name.slice(0, self.name.lastIndexOf(" "));

/** Python's side of the lab, when it is loaded. @type {Promise<Browser>} */
const browser = load();

/** Returns whether a lab is open. */
let isOpen = false;

/** Resolves when no lab is being opened. */
let opened = Promise.resolve();

/** Whether the lab is to be kept without a rest. */
let hurried = false;

/** Looks whether the rest between two keepings ends. */
let changed = () => {};

const ports = new LabPorts({ answer, open, changed: () => changed(), hidden });

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
    return answering.copy().then(() => undefined);
  });
  const ended = whole.then(destroy, (error) => {
    destroy();
    throw broken(error);
  });
  function destroy() {
    answering?.destroy();
  }
  return { then: ended.then.bind(ended), cancel: () => answering?.cancel() };
}

/**
 * Begin with a lab, in place of the one that is open, when no other is being opened.
 * @param {Beginning} beginning
 */
function open(beginning) {
  const opening = opened.then(() => begin(beginning));
  opened = opening.catch(() => undefined);
  return opening;
}

/** @param {Beginning} beginning */
async function begin(beginning) {
  const python = await browser;
  if (isOpen && beginning.how !== "topology" && beginning.how !== "file") return; // another page has chosen already
  if (!isOpen) tell("loading", 0.8, "Starting the servers");
  try {
    const kept = beginning.how === "kept" ? await keptLab(name) : undefined;
    const file = beginning.how === "file" ? beginning.content : kept?.content;
    const topology = beginning.how === "topology" ? beginning.content : file ? undefined : await example();
    const mistakes = await python.open_lab(topology, file);
    if (mistakes.length > 0) throw new Error(mistakes.join("\n"));
  } catch (error) {
    broken(error);
    if (!isOpen && !hasFailed() && !(await offer(wordsOf(error)))) fail(error);
    throw error;
  }
  isOpen = true;
  ports.changes++;
  tell("ready", 1, "");
}

const hasFailed = () => ports.condition.state === "failed";

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
  if (!(await offer(""))) await open({ how: "new" });
}

/**
 * Ask the pages whether to go on with the lab that the browser has kept. Returns false if there is none.
 * @param {string} words why another attempt has failed
 */
async function offer(words) {
  const kept = await keptLab(name).catch(() => undefined); // a browser that keeps nothing, as in a private window
  if (!kept) return false;
  const { keptAt, organization, labTime } = kept;
  ports.tell({ state: "choosing", step: 0.7, words, kept: { keptAt, organization, labTime } });
  return true;
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
    const { changes } = ports;
    hurried = false;
    try {
      if (isOpen) state = await keep(state);
      if (isOpen && failures >= MOST_FAILURES) tell("ready", 1, "");
      failures = 0;
    } catch (error) {
      failures++; // a lab that goes back to a saved one cannot be asked meanwhile
      if (isOpen && failures === MOST_FAILURES)
        tell("ready", 1, `This browser does not keep the lab: ${wordsOf(error)}`);
    }
    await rest(REST * (performance.now() - began), () => hurried);
    await rest(LOOK_MS, () => hurried || ports.changes !== changes);
  }
}

/**
 * Wait for a time, or until something is so.
 * @param {number} ms
 * @param {() => boolean} holds
 * @returns {Promise<void>}
 */
function rest(ms, holds) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    changed = () => {
      if (!holds()) return;
      clearTimeout(timer);
      resolve();
    };
    changed();
  });
}

/** A page is hidden, and may end soon: keep the lab now. */
function hidden() {
  hurried = true;
  changed();
}

/** Return an error of Python. If Python cannot go on after it, the worker has failed. @template E @param {E} error */
function broken(error) {
  if (NO_MEMORY.test(wordsOf(error)) || /** @type {any} */ (error)?.pyodide_fatal_error) fail(error);
  return error;
}

/** Say in plain words why there is no lab. It is kept no more, so what was kept is from before. @param {unknown} error */
function fail(error) {
  if (hasFailed()) return;
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
