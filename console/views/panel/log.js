/** What a server says: its application log, and its events in the trace. */

import { node } from "../../api.js";
import { shortInstant } from "../../state/lab_time.js";
import { html, useState } from "../../vendor/preact.js";
import { useAnswer } from "../fetched.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 */

/** The most entries that are asked for, and the most of each list that are shown; the newest come first. */
const MOST_ASKED = 1_000;
const MOST = 100;

/**
 * @typedef {object} Entry
 * @property {number} id
 * @property {number} at
 * @property {number} event
 * @property {string} level
 * @property {string} source
 * @property {string} category
 * @property {string} text
 */

const LEVELS = ["Information", "Warning", "Error"];

/** @param {{store: Store, state: LabState, name: string}} props */
export function Log({ store, state, name }) {
  const [search, setSearch] = useState("");
  const [level, setLevel] = useState("");
  // The log says when an entry was written, so it can be read up to an earlier moment too.
  const running = store.timeline.history?.now.servers[name]?.status === "running";
  const path = running ? node(name).log(MOST_ASKED) : "";
  /** @type {import("../fetched.js").Answer<Entry[]>} */
  const { value: entries, refused } = useAnswer(store, path, state.count, { fixed: true });
  const pastEntries = (entries ?? []).filter((entry) => entry.at <= state.at).reverse();
  const fitting = pastEntries.filter(
    (entry) => (!level || entry.level === level) && fits(entry, search.trim().toLowerCase()),
  );
  return html`<h3>Application log</h3>
    ${refused && html`<p class="missing">${refused}</p>`}
    ${
      !store.source.live || !running
        ? html`<p class="hint">The application log can be read while the server runs in a live lab.</p>`
        : html`<div class="row">
          <input
            type="search"
            aria-label="Entries with this event id, category or text"
            placeholder="3014, backfill …"
            value=${search}
            onInput=${(/** @type {any} */ event) => setSearch(event.target.value)}
          />
          <select
            aria-label="Level"
            value=${level}
            onChange=${(/** @type {any} */ event) => setLevel(event.target.value)}
          >
            <option value="">all levels</option>
            ${LEVELS.map((choice) => html`<option value=${choice}>${choice}</option>`)}
          </select>
          <span class="hint" role="status">${fitting.length} of ${pastEntries.length} entries</span>
        </div>`
    }
    ${
      entries?.length === 0 &&
      html`<p class="hint">Nothing has been logged. The diagnostics logging levels, which are settings, decide what is logged.</p>`
    }
    <ol class="events" aria-label="Application log">
      ${fitting.slice(0, MOST).map(
        (entry) => html`<li key=${entry.id} class=${entry.level === "Information" ? "" : "missing"}>
          <b>${entry.event}</b> <span class="hint">${shortInstant(entry.at)} ${entry.level}, ${entry.category}, ${entry.source}</span>
          <div class="entry">${entry.text}</div>
        </li>`,
      )}
    </ol>
    <h3>Events</h3>
    <ol class="events">
      ${eventsOf(store, state, name).map(
        ({ index, event }) =>
          html`<li key=${index}>
            <button title="Show this moment" onClick=${() => store.timeline.travelTo(index + 1)}>
              <time>${shortInstant(event.at)}</time> ${event.words ?? event.type}
            </button>
          </li>`,
      )}
    </ol>`;
}

/**
 * Return whether an entry has this event id, or these words.
 * @param {Entry} entry
 * @param {string} term
 */
function fits({ event, category, source, text }, term) {
  if (/^\d+$/.test(term)) return String(event).startsWith(term);
  return `${category} ${source} ${text}`.toLowerCase().includes(term);
}

/**
 * Return the last events of a server up to the moment that is shown, the newest first.
 * @param {Store} store
 * @param {LabState} state
 * @param {string} name
 */
function eventsOf(store, state, name) {
  const events = store.timeline.history?.events ?? [];
  const entries = [];
  for (let at = Math.min(state.count, events.length) - 1; at >= 0 && entries.length < MOST; at--) {
    const event = events.at(at);
    if (event === undefined) break; // forgotten, and all before it
    if (event.node === name) entries.push({ index: at, event });
  }
  return entries;
}
