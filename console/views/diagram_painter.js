/**
 * Paints the space-time diagram.
 *
 * What does not move is painted once into a picture of its own, which only grows: arrows, dots and bars that have ended. A frame
 * copies this picture in two parts, cut where the moment is that is shown; the part of the future is pale. Over it come the few
 * things that are not over: waits, faults, what is selected. So a frame costs the same after 50 events and after 50,000.
 *
 * Where arrows are less than a pixel apart, columns show their counts instead.
 *
 * There are two axes. On the axis of time a slant is the time that a mail took. On the axis of order each instant is opened: what
 * depends on something stands to the right of it, however little time lies between.
 */

import { duration, fullInstant, HOUR_US, MINUTE_US, SECOND_US } from "../state/lab_time.js";
import { folderName } from "../state/lab_state.js";
import { mailColour, mailTypeName } from "../state/mail_types.js";
import { arrowEnd } from "./arrow_end.js";
import { paintExpected } from "./expected_painter.js";
import { scaleUtc, select, utcFormat, zoom, zoomIdentity } from "../vendor/d3.js";
import { effect } from "../vendor/preact.js";

/**
 * @typedef {import("../store.js").Store} Store
 * @typedef {import("../page.js").Axis} Axis
 * @typedef {import("../state/marks.js").Arrow} Arrow
 * @typedef {import("../state/marks.js").Dot} Dot
 * @typedef {import("../state/marks.js").Span} Span
 * @typedef {{x1: number, y1: number, x2: number, y2: number}} Line
 * @typedef {Map<string, Uint8Array>} Rows Which pixels of each row have a dot or a label.
 *
 * @typedef {object} Column Arrows that are less than a pixel apart.
 * @property {number} count
 * @property {Record<string, Record<string, number>>} arrivals how many, by server and colour
 */

/** Where the time begins: to the left stand the names of the servers. */
const LEAST_LEFT = 64;
const MOST_LEFT = 0.3;

/** The least height of a lane, for each pixel of the size of the font. With more servers than fit, the diagram scrolls. */
const LANE = 1.35;

const RIGHT = 12;
const AXIS = 22;
const TOP = 14;

/** The shortest time axis: with a run that has just begun, one lab hour fills the width. */
const SHORTEST_US = HOUR_US;

/** How much longer than the run the axis of time is made, so that it is made longer seldom. */
const ROOM = 0.05;

/** How many steps of the axis of order are shown when it is opened. */
const OPENED = 40;

/** How far the axis can be zoomed out: to see what is expected long after a short run. */
const OUTERMOST = 1 / 64;
const INNERMOST = 1e6;

/** How near to an arrow a click must be, in pixels. */
const NEAR = 6;

/** The width of a column of counts, in pixels, and the most arrows that are painted in it one by one. */
const COLUMN = 6;
const MOST_IN_COLUMN = 24;

/** The radius of a change's dot, how far from its centre its label begins, and the least distance of two labels, in pixels. */
const DOT = 5;
const LABEL = 9;
const APART = 3;

/** How dark the future is. */
const PALE = 0.28;

/** How often the axis follows a clock that runs, in milliseconds. */
const FOLLOW_MS = 500;

export class Painter {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {HTMLElement} tip tells what is under the pointer
   * @param {Store} store
   */
  constructor(canvas, tip, store) {
    this.canvas = canvas;
    this.tip = tip;
    this.store = store;
    this.filter = "";
    this.ordered = false;
    this.transform = zoomIdentity;
    /** The axis that is painted. Another one in `page.axis` has still to be opened. @type {Axis} */
    this.axis = { ordered: false, span: null };
    this.scheduled = 0;
    /** @type {[number, number] | undefined} the ends of the whole axis in this frame */
    this.ends = undefined;
    /** The last instant of the axis of time. */
    this.reach = 0;
    /** The picture of what is over, and what it was painted for. */
    this.picture = document.createElement("canvas");
    this.paintedFor = "";
    this.done = { arrows: 0, dots: 0, spans: 0 };
    this.chosen = { mail: "", forgotten: 0, seen: 0, arrows: /** @type {Arrow[]} */ ([]) };
    /** @type {Arrow[]} of which one end has still to tell */
    this.half = [];
    /** @type {Span[]} */
    this.lasting = [];
    /** @type {Map<number, Column>} */
    this.columns = new Map();
    /** @type {{x: number, label: string}[] | undefined} they change with the picture */
    this.timeTicks = undefined;
    /** Where dots and labels stand in the picture, by row. @type {Rows} */
    this.labels = new Map();
    /** Where labels stand over the picture in this frame; null while the picture is painted. @type {Rows | null} */
    this.labelsOver = null;
    /** @type {Record<string, number>} */
    this.lanes = {};
    this.laneHeight = 0;
    this.left = LEAST_LEFT;
    /** For which names and sizes the room of names was measured. */
    this.measuredFor = "";
    this.scroller = /** @type {HTMLElement} */ (canvas.parentElement);
    /** @type {Record<string, string>} */
    this.colours = {};
    this.font = "";
    this.zoom = /** @type {import("../vendor/d3.js").ZoomBehavior<HTMLCanvasElement, unknown>} */ (zoom())
      .scaleExtent([OUTERMOST, INNERMOST])
      // If the diagram scrolls, the wheel scrolls it, and zooms with Ctrl.
      .filter(
        (/** @type {any} */ event) =>
          !event.button &&
          (event.type === "wheel"
            ? event.ctrlKey || this.scroller.scrollHeight <= this.scroller.clientHeight
            : !event.ctrlKey),
      )
      .on("zoom", (/** @type {any} */ event) => {
        this.transform = event.transform;
        this.tip.hidden = true;
        if (this.axis === store.page.axis.peek()) store.page.axis.value = this.axis = this.seen();
        this.paintSoon();
      });
    this.selected = select(canvas);
    this.selected.call(this.zoom).on("dblclick.zoom", null).style("touch-action", "pan-y");
    this.resized = () => {
      this.paintedFor = this.measuredFor = ""; // also when the colours have changed
      this.paintSoon();
    };
    this.watch = () => this.paintSoon();
    this.listeners = new AbortController();
    const { signal } = this.listeners;
    canvas.addEventListener("click", (event) => this.clicked(event), { signal });
    canvas.addEventListener("mousemove", (event) => this.pointed(event), { signal });
    canvas.addEventListener("mouseleave", () => (this.tip.hidden = true), { signal });
    window.addEventListener("resize", this.resized, { signal });
    this.scroller.addEventListener("scroll", this.watch, { signal });
    this.observer = new ResizeObserver(this.resized);
    this.observer.observe(canvas);
    store.timeline.watchers.add(this.watch);
    this.stop = effect(() => {
      if (store.page.axis.value !== this.axis) this.paintSoon();
    });
    this.timer = setInterval(() => {
      if ((store.clock.reading.value?.rate ?? 0) > 0) this.paintSoon();
    }, FOLLOW_MS);
  }

