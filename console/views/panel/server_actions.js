/** What can be done to a server: stop, start, kill, back up, restore, give it a new store. */

import { server as order } from "../../api.js";
import { shortInstant } from "../../state/lab_time.js";
import { ifStarted, ifStopped } from "../../forecast/what_if.js";
import { html, useState } from "../../vendor/preact.js";
import { Sure } from "../confirm.js";
import { AskCost } from "../cost.js";
import { Ask } from "../what_if.js";
import { InTerminal } from "./organization/form_parts.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 */

/** @param {{store: Store, state: LabState, name: string}} props */
export function ServerActions({ store, state, name }) {
  const [restoring, setRestoring] = useState(false);
  // What can be done depends on the present, also while an earlier moment is shown.
  const present = store.timeline.history?.now ?? state;
  const status = present.servers[name]?.status;
  if (!status) return html`<p class="hint">An earlier moment is shown. ${name} was removed since.</p>`;
  const running = status === "running";
  const backups = backupsOf(store, present, name);
  return html`<div class="row actions" role="group" aria-label=${`Actions on ${name}`}>
      ${
        running
          ? html`<button onClick=${() => store.orders.send(`Stopping ${name}`, order(name, "stop"))}>Stop</button>
            <${Sure}
              key=${`kill ${name}`}
              button="Kill"
              label=${`Kill ${name}`}
              title="End the server at once, as a power failure does"
              words=${() => killed(name)}
              act=${() => store.orders.send(`Killing ${name}`, order(name, "kill"))}
            />
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
        title=${backups.length ? "Start the server on a backup" : noBackup(present, name)}
        onClick=${() => setRestoring(!restoring)}
      >
        Restore …
      </button>
    </div>
    ${status !== "deleted" && html`<div class="row"><${Ask} store=${store} question=${running ? ifStopped(name) : ifStarted(name)} /></div>`}
    ${status === "not started" && backups.length === 0 && html`<p class="hint">${noBackup(present, name)}</p>`}
    ${store.timeline.travelling.value && html`<p class="hint">An earlier moment is shown. These actions are done in the present.</p>`}
    ${restoring && html`<${Restore} store=${store} name=${name} running=${running} backups=${backups} close=${() => setRestoring(false)} />`}`;
}

/** Why a server cannot be restored, in words. @param {LabState} state @param {string} name */
function noBackup({ servers, backups }, name) {
  const { status, version } = servers[name];
  const others = Object.values(backups).some((of) => of.name !== name && servers[of.name]?.version === version);
  if (status === "not started" && others)
    return `${name} has never started. Start it once, and it can show the backup of another server.`;
  if (status === "not started") return `${name} has never started, so there is no backup of it.`;
  return "There is no backup that this server can have: its own, or one of a server of the same version.";
}

/** What a power failure loses, in words. @param {string} name */
const killed = (name) =>
  `${name} ends at once, as in a power failure. What its users are doing now fails, and mails that are on the line are sent
  again. What it has acknowledged, and the mails in its queue, are kept until it starts again.`;

/**
 * @typedef {object} Backup
 * @property {string} id
 * @property {string} owner the server of which it is
 * @property {number} at
 */

/** @param {{store: Store, name: string, running: boolean, backups: Backup[], close: () => void}} props */
function Restore({ store, name, running, backups, close }) {
  const newest = backups[backups.length - 1];
  const [chosen, setChosen] = useState(newest.id);
  const { owner } = backups.find(({ id }) => id === chosen) ?? newest;
  const restore = (/** @type {any} */ event) => {
    event.preventDefault();
    const backup = chosen;
    close();
    void store.orders.act(`Restoring ${name}`, async () => {
      if (running) await store.source.request(order(name, "stop"), { method: "POST" });
      await store.source.request(order(name, "restore"), { method: "POST", body: { backup } });
    });
  };
  return html`<form class="confirm" onSubmit=${restore}>
    <p>
      ${
        owner === name
          ? `${name} goes back to the state of the backup. What it has done since then is lost on ${name};
      changes that no other server has are lost for good.`
          : `${name} shows the store of ${owner} as it was, and never replicates again (RP-8). Its own store is lost on ${name}.`
      }
    </p>
    <label
      >Backup
      <select name="backup" value=${chosen} onChange=${(/** @type {any} */ event) => setChosen(event.target.value)}>
        ${[...backups]
          .reverse()
          .map(
            ({ id, owner: of, at }) =>
              html`<option value=${id}>${id}${of === name ? "" : ` of ${of}`}, ${shortInstant(at)}</option>`,
          )}
      </select>
    </label>
    <${InTerminal} method="POST" path=${order(name, "restore")} body=${{ backup: chosen }} />
    <${AskCost} store=${store} steps=${[{ restore: { on: name, backup: chosen } }]} />
    <div class="row">
      <button class="danger">Restore ${name}</button>
      <button type="button" onClick=${close}>Cancel</button>
    </div>
  </form>`;
}

/**
 * Return the backups on which a server can start: those of others first, and its own ones after them, each oldest first. A server
 * that was started before can show the store of another one of the same version (spec: RP-8).
 * @param {Store} store
 * @param {LabState} state
 * @param {string} name
 * @returns {Backup[]}
 */
function backupsOf(store, state, name) {
  const { status, version } = state.servers[name];
  const canShow = status !== "deleted" && status !== "not started";
  const fitting = Object.entries(state.backups).filter(
    ([, of]) => of.name === name || (canShow && state.servers[of.name]?.version === version),
  );
  const events = /** @type {any[]} */ (store.timeline.history?.events.entries ?? []);
  const backups = fitting.map(([id, { name: owner }]) => ({
    id,
    owner,
    at: events.find((event) => event.type === "backup.made" && event.backup === id)?.at ?? 0,
  }));
  const isOwn = (/** @type {Backup} */ backup) => Number(backup.owner === name);
  return backups.sort((one, other) => isOwn(one) - isOwn(other));
}
