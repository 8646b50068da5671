/**
 * The mails on their way, as envelopes over the map: each is where its hop is at the moment that is shown.
 *
 * Envelopes are not in the SVG picture: a browser would paint the picture for each frame, but moves an element of its own without
 * painting. What a slow line has carried is drawn on the line, and the envelope says how long it still takes. A mail that has just
 * arrived is seen at its target for an instant, also if it left and arrived between two frames, because the clock is fast.
 */

import { duration, SECOND_US } from "../state/lab_time.js";
import { mailColour, mailTypeName, signOf } from "../state/mail_types.js";
import { wayOf } from "../state/map_layout.js";
import { effect } from "../vendor/preact.js";
import { calm } from "../timeline.js";

/**
 * @typedef {import("../store.js").Store} Store
 * @typedef {import("../state/map_layout.js").MapLayout} MapLayout
 * @typedef {import("../state/map_layout.js").Point} Point
 * @typedef {import("../state/marks.js").Arrow} Arrow
 *
 * @typedef {object} Flight An envelope on the screen.
 * @property {HTMLElement} envelope
 * @property {HTMLElement} left how long the mail still takes
 * @property {SVGPathElement | null} trail what a slow line has carried
 * @property {Point[]} way in the units of the picture
 * @property {boolean} told whether the lab has told of the hop; if not, it has not ended
 */

/** The most envelopes that are drawn; more would hide each other. */
const MOST = 80;

/** A hop that takes this long is slow: its line fills up, and its envelope says how long it still takes. */
const SLOW_US = SECOND_US;

/** How long a mail that has arrived is seen at its target, in milliseconds. */
const ARRIVED_MS = 450;

/** The size of an envelope with its outline, in the units of the picture. */
const ENVELOPE = { width: 26, height: 20 };

const SVG = "http://www.w3.org/2000/svg";

export class Envelopes {
  /**
   * @param {HTMLElement} layer over the picture
   * @param {Store} store
   * @param {MapLayout} layout
   */
  constructor(layer, store, layout) {
    this.layer = layer;
    this.store = store;
    this.layout = layout;
    /** @type {Map<Arrow, Flight>} */
    this.flights = new Map();
    /** How many events had happened in the frame before. */
    this.count = 0;
    /** @type {DOMMatrix | null} from the units of the picture to pixels of the layer */
    this.onLayer = null;
    this.picture = /** @type {SVGSVGElement} */ (layer.previousElementSibling);
    this.trails = document.createElementNS(SVG, "g");
    const lines = document.createElementNS(SVG, "svg");
    lines.setAttribute("class", "trails");
    lines.append(this.trails);
    layer.append(lines);
    this.measure = () => {
      this.onLayer = null;
      for (const flight of this.flights.values()) remove(flight);
      this.flights.clear(); // they are drawn again, in their new size
      this.paint();
    };
    this.observer = new ResizeObserver(this.measure);
    this.observer.observe(layer);
    this.watch = () => this.paint();
    store.timeline.watchers.add(this.watch);
    // The places of envelopes also change when marks arrive while the moment stands still.
    this.stop = effect(() => {
      if (store.timeline.painted.value) this.paint();
    });
    this.frame = 0;
  }

  close() {
    this.stop();
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
    this.store.timeline.watchers.delete(this.watch);
    this.layer.replaceChildren();
  }

  /** Put each envelope where its hop is. */
  paint() {
    const { clock, forecast, timeline } = this.store;
    const { marks, playhead } = timeline;
    Object.assign(this.layer.dataset, { at: playhead.at, count: playhead.count });
    const begun = forecast.crossings();
    const crossings = [...marks.onTheirWay(playhead), ...begun].slice(-MOST);
    const under = new Set(crossings.map(({ arrow }) => arrow));
    /** @type {Set<Arrow>} */
    const arrivals = new Set();
    for (const [arrow, flight] of this.flights) {
      if (under.has(arrow)) continue;
      this.flights.delete(arrow);
      arrivals.add(arrow);
      if (flight.told && playhead.count > arrow.end) this.arrive(arrow, flight);
      else remove(flight);
    }
    for (const { arrow, gone } of crossings) {
      const flight = this.flights.get(arrow) ?? this.draw(arrow, !begun.some((hop) => hop.arrow === arrow));
      if (flight) this.place(arrow, flight, gone);
    }
    this.flash(arrivals);
    this.count = playhead.count;
    if (begun.length && clock.reading.value?.rate && !calm()) this.goOn();
  }

