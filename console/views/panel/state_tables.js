/** A store's replication state tables, laid out as Microsoft's tools printed them. */

import { node } from "../../api.js";
import { shortInstant } from "../../state/lab_time.js";
import { stateTable } from "../../state/state_table.js";
import { heldFolders, replicaSummary } from "../../state/summary.js";
import { html, useState } from "../../vendor/preact.js";
import { Relative, useAnswer } from "../fetched.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 */

/** How many tables are shown at first. A server can have a thousand folders. */
const MOST_TABLES = 12;

/** What the numbers of no server are. */
const SETUP = "Setup: the folders with which the organization began, which every store has from its start";

/** @param {{store: Store, state: LabState, name: string, folder: string}} props */
export function StateTables({ store, state, name, folder }) {
  const [all, setAll] = useState(false);
  const folders = (folder ? [folder] : heldFolders(state, name))
    .map((id) => replicaSummary(state, name, id))
    .sort((a, b) => rank(a) - rank(b))
    .map((replica) => replica.folder);
  const visible = all ? folders : folders.slice(0, MOST_TABLES);
  // The average times of a thousand folders would be too much to ask for with each event.
  const asks = state.servers[name].status === "running" && (folder || folders.length <= MOST_TABLES);
  const path = asks ? node(name).replicationStatus(folder) : "";
  const { value: statuses } = useAnswer(store, path, state.count);
  /** @type {Record<string, any>} */
  const replicas = {};
  for (const status of statuses ?? [])
    for (const replica of status.replicas) replicas[`${status.folder} ${replica.store}`] = replica;
  const pointed = store.page.highlight.value?.servers.includes(name) ? store.page.highlight.value.row : null;
  return html`${visible.map(
    (id) => html`<table class="state" key=${id}>
      <thead>
        <tr>
          <th scope="col">Replica</th>
          <th scope="col">Data</th>
          <th scope="col">Last heard</th>
        </tr>
      </thead>
      <tbody>
        ${stateTable(state, name, id).map((row) => {
          const transit = replicas[`${id} ${row.store}`]?.transmission_us;
          return html`<tr key=${row.store} class=${row.store === pointed ? "pointed" : ""}>
            <th scope="row">${row.replica}${row.local && html` <small>(local replica)</small>`}</th>
            <td>${row.data.map((line) => html`<div class=${line.kind} title=${line.text.includes("Setup-") ? SETUP : ""}>${line.text}</div>`)}</td>
            <td>
              ${row.heardAt !== null && html`<span title=${shortInstant(row.heardAt)}><${Relative} store=${store} at=${row.heardAt} /></span>`}
              ${!row.local && row.heardAt === null && html`<span class="hint">never</span>`}
              ${row.local && html`<${LastSent} store=${store} state=${state} name=${name} folder=${id} />`}
              ${typeof transit === "number" && html`<div class="hint" title="Average transmission time of its mails">mails take ${span(transit)}</div>`}
            </td>
          </tr>`;
        })}
      </tbody>
    </table>`,
  )}
  ${folders.length > visible.length && html`<button onClick=${() => setAll(true)}>Show all ${folders.length} folders</button>`}`;
}

/** @param {{store: Store, state: LabState, name: string, folder: string}} props */
function LastSent({ store, state, name, folder }) {
  const sentAt = state.servers[name].tables[folder]?.sentAt;
  return sentAt
    ? html`<span class="hint" title=${shortInstant(sentAt)}>sent <${Relative} store=${store} at=${sentAt} /></span>`
    : null;
}

/** What needs attention first. @param {import("../../state/summary.js").ReplicaSummary} replica */
function rank(replica) {
  return ["behind", "pending", "locally modified"].indexOf(replica.sync) === -1 ? 1 : 0;
}

/** @param {number} spanUs */
function span(spanUs) {
  return spanUs < 1e6
    ? `${Math.round(spanUs / 1000)} ms`
    : spanUs < 6e7
      ? `${(spanUs / 1e6).toFixed(1)} s`
      : `${Math.round(spanUs / 6e7)} min`;
}