  close() {
    this.listeners.abort();
    this.observer.disconnect();
    this.stop();
    this.store.timeline.watchers.delete(this.watch);
    clearInterval(this.timer);
    cancelAnimationFrame(this.scheduled);
  }

  /** @param {number} factor */
  zoomBy(factor) {
    // The whole axis gets smaller from its right end, so that the run stays where it is.
    const outside = this.transform.k * Math.min(1, factor) < 0.999;
    this.selected.call(this.zoom.scaleBy, factor, outside ? [this.left, 0] : undefined);
  }

  fit() {
    this.selected.call(this.zoom.transform, zoomIdentity);
  }

  /** Move the axis to the moment that is shown, if it is not in sight. */
  reveal() {
    const x = this.x(this.cursor());
    const { clientWidth: width } = this.canvas;
    if (x < this.left || x > width - RIGHT)
      this.selected.call(this.zoom.translateBy, ((this.left + width) / 2 - x) / this.transform.k, 0);
  }

  /** Change the axis; the axis of order begins with the instants up to the moment that is shown. @param {boolean} ordered */
  openInstants(ordered) {
    if (ordered === this.ordered) return;
    this.ordered = ordered;
    if (!ordered) {
      this.fit();
      return;
    }
    const end = this.cursor() + OPENED / 10;
    const [from, until] = (this.ends = this.domain());
    const part = Math.max(1, (until - from) / OPENED);
    this.transform = zoomIdentity;
    const corner = this.x(end - OPENED) - this.left;
    this.selected.call(
      this.zoom.transform,
      zoomIdentity.translate(this.left - part * (this.left + corner), 0).scale(part),
    );
  }

  /** Return what is seen of the axis. @returns {Axis} */
  seen() {
    const { ordered } = this;
    if (this.transform.k === 1 && this.transform.x === 0) return { ordered, span: null };
    const exact = ordered ? 1000 : 1;
    const ends = [this.left, this.canvas.clientWidth - RIGHT].map((px) => Math.round(this.valueAt(px) * exact) / exact);
    return { ordered, span: [ends[0], ends[1]] };
  }

  /** Paint another axis. @param {Axis} axis */
  open(axis) {
    this.ordered = axis.ordered;
    const [first, last] = (this.ends = this.domain());
    const [from, until] = axis.span ?? [first, last];
    const k = axis.span ? Math.max(OUTERMOST, Math.min(INNERMOST, (last - first) / (until - from))) : 1;
    const wide = this.canvas.clientWidth - RIGHT - this.left;
    const x = axis.span ? this.left - k * (this.left + ((from - first) / (last - first)) * wide) : 0;
    this.selected.call(this.zoom.transform, zoomIdentity.translate(x, 0).scale(k));
    this.axis = axis;
  }

  paintSoon() {
    cancelAnimationFrame(this.scheduled);
    this.scheduled = requestAnimationFrame(() => this.paint());
  }

  /** @returns {[number, number]} the ends of the whole axis */
  domain() {
    const { history, marks } = this.store.timeline;
    if (this.ordered) {
      const first = (marks.pace.orders[0] ?? 0) - 1;
      return [first, Math.max(first + OPENED, marks.pace.lastOrder + 2)];
    }
    const first = history?.kept[0].at ?? 0;
    const now = this.store.clock.present();
    // Waits that have not ended reach into the future. The axis has room for them, up to half of what has passed.
    let due = now;
    for (const span of marks.lasting.values()) due = Math.max(due, span.due ?? 0);
    const expected = this.expected();
    due = Math.max(due, expected?.agreedAt ?? expected?.marks.arrows[0]?.arrivedAt ?? 0);
    const end = Math.max(Math.min(due, now + (now - first) / 2), first + SHORTEST_US);
    if (end > this.reach || end - first < (this.reach - first) * 0.8) this.reach = end + (end - first) * ROOM;
    return [first - (this.reach - first) * 0.005, this.reach];
  }

