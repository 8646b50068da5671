/** What can be done to a server: stop, start, kill, back up, restore, give it a new store. */

import { server as order } from "../../api.js";
import { shortInstant } from "../../state/lab_time.js";
import { ifStarted, ifStopped } from "../../forecast/what_if.js";
import { html, useState } from "../../vendor/preact.js";
import { Ask } from "../what_if.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 */

/** @param {{store: Store, state: LabState, name: string}} props */
export function ServerActions({ store, state, name }) {
  const [restoring, setRestoring] = useState(false);
  // What can be done depends on the present, also while an earlier moment is shown.
  const present = store.timeline.history?.now ?? state;
  const status = present.servers[name].status;
  const running = status === "running";
  const backups = backupsOf(store, present, name);
  return html`<div class="row actions" role="group" aria-label=${`Actions on ${name}`}>
      ${
        running
          ? html`<button onClick=${() => store.orders.send(`Stopping ${name}`, order(name, "stop"))}>Stop</button>
            <button class="danger" onClick=${() => store.orders.send(`Killing ${name}`, order(name, "kill"))} title="End the server at once, as a power failure does">
              Kill
            </button>
            <button onClick=${() => store.orders.send(`Backing up ${name}`, order(name, "backup"))}>Back up</button>`
          : status === "deleted"
            ? html`<button title="Create a new, empty store on this server" onClick=${() => store.orders.send(`Creating a new store for ${name}`, order(name, "create"))}>
                New store
              </button>`
            : html`<button onClick=${() => store.orders.send(`Starting ${name}`, order(name, "start"))}>Start</button>`
      }
      <button
        disabled=${backups.length === 0}
        aria-expanded=${restoring}
        title=${backups.length ? "Start the server on a backup" : "There is no backup of this server"}
        onClick=${() => setRestoring(!restoring)}
      >
        Restore …
      </button>
    </div>
    ${status !== "deleted" && html`<div class="row"><${Ask} store=${store} question=${running ? ifStopped(name) : ifStarted(name)} /></div>`}
    ${store.timeline.travelling.value && html`<p class="hint">An earlier moment is shown. These actions are done in the present.</p>`}
    ${restoring && html`<${Restore} store=${store} name=${name} running=${running} backups=${backups} close=${() => setRestoring(false)} />`}`;
}

/** @param {{store: Store, name: string, running: boolean, backups: {id: string, at: number}[], close: () => void}} props */
function Restore({ store, name, running, backups, close }) {
  const restore = (/** @type {any} */ event) => {
    event.preventDefault();
    const backup = event.target.elements.backup.value;
    close();
    void store.orders.act(`Restoring ${name}`, async () => {
      if (running) await store.source.request(order(name, "stop"), { method: "POST" });
      await store.source.request(order(name, "restore"), { method: "POST", body: { backup } });
    });
  };
  return html`<form class="confirm" onSubmit=${restore}>
    <p>
      ${name} goes back to the state of the backup. What it has done since then is lost on ${name};
      changes that no other server has are lost for good.
    </p>
    <label
      >Backup
      <select name="backup">
        ${[...backups].reverse().map(({ id, at }) => html`<option value=${id}>${id}, ${shortInstant(at)}</option>`)}
      </select>
    </label>
    <div class="row">
      <button class="danger">Restore ${name}</button>
      <button type="button" onClick=${close}>Cancel</button>
    </div>
  </form>`;
}

/**
 * @param {Store} store
 * @param {LabState} state
 * @param {string} name
 * @returns {{id: string, at: number}[]} oldest first
 */
function backupsOf(store, state, name) {
  const ids = Object.keys(state.backups).filter((id) => state.backups[id].name === name);
  if (ids.length === 0) return [];
  const events = /** @type {any[]} */ (store.timeline.history?.events.entries ?? []);
  return ids.map((id) => ({
    id,
    at: events.find((event) => event.type === "backup.made" && event.backup === id)?.at ?? 0,
  }));
}
