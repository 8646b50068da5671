/**
 * What the pictures draw: arrows for hops, dots for changes, bars for waits, shades for faults and for servers that do not run.
 * Marks are collected from the events once; they do not depend on the moment that is shown.
 *
 * A hop is told by both ends when it has ended, in either order. Until the sender has told when it began, an arrow begins when it
 * ends. `onTheirWay` gives the hops that are under way at a moment, and how far each of them is; the map draws its envelopes from
 * it, and nothing else moves there.
 */

import * as numbers from "./change_numbers.js";
import { Pace } from "./pace.js";

/**
 * @typedef {import("./change_numbers.js").NumberSet} NumberSet
 * @typedef {import("./events.js").LabEvent} LabEvent
 * @typedef {import("./lab_state.js").LabState} LabState
 * @typedef {import("./lab_time.js").LabTime} LabTime
 * @typedef {import("./pace.js").Moment} Moment
 *
 * @typedef {object} Arrow One hop of a mail, or an attempt that failed.
 * @property {string} mail
 * @property {number | undefined} type
 * @property {string} from
 * @property {string} to
 * @property {string} connector "" inside a site
 * @property {LabTime} sentAt
 * @property {LabTime} arrivedAt when it ended
 * @property {"arrived" | "lost" | "failed"} outcome
 * @property {number} begin how many events had happened when it could begin
 * @property {number} end the index of the event that ended it
 * @property {number} event the index of the event whose words tell of it
 * @property {number} cause the index of the event that put the mail into its sender's queue
 * @property {boolean} begun its sender has told when it began
 * @property {boolean} whole nothing more will be told of it
 *
 * @typedef {object} Dot A change that a user made.
 * @property {string} server
 * @property {LabTime} at
 * @property {string} label
 * @property {number} event
 *
 * @typedef {"wait" | "request" | "fault" | "stopped" | "killed" | "deleted" | "suspended"} SpanKind
 *
 * @typedef {object} Span Something that lasts. `until` is null while it lasts.
 * @property {SpanKind} kind a wait until a request, the wait for its answer, …
 * @property {string} server "" for the whole lab
 * @property {LabTime} from
 * @property {LabTime | null} until
 * @property {LabTime | null} due when a wait will end by itself
 * @property {string} label
 * @property {number} event
 * @property {number | null} last the index of the event that ended it
 *
 * @typedef {{key: string, kind: SpanKind, due: LabTime | null, missing: NumberSet}} Wait
 *
 * @typedef {object} Bounds
 * @property {LabTime} sentAt
 * @property {LabTime} arrivedAt
 * @property {number} cause
 * @property {number} end
 *
 * @typedef {object} Crossing A hop that is under way.
 * @property {Arrow} arrow
 * @property {number} gone how far it is, from 0 to 1
 */

/** How many arrows share one bound of their times. */
const BLOCK = 256;

export class Marks {
  constructor() {
    this.pace = new Pace();
    /** @type {Arrow[]} in the order in which the lab told of their ends */
    this.arrows = [];
    /** For each block of arrows the first begin and the last end, as times and as indices of events. @type {Bounds[]} */
    this.blocks = [];
    /** @type {Dot[]} */
    this.dots = [];
    /** @type {Span[]} */
    this.spans = [];
    this.count = 0;
    /** Grows when a mark is added or changed. */
    this.version = 0;
    /** Grows when marks are forgotten; then others have their places in the lists. */
    this.forgotten = 0;
    /** @type {Map<string, number | undefined>} the message type of each mail */
    this.types = new Map();
    /** @type {Map<string, number>} how many events had happened when a server had a mail in its queue, by mail and server */
    this.queued = new Map();
    /** @type {Map<string, number[]>} the indices of arrows of which one end has told, by mail */
    this.open = new Map();
    /** @type {Map<string, Span>} */
    this.lasting = new Map();
    /** @type {Map<string, NumberSet>} what each wait is for */
    this.missing = new Map();
    /** @type {Map<string, Wait[]>} what a store waited for when a backup of it was made */
    this.backups = new Map();
    /** @type {Map<string, number>} which directory object each store has that was created again (spec: RP-7) */
    this.objects = new Map();
    /** @type {Set<string>} all servers so far, also those that were removed */
    this.servers = new Set();
  }

