/** The tree of folders with their holders. */

import { folderTree, visibleRows, visibleText } from "../../state/posts.js";
import { replicaSummary } from "../../state/summary.js";
import { html, useEffect, useState } from "../../vendor/preact.js";

/** @typedef {import("../../state/lab_state.js").LabState} LabState */

/** How many folders are shown at first. */
const ROWS_SHOWN = 200;

/** In a larger tree all branches are folded at first. */
const UNFOLDED_TREE = 60;

/** The depth from which rows are not indented more. */
const DEEPEST = 6;

/** The most holders that are listed by name. */
const MOST_NAMED = 6;

/**
 * @param {{
 *   state: LabState,
 *   folder: string,
 *   onOpen: (id: string) => void,
 *   onNew: (() => void) | false,
 * }} props
 */
export function FolderTree({ state, folder, onOpen, onNew }) {
  const [filter, setFilter] = useState("");
  const [limit, setLimit] = useState(ROWS_SHOWN);
  const [turned, setTurned] = useState(/** @type {ReadonlyMap<string, boolean>} */ (new Map()));
  const all = folderTree(state);
  const folded = (/** @type {string} */ id) => turned.get(id) ?? all.length > UNFOLDED_TREE;
  useEffect(() => {
    // The open folder is seen, wherever it was opened.
    const parents = new Map(all.map((row) => [row.id, row.parent]));
    const open = new Map(turned);
    for (let id = parents.get(folder); id; id = parents.get(id)) open.set(id, false);
    setTurned(open);
  }, [folder]);
  const rows = visibleRows(all, filter, folded);
  return html`<nav class="tree" aria-label="Folders">
    <div class="tools">
      <input
        type="search"
        placeholder="Filter"
        aria-label="Show only folders whose path contains"
        value=${filter}
        onInput=${(/** @type {any} */ event) => setFilter(event.target.value)}
      />
      ${onNew && html`<button onClick=${onNew}>New folder …</button>`}
    </div>
    <ul class="scroll">
      ${rows.slice(0, limit).map(
        (row) =>
          html`<li key=${row.id} class=${`depth-${Math.min(row.depth, DEEPEST)}`}>
            ${
              row.branches && !filter
                ? html`<button
                    class="fold"
                    aria-expanded=${!folded(row.id)}
                    aria-label=${`Subfolders of ${visibleText(row.name)}`}
                    onClick=${() => setTurned(new Map(turned).set(row.id, !folded(row.id)))}
                  >
                    ${folded(row.id) ? "▸" : "▾"}
                  </button>`
                : html`<span class="fold"></span>`
            }
            <button
              class="folder"
              aria-current=${row.id === folder ? "true" : undefined}
              title=${visibleText(row.path)}
              onClick=${() => onOpen(row.id)}
            >
              <bdi>${visibleText(row.name)}</bdi>${" "}
              <${Holders} state=${state} folder=${row.id} />
            </button>
          </li>`,
      )}
      ${rows.length === 0 && html`<li class="hint">No folder path contains this text.</li>`}
      ${
        rows.length > limit &&
        html`<li>
          <button onClick=${() => setLimit(limit + ROWS_SHOWN)}>Show more (${rows.length - limit} not shown)</button>
        </li>`
      }
    </ul>
  </nav>`;
}

/** The servers with a replica; those that are behind are marked. @param {{state: LabState, folder: string}} props */
function Holders({ state, folder }) {
  const holders = state.folders[folder].replicas;
  return html`<small class="holders">
    ${holders.slice(0, MOST_NAMED).map((name) => {
      const { sync } = replicaSummary(state, name, folder);
      return html`<span class=${sync === "behind" ? "warn" : ""} title=${`${name}: ${sync}`}>${name}</span>${" "}`;
    })}
    ${holders.length > MOST_NAMED && html`+${holders.length - MOST_NAMED}`}
  </small>`;
}
