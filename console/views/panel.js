/** The panel beside the view: what the user has selected. */

import { shortInstant } from "../state/lab_time.js";
import { html } from "../vendor/preact.js";
import { LessonCard } from "./lessons.js";
import { PostPanel } from "./folders/post_panel.js";
import { Command } from "./panel/organization/form_parts.js";
import { ConnectorPanel } from "./panel/organization/connector_panel.js";
import { MailPanel } from "./panel/mail_panel.js";
import { ServerPanel } from "./panel/server_panel.js";

/**
 * @typedef {import("../store.js").Store} Store
 * @typedef {import("../state/lab_state.js").LabState} LabState
 */

/** @param {{store: Store, state: LabState}} props */
export function Panel({ store, state }) {
  return html`<aside class="panel" aria-label="Details">
    <${LessonCard} store=${store} />
    <div class="scroll" role="region" aria-label="Selected" tabindex="0">${content(store, state)}</div>
    <${LastOrder} store=${store} />
  </aside>`;
}

/** The last order as the command that does the same. @param {{store: Store}} props */
function LastOrder({ store }) {
  const command = store.orders.command.value;
  if (!command) return null;
  return html`<div class="last-order" role="status" aria-label="The last order in a terminal">
    <${Command} command=${command} />
    <button aria-label="Hide the command" onClick=${() => (store.orders.command.value = "")}>✕</button>
  </div>`;
}

/**
 * @param {Store} store
 * @param {LabState} state
 */
function content(store, state) {
  const selection = store.page.selection.value;
  if (selection?.kind === "server" && state.servers[selection.id]) {
    return html`<${ServerPanel} key=${selection.id} store=${store} state=${state} name=${selection.id} />`;
  }
  if (selection?.kind === "post" && selection.folder && selection.server) {
    const { id, folder, server } = selection;
    return html`<${PostPanel}
      key=${`${server} ${id}`}
      store=${store}
      state=${state}
      folder=${folder}
      server=${server}
      object=${id}
    />`;
  }
  if (selection?.kind === "mail") {
    if (!state.mails.get(selection.id))
      return html`<p class="hint">This mail does not exist at the moment that is shown.</p>`;
    return html`<${MailPanel} key=${selection.id} store=${store} state=${state} id=${selection.id} />`;
  }
  const connector =
    selection?.kind === "connector"
      ? state.topology.connectors.find((connector) => connector.name === selection.id)
      : undefined;
  if (connector) {
    return html`<${ConnectorPanel} key=${connector.name} store=${store} state=${state} connector=${connector} />`;
  }
  return html`<${Recent} store=${store} state=${state} />`;
}

/** How many events the panel lists. */
const RECENT = 60;

/** What the panel leaves out: how servers get ready. The slider still goes over these events. */
const UNLISTED = new Set(["address.stamped", "setting.value", "run.started", "row.replaced"]);

/** The last events, when nothing is selected. @param {{store: Store, state: LabState}} props */
function Recent({ store, state }) {
  const events = store.timeline.history?.events ?? [];
  const entries = [];
  for (let index = state.count - 1; index >= 0 && entries.length < RECENT; index--) {
    const event = events.at(index);
    if (event === undefined) break; // forgotten, and all before it
    if (!UNLISTED.has(event.type)) entries.push({ index, event });
  }
  return html`<h2>What happened</h2>
    <p class="hint">Select a server, a mail or a connector to see more.</p>
    ${
      store.source.live &&
      !store.source.base &&
      !state.mails.length &&
      html`<p class="hint">
        No mail has been sent yet. Begin with a lesson, or post in a folder and press ▶❘ Next event: the change is sent in the
        folder's next replication cycle, which comes every 15 min of lab time, or as the folder's schedule says. At the rate of real time, you would wait just as long.
      </p>`
    }
    <ol class="events">
      ${entries.map(
        ({ index, event }) => html`<li key=${index}>
          <button title="Show this moment" onClick=${() => store.timeline.travelTo(index + 1)}>
            <time>${shortInstant(event.at)}</time> <b>${event.node}</b> ${event.words ?? event.type}
          </button>
        </li>`,
      )}
    </ol>`;
}
