/** The directory as a server reads it: the object of each store, with its addresses; and the recipient policies that give them (spec: ML-1). */

import { LAB, node } from "../../../api.js";
import { parseInstant, shortInstant } from "../../../state/lab_time.js";
import { html, useState } from "../../../vendor/preact.js";
import { isPresent, useAnswer } from "../../fetched.js";
import { InTerminal, taking } from "./form_parts.js";
import { RecipientPolicies } from "./recipient_policies.js";

/**
 * @typedef {import("../../../store.js").Store} Store
 * @typedef {import("../../../state/lab_state.js").LabState} LabState
 *
 * @typedef {object} Entry The object of a store, as the API has it.
 * @property {string} store
 * @property {string} dn
 * @property {string} object_class
 * @property {string} legacy_dn
 * @property {string | null} owning_tree
 * @property {boolean} doubled
 * @property {string | null} mail
 * @property {string[]} proxy_addresses
 * @property {string | null} stamp_due_at
 *
 * @typedef {import("./recipient_policies.js").Policy} Policy
 */

/** @param {{store: Store, state: LabState, name: string}} props */
export function Directory({ store, state, name }) {
  const running = isPresent(store) && state.servers[name].status === "running";
  /** @type {import("../../fetched.js").Answer<Entry[]>} */
  const { value: entries, refused } = useAnswer(store, running ? node(name).directory : "", state.count);
  /** @type {import("../../fetched.js").Answer<{recipient_update: string}>} */
  const { value: service } = useAnswer(store, running ? LAB.policy : "", state.count);
  /** @type {import("../../fetched.js").Answer<Policy[]>} */
  const { value: policies } = useAnswer(store, running ? LAB.policies : "", state.count);
  if (!running)
    return html`<p class="hint">The directory can be read while the server runs, in the present of a live lab.</p>`;
  return html`${refused && html`<p class="missing">${refused}</p>`}
    ${(entries ?? []).map((entry) => html`<${StoreObject} key=${entry.store} entry=${entry} />`)}
    ${policies && html`<${RecipientPolicies} store=${store} policies=${policies} />`}
    ${service && html`<${UpdateService} key=${service.recipient_update} store=${store} present=${service.recipient_update} />`}`;
}

/** The object of a store with the attributes that its version has. @param {{entry: Entry}} props */
function StoreObject({ entry }) {
  const due = entry.stamp_due_at ? shortInstant(parseInstant(entry.stamp_due_at) ?? 0) : "";
  /** @type {[string, string][]} */
  const attributes = [
    ["objectClass", entry.object_class],
    ...(entry.dn === entry.legacy_dn
      ? []
      : /** @type {[string, string][]} */ ([
          ["legacyExchangeDN", entry.legacy_dn],
          ["msExchOwningPFTree", entry.owning_tree ?? "none"],
        ])),
    ["mail", entry.mail ?? "none: nothing can be sent to this store"],
    ...entry.proxy_addresses.map((address) => /** @type {[string, string]} */ (["proxyAddresses", address])),
    ...(due ? [/** @type {[string, string]} */ (["next address", due])] : []),
  ];
  return html`<details class="object">
    <summary>Store ${entry.store}: ${entry.mail ?? html`<span class="missing">no address</span>`}</summary>
    <p><code>${entry.dn}</code></p>
    ${entry.doubled && html`<p class="missing">There is a second object of this store.</p>`}
    <table>
      <tbody>
        ${attributes.map(([attribute, value]) => html`<tr><th scope="row">${attribute}</th><td><code>${value}</code></td></tr>`)}
      </tbody>
    </table>
  </details>`;
}

/** The recipient update service. @param {{store: Store, present: string}} props present: how often it runs */
function UpdateService({ store, present }) {
  const [schedule, setSchedule] = useState(present);
  const body = { recipient_update: schedule };
  const change = (/** @type {any} */ event) => {
    event.preventDefault();
    void store.orders.send("Changing the recipient update service", LAB.policy, body);
  };
  const update = () => void store.orders.send("Giving addresses", LAB.policy, { at_once: true });
  return html`<form aria-label="Recipient update service" onSubmit=${change}>
    <h3>Recipient update service</h3>
    <p class="hint">It stamps stores of 2000 and 2003 when it runs. Stores of 5.5 and 2007 get their addresses at once.</p>
    <div class="row">
      <label
        >service runs
        <input name="schedule" list="schedules" maxlength="40" required value=${schedule} onInput=${taking(setSchedule)}
      /></label>
      <datalist id="schedules">
        ${["always", "never", "1 h"].map((words) => html`<option value=${words}></option>`)}
      </datalist>
    </div>
    ${schedule !== present && html`<${InTerminal} method="POST" path=${LAB.policy} body=${body} />`}
    <div class="row">
      <button disabled=${schedule === present}>Change the service</button>
      <button type="button" title="All stores that wait get their addresses" onClick=${update}>Update now</button>
    </div>
  </form>`;
}
