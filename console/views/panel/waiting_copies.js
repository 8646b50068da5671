/** The copies of a mail that wait in queues now, with what a user can do to each of them. */

import { FAULTS, mail } from "../../api.js";
import { storeOfAddress } from "../../state/lab_state.js";
import { html, useState } from "../../vendor/preact.js";
import { ifLost } from "../../forecast/what_if.js";
import { prospectOfMail } from "../../forecast/prospect.js";
import { Expected, futureOf } from "../expected.js";
import { Relative, isPresent, useAnswer } from "../fetched.js";
import { Ask } from "../what_if.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 *
 * @typedef {object} Copy
 * @property {string} server
 * @property {number} id
 * @property {string} next_hop
 * @property {string | null} connector
 * @property {string[]} recipients
 * @property {string} due_at
 * @property {number} attempts
 * @property {boolean} held
 * @property {boolean} frozen
 */

/** How long a copy is held that nobody releases. */
const HELD_FOR = "30 days";

const DELAYS = ["20 min", "1 h", "6 h", "1 day"];

/** @param {{store: Store, state: LabState, id: string}} props */
export function WaitingCopies({ store, state, id }) {
  const [acted, setActed] = useState(0);
  const waits = Object.values(state.servers).some((server) => server.queue[id]);
  const { value, again } = useAnswer(store, waits ? mail(id).waiting : "", `${state.count} ${acted}`);
  /** @type {Copy[]} */
  const copies = value ?? [];
  const faults = Object.values(state.faults).filter((fault) => fault.details.mail === id);
  const send = async (/** @type {string} */ what, /** @type {string} */ to, /** @type {unknown} */ body) => {
    await store.orders.send(what, to, body);
    setActed(acted + 1);
    again();
  };
  const aim = (/** @type {Copy} */ copy, /** @type {string} */ what, /** @type {Record<string, unknown>} */ fault) =>
    send(what, FAULTS.all, { ...fault, mail: id, link: [copy.server, copy.next_hop], count: 1 });
  const release = () => send("Releasing the mail", mail(id).release, {});
  // A held mail is dropped now, not when the hold would end.
  const drop = async (/** @type {Copy} */ copy) => {
    await aim(copy, "Dropping the mail", { kind: "lose" });
    if (copy.held) await release();
  };
  const hold = (/** @type {Copy} */ copy) => aim(copy, "Holding the mail", { kind: "delay", by: HELD_FOR });
  if (!isPresent(store)) return null;
  const future = futureOf(store);
  const crossings = store.crossings();
  return html`${copies.map((copy) => {
    const coming = faults.find((fault) => fault.details.link === `${copy.server} -> ${copy.next_hop}`);
    const to = [...new Set(copy.recipients.map((recipient) => storeOfAddress(state, recipient)))].join(", ");
    const crosses = crossings.some(
      ({ arrow }) => arrow.mail === id && arrow.from === copy.server && arrow.to === copy.next_hop,
    );
    return html`<section class="copy" key=${`${copy.server} ${copy.id}`} aria-label=${`Copy for ${to}`}>
      ${crosses ? html`On its way from <b>${copy.server}</b> to <b>${copy.next_hop}</b> for ${to}; arrives` : html`Waits on <b>${copy.server}</b> for ${to}; ${copy.held ? "held, leaves" : "next attempt"}`}${" "}
      ${copy.frozen ? html`<b>frozen</b>` : html`<${Relative} store=${store} at=${Date.parse(copy.due_at) * 1000} />`}
      ${copy.attempts > 0 && html`<span class="missing">, ${copy.attempts} failed</span>`}
      ${future && html`<div><${Expected}>${prospectOfMail(future, id, copy.server, copy.next_hop)}</${Expected}></div>`}
      ${coming && html`<div class="missing">${coming.kind === "delay" ? "will be held" : `will ${verb(coming.kind)}`} when it leaves</div>`}
      <div class="row">
        <button class="danger" onClick=${() => drop(copy)}>Drop</button>
        <button onClick=${() => aim(copy, "Duplicating the mail", { kind: "duplicate" })}>Duplicate</button>
        <button onClick=${() => aim(copy, "Altering the mail", { kind: "alter" })}>Alter</button>
        ${!copy.held && html`<${Delays} delay=${(/** @type {string} */ by) => aim(copy, "Delaying the mail", { kind: "delay", by })} />`}
        ${copy.held || coming?.kind === "delay" ? html`<button onClick=${release}>Release</button>` : html`<button onClick=${() => hold(copy)}>Hold</button>`}
        <${Ask} store=${store} question=${ifLost(id, copy.server, copy.next_hop)} />
      </div>
    </section>`;
  })}`;
}

/** @param {{delay: (by: string) => void}} props */
function Delays({ delay }) {
  return html`<select aria-label="Delay" value="" onChange=${(/** @type {any} */ event) => delay(event.target.value)}>
    <option value="">Delay by …</option>
    ${DELAYS.map((span) => html`<option value=${span}>${span}</option>`)}
  </select>`;
}

/** @param {string} kind */
function verb(kind) {
  return { lose: "be dropped", duplicate: "be sent twice", alter: "be altered" }[kind] ?? kind;
}
