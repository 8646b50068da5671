/** Events of rows and of the backfill array. */

import * as numbers from "../change_numbers.js";
import { own, ownEntry } from "../kept_tree.js";
import { serverOf, tableOf } from "../lab_state.js";

/**
 * @typedef {import("../lab_state.js").Handlers} Handlers
 * @typedef {import("../lab_state.js").LabState} LabState
 */

/** @type {Handlers} */
export const BACKFILL = {
  "row.replaced": (state, event) => {
    const server = serverOf(state, event.node);
    if (!server) return;
    const rows = own(state.gen, tableOf(state, server, event.folder), "rows");
    const claim = numbers.union(numbers.parse(event.cnset), numbers.parse(event.cnset_fai));
    rows[event.store] = { gen: state.gen, numbers: claim, sentAt: event.sent_at, heardAt: event.at };
  },
  "entry.made": (state, event) => {
    const server = serverOf(state, event.node);
    if (!server) return;
    const entries = own(state.gen, tableOf(state, server, event.folder), "entries");
    const missing = numbers.union(numbers.parse(event.cnset), numbers.parse(event.cnset_fai));
    const parent = event.parent && entryOf(state, { ...event, entry: event.parent })?.entry;
    if (parent) parent.missing = numbers.minus(parent.missing, missing);
    entries[event.entry] = {
      gen: state.gen,
      id: event.entry,
      missing,
      local: event.local,
      madeAt: parent ? parent.madeAt : event.at,
      dueAt: event.due_at,
      attempts: parent ? parent.attempts : 0,
      waitsForSlot: false,
      requests: [],
    };
  },
  "entry.satisfied": (state, event) => {
    const server = serverOf(state, event.node);
    if (server) delete own(state.gen, tableOf(state, server, event.folder), "entries")[event.entry];
  },
  "entry.pruned": (state, event) => {
    const place = entryOf(state, event);
    if (!place) return;
    const { entries, entry } = place;
    const pruned = numbers.union(numbers.parse(event.cnset), numbers.parse(event.cnset_fai));
    entry.missing = numbers.minus(entry.missing, pruned);
    if (entry.missing.size === 0) delete entries[entry.id];
  },
  "entry.timed_out": (state, event) => {
    const entry = entryOf(state, event)?.entry;
    if (entry) entry.attempts = event.attempt;
  },
  "request.deferred": (state, event) => {
    const entry = entryOf(state, event)?.entry;
    if (entry) entry.waitsForSlot = true;
  },
  "request.sent": (state, event) => {
    const entry = entryOf(state, event)?.entry;
    if (!entry) return;
    entry.waitsForSlot = false;
    entry.dueAt = event.retry_at;
    entry.requests = [...entry.requests, { source: event.source, at: event.at, retryAt: event.retry_at }];
  },
  "request.ended": (state, event) => {
    const entry = entryOf(state, event)?.entry;
    if (entry) entry.requests = entry.requests.filter((request) => request.source !== event.source);
  },
};

/**
 * @param {LabState} state
 * @param {{node: string, folder: string, entry: number}} event
 */
function entryOf(state, event) {
  const server = serverOf(state, event.node);
  if (!server) return undefined;
  const entries = own(state.gen, tableOf(state, server, event.folder), "entries");
  const entry = ownEntry(state.gen, entries, event.entry);
  return entry && { entries, entry };
}
