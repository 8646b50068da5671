/** The form of a post: a new one, a new version, or the version that merges a conflict. */

import { message, node } from "../../api.js";
import { folderName, numberName } from "../../state/lab_state.js";
import { visibleText } from "../../state/posts.js";
import { html, useState } from "../../vendor/preact.js";
import { Modal } from "./modal.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 *
 * @typedef {object} Edited A post that gets a new version.
 * @property {string} object
 * @property {string} subject
 * @property {string} body
 * @property {boolean} merges whether it is in conflict
 * @property {string[]} opened the numbers of the versions that the user sees when the form opens
 * @property {readonly string[]} kept the numbers of those that the server has now
 */

/**
 * @param {{
 *   store: Store,
 *   state: LabState,
 *   server: string,
 *   folder: string,
 *   version?: Edited,
 *   onClose: () => void,
 * }} props `version`: the post that gets a new version; without it the form makes a new post
 */
export function PostDialog({ store, state, server, folder, version, onClose }) {
  // The text at the beginning; what happens in the lab meanwhile does not change what the user writes.
  const [before] = useState({
    subject: version?.subject ?? "",
    body: version?.body ?? "",
    opened: version?.opened ?? [],
  });
  const unseen = (version?.kept ?? []).filter((number) => !before.opened.includes(number));
  const [problem, setProblem] = useState("");
  // A change is ordered by the folder's path. Only reads take its id.
  const path = folderName(state, folder, server);
  const where = `${visibleText(path)} on ${server}`;
  const title = !version ? `Post in ${where}` : version.merges ? `Merge the versions in ${where}` : `Edit in ${where}`;
  const submit = async (/** @type {any} */ event) => {
    event.preventDefault();
    const { subject, body, sender, files } = event.target.elements;
    const texts = { subject: subject.value, body: body.value };
    try {
      if (version) {
        const edit = { ...texts, based_on: before.opened };
        await store.source.request(message(server, path, version.object).itself, { method: "PATCH", body: edit });
      } else {
        const attachments = await Promise.all([...files.files].map(attachment));
        const post = { folder: path, ...texts, sender: sender.value, attachments };
        await store.source.request(node(server).messages, { method: "POST", body: post });
      }
      onClose();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return html`<${Modal} title=${title} onClose=${onClose}>
    <form onSubmit=${submit}>
      <label
        >Subject <input name="subject" maxlength="1000" required dir="auto" defaultValue=${before.subject}
      /></label>
      ${
        !version &&
        html`<label>From <input name="sender" maxlength="1000" placeholder=${`kim@${state.topology.domain}`} /></label>`
      }
      <label>Text <textarea name="body" rows="8" dir="auto" defaultValue=${before.body}></textarea></label>
      ${!version && html`<label>Attachments <input name="files" type="file" multiple /></label>`}
      ${
        version?.merges &&
        html`<p class="hint">The new version replaces all versions of the conflict, on every server that gets it.</p>`
      }
      ${
        unseen.length > 0 &&
        html`<p class="hint" role="status">
          ${server} has got ${unseen.map((number) => numberName(state, number)).join(", ")} since you opened the post. What you save
          will be in conflict with it.
        </p>`
      }
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      <div class="row">
        <button class="primary">${version ? "Save" : "Post"}</button>
        <button type="button" onClick=${onClose}>Cancel</button>
      </div>
    </form>
  <//>`;
}

/**
 * Return a file as the API takes it, in base64.
 * @param {File} file
 * @returns {Promise<{name: string, content: string}>}
 */
function attachment(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => {
      const url = /** @type {string} */ (reader.result);
      resolve({ name: file.name, content: url.slice(url.indexOf(",") + 1) });
    };
    reader.onerror = () => reject(new Error(`${file.name} cannot be read`));
    reader.readAsDataURL(file);
  });
}
