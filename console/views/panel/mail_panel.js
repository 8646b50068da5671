/** The panel of a mail: what it says, its way, what is in it, and what can happen to it while it waits. */

import { folderName, setName } from "../../state/lab_state.js";
import { duration, fullInstant, shortInstant } from "../../state/lab_time.js";
import { isRequest, mailColour, mailTypeName } from "../../state/mail_types.js";
import { html } from "../../vendor/preact.js";
import { MailContent } from "./mail_content.js";
import { WaitingCopies } from "./waiting_copies.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 * @typedef {import("../../state/lab_state.js").Leg} Leg
 */

/** The most folders of one mail that are listed. */
const MOST_FOLDERS = 50;

/** How a copy ends that is not delivered. @type {["Returned for" | "Deleted for", "returned" | "deleted"][]} */
const ENDS = [
  ["Returned for", "returned"],
  ["Deleted for", "deleted"],
];

/** @param {{store: Store, state: LabState, id: string}} props */
export function MailPanel({ store, state, id }) {
  const mail = state.mails.get(id);
  if (!mail) return null;
  const exists = mail.legs.length > 0 || Object.values(state.servers).some((server) => server.queue[id]);
  const arrived = Object.keys(state.servers).length > 0 && mail.received.length > 0;
  return html`<h2 class=${`mail-${mailColour(mail.type)}`}>
      ✉ ${mailTypeName(mail.type)}
      ${mail.marks.map((mark) => html`${" "}<span class="badge">${mark}</span>`)}
    </h2>
    <dl class="facts">
      <dt>From</dt>
      <dd><${ServerName} store=${store} state=${state} name=${mail.sender || mail.from} /></dd>
      <dt>To</dt>
      <dd>
        ${mail.to.map((name, index) => html`${index ? ", " : ""}<${ServerName} store=${store} state=${state} name=${name} />`)}
      </dd>
      ${
        mail.subject &&
        html`<dt>Subject</dt>
        <dd dir="auto">${mail.subject}</dd>`
      }
      <dt>Sent</dt>
      <dd>${fullInstant(mail.at)}</dd>
      <dt>Size</dt>
      <dd>${mail.size.toLocaleString("en")} bytes</dd>
      ${ENDS.map(
        ([label, addresses]) =>
          mail[addresses].length > 0 &&
          html`<dt>${label}</dt>
          <dd class="missing">${[...new Set(mail[addresses])].join(", ")}</dd>`,
      )}
      <dt>${mail.type === undefined ? "Delivered on" : "Decoded by"}</dt>
      <dd>${arrived ? [...new Set(mail.received)].join(", ") : html`<span class="hint">${mail.type === undefined ? "no server yet" : "no store yet"}</span>`}</dd>
      <dt>Message-ID</dt>
      <dd><code>${id}</code></dd>
    </dl>
    ${store.source.live && html`<${WaitingCopies} store=${store} state=${state} id=${id} />`}
    ${mail.folders.length > 0 && html`<${Folders} state=${state} folders=${mail.folders} asks=${isRequest(mail.type)} />`}
    <${Way} legs=${mail.legs} crossings=${store.crossings().filter(({ arrow }) => arrow.mail === id)} at=${store.clock.labTime()} />
    ${exists ? html`<${MailContent} store=${store} id=${id} />` : html`<p class="hint">It expired in the queue of its first server, and nobody has its content.</p>`}`;
}

/** A store as a button that selects its server; another address as text. @param {{store: Store, state: LabState, name: string}} props */
function ServerName({ store, state, name }) {
  if (!state.servers[name]) return name;
  return html`<button class="link" onClick=${() => store.page.select({ kind: "server", id: name })}>${name}</button>`;
}

/** @param {{state: LabState, folders: import("../../state/lab_state.js").Mail["folders"], asks: boolean}} props */
function Folders({ state, folders, asks }) {
  return html`<table class="mail-folders">
      <thead>
        <tr>
          <th scope="col">Folder</th>
          <th scope="col">${asks ? "Asks for" : "Brings"}</th>
          <th scope="col">Says the sender has</th>
        </tr>
      </thead>
      <tbody>
        ${folders.slice(0, MOST_FOLDERS).map(
          (claim) => html`<tr>
            <th scope="row">${claim.folder ? folderName(state, claim.folder) : html`<span class="hint">none</span>`}</th>
            <td>${setName(state, claim.cnset) || html`<span class="hint">nothing</span>`}</td>
            <td>${setName(state, claim.row) || html`<span class="hint">nothing</span>`}</td>
          </tr>`,
        )}
      </tbody>
    </table>
    ${folders.length > MOST_FOLDERS && html`<p class="hint">and ${folders.length - MOST_FOLDERS} more folders</p>`}`;
}

/** @param {{legs: readonly Leg[], crossings: readonly import("../../state/marks.js").Crossing[], at: number}} props */
function Way({ legs, crossings, at }) {
  if (legs.length + crossings.length === 0) return html`<p class="hint">It has not left its first server.</p>`;
  return html`<table class="way">
    <thead>
      <tr>
        <th scope="col">Hop</th>
        <th scope="col">Sent</th>
        <th scope="col">Arrived</th>
      </tr>
    </thead>
    <tbody>
      ${legs.map(
        (leg) => html`<tr>
          <th scope="row">${leg.from || "outside"} → ${leg.to}${leg.why && html`<div class="hint">${leg.why}</div>`}</th>
          <td>${leg.sentAt >= 0 ? shortInstant(leg.sentAt) : ""}</td>
          <td class=${leg.outcome === "arrived" ? "" : "missing"}>
            ${
              leg.outcome === "arrived" && leg.arrivedAt !== null
                ? html`${shortInstant(leg.arrivedAt)}
                ${leg.sentAt >= 0 && html`<div class="hint">after ${duration(leg.arrivedAt - leg.sentAt)}</div>`}`
                : leg.outcome
            }
          </td>
        </tr>`,
      )}
      ${crossings.map(
        ({ arrow }) => html`<tr>
          <th scope="row">${arrow.from} → ${arrow.to}${arrow.connector && html`<div class="hint">${arrow.connector}</div>`}</th>
          <td>${shortInstant(arrow.sentAt)}</td>
          <td>
            on its way
            ${arrow.arrivedAt > at && html`<div class="hint">${duration(arrow.arrivedAt - at)} left</div>`}
          </td>
        </tr>`,
      )}
    </tbody>
  </table>`;
}
