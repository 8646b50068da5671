/** The posts of a folder on one server, or on two servers beside each other. */

import { node } from "../../api.js";
import { folderName, HIERARCHY, numberName, splitNumber } from "../../state/lab_state.js";
import { relative, shortInstant } from "../../state/lab_time.js";
import { entryFor, hasReplica, knowsFolder, postRows, visibleText } from "../../state/posts.js";
import { replicaSummary } from "../../state/summary.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { Expected, futureOf } from "../expected.js";
import { isPresent, useAnswer } from "../fetched.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../page.js").Reader} Reader
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 * @typedef {import("../../state/posts.js").Cell} Cell
 */

/** How many posts are shown at first. */
const ROWS_SHOWN = 100;

/** Authors and sizes are asked for in folders that have at most so many posts. */
const MOST_DETAILS = 1_000;

/**
 * @param {{
 *   store: Store,
 *   state: LabState,
 *   reader: Reader,
 *   onOpen: (change: Partial<Reader>) => void,
 *   onAsk: ((asked: {kind: "folder" | "post" | "recover", server: string}) => void) | false,
 * }} props
 */
export function PostList({ store, state, reader, onOpen, onAsk }) {
  const { folder, server, beside } = reader;
  const [limit, setLimit] = useState(ROWS_SHOWN);
  useEffect(() => setLimit(ROWS_SHOWN), [folder]);
  const servers = beside === null ? [server] : [server, beside];
  const rows = postRows(state, folder, servers);
  const details = [useDetails(store, state, folder, server), useDetails(store, state, folder, beside)];
  const now = store.clock.labTime();
  const longest = Math.max(...Object.keys(state.servers).map((name) => name.length));
  const others = Object.keys(state.servers).filter((name) => name !== server);
  return html`<section class="posts" aria-label="Posts">
    <header>
      <h2><bdi>${visibleText(folderName(state, folder))}</bdi></h2>
      ${
        onAsk &&
        html`<button onClick=${() => onAsk({ kind: "folder", server })}>Properties …</button>
          <button onClick=${() => onAsk({ kind: "recover", server })}>Recover …</button>`
      }
      <span class="space"></span>
      ${
        beside === null &&
        others.length > 0 &&
        html`<button onClick=${() => onOpen({ beside: "" })}>Compare with another server</button>`
      }
    </header>
    <div class="scroll" onKeyDown=${moveFocus}>
      <table>
        <caption class="sr">
          The newest post is first. Each column shows what one server has.
        </caption>
        <thead>
          <tr>
            ${servers.map(
              (name, column) =>
                html`<th scope="col" key=${column}>
                  <div class="server">
                    <select
                      aria-label=${column ? "The other server" : "Server"}
                      style=${{ width: `calc(${longest}ch + 3.5em)` }}
                      value=${name}
                      onChange=${(/** @type {any} */ event) =>
                        onOpen(column ? { beside: event.target.value } : { server: event.target.value })}
                    >
                      ${Object.keys(state.servers).map(
                        (holder) =>
                          html`<option value=${holder} disabled=${holder === servers[1 - column]}>
                            ${holder}${hasReplica(state, holder, folder) ? "" : " (no replica)"}
                          </option>`,
                      )}
                    </select>
                    <${Status} state=${state} server=${name} folder=${folder} />
                    <span class="space"></span>
                    ${
                      onAsk &&
                      html`<button
                        disabled=${!canPost(state, name, folder)}
                        aria-label=${`Post on ${name}`}
                        onClick=${() => onAsk({ kind: "post", server: name })}
                      >
                        Post …
                      </button>`
                    }
                    ${
                      column > 0 &&
                      html`<button
                        aria-label="Do not compare"
                        title="Do not compare"
                        onClick=${() => onOpen({ beside: null })}
                      >
                        ✕
                      </button>`
                    }
                  </div>
                </th>`,
            )}
          </tr>
        </thead>
        <tbody>
          ${rows.slice(0, limit).map(
            (row) =>
              html`<tr key=${row.object}>
                ${row.cells.map(
                  (cell, column) =>
                    html`<td key=${column}>
                      <${PostCell}
                        store=${store}
                        state=${state}
                        folder=${folder}
                        server=${servers[column]}
                        object=${row.object}
                        cell=${cell}
                        detail=${details[column]?.get(row.object)}
                        now=${now}
                        alone=${servers.length === 1}
                      />
                    </td>`,
                )}
              </tr>`,
          )}
        </tbody>
      </table>
      ${rows.length === 0 && html`<p class="hint">${emptyWords(state, servers, folder)}</p>`}
      ${
        rows.length > limit &&
        html`<button onClick=${() => setLimit(limit + ROWS_SHOWN)}>
          Show more (${rows.length - limit} older posts not shown)
        </button>`
      }
    </div>
  </section>`;
}

/**
 * Return author and size of each post, by its id. Only a running server knows them.
 * @param {Store} store
 * @param {LabState} state
 * @param {string} folder
 * @param {string | null} server
 * @returns {Map<string, {sender: string, size: number}> | null}
 */
function useDetails(store, state, folder, server) {
  const table = server === null ? undefined : state.servers[server]?.tables[folder];
  const posts = Object.keys(table?.items ?? {}).length;
  const asks =
    server !== null &&
    isPresent(store) &&
    state.servers[server]?.status === "running" &&
    hasReplica(state, server, folder) &&
    posts > 0 &&
    posts <= MOST_DETAILS;
  const path = asks ? node(server).messagesOf(folder) : "";
  const { value: answer } = useAnswer(store, path, table?.numbers);
  return answer && new Map(answer.map((/** @type {any} */ detail) => [detail.id, detail]));
}

