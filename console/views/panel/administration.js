/**
 * What an administrator orders a server to do: send and ask again, move its replicas, delete its store. And what he
 * orders of the organization around it: suspend content, add sites, servers and connectors.
 */

import { node, server as order } from "../../api.js";
import { HIERARCHY } from "../../state/lab_state.js";
import { storeLoss } from "../../state/losses.js";
import { html, useState } from "../../vendor/preact.js";
import { Sure } from "../confirm.js";
import { AskCost } from "../cost.js";
import { AddConnector } from "./organization/connector_orders.js";
import { Choice, ownLabels } from "./organization/form_parts.js";
import { AddServer, AddSite, RemoveServer, RemoveSite } from "./organization/site_and_server_orders.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 */

const SUSPENDED = "Content Replication Suspended";

/** The versions that cannot suspend content (spec: RP-5). */
export const NEVER_SUSPENDED = ["5.5", "2000"];

/**
 * Order a server to send what it has, or to ask the others what they have.
 * @param {{store: Store, state: LabState, name: string, folder: string, words: string}} props words: what the folder has
 */
export function ReplicationOrders({ store, state, name, folder, words }) {
  const send = (/** @type {any} */ event) => {
    event.preventDefault();
    const { days, to } = event.target.elements;
    const body = { folder, days: Number(days.value), ...(to.value && { to: [to.value] }) };
    void store.orders.act(`Sending ${words} from ${name}`, async () => {
      const answer = await store.source.request(node(name).send, { method: "POST", body });
      store.orders.tell(
        answer.numbers ? `${name} sends ${answer.numbers} to ${answer.to.join(", ")}` : `${name} has nothing to send`,
      );
    });
  };
  const synchronize = () =>
    void store.orders.act(`Synchronizing ${words} on ${name}`, async () => {
      const { asked } = await store.source.request(node(name).synchronize, { method: "POST", body: { folder } });
      store.orders.tell(`${name} asks for the status of ${words}: ${asked.join(", ")}`);
    });
  return html`<form class="row" onSubmit=${send}>
      <button title="What these days have changed is sent again, also to who has it">Send ${words}</button>
      <label>of the last <input name="days" type="number" min="1" max="3650" defaultValue="7" required /> days</label>
      <label
        >to
        <select name="to">
          <option value="">all other holders</option>
          ${others(state, name).map((server) => html`<option value=${server}>${server}</option>`)}
        </select>
      </label>
    </form>
    <div class="row">
      <button title="The other holders answer if they have more" onClick=${synchronize}>Synchronize ${words}</button>
    </div>`;
}

/** The other servers that have a store in the directory. @param {LabState} state @param {string} name */
const others = (state, name) =>
  Object.values(state.servers)
    .filter((server) => server.name !== name && !["not started", "deleted"].includes(server.status))
    .map((server) => server.name);

/** @param {{store: Store, state: LabState, name: string}} props */
export function Administration({ store, state, name }) {
  const { status, suspended } = state.servers[name];
  if (status === "deleted") {
    return html`<details class="administration">
      <summary>Administer ${name}</summary>
      <${RemoveServer} store=${store} state=${state} name=${name} />
    </details>`;
  }
  return html`<details class="administration">
    <summary>Administer ${name}</summary>
    ${
      status === "running"
        ? html`<${ReplicationOrders} store=${store} state=${state} name=${name} folder=${HIERARCHY} words="the hierarchy" />
            <${Suspension} store=${store} state=${state} suspended=${suspended} />
            <${MoveReplicas} store=${store} state=${state} name=${name} />
            <p class="hint">A server can be removed when it is stopped and has no replicas.</p>`
        : html`<${DeleteStore} store=${store} state=${state} name=${name} />`
    }
    <${AddSite} store=${store} />
    <${RemoveSite} store=${store} state=${state} />
    <${AddServer} store=${store} state=${state} name=${name} />
    <${RemoveServer} store=${store} state=${state} name=${name} />
    <${AddConnector} store=${store} state=${state} name=${name} />
  </details>`;
}

/** Content of the whole organization, as in System Manager of 2003. @param {{store: Store, state: LabState, suspended: boolean}} props */
function Suspension({ store, state, suspended }) {
  const servers = Object.keys(state.servers).filter((name) => {
    const { status, version } = state.servers[name];
    return status === "running" && !NEVER_SUSPENDED.includes(version);
  });
  const set = () =>
    void store.orders.act(suspended ? "Resuming content" : "Suspending content", async () => {
      for (const name of servers) {
        const body = { [SUSPENDED]: suspended ? "0" : "1" };
        await store.source.request(node(name).settings, { method: "PATCH", body });
      }
    });
  return html`<div class="row">
    <button disabled=${servers.length === 0} onClick=${set}>
      ${suspended ? "Resume content replication" : "Suspend content replication"}
    </button>
    <span class="hint">on ${servers.join(", ") || "no server: these versions have no such setting"}</span>
  </div>`;
}

/** @param {{store: Store, state: LabState, name: string}} props */
function MoveReplicas({ store, state, name }) {
  const [chosen, setChosen] = useState("");
  const targets = others(state, name);
  const by = targets.includes(chosen) ? chosen : targets[0];
  const move = (/** @type {any} */ event) => {
    event.preventDefault();
    const body = { folder: HIERARCHY, replace: name, by };
    void store.orders.act(`Moving all replicas of ${name}`, async () => {
      const { folders } = await store.source.request(node(name).replicas, { method: "POST", body });
      store.orders.tell(folders.length ? `To ${by}: ${folders.join(", ")}` : `${name} has no replica that can move`);
    });
  };
  const steps = [{ replicas: { on: name, folder: HIERARCHY, replace: name, by } }];
  return html`<form aria-label="All replicas" onSubmit=${move}>
    <div class="row">
      <button disabled=${targets.length === 0} title="The data stays on the server until another holder has all of it">
        Move all replicas
      </button>
      <${Choice} label="to" name="by" value=${by} options=${ownLabels(targets)} set=${setChosen} />
    </div>
    ${by && html`<${AskCost} store=${store} steps=${steps} />`}
  </form>`;
}

const DELETE = "Delete the store of";

/** @param {{store: Store, state: LabState, name: string}} props */
function DeleteStore({ store, state, name }) {
  const [chosen, setChosen] = useState("");
  const [force, setForce] = useState(false);
  const running = others(state, name).filter((server) => state.servers[server].status === "running");
  const on = running.includes(chosen) ? chosen : running[0];
  const remove = () => void store.orders.send(`Deleting the store of ${name}`, order(name, "delete"), { on, force });
  const present = store.timeline.history?.now ?? state;
  return html`<div role="group" aria-label=${`The store of ${name}`}>
    <p class="hint">The store leaves the directory, and never starts again. Other stores must learn that its replicas are gone.</p>
    ${running.length === 0 && html`<p class="hint">No server runs on which it can be deleted.</p>`}
    <div class="row">
      <${Choice} label="on" name="on" value=${on} options=${ownLabels(running)} set=${setChosen} />
      <label
        ><input
          type="checkbox"
          name="force"
          checked=${force}
          onChange=${(/** @type {any} */ event) => setForce(event.target.checked)}
        /> even if it holds replicas</label
      >
    </div>
    ${
      on &&
      html`<div class="row">
      <${Sure}
        button=${`${DELETE} ${name}`}
        label=${`Really delete the store of ${name}`}
        words=${() => `The store of ${name} and its database are deleted. ${storeLoss(present, name)}`}
        act=${remove}
      />
    </div>`
    }
  </div>`;
}
