/**
 * What the space-time diagram draws: arrows for hops, dots for changes, bars for waits, shades for faults and for servers that
 * do not run. Marks are collected from the events once; they do not depend on the moment that is shown.
 */

/**
 * @typedef {import("./events.js").LabEvent} LabEvent
 * @typedef {import("./lab_time.js").LabTime} LabTime
 *
 * @typedef {object} Arrow One hop of a mail.
 * @property {string} mail
 * @property {number | undefined} type
 * @property {string} from
 * @property {string} to
 * @property {LabTime} sentAt
 * @property {LabTime | null} arrivedAt
 * @property {boolean} lost
 * @property {number} event the index of the event that sent it
 *
 * @typedef {object} Dot A change that a user made.
 * @property {string} server
 * @property {LabTime} at
 * @property {string} label
 * @property {number} event
 *
 * @typedef {object} Span Something that lasts. `until` is null while it lasts.
 * @property {"wait" | "fault" | "stopped"} kind
 * @property {string} server "" for the whole lab
 * @property {LabTime} from
 * @property {LabTime | null} until
 * @property {LabTime | null} due when a wait will end by itself
 * @property {string} label
 * @property {number} event
 */

export class Marks {
  constructor() {
    /** @type {Arrow[]} */
    this.arrows = [];
    /** @type {Dot[]} */
    this.dots = [];
    /** @type {Span[]} */
    this.spans = [];
    this.count = 0;
    /** @type {Map<string, number | undefined>} the message type of each mail */
    this.types = new Map();
    /** @type {Map<string, Arrow[]>} hops that have not arrived, by mail */
    this.open = new Map();
    /** @type {Map<string, Span>} */
    this.lasting = new Map();
  }

  /** @param {readonly LabEvent[]} events */
  add(events) {
    for (const event of events) {
      this.take(event);
      this.count += 1;
    }
  }

  /** @param {any} event */
  take(event) {
    switch (event.type) {
      case "mail.submitted":
        this.types.set(event.mail, event.message_type);
        break;
      case "hop.sent": {
        const known = this.hop(event.mail, event.next_hop, (each) => each.sentAt === Infinity);
        if (known) {
          known.from = event.node;
          known.sentAt = event.begun_at ?? event.at;
        } else this.arrow(event, event.node, event.next_hop, event.begun_at ?? event.at);
        break;
      }
      case "hop.received":
      case "hop.dropped": {
        const from = event.authenticated === false ? "" : (event.peer ?? "");
        const arrow =
          this.hop(event.mail, event.node, (each) => each.arrivedAt === null && (!from || each.from === from)) ??
          this.arrow(event, from, event.node, Infinity);
        arrow.arrivedAt = event.at;
        arrow.lost = event.type === "hop.dropped";
        break;
      }
      case "change.made":
        this.dots.push({ server: event.node, at: event.at, label: event.words ?? "", event: this.count });
        break;
      case "entry.made":
        this.begin("wait", `${event.node}/${event.folder}/${event.entry}`, event.node, event, event.due_at);
        break;
      case "request.sent":
        this.extend(`${event.node}/${event.folder}/${event.entry}`, event.retry_at);
        break;
      case "entry.satisfied":
        this.end(`${event.node}/${event.folder}/${event.entry}`, event.at);
        break;
      case "fault.injected":
        if (event.kind === "kill") this.begin("stopped", `server ${event.details.server}`, event.details.server, event);
        else this.begin("fault", `fault ${event.fault}`, event.details.server ?? "", event);
        break;
      case "fault.healed":
        this.end(`fault ${event.fault}`, event.at);
        break;
      case "node.stopped":
        this.begin("stopped", `server ${event.node}`, event.node, event);
        break;
      case "node.started":
        this.end(`server ${event.node}`, event.at);
        break;
    }
  }

  /**
   * @param {string} mail
   * @param {string} to
   * @param {(arrow: Arrow) => boolean} fits
   */
  hop(mail, to, fits) {
    return this.open.get(mail)?.find((each) => each.to === to && fits(each));
  }

  /**
   * @param {any} event
   * @param {string} from
   * @param {string} to
   * @param {LabTime} sentAt
   * @returns {Arrow}
   */
  arrow(event, from, to, sentAt) {
    const type = this.types.get(event.mail);
    const found = { mail: event.mail, type, from, to, sentAt, arrivedAt: null, lost: false, event: this.count };
    this.arrows.push(found);
    const open = this.open.get(event.mail);
    if (open) open.push(found);
    else this.open.set(event.mail, [found]);
    return found;
  }

  /**
   * @param {Span["kind"]} kind
   * @param {string} key
   * @param {string} server
   * @param {any} event
   * @param {LabTime | null} due
   */
  begin(kind, key, server, event, due = null) {
    if (this.lasting.has(key)) return;
    /** @type {Span} */
    const span = { kind, server, from: event.at, until: null, due, label: event.words ?? "", event: this.count };
    this.spans.push(span);
    this.lasting.set(key, span);
  }

  /**
   * @param {string} key
   * @param {LabTime} due
   */
  extend(key, due) {
    const span = this.lasting.get(key);
    if (span) span.due = due;
  }

  /**
   * @param {string} key
   * @param {LabTime} at
   */
  end(key, at) {
    const span = this.lasting.get(key);
    if (span) span.until = at;
    this.lasting.delete(key);
  }
}
