/**
 * The history of a run: its events, and the state after any of them.
 *
 * Again and again the history keeps the state (see lab_state.js). The state at an earlier moment is the last kept state
 * before it, with the events since then applied to a copy. Like the present, this copy changes when a later moment is asked for.
 *
 * A history begins with the run, or with a checkpoint of the lab. It can forget its oldest events, and then begins with a state
 * that it has kept.
 */

import { apply } from "./apply.js";
import { keep, newGeneration } from "./kept_tree.js";
import { beginning } from "./lab_state.js";
import { Log } from "./log.js";

/**
 * @typedef {import("./lab_state.js").LabState} LabState
 * @typedef {import("./events.js").LabEvent} LabEvent
 * @typedef {import("./lab_state.js").Topology} Topology
 * @typedef {import("./lab_time.js").LabTime} LabTime
 */

/** How many events lie between two kept states at first. Fewer would cost memory, more would make the slider slower. */
const KEEP_EVERY = 2_000;

/** The most kept states. With more events, every second one is dropped, so that a long run takes bounded memory. */
const MOST_KEPT = 256;

export class History {
  /**
   * @param {Topology} topology
   * @param {LabTime} at the start of the run
   * @param {string} setup the GUID that numbers the folders of the topology
   * @param {LabState} [first] the state with which the history begins, if not with the run
   */
  constructor(topology, at, setup, first) {
    /** @type {LabState} The state after all events. */
    this.now = first ?? beginning(topology, at, setup);
    /** The organization with which the history begins. */
    this.organization = this.now.topology;
    /** @type {Log<LabEvent>} */
    this.events = new Log(this.now.count);
    /** How many events lie between two kept states. */
    this.every = KEEP_EVERY;
    /** @type {LabState[]} the oldest first */
    this.kept = [this.keepNow()];
    /** The state of the past that was asked for last. @type {LabState | null} */
    this.passing = null;
  }

  /** @param {readonly LabEvent[]} events */
  add(events) {
    for (const event of events) {
      this.events.push(event);
      apply(this.now, event);
      if (this.events.length % this.every === 0) this.kept.push(this.keepNow());
      if (this.kept.length <= MOST_KEPT) continue;
      this.kept = this.kept.filter((_, index) => index % 2 === 0);
      this.every *= 2;
    }
  }

  /** Return the state after all events, which later events do not change. */
  keepNow() {
    const { kept, next } = keep(this.now);
    this.now = next;
    return kept;
  }

  /**
   * Return the state after the first `count` events.
   * @param {number} count
   * @returns {LabState}
   */
  after(count) {
    if (count >= this.events.length) return this.now;
    const base = this.keptBefore(count);
    const { passing } = this;
    // A play of the past goes on from where it was, and costs what happened since.
    const goesOn = passing !== null && base.count <= passing.count && passing.count <= count;
    /** @type {LabState} */
    const state = goesOn ? passing : { ...base, gen: newGeneration() };
    this.passing = state;
    for (let index = state.count; index < count; index++) {
      apply(state, /** @type {LabEvent} */ (this.events.at(index)));
    }
    return { ...state };
  }

  /**
   * Return the last kept state that is not after so many events; the first one, if the events up to there are forgotten.
   * @param {number} count
   */
  keptBefore(count) {
    return this.kept.findLast((state) => state.count <= count) ?? this.kept[0];
  }

  /**
   * Forget the events before about the given one. Returns with how many events the history now begins.
   * @param {number} count
   * @returns {number}
   */
  forget(count) {
    const first = this.keptBefore(count);
    this.kept = this.kept.slice(this.kept.indexOf(first));
    if (this.passing && this.passing.count < first.count) this.passing = null;
    this.events.forget(first.count);
    return first.count;
  }
}