  /**
   * Begin with a state, in place of the events that have led to it.
   * @param {LabState} state
   */
  resume(state) {
    this.pace = new Pace(state.count, state.at);
    this.count = state.count;
    for (const { id, type } of state.mails.values()) this.types.set(id, type);
    for (const fault of Object.values(state.faults)) {
      this.begin("fault", `fault ${fault.id}`, String(fault.details.server ?? ""), fault);
    }
    for (const server of Object.values(state.servers)) {
      const { name, status, object, suspended } = server;
      this.objects.set(name, object);
      if (status === "stopped" || status === "killed") this.begin(status, `server ${name}`, name, state);
      if (status === "deleted") this.begin("deleted", `deleted ${name}`, name, state);
      if (suspended) this.begin("suspended", `suspended ${name}`, name, state);
      for (const { key, kind, from, due, missing } of waitsIn(server)) {
        this.missing.set(key, missing);
        this.begin(kind, key, name, { at: from }, due);
      }
    }
    for (const [id, server] of Object.entries(state.backups)) this.backups.set(id, waitsIn(server));
  }

  /**
   * Forget what was over before an event.
   * @param {number} first the index of the event
   * @param {LabState} now what is not over
   */
  forget(first, now) {
    const waiting = new Set(Object.values(now.servers).flatMap(({ queue }) => Object.keys(queue)));
    /** @type {Map<number, number>} where each arrow is now */
    const places = new Map();
    const { arrows } = this;
    this.arrows = arrows.filter(({ end }, index) => end >= first && places.set(index, places.size));
    this.blocks = [];
    this.arrows.forEach((_, index) => this.bound(index));
    for (const [mail, indices] of this.open) {
      const halves = indices.flatMap((index) => places.get(index) ?? []);
      if (halves.length) this.open.set(mail, halves);
      else this.open.delete(mail);
    }
    const recent = new Set(this.arrows.map(({ mail }) => mail));
    for (const mail of this.types.keys()) if (!waiting.has(mail) && !recent.has(mail)) this.types.delete(mail);
    for (const [key, count] of this.queued) {
      if (count < first && !waiting.has(key.slice(0, key.lastIndexOf(" ")))) this.queued.delete(key);
    }
    this.dots = this.dots.filter(({ event }) => event >= first);
    this.spans = this.spans.filter(({ last }) => last === null || last >= first);
    this.pace.forget(first);
    this.forgotten += 1;
    this.version += 1;
  }

  /** @param {readonly LabEvent[]} events */
  add(events) {
    for (const event of events) {
      this.pace.add(event);
      this.take(event);
      this.count += 1;
    }
  }

