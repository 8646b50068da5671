/** Administration of folders: a new folder, and the properties of a folder, which include its replicas. */

import { node } from "../../api.js";
import { changedProperties, PROPERTIES, textOf, wordsOf } from "../../state/folder_properties.js";
import { folderName } from "../../state/lab_state.js";
import { folderTree, hasReplica, visibleText } from "../../state/posts.js";
import { html, useState } from "../../vendor/preact.js";
import { useAnswer } from "../fetched.js";
import { ReplicationOrders } from "../panel/administration.js";
import { AskCost } from "../cost.js";
import { Choice, InTerminal, ownLabels, taking } from "../panel/organization/form_parts.js";
import { SchedulePicker } from "../schedule_picker.js";
import { RenameOrMove, SubtreeReplicas } from "./folder_orders.js";
import { Modal } from "./modal.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 * @typedef {import("../../state/folder_properties.js").FolderView} FolderView
 * @typedef {import("../../state/folder_properties.js").PropertyName} PropertyName
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

/** @param {LabState} state */
const running = (state) => Object.keys(state.servers).filter((name) => state.servers[name].status === "running");

/** Which running server does it. @param {{state: LabState, server: string}} props */
function OnServer({ state, server }) {
  return html`<label
    >On server
    <select name="server" defaultValue=${server}>
      ${running(state).map((name) => html`<option value=${name} selected=${name === server}>${name}</option>`)}
    </select>
  </label>`;
}

/** @param {Props} props */
export function NewFolderDialog({ store, state, server, folder, onClose }) {
  const [problem, order] = useOrder(store, onClose);
  const [parent, setParent] = useState(folderTree(state).find((row) => row.id === folder)?.path ?? "");
  const [name, setName] = useState("");
  const path = parent ? `${parent}/${name.trim()}` : name.trim();
  const submit = async (/** @type {any} */ event) => {
    event.preventDefault();
    const replicas = ticked(event.target, "replica");
    const created = await order(node(event.target.elements.server.value).folders, "POST", { path, replicas });
    if (created)
      store.page.reader.value = {
        folder: created.id,
        server: "",
        beside: store.page.reader.value.beside === null ? null : "",
      };
  };
  const replicas = state.folders[folder]?.replicas ?? Object.keys(state.servers);
  /** @type {[string, string][]} */
  const places = [
    ["", "(at the top)"],
    ...ownLabels(
      folderTree(state).map((row) => row.path),
      visibleText,
    ),
  ];
  return html`<${Modal} title="New folder" onClose=${onClose}>
    <form onSubmit=${submit}>
      <label
        >Name
        <input
          name="name"
          maxlength="200"
          pattern="[^\\/]+"
          title="A name has no slash"
          required
          dir="auto"
          value=${name}
          onInput=${taking(setName)}
        />
      </label>
      <${Choice} label="In" name="parent" value=${parent} options=${places} set=${setParent} />
      <p class="hint" role="status">
        ${parent ? html`It will be a subfolder of <b><bdi>${visibleText(parent)}</bdi></b>` : html`It will be <b>at the top</b>`}${name.trim() && html`: <bdi>${visibleText(path)}</bdi>`}.
        ${parent && html` <button type="button" class="link" onClick=${() => setParent("")}>Put it at the top</button>`}
      </p>
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
  const [holders] = useState(state.folders[folder].replicas);
  const [replicas, setReplicas] = useState(holders);
  const [texts, setTexts] = useState(/** @type {Partial<Record<PropertyName, string>>} */ ({}));
  const [sure, setSure] = useState(false);
  const [name, setName] = useState(hasReplica(state, server, folder) ? server : holders[0]);
  const pending = Object.keys(state.servers).filter((candidate) => state.servers[candidate].tables[folder]?.pending);
  const { value: folders } = useAnswer(store, node(name).folders, state.folders[folder].path);
  /** @type {FolderView | undefined} */
  const view = folders?.find((/** @type {{id: string}} */ { id }) => id === folder);
  /** Its path on this server, which may not know yet that it has another name. */
  const path = view?.path ?? folderName(state, folder);
  const changes = {
    ...(!sameNames(replicas, holders) && { replicas }),
    ...(view && changedProperties(view, texts)),
  };
  const isSame = Object.keys(changes).length === 0;
  const edit = (/** @type {any} */ event) => {
    const { name: edited, value } = event.target;
    if (edited === "replica") setReplicas(ticked(event.currentTarget, "replica"));
    else if (edited) setTexts({ ...texts, [edited]: value });
  };
  const submit = (/** @type {any} */ event) => {
    event.preventDefault();
    void order(node(name).folder(path), "PATCH", changes);
  };
  const propagate = () => {
    const properties = ["replicas", ...PROPERTIES.filter(({ unique }) => !unique).map((property) => property.name)];
    void order(node(name).propagate, "POST", { folder: path, properties });
  };
  const remove = () => {
    if (sure) void order(node(name).folder(path), "DELETE");
    else setSure(true);
  };
  return html`<${Modal} title=${`Properties of ${visibleText(folderName(state, folder))}`} onClose=${onClose}>
    <form onSubmit=${submit} onInput=${edit}>
      <label
        >On server
        <select value=${name} onChange=${(/** @type {any} */ event) => setName(event.target.value)}>
          ${running(state).map((candidate) => html`<option value=${candidate} selected=${candidate === name}>${candidate}</option>`)}
        </select>
      </label>
      <${Replicas} state=${state} chosen=${holders} />
      <p class="hint">
        A new replica gets its content by backfill. A replica that is removed stays until another one has all of its
        content.
      </p>
      ${pending.length > 0 && html`<p class="hint">Being removed: ${pending.join(", ")}</p>`}
      ${
        view &&
        html`<${Properties}
          view=${view}
          texts=${texts}
          set=${(/** @type {PropertyName} */ property, /** @type {string} */ text) => setTexts({ ...texts, [property]: text })}
          version=${state.servers[name].version}
        />`
      }
      ${!isSame && html`<${InTerminal} method="PATCH" path=${node(name).folder(path)} body=${changes} />`}
      ${changes.replicas && html`<${AskCost} store=${store} steps=${replicaSteps(name, path, holders, replicas)} />`}
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      <div class="row">
        <button class="primary" disabled=${isSame}>Save</button>
        <button type="button" onClick=${onClose}>Cancel</button>
        <button
          type="button"
          title="Replicas and all properties above, as they are now, but not the mail address"
          onClick=${propagate}
        >
          Give them to all subfolders
        </button>
        <span class="space"></span>
        <button type="button" class="danger" onClick=${remove}>
          ${sure ? "Really delete it with all its subfolders" : "Delete the folder"}
        </button>
      </div>
    </form>
    <h3>Name and place</h3>
    <${RenameOrMove} key=${path} state=${state} server=${name} path=${path} order=${order} />
    <h3>Replicas of the folder and all its subfolders</h3>
    <${SubtreeReplicas}
      store=${store}
      state=${state}
      server=${name}
      path=${path}
      order=${order}
      holders=${holders}
      tell=${(/** @type {string} */ text) => store.orders.tell(text)}
    />
    <h3>Replication</h3>
    <${ReplicationOrders} store=${store} state=${state} name=${name} folder=${path} words="its content" />
    <p class="hint" role="status">${store.orders.notice.value}</p>
  <//>`;
}

