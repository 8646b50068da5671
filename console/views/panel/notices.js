/** The mails to people that a store wrote or took: notices of conflicts to contacts, reports, mail to mailboxes. */

import { node } from "../../api.js";
import { shortInstant } from "../../state/lab_time.js";
import { visibleText } from "../../state/posts.js";
import { html } from "../../vendor/preact.js";
import { OnlyPresent, isPresent, useAnswer } from "../fetched.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 */

/** The most notices that are listed. */
const MOST = 100;

/** @param {{store: Store, state: LabState, name: string}} props */
export function Notices({ store, state, name }) {
  const running = state.servers[name].status === "running";
  const { value, refused } = useAnswer(store, running ? node(name).mailbox : "", state.count);
  if (!isPresent(store) || !running) return html`<${OnlyPresent} what="Mail to people on a running server" />`;
  if (refused) return html`<p class="missing">${refused}</p>`;
  /** @type {{id: number, at: string, recipient: string, sender: string, subject: string, body: string}[]} */
  const notices = value ?? [];
  if (value && notices.length === 0)
    return html`<p class="hint">No mail to people. A store writes to the contacts of a folder when a conflict arises.</p>`;
  return html`<ul class="notices">
    ${[...notices]
      .reverse()
      .slice(0, MOST)
      .map(
        (notice) => html`<li key=${notice.id}>
          <h3><bdi>${visibleText(notice.subject || "(no subject)")}</bdi></h3>
          <p class="hint">
            To <bdi>${visibleText(notice.recipient)}</bdi>${notice.sender && html` from <bdi>${visibleText(notice.sender)}</bdi>`},
            ${shortInstant(Date.parse(notice.at) * 1000)}
          </p>
          <pre class="body" dir="auto">${notice.body}</pre>
        </li>`,
      )}
  </ul>`;
}