  /** @param {any} event */
  take(event) {
    switch (event.type) {
      case "mail.submitted":
        this.types.set(event.mail, event.message_type);
        this.queued.set(`${event.mail} ${event.node}`, this.count + 1);
        break;
      case "hop.sent":
        this.sent(event);
        break;
      case "hop.received":
        this.queued.set(`${event.mail} ${event.node}`, this.count + 1);
        this.received(event, "arrived");
        break;
      case "hop.dropped":
        this.received(event, "lost");
        break;
      case "hop.failed":
        this.arrow(event, event.node, event.next_hop, event.begun_at ?? event.at, "failed").whole = true;
        break;
      case "change.made":
        this.dots.push({ server: event.node, at: event.at, label: event.words ?? "", event: this.count });
        this.version += 1;
        break;
      case "entry.made": {
        const key = entryKey(event, event.entry);
        this.missing.set(key, missingOf(event));
        if (event.parent) this.prune(entryKey(event, event.parent), event);
        this.begin("wait", key, event.node, event, event.due_at);
        break;
      }
      case "request.deferred": {
        const span = this.lasting.get(entryKey(event, event.entry));
        if (span) span.due = null;
        break;
      }
      case "request.sent": {
        const key = entryKey(event, event.entry);
        const span = this.lasting.get(key);
        if (span?.kind === "request" && span.from === event.at) {
          span.due = Math.max(span.due ?? 0, event.retry_at);
          break;
        }
        const missing = this.missing.get(key);
        this.end(key, event.at);
        if (missing) this.missing.set(key, missing);
        this.begin("request", key, event.node, event, event.retry_at);
        break;
      }
      case "entry.pruned":
        this.prune(entryKey(event, event.entry), event);
        break;
      case "entry.satisfied":
        this.end(entryKey(event, event.entry), event.at);
        break;
      case "fault.injected":
        if (event.kind === "kill") this.begin("killed", `server ${event.details.server}`, event.details.server, event);
        else this.begin("fault", `fault ${event.fault}`, event.details.server ?? "", event);
        break;
      case "fault.healed":
        this.end(`fault ${event.fault}`, event.at);
        break;
      case "node.stopped":
        // The store that was deleted stops after that.
        if (!this.lasting.has(`deleted ${event.node}`))
          this.begin(event.how === "kill" ? "killed" : "stopped", `server ${event.node}`, event.node, event);
        break;
      case "node.started":
        this.end(`server ${event.node}`, event.at);
        this.end(`deleted ${event.node}`, event.at);
        if (event.reason === "first") this.endWaits(event.node, "", event.at);
        break;
      case "replica.dropped":
        this.endWaits(event.node, event.folder, event.at);
        break;
      case "backup.made":
        this.backups.set(event.backup, this.waitsOf(event.store));
        break;
      case "backup.restored":
        this.endWaits(event.store, "", event.at);
        for (const { key, kind, due, missing } of this.backups.get(event.backup) ?? []) {
          this.missing.set(key, missing);
          this.begin(kind, key, event.store, event, due);
        }
        break;
      case "organization.changed":
        for (const name of Object.keys(JSON.parse(event.topology).servers)) this.servers.add(name);
        if (event.change === "removed" && event.subject.startsWith("server ")) {
          this.end(event.subject, event.at);
          this.end(event.subject.replace("server", "deleted"), event.at);
        }
        break;
      case "store.created":
        this.objects.set(event.store, event.directory_object);
        break;
      case "store.deleted":
        if ((event.directory_object ?? 0) < (this.objects.get(event.store) ?? 0)) break; // an old object, noticed late
        this.end(`server ${event.store}`, event.at);
        this.begin("deleted", `deleted ${event.store}`, event.store, event);
        break;
      case "content.suspended":
        this.begin("suspended", `suspended ${event.node}`, event.node, event);
        break;
      case "content.resumed":
        this.end(`suspended ${event.node}`, event.at);
        break;
    }
  }

  /** The sender tells of a hop. @param {any} event */
  sent(event) {
    const sentAt = event.begun_at ?? event.at;
    // Both ends record the same hop; the receiver's event usually comes first.
    const index = this.half(event.mail, (arrow) => arrow.to === event.next_hop && !arrow.begun);
    const arrow =
      index === undefined
        ? this.arrow(event, event.node, event.next_hop, sentAt, "arrived")
        : /** @type {Arrow} */ (this.arrows[index]);
    Object.assign(arrow, {
      from: event.node,
      sentAt,
      connector: event.connector ?? "",
      begun: true,
      event: this.count,
    });
    arrow.whole = index !== undefined;
    this.settle(index ?? this.arrows.length - 1);
    if (index === undefined) this.wait(event.mail);
  }

  /** The receiver tells of a hop. @param {any} event @param {Arrow["outcome"]} outcome */
  received(event, outcome) {
    // From a foreign relay, the peer is not the server at the beginning.
    const from = event.authenticated === false ? "" : (event.peer ?? "");
    const index = this.half(
      event.mail,
      (arrow) => arrow.to === event.node && arrow.begun && (!from || arrow.from === from),
    );
    if (index === undefined) {
      this.arrow(event, from, event.node, event.at, outcome);
      this.wait(event.mail);
    } else {
      Object.assign(this.arrows[index], { arrivedAt: event.at, outcome, end: this.count, whole: true });
      this.settle(index);
    }
  }

