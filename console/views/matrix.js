/** The view "Replicas": which server has all changes of which folder, and for one folder which changes of which store. */

import * as numbers from "../state/change_numbers.js";
import { folderName, HIERARCHY, setName } from "../state/lab_state.js";
import { duration, SECOND_US, shortInstant } from "../state/lab_time.js";
import { LAG_STEPS, lagStep, oldestOf, originTable, sortedFolders } from "../state/matrix.js";
import { hasReplica, visibleText } from "../state/posts.js";
import { shownItems } from "../state/summary.js";
import { completion } from "./expected.js";
import { html, useState } from "../vendor/preact.js";
import { KnowerNote, Knower, KnownStanding, useKnown } from "./known_status.js";

/**
 * @typedef {import("../store.js").Store} Store
 * @typedef {import("../state/lab_state.js").LabState} LabState
 * @typedef {import("../state/matrix.js").Order} Order
 * @typedef {import("../state/summary.js").ReplicaSummary} ReplicaSummary
 */

/** How many folders are on a page; a lab can have a thousand. */
const PAGE = 60;

/** @type {[Order, string][]} */
const ORDERS = [
  ["trouble", "trouble first"],
  ["lag", "longest behind first"],
  ["missing", "most missing first"],
  ["name", "name"],
];

/** The texts of the cells that need no number. "behind" is one if the changes themselves are not known. */
const SHORT = {
  "in sync": "in sync",
  behind: "behind",
  "locally modified": "modified",
  pending: "leaving",
  away: "away",
};

/** @param {{store: Store, state: LabState}} props */
export function Matrix({ store, state }) {
  const opened = store.page.origins.value;
  const folder = opened !== null && state.folders[opened] && !state.folders[opened].deleted ? opened : null;
  return html`<div class="matrix scroll">
    ${
      folder === null
        ? html`<${FolderTable} store=${store} state=${state} />`
        : html`<${OriginTable} store=${store} state=${state} folder=${folder} />`
    }
    <${Legend} />
  </div>`;
}

