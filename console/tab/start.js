/** The console's start in a page whose lab is in the browser: it opens the worker, and shows how far the lab is until it is up. */

import { Address } from "../address.js";
import { Preferences } from "../preferences.js";
import { LiveSource } from "../source/live.js";
import { TabDoor } from "../source/tab_door.js";
import { Shell } from "../shell.js";
import { effect, html, render } from "../vendor/preact.js";
import { Opening } from "./opening.js";
import { Silence } from "./silence.js";

/** How often the page looks whether the worker answers, in milliseconds. */
const LOOK_MS = 1_000;

const address = Address.parse(location.search, true);
const name = address.topology || "default";
const generations = `pflab worker ${name}`;
/** Pages of one lab tell each other through it to begin again. */
const pages = new BroadcastChannel(generations);

/** Return the worker's port. @param {string} workerName @returns {MessagePort | Worker} */
function connect(workerName) {
  const script = new URL("lab_worker.js", import.meta.url);
  const failed = () => door.take({ state: "failed", step: 1, words: "The lab's program could not be loaded." });
  if ("SharedWorker" in globalThis) {
    const worker = new SharedWorker(script, { type: "module", name: workerName });
    worker.onerror = failed;
    return worker.port;
  }
  const worker = new Worker(script, { type: "module", name: workerName });
  worker.onerror = failed;
  return worker;
}

/**
 * End the worker, and begin again with another one. No page can end a worker that others share; it ends when all its pages
 * have left it, and the new pages have a worker of another name.
 */
function again() {
  localStorage.setItem(generations, String(Number(localStorage.getItem(generations) ?? 0) + 1));
  pages.postMessage("again");
  location.reload();
}

const door = new TabDoor(connect(`${name} ${localStorage.getItem(generations) ?? 0}`));
const preferences = new Preferences();
preferences.apply();
pages.onmessage = () => location.reload();
addEventListener("pagehide", () => door.leave());
addEventListener("pageshow", ({ persisted }) => persisted && location.reload()); // the browser has kept a page that had left

const root = /** @type {HTMLElement} */ (document.getElementById("console"));
root.replaceChildren();
render(html`<${Opening} door=${door} address=${address} preferences=${preferences} again=${again} />`, root);

const stop = effect(() => {
  const { state } = door.condition.value;
  if (state === "choosing" && address.lesson) void door.open({ how: "kept" }); // the lesson is asked for, not its neighbour
  if (state !== "ready") return;
  queueMicrotask(() => {
    stop();
    render(null, root);
    new Shell((base) => new LiveSource(base, door), preferences, { inTab: true }).start();
  });
});

const notice = document.createElement("div");
document.body.append(notice);
setInterval(() => render(html`<${Silence} door=${door} again=${again} />`, notice), LOOK_MS);
