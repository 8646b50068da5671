/**
 * The space-time diagram: a lane for each server, time from left to right, mails as arrows.
 *
 * It is painted on a canvas, because a run can have ten thousand arrows. Only what lies in the visible part of the time axis is
 * painted. Beside it there is a slider over the events, for people who use the keyboard, and because much can happen within one
 * instant. A click shows the lab as it was at that moment; a click on an arrow selects its mail.
 */

import { duration, fullInstant, HOUR_US, MINUTE_US } from "../state/lab_time.js";
import { folderName } from "../state/lab_state.js";
import { mailColour, mailTypeName } from "../state/mail_types.js";
import { scaleUtc, select, utcFormat, zoom, zoomIdentity } from "../vendor/d3.js";
import { html, useEffect, useRef, useState } from "../vendor/preact.js";

/**
 * @typedef {import("../store.js").Store} Store
 * @typedef {import("../state/lab_state.js").LabState} LabState
 * @typedef {import("../state/marks.js").Arrow} Arrow
 */

const LEFT = 64;
const AXIS = 22;
const TOP = 14;

/** The shortest time axis: with a run that has just begun, one lab hour fills the width. */
const SHORTEST_US = HOUR_US;

/** How near to an arrow a click must be, in pixels. */
const NEAR = 6;

/** Arrows between the same instants are painted at least this wide, in pixels, so that one sees them as arrows. */
const LEAST_SLANT = 7;

/** @param {{store: Store, state: LabState, pointed: boolean}} props */
export function Diagram({ store, state, pointed }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const tip = useRef(/** @type {HTMLDivElement | null} */ (null));
  const painter = useRef(/** @type {Painter | null} */ (null));
  const [filter, setFilter] = useState("");

  useEffect(() => {
    if (!canvas.current || !tip.current) return undefined;
    const made = new Painter(canvas.current, tip.current, store);
    painter.current = made;
    return () => made.close();
  }, [store]);
  useEffect(() => {
    if (!painter.current) return;
    painter.current.filter = filter.toLowerCase();
    painter.current.paintSoon();
  });

  const head = store.timeline.head.value;
  const moment = store.timeline.moment.value ?? head;
  const event = moment > 0 ? store.timeline.history?.events[moment - 1] : undefined;
  return html`<section class=${pointed ? "diagram pointed" : "diagram"} aria-label="Space-time diagram">
    <div class="travel">
      <button onClick=${() => store.timeline.travelBy(-1)} aria-label="One event back" title="One event back (←)">◀</button>
      <input
        type="range"
        min="0"
        max=${head}
        value=${moment}
        aria-label="Moment of the run"
        aria-valuetext=${event ? `${fullInstant(event.at)}, event ${moment} of ${head}` : "the beginning"}
        onInput=${(/** @type {any} */ each) => store.timeline.travelTo(Number(each.target.value))}
      />
      <button onClick=${() => store.timeline.travelBy(1)} aria-label="One event forward" title="One event forward (→)">▶</button>
      <button
        disabled=${!store.timeline.travelling.value && !store.timeline.playing.value}
        onClick=${() => (store.timeline.playing.value ? store.timeline.playing.value() : store.timeline.play(moment, head))}
        title="Play what happened from this moment on"
      >
        ${store.timeline.playing.value ? "Stop" : "Play"}
      </button>
      <button
        class="present"
        disabled=${!store.timeline.travelling.value}
        onClick=${() => store.timeline.travelTo(null)}
        title="Return to the present (End)"
      >
        Present
      </button>
      <output class="event">
        ${event ? html`<b>${event.node}</b> ${event.words ?? event.type}` : "the beginning"}
      </output>
      <label class="filter"
        >Find
        <input
          type="search"
          value=${filter}
          placeholder="A-1, status …"
          onInput=${(/** @type {any} */ each) => setFilter(each.target.value)}
          onKeyDown=${(/** @type {any} */ each) => {
            // What the field says now: after fast typing the view still has the text before.
            if (each.key === "Enter") void findNext(store, each.target.value);
          }}
        />
      </label>
      <button onClick=${() => painter.current?.zoomBy(1.6)} aria-label="Zoom in">+</button>
      <button onClick=${() => painter.current?.zoomBy(1 / 1.6)} aria-label="Zoom out">−</button>
      <button onClick=${() => painter.current?.fit()} title="Show the whole run">All</button>
    </div>
    <canvas ref=${canvas} role="img" aria-label=${`Mails between ${Object.keys(state.servers).join(", ")} over time`}></canvas>
    <div class="pointer-tip" ref=${tip} hidden></div>
  </section>`;
}

