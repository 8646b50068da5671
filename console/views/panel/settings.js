/** The settings of a server by their real names. In the present of a live lab they can be changed. */

import { node } from "../../api.js";
import { html, useState } from "../../vendor/preact.js";
import { isPresent, useAnswer } from "../fetched.js";
import { SchedulePicker } from "../schedule_picker.js";
import { taking } from "./organization/form_parts.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 *
 * @typedef {object} Setting
 * @property {string} name
 * @property {string} value
 * @property {string} default
 * @property {string | null} [next_value] the value from the next start on, if that is another one
 * @property {boolean} [effective] false: this version has no such setting
 * @property {string} [place]
 * @property {string} [does]
 */

/** @param {{store: Store, state: LabState, name: string}} props */
export function Settings({ store, state, name }) {
  const [filter, setFilter] = useState("");
  const [changed, setChanged] = useState(0);
  const server = state.servers[name];
  const asks = isPresent(store) && server.status === "running";
  const path = asks ? node(name).settingDetails : "";
  const { value, refused } = useAnswer(store, path, `${server.status} ${changed}`);
  /** @type {Setting[]} */
  const settings =
    value ?? Object.entries(server.settings).map(([setting, details]) => ({ name: setting, ...details }));
  const term = filter.toLowerCase();
  const matches = settings
    .filter(
      (setting) => setting.effective !== false && `${setting.name} ${setting.does ?? ""}`.toLowerCase().includes(term),
    )
    .sort((a, b) => Number(isDefault(a)) - Number(isDefault(b)));
  return html`<label class="folder-filter"
      >Find <input type="search" value=${filter} onInput=${(/** @type {any} */ event) => setFilter(event.target.value)}
    /></label>
    ${refused && html`<p class="missing">${refused}</p>`}
    ${!asks && html`<p class="hint">Settings can be changed only on a running server, in the present of a live lab.</p>`}
    <table class="settings">
      <thead>
        <tr>
          <th scope="col">Setting</th>
          <th scope="col">Value</th>
        </tr>
      </thead>
      <tbody>
        ${matches.map(
          (setting) => html`<${Row}
            key=${setting.name}
            store=${store}
            name=${name}
            setting=${setting}
            asks=${asks}
            version=${server.version}
            done=${() => setChanged(changed + 1)}
          />`,
        )}
      </tbody>
    </table>`;
}

/** @param {Setting} setting */
function isDefault(setting) {
  return setting.value === setting.default && !setting.next_value;
}

/** @param {{store: Store, name: string, setting: Setting, asks: boolean, version: string, done: () => void}} props */
function Row({ store, name, setting, asks, version, done }) {
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const begin = () => {
    setTyped(setting.next_value ?? setting.value);
    setOpen(true);
  };
  const change = async (/** @type {string | null} */ value) => {
    const body = { [setting.name]: value };
    const changed = await store.orders.act(`Changing ${setting.name}`, async () => {
      const answer = await store.source.request(node(name).settings, {
        method: "PATCH",
        body,
      });
      if (answer.notices?.length) store.orders.tell(answer.notices.join("; "));
    });
    if (!changed) return;
    setOpen(false);
    done();
  };
  return html`<tr>
    <th scope="row" title=${setting.place}>
      ${setting.name}
      ${setting.does && html`<div class="hint">${setting.does}</div>`}
    </th>
    <td>
      <span class=${isDefault(setting) ? "" : "changed"}>${setting.value}</span>
      ${!isDefault(setting) && html`<div class="hint">default ${setting.default}</div>`}
      ${setting.next_value && html`<div class="missing">${setting.next_value} from the next start on</div>`}
      ${asks && !open && html`<div><button class="small" aria-label=${`Change ${setting.name}`} onClick=${begin}>Change</button></div>`}
      ${
        open &&
        html`<form
        class="change"
        onSubmit=${(/** @type {any} */ event) => {
          event.preventDefault();
          void change(typed);
        }}
      >
        <input name="value" aria-label=${`New value of ${setting.name}`} value=${typed} onInput=${taking(setTyped)} autofocus />
        <button>Set</button>
        ${!isDefault(setting) && html`<button type="button" onClick=${() => change(null)}>Default</button>`}
        <button type="button" onClick=${() => setOpen(false)}>Cancel</button>
      </form>`
      }
    </td>
  </tr>
  ${
    open &&
    setting.name.endsWith(" Schedule") &&
    html`<tr><td colspan="2"><${SchedulePicker} text=${typed} set=${setTyped} version=${version} of=${name} /></td></tr>`
  }`;
}
