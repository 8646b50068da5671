/** The folders whose replica a server has, with their state. */

import { node } from "../../api.js";
import { HIERARCHY, folderName, setName } from "../../state/lab_state.js";
import { parseInstant, shortInstant } from "../../state/lab_time.js";
import { heldFolders, replicaSummary, shownItems } from "../../state/summary.js";
import { html } from "../../vendor/preact.js";
import { useAnswer } from "../fetched.js";
import { sizeWords } from "../size_words.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 */

/**
 * @typedef {import("../../state/folder_properties.js").FolderView & {id: string}} View
 * @typedef {{folder: string, size: number, changed_at: string | null}} Instance
 *
 * @param {readonly View[]} views
 * @param {string} folder
 */
function scheduleOf(views, folder) {
  const view = views.find(({ id }) => id === folder);
  return view ? (view.schedule ?? "the store's") : "";
}

/** @param {{store: Store, state: LabState, name: string, folder: string}} props */
export function HeldFolders({ store, state, name, folder }) {
  const folders = heldFolders(state, name).filter((id) => !folder || id === folder);
  const runs = state.servers[name].status === "running";
  /** @type {View[] | undefined} */
  const views = useAnswer(store, runs ? node(name).folders : "", state.servers[name].tables[HIERARCHY]?.numbers).value;
  /** @type {Instance[] | undefined} */
  const instances = useAnswer(store, runs ? node(name).instances : "", state.count).value;
  const open = (/** @type {string} */ id) => {
    store.page.reader.value = { folder: id, server: name, beside: "" };
    store.page.view.value = "folders";
  };
  return html`<table class="held">
    <thead>
      <tr>
        <th scope="col">Folder</th>
        <th scope="col">State</th>
        <th scope="col">Items</th>
        ${instances && html`<th scope="col">Last change</th>`}
        ${views && html`<th scope="col">Schedule</th>`}
      </tr>
    </thead>
    <tbody>
      ${folders.map((id) => {
        const summary = replicaSummary(state, name, id);
        const items = Object.values(state.servers[name].tables[id]?.items ?? {});
        const conflicts = items.filter((item) => item.conflict.length).length;
        const missing = setName(state, summary.missing);
        const unsent = setName(state, summary.unsent);
        const instance = instances?.find((candidate) => candidate.folder === id);
        return html`<tr key=${id}>
          <th scope="row">
            ${
              id === HIERARCHY
                ? folderName(state, id)
                : html`<button class="link" onClick=${() => open(id)}>${folderName(state, id)}</button>`
            }
          </th>
          <td>
            ${summary.sync}
            ${missing && html`<div class="missing">lacks ${missing}</div>`}
            ${!missing && unsent && html`<div class="hint">${unsent} not sent yet</div>`}
          </td>
          <td>
            ${shownItems(state, name, id)}
            ${instance?.size ? html`<div class="hint">${sizeWords(instance.size).replace(" ", "\u00a0")}</div>` : null}
            ${conflicts > 0 && html`<div class="missing">${conflicts === 1 ? "1 conflict" : `${conflicts} conflicts`}</div>`}
          </td>
          ${instances && html`<td>${instance?.changed_at && shortInstant(parseInstant(instance.changed_at) ?? 0)}</td>`}
          ${views && html`<td>${scheduleOf(views, id)}</td>`}
        </tr>`;
      })}
    </tbody>
  </table>`;
}
