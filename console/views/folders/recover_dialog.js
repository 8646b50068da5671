/** What a server retains of deleted posts and folders, and can recover. */

import { message as messagePaths, node } from "../../api.js";
import { folderName } from "../../state/lab_state.js";
import { parseInstant, shortInstant } from "../../state/lab_time.js";
import { visibleText } from "../../state/posts.js";
import { html, useState } from "../../vendor/preact.js";
import { useAnswer } from "../fetched.js";
import { Modal } from "./modal.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 * @typedef {{folder: string, message: string | null, subject: string, number: string, deleted_at: string, until_at: string}} Retained
 */

/** @param {{store: Store, state: LabState, server: string, folder: string, onClose: () => void}} props */
export function RecoverDialog({ store, state, server, folder, onClose }) {
  const [tries, setTries] = useState(0);
  const [problem, setProblem] = useState("");
  const { value: answer, refused: error } = useAnswer(store, node(server).retained, tries);
  const path = folderName(state, folder, server);
  /** @type {Retained[]} */
  const items = (answer ?? []).filter((/** @type {Retained} */ item) => item.message === null || item.folder === path);
  const recover = async (/** @type {Retained} */ { message, folder: place }) => {
    const path = message === null ? node(server).recoverFolder(place) : messagePaths(server, place, message).recover;
    try {
      await store.source.request(path, { method: "POST" });
      setProblem("");
    } catch (refusal) {
      setProblem(refusal instanceof Error ? refusal.message : String(refusal));
    }
    setTries(tries + 1);
  };
  return html`<${Modal} title=${`Deleted on ${server}`} onClose=${onClose}>
    ${error && html`<p class="problem" role="alert">${error}</p>`}
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${
      answer && items.length === 0
        ? html`<p>
            ${server} retains no deleted post of this folder and no deleted folder. A server retains what it deletes for
            its setting <code>Deleted Item Retention</code>, which is 0 by default.
          </p>`
        : html`<table>
            ${items.map(
              (item) =>
                html`<tr>
                  <td><bdi>${visibleText(item.message === null ? item.folder : item.subject)}</bdi></td>
                  <td>${item.message === null ? "folder" : item.number}</td>
                  <td>deleted ${shortInstant(parseInstant(item.deleted_at) ?? 0)}</td>
                  <td>retained until ${shortInstant(parseInstant(item.until_at) ?? 0)}</td>
                  <td><button onClick=${() => recover(item)}>Recover</button></td>
                </tr>`,
            )}
          </table>`
    }
    <div class="row"><button onClick=${onClose}>Close</button></div>
  <//>`;
}
