/**
 * What a lab will do if nobody changes it, as the lab's forecast tells it: events that have not happened.
 *
 * A future is applied to a state of its own, which begins with the present and never touches it. So "B will have it" means exactly
 * what "B has it" means on the screen when the time has come.
 *
 * What must never happen: that an event of a future is taken for one that has happened. Nothing here is part of a history.
 */

import { apply } from "../state/apply.js";
import * as numbers from "../state/change_numbers.js";
import { apart } from "../state/kept_book.js";
import { newGeneration } from "../state/kept_tree.js";
import { Marks } from "../state/marks.js";
import { folderSummaries } from "../state/summary.js";

/**
 * @typedef {import("../state/change_numbers.js").NumberSet} NumberSet
 * @typedef {import("../state/events.js").LabEvent} LabEvent
 * @typedef {import("../state/lab_state.js").LabState} LabState
 * @typedef {import("../state/lab_time.js").LabTime} LabTime
 *
 * @typedef {object} Answer What the lab answers.
 * @property {string} to_at
 * @property {boolean} complete whether it looks as far as it was asked to
 * @property {LabEvent[]} events
 *
 * @typedef {object} Arrival Changes that a replica lacks now and will have.
 * @property {LabTime} at
 * @property {NumberSet} numbers
 */

export class Future {
  /**
   * @param {LabState} present a kept state, to which the events are applied
   * @param {readonly LabEvent[]} events
   * @param {LabTime} until how far the forecast looks
   */
  constructor(present, events, until) {
    this.count = present.count;
    this.until = until;
    // The clock of the copy is moved to the end; the lab's is not.
    this.events = events.filter((event) => event.type !== "clock.changed");
    /** What the diagram draws of it. */
    this.marks = new Marks();
    for (const { mail } of this.events) {
      const known = mail && present.mails.get(mail);
      if (known) this.marks.types.set(mail, known.type);
    }
    this.marks.add(this.events);
    /** @type {Map<string, Arrival[]>} */
    this.arrivals = new Map();
    /** When the last change arrives that a replica lacks; null if none is ever lacking, or one does not arrive. */
    this.agreedAt = /** @type {LabTime | null} */ (null);
    /** Whether a replica still lacks something at the end. */
    this.lacks = false;
    this.follow(present);
  }

  /** Find out when each replica gets what it lacks. @param {LabState} present */
  follow(present) {
    /** @type {Map<string, Map<string, NumberSet>>} by server and folder */
    const lacking = new Map();
    for (const { replicas } of folderSummaries(present)) {
      for (const { server, folder, missing } of replicas) {
        if (missing.size === 0) continue;
        const folders = lacking.get(server) ?? new Map();
        lacking.set(server, folders.set(folder, missing));
      }
    }
    const [mails, changes] = [apart(present.mails), apart(present.changes)];
    const state = { ...present, gen: newGeneration(), mails, changes };
    let made = false;
    for (const event of this.events) {
      apply(state, event);
      const folders = lacking.get(event.node);
      for (const [folder, missing] of folders ?? []) {
        const left = numbers.minus(missing, state.servers[event.node].tables[folder]?.numbers ?? numbers.NOTHING);
        const come = numbers.minus(missing, left);
        if (come.size === 0) continue;
        const key = `${event.node} ${folder}`;
        this.arrivals.set(key, [...(this.arrivals.get(key) ?? []), { at: event.at, numbers: come }]);
        if (left.size) folders?.set(folder, left);
        else folders?.delete(folder);
        this.agreedAt = event.at;
      }
      if (event.type === "change.made") made = true;
      if (folders?.size === 0) lacking.delete(event.node);
    }
    this.lacks = lacking.size > 0 || (made && folderSummaries(state).some((folder) => !folder.agrees));
    if (this.lacks) this.agreedAt = null;
  }

  /**
   * Return when a replica will have a change that it lacks now; null if not within the forecast.
   * @param {string} server
   * @param {string} folder
   * @param {string} guid
   * @param {number} counter
   * @returns {LabTime | null}
   */
  arrivalOf(server, folder, guid, counter) {
    const arrivals = this.arrivals.get(`${server} ${folder}`) ?? [];
    return arrivals.find((each) => numbers.has(each.numbers, guid, counter))?.at ?? null;
  }
}