  /** Return what is expected after the moment that is shown, if that is the present. The axis of order has no place for it. */
  expected() {
    const { timeline, forecast } = this.store;
    return timeline.travelling.value || this.ordered ? null : forecast.future.value;
  }

  /** Return where a value of the axis is, in pixels. @param {number} value */
  x(value) {
    const [from, until] = (this.ends ??= this.domain());
    const wide = this.canvas.clientWidth - RIGHT - this.left;
    return this.transform.k * (this.left + ((value - from) / (until - from)) * wide) + this.transform.x;
  }

  /** Return the value of the axis at a pixel. @param {number} px */
  valueAt(px) {
    const [from, until] = (this.ends ??= this.domain());
    const wide = this.canvas.clientWidth - RIGHT - this.left;
    return from + (((px - this.transform.x) / this.transform.k - this.left) / wide) * (until - from);
  }

  /** Return where the moment that is shown is on the axis. */
  cursor() {
    const { timeline, clock } = this.store;
    if (this.ordered) return timeline.marks.pace.order(timeline.playhead);
    return clock.labTime();
  }

  /** @param {Arrow} arrow @returns {Line} */
  line(arrow) {
    const { pace } = this.store.timeline.marks;
    const x1 = this.x(this.ordered ? pace.orderOf(arrow.cause) : arrow.sentAt);
    const x2 = this.x(this.ordered ? pace.orderOf(arrow.end) : arrow.arrivedAt);
    return { x1, y1: this.lanes[arrow.from] ?? 0, x2, y2: this.lanes[arrow.to] ?? 0 };
  }

  /** @param {Span} span @returns {[number, number]} its ends in pixels */
  edges(span) {
    const { pace } = this.store.timeline.marks;
    const now = this.store.clock.present();
    if (!this.ordered) return [this.x(span.from), this.x(span.until ?? Math.max(span.due ?? now, now))];
    return [this.x(pace.orderOf(span.event)), this.x(span.last === null ? pace.lastOrder : pace.orderOf(span.last))];
  }

  paint() {
    const { canvas, store } = this;
    const { history, marks } = store.timeline;
    if (!canvas.clientWidth || !history) return;
    const names = [...marks.servers];
    this.measure(names);
    const { clientWidth: width, clientHeight: height } = canvas;
    const dense = window.devicePixelRatio || 1;
    this.ends = this.domain();
    if (store.page.axis.peek() !== this.axis) this.open(store.page.axis.peek());
    this.laneHeight = (height - AXIS - TOP) / Math.max(1, names.length);
    this.lanes = Object.fromEntries(names.map((name, index) => [name, TOP + (index + 0.5) * this.laneHeight]));
    const { k, x: moved } = this.transform;
    const key = [width, height, dense, this.ordered, this.ends, k, moved, this.filter, names, marks.forgotten].join();
    if (key !== this.paintedFor) {
      this.paintedFor = key;
      this.begin(width, height, dense);
    }
    this.grow(width, height);

    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    if (canvas.width !== this.picture.width) canvas.width = this.picture.width;
    if (canvas.height !== this.picture.height) canvas.height = this.picture.height;
    context.setTransform(dense, 0, 0, dense, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = this.font;
    this.paintGrid(context, width, height);
    const now = this.x(this.cursor());
    // A mail that arrives now ends in a dot, which belongs to the past.
    const cut = Math.max(this.left, Math.min(width, now + 3.5));
    const chosen = store.page.selection.value;
    const lines = chosen?.kind === "mail" ? this.arrowsOf(chosen.id) : [];
    for (const [from, until, alpha] of [
      [0, cut, 1],
      [cut, width, PALE],
    ]) {
      if (until - from < 1) continue;
      context.save();
      context.beginPath();
      context.rect(from, 0, until - from, height);
      context.clip();
      context.globalAlpha = alpha;
      this.labelsOver = new Map();
      for (const span of this.lasting) this.paintSpan(context, span, width, height);
      context.drawImage(this.picture, 0, 0, width, height);
      for (const arrow of this.half) this.paintArrow(context, arrow, width, 1.6);
      for (const arrow of lines) this.paintArrow(context, arrow, width, 3.5);
      context.restore();
    }
    for (const crossing of this.ordered ? [] : store.forecast.crossings()) this.paintBegun(context, crossing);
    const expected = this.expected();
    if (expected) paintExpected(this, context, expected, { now, left: this.left, width, height });
    this.labelsOver = null;
    this.paintNow(context, width, height, now);
    // The names of the lanes stand on a background of their own, over whatever was painted to the left of the axis.
    context.fillStyle = this.colour("panel");
    context.fillRect(0, 0, this.left - 6, height);
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const name of names) {
      const state = history.now.servers[name]?.status;
      context.fillStyle = this.colour(
        state === undefined || state === "deleted" || state === "killed" ? "bad" : "text",
      );
      context.fillText(shortened(context, name, this.left - 14), this.left - 12, this.lanes[name]);
    }
    this.paintTimes(context, width);
  }

