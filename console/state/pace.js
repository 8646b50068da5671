/**
 * The order in which a run is shown: one axis for lab time and for what happens within one instant.
 *
 * Lab time alone cannot be shown: hours pass between two mails, and then a hundred events happen at one instant. On this axis each
 * event has a place, in steps. One step lies between two instants, however far apart they are; during it lab time passes evenly, so
 * a mail on its way is at the real fraction of its time. Within an instant a step lies before each arrival, so that a mail that
 * takes no time is seen on its way, and after each cause, so that it is seen before its effect. A screen that goes along the axis
 * therefore never shows an effect before its cause.
 *
 * Example: A posts at 00:10, and the mail to B, sent at 00:15, takes 80 ms.
 *
 *     event                    at             place
 *     change.made (A)          00:10:00       1
 *     mail.submitted (A)       00:15:00       3     one step for the change to be seen, one for the time between
 *     hop.received (B)         00:15:00.08    5     one step for the 80 ms, one for the arrival
 *     mail.received (B)        00:15:00.08    5     shown together with the arrival
 */

/**
 * @typedef {import("./events.js").LabEvent} LabEvent
 * @typedef {import("./lab_time.js").LabTime} LabTime
 *
 * @typedef {object} Moment A moment of a run. Within one instant the events that have happened tell moments apart.
 * @property {number} count how many events have happened
 * @property {LabTime} at
 * @property {number} place on the axis
 */

/** How far apart two instants are on the axis of causality. */
const BETWEEN_INSTANTS = 3;

/** The events that a step lies before: what a mail is on its way to. */
const AWAITED = new Set(["hop.received", "hop.dropped"]);

/** The events that a step lies after: what people do to a lab, and what begins to be waited for. */
const CAUSES = new Set(["change.made", "hop.failed", "fault.injected", "node.stopped", "store.deleted", "entry.made"]);

/**
 * The axis of causality puts an event to the right of another if its Lamport number is larger, and events with one number, which do
 * not depend on each other, above each other. Traces are sorted by time and then by Lamport number.
 */
export class Pace {
  /**
   * @param {number} [first] how many events of the run are not on the axis, because they are forgotten
   * @param {LabTime} [from] when the last of them happened
   */
  constructor(first = 0, from = 0) {
    this.first = first;
    this.from = from;
    /** @type {LabTime[]} when each event happened; never less than the one before it */
    this.times = [];
    /** @type {number[]} where each event is on the axis */
    this.places = [];
    /** @type {number[]} where lab time begins to pass towards each event; one step later the event's instant is reached */
    this.departures = [];
    /** @type {number[]} where each event is on the axis of causality: Lamport's numbers within an instant, one instant after the other */
    this.orders = [];
    this.lamport = 0;
    /** Whether a step lies after the last event. */
    this.held = false;
  }

  /** @param {LabEvent} event */
  add(event) {
    const { times, places, departures } = this;
    const last = times.length - 1;
    const at = last < 0 ? event.at : Math.max(event.at, times[last]);
    const departure = last < 0 ? 0 : places[last] + (this.held ? 1 : 0);
    const passes = last >= 0 && at > times[last];
    this.held = CAUSES.has(event.type);
    const apart = passes ? BETWEEN_INSTANTS : event.lamport > this.lamport ? 1 : 0;
    this.orders.push(last < 0 ? 0 : this.orders[last] + apart);
    this.lamport = event.lamport;
    times.push(at);
    departures.push(departure);
    places.push(departure + (passes ? 1 : 0) + (AWAITED.has(event.type) ? 1 : 0));
  }

  /** How many events the run has had. */
  get count() {
    return this.first + this.times.length;
  }

  /** The order of the last event. */
  get lastOrder() {
    return this.orders.at(-1) ?? 0;
  }

  /** The first instant of the axis. */
  get beginning() {
    return this.first > 0 ? this.from : (this.times[0] ?? 0);
  }

