/** Apply events to the state of a lab. */

import { BACKFILL } from "./handlers/backfill.js";
import { CHANGES } from "./handlers/changes.js";
import { MAILS } from "./handlers/mails.js";
import { SERVERS } from "./handlers/servers.js";

/**
 * @typedef {import("./events.js").LabEvent} LabEvent
 * @typedef {import("./lab_state.js").LabState} LabState
 */

/** @type {import("./lab_state.js").Handlers} */
const HANDLERS = { ...SERVERS, ...CHANGES, ...BACKFILL, ...MAILS };

/**
 * Take one event. Events must come in causal order, as the lab's stream and `pflab replay` give them.
 * @param {LabState} state
 * @param {LabEvent} event
 */
export function apply(state, event) {
  state.count += 1;
  if (event.at > state.at) state.at = event.at;
  const take = /** @type {((state: LabState, event: LabEvent) => void) | undefined} */ (HANDLERS[event.type]);
  take?.(state, event);
}