  /**
   * Take the arrow of a mail of which only one end has told, and which fits; return its index.
   * @param {string} mail
   * @param {(arrow: Arrow) => boolean} fits
   */
  half(mail, fits) {
    const open = this.open.get(mail);
    const position = open?.findIndex((index) => fits(this.arrows[index])) ?? -1;
    if (!open || position < 0) return undefined;
    const [index] = open.splice(position, 1);
    if (open.length === 0) this.open.delete(mail);
    return index;
  }

  /** The other end of the newest arrow has still to tell of it. @param {string} mail */
  wait(mail) {
    const open = this.open.get(mail);
    if (open) open.push(this.arrows.length - 1);
    else this.open.set(mail, [this.arrows.length - 1]);
  }

  /**
   * @param {any} event
   * @param {string} from
   * @param {string} to
   * @param {LabTime} sentAt
   * @param {Arrow["outcome"]} outcome
   * @returns {Arrow}
   */
  arrow(event, from, to, sentAt, outcome) {
    /** @type {Arrow} */
    const arrow = {
      mail: event.mail,
      type: this.types.get(event.mail),
      from,
      to,
      connector: event.connector ?? "",
      sentAt,
      arrivedAt: event.at,
      outcome,
      begin: this.count,
      end: this.count,
      event: this.count,
      cause: this.count,
      begun: false,
      whole: false,
    };
    this.arrows.push(arrow);
    this.settle(this.arrows.length - 1);
    return arrow;
  }

  /** An arrow has its times: note when it could begin, and the bounds of its block. @param {number} index */
  settle(index) {
    const arrow = this.arrows[index];
    arrow.sentAt = Math.min(arrow.sentAt, arrow.arrivedAt);
    // After a crash, a sender can submit a mail again that has arrived already; this does not cause the earlier arrival.
    const submitted = this.queued.get(`${arrow.mail} ${arrow.from}`) ?? 0;
    const queued = submitted <= arrow.end ? submitted : 0;
    arrow.cause = queued > 0 ? queued - 1 : arrow.end;
    arrow.begin = Math.min(arrow.end, Math.max(queued, this.pace.before(arrow.sentAt)));
    this.bound(index);
    this.version += 1;
  }

  /** Note the bounds of an arrow in those of its block. @param {number} index */
  bound(index) {
    const arrow = this.arrows[index];
    const block = Math.floor(index / BLOCK);
    const bound = (this.blocks[block] ??= { sentAt: Infinity, arrivedAt: 0, cause: Infinity, end: 0 });
    bound.sentAt = Math.min(bound.sentAt, arrow.sentAt);
    bound.arrivedAt = Math.max(bound.arrivedAt, arrow.arrivedAt);
    bound.cause = Math.min(bound.cause, arrow.cause);
    bound.end = Math.max(bound.end, arrow.end);
  }

  /**
   * Return the arrows that can touch a part of an axis, without a look at all others.
   * @param {number} from
   * @param {number} until
   * @param {boolean} ordered whether the axis is that of order, and not that of time
   * @returns {Arrow[]}
   */
  near(from, until, ordered) {
    const { arrows, blocks } = this;
    const { pace } = this;
    return blocks.flatMap(({ sentAt, arrivedAt, cause, end }, block) => {
      const [first, last] = ordered ? [pace.orderOf(cause), pace.orderOf(end)] : [sentAt, arrivedAt];
      return first > until || last < from ? [] : arrows.slice(block * BLOCK, (block + 1) * BLOCK);
    });
  }

  /**
   * Return the hops that are under way at a moment.
   * @param {Moment} moment
   * @returns {Crossing[]}
   */
  onTheirWay(moment) {
    const { arrows, blocks } = this;
    /** @type {Crossing[]} */
    const crossings = [];
    for (let block = 0; block < blocks.length; block++) {
      if (blocks[block].end < moment.count || blocks[block].sentAt > moment.at) continue;
      for (let index = block * BLOCK; index < Math.min(arrows.length, (block + 1) * BLOCK); index++) {
        const arrow = arrows[index];
        if (!arrow.from || arrow.outcome === "failed" || arrow.end < moment.count) continue;
        if (arrow.sentAt > moment.at || arrow.begin > moment.count) continue;
        crossings.push({ arrow, gone: this.gone(arrow, moment) });
      }
    }
    return crossings;
  }

