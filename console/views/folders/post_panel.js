/** The panel of a post: its text, properties and attachments, the versions of a conflict, and where its change is. */

import { message, node } from "../../api.js";
import { whyLacks } from "../../forecast/prospect.js";
import { folderName, numberName } from "../../state/lab_state.js";
import { shortInstant } from "../../state/lab_time.js";
import { visibleText, whereIs } from "../../state/posts.js";
import { choicesOf } from "../../state/source_choice.js";
import { html, useMemo, useState } from "../../vendor/preact.js";
import { Download } from "../download.js";
import { UntilWhen } from "../expected.js";
import { isPresent, useAnswer } from "../fetched.js";
import { SourceChoice } from "../panel/source_choice.js";
import { Conflict } from "./conflict.js";
import { PostDialog } from "./post_dialog.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 *
 * @typedef {object} Version A kept version as the API gives it.
 * @property {string} number as people see it
 * @property {string} change as traces write it
 * @property {string} store the server on which it was made
 * @property {string} modified_at
 * @property {string} subject
 * @property {string} sender
 * @property {string} body
 * @property {number} size
 * @property {[string, number][]} attachments
 * @property {string[]} includes
 * @property {string[]} properties
 */

/** @param {{store: Store, state: LabState, folder: string, server: string, object: string}} props */
export function PostPanel({ store, state, folder, server, object }) {
  const [editing, setEditing] = useState(/** @type {"edit" | "merge" | null} */ (null));
  const [sure, setSure] = useState(false);
  const table = state.servers[server]?.tables[folder];
  const item = table?.items[object];
  const live = isPresent(store) && state.servers[server]?.status === "running" && item !== undefined && !item.deleted;
  const versionsPath = node(server).versions(object);
  // The order of an object's versions is part of what changes: a resolved conflict can leave the shown version as it was.
  const { value: answer, refused: error } = useAnswer(
    store,
    live ? versionsPath : "",
    item && [item.number, ...item.conflict].join(),
  );
  /** @type {readonly Version[]} */
  const versions = store.source.live ? (answer ?? []) : item ? keptVersions(store.source, item) : [];
  const current = versions[0];
  if (!item) {
    const creation = state.changes.get(object);
    return html`<h2><bdi>${visibleText(creation?.subject || object)}</bdi></h2>
      <p class="hint">${server} does not have this post at the moment that is shown.</p>
      <${WhereIs} store=${store} state=${state} folder=${folder} number=${object} />`;
  }
  const change = state.changes.get(item.number);
  const paths = message(server, folderName(state, folder, server), object);
  const remove = () => {
    if (!sure) setSure(true);
    else void store.orders.send("Deleting the post", paths.itself, undefined, "DELETE");
  };
  return html`<article class="post-panel">
    <h2><bdi>${visibleText(change?.subject || state.changes.get(object)?.subject || "(no subject)")}</bdi></h2>
    <p class="about">
      <b>${numberName(state, item.number)}</b> in <bdi>${visibleText(folderName(state, folder))}</bdi> on ${server}
      ${item.deleted && html` <span class="badge bad">deleted</span>`}
      ${item.conflict.length > 0 && html` <span class="badge bad">conflict</span>`}
    </p>
    <p class="about">
      ${current?.sender && html`From <bdi>${visibleText(current.sender)}</bdi>. `}
      ${change && html`This version was made on ${change.node}, ${shortInstant(change.at)}.`}
    </p>
    ${
      live &&
      html`<div class="row">
        <button disabled=${!current} onClick=${() => setEditing("edit")}>Edit …</button>
        <button class="danger" onClick=${remove}>${sure ? "Really delete" : "Delete"}</button>
        <${Download} store=${store} path=${paths.mail} name="post.eml">Save as a mail</${Download}>
      </div>`
    }
    ${
      item.conflict.length > 0 &&
      html`<${Conflict}
        store=${store}
        state=${state}
        folder=${folder}
        server=${server}
        object=${object}
        item=${item}
        versions=${versions}
        live=${live}
        onMerge=${() => setEditing("merge")}
      />`
    }
    ${item.conflict.length === 0 && current && html`<pre class="body" dir="auto">${current.body || html`<small>(no text)</small>`}</pre>`}
    ${error && html`<p class="problem">${error}</p>`}
    ${!live && !current && !item.deleted && html`<p class="hint">${whyNoText(store, state, server)}</p>`}
    ${current && html`<${Attachments} store=${store} version=${current} path=${live ? paths.attachment : null} />`}
    <${WhereIs} store=${store} state=${state} folder=${folder} number=${item.number} />
    ${
      current &&
      html`<details>
        <summary>Properties</summary>
        <p class="hint">
          ${current.size} B. The version includes ${current.includes.join(", ")} (predecessor change list).
        </p>
        <pre class="properties">${current.properties.map(visibleText).join("\n")}</pre>
      </details>`
    }
    ${
      editing &&
      current &&
      html`<${PostDialog}
        store=${store}
        state=${state}
        server=${server}
        folder=${folder}
        version=${{
          object,
          subject: current.subject,
          body: editing === "merge" ? versions.map((version) => version.body).join("\n\n") : current.body,
          merges: item.conflict.length > 0,
          opened: versions.map((version) => version.change),
          kept: item.conflict.length > 0 ? item.conflict : [item.number],
        }}
        onClose=${() => setEditing(null)}
      />`
    }
  </article>`;
}

