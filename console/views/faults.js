/** The dialog with the faults: which are active, how to end them, and a form for each kind. */

import { FAULTS, fault as faultPath } from "../api.js";
import { faultRequest, fieldsOf } from "../state/faults.js";
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { Relative, useAnswer } from "./fetched.js";

/**
 * @typedef {import("../store.js").Store} Store
 * @typedef {import("../state/lab_state.js").LabState} LabState
 * @typedef {import("../state/faults.js").Field} Field
 */

/** @param {{store: Store, state: LabState}} props */
export function Faults({ store, state }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const open = store.page.dialog.value === "faults";
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  // A click on another dialog's button must not be undone by this one's close event.
  const closed = () => {
    if (store.page.dialog.value === "faults") store.page.dialog.value = "";
  };
  return html`<dialog ref=${dialog} class="faults" aria-labelledby="faults-title" onClose=${closed}>
    ${
      open &&
      html`<h2 id="faults-title">Faults</h2>
      <${Active} store=${store} state=${state} />
      <h3>Inject a fault</h3>
      <${Form} store=${store} state=${state} />
      <div class="row close"><button onClick=${() => (store.page.dialog.value = "")}>Close</button></div>`
    }
  </dialog>`;
}

/** @param {{store: Store, state: LabState}} props */
function Active({ store, state }) {
  const [healed, setHealed] = useState(0);
  const version = `${store.timeline.head.value} ${healed}`;
  const { value, refused } = useAnswer(store, FAULTS.all, version);
  const { value: waiting } = useAnswer(store, value?.length ? FAULTS.waiting : "", version);
  /** @type {any[]} */
  const active = value ?? Object.values(state.faults).map(({ id, kind, details }) => ({ id, kind, ...details }));
  const heal = async (/** @type {string} */ id) => {
    await store.orders.send(
      id ? `Healing ${id}` : "Healing all faults",
      id ? faultPath(id) : FAULTS.all,
      undefined,
      "DELETE",
    );
    setHealed(healed + 1);
  };
  if (refused) return html`<p class="missing">${refused}</p>`;
  if (active.length === 0) return html`<p class="hint">No fault is active.</p>`;
  return html`<table>
      <thead>
        <tr>
          <th scope="col">Fault</th>
          <th scope="col">What it does</th>
          <th scope="col">Acted</th>
          <th scope="col">Mails that it will meet</th>
          <th scope="col"><span class="sr">End it</span></th>
        </tr>
      </thead>
      <tbody>
        ${active.map(
          (fault) => html`<tr key=${fault.id}>
            <th scope="row">${fault.id}</th>
            <td>${state.faults[fault.id]?.words ?? `${fault.server} was killed`}</td>
            <td>${fault.acted === undefined || ofServer(fault) ? "" : fault.acted === 0 ? "not yet" : fault.acted === 1 ? "once" : `${fault.acted} times`}</td>
            <td>${!ofServer(fault) && html`<${Meets} store=${store} mails=${waiting?.[fault.id] ?? []} />`}</td>
            <td>${fault.kind !== "kill" && html`<button onClick=${() => heal(fault.id)} aria-label=${`Heal ${fault.id}`}>Heal</button>`}</td>
          </tr>`,
        )}
      </tbody>
    </table>
    <button onClick=${() => heal("")}>Heal all</button>`;
}

/** Whether a fault is of one server, and so acts all the time and meets no mails. @param {any} fault */
const ofServer = (fault) => fault.server !== undefined;

/** How many mails are named; the others are counted. */
const MOST_NAMED = 3;

/** @param {{store: Store, mails: any[]}} props */
function Meets({ store, mails }) {
  if (mails.length === 0) return html`<span class="hint">none waits now</span>`;
  return html`${mails.slice(0, MOST_NAMED).map(
    (copy) => html`<div>
      ${copy.subject} <span class="hint">on ${copy.server} to ${copy.next_hop}, <${Relative} store=${store} at=${Date.parse(copy.due_at) * 1000} /></span>
    </div>`,
  )}
  ${mails.length > MOST_NAMED && html`<div class="hint">and ${mails.length - MOST_NAMED} more</div>`}`;
}

/** @param {{store: Store, state: LabState}} props */
function Form({ store, state }) {
  const { value: kinds, refused } = useAnswer(store, FAULTS.kinds);
  const [chosen, setKind] = useState("");
  if (refused) return html`<p class="missing">${refused}</p>`;
  if (!kinds) return html`<p class="hint">…</p>`;
  const kind = chosen || Object.keys(kinds)[0];
  const fields = fieldsOf(kinds[kind]);
  const inject = (/** @type {any} */ event) => {
    event.preventDefault();
    /** @type {Record<string, string | boolean>} */
    const values = {};
    for (const { name, kind: input } of fields) {
      const element = event.target.elements[name];
      values[name] = input === "yes" ? element.checked : element.value;
    }
    void store.orders.send(`Injecting ${kind}`, FAULTS.all, faultRequest(kind, fields, values));
  };
  return html`<div class="row kinds" role="group" aria-label="Kind of fault">
      ${Object.keys(kinds).map(
        (name) =>
          html`<button type="button" key=${name} aria-pressed=${name === kind} onClick=${() => setKind(name)}>${name}</button>`,
      )}
    </div>
    <form key=${kind} onSubmit=${inject}>
      <p>${kinds[kind].description}</p>
      <div class="fields">
        ${fields.map((field) => html`<label>${field.label}<${Input} state=${state} field=${field} /></label>`)}
      </div>
      <button>Inject: ${kind}</button>
    </form>`;
}

/** @param {{state: LabState, field: Field}} props */
function Input({ state, field }) {
  const { name, required, first, hint } = field;
  if (field.kind === "yes") return html`<input type="checkbox" name=${name} title=${hint} />`;
  if (field.kind === "number") {
    return html`<input type="number" name=${name} min="1" value=${first} placeholder="∞" title=${hint} />`;
  }
  if (field.kind === "span" || field.kind === "text") {
    return html`<input class=${field.kind} name=${name} value=${first} required=${required} placeholder=${hint} />`;
  }
  return html`<select name=${name} required=${required} title=${hint}>
    ${!required && html`<option value="">${field.kind === "server" || field.kind === "word" ? "any" : "–"}</option>`}
    ${choicesOf(state, field).map((choice) => html`<option value=${choice} selected=${choice === first}>${choice}</option>`)}
  </select>`;
}

/**
 * @param {LabState} state
 * @param {Field} field
 * @returns {readonly string[]}
 */
function choicesOf(state, { kind, words }) {
  if (words) return words;
  if (kind === "connector") return state.topology.connectors.map((connector) => connector.name);
  const servers = Object.keys(state.topology.servers);
  return kind === "server or site" ? [...servers, ...state.topology.sites] : servers;
}
