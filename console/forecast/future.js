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
 * @typedef {import("../state/marks.js").Crossing} Crossing
 *
 * @typedef {object} Answer What the lab answers.
 * @property {string} from_at
 * @property {string} to_at
 * @property {boolean} complete whether it looks as far as it was asked to
 * @property {LabEvent[]} events
 *
 * @typedef {object} Arrival Changes that a replica lacks now and will have.
 * @property {LabTime} at
 * @property {NumberSet} numbers
 */

/** What a connector carries without mail. */
export const NOTHING = { mails: 0, bytes: 0 };

export class Future {
  /**
   * @param {LabState} present a kept state, to which the events are applied
   * @param {readonly LabEvent[]} events
   * @param {LabTime} until how far the forecast looks
   * @param {LabTime} from the lab time of the present, which can be later than that of its last event
   */
  constructor(present, events, until, from = present.at) {
    this.count = present.count;
    this.from = from;
    this.until = until;
    // The clock of the copy is moved to the end; the lab's is not.
    this.events = events.filter((event) => event.type !== "clock.changed");
    /** What the diagram draws of it. */
    this.marks = new Marks();
    for (const { mail } of this.events) {
      const before = mail && present.mails.get(mail);
      if (before) this.marks.types.set(mail, before.type);
    }
    this.marks.add(this.events);
    /** The hops that are expected to end, also those that have begun. */
    this.hops = this.marks.arrows.filter(({ from, outcome }) => from && outcome !== "failed");
    /** @type {Map<string, Arrival[]>} by server and folder */
    this.arrivals = new Map();
    /** What replicas still lack at the end of what they lack now. @type {Map<string, Map<string, NumberSet>>} */
    this.lacking = new Map();
    /** When the last change arrives that a replica lacks; null if none is ever lacking, or one does not arrive. */
    this.agreedAt = /** @type {LabTime | null} */ (null);
    /** What crosses each connector. @type {Map<string, import("../state/lab_state.js").Carried>} */
    this.carried = new Map();
    /** Whether a replica still lacks something at the end. */
    this.lacks = false;
    this.follow(present);
  }

  /** Find out when each replica gets what it lacks. @param {LabState} present */
  follow(present) {
    const { lacking } = this;
    for (const { replicas } of folderSummaries(present)) {
      for (const { server, folder, missing } of replicas) {
        if (missing.size === 0) continue;
        const folders = lacking.get(server) ?? new Map();
        lacking.set(server, folders.set(folder, missing));
      }
    }
    const [mails, changes] = [apart(present.mails), apart(present.changes)];
    const state = { ...present, gen: newGeneration(), mails, changes };
    let newChanges = false;
    for (const event of this.events) {
      apply(state, event);
      if (event.type === "hop.sent" && event.connector) {
        const { mails, bytes } = this.carried.get(event.connector) ?? NOTHING;
        this.carried.set(event.connector, { mails: mails + 1, bytes: bytes + event.size });
      }
      const folders = lacking.get(event.node);
      for (const [folder, missing] of folders ?? []) {
        const remaining = numbers.minus(missing, state.servers[event.node].tables[folder]?.numbers ?? numbers.NOTHING);
        const arrival = numbers.minus(missing, remaining);
        if (arrival.size === 0) continue;
        const replica = `${event.node} ${folder}`;
        this.arrivals.set(replica, [...(this.arrivals.get(replica) ?? []), { at: event.at, numbers: arrival }]);
        if (remaining.size) folders?.set(folder, remaining);
        else folders?.delete(folder);
        this.agreedAt = event.at;
      }
      if (event.type === "change.made") newChanges = true;
      if (folders?.size === 0) lacking.delete(event.node);
    }
    this.lacks = lacking.size > 0 || (newChanges && folderSummaries(state).some((folder) => !folder.agrees));
    if (this.lacks) this.agreedAt = null;
  }

  /**
   * Return when a server will have all changes that it lacks now; null if not within the forecast, undefined if it lacks none.
   * @param {string} server
   * @param {string} [folder] only those of this folder
   * @returns {LabTime | null | undefined}
   */
  completeAt(server, folder) {
    const folders = this.lacking.get(server);
    if (folder ? folders?.has(folder) : folders) return null;
    const times = [...this.arrivals]
      .filter(([replica]) => (folder ? replica === `${server} ${folder}` : replica.startsWith(`${server} `)))
      .flatMap(([, arrivals]) => arrivals.map(({ at }) => at));
    return times.length ? Math.max(...times) : undefined;
  }

  /**
   * Return the hops that have begun at an instant and not ended. A lab tells of a hop when it has ended, so until then only its
   * future has it.
   * @param {LabTime} at
   * @returns {Crossing[]}
   */
  crossings(at) {
    return this.hops
      .filter(({ sentAt, arrivedAt }) => sentAt <= at && at < arrivedAt)
      .map((arrow) => ({ arrow, gone: (at - arrow.sentAt) / (arrow.arrivedAt - arrow.sentAt) }));
  }

  /**
   * Return the hops of the mails that are expected to leave next after an instant: all of one instant.
   * @param {LabTime} [at]
   */
  nextMails(at = this.from) {
    const hops = this.hops.filter(({ sentAt, arrivedAt }) => sentAt > at || (sentAt === at && arrivedAt === at));
    const first = Math.min(...hops.map(({ sentAt }) => sentAt));
    return hops.filter(({ sentAt }) => sentAt === first);
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
    return arrivals.find((arrival) => numbers.has(arrival.numbers, guid, counter))?.at ?? null;
  }
}
