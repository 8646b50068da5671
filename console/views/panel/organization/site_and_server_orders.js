/** What an administrator of the organization does with sites and servers: add both, and remove a site without servers, and a
 * server without a store (RT-6, RP-9). */

import { LAB, serverItself, site as sitePath } from "../../../api.js";
import { html, useState } from "../../../vendor/preact.js";
import { Choice, InTerminal, ownLabels, taking } from "./form_parts.js";

/**
 * @typedef {import("../../../store.js").Store} Store
 * @typedef {import("../../../state/lab_state.js").LabState} LabState
 */

/** The versions of a new server, the usual one first. */
const VERSIONS = ["2003", "2007", "2000", "5.5"];

/** @type {import("../../../state/lab_state.js").ServerStatus[]} */
const WITHOUT_STORE = ["not started", "deleted"];

/** A form for a site, which has no server yet. @param {{store: Store}} props */
export function AddSite({ store }) {
  const [typed, setTyped] = useState("");
  const name = typed.trim();
  const add = async (/** @type {any} */ event) => {
    event.preventDefault();
    if (await store.orders.send(`Adding ${name}`, LAB.sites, { name })) setTyped("");
  };
  return html`<form aria-label="A new site" onSubmit=${add}>
    <div class="row">
      <button disabled=${!name}>Add a site</button>
      <label>name <input name="name" maxlength="100" placeholder="LON" value=${typed} onInput=${taking(setTyped)} /></label>
    </div>
    ${name && html`<${InTerminal} method="POST" path=${LAB.sites} body=${{ name }} />`}
  </form>`;
}

/** A form for removing a site without servers; nothing if there is none. @param {{store: Store, state: LabState}} props */
export function RemoveSite({ store, state }) {
  const { servers, sites } = state.topology;
  const used = new Set(Object.values(servers).map(({ site }) => site));
  const empty = sites.filter((site) => !used.has(site));
  const [chosen, setChosen] = useState("");
  const site = empty.includes(chosen) ? chosen : empty[0];
  if (!site) return null;
  const remove = (/** @type {any} */ event) => {
    event.preventDefault();
    void store.orders.send(`Removing ${site}`, sitePath(site), undefined, "DELETE");
  };
  return html`<form aria-label="A site without servers" onSubmit=${remove}>
    <div class="row">
      <button class="danger">Remove a site</button>
      <${Choice} label="site" name="site" value=${site} options=${ownLabels(empty)} set=${setChosen} />
    </div>
    <${InTerminal} method="DELETE" path=${sitePath(site)} />
  </form>`;
}

/** A form for a server; its site is at first that of the shown one. @param {{store: Store, state: LabState, name: string}} props */
export function AddServer({ store, state, name: shown }) {
  const { servers, sites } = state.topology;
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState(servers[shown].site);
  const [version, setVersion] = useState(VERSIONS[0]);
  const name = typed.trim();
  const site = sites.includes(chosen) ? chosen : servers[shown].site;
  const fields = { site, version };
  const add = async (/** @type {any} */ event) => {
    event.preventDefault();
    if (await store.orders.send(`Adding ${name}`, LAB.servers, { name, ...fields })) setTyped("");
  };
  return html`<form aria-label="A new server" onSubmit=${add}>
    <div class="row">
      <button disabled=${!name}>Add a server</button>
      <label>name <input name="name" maxlength="100" placeholder="F" value=${typed} onInput=${taking(setTyped)} /></label>
      <${Choice} label="site" name="site" value=${site} options=${ownLabels(sites)} set=${setChosen} />
      <${Choice} label="version" name="version" value=${version} options=${ownLabels(VERSIONS)} set=${setVersion} />
    </div>
    ${
      name &&
      html`<p class="hint">It is on the map at once, and joins when it is started.</p>
        <${InTerminal} method="POST" path=${LAB.servers} body=${{ name, ...fields }} />`
    }
  </form>`;
}

/**
 * A form for removing a server that has no store at present; nothing if there is none. The shown server comes first.
 * @param {{store: Store, state: LabState, name: string}} props
 */
export function RemoveServer({ store, state, name: shown }) {
  const present = store.timeline.history?.now ?? state;
  const bridgeheads = new Set(present.topology.connectors.flatMap((line) => Object.values(line.bridgeheads ?? {})));
  const free = Object.values(present.servers)
    .filter(({ name, status }) => WITHOUT_STORE.includes(status) && !bridgeheads.has(name))
    .map((server) => server.name);
  const [chosen, setChosen] = useState(shown);
  const name = free.includes(chosen) ? chosen : free[0];
  if (!name) return null;
  const remove = (/** @type {any} */ event) => {
    event.preventDefault();
    void store.orders.send(`Removing ${name}`, serverItself(name), undefined, "DELETE");
  };
  return html`<form aria-label="A server without a store" onSubmit=${remove}>
    <div class="row">
      <button class="danger">Remove a server</button>
      <${Choice} label="server" name="server" value=${name} options=${ownLabels(free)} set=${setChosen} />
    </div>
    <${InTerminal} method="DELETE" path=${serverItself(name)} />
  </form>`;
}