/**
 * @param {LabState} state
 * @param {string} server
 * @param {string} folder
 */
function canPost(state, server, folder) {
  const running = state.servers[server]?.status === "running";
  return running && hasReplica(state, server, folder) && knowsFolder(state, server, folder);
}

/** What is special about a folder on a server. @param {{state: LabState, server: string, folder: string}} props */
function Status({ state, server, folder }) {
  const status = state.servers[server].status;
  if (status !== "running") return html`<span class="badge bad">${status}</span>`;
  if (!hasReplica(state, server, folder)) return html`<span class="badge">no replica</span>`;
  if (!knowsFolder(state, server, folder)) return html`<span class="badge warn">does not know the folder yet</span>`;
  const { sync } = replicaSummary(state, server, folder);
  return html`<span class=${`badge ${sync === "in sync" ? "good" : sync === "behind" ? "warn" : ""}`}>${sync}</span>`;
}

/**
 * @param {LabState} state
 * @param {readonly string[]} servers
 * @param {string} folder
 */
function emptyWords(state, servers, folder) {
  if (servers.every((name) => !hasReplica(state, name, folder))) {
    const holders = state.folders[folder].replicas.join(", ") || "no server";
    return `The folder has no replica here. It is on ${holders}.`;
  }
  return folder === HIERARCHY ? "" : "No posts.";
}

/**
 * One post on one server: the version that the server shows, or why there is none.
 * @param {{
 *   store: Store,
 *   state: LabState,
 *   folder: string,
 *   server: string,
 *   object: string,
 *   cell: Cell,
 *   detail: {sender: string, size: number} | undefined,
 *   now: number,
 *   alone: boolean,
 * }} props
 */
function PostCell({ store, state, folder, server, object, cell, detail, now, alone }) {
  const { item, missing } = cell;
  const lacks =
    missing.length > 0 &&
    html`<${Gap} store=${store} state=${state} folder=${folder} server=${server} missing=${missing} now=${now} />`;
  if (!item || item.deleted) {
    if (lacks) {
      const subject = alone ? (state.changes.get(missing[0])?.subject ?? "") : "";
      return html`<div class="gap">
        ${lacks} ${subject && html`<small><bdi>${visibleText(subject)}</bdi></small>`}
      </div>`;
    }
    if (!hasReplica(state, server, folder)) return html`<div class="gap"><small>no replica</small></div>`;
    const by = item ? ` (${numberName(state, item.number)})` : "";
    return html`<div class="gap"><small>deleted here${by}</small></div>`;
  }
  const change = state.changes.get(item.number);
  const selection = store.page.selection.value;
  const selected = selection?.kind === "post" && selection.id === object && selection.server === server;
  return html`<button
    class="post"
    aria-pressed=${selected}
    onClick=${() => store.page.select({ kind: "post", id: object, folder, server })}
  >
    <span class="subject"><bdi>${visibleText(change?.subject || "(no subject)")}</bdi></span>
    <span class="marks">
      ${item.conflict.length > 0 && html`<span class="badge bad">conflict</span>`}
      ${change?.kind === "fai" && html`<span class="badge" title="An associated message: folder views do not list it">associated</span>`}
      <b class="number">${numberName(state, item.number)}</b>
    </span>
    <small class="about">
      ${detail?.sender && html`<bdi>${visibleText(detail.sender)}</bdi> · `}${change ? shortInstant(change.at) : ""}${
        detail ? ` · ${detail.size} B` : ""
      }
    </small>
    ${lacks}
  </button>`;
}

/**
 * What a server does not have of a post, and whether it will ask for it.
 * @param {{store: Store, state: LabState, folder: string, server: string, missing: readonly string[], now: number}} props
 */
function Gap({ store, state, folder, server, missing, now }) {
  const names = missing.map((number) => numberName(state, number)).join(", ");
  const deletes = missing.some((number) => state.changes.get(number)?.operation === "delete");
  const entry = entryFor(state, server, folder, missing[0]);
  const expectedAt = futureOf(store)?.arrivalOf(server, folder, ...splitNumber(missing[0]));
  const request = entry?.requests.at(-1);
  const plan = request
    ? `${server} has asked ${request.source}`
    : entry
      ? `${server} asks ${relative(entry.dueAt, now)}`
      : `${server} does not know of it`;
  return html`<small class="warn">
    ${names} ${missing.length > 1 ? "are" : "is"} not here yet${deletes ? " (a deletion)" : ""}: ${plan}
    ${expectedAt && html` <${Expected}>here at ${shortInstant(expectedAt)}</${Expected}>`}
  </small>`;
}

/** Move the focus between posts by the arrow keys. @param {KeyboardEvent} event */
function moveFocus(event) {
  const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  const from = /** @type {HTMLElement} */ (event.target).closest("td");
  if (!by || !from) return;
  const column = from.cellIndex;
  let row = /** @type {HTMLTableRowElement | null} */ (from.parentElement);
  do {
    row =
      /** @type {HTMLTableRowElement | null} */ (by > 0 ? row?.nextElementSibling : row?.previousElementSibling) ??
      null;
  } while (row && !row.cells[column]?.querySelector("button"));
  row?.cells[column].querySelector("button")?.focus();
  event.preventDefault();
}
