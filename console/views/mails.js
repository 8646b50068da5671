/** The view "Mails": all mails up to the moment that is shown, with a search. */

import { shortInstant } from "../state/lab_time.js";
import { filterOf, mailList, STATES, withFilter } from "../state/mail_search.js";
import { isRequest, mailColour } from "../state/mail_types.js";
import { commandOf } from "../state/terminal.js";
import { html } from "../vendor/preact.js";
import { Command } from "./panel/organization/form_parts.js";

/**
 * @typedef {import("../store.js").Store} Store
 * @typedef {import("../state/lab_state.js").LabState} LabState
 */

/** The most mails that are listed. */
const MOST = 200;

/** @param {{store: Store, state: LabState}} props */
export function Mails({ store, state }) {
  const { page } = store;
  const crossing = new Set(store.crossings().map(({ arrow }) => arrow.mail));
  const search = page.mailSearch.value;
  const { rows, fitting, all } = mailList(state, crossing, search, MOST);
  const selected = page.selection.value?.kind === "mail" ? page.selection.value.id : "";
  return html`<div class="mails" tabindex="0" role="region" aria-label="Mails">
    <label class="filter"
      >Search${" "}
      <input
        type="search"
        value=${search}
        placeholder="from:A to:B type:status folder:Projects change:A-1 is:lost"
        onInput=${(/** @type {any} */ event) => (page.mailSearch.value = event.target.value)}
      />
    </label>
    <span class="hint" role="status">${search ? `${fitting} of ${all} mails` : `${all} ${all === 1 ? "mail" : "mails"}`}${fitting > MOST && `; the newest ${MOST}`}</span>
    <${Track} store=${store} />
    <table>
      <thead>
        <tr>
          ${["Sent", "Mail", "From", "To", "About", "Where it is"].map((title) => html`<th scope="col">${title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) => html`<tr key=${row.id} class=${row.id === selected ? "selected" : ""}>
            <td>${shortInstant(row.at)}</td>
            <th scope="row">
              <button class=${`link mail-${mailColour(row.messageType)}`} onClick=${() => page.select({ kind: "mail", id: row.id })}>
                ✉ ${row.type}
              </button>
            </th>
            <td>${row.from}</td>
            <td>${row.to.join(", ")}</td>
            <td>
              ${row.subject || shortened(row.folders)}
              ${row.changes.length > 0 && html`<div class="hint">${isRequest(row.messageType) ? "asks for " : ""}${shortened(row.changes)}</div>`}
            </td>
            <td class=${row.is.includes("lost") ? "missing" : ""}>${row.is.join(", ")}</td>
          </tr>`,
        )}
      </tbody>
    </table>
    ${rows.length === 0 && html`<p class="hint">${all ? "No mail matches." : "No mail has been sent yet."}</p>`}
  </div>`;
}

/**
 * The search as a form, as the tracking of messages had it. Each field is a filter of the search.
 * @param {{store: Store}} props
 */
function Track({ store }) {
  const { mailSearch } = store.page;
  const value = (/** @type {string} */ name) => filterOf(mailSearch.value, name);
  const taking = (/** @type {string} */ name) => (/** @type {any} */ event) => {
    mailSearch.value = withFilter(mailSearch.value, name, event.target.value);
  };
  const field = (/** @type {string} */ label, /** @type {string} */ name, /** @type {string} */ hint) => html`<label
    >${label} <input name=${name} placeholder=${hint} dir="auto" value=${value(name)} onInput=${taking(name)} />
  </label>`;
  const state = value("is");
  const fields = { from: value("from"), to: value("to"), about: value("about"), day: value("day"), state };
  const wanted = Object.fromEntries(Object.entries(fields).filter(([, words]) => words));
  return html`<details class="track">
    <summary>Track a mail</summary>
    <form class="row" aria-label="Track a mail" onSubmit=${(/** @type {any} */ event) => event.preventDefault()}>
      ${field("From", "from", "kim@contoso.test")} ${field("To", "to", "Projects")}
      ${field("Subject or folder", "about", "Report")}
      <label>Day <input name="day" type="date" value=${value("day")} onInput=${taking("day")} /></label>
      <label
        >State
        <select name="state" value=${state} onChange=${taking("is")}>
          <option value="">any</option>
          ${STATES.map((name) => html`<option value=${name}>${name}</option>`)}
        </select>
      </label>
      ${field("Message-ID", "id", "4.7d1e@A.contoso.test")}
    </form>
    <${Command} command=${commandOf("track", value("id") ? [value("id")] : [], wanted)} />
  </details>`;
}

/** @param {string[]} words */
function shortened(words) {
  return words.length > 4 ? `${words.slice(0, 4).join(", ")} and ${words.length - 4} more` : words.join(", ");
}