/**
 * Go to the next event whose words contain a text.
 * @param {Store} store
 * @param {string} text
 */
async function findNext(store, text) {
  const wanted = text.trim().toLowerCase();
  if (wanted && !(await store.timeline.find(wanted))) store.orders.tell(`No event has “${text}”.`);
}

class Painter {
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
    this.transform = zoomIdentity;
    this.scheduled = 0;
    /** The user has zoomed or moved the axis; until then the whole run fills it. */
    this.chosen = false;
    /** @type {{arrow: Arrow, x1: number, y1: number, x2: number, y2: number}[]} what was painted, for clicks */
    this.painted = [];
    /** @type {Record<string, number>} */
    this.lanes = {};
    this.zoom = /** @type {import("../vendor/d3.js").ZoomBehavior<HTMLCanvasElement, unknown>} */ (zoom())
      .scaleExtent([1, 1e6])
      .on("zoom", (/** @type {any} */ event) => {
        this.transform = event.transform;
        if (event.sourceEvent) this.chosen = true;
        this.paintSoon();
      });
    this.selected = select(canvas);
    this.selected.call(this.zoom).on("dblclick.zoom", null);
    this.click = (/** @type {MouseEvent} */ event) => this.clicked(event);
    this.resized = () => this.paintSoon();
    this.move = (/** @type {MouseEvent} */ event) => this.pointed(event);
    this.leave = () => (this.tip.hidden = true);
    canvas.addEventListener("click", this.click);
    canvas.addEventListener("mousemove", this.move);
    canvas.addEventListener("mouseleave", this.leave);
    window.addEventListener("resize", this.resized);
    this.observer = new ResizeObserver(this.resized);
    this.observer.observe(canvas);
  }

  close() {
    this.canvas.removeEventListener("click", this.click);
    this.canvas.removeEventListener("mousemove", this.move);
    this.canvas.removeEventListener("mouseleave", this.leave);
    window.removeEventListener("resize", this.resized);
    this.observer.disconnect();
    cancelAnimationFrame(this.scheduled);
  }

  /** @param {number} factor */
  zoomBy(factor) {
    this.chosen = true;
    this.selected.call(this.zoom.scaleBy, factor);
  }

  fit() {
    this.chosen = false;
    this.selected.call(this.zoom.transform, zoomIdentity);
  }

  paintSoon() {
    cancelAnimationFrame(this.scheduled);
    this.scheduled = requestAnimationFrame(() => this.paint());
  }

  /** The time axis: lab time in microseconds to pixels. */
  scale() {
    const history = this.store.timeline.history;
    const first = history?.kept[0].at ?? 0;
    const now = history?.now.at ?? 0;
    // Waits that have not ended reach into the future. The axis has room for them, up to half of what has passed.
    const waits = [...this.store.timeline.marks.lasting.values()].map((span) => span.due ?? 0);
    const due = Math.min(Math.max(now, ...waits), now + (now - first) / 2);
    const last = Math.max(due, first + SHORTEST_US);
    const margin = (last - first) * 0.02;
    return this.transform.rescaleX(
      scaleUtc()
        .domain([(first - margin / 4) / 1000, (last + margin) / 1000])
        .range([LEFT, this.canvas.clientWidth - 12]),
    );
  }

  /** @param {string} server @returns {number} the middle of a server's lane, as it was painted last */
  lane(server) {
    return this.lanes[server] ?? 0;
  }

  /** @param {string[]} names @param {number} height of the canvas */
  placeLanes(names, height) {
    const each = (height - AXIS - TOP) / Math.max(1, names.length);
    this.lanes = Object.fromEntries(names.map((name, index) => [name, TOP + (index + 0.5) * each]));
  }

  paint() {
    const { canvas, store } = this;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!width || !height || !store.timeline.history) return;
    const dense = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * dense)) canvas.width = Math.round(width * dense);
    if (canvas.height !== Math.round(height * dense)) canvas.height = Math.round(height * dense);
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.setTransform(dense, 0, 0, dense, 0, 0);
    context.clearRect(0, 0, width, height);
    const style = getComputedStyle(canvas);
    const colour = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
    const fontSize = parseFloat(style.fontSize);
    context.font = `${fontSize}px ${style.fontFamily}`;
    const scale = this.scale();
    const x = (/** @type {number} */ at) => scale(at / 1000);
    const names = Object.keys(store.timeline.history.now.servers);
    this.placeLanes(names, height);

    this.paintSpans(context, colour, x, width, height);
    // Lanes and the axis.
    context.textBaseline = "middle";
    for (const name of names) {
      const y = this.lane(name);
      context.strokeStyle = colour("line");
      context.lineWidth = 1;
      line(context, LEFT, y, width, y);
    }
    context.fillStyle = colour("muted");
    context.textAlign = "center";
    const ticks = scale.ticks(Math.max(2, Math.floor(width / 130)));
    const form = tickFormat(ticks);
    for (const tick of ticks) {
      const at = scale(tick);
      if (at < LEFT) continue;
      context.strokeStyle = colour("line");
      line(context, at, TOP, at, height - AXIS);
      context.fillText(form(tick), at, height - AXIS / 2);
    }
    this.paintArrows(context, colour, x, width);
    this.paintDots(context, colour, x, width);
    // The moment that is shown.
    const moment = store.timeline.shown.value?.at ?? 0;
    const at = x(Math.max(moment, store.timeline.travelling.value ? 0 : store.clock.labTime()));
    if (at >= LEFT && at <= width) {
      context.strokeStyle = context.fillStyle = colour(store.timeline.travelling.value ? "warn" : "text");
      context.lineWidth = 1.5;
      line(context, at, TOP - 4, at, height - AXIS);
      context.beginPath();
      context.moveTo(at - 6, 2);
      context.lineTo(at + 6, 2);
      context.lineTo(at, TOP - 3);
      context.fill();
    }
    // The names of the lanes stand on a background of their own, over whatever was painted to the left of the axis.
    context.fillStyle = colour("panel");
    context.fillRect(0, 0, LEFT - 6, height);
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const name of names) {
      context.fillStyle = colour("text");
      context.fillText(name.length > 9 ? `${name.slice(0, 8)}…` : name, LEFT - 12, this.lane(name));
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {(name: string) => string} colour
   * @param {(at: number) => number} x
   * @param {number} width
   * @param {number} height
   */
  paintSpans(context, colour, x, width, height) {
    const now = this.store.timeline.history?.now.at ?? 0;
    const lane =
      (height - AXIS - TOP) / Math.max(1, Object.keys(this.store.timeline.history?.now.servers ?? {}).length);
    for (const span of this.store.timeline.marks.spans) {
      const from = x(span.from);
      const until = x(span.until ?? span.due ?? now);
      if (until < LEFT || from > width) continue;
      if (span.kind === "fault") {
        context.fillStyle = colour("fault-shade");
        context.fillRect(from, TOP, Math.max(2, until - from), height - AXIS - TOP);
      } else if (span.kind === "stopped") {
        context.fillStyle = colour("stopped-shade");
        context.fillRect(from, this.lane(span.server) - lane * 0.4, Math.max(2, until - from), lane * 0.8);
      } else {
        context.strokeStyle = colour("warn");
        context.setLineDash([4, 3]);
        context.lineWidth = 1;
        context.strokeRect(from, this.lane(span.server) - lane * 0.2, Math.max(2, until - from), lane * 0.4);
        context.setLineDash([]);
        const told = `waits ${duration((span.until ?? span.due ?? now) - span.from)}`;
        if (until - from > context.measureText(told).width + 12) {
          context.fillStyle = colour("warn");
          context.textAlign = "center";
          context.textBaseline = "bottom";
          context.fillText(
            told,
            (Math.max(from, LEFT) + Math.min(until, width)) / 2,
            this.lane(span.server) - lane * 0.22,
          );
        }
      }
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {(name: string) => string} colour
   * @param {(at: number) => number} x
   * @param {number} width
   */
  paintArrows(context, colour, x, width) {
    this.painted = [];
    const now = this.store.timeline.history?.now.at ?? 0;
    const selection = this.store.page.selection.value;
    const shown = this.store.timeline.shown.value?.count ?? 0;
    /** @type {Record<string, string>} */
    const colours = {};
    for (const arrow of this.store.timeline.marks.arrows) {
      const begins = arrow.sentAt === Infinity ? (arrow.arrivedAt ?? now) : arrow.sentAt;
      const x1 = x(begins);
      let x2 = x(arrow.arrivedAt ?? begins);
      if (x2 < LEFT || x1 > width || !arrow.from) continue;
      x2 = Math.max(x2, x1 + LEAST_SLANT);
      const y1 = this.lane(arrow.from);
      const y2 = this.lane(arrow.to);
      const name = `mail-${mailColour(arrow.type)}`;
      const chosen = selection?.kind === "mail" && selection.id === arrow.mail;
      context.strokeStyle = context.fillStyle = colours[name] ??= colour(name);
      context.globalAlpha = arrow.event >= shown ? 0.2 : this.dimmed(arrow) ? 0.15 : 1;
      context.lineWidth = chosen ? 3.5 : 1.6;
      if (arrow.lost) context.setLineDash([4, 3]);
      line(context, x1, y1, x2, y2);
      context.setLineDash([]);
      if (arrow.lost) {
        context.strokeStyle = colour("bad");
        context.lineWidth = 2;
        line(context, x2 - 4, y2 - 4, x2 + 4, y2 + 4);
        line(context, x2 - 4, y2 + 4, x2 + 4, y2 - 4);
      } else {
        context.beginPath();
        context.arc(x2, y2, chosen ? 4.5 : 3, 0, 2 * Math.PI);
        context.fill();
      }
      context.globalAlpha = 1;
      this.painted.push({ arrow, x1, y1, x2, y2 });
    }
  }

  /** Return whether a search is on and this arrow is not among what it finds. @param {Arrow} arrow */
  dimmed(arrow) {
    if (!this.filter) return false;
    const words = this.store.timeline.history?.events[arrow.event]?.words ?? "";
    const mail = this.store.timeline.history?.now.mails[arrow.mail];
    const folders = (mail?.folders ?? [])
      .map((each) => this.store.timeline.history?.now.folders[each.folder]?.path ?? "")
      .join(" ");
    return !`${words} ${folders} ${arrow.from} ${arrow.to}`.toLowerCase().includes(this.filter);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {(name: string) => string} colour
   * @param {(at: number) => number} x
   * @param {number} width
   */
  paintDots(context, colour, x, width) {
    context.textAlign = "left";
    context.textBaseline = "bottom";
    /** @type {Record<string, number>} the right end of the last label in each lane */
    const taken = {};
    const shown = this.store.timeline.shown.value?.count ?? 0;
    for (const dot of this.store.timeline.marks.dots) {
      const at = x(dot.at);
      if (at < LEFT || at > width) continue;
      const y = this.lane(dot.server);
      context.globalAlpha = dot.event >= shown ? 0.25 : 1;
      context.fillStyle = colour("accent");
      context.beginPath();
      context.arc(at, y, 5, 0, 2 * Math.PI);
      context.fill();
      if (at > (taken[dot.server] ?? 0)) {
        const label = dot.label.length > 44 ? `${dot.label.slice(0, 43)}…` : dot.label;
        const wide = context.measureText(label).width;
        // At the right edge a label stands to the left of its dot, if there is room, or is left out.
        const fits = at + 8 + wide <= width;
        const start = fits ? at + 8 : at - 8 - wide;
        if (!fits && start < Math.max(LEFT, taken[dot.server] ?? 0)) {
          context.globalAlpha = 1;
          continue;
        }
        context.fillStyle = colour("muted");
        context.fillText(label, start, y - 3);
        taken[dot.server] = Math.max(at, start + wide) + 8;
      }
      context.globalAlpha = 1;
    }
  }

  /**
   * Return the arrow at a point of the canvas.
   * @param {number} px
   * @param {number} py
   */
  arrowAt(px, py) {
    let least = NEAR;
    /** @type {Arrow | null} */
    let found = null;
    for (const each of this.painted) {
      const far = distance(px, py, each);
      if (far > least) continue;
      least = far;
      found = each.arrow;
    }
    return found;
  }

  /** Tell what is under the pointer: a mail, or the time. @param {MouseEvent} event */
  pointed(event) {
    const { offsetX: px, offsetY: py } = event;
    this.tip.hidden = px < LEFT || event.buttons !== 0;
    if (this.tip.hidden) return;
    const arrow = this.arrowAt(px, py);
    this.canvas.style.cursor = arrow ? "pointer" : "";
    this.tip.textContent = arrow ? this.wordsOf(arrow) : fullInstant(this.scale().invert(px).getTime() * 1000);
    const { clientWidth: width, clientHeight: height, offsetTop: top } = this.canvas;
    const left = px + 16 + this.tip.offsetWidth > width ? px - 16 - this.tip.offsetWidth : px + 16;
    this.tip.style.left = `${Math.max(0, left)}px`;
    this.tip.style.top = `${top + Math.min(py, height - this.tip.offsetHeight)}px`;
  }

  /** @param {Arrow} arrow */
  wordsOf(arrow) {
    const state = this.store.timeline.history?.now;
    const mail = state?.mails[arrow.mail];
    const folders = state ? (mail?.folders ?? []).map((each) => folderName(state, each.folder)) : [];
    return [
      `${mailTypeName(arrow.type)} from ${arrow.from} to ${arrow.to}`,
      folders.length > 0 && `about ${folders.slice(0, 3).join(", ")}${folders.length > 3 ? " …" : ""}`,
      arrow.sentAt !== Infinity && `sent ${fullInstant(arrow.sentAt)}`,
      arrow.lost
        ? "lost on its way"
        : arrow.arrivedAt === null
          ? "on its way"
          : `arrived ${fullInstant(arrow.arrivedAt)}`,
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
    if (px < LEFT) {
      const names = Object.keys(this.store.timeline.history?.now.servers ?? {});
      const name = names.find((each) => Math.abs(this.lane(each) - py) < 12);
      if (name) this.store.page.select({ kind: "server", id: name });
      return;
    }
    const at = this.scale().invert(px).getTime() * 1000;
    this.store.timeline.travelTo(this.store.timeline.history?.countAt(at) ?? null);
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x1
 * @param {number} y1
 * @param {number} x2
 * @param {number} y2
 */
function line(context, x1, y1, x2, y2) {
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
}

/**
 * Return how far a point is from a segment.
 * @param {number} px
 * @param {number} py
 * @param {{x1: number, y1: number, x2: number, y2: number}} segment
 */
function distance(px, py, { x1, y1, x2, y2 }) {
  const length = (x2 - x1) ** 2 + (y2 - y1) ** 2 || 1;
  const along = Math.max(0, Math.min(1, ((px - x1) * (x2 - x1) + (py - y1) * (y2 - y1)) / length));
  return Math.hypot(px - x1 - along * (x2 - x1), py - y1 - along * (y2 - y1));
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