  /** Make room for the names of all servers, and for a lane of each. @param {readonly string[]} names */
  measure(names) {
    const key = names.join();
    if (key === this.measuredFor) return;
    this.measuredFor = key;
    const style = getComputedStyle(this.canvas);
    const size = parseFloat(style.fontSize);
    const context = this.pictureContext();
    context.font = this.font = `${size}px ${style.fontFamily}`;
    const widest = Math.max(0, ...names.map((name) => context.measureText(name).width));
    this.left = Math.max(LEAST_LEFT, Math.min(Math.ceil(widest) + 22, this.canvas.clientWidth * MOST_LEFT));
    this.canvas.style.minHeight = `${Math.ceil(names.length * size * LANE) + AXIS + TOP}px`;
    this.scroller.tabIndex = this.scroller.scrollHeight > this.scroller.clientHeight ? 0 : -1;
  }

  /** Return the arrows of a mail. A frame looks only at those that have come since the frame before. @param {string} mail */
  arrowsOf(mail) {
    const { arrows, forgotten } = this.store.timeline.marks;
    if (this.chosen.mail !== mail || this.chosen.forgotten !== forgotten)
      this.chosen = { mail, forgotten, seen: 0, arrows: [] };
    const { chosen } = this;
    for (; chosen.seen < arrows.length; chosen.seen++) {
      if (arrows[chosen.seen].mail === mail) chosen.arrows.push(arrows[chosen.seen]);
    }
    return chosen.arrows;
  }

  /** @param {string} name */
  colour(name) {
    return (this.colours[name] ??= getComputedStyle(this.canvas).getPropertyValue(`--${name}`).trim());
  }

  /** Begin a new picture. @param {number} width @param {number} height @param {number} dense */
  begin(width, height, dense) {
    this.colours = {};
    this.picture.width = Math.round(width * dense);
    this.picture.height = Math.round(height * dense);
    const context = this.pictureContext();
    context.setTransform(dense, 0, 0, dense, 0, 0);
    context.font = this.font;
    this.done = { arrows: 0, dots: 0, spans: 0 };
    this.half = [];
    this.lasting = [];
    this.columns = new Map();
    this.labels = new Map();
    this.timeTicks = undefined;
  }

  pictureContext() {
    return /** @type {CanvasRenderingContext2D} */ (this.picture.getContext("2d"));
  }

  /** Add to the picture what has been marked, or has ended, since it was painted. @param {number} width @param {number} height */
  grow(width, height) {
    const { arrows, dots, spans } = this.store.timeline.marks;
    const context = this.pictureContext();
    const ended = [...this.lasting, ...spans.slice(this.done.spans)];
    this.lasting = [];
    for (const span of ended) {
      if (span.until === null) this.lasting.push(span);
      else this.paintSpan(context, span, width, height);
    }
    this.done.spans = spans.length;
    const crossings = [...this.half, ...arrows.slice(this.done.arrows)];
    this.half = [];
    this.paintArrows(context, crossings, width, height);
    this.done.arrows = arrows.length;
    this.paintDots(context, dots.slice(this.done.dots), width);
    this.done.dots = dots.length;
    context.globalAlpha = 1;
  }

  /** Lanes and the axis. @param {CanvasRenderingContext2D} context @param {number} width @param {number} height */
  paintGrid(context, width, height) {
    context.textBaseline = "middle";
    context.strokeStyle = this.colour("line");
    context.lineWidth = 1;
    for (const y of Object.values(this.lanes)) stroke(context, this.left, y, width, y);
    for (const { x } of this.ticks(width)) if (x >= this.left) stroke(context, x, TOP, x, height - AXIS);
  }

  /** The times stand at the lower edge of what is seen. @param {CanvasRenderingContext2D} context @param {number} width */
  paintTimes(context, width) {
    const bottom = this.scroller.scrollTop + this.scroller.clientHeight;
    context.fillStyle = this.colour("panel");
    context.fillRect(0, bottom - AXIS, width, AXIS);
    context.fillStyle = this.colour("muted");
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (const { x, label } of this.ticks(width)) if (x >= this.left) context.fillText(label, x, bottom - AXIS / 2);
  }

  /** @param {number} width @returns {{x: number, label: string}[]} */
  ticks(width) {
    if (this.ordered) return this.instants(width);
    return (this.timeTicks ??= this.ticksOfTime(width));
  }

  /** @param {number} width @returns {{x: number, label: string}[]} */
  ticksOfTime(width) {
    const scale = scaleUtc().domain([this.valueAt(this.left) / 1000, this.valueAt(width) / 1000]);
    const ticks = scale.ticks(Math.max(2, Math.floor(width / 130)));
    const form = tickFormat(ticks);
    return ticks.map((tick) => ({ x: this.x(tick.getTime() * 1000), label: form(tick) }));
  }