/**
 * Return the steps that change the replicas of a folder. What is added comes first, so that no step leaves it without a replica.
 * @param {string} on @param {string} folder @param {readonly string[]} holders @param {readonly string[]} wanted
 */
function replicaSteps(on, folder, holders, wanted) {
  const add = wanted.filter((name) => !holders.includes(name));
  const remove = holders.filter((name) => !wanted.includes(name));
  return [
    ...(add.length ? [{ replica: { on, folder, add } }] : []),
    ...(remove.length ? [{ replica: { on, folder, remove } }] : []),
  ];
}

/** @param {readonly string[]} names @param {readonly string[]} others */
const sameNames = (names, others) => names.length === others.length && names.every((name) => others.includes(name));

/**
 * @param {{
 *   view: FolderView,
 *   texts: Partial<Record<PropertyName, string>>,
 *   set: (property: PropertyName, text: string) => void,
 *   version: string,
 * }} props texts: what was edited; version: of the server that is administered
 */
function Properties({ view, texts, set, version }) {
  return html`<div class="properties-grid">
    ${PROPERTIES.map(
      (property) => html`<label title=${wordsOf(property, version).title}
        >${wordsOf(property, version).label}
        <input
          name=${property.name}
          list=${`examples-${property.name}`}
          value=${texts[property.name] ?? textOf(view, property)}
        />
        <datalist id=${`examples-${property.name}`}>
          ${property.examples.map((example) => html`<option value=${example}></option>`)}
        </datalist>
      </label>`,
    )}
  </div>
  ${PROPERTIES.filter(({ name }) => name === "schedule").map(
    (property) => html`<${SchedulePicker}
      text=${texts.schedule ?? textOf(view, property)}
      set=${(/** @type {string} */ text) => set("schedule", text)}
      version=${version}
      of="the folder"
      inherits
    />`,
  )}`;
}
