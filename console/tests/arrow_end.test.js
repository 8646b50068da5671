import assert from "node:assert/strict";
import test from "node:test";
import { arrowEnd } from "../views/arrow_end.js";

test("an attempt that failed ends between the lane of its sender and the next, however far its receiver is", () => {
  for (const lanes of [1, 2, 5, -3]) {
    const { x, y } = arrowEnd({ x1: 100, y1: 50, x2: 200, y2: 50 + 40 * lanes }, "failed", 40);
    assert.ok(Math.abs(y - 50) > 8 && Math.abs(y - 50) < 20, `${lanes} lanes: ${y}`);
    assert.ok(x > 100 && x <= 130);
  }
});

test("a mail that was lost or has arrived ends at its receiver", () => {
  for (const outcome of ["arrived", "lost"])
    assert.deepEqual(arrowEnd({ x1: 100, y1: 50, x2: 200, y2: 130 }, outcome, 40), { x: 200, y: 130 });
});