  /** Return the instants that are seen on the axis of order, where each begins. @param {number} width */
  instants(width) {
    const { times, orders } = this.store.timeline.marks.pace;
    const until = this.valueAt(width);
    const marks = [];
    let free = this.left;
    let index = firstAtLeast(orders, this.valueAt(this.left));
    while (index < orders.length && orders[index] <= until) {
      const x = this.x(orders[index]);
      const begins = index === 0 || times[index] > times[index - 1];
      if (begins && x >= free) {
        marks.push({ x, label: precise(times[index]) });
        free = x + 110;
      }
      // Go to the next instant, or to the first event that has room for a label.
      index = Math.max(index + 1, x < free ? firstAtLeast(orders, this.valueAt(Math.min(free, x + 1))) : 0);
    }
    return marks;
  }

  /** @param {CanvasRenderingContext2D} context @param {Span} span @param {number} width @param {number} height */
  paintSpan(context, span, width, height) {
    const [from, until] = this.edges(span);
    if (until < this.left || from > width) return;
    const wide = Math.max(2, until - from);
    const y = this.lanes[span.server];
    const lane = this.laneHeight;
    if (span.kind === "fault" && y === undefined) {
      context.fillStyle = this.colour("fault-shade");
      context.fillRect(from, TOP, wide, height - AXIS - TOP);
      return;
    }
    if (y === undefined) return;
    if (span.kind === "wait" || span.kind === "request") {
      this.paintWait(context, span, { from, until, wide, y, width });
      return;
    }
    context.fillStyle = this.colour(span.kind === "fault" ? "fault-shade" : "stopped-shade");
    context.fillRect(from, y - lane * 0.4, wide, lane * 0.8);
    this.paintLabel(
      context,
      span.kind === "fault" ? "" : span.kind,
      { row: `${span.server} below`, from, until, y: y + lane * 0.4, width },
      "muted",
    );
  }

  /**
   * A wait until a request is a dashed bar, the wait for its answer an open one. The request stands between them.
   * @param {CanvasRenderingContext2D} context
   * @param {Span} span
   * @param {{from: number, until: number, wide: number, y: number, width: number}} place
   */
  paintWait(context, span, { from, until, wide, y, width }) {
    const lane = this.laneHeight;
    const isRequest = span.kind === "request";
    context.strokeStyle = this.colour(isRequest ? "muted" : "warn");
    context.setLineDash(isRequest ? [1, 3] : [4, 3]);
    context.lineWidth = 1;
    context.strokeRect(from, y - lane * 0.2, wide, lane * 0.4);
    context.setLineDash([]);
    const now = this.store.clock.present();
    const lasts = duration((span.until ?? Math.max(span.due ?? now, now)) - span.from);
    const words = isRequest ? `asked, ${lasts}` : `waits ${lasts}`;
    this.paintLabel(
      context,
      words,
      { row: span.server, from, until, y: y - lane * 0.22, width },
      isRequest ? "muted" : "warn",
    );
  }

  /**
   * Return whether a part of a row has no dot and no label.
   * @param {string} row
   * @param {number} from
   * @param {number} until
   */
  isFree(row, from, until) {
    const [first, end] = [Math.max(0, Math.floor(from - APART)), Math.ceil(until + APART)];
    return [this.labels, this.labelsOver].every((rows) => !rows?.get(row)?.subarray(first, end).includes(1));
  }

  /**
   * Note that a part of a row has a dot or a label.
   * @param {string} row
   * @param {number} from
   * @param {number} until
   */
  take(row, from, until) {
    const rows = this.labelsOver ?? this.labels;
    const pixels = rows.get(row) ?? new Uint8Array(this.canvas.clientWidth);
    rows.set(row, pixels.fill(1, Math.max(0, Math.floor(from)), Math.ceil(until)));
  }

  /**
   * Write words over whatever is there, on a border of the background.
   * @param {CanvasRenderingContext2D} context
   * @param {string} words
   * @param {{x: number, y: number}} place
   * @param {string} colour
   */
  write(context, words, { x, y }, colour) {
    context.strokeStyle = this.colour("panel");
    context.lineWidth = 3;
    context.lineJoin = "round";
    context.strokeText(words, x, y);
    context.fillStyle = this.colour(colour);
    context.fillText(words, x, y);
  }

  /**
   * Write a label in the middle of what is seen of a bar, if it has room.
   * @param {CanvasRenderingContext2D} context
   * @param {string} words
   * @param {{row: string, from: number, until: number, y: number, width: number}} place
   * @param {string} colour
   */
  paintLabel(context, words, { row, from, until, y, width }, colour) {
    const [left, right] = [Math.max(from, this.left), Math.min(until, width)];
    const wide = context.measureText(words).width;
    if (!words || right - left < wide + 12) return;
    const start = (left + right - wide) / 2;
    if (!this.isFree(row, start, start + wide)) return;
    this.take(row, start, start + wide);
    context.textAlign = "left";
    context.textBaseline = "bottom";
    this.write(context, words, { x: start, y }, colour);
  }