/**
 * @param {Store} store
 * @param {LabState} state
 * @param {string} server
 */
function whyNoText(store, state, server) {
  if (!store.source.live) return "The text of this version is not in this file.";
  if (store.timeline.travelling.value) return "The text is shown in the present only (End).";
  return `The text is not available: ${server} is ${state.servers[server].status}.`;
}

/**
 * Return the versions of a post that the file of a replay has, the shown one first; none if it does not have the shown one.
 * @param {import("../../source/replay.js").ReplaySource} source
 * @param {import("../../state/lab_state.js").Item} item
 */
function keptVersions({ versions }, { number, conflict }) {
  const shown = versions.get(number);
  const others = conflict.filter((change) => change !== number).map((change) => versions.get(change));
  return shown ? [shown, ...others.filter((version) => version !== undefined)] : [];
}

/** @param {{store: Store, version: Version, path: ((index: number) => string) | null}} props path: null if none can be saved */
function Attachments({ store, version, path }) {
  if (version.attachments.length === 0) return null;
  return html`<h3>Attachments</h3>
    <ul class="attachments">
      ${version.attachments.map(
        ([name, size], index) =>
          html`<li>
            ${
              path
                ? html`<${Download} plain store=${store} path=${path(index + 1)} name=${name || "attachment"}>
                    <bdi>${visibleText(name || "attachment")}</bdi>
                  </${Download}>`
                : html`<bdi>${visibleText(name || "attachment")}</bdi>`
            }
            ${" "}<small>${size} B</small>
          </li>`,
      )}
    </ul>`;
}

/**
 * Why a server got a change by backfill from where it got it.
 * @param {{store: Store, state: LabState, folder: string, server: string, number: string}} props
 */
function WhyFrom({ store, state, folder, server, number }) {
  const events = store.timeline.history?.events ?? [];
  const [choice] = useMemo(
    () => choicesOf(events, state.count, { server, folder, number }, 1),
    [events, state.count, server, folder, number],
  );
  if (!choice) return null;
  return html`<details>
    <summary>Why from ${choice.chosen.join(" and ") || "there"}?</summary>
    <${SourceChoice} state=${state} choice=${choice} />
  </details>`;
}

/**
 * Where a change is: which holders have it, since when, and by which mail.
 * @param {{store: Store, state: LabState, folder: string, number: string}} props
 */
function WhereIs({ store, state, folder, number }) {
  const events = store.timeline.history?.events ?? [];
  const places = useMemo(() => whereIs(state, events, folder, number), [state.count, events, folder, number]);
  return html`<h3>Where is ${numberName(state, number)}?</h3>
    <table class="where">
      ${places.map(
        (place) =>
          html`<tr>
            <th scope="row">${place.server}</th>
            <td class=${place.has ? "good" : "warn"}>${place.has ? "has it" : "lacks it"}</td>
            <td>
              ${place.at !== null && html`since ${shortInstant(place.at)}, ${place.way}`}
              ${
                place.mail &&
                html` <button onClick=${() => store.page.select({ kind: "mail", id: place.mail })}>mail</button>`
              }
              ${place.has && place.way === "backfill" && html`<${WhyFrom} store=${store} state=${state} folder=${folder} server=${place.server} number=${number} />`}
              ${
                !place.has &&
                html`${whyLacks(state, { server: place.server, folder, number })}
                  <div><${UntilWhen} store=${store} state=${state} lack=${{ server: place.server, folder, number }} /></div>`
              }
            </td>
          </tr>`,
      )}
    </table>`;
}
