/** The mails that wait in the queue of a server, and what an administrator orders about them. */

import { node } from "../../api.js";
import { storeOfAddress } from "../../state/lab_state.js";
import { mailLoss } from "../../state/losses.js";
import { shortInstant } from "../../state/lab_time.js";
import { mailColour, mailTypeName } from "../../state/mail_types.js";
import { html } from "../../vendor/preact.js";
import { Sure } from "../confirm.js";
import { Relative, isPresent, useAnswer } from "../fetched.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 *
 * @typedef {object} Row A copy of a mail, as the server has it in its queue.
 * @property {number} id
 * @property {string} next_hop
 * @property {string} message_id
 * @property {string} due_at
 * @property {boolean} frozen
 */

/** The most mails that are listed. */
const MOST = 200;

/** @param {{store: Store, state: LabState, name: string}} props */
export function MailQueue({ store, state, name }) {
  const server = state.servers[name];
  const queued = Object.entries(server.queue);
  const asks = queued.length && server.status === "running";
  const { value: rows } = useAnswer(store, asks ? node(name).queue : "", state.count);
  const queues = html`<${Queues} store=${store} state=${state} name=${name} rows=${rows ?? []} />`;
  if (queued.length === 0) return html`<p class="hint">No mail waits on ${name}.</p>${queues}`;
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
              <${MailOrders} store=${store} name=${name} copies=${(rows ?? []).filter((/** @type {Row} */ row) => row.message_id === id)} />
            </td>
          </tr>`;
        })}
      </tbody>
    </table>
    ${queued.length > MOST && html`<p class="hint">and ${queued.length - MOST} more</p>`}${queues}`;
}

/**
 * What can be done with the copies of one mail (spec: RT-5).
 * @param {{store: Store, name: string, copies: readonly Row[]}} props
 */
function MailOrders({ store, name, copies }) {
  if (!isPresent(store) || copies.length === 0) return null;
  const mails = copies.map((copy) => copy.id);
  const order = (/** @type {string} */ what, /** @type {string} */ verb) =>
    void store.orders.send(`${what} a mail on ${name}`, node(name).queue, { order: verb, mails });
  return html`<div class="row">
    ${copies.every((copy) => copy.frozen) ? html`<button onClick=${() => order("Unfreezing", "unfreeze")}>Unfreeze</button>` : html`<button title="It is neither tried nor expires" onClick=${() => order("Freezing", "freeze")}>Freeze</button>`}
    <button title="The sender gets a notice" onClick=${() => order("Returning", "return")}>Return</button>
    <button class="danger" title="Nobody gets a notice" onClick=${() => order("Deleting", "delete")}>Delete</button>
  </div>`;
}

/**
 * What can be done with whole queues, each for a next hop (spec: RT-5).
 * @param {{store: Store, state: LabState, name: string, rows: readonly Row[]}} props
 */
function Queues({ store, state, name, rows }) {
  const runs = state.servers[name].status === "running";
  const { value: frozen } = useAnswer(store, runs ? node(name).frozenQueues : "", state.count);
  if (!isPresent(store) || !runs) return null;
  const order = (/** @type {string} */ what, /** @type {string} */ verb, /** @type {string} */ hop) =>
    void store.orders.send(`${what} the queue of ${name} for ${hop}`, node(name).queue, { order: verb, next_hop: hop });
  const freeze = (/** @type {any} */ event) => {
    event.preventDefault();
    order("Freezing", "freeze", event.target.elements.hop.value);
  };
  const others = Object.keys(state.servers).filter((server) => server !== name);
  const hops = [...new Set([...rows.map((row) => row.next_hop).filter(Boolean), ...(frozen ?? [])])].sort();
  return html`${hops.map((hop) => {
    const mails = rows.filter((row) => row.next_hop === hop).length;
    return html`<section class="row" key=${hop} aria-label=${`Queue for ${hop}`}>
        Queue for <b>${hop}</b>: ${mails} ${mails === 1 ? "mail" : "mails"}
        ${
          (frozen ?? []).includes(hop)
            ? html`<span class="badge">frozen</span>
                <button onClick=${() => order("Unfreezing", "unfreeze", hop)}>Unfreeze queue</button>`
            : html`<button onClick=${() => order("Freezing", "freeze", hop)}>Freeze queue</button>`
        }
        ${
          mails > 0 &&
          html`<button onClick=${() => order("Returning", "return", hop)}>Return all</button>
            <${Sure}
              button="Delete all"
              label=${`Delete all mails for ${hop}`}
              words=${() => mailLoss(state, messageIds(rows, hop))}
              act=${() => order("Deleting", "delete", hop)}
            />`
        }
      </section>`;
  })}
    <form class="row" onSubmit=${freeze}>
      <button title="Mails that come into it wait until the queue is unfrozen">Freeze the queue</button>
      for
      <select name="hop" aria-label="Next hop">
        ${others.map((server) => html`<option value=${server}>${server}</option>`)}
      </select>
    </form>`;
}

/** @param {readonly Row[]} rows @param {string} hop */
const messageIds = (rows, hop) => rows.filter((row) => row.next_hop === hop).map((row) => row.message_id);

/**
 * Return whether an administrator has frozen all copies of a mail.
 * @param {readonly Row[] | undefined} rows
 * @param {string} mail
 */
function isFrozen(rows, mail) {
  const copies = (rows ?? []).filter((row) => row.message_id === mail);
  return copies.length > 0 && copies.every((row) => row.frozen);
}

/**
 * Return when the next copy of a mail is due, in lab time; null if the server has not said so.
 * @param {readonly Row[] | undefined} rows
 * @param {string} mail
 */
function nextAttempt(rows, mail) {
  const due = (rows ?? [])
    .filter((row) => row.message_id === mail && !row.frozen)
    .map((row) => Date.parse(row.due_at) * 1000);
  return due.length ? Math.min(...due) : null;
}