  /**
   * Paint arrows into the picture; with many, one path for each colour.
   * @param {CanvasRenderingContext2D} context
   * @param {readonly Arrow[]} arrows
   * @param {number} width
   * @param {number} height
   */
  paintArrows(context, arrows, width, height) {
    /** @type {Record<string, {lines: Path2D, dots: Path2D}>} */
    const paths = {};
    /** @type {Arrow[]} */
    const single = [];
    const changed = new Set();
    for (const arrow of arrows) {
      if (!arrow.whole) {
        this.half.push(arrow);
        continue;
      }
      if (!arrow.from) continue;
      const line = this.line(arrow);
      if (line.x2 < this.left || line.x1 > width) continue;
      if (this.filter || arrow.outcome !== "arrived") {
        single.push(arrow);
        continue;
      }
      if (line.x2 - line.x1 < 1) {
        const nth = Math.floor(line.x2 / COLUMN);
        const column = this.columns.get(nth) ?? { count: 0, arrivals: {} };
        this.columns.set(nth, column);
        column.count += 1;
        const arrivals = (column.arrivals[arrow.to] ??= {});
        const colour = mailColour(arrow.type);
        arrivals[colour] = (arrivals[colour] ?? 0) + 1;
        if (column.count > MOST_IN_COLUMN) {
          changed.add(nth);
          continue;
        }
      }
      const path = (paths[mailColour(arrow.type)] ??= { lines: new Path2D(), dots: new Path2D() });
      path.lines.moveTo(line.x1, line.y1);
      path.lines.lineTo(line.x2, line.y2);
      path.dots.moveTo(line.x2 + 3, line.y2);
      path.dots.arc(line.x2, line.y2, 3, 0, 2 * Math.PI);
    }
    for (const [colour, { lines, dots }] of Object.entries(paths)) {
      context.strokeStyle = context.fillStyle = this.colour(`mail-${colour}`);
      context.lineWidth = 1.6;
      context.stroke(lines);
      context.fill(dots);
    }
    for (const arrow of single) {
      context.globalAlpha = this.filter && !this.matches(arrow) ? 0.12 : 1;
      this.paintArrow(context, arrow, width, 1.6);
      context.globalAlpha = 1;
    }
    for (const nth of [...changed].sort((a, b) => a - b)) this.paintColumn(context, nth, height);
  }

  /**
   * Paint a column of counts over the arrows that it stands for: in each lane a bar for what has arrived there.
   * @param {CanvasRenderingContext2D} context
   * @param {number} nth
   * @param {number} height
   */
  paintColumn(context, nth, height) {
    const column = this.columns.get(nth);
    if (!column) return;
    const left = nth * COLUMN;
    context.fillStyle = this.colour("panel");
    context.fillRect(left, TOP, COLUMN, height - AXIS - TOP);
    context.fillStyle = this.colour("line");
    for (const [server, y] of Object.entries(this.lanes)) {
      context.fillRect(left, y - 0.5, COLUMN, 1);
      // The bar grows with the logarithm: a lane that is full stands for a thousand mails.
      const arrivals = Object.entries(column.arrivals[server] ?? {});
      const count = arrivals.reduce((sum, [, some]) => sum + some, 0);
      const bar = this.laneHeight * 0.8 * Math.min(1, Math.log2(1 + count) / 10);
      let top = y - bar / 2;
      for (const [colour, some] of arrivals) {
        context.fillStyle = this.colour(`mail-${colour}`);
        context.fillRect(left, top, COLUMN - 1, (bar * some) / count);
        top += (bar * some) / count;
      }
      context.fillStyle = this.colour("line");
    }
    // Its count stands above it, if no column beside it has more.
    const beside = [-3, -2, -1, 1, 2, 3].map((by) => this.columns.get(nth + by)?.count ?? 0);
    context.clearRect(left - COLUMN, 0, 3 * COLUMN, TOP - 1);
    if (beside.some((count, index) => count > column.count || (count === column.count && index < 3))) return;
    context.fillStyle = this.colour("muted");
    context.textAlign = "center";
    context.textBaseline = "top";
    context.fillText(String(column.count), left + COLUMN / 2, 0);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Arrow} arrow
   * @param {number} width
   * @param {number} thick
   */
  paintArrow(context, arrow, width, thick) {
    const line = this.line(arrow);
    const { x1, y1, x2, y2 } = line;
    if (x2 < this.left || x1 > width || !arrow.from) return;
    context.strokeStyle = context.fillStyle = this.colour(`mail-${mailColour(arrow.type)}`);
    context.lineWidth = thick;
    if (arrow.outcome === "arrived") {
      stroke(context, x1, y1, x2, y2);
      context.beginPath();
      context.arc(x2, y2, thick > 2 ? 4.5 : 3, 0, 2 * Math.PI);
      context.fill();
      return;
    }
    const { x, y } = arrowEnd(line, arrow.outcome, this.laneHeight);
    context.setLineDash([4, 3]);
    stroke(context, x1, y1, x, y);
    context.setLineDash([]);
    context.strokeStyle = this.colour("bad");
    context.lineWidth = 2;
    stroke(context, x - 4, y - 4, x + 4, y + 4);
    stroke(context, x - 4, y + 4, x + 4, y - 4);
  }

