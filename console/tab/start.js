/**
 * The console's start in a page whose lab is in the browser: it opens the worker when its files are there, and shows how far the lab
 * is until it is up.
 */

import { Address } from "../address.js";
import { Preferences } from "../preferences.js";
import { LiveSource } from "../source/live.js";
import { TabDoor } from "../source/tab_door.js";
import { Shell } from "../shell.js";
import { effect, html, render, signal } from "../vendor/preact.js";
import { filesReady } from "./offline.js";
import { Opening } from "./opening.js";
import { Silence } from "./silence.js";

/** How often the page looks whether the worker answers, in milliseconds. */
const LOOK_MS = 1_000;

/** What a page that a class has opened asks it for: the file of the lab of the moment. */
const ASKS = "pflab: which lab?";

const address = Address.parse(location.search, true);
const name = address.topology || "default";
/** The name under which the browser keeps how many workers of this lab were ended. */
const generations = `pflab worker ${new URL("../../", import.meta.url).pathname} ${name}`;
/** Return how many workers of this lab were ended; null in a browser that may keep nothing. Such a browser shares no workers. */
function generation() {
  try {
    return Number(localStorage.getItem(generations) ?? 0);
  } catch {
    return null;
  }
}

/** Pages of one lab tell each other through it to begin again. */
const pages = new BroadcastChannel(generations);

/** Return a door to the worker of the lab. */
function doorToLab() {
  const script = new URL("lab_worker.js", import.meta.url);
  const ended = generation();
  const shared = "SharedWorker" in globalThis && ended !== null;
  const worker = new (shared ? SharedWorker : Worker)(script, { type: "module", name: `${name} ${ended ?? 0}` });
  const door = new TabDoor("port" in worker ? worker.port : worker);
  worker.onerror = () => door.take({ state: "failed", step: 1, words: "The lab's program could not be loaded." });
  return door;
}

/**
 * End the worker, and begin again with another one. No page can end a worker that others share; it ends when all its pages
 * have left it, and the new pages have a worker of another name.
 */
function again() {
  const ended = generation();
  if (ended !== null) localStorage.setItem(generations, String(ended + 1));
  pages.postMessage("again");
  location.reload();
}

const preferences = new Preferences();
preferences.apply();
pages.onmessage = () => location.reload();

const root = /** @type {HTMLElement} */ (document.getElementById("console"));
root.replaceChildren();

/** Show the page until the lab is up. @param {TabDoor | null} door @param {TabDoor["condition"]} condition */
function show(door, condition) {
  const props = { door, condition, address, preferences, again };
  render(html`<${Opening} ...${props} />`, root);
}

const keeping = signal(
  /** @type {import("../source/tab_door.js").Condition} */ ({ state: "loading", step: 0, words: "" }),
);
show(null, keeping);
await filesReady((kept) => (keeping.value = { state: "loading", step: kept, words: "Loading the lab's files" }));

const door = doorToLab();
document.addEventListener("visibilitychange", () => document.hidden && door.hide());
addEventListener("pagehide", () => door.leave());
addEventListener("pageshow", ({ persisted }) => persisted && location.reload()); // the browser has kept a page that had left
show(door, door.condition);

/** Whether the page of a class was asked for the lab of the moment. */
let asked = false;
addEventListener("message", ({ origin, data }) => {
  if (origin !== location.origin || !(data instanceof Uint8Array)) return;
  door.open({ how: "file", content: data }).catch(() => undefined); // then the worker offers what it has, with the reason
});

const stop = effect(() => {
  const { state, words } = door.condition.value;
  if ((state === "choosing" || state === "ready") && address.role === "class" && opener && !asked) {
    asked = true;
    opener.postMessage(ASKS, location.origin);
  }
  // The lesson is asked for, not its neighbour. If that does not open, the page says why, and asks.
  if (state === "choosing" && address.lesson && !words) door.open({ how: "kept" }).catch(() => undefined);
  if (state !== "ready") return;
  queueMicrotask(() => {
    stop();
    render(null, root);
    new Shell((base) => new LiveSource(base, door), preferences, { inTab: true }).start();
  });
});

const notice = document.createElement("div");
document.body.append(notice);
const look = () => render(html`<${Silence} door=${door} silentMs=${door.silentMs()} again=${again} />`, notice);
setInterval(look, LOOK_MS);