  /**
   * Return how far a hop is that is under way. If it takes time, this is the fraction of its time. Within one instant, it is the
   * fraction of what happens in between.
   * @param {Arrow} arrow
   * @param {Moment} moment
   */
  gone({ sentAt, arrivedAt, begin, end }, moment) {
    if (arrivedAt > sentAt) return Math.min(1, (moment.at - sentAt) / (arrivedAt - sentAt));
    // It is under way from where its instant begins, or from what caused it, to where its arrival is.
    const { departures, first, places, times } = this.pace;
    const next = Math.max(0, begin - first);
    const from = departures[next] + (next > 0 && times[next] > times[next - 1] ? 1 : 0);
    return Math.max(0, Math.min(1, (moment.place - from) / Math.max(1, places[end - first] - from)));
  }

  /**
   * @param {SpanKind} kind
   * @param {string} key
   * @param {string} server
   * @param {any} event
   * @param {LabTime | null} due
   */
  begin(kind, key, server, event, due = null) {
    if (this.lasting.has(key)) return;
    /** @type {Span} */
    const span = {
      kind,
      server,
      from: event.at,
      until: null,
      due,
      label: event.words ?? "",
      event: this.count,
      last: null,
    };
    this.spans.push(span);
    this.lasting.set(key, span);
    this.version += 1;
  }

  /** Return what a store waits for. @param {string} store @returns {Wait[]} */
  waitsOf(store) {
    return [...this.lasting].flatMap(([key, { kind, due }]) => {
      const missing = key.startsWith(`${store}/`) ? this.missing.get(key) : undefined;
      return missing ? { key, kind, due, missing } : [];
    });
  }

  /**
   * A store waits no more, because what it waited for is gone with its table of a folder.
   * @param {string} store
   * @param {string} folder "" for all
   * @param {LabTime} at
   */
  endWaits(store, folder, at) {
    for (const { key } of this.waitsOf(store)) if (!folder || key.startsWith(`${store}/${folder}/`)) this.end(key, at);
  }

  /** A wait is for fewer changes; with none left, it ends. @param {string} key @param {any} event */
  prune(key, event) {
    const missing = this.missing.get(key);
    if (!missing) return;
    const remaining = numbers.minus(missing, missingOf(event));
    this.missing.set(key, remaining);
    if (remaining.size === 0) this.end(key, event.at);
  }

  /**
   * @param {string} key
   * @param {LabTime} at
   */
  end(key, at) {
    const span = this.lasting.get(key);
    if (span) Object.assign(span, { until: at, last: this.count });
    this.lasting.delete(key);
    this.missing.delete(key);
    this.version += 1;
  }
}

/** @param {{node: string, folder: string}} event @param {number} entry */
const entryKey = ({ node, folder }, entry) => `${node}/${folder}/${entry}`;

/**
 * Return what a store waits for, as its state says.
 * @param {import("./lab_state.js").Server} server
 * @returns {(Wait & {from: LabTime})[]}
 */
function waitsIn(server) {
  return Object.entries(server.tables).flatMap(([folder, { entries }]) =>
    Object.values(entries).map(({ id, missing, requests, madeAt, dueAt, waitsForSlot }) => {
      const request = requests.at(-1);
      const key = entryKey({ node: server.name, folder }, id);
      if (request) return { key, kind: "request", from: request.at, due: dueAt, missing };
      return { key, kind: "wait", from: madeAt, due: waitsForSlot ? null : dueAt, missing };
    }),
  );
}

/** @param {{cnset: string, cnset_fai: string}} event */
const missingOf = (event) => numbers.union(numbers.parse(event.cnset), numbers.parse(event.cnset_fai));
