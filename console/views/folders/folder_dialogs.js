/** Administration of folders: a new folder, and which servers have a replica of a folder. */

import { node } from "../../api.js";
import { folderName } from "../../state/lab_state.js";
import { folderTree, hasReplica, visibleText } from "../../state/posts.js";
import { html, useState } from "../../vendor/preact.js";
import { Modal } from "./modal.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 * @typedef {{store: Store, state: LabState, server: string, folder: string, onClose: () => void}} Props
 */

/**
 * Send a request, and close the dialog when the server has done it. Returns what went wrong, and the function that sends.
 * @param {Store} store
 * @param {() => void} onClose
 * @returns {[string, (path: string, method: string, body?: unknown) => Promise<any>]}
 */
function useOrder(store, onClose) {
  const [problem, setProblem] = useState("");
  return [
    problem,
    async (path, method, body) => {
      try {
        const answer = await store.source.request(path, { method, body });
        onClose();
        return answer;
      } catch (error) {
        setProblem(error instanceof Error ? error.message : String(error));
        return null;
      }
    },
  ];
}

/**
 * @param {any} form
 * @param {string} name
 * @returns {string[]} the values of the boxes that are ticked
 */
const ticked = (form, name) =>
  [...form.querySelectorAll(`input[name="${name}"]:checked`)].map((/** @type {HTMLInputElement} */ box) => box.value);

/** Which running server does it. @param {{state: LabState, server: string}} props */
function OnServer({ state, server }) {
  const running = Object.values(state.servers).filter((each) => each.status === "running");
  return html`<label
    >On server
    <select name="server" defaultValue=${server}>
      ${running.map(({ name }) => html`<option value=${name} selected=${name === server}>${name}</option>`)}
    </select>
  </label>`;
}

/** @param {Props} props */
export function NewFolderDialog({ store, state, server, folder, onClose }) {
  const [problem, order] = useOrder(store, onClose);
  const submit = async (/** @type {any} */ event) => {
    event.preventDefault();
    const { parent, name, server: on } = event.target.elements;
    const path = parent.value ? `${parent.value}/${name.value}` : name.value;
    const replicas = ticked(event.target, "replica");
    const made = await order(node(on.value).folders, "POST", { path, replicas });
    if (made)
      store.page.reader.value = {
        folder: made.id,
        server: "",
        beside: store.page.reader.value.beside === null ? null : "",
      };
  };
  const replicas = state.folders[folder]?.replicas ?? Object.keys(state.servers);
  return html`<${Modal} title="New folder" onClose=${onClose}>
    <form onSubmit=${submit}>
      <label>Name <input name="name" maxlength="200" pattern="[^\\/]+" title="A name has no slash" required dir="auto" /></label>
      <label
        >In
        <select name="parent">
          <option value="">(at the top)</option>
          ${folderTree(state).map(
            (row) => html`<option value=${row.path} selected=${row.id === folder}>${visibleText(row.path)}</option>`,
          )}
        </select>
      </label>
      <${Replicas} state=${state} chosen=${replicas} />
      <${OnServer} state=${state} server=${server} />
      <p class="hint">The other servers know the folder when the change of the hierarchy arrives.</p>
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      <div class="row">
        <button class="primary">Create</button>
        <button type="button" onClick=${onClose}>Cancel</button>
      </div>
    </form>
  <//>`;
}

/** @param {{state: LabState, chosen: readonly string[]}} props */
function Replicas({ state, chosen }) {
  return html`<fieldset>
    <legend>Replicas on</legend>
    ${Object.keys(state.servers).map(
      (name) =>
        html`<label class="tick"
          ><input type="checkbox" name="replica" value=${name} defaultChecked=${chosen.includes(name)} /> ${name}</label
        >`,
    )}
  </fieldset>`;
}

/** @param {Props} props */
export function FolderDialog({ store, state, server, folder, onClose }) {
  const [problem, order] = useOrder(store, onClose);
  const [chosen] = useState(state.folders[folder].replicas);
  const [sure, setSure] = useState(false);
  const path = folderName(state, folder);
  const pending = Object.keys(state.servers).filter((name) => state.servers[name].tables[folder]?.pending);
  const submit = (/** @type {any} */ event) => {
    event.preventDefault();
    const replicas = ticked(event.target, "replica");
    void order(node(event.target.elements.server.value).folder(path), "PATCH", { replicas });
  };
  const remove = (/** @type {any} */ event) => {
    const on = event.target.form.elements.server.value;
    if (sure) void order(node(on).folder(path), "DELETE");
    else setSure(true);
  };
  return html`<${Modal} title=${`Replicas of ${visibleText(path)}`} onClose=${onClose}>
    <form onSubmit=${submit}>
      <${Replicas} state=${state} chosen=${chosen} />
      <${OnServer} state=${state} server=${hasReplica(state, server, folder) ? server : chosen[0]} />
      <p class="hint">
        A new replica gets its content by backfill. A replica that is removed stays until another one has all of its
        content.
      </p>
      ${pending.length > 0 && html`<p class="hint">Being removed: ${pending.join(", ")}</p>`}
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      <div class="row">
        <button class="primary">Save</button>
        <button type="button" onClick=${onClose}>Cancel</button>
        <span class="space"></span>
        <button type="button" class="danger" onClick=${remove}>
          ${sure ? "Really delete it with all its subfolders" : "Delete the folder"}
        </button>
      </div>
    </form>
  <//>`;
}