  /**
   * Paint how far a hop is that has begun in the present, and of which the lab has not told.
   * @param {CanvasRenderingContext2D} context
   * @param {import("../state/marks.js").Crossing} crossing
   */
  paintBegun(context, { arrow, gone }) {
    const { x1, y1, x2, y2 } = this.line(arrow);
    const begin = Math.max(0, (this.left - x1) / Math.max(1, x2 - x1));
    if (begin > gone) return;
    context.strokeStyle = this.colour(`mail-${mailColour(arrow.type)}`);
    context.lineWidth = 1.6;
    const [from, to] = [begin, gone].map((part) => ({ x: x1 + (x2 - x1) * part, y: y1 + (y2 - y1) * part }));
    stroke(context, from.x, from.y, to.x, to.y);
  }

  /** Return whether the search finds an arrow. @param {Arrow} arrow */
  matches(arrow) {
    const { history } = this.store.timeline;
    const words = history?.events.at(arrow.event)?.words ?? "";
    const folders = (history?.now.mails.get(arrow.mail)?.folders ?? [])
      .map((claim) => history?.now.folders[claim.folder]?.path ?? "")
      .join(" ");
    return `${words} ${folders} ${arrow.from} ${arrow.to} ${mailTypeName(arrow.type)}`
      .toLowerCase()
      .includes(this.filter);
  }

  /**
   * Paint what users changed, and say what it was where a label covers no other change and no other label.
   * @param {CanvasRenderingContext2D} context
   * @param {readonly Dot[]} dots
   * @param {number} width
   */
  paintDots(context, dots, width) {
    const { pace } = this.store.timeline.marks;
    const places = [];
    context.fillStyle = this.colour("accent");
    for (const { event, at, server, label } of dots) {
      const x = this.x(this.ordered ? pace.orderOf(event) : at);
      if (x < this.left || x > width) continue;
      const y = this.lanes[server];
      context.beginPath();
      context.arc(x, y, DOT, 0, 2 * Math.PI);
      context.fill();
      this.take(server, x - DOT, x + DOT);
      places.push({ x, y, server, label });
    }
    context.textAlign = "left";
    context.textBaseline = "bottom";
    for (const { x, y, server, label } of places) {
      // Among many changes most have no room, and need not be measured.
      if (!this.isFree(server, x + LABEL, x + LABEL + 24) && !this.isFree(server, x - LABEL - 24, x - LABEL)) continue;
      const words = label.length > 44 ? `${label.slice(0, 43)}…` : label;
      const wide = context.measureText(words).width;
      // At the right edge a label stands to the left of its dot, if there is room, or is left out.
      const start = x + LABEL + wide <= width ? x + LABEL : x - LABEL - wide;
      if (start < this.left || !this.isFree(server, start, start + wide)) continue;
      this.take(server, start, start + wide);
      this.write(context, words, { x: start, y: y - 3 }, "muted");
    }
  }

