/** The console's start: choose where events come from, and show the application. */

import { LiveSource } from "./source/live.js";
import { ReplaySource } from "./source/replay.js";
import { Store } from "./store.js";
import { html, render } from "./vendor/preact.js";
import { App } from "./views/app.js";

/** The answer for a lab that is not there. */
const GONE = 404;

const packed = document.getElementById("run")?.textContent;
// A lesson's lab has the same API below a path of its own: /?lab=/lessons/ID
const lab = new URLSearchParams(location.search).get("lab") ?? "";
const base = /^\/lessons\/[A-Za-z0-9_-]+$/.test(lab) ? lab : "";
const store = new Store(packed ? new ReplaySource(packed) : new LiveSource(base));
const root = /** @type {HTMLElement} */ (document.getElementById("console"));

store.preferences.apply();
root.replaceChildren();
render(html`<${App} store=${store} />`, root);
store.open().catch((error) => {
  if (base && error.status === GONE) store.ended.value = true;
  else store.failure.value = error instanceof Error ? error.message : String(error);
});
