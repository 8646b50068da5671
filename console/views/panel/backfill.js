/** A store's backfill array: what it knows to be missing, and when it will ask for it. */

import { folderName, setName } from "../../state/lab_state.js";
import { shortInstant } from "../../state/lab_time.js";
import { html } from "../../vendor/preact.js";
import { Relative } from "../fetched.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 */

/** @param {{store: Store, state: LabState, name: string, folder: string}} props */
export function Backfill({ store, state, name, folder }) {
  const tables = Object.entries(state.servers[name].tables).filter(([id]) => !folder || id === folder);
  const entries = tables
    .flatMap(([id, table]) => Object.values(table.entries).map((entry) => ({ id, entry })))
    .sort((a, b) => a.entry.dueAt - b.entry.dueAt);
  if (entries.length === 0)
    return html`<p class="hint">The backfill array is empty: ${name} knows of nothing that it lacks.</p>`;
  return html`<table class="backfill">
    <thead>
      <tr>
        <th scope="col">Missing</th>
        <th scope="col">Known since</th>
        <th scope="col">Asks at</th>
        <th scope="col">Asked</th>
      </tr>
    </thead>
    <tbody>
      ${entries.map(
        ({ id, entry }) => html`<tr key=${`${id} ${entry.id}`}>
          <th scope="row">
            <span class="missing">${setName(state, entry.missing)}</span>
            <div class="hint">${folderName(state, id)}</div>
          </th>
          <td>
            ${shortInstant(entry.madeAt)}
            <div class="hint">${entry.local ? "known in the same site" : "known outside the site"}</div>
          </td>
          <td>
            ${shortInstant(entry.dueAt)} <span class="badge"><${Relative} store=${store} at=${entry.dueAt} /></span>
            ${entry.waitsForSlot && html`<div class="hint">waits for a free slot</div>`}
          </td>
          <td>
            ${entry.requests.length === 0 && html`<span class="hint">not yet</span>`}
            ${entry.requests.map(
              (request) => html`<div title=${`again at ${shortInstant(request.retryAt)}`}>
                ${request.source} <span class="hint">at ${shortInstant(request.at)}</span>
              </div>`,
            )}
            ${entry.attempts > 0 && html`<div class="hint">${entry.attempts} without an answer</div>`}
          </td>
        </tr>`,
      )}
    </tbody>
  </table>`;
}
