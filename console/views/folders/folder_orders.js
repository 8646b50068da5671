/** Orders for a folder with its subfolders: another name or place in the tree, and replicas of all of them. */

import { node } from "../../api.js";
import { folderTree, visibleText } from "../../state/posts.js";
import { html, useState } from "../../vendor/preact.js";
import { AskCost } from "../cost.js";
import { Choice, InTerminal, ownLabels, taking } from "../panel/organization/form_parts.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 *
 * @typedef {object} Props
 * @property {LabState} state
 * @property {string} server which running server does it
 * @property {string} path of the folder
 * @property {(path: string, method: string, body?: unknown) => Promise<any>} order sends a request; null: it was refused
 */

/** @param {Props} props */
export function RenameOrMove({ state, server, path, order }) {
  const above = path.slice(0, Math.max(0, path.lastIndexOf("/")));
  const own = above ? path.slice(above.length + 1) : path;
  const [name, setName] = useState(own);
  const [parent, setParent] = useState(above);
  const fields = { ...(name !== own && { rename: name }), ...(parent !== above && { move_to: parent }) };
  const isSame = Object.keys(fields).length === 0;
  const places = folderTree(state).filter((row) => !`${row.path}/`.startsWith(`${path}/`));
  /** @type {[string, string][]} */
  const options = [
    ["", "(at the top)"],
    ...ownLabels(
      places.map((row) => row.path),
      visibleText,
    ),
  ];
  const change = (/** @type {any} */ event) => {
    event.preventDefault();
    void order(node(server).folder(path), "PATCH", fields);
  };
  return html`<form class="order" aria-label="Name and place" onSubmit=${change}>
    <div class="row">
      <button disabled=${isSame}>Rename or move</button>
      <label
        >name
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
      <${Choice} label="in" name="parent" value=${parent} options=${options} set=${setParent} />
    </div>
    ${!isSame && html`<${InTerminal} method="PATCH" path=${node(server).folder(path)} body=${fields} />`}
  </form>`;
}

const WAYS = { add: "Add a replica on", remove: "Remove the replica on", replace: "Replace the replica on" };

/** @param {Props & {store: Store, holders: readonly string[], tell: (text: string) => void}} props tell: says what was done */
export function SubtreeReplicas({ store, state, server, path, order, holders, tell }) {
  const servers = Object.keys(state.servers);
  const [way, setWay] = useState("add");
  const [chosen, setChosen] = useState(servers.find((name) => !holders.includes(name)) ?? servers[0]);
  const [wanted, setWanted] = useState("");
  if (servers.length < 2) return null;
  const others = servers.filter((name) => name !== chosen);
  const by = others.includes(wanted) ? wanted : others[0];
  const isReplaced = way === "replace";
  const body = { folder: path, ...(isReplaced ? { replace: chosen, by } : { [way]: [chosen] }) };
  const change = async (/** @type {any} */ event) => {
    event.preventDefault();
    const answer = await order(node(server).replicas, "POST", body);
    if (!answer) return;
    const kept = answer.kept.length ? ` Folders that keep their last replica: ${answer.kept.length}.` : "";
    tell(`Folders whose replicas change: ${answer.folders.length}.${kept}`);
  };
  return html`<form class="order" aria-label="Replicas of all subfolders" onSubmit=${change}>
    <div class="row">
      <button>Change all subfolders</button>
      <${Choice} label="order" name="way" value=${way} options=${Object.entries(WAYS)} set=${setWay} />
      <${Choice} label="server" name="replica" value=${chosen} options=${ownLabels(servers)} set=${setChosen} />
      ${isReplaced && html`<${Choice} label="by" name="by" value=${by} options=${ownLabels(others)} set=${setWanted} />`}
    </div>
    <p class="hint">
      Of this folder too. Other properties stay as they are. A server that is removed or replaced keeps its data until another
      holder has all of it.
    </p>
    <${InTerminal} method="POST" path=${node(server).replicas} body=${body} />
    <${AskCost} store=${store} steps=${[{ replicas: { on: server, ...body } }]} />
  </form>`;
}
