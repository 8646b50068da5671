/** The panel of a server: what it has and lacks, what it will do next, and what can be done to it. */

import { PARTS } from "../../page.js";
import { folderName, setName } from "../../state/lab_state.js";
import { shortInstant } from "../../state/lab_time.js";
import { heldFolders, replicaSummary } from "../../state/summary.js";
import { html } from "../../vendor/preact.js";
import { ServerProspects } from "../expected.js";
import { Administration } from "./administration.js";
import { Backfill } from "./backfill.js";
import { HeldFolders } from "./held_folders.js";
import { Log } from "./log.js";
import { MailQueue } from "./mail_queue.js";
import { Directory } from "./organization/directory.js";
import { Notices } from "./notices.js";
import { ServerActions } from "./server_actions.js";
import { Settings } from "./settings.js";
import { SourceChoices } from "./source_choice.js";
import { StateTables } from "./state_tables.js";
import { Tabs } from "./tabs.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 */

/** The servers with a store that knows the organization. @type {Set<import("../../state/lab_state.js").ServerStatus>} */
const KNOWS = new Set(["running", "stopped", "killed"]);

/** @param {{store: Store, state: LabState, name: string}} props */
export function ServerPanel({ store, state, name }) {
  const part = store.page.part.value;
  const server = state.servers[name];
  const place = state.topology.servers[name];
  const folder = store.page.selection.value?.folder ?? "";
  const entries = Object.values(server.tables).reduce((sum, table) => sum + Object.keys(table.entries).length, 0);
  /** @type {Partial<Record<import("../../page.js").Part, number>>} */
  const counts = { backfill: entries, queue: Object.keys(server.queue).length };
  const ids = /** @type {import("../../page.js").Part[]} */ (Object.keys(PARTS));
  const tabs = ids.map((id) => ({ id, label: PARTS[id], count: counts[id] }));
  const props = { store, state, name, folder };
  return html`<h2>
      Server ${name} <span class="badge">${server.version}</span> <span class="badge">${place?.site}</span>
      ${" "}<span class=${`badge status-${server.status.replace(" ", "-")}`}>${server.status}</span>
      ${server.shows && html`${" "}<span class="badge warn">shows ${server.shows}</span>`}
    </h2>
    ${
      server.shows &&
      html`<p class="hint">
      This is the store of ${server.shows}, restored from a backup on another server. It is shown and never replicates (event 1117,
      RP-8). To use ${name} again, delete its store and create a new one.
    </p>`
    }
    <p class="hint">${glance(state, name, folder)}</p>
    ${server.revision < (state.topology.revision ?? 0) && KNOWS.has(server.status) && html`<p class="hint">Has not read the last change of the organization: it does so when it starts.</p>`}
    <${ServerProspects} ...${props} />
    ${store.source.live && html`<${ServerActions} ...${props} /><${Administration} ...${props} />`}
    <${Tabs} label="About the server" tabs=${tabs} chosen=${part} choose=${(/** @type {import("../../page.js").Part} */ id) => (store.page.part.value = id)}>
      ${["state", "backfill", "held"].includes(part) && html`<${FolderFilter} ...${props} />`}
      ${part === "state" && html`<${StateTables} ...${props} />`}
      ${part === "backfill" && html`<${Backfill} ...${props} /><${SourceChoices} ...${props} />`}
      ${part === "queue" && html`<${MailQueue} ...${props} />`}
      ${part === "notices" && html`<${Notices} ...${props} />`}
      ${part === "held" && html`<${HeldFolders} ...${props} />`}
      ${part === "log" && html`<${Log} ...${props} />`}
      ${part === "directory" && html`<${Directory} ...${props} />`}
      ${part === "settings" && html`<${Settings} ...${props} />`}
    </${Tabs}>`;
}

/**
 * Return the line below the name: the folder that needs attention most, and how long the server has known what it lacks.
 * @param {LabState} state
 * @param {string} name
 * @param {string} folder "" for all
 */
function glance(state, name, folder) {
  const server = state.servers[name];
  if (server.status === "not started") {
    const { joins = "start" } = state.topology.servers[name] ?? {};
    return joins === "start" ? "It has not started yet." : "Its store joins when the server is started.";
  }
  if (server.status === "deleted") return "Not in the directory: its store was deleted.";
  const replicas = (folder ? [folder] : heldFolders(state, name)).map((id) => replicaSummary(state, name, id));
  const behind = replicas.find((replica) => replica.missing.size) ?? (folder ? replicas[0] : undefined);
  if (!behind) return `${replicas.length} ${replicas.length === 1 ? "replica" : "replicas"}, nothing is missing`;
  const standing = `${folderName(state, behind.folder)} · ${behind.sync}`;
  if (!behind.missing.size) return standing;
  const entries = Object.values(server.tables[behind.folder]?.entries ?? {});
  const since = entries.length
    ? `known since ${shortInstant(Math.min(...entries.map((entry) => entry.madeAt)))}`
    : "not known here";
  return `${standing}: lacks ${setName(state, behind.missing)}, ${since}`;
}

/** @param {{store: Store, state: LabState, name: string, folder: string}} props */
function FolderFilter({ store, state, name, folder }) {
  const folders = heldFolders(state, name);
  const choose = (/** @type {string} */ id) =>
    store.page.select({ kind: "server", id: name, ...(id ? { folder: id } : {}) });
  return html`<label class="folder-filter"
    >Folder
    <select value=${folder} onChange=${(/** @type {any} */ event) => choose(event.target.value)}>
      <option value="">all ${folders.length}</option>
      ${[...new Set([...folders, ...(folder ? [folder] : [])])].map(
        (id) => html`<option value=${id} selected=${id === folder}>${folderName(state, id)}</option>`,
      )}
    </select>
  </label>`;
}
