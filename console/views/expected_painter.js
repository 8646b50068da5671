/**
 * Paints the expected future into the space-time diagram, to the right of the present: grey, with open ends, and with the word
 * "expected", so that nobody takes it for something that has happened.
 */

import { setName } from "../state/lab_state.js";
import { duration } from "../state/lab_time.js";
import { arrowEnd } from "./arrow_end.js";

/**
 * @typedef {import("./diagram_painter.js").Painter} Painter
 * @typedef {import("../forecast/future.js").Future} Future
 */

/** The most arrows that are painted. A lab of a thousand folders expects more than anybody could see. */
const MOST_ARROWS = 2_000;

/**
 * @param {Painter} painter
 * @param {CanvasRenderingContext2D} context
 * @param {Future} future of the present
 * @param {{now: number, left: number, width: number, height: number}} place `now` is where the present is, in pixels
 */
export function paintExpected(painter, context, future, { now, left, width, height }) {
  const from = Math.max(left, now + 1);
  if (from >= width) return;
  const { laneHeight, lanes } = painter;
  context.save();
  context.beginPath();
  context.rect(from, 0, width - from, height);
  context.clip();
  context.strokeStyle = context.fillStyle = painter.colour("muted");
  context.lineWidth = 1;
  const bars = new Path2D();
  for (const span of future.marks.spans) {
    const y = lanes[span.server];
    if (y === undefined || (span.kind !== "wait" && span.kind !== "request")) continue;
    const begin = painter.x(span.from);
    const end = painter.x(span.until ?? Math.max(span.due ?? future.until, span.from));
    if (end < from || begin > width || end - begin < 1) continue;
    bars.rect(begin, y - laneHeight * 0.2, end - begin, laneHeight * 0.4);
    const lasts = duration((span.until ?? span.due ?? future.until) - span.from);
    const words = `expected: ${span.kind === "request" ? "asked" : "waits"} ${lasts}`;
    painter.paintLabel(
      context,
      words,
      { row: span.server, from: begin, until: end, y: y - laneHeight * 0.22, width },
      "muted",
    );
  }
  const lines = new Path2D();
  const ends = new Path2D();
  let painted = 0;
  for (const arrow of future.marks.arrows) {
    const line = painter.line(arrow);
    if (!arrow.from || line.x2 < from || line.x1 > width) continue;
    if (++painted > MOST_ARROWS) break;
    const { x, y } = arrowEnd(line, arrow.outcome, laneHeight);
    lines.moveTo(line.x1, line.y1);
    lines.lineTo(x, y);
    if (arrow.outcome === "arrived") {
      ends.moveTo(x + 3.5, y);
      ends.arc(x, y, 3.5, 0, 2 * Math.PI);
    } else {
      ends.moveTo(x - 3.5, y - 3.5);
      ends.lineTo(x + 3.5, y + 3.5);
      ends.moveTo(x - 3.5, y + 3.5);
      ends.lineTo(x + 3.5, y - 3.5);
    }
  }
  context.setLineDash([1, 3]);
  context.stroke(bars);
  context.setLineDash([6, 3]);
  context.stroke(lines);
  context.setLineDash([]);
  context.fillStyle = painter.colour("panel");
  context.fill(ends);
  context.lineWidth = 1.4;
  context.stroke(ends);
  paintArrivals(painter, context, future, { from, width });
  context.restore();
}

/**
 * Say where a replica is expected to get what it lacks now.
 * @param {Painter} painter
 * @param {CanvasRenderingContext2D} context
 * @param {Future} future
 * @param {{from: number, width: number}} place
 */
function paintArrivals(painter, context, future, { from, width }) {
  const state = painter.store.timeline.history?.now;
  if (!state) return;
  context.fillStyle = painter.colour("muted");
  context.textBaseline = "top";
  context.textAlign = "left";
  for (const [key, arrivals] of future.arrivals) {
    const server = key.slice(0, key.indexOf(" "));
    for (const { at, numbers } of arrivals) {
      const x = painter.x(at);
      const words = `expected: ${server} has ${setName(state, numbers)}`;
      const wide = context.measureText(words).width;
      if (x > width || painter.lanes[server] === undefined) continue;
      const begin = Math.max(from + 4, Math.min(x - wide / 2, width - wide - 4));
      const row = `${server} below`;
      if (!painter.isFree(row, begin, begin + wide)) continue;
      painter.take(row, begin, begin + wide);
      context.fillText(words, begin, painter.lanes[server] + painter.laneHeight * 0.22);
    }
  }
}
