/** What an administrator of the organization does with its connectors: add, change and remove them (spec: RT-6). */

import { LAB, connector as connectorPath } from "../../../api.js";
import { changedFields, FIELDS, KINDS } from "../../../state/connector_fields.js";
import { html, useState } from "../../../vendor/preact.js";
import { SchedulePicker } from "../../schedule_picker.js";
import { Choice, InTerminal, ownLabels, taking } from "./form_parts.js";

/**
 * @typedef {import("../../../store.js").Store} Store
 * @typedef {import("../../../state/lab_state.js").LabState} LabState
 * @typedef {import("../../../state/lab_state.js").Connector} Connector
 * @typedef {import("../../../state/connector_fields.js").FieldName} FieldName
 */

/** The buttons "Change …" and "Remove …" with their forms. @param {{store: Store, state: LabState, name: string}} props */
export function ConnectorOrders({ store, state, name }) {
  const [open, setOpen] = useState(/** @type {"" | "change" | "remove"} */ (""));
  // What can be done depends on the present, also while an earlier moment is shown.
  const present = (store.timeline.history?.now ?? state).topology.connectors.find((line) => line.name === name);
  if (!present) return html`<p class="hint">An earlier moment is shown. In the present there is no such connector.</p>`;
  const toggle = (/** @type {"change" | "remove"} */ form) => () => setOpen(open === form ? "" : form);
  const bridgehead = state.topology.servers[present.bridgeheads?.[present.between[0]] ?? ""];
  const props = { store, connector: present, version: bridgehead?.version ?? "2003", close: () => setOpen("") };
  return html`<div class="row actions" role="group" aria-label=${`Organization: ${name}`}>
      <button aria-expanded=${open === "change"} onClick=${toggle("change")}>Change …</button>
      <button aria-expanded=${open === "remove"} onClick=${toggle("remove")}>Remove …</button>
    </div>
    ${store.timeline.travelling.value && html`<p class="hint">An earlier moment is shown. These actions are done in the present.</p>`}
    ${open === "change" && html`<${Change} ...${props} />`}
    ${open === "remove" && html`<${Remove} ...${props} />`}`;
}

/** @param {{store: Store, connector: Connector, version: string, close: () => void}} props version: of a bridgehead */
function Change({ store, connector, version, close }) {
  const { name } = connector;
  const [texts, setTexts] = useState(/** @type {Partial<Record<FieldName, string>>} */ ({}));
  const changes = changedFields(connector, texts);
  const isSame = Object.keys(changes).length === 0;
  const change = async (/** @type {any} */ event) => {
    event.preventDefault();
    if (await store.orders.send(`Changing ${name}`, connectorPath(name), changes, "PATCH")) close();
  };
  return html`<form class="confirm connector" aria-label=${`Change ${name}`} onSubmit=${change}>
    ${FIELDS.map(
      (field) => html`<label
        >${field.label}
        <input
          name=${field.name}
          type=${field.name === "cost" ? "number" : "text"}
          min="1"
          maxlength="1000"
          required
          list=${field.examples.length > 0 ? `connector-${field.name}` : undefined}
          value=${texts[field.name] ?? field.text(connector)}
          onInput=${(/** @type {any} */ event) => setTexts({ ...texts, [field.name]: event.target.value })}
        />
        <datalist id=${`connector-${field.name}`}>
          ${field.examples.map((example) => html`<option value=${example}></option>`)}
        </datalist>
      </label>`,
    )}
    <${SchedulePicker}
      text=${texts.schedule ?? [connector.schedule ?? "always"].flat().join("; ")}
      set=${(/** @type {string} */ text) => setTexts({ ...texts, schedule: text })}
      version=${version}
      of=${name}
    />
    <p class="hint">Mail that waits takes the new routes. Mail on its way arrives as before.</p>
    ${!isSame && html`<${InTerminal} method="PATCH" path=${connectorPath(name)} body=${changes} />`}
    <div class="row">
      <button class="primary" disabled=${isSame}>Change ${name}</button>
      <button type="button" onClick=${close}>Cancel</button>
    </div>
  </form>`;
}

/** @param {{store: Store, connector: Connector, close: () => void}} props */
function Remove({ store, connector, close }) {
  const { name } = connector;
  const remove = (/** @type {any} */ event) => {
    event.preventDefault();
    close();
    void store.orders.send(`Removing ${name}`, connectorPath(name), undefined, "DELETE");
  };
  return html`<form class="confirm" aria-label=${`Remove ${name}`} onSubmit=${remove}>
    <p>Mail that waits for ${name} takes another way, or waits for one.</p>
    <${InTerminal} method="DELETE" path=${connectorPath(name)} />
    <div class="row">
      <button class="danger">Remove ${name}</button>
      <button type="button" onClick=${close}>Cancel</button>
    </div>
  </form>`;
}

/** A form for a connector from the site of a server to another site. @param {{store: Store, state: LabState, name: string}} props */
export function AddConnector({ store, state, name }) {
  const { servers, sites } = state.topology;
  const site = servers[name].site;
  const others = sites.filter((other) => other !== site);
  const [wanted, setWanted] = useState("");
  const chosen = others.includes(wanted) ? wanted : others[0];
  const [typed, setTyped] = useState("");
  const [cost, setCost] = useState("1");
  const [kind, setKind] = useState("routing-group");
  if (others.length === 0) return null;
  const connector = typed.trim() || `${site}-${chosen}`;
  const fields = {
    between: [site, chosen],
    ...(kind !== "routing-group" && { kind }),
    ...(cost !== "1" && { cost: Number(cost) }),
  };
  const add = async (/** @type {any} */ event) => {
    event.preventDefault();
    if (await store.orders.send(`Adding ${connector}`, LAB.connectors, { name: connector, ...fields })) setTyped("");
  };
  return html`<form aria-label="A new connector" onSubmit=${add}>
    <div class="row">
      <button>Add a connector</button>
      <${Choice} label=${`from ${site} to`} name="to" value=${chosen} options=${ownLabels(others)} set=${setWanted} />
      <${Choice} label="kind" name="kind" value=${kind} options=${Object.entries(KINDS)} set=${setKind} />
      <label>cost <input name="cost" type="number" min="1" required value=${cost} onInput=${taking(setCost)} /></label>
      <label>name <input name="name" maxlength="100" placeholder=${`${site}-${chosen}`} value=${typed} onInput=${taking(setTyped)} /></label>
    </div>
    <${InTerminal} method="POST" path=${LAB.connectors} body=${{ name: connector, ...fields }} />
  </form>`;
}