  /**
   * The line of the moment that is shown, and in the past also that of the present. Beyond an edge, the edge tells where it is.
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {number} height
   * @param {number} position
   */
  paintNow(context, width, height, position) {
    const { timeline, clock } = this.store;
    const travelling = timeline.travelling.value;
    const present = this.ordered ? timeline.marks.pace.lastOrder : clock.present();
    if (travelling)
      this.paintMoment(context, { x: this.x(present), width, height }, "muted", timeline.live ? "now" : "end");
    const name = travelling ? "" : this.expected() ? "now · expected:" : "now";
    this.paintMoment(context, { x: position, width, height }, travelling ? "warn" : "text", name);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {{x: number, width: number, height: number}} place
   * @param {string} colour
   * @param {string} name
   */
  paintMoment(context, { x, width, height }, colour, name) {
    context.strokeStyle = context.fillStyle = this.colour(colour);
    context.lineWidth = 1.5;
    context.textBaseline = "top";
    const top = this.scroller.scrollTop;
    if (x < this.left || x > width) {
      context.textAlign = x < this.left ? "left" : "right";
      context.fillText(
        x < this.left ? `◀ ${name || "shown"}` : `${name || "shown"} ▶`,
        x < this.left ? this.left : width - 4,
        top + 1,
      );
      return;
    }
    stroke(context, x, top + TOP - 4, x, height - AXIS);
    context.beginPath();
    context.moveTo(x - 6, top + 2);
    context.lineTo(x + 6, top + 2);
    context.lineTo(x, top + TOP - 3);
    context.fill();
    if (!name) return;
    const right = x + 40 > width;
    context.textAlign = right ? "right" : "left";
    context.fillText(name, right ? x - 9 : x + 9, top + 1);
  }

  /**
   * Return the arrow at a point of the canvas.
   * @param {number} px
   * @param {number} py
   */
  arrowAt(px, py) {
    let least = NEAR;
    /** @type {Arrow | null} */
    let nearest = null;
    const { marks } = this.store.timeline;
    for (const arrow of marks.near(this.valueAt(px - NEAR), this.valueAt(px + NEAR), this.ordered)) {
      const line = this.line(arrow);
      if (!arrow.from || line.x1 > px + NEAR || line.x2 < px - NEAR) continue;
      const far = distance(px, py, line);
      if (far > least) continue;
      least = far;
      nearest = arrow;
    }
    return nearest;
  }

  /** Tell what is under the pointer: a mail, or the time. @param {MouseEvent} event */
  pointed(event) {
    const { offsetX: px, offsetY: py } = event;
    this.tip.hidden = px < this.left || event.buttons !== 0;
    if (this.tip.hidden) return;
    const arrow = this.arrowAt(px, py);
    this.canvas.style.cursor = arrow ? "pointer" : "";
    this.tip.textContent = arrow ? this.wordsOf(arrow) : this.timeAt(px);
    const { clientWidth: width, clientHeight: height, offsetTop, scrollTop } = this.scroller;
    const left = px + 16 + this.tip.offsetWidth > width ? px - 16 - this.tip.offsetWidth : px + 16;
    this.tip.style.left = `${Math.max(0, left)}px`;
    this.tip.style.top = `${offsetTop + Math.min(py - scrollTop, height - this.tip.offsetHeight)}px`;
  }

  /** @param {number} px */
  timeAt(px) {
    if (!this.ordered) return fullInstant(this.valueAt(px));
    const { pace } = this.store.timeline.marks;
    const count = this.countAt(px);
    return count > pace.first ? fullInstant(pace.timeOf(count - 1)) : "the beginning";
  }

  /** Return how many events are to the left of a pixel on the axis of order. @param {number} px */
  countAt(px) {
    return this.store.timeline.marks.pace.countBelow(this.valueAt(px) + 1e-9);
  }

  /** @param {Arrow} arrow */
  wordsOf(arrow) {
    const state = this.store.timeline.history?.now;
    const mail = state?.mails.get(arrow.mail);
    const folders = state ? (mail?.folders ?? []).map((claim) => folderName(state, claim.folder)) : [];
    const took = arrow.arrivedAt - arrow.sentAt;
    const ends = { arrived: "arrived", lost: "lost", failed: "failed" }[arrow.outcome];
    return [
      `${mailTypeName(arrow.type)} from ${arrow.from} to ${arrow.to}`,
      folders.length > 0 && `about ${folders.slice(0, 3).join(", ")}${folders.length > 3 ? " …" : ""}`,
      `sent ${fullInstant(arrow.sentAt)}`,
      `${ends} ${fullInstant(arrow.arrivedAt)}${took > 0 ? `, after ${duration(took)}` : ""}`,
    ]
      .filter(Boolean)
      .join("\n");
  }

  /** @param {MouseEvent} event */
  clicked(event) {
    const box = this.canvas.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    const arrow = this.arrowAt(px, py);
    if (arrow) {
      this.store.page.select({ kind: "mail", id: arrow.mail });
      return;
    }
    if (px < this.left) {
      const name = Object.keys(this.lanes).find((lane) => Math.abs(this.lanes[lane] - py) < 12);
      if (name) this.store.page.select({ kind: "server", id: name });
      return;
    }
    const { timeline } = this.store;
    if (this.ordered) timeline.travelTo(this.countAt(px));
    else timeline.travelToInstant(this.valueAt(px));
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x1
 * @param {number} y1
 * @param {number} x2
 * @param {number} y2
 */
function stroke(context, x1, y1, x2, y2) {
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
}

/**
 * Return a name, or so much of it as has room.
 * @param {CanvasRenderingContext2D} context
 * @param {string} name
 * @param {number} room in pixels
 */
function shortened(context, name, room) {
  let short = name;
  for (let letters = name.length - 1; letters > 1 && context.measureText(short).width > room; letters--) {
    // Names of one organization differ at their ends as often as at their beginnings.
    const head = Math.ceil((letters - 1) / 2);
    short = `${name.slice(0, head)}…${name.slice(name.length - (letters - 1 - head))}`;
  }
  return short;
}

/**
 * Return how far a point is from a segment.
 * @param {number} px
 * @param {number} py
 * @param {Line} segment
 */
function distance(px, py, { x1, y1, x2, y2 }) {
  const length = (x2 - x1) ** 2 + (y2 - y1) ** 2 || 1;
  const along = Math.max(0, Math.min(1, ((px - x1) * (x2 - x1) + (py - y1) * (y2 - y1)) / length));
  return Math.hypot(px - x1 - along * (x2 - x1), py - y1 - along * (y2 - y1));
}

/**
 * Return the index of the first of the ascending numbers that is at least a value.
 * @param {readonly number[]} sorted
 * @param {number} value
 */
function firstAtLeast(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Return an instant as exactly as its order demands: to the millisecond, if it has any. @param {number} at */
function precise(at) {
  const form = utcFormat(at % SECOND_US ? "%-d %b %H:%M:%S.%L" : at % MINUTE_US ? "%-d %b %H:%M:%S" : "%-d %b %H:%M");
  return form(new Date(at / 1000));
}

/**
 * Return how to write the ticks of the axis: as fine as their distance demands.
 * @param {Date[]} ticks
 * @returns {(tick: Date) => string}
 */
function tickFormat(ticks) {
  const step = ticks.length > 1 ? (ticks[1].getTime() - ticks[0].getTime()) * 1000 : HOUR_US;
  const day = utcFormat("%a %-d %b");
  const time = utcFormat(step >= MINUTE_US ? "%H:%M" : step >= 1e6 ? "%H:%M:%S" : "%H:%M:%S.%L");
  return (tick) => (tick.getTime() % 86_400_000 === 0 ? day(tick) : time(tick));
}
