/** The mails that wait in the queue of a server. */

import { node } from "../../api.js";
import { storeOfAddress } from "../../state/lab_state.js";
import { shortInstant } from "../../state/lab_time.js";
import { mailColour, mailTypeName } from "../../state/mail_types.js";
import { html } from "../../vendor/preact.js";
import { Relative, useAnswer } from "../fetched.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 */

/** The most mails that are listed. */
const MOST = 200;

/** @param {{store: Store, state: LabState, name: string}} props */
export function MailQueue({ store, state, name }) {
  const server = state.servers[name];
  const queued = Object.entries(server.queue);
  const asks = queued.length && server.status === "running";
  const { value: rows } = useAnswer(store, asks ? node(name).queue : "", state.count);
  if (queued.length === 0) return html`<p class="hint">No mail waits on ${name}.</p>`;
  return html`<table class="queue">
      <thead>
        <tr>
          <th scope="col">Mail</th>
          <th scope="col">For</th>
          <th scope="col">Since</th>
          <th scope="col">Next attempt</th>
        </tr>
      </thead>
      <tbody>
        ${queued.slice(0, MOST).map(([id, entry]) => {
          const due = nextAttempt(rows, id) ?? entry.retryAt;
          const frozen = isFrozen(rows, id);
          const type = state.mails.get(id)?.type;
          return html`<tr key=${id}>
            <th scope="row">
              <button class=${`link mail-${mailColour(type)}`} onClick=${() => store.page.select({ kind: "mail", id })}>
                ✉ ${mailTypeName(type)}
              </button>
            </th>
            <td>${[...new Set(entry.recipients.map((recipient) => storeOfAddress(state, recipient)))].join(", ")}</td>
            <td>${shortInstant(entry.since)}</td>
            <td>
              ${frozen ? html`<span class="hint">frozen</span>` : due === null ? html`<span class="hint">as soon as it can</span>` : html`<${Relative} store=${store} at=${due} />`}
              ${entry.failures > 0 && html`<div class="missing">${entry.failures === 1 ? "1 failure" : `${entry.failures} failures`}: ${entry.reason}</div>`}
            </td>
          </tr>`;
        })}
      </tbody>
    </table>
    ${queued.length > MOST && html`<p class="hint">and ${queued.length - MOST} more</p>`}`;
}

/**
 * Return whether an administrator has frozen all copies of a mail.
 * @param {{message_id: string, frozen?: boolean}[] | undefined} rows
 * @param {string} mail
 */
function isFrozen(rows, mail) {
  const copies = (rows ?? []).filter((row) => row.message_id === mail);
  return copies.length > 0 && copies.every((row) => row.frozen);
}

/**
 * Return when the next copy of a mail is due, in lab time; null if the server has not said so.
 * @param {{message_id: string, due_at: string, frozen?: boolean}[] | undefined} rows
 * @param {string} mail
 */
function nextAttempt(rows, mail) {
  const due = (rows ?? [])
    .filter((row) => row.message_id === mail && !row.frozen)
    .map((row) => Date.parse(row.due_at) * 1000);
  return due.length ? Math.min(...due) : null;
}
