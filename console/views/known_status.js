/** The replication status as one server knows it, from the mails that it has received, beside what the whole lab knows. */

import { node } from "../api.js";
import { setName } from "../state/lab_state.js";
import { html } from "../vendor/preact.js";
import { isPresent, useAnswer } from "./fetched.js";

/**
 * @typedef {import("../store.js").Store} Store
 * @typedef {import("../state/lab_state.js").LabState} LabState
 * @typedef {import("../state/summary.js").ReplicaSummary} ReplicaSummary
 *
 * @typedef {object} Known What a server knows of a replica.
 * @property {string} store
 * @property {string} sync
 * @property {boolean} pending
 * @property {string} missing
 *
 * @typedef {Map<string, Map<string, Known>>} Statuses by folder and store
 */

/** The status of a thousand folders would be too much to ask for with each event. */
const MOST_FOLDERS = 60;

const LOOKS = {
  "in sync": { words: "in sync", style: "in-sync" },
  behind: { words: "behind", style: "behind lag-1" },
  "locally modified": { words: "modified", style: "locally-modified" },
  "not yet heard": { words: "not yet heard", style: "pending" },
};

/**
 * Return what a server knows of all replicas; null if the lab's own knowledge is wanted, or the server has not answered.
 * @param {Store} store
 * @param {LabState} state
 * @param {string} server "" for the lab
 * @returns {Statuses | null}
 */
export function useKnown(store, state, server) {
  const running = state.servers[server]?.status === "running";
  const many = Object.keys(state.folders).length > MOST_FOLDERS;
  const { value } = useAnswer(store, running ? node(server).replicationStatus() : "", many ? 0 : state.count);
  if (!value) return null;
  return new Map(
    value.map((/** @type {{folder: string, replicas: Known[]}} */ { folder, replicas }) => [
      folder,
      new Map(replicas.map((replica) => [replica.store, replica])),
    ]),
  );
}

/** The choice of whose knowledge is shown. @param {{store: Store, state: LabState, chosen: string, choose: (server: string) => void}} props */
export function Knower({ store, state, chosen, choose }) {
  if (!store.source.live) return null;
  return html`<label
    >As known by
    <select value=${chosen} onChange=${(/** @type {any} */ event) => choose(event.target.value)}>
      <option value="">the whole lab</option>
      ${Object.values(state.servers).map(
        ({ name, status }) => html`<option value=${name} disabled=${status !== "running"}>server ${name}</option>`,
      )}
    </select>
  </label>`;
}

/** Say what is shown. @param {{store: Store, server: string, known: Statuses | null}} props */
export function KnowerNote({ store, server, known }) {
  if (!server) return null;
  if (!isPresent(store))
    return html`<p class="hint">What a server knows can be shown only in the present of a live lab; this is the lab's own knowledge.</p>`;
  if (!known) return html`<p class="hint" role="status">Asking ${server} …</p>`;
  return html`<p class="hint">
    What ${server} knows from the mails that it has received. Where the lab knows more, the cell says so.
  </p>`;
}

/**
 * A replica as a server knows it.
 * @param {{store: Store, state: LabState, server: string, known: Known | undefined, replica: ReplicaSummary}} props
 */
export function KnownStanding({ store, state, server, known, replica }) {
  if (!known) return html`<small class="hint">not known to ${server}</small>`;
  const look = LOOKS[/** @type {keyof typeof LOOKS} */ (known.sync)];
  const lacks = known.missing ? `, lacks ${known.missing}` : "";
  const differs = replica.missing.size > 0 && !["behind", "pending"].includes(known.sync);
  return html`<button
    class=${`sync ${look?.style ?? ""}`}
    title=${`${replica.server}, as ${server} knows it: ${known.sync}${lacks}`}
    onClick=${() => store.page.select({ kind: "server", id: replica.server, folder: replica.folder })}
  >
    ${known.pending ? "pending" : (look?.words ?? known.sync)}
    ${differs && html` <small>lab: lacks ${setName(state, replica.missing)}</small>`}
  </button>`;
}
