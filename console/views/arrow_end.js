/** Where the arrow of a hop ends in the diagram. */

/** How far from its sender's lane an attempt ends that failed, in lanes. */
const FAILED_AT = 0.3;

/**
 * Return where an arrow ends. An attempt that failed ends between the lane of its sender and the next one, because the mail stays
 * with the sender: on the lane of a server between the two it would seem to be that server's.
 * @param {{x1: number, y1: number, x2: number, y2: number}} line from the lane of the sender to that of the receiver
 * @param {string} outcome
 * @param {number} laneHeight
 * @returns {{x: number, y: number}}
 */
export function arrowEnd({ x1, y1, x2, y2 }, outcome, laneHeight) {
  const part = outcome === "failed" ? FAILED_AT / Math.max(1, Math.abs(y2 - y1) / laneHeight) : 1;
  return { x: x1 + (x2 - x1) * part, y: y1 + (y2 - y1) * part };
}
