/** What a page says if the worker of its lab does not answer, has failed, or cannot be kept. */

import { html } from "../vendor/preact.js";

/** @typedef {import("../source/tab_door.js").TabDoor} TabDoor */

/** How long a worker may be busy until the page says so, in milliseconds. */
const PATIENCE_MS = 20_000;

const MS = 1_000;

/**
 * silentMs: for how long the worker has not answered. It is a property, because with equal properties nothing is drawn again.
 * @param {{door: TabDoor, silentMs: number, again: () => void}} props
 */
export function Silence({ door, silentMs, again }) {
  const { state, words } = door.condition.value;
  if (state === "failed" && door.wasReady) return html`<${Told} words=${words} again=${again} />`;
  if (silentMs > PATIENCE_MS) {
    const seconds = Math.round(silentMs / MS);
    return html`<${Told} words=${`The lab has not answered for ${seconds} s. It may still be busy.`} again=${again} />`;
  }
  if (state === "ready" && words) return html`<${Told} words=${words} />`;
  return null;
}

/** @param {{words: string, again?: () => void}} props */
function Told({ words, again }) {
  return html`<div class="notice" role="alert">
    <span>${words}</span>
    ${again && html`<button title="The browser has kept the lab" onClick=${again}>End it and begin again from its last state</button>`}
  </div>`;
}
