/** "Until when": what is expected to happen to what somebody looks at, in a sentence that says that it is expected. */

import { prospectOf } from "../forecast/prospect.js";
import { ifLost } from "../forecast/what_if.js";
import { folderName, numberName } from "../state/lab_state.js";
import { MINUTE_US, shortInstant } from "../state/lab_time.js";
import { heldFolders, replicaSummary } from "../state/summary.js";
import { html, useMemo } from "../vendor/preact.js";
import { isPresent } from "./fetched.js";
import { Ask } from "./what_if.js";

/**
 * @typedef {import("../store.js").Store} Store
 * @typedef {import("../state/lab_state.js").LabState} LabState
 * @typedef {import("../forecast/prospect.js").Lack} Lack
 * @typedef {import("../forecast/prospect.js").Prospect} Prospect
 */

/** The most changes of a server that are told one by one. */
const MOST_LACKS = 4;

/**
 * Return the future of what is shown, if it is the present and its future is known.
 * @param {Store} store
 */
export function futureOf(store) {
  return isPresent(store) ? store.forecast.future.value : null;
}

/** Words about the future, marked as such. @param {{children?: any}} props */
export function Expected({ children }) {
  return html`<span class="expected"><span class="badge">expected</span> ${children}</span>`;
}

/**
 * Return when a server that is behind is expected to have everything, in words; "" if it lacks nothing, or its future is not known.
 * @param {Store} store
 * @param {string} server
 * @param {string} [folder] of this folder only
 */
export function completion(store, server, folder) {
  const future = futureOf(store);
  const at = future?.completeAt(server, folder);
  if (!future || at === undefined) return "";
  return at === null
    ? `expected: not before ${shortInstant(future.until - (future.until % MINUTE_US))}`
    : `expected: all at ${shortInstant(at)}`;
}

/** What is expected until a replica has a change. @param {{store: Store, state: LabState, lack: Lack}} props */
export function UntilWhen({ store, state, lack }) {
  const prospect = useProspect(store, state, lack);
  return (
    prospect &&
    html`<${Expected}>${sentence(prospect, store)}</${Expected}><${AskAboutHop} store=${store} hop=${prospect.hop} />`
  );
}

/**
 * @param {Store} store
 * @param {LabState} state
 * @param {Lack} lack
 */
function useProspect(store, state, { server, folder, number }) {
  const future = futureOf(store);
  return useMemo(
    () => (future && future.count === state.count ? prospectOf(state, future, { server, folder, number }) : null),
    [future, state.count, server, folder, number],
  );
}

/** @param {Prospect} prospect @param {Store} store */
function sentence({ steps, at }, store) {
  if (at !== null) return steps.join("; ");
  const until = store.forecast.future.value?.until ?? 0;
  return [...steps, `not before ${shortInstant(until)}`].join("; ");
}

/**
 * What a server lacks, why, and until when.
 * @param {{store: Store, state: LabState, name: string, folder: string}} props
 */
export function ServerProspects({ store, state, name, folder }) {
  if (!futureOf(store)) return null;
  /** @type {Lack[]} */
  const lacks = [];
  for (const id of folder ? [folder] : heldFolders(state, name)) {
    for (const [guid, ranges] of replicaSummary(state, name, id).missing) {
      for (const [low] of ranges) lacks.push({ server: name, folder: id, number: `${guid}:${low}` });
    }
  }
  if (lacks.length === 0) return null;
  return html`<ul class="prospects">
    ${lacks
      .slice(0, MOST_LACKS)
      .map(
        (lack) =>
          html`<li key=${`${lack.folder} ${lack.number}`}><${Lacks} store=${store} state=${state} lack=${lack} /></li>`,
      )}
    ${lacks.length > MOST_LACKS && html`<li class="hint">and more; open a post to see when it arrives</li>`}
  </ul>`;
}

/** One change that a server lacks. @param {{store: Store, state: LabState, lack: Lack}} props */
function Lacks({ store, state, lack }) {
  const prospect = useProspect(store, state, lack);
  if (!prospect) return null;
  return html`<b>${numberName(state, lack.number)}</b> of ${folderName(state, lack.folder)}: ${prospect.why}.
    <div><${Expected}>${sentence(prospect, store)}</${Expected}><${AskAboutHop} store=${store} hop=${prospect.hop} /></div>`;
}

/** What if the mail is lost that is expected to bring a change? @param {{store: Store, hop: Prospect["hop"]}} props */
function AskAboutHop({ store, hop }) {
  if (!hop) return null;
  return html`<div><${Ask} store=${store} question=${ifLost(hop.mail, hop.from, hop.to, hop.at)} /></div>`;
}
