/** The panel of a connector: what it costs and carries, whether it works, and which mails wait for it. */

import { FAULTS, fault as faultPath, node } from "../../../api.js";
import { ifCut, ifHealed } from "../../../forecast/what_if.js";
import { FIELDS, KINDS } from "../../../state/connector_fields.js";
import { SEPARATIONS } from "../../../state/faults.js";
import { mailTypeName } from "../../../state/mail_types.js";
import { html, useEffect, useState } from "../../../vendor/preact.js";
import { OnlyPresent, Relative, isPresent } from "../../fetched.js";
import { Ask } from "../../what_if.js";
import { ConnectorOrders } from "./connector_orders.js";
import { Traffic } from "./traffic.js";

/**
 * @typedef {import("../../../store.js").Store} Store
 * @typedef {import("../../../state/lab_state.js").LabState} LabState
 * @typedef {import("../../../state/lab_state.js").Connector} Connector
 */

const HOLDS = ["1 h", "6 h", "1 day"];

/** @param {{store: Store, state: LabState, connector: Connector}} props */
export function ConnectorPanel({ store, state, connector }) {
  const { name } = connector;
  const faults = Object.values(state.faults).filter((fault) => fault.details.connector === name);
  const down = state.linksDown[name];
  const cut = faults.some((fault) => SEPARATIONS.includes(fault.kind));
  const status = cut ? "cut" : down !== undefined ? "does not work" : faults.length ? "disturbed" : "works";
  const heal = () =>
    store.orders.act(`Healing ${name}`, async () => {
      for (const fault of faults) {
        await store.source.request(faultPath(fault.id), { method: "DELETE" });
      }
    });
  const inject = (/** @type {string} */ what, /** @type {Record<string, string>} */ fault) =>
    store.orders.send(what, FAULTS.all, { ...fault, connector: name });
  return html`<h2>
      Connector ${name}${" "}
      <span class=${`badge ${status === "works" ? "good" : cut || down !== undefined ? "bad" : "warn"}`}>${status}</span>
    </h2>
    <dl class="facts">
      <dt>Between</dt>
      <dd>${connector.between.join(" and ")}</dd>
      <dt>Kind</dt>
      <dd>${KINDS[connector.kind] ?? connector.kind}</dd>
      ${FIELDS.map((field) => html`<dt>${field.label}</dt><dd>${field.text(connector)}</dd>`)}
      ${
        connector.bridgeheads &&
        html`<dt>Bridgeheads</dt>
        <dd>
          ${Object.entries(connector.bridgeheads).map(
            ([site, server]) => html`<div>
              <button class="link" onClick=${() => store.page.select({ kind: "server", id: server })}>${server}</button>
              <span class="hint"> in ${site}</span>
            </div>`,
          )}
        </dd>`
      }
      ${
        down !== undefined &&
        html`<dt>Last failure</dt>
        <dd class="missing">${down}</dd>`
      }
    </dl>
    ${faults.map((fault) => html`<p class="missing" key=${fault.id}>${fault.id}: ${fault.words}</p>`)}
    ${
      store.source.live &&
      html`<div class="row actions" role="group" aria-label=${`Actions on ${name}`}>
      <button class="danger" disabled=${cut} onClick=${() => inject(`Cutting ${name}`, { kind: "cut" })}>Cut</button>
      <select
        aria-label="Slow: hold all mails"
        value=""
        onChange=${(/** @type {any} */ event) => inject(`Holding the mails on ${name}`, { kind: "hold", lasts: event.target.value })}
      >
        <option value="">Hold mails for …</option>
        ${HOLDS.map((span) => html`<option value=${span}>${span}</option>`)}
      </select>
      <button disabled=${faults.length === 0} onClick=${heal}>Heal</button>
    </div>
    <div class="row">
      ${!cut && html`<${Ask} store=${store} question=${ifCut(name)} />`}
      ${faults.map((fault) => html`<${Ask} key=${fault.id} store=${store} question=${ifHealed(fault.id)} />`)}
    </div>
    <${ConnectorOrders} store=${store} state=${state} name=${name} />`
    }
    <h3>What it has carried</h3>
    <${Traffic} store=${store} state=${state} name=${name} />
    <h3>Mails that wait for it</h3>
    ${
      isPresent(store)
        ? html`<${Waiting} store=${store} state=${state} connector=${connector} />`
        : html`<${OnlyPresent} what="The queues of a connector" />`
    }`;
}

/** @param {{store: Store, state: LabState, connector: Connector}} props */
function Waiting({ store, state, connector }) {
  const [waiting, setWaiting] = useState(/** @type {any[] | null} */ (null));
  const senders = sendersOver(state, connector);
  const asks = senders.filter((name) => Object.keys(state.servers[name]?.queue ?? {}).length > 0);
  const version = `${connector.name} ${asks.join(" ")} ${state.count}`;
  useEffect(() => {
    let current = true;
    const ask = async (/** @type {string} */ name) => {
      const queue = await store.source.request(node(name).queue);
      return queue.map((/** @type {any} */ copy) => ({ ...copy, server: name }));
    };
    Promise.all(asks.map(ask))
      .then((queues) => current && setWaiting(queues.flat().filter((copy) => copy.connector === connector.name)))
      .catch(() => current && setWaiting(null)); // a server has just stopped; its next event asks again
    return () => {
      current = false;
    };
  }, [version]);
  if (!waiting?.length) return html`<p class="hint">None.</p>`;
  return html`<table>
    <thead>
      <tr>
        <th scope="col">Mail</th>
        <th scope="col">Waits on</th>
        <th scope="col">Next attempt</th>
      </tr>
    </thead>
    <tbody>
      ${waiting.map(
        (copy) => html`<tr key=${`${copy.server} ${copy.id}`}>
          <th scope="row">
            <button class="link" onClick=${() => store.page.select({ kind: "mail", id: copy.message_id })}>
              ${mailTypeName(state.mails.get(copy.message_id)?.type)}
            </button>
          </th>
          <td>${copy.server}</td>
          <td><${Relative} store=${store} at=${Date.parse(copy.due_at) * 1000} /></td>
        </tr>`,
      )}
    </tbody>
  </table>`;
}

/**
 * Return the servers that send over a connector: its bridgeheads, or all servers of both sites for a direct one.
 * @param {LabState} state
 * @param {Connector} connector
 */
function sendersOver(state, connector) {
  const { kind, bridgeheads, between } = connector;
  const running = Object.values(state.servers).filter((server) => server.status === "running");
  const site = (/** @type {string} */ name) => state.topology.servers[name]?.site ?? "";
  const bridges = new Set(Object.values(bridgeheads ?? {}));
  return running
    .filter(({ name }) => (kind === "direct" || !bridgeheads ? between.includes(site(name)) : bridges.has(name)))
    .map(({ name }) => name);
}
