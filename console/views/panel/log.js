/** What a server says: its application log, and its events in the trace. */

import { node } from "../../api.js";
import { shortInstant } from "../../state/lab_time.js";
import { html } from "../../vendor/preact.js";
import { OnlyPresent, isPresent, useAnswer } from "../fetched.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 */

/** The most entries of each list; the newest come first. */
const MOST = 100;

/** @param {{store: Store, state: LabState, name: string}} props */
export function Log({ store, state, name }) {
  const running = state.servers[name].status === "running";
  const path = running ? node(name).log(MOST) : "";
  const { value: entries, refused } = useAnswer(store, path, state.count);
  return html`<h3>Application log</h3>
    ${refused && html`<p class="missing">${refused}</p>`}
    ${
      !isPresent(store) || !running
        ? html`<${OnlyPresent} what="The application log of a running server" />`
        : entries?.length === 0
          ? html`<p class="hint">Nothing has been logged. The diagnostics logging levels, which are settings, decide what is logged.</p>`
          : html`<ol class="events">
            ${[...(entries ?? [])].reverse().map(
              (each) => html`<li key=${each.id} class=${each.level.toLowerCase() === "information" ? "" : "missing"}>
                <b>${each.event}</b> <span class="hint">${shortInstant(each.at)} ${each.level}, ${each.category}</span>
                <div class="entry">${each.text}</div>
              </li>`,
            )}
          </ol>`
    }
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
 * Return the last events of a server up to the moment that is shown, the newest first.
 * @param {Store} store
 * @param {LabState} state
 * @param {string} name
 */
function eventsOf(store, state, name) {
  const events = store.timeline.history?.events ?? [];
  const found = [];
  for (let at = Math.min(state.count, events.length) - 1; at >= 0 && found.length < MOST; at--) {
    if (events[at].node === name) found.push({ index: at, event: events[at] });
  }
  return found;
}