  /** Return where an event is on the axis of causality. @param {number} index */
  orderOf(index) {
    return this.orders[Math.max(0, index - this.first)];
  }

  /** Return when an event happened. @param {number} index */
  timeOf(index) {
    return this.times[Math.max(0, index - this.first)];
  }

  /** Return how many events are before a place of the axis of causality. @param {number} order */
  countBelow(order) {
    return this.first + above(this.orders, order, true);
  }

  /**
   * Return where a moment is on the axis of causality.
   * @param {Moment} moment
   */
  order({ count, at }) {
    const { orders, times } = this;
    const next = count - this.first;
    if (next <= 0) return (orders[0] ?? 0) - 1;
    const order = orders[next - 1];
    if (next === times.length || times[next] <= times[next - 1]) return order;
    return order + ((orders[next] - order) * (at - times[next - 1])) / (times[next] - times[next - 1]);
  }

  /** The place of the last event. */
  get end() {
    return this.places.at(-1) ?? 0;
  }

  /** Forget the events before an index. @param {number} first */
  forget(first) {
    const count = first - this.first;
    if (count <= 0) return;
    this.from = this.times[count - 1];
    this.times = this.times.slice(count);
    this.places = this.places.slice(count);
    this.departures = this.departures.slice(count);
    this.orders = this.orders.slice(count);
    this.first = first;
  }

  /**
   * Return what is shown at a place of the axis.
   * @param {number} place
   * @returns {Moment}
   */
  moment(place) {
    const { first, times, places, departures } = this;
    const next = above(places, place);
    const count = first + next;
    if (next === 0) return { count, at: this.beginning, place };
    const at = times[next - 1];
    if (next === times.length || times[next] === at) return { count, at, place };
    const share = Math.max(0, Math.min(1, place - departures[next]));
    return { count, at: at + (times[next] - at) * share, place };
  }

  /**
   * Return the moment after so many events; the first one on the axis, if that is forgotten.
   * @param {number} count
   * @returns {Moment}
   */
  after(count) {
    const { first, times, places, departures } = this;
    if (count <= first) return { count: first, at: this.beginning, place: (departures[0] ?? 0) - 1 };
    const index = Math.min(count - first, times.length) - 1;
    return { count: first + index + 1, at: times[index] ?? 0, place: places[index] ?? 0 };
  }

  /**
   * Return the moment at an instant, after all events up to it.
   * @param {LabTime} at
   * @returns {Moment}
   */
  at(at) {
    const { first, times, departures } = this;
    const next = above(times, at);
    const moment = this.after(first + next);
    if (next === 0) return moment;
    if (next === times.length) return { ...moment, at: Math.max(at, moment.at) };
    const share = (at - times[next - 1]) / (times[next] - times[next - 1]);
    return { count: moment.count, at, place: departures[next] + share };
  }

  /**
   * Return the moment at an instant after so many events; null if this run had another number of events then.
   * @param {number} count
   * @param {LabTime} at
   * @returns {Moment | null}
   */
  between(count, at) {
    const { first, times, departures } = this;
    const next = count - first;
    if (next < 0 || next > times.length || (next < times.length && at > times[next])) return null;
    const moment = this.after(count);
    if (at < moment.at) return null;
    if (at === moment.at || next === 0 || next === times.length) return { ...moment, at };
    return { count, at, place: departures[next] + (at - times[next - 1]) / (times[next] - times[next - 1]) };
  }

  /**
   * Return how many events happened before an instant.
   * @param {LabTime} at
   */
  before(at) {
    return this.first + above(this.times, at, true);
  }
}

/**
 * Return how many of the ascending numbers are not above a limit; with `strictly`, how many are below it.
 * @param {readonly number[]} sorted
 * @param {number} limit
 * @param {boolean} [strictly]
 */
function above(sorted, limit, strictly = false) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (strictly ? sorted[middle] < limit : sorted[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
