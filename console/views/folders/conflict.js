/** A conflict: its versions beside each other, why one of them is shown, and the ways to resolve it. */

import { message, node } from "../../api.js";
import { differences } from "../../state/differences.js";
import { folderName, numberName, splitNumber } from "../../state/lab_state.js";
import { parseInstant, shortInstant } from "../../state/lab_time.js";
import { visibleText, winnerReason } from "../../state/posts.js";
import { html, useState } from "../../vendor/preact.js";
import { useAnswer } from "../fetched.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 * @typedef {import("../../state/lab_state.js").Item} Item
 * @typedef {import("./post_panel.js").Version} Version
 */

/**
 * @param {{
 *   store: Store,
 *   state: LabState,
 *   folder: string,
 *   server: string,
 *   object: string,
 *   item: Item,
 *   versions: readonly Version[],
 *   live: boolean,
 *   onMerge: () => void,
 * }} props
 */
export function Conflict({ store, state, folder, server, object, item, versions, live, onMerge }) {
  const { value: answer } = useAnswer(store, live ? node(server).folders : "");
  const folderView = answer?.find((/** @type {any} */ view) => view.id === folder);
  /** @type {string[]} */
  const contacts = folderView?.contacts ?? [];
  const [by, setBy] = useState("");
  const numbers = [item.number, ...item.conflict.filter((change) => change !== item.number)];
  const byNumber = new Map(versions.map((version) => [version.change, version]));
  const at = (/** @type {string} */ number) => {
    const version = byNumber.get(number);
    return (version ? parseInstant(version.modified_at) : state.changes.get(number)?.at) ?? 0;
  };
  const winner = numberName(state, item.number);
  const why =
    winnerReason(numbers, at) === "last"
      ? `${winner} is shown, because it was modified last.`
      : `${winner} is shown: versions were modified at the same instant, and the larger replica GUID wins.`;
  const resolve = (/** @type {string} */ keep, /** @type {string} */ what) =>
    store.orders.send(what, message(server, folderName(state, folder, server), object).resolve, {
      keep,
      by: by || contacts[0],
    });
  return html`<section class="conflict" aria-label="Conflict">
    <p>
      The post has ${numbers.length} versions, and none includes the others. So every server keeps all of them. ${why}
    </p>
    <div class="versions">
      ${numbers.map((number, index) => {
        const version = byNumber.get(number);
        const compared = numbers[index ? 0 : 1];
        const other = byNumber.get(compared);
        const change = state.changes.get(number);
        return html`<section
          key=${number}
          class=${index ? "version" : "version shown"}
          aria-label=${numberName(state, number)}
        >
          <h3>${numberName(state, number)} ${index === 0 && html`<span class="badge">shown</span>`}</h3>
          <p class="about">
            ${version?.sender && html`<bdi>${visibleText(version.sender)}</bdi>, `}on
            ${" "}${version?.store ?? change?.node ?? "?"}, ${shortInstant(at(number))}${" "}
            <small class="guid" title="The replica GUID of the store that made it"
              >${splitNumber(number)[0].slice(0, 8)}</small
            >
          </p>
          <p class="subject" dir="auto">
            <${Marked} text=${version?.subject ?? change?.subject ?? ""} other=${other?.subject ?? state.changes.get(compared)?.subject ?? null} />
          </p>
          ${version && html`<pre class="body" dir="auto"><${Marked} text=${version.body} other=${other?.body ?? null} /></pre>`}
          ${
            live &&
            version &&
            html`<button
              disabled=${contacts.length === 0}
              onClick=${() => resolve(number, `Keeping ${version.number}`)}
            >
              Keep this version
            </button>`
          }
        </section>`;
      })}
    </div>
    ${
      live &&
      html`<div class="row">
        <button disabled=${contacts.length === 0} onClick=${() => resolve("all", "Keeping all versions")}>
          Keep ${numbers.length === 2 ? "both" : "all"} as posts
        </button>
        <button disabled=${versions.length === 0} onClick=${onMerge}>Merge …</button>
        ${
          contacts.length > 1 &&
          html`<label
            >as
            <select value=${by || contacts[0]} onChange=${(/** @type {any} */ event) => setBy(event.target.value)}>
              ${contacts.map((contact) => html`<option value=${contact}>${visibleText(contact)}</option>`)}
            </select>
          </label>`
        }
        ${contacts.length === 1 && html`<span class="hint">as <bdi>${visibleText(contacts[0])}</bdi>, the folder's contact</span>`}
      </div>`
    }
    ${
      live &&
      folderView &&
      contacts.length === 0 &&
      html`<p class="hint">
        The folder has no contacts, and only contacts may choose a version. An edit (Merge) resolves the conflict too.
      </p>`
    }
    ${
      folderView?.resolve === "last writer wins" &&
      html`<p class="hint">The folder's resolve method is "last writer wins", so users see no mark of the conflict.</p>`
    }
  </section>`;
}

/**
 * A text whose words that the other version does not have are marked.
 * @param {{text: string, other: string | null}} props
 */
function Marked({ text, other }) {
  if (other === null) return html`${text}`;
  return html`${differences(text, other).map(({ text: piece, differs }) => (differs ? html`<mark>${piece}</mark>` : piece))}`;
}