/** Folders by servers. @param {{store: Store, state: LabState}} props */
function FolderTable({ store, state }) {
  const [filter, setFilter] = useState("");
  const [order, setOrder] = useState(/** @type {Order} */ ("trouble"));
  const [troubleOnly, setTroubleOnly] = useState(false);
  const [page, setPage] = useState(0);
  const [knower, setKnower] = useState("");
  const statuses = useKnown(store, state, knower);
  const servers = Object.keys(state.servers);
  const folders = sortedFolders(state, { filter, order, troubleOnly });
  const last = Math.max(0, Math.ceil(folders.length / PAGE) - 1);
  const first = Math.min(page, last) * PAGE;
  const visible = folders.slice(first, first + PAGE);
  const now = store.clock.labTime();
  return html`<div class="tools">
      <input
        type="search"
        placeholder="Filter"
        aria-label="Show only folders whose path contains"
        value=${filter}
        onInput=${(/** @type {any} */ event) => setFilter(event.target.value)}
      />
      <label
        >Sort by
        <select value=${order} onChange=${(/** @type {any} */ event) => setOrder(event.target.value)}>
          ${ORDERS.map(([criterion, label]) => html`<option value=${criterion}>${label}</option>`)}
        </select>
      </label>
      <label
        ><input
          type="checkbox"
          checked=${troubleOnly}
          onChange=${(/** @type {any} */ event) => setTroubleOnly(event.target.checked)}
        />
        ${" "}only folders that do not agree</label
      >
      <${Knower} store=${store} state=${state} chosen=${knower} choose=${setKnower} />
      <span class="space"></span>
      ${
        last > 0 &&
        html`<span class="pages">
        <button aria-label="Previous page" disabled=${first === 0} onClick=${() => setPage(first / PAGE - 1)}>◀</button>
        ${" "}${first + 1}–${Math.min(first + PAGE, folders.length)} of ${folders.length}${" "}
        <button aria-label="Next page" disabled=${first / PAGE >= last} onClick=${() => setPage(first / PAGE + 1)}>▶</button>
      </span>`
      }
    </div>
    <${KnowerNote} store=${store} server=${knower} known=${statuses} />
    <table>
      <caption class="sr">
        Which server has all changes of which folder
      </caption>
      <thead>
        <tr>
          <th scope="col">Folder</th>
          ${servers.map((name) => html`<th scope="col">${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${visible.map(
          ({ folder, replicas, leaving }) => html`<tr key=${folder}>
            <th scope="row">
              <button
                class="link"
                title="For each server: how far it has the changes of each store"
                onClick=${() => (store.page.origins.value = folder)}
              >
                <bdi>${visibleText(folderName(state, folder))}</bdi>
              </button>
            </th>
            ${servers.map((name) => {
              const replica = [...replicas, ...leaving].find((candidate) => candidate.server === name);
              if (!replica) return html`<td class="none"><span class="sr">no replica</span></td>`;
              return html`<td class="cell">
                ${
                  statuses
                    ? html`<${KnownStanding}
                        store=${store}
                        state=${state}
                        server=${knower}
                        known=${statuses.get(folder)?.get(name)}
                        replica=${replica}
                      />`
                    : html`<${Standing} store=${store} state=${state} replica=${replica} now=${now} />`
                }
              </td>`;
            })}
          </tr>`,
        )}
      </tbody>
    </table>
    ${folders.length === 0 && html`<p class="hint">${troubleOnly ? "All these folders agree." : "No such folder."}</p>`}`;
}

/**
 * The state of a replica as a button. Its colour says how long the oldest missing change has existed.
 * @param {{store: Store, state: LabState, replica: ReplicaSummary, now: number}} props
 */
function Standing({ store, state, replica, now }) {
  const { folder, server, sync, missing, unsent } = replica;
  const since = missing.size ? oldestOf(state, missing) : null;
  const lag = since === null ? null : Math.max(0, now - since);
  const lacks = missing.size ? `, lacks ${setName(state, missing)}` : "";
  const waits = unsent.size ? `, has not sent ${setName(state, unsent)}` : "";
  const oldest = lag === null ? "" : `, the oldest for ${duration(lag)}`;
  const behind = sync === "behind";
  const expected = missing.size ? completion(store, server, folder) : "";
  return html`<button
    class=${`sync ${sync.replace(" ", "-")} ${behind && lag !== null ? `lag-${lagStep(lag)}` : ""}`}
    title=${`${server}: ${sync}${lacks}${oldest}${waits}`}
    onClick=${() => store.page.select({ kind: "server", id: server, folder })}
  >
    ${behind ? html`lacks <b>${numbers.count(missing)}</b>${lag !== null && lag >= SECOND_US && html` <small>for ${duration(lag)}</small>`}` : SHORT[sync]}
    ${!behind && missing.size > 0 && html` <b>(lacks ${numbers.count(missing)})</b>`}
    ${expected && html`<small class="expected">${expected}</small>`}
  </button>`;
}

/** For one folder: servers by the stores that made its changes. @param {{store: Store, state: LabState, folder: string}} props */
function OriginTable({ store, state, folder }) {
  const { origins, rows } = originTable(state, folder);
  const now = store.clock.labTime();
  const folders = sortedFolders(state, { filter: "", order: "name", troubleOnly: false });
  const openPosts = (/** @type {string} */ server) => {
    store.page.reader.value = { folder, server, beside: store.page.reader.value.beside === null ? null : "" };
    store.page.view.value = "folders";
  };
  return html`<div class="tools">
      <button onClick=${() => (store.page.origins.value = null)}>◀ All folders</button>
      <label
        >Folder
        <select value=${folder} onChange=${(/** @type {any} */ event) => (store.page.origins.value = event.target.value)}>
          ${folders.map(
            (candidate) =>
              html`<option value=${candidate.folder} selected=${candidate.folder === folder}>
              ${visibleText(folderName(state, candidate.folder))}
            </option>`,
          )}
        </select>
      </label>
    </div>
    <p class="hint">
      Each row is a server, each column a store that made changes in the folder. A cell says which of these changes the server has.
    </p>
    <table>
      <caption class="sr">
        For each server: how far it has the changes of each store
      </caption>
      <thead>
        <tr>
          <th scope="col">Server</th>
          <th scope="col">Replica</th>
          <th scope="col">Items</th>
          ${origins.map(({ name, total }) => html`<th scope="col">made by ${name} <small>(${total})</small></th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ({ replica, cells }) => html`<tr key=${replica.server}>
            <th scope="row">
              ${
                folder === HIERARCHY || !hasReplica(state, replica.server, folder)
                  ? replica.server
                  : html`<button class="link" title="Show its posts" onClick=${() => openPosts(replica.server)}>
                  ${replica.server}
                </button>`
              }
            </th>
            <td class="cell"><${Standing} store=${store} state=${state} replica=${replica} now=${now} /></td>
            <td class="items">${shownItems(state, replica.server, folder)}</td>
            ${cells.map(({ has, count, missing, since }, index) => {
              const { total } = origins[index];
              const step = missing && since !== null ? `lag-${lagStep(Math.max(0, now - since))}` : "";
              return html`<td class="origin">
                <div class=${missing ? `sync behind ${step}` : "sync in-sync"}>
                  ${has || "nothing"}${missing && html` <small>${count} of ${total}</small>`}
                  ${
                    missing &&
                    html`<div class="lacks">
                    lacks ${missing}${since !== null && html` <small>since ${shortInstant(since)}</small>`}
                  </div>`
                  }
                </div>
              </td>`;
            })}
          </tr>`,
        )}
      </tbody>
    </table>
    ${origins.length === 0 && html`<p class="hint">Nothing has been changed in this folder.</p>`}`;
}

function Legend() {
  return html`<ul class="legend lags">
    <li>The oldest missing change was made</li>
    ${LAG_STEPS.map(({ words }, step) => html`<li><i class=${`sync behind lag-${step}`}></i>${words} ago</li>`)}
    <li><i class="sync in-sync"></i>in sync</li>
    <li><i class="sync locally-modified"></i>has changes that it has not sent</li>
  </ul>`;
}