  /** Paint again in the next frame, because the clock runs and no event tells of what is on a line. */
  goOn() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.paint();
    });
  }

  /** Show the mails that left and arrived since the frame before, while the present moves on. @param {ReadonlySet<Arrow>} arrows */
  flash(arrows) {
    const { marks, playhead, moment, moving } = this.store.timeline;
    if (!moving || moment.value || calm()) return;
    for (const arrow of marks.arrows.slice(-MOST)) {
      const passed = this.count <= arrow.end && arrow.end < playhead.count && arrow.outcome !== "failed";
      if (!passed || !arrow.from || arrows.has(arrow) || this.layer.childElementCount > MOST) continue;
      const flight = this.draw(arrow, true);
      this.flights.delete(arrow);
      if (flight) this.arrive(arrow, flight);
    }
  }

  /**
   * Return the matrix of the picture. It is measured once for each size of the map, because measuring costs a layout.
   * @returns {DOMMatrix | null}
   */
  matrix() {
    if (this.onLayer) return this.onLayer;
    const onScreen = this.picture.getScreenCTM();
    if (!onScreen) return null;
    const corner = this.layer.getBoundingClientRect();
    this.onLayer = new DOMMatrix([onScreen.a, 0, 0, onScreen.d, onScreen.e - corner.left, onScreen.f - corner.top]);
    const { a, d, e, f } = this.onLayer;
    this.trails.setAttribute("transform", `matrix(${a} 0 0 ${d} ${e} ${f})`);
    return this.onLayer;
  }

  /**
   * @param {Arrow} arrow
   * @param {boolean} told
   * @returns {Flight | null}
   */
  draw(arrow, told) {
    const { store, layer } = this;
    const topology = store.timeline.history?.now.topology;
    const way = topology ? wayOf(this.layout, topology, arrow.from, arrow.to, arrow.connector) : [];
    const matrix = this.matrix();
    if (way.length < 2 || !matrix) return null;
    const envelope = document.createElement("div");
    const colour = `mail-${mailColour(arrow.type)}`;
    envelope.className = `envelope ${colour}`;
    envelope.append(envelopePicture(signOf(mailColour(arrow.type))));
    envelope.title = `${mailTypeName(arrow.type)} from ${arrow.from} to ${arrow.to}`;
    Object.assign(envelope.dataset, { mail: arrow.mail, from: arrow.from, to: arrow.to });
    envelope.style.width = `${ENVELOPE.width * matrix.a}px`;
    envelope.style.height = `${ENVELOPE.height * matrix.d}px`;
    envelope.addEventListener("click", () => store.page.select({ kind: "mail", id: arrow.mail }));
    const left = document.createElement("small");
    envelope.append(left);
    layer.append(envelope);
    let trail = null;
    if (arrow.arrivedAt - arrow.sentAt >= SLOW_US) {
      trail = document.createElementNS(SVG, "path");
      trail.setAttribute("class", colour);
      trail.setAttribute("d", way.map(({ x, y }, index) => `${index ? "L" : "M"}${x} ${y}`).join(" "));
      trail.setAttribute("pathLength", "1");
      this.trails.append(trail);
    }
    const flight = { envelope, left, trail, way, told };
    this.flights.set(arrow, flight);
    return flight;
  }

  /** @param {Arrow} arrow @param {Flight} flight @param {number} fraction */
  place(arrow, flight, fraction) {
    const matrix = this.matrix();
    if (!matrix) return;
    const { x, y } = along(flight.way, fraction);
    const left = x * matrix.a + matrix.e - (ENVELOPE.width / 2) * matrix.a;
    const top = y * matrix.d + matrix.f - (ENVELOPE.height / 2) * matrix.d;
    flight.envelope.style.transform = `translate(${left}px, ${top}px)`;
    if (!flight.trail) return;
    flight.trail.style.strokeDasharray = `${fraction} 1`;
    const at = flight.told ? this.store.timeline.playhead.at : this.store.clock.present();
    const takes = `${duration(Math.max(0, arrow.arrivedAt - at))} left`;
    if (flight.left.textContent !== takes) flight.left.textContent = takes;
  }

  /** A mail has arrived, or is lost at the end of its way: it is seen there for an instant. @param {Arrow} arrow @param {Flight} flight */
  arrive(arrow, flight) {
    if (calm() || this.layer.childElementCount > MOST) {
      remove(flight);
      return;
    }
    this.place(arrow, flight, 1);
    flight.trail?.remove();
    flight.left.textContent = arrow.outcome === "lost" ? "lost" : "";
    flight.envelope.classList.add(arrow.outcome);
    setTimeout(() => remove(flight), ARRIVED_MS);
  }
}

/** @param {string} sign */
function envelopePicture(sign) {
  const picture = document.createElementNS(SVG, "svg");
  const { width, height } = ENVELOPE;
  picture.setAttribute("viewBox", `${-width / 2} ${-height / 2} ${width} ${height}`);
  const body = document.createElementNS(SVG, "path");
  body.setAttribute("d", "M-11 -8h22v16h-22z M-11 -8l11 8l11 -8");
  const letter = document.createElementNS(SVG, "text");
  letter.setAttribute("y", "6");
  letter.textContent = sign;
  picture.append(body, letter);
  return picture;
}

/** @param {Flight} flight */
function remove({ envelope, trail }) {
  envelope.remove();
  trail?.remove();
}

/**
 * Return the point at a fraction of a way.
 * @param {readonly Point[]} way
 * @param {number} fraction
 * @returns {Point}
 */
export function along(way, fraction) {
  const lengths = way.slice(1).map((point, index) => Math.hypot(point.x - way[index].x, point.y - way[index].y));
  let remaining = fraction * lengths.reduce((sum, length) => sum + length, 0);
  for (const [index, length] of lengths.entries()) {
    if (remaining <= length && length > 0) {
      const [from, to] = [way[index], way[index + 1]];
      return { x: from.x + ((to.x - from.x) * remaining) / length, y: from.y + ((to.y - from.y) * remaining) / length };
    }
    remaining -= length;
  }
  return way[way.length - 1];
}
