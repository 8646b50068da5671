/** What an administrator of the organization does with its recipient policies: add, change, move and remove them (spec: ML-1). */

import { LAB, policy as policyPath } from "../../../api.js";
import { html, useState } from "../../../vendor/preact.js";
import { InTerminal, taking } from "./form_parts.js";

/**
 * @typedef {import("../../../store.js").Store} Store
 *
 * @typedef {"sites" | "servers" | "versions"} Part
 *
 * @typedef {object} Policy A recipient policy, as the API has it. The Default Policy has no filter.
 * @property {string} name
 * @property {string} domain
 * @property {Partial<Record<Part, string[]>> | null} filter
 * @property {number | "lowest"} priority
 */

/** The parts of a filter, each with an example. @type {[Part, string][]} */
const PARTS = [
  ["sites", "LON, NYC"],
  ["servers", "A, B"],
  ["versions", "5.5, 2003"],
];

const NEW = "a new policy";

/** The list in the order of its priority, with the buttons of each policy. @param {{store: Store, policies: Policy[]}} props */
export function RecipientPolicies({ store, policies }) {
  const [open, setOpen] = useState("");
  const toggle = (/** @type {string} */ name) => () => setOpen(open === name ? "" : name);
  const close = () => setOpen("");
  const move = (/** @type {string} */ name, /** @type {number} */ priority) => () =>
    void store.orders.send(`Moving ${name}`, policyPath(name), { priority }, "PATCH");
  const remove = (/** @type {string} */ name) => () =>
    void store.orders.send(`Removing ${name}`, policyPath(name), undefined, "DELETE");
  const shown = policies.find(({ name }) => name === open);
  return html`<section aria-label="Recipient policies">
    <h3>Recipient policies</h3>
    <p class="hint">The first policy that applies to a store gives it its address. Its old addresses stay as secondary ones.</p>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            ${["Priority", "Name", "Addresses of", "Applies to", "Orders"].map((title) => html`<th scope="col">${title}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${policies.map(
            ({ name, domain, filter, priority }) => html`<tr key=${name}>
              <td>${priority}</td>
              <th scope="row">${name}</th>
              <td>${domain}</td>
              <td>${filter ? inWords(filter) : "every store"}</td>
              <td class="actions">
                ${
                  typeof priority === "number" &&
                  html`<button aria-label=${`Move ${name} up`} title="Move up" disabled=${priority === 1} onClick=${move(name, priority - 1)}>
                      ↑
                    </button>
                    <button
                      aria-label=${`Move ${name} down`}
                      title="Move down"
                      disabled=${priority === policies.length - 1}
                      onClick=${move(name, priority + 1)}
                    >
                      ↓
                    </button>`
                }
                <button aria-expanded=${open === name} aria-label=${`Change ${name} …`} onClick=${toggle(name)}>Change …</button>
                ${filter && html`<button class="danger" aria-label=${`Remove ${name}`} onClick=${remove(name)}>Remove</button>`}
              </td>
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <div class="row"><button aria-expanded=${open === NEW} onClick=${toggle(NEW)}>New policy …</button></div>
    ${open === NEW && html`<${PolicyForm} key=${NEW} store=${store} policy=${null} close=${close} />`}
    ${shown && html`<${PolicyForm} key=${open} store=${store} policy=${shown} close=${close} />`}
  </section>`;
}

/** A form for a policy; null: for a new one. @param {{store: Store, policy: Policy | null, close: () => void}} props */
function PolicyForm({ store, policy, close }) {
  const [name, setName] = useState(policy?.name ?? "");
  const [domain, setDomain] = useState(policy?.domain ?? "");
  const [texts, setTexts] = useState(/** @type {Partial<Record<Part, string>>} */ ({}));
  const isDefault = policy !== null && policy.filter === null;
  const before = (/** @type {Part} */ part) => (policy?.filter?.[part] ?? []).join(", ");
  const filter = Object.fromEntries(
    PARTS.map(([part]) => [part, namesIn(texts[part] ?? before(part))]).filter(([, names]) => names.length > 0),
  );
  const isSameFilter = PARTS.every(([part]) => (filter[part] ?? []).join(", ") === before(part));
  const body = {
    ...(policy === null && { name: name.trim() }),
    ...(domain.trim() !== policy?.domain && { domain: domain.trim() }),
    ...(!isSameFilter && { filter }),
  };
  const isComplete =
    policy === null
      ? name.trim() && domain.trim() && !isSameFilter
      : domain.trim() && Object.keys(body).length > 0 && (isDefault || Object.keys(filter).length > 0);
  const request =
    policy === null
      ? { method: "POST", path: LAB.policies, body }
      : { method: "PATCH", path: policyPath(policy.name), body };
  const send = async (/** @type {any} */ event) => {
    event.preventDefault();
    const what = policy === null ? `Adding ${name.trim()}` : `Changing ${policy.name}`;
    if (await store.orders.send(what, request.path, body, request.method)) close();
  };
  const title = policy === null ? "A new recipient policy" : `Change ${policy.name}`;
  return html`<form class="confirm connector" aria-label=${title} onSubmit=${send}>
    ${
      policy === null &&
      html`<label>name <input name="name" maxlength="64" required placeholder="London" value=${name} onInput=${taking(setName)} /></label>`
    }
    <label
      >addresses of
      <input name="domain" maxlength="200" required placeholder="fabrikam.test" value=${domain} onInput=${taking(setDomain)}
    /></label>
    ${
      !isDefault &&
      html`<fieldset>
        <legend>applies to stores of all of these</legend>
        ${PARTS.map(
          ([part, example]) => html`<label
            >${part}
            <input
              name=${part}
              maxlength="1000"
              placeholder=${example}
              value=${texts[part] ?? before(part)}
              onInput=${(/** @type {any} */ event) => setTexts({ ...texts, [part]: event.target.value })}
          /></label>`,
        )}
        <p class="hint">An empty field means all. At least one has a name.</p>
      </fieldset>`
    }
    ${isComplete && html`<${InTerminal} ...${request} />`}
    <div class="row">
      <button class="primary" disabled=${!isComplete}>${policy === null ? "Add the policy" : `Change ${policy.name}`}</button>
      <button type="button" onClick=${close}>Cancel</button>
    </div>
  </form>`;
}

/** @param {Partial<Record<Part, string[]>>} filter */
function inWords(filter) {
  return PARTS.filter(([part]) => filter[part]?.length)
    .map(([part]) => `${part} ${filter[part]?.join(", ")}`)
    .join("; ");
}

/** @param {string} text */
function namesIn(text) {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
}
