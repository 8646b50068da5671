import assert from "node:assert/strict";
import { test } from "node:test";

import { costOf } from "../forecast/cost.js";
import { sizeWords } from "../views/size_words.js";

/** @param {string} connector @param {string} type @param {number} mails @param {number} bytes */
const row = (connector, type, mails, bytes) => ({ connector, type, mails, bytes });

const ANSWER = {
  from_at: "2003-10-21T01:00:00Z",
  to_at: "2003-10-24T03:00:00Z",
  held: true,
  complete: true,
  mails: 20,
  traffic: [row("X-Y", "content", 1, 100), row("X-Y", "content response", 4, 4000), row("Y-Z", "status", 2, 20)],
  without: {
    mails: 8,
    traffic: [row("X-Y", "content", 1, 100), row("Y-Z", "status", 2, 20), row("Z-W", "status", 1, 7)],
  },
};

test("a cost has what each line carries more or less, and when all replicas agree", () => {
  assert.deepEqual(costOf(ANSWER), {
    lines: [
      { connector: "X-Y", mails: 4, bytes: 4000 },
      { connector: "Z-W", mails: -1, bytes: -7 },
    ],
    mails: 12,
    end: "All replicas agree 3 d 2 h later, at 24 Oct 03:00.",
  });
  assert.equal(sizeWords(-4096), "-4.0 KB");
});

test("an order that changes nothing, one that never ends, and one that is too long say so", () => {
  const nothing = { ...ANSWER, to_at: ANSWER.from_at, traffic: ANSWER.without.traffic, mails: 8 };
  assert.deepEqual(costOf(nothing), {
    lines: [],
    mails: 0,
    end: "All replicas agree as before: nothing has to be sent.",
  });
  const never = { ...ANSWER, held: false, lacking: { C: "A-1 of Projects" }, not_asked: ["B"] };
  assert.equal(costOf(never).end, "Not all replicas agree within 3 d 2 h: B does not run; C lacks A-1 of Projects.");
  assert.equal(
    costOf({ ...never, complete: false }).end,
    "So much happens that the forecast ends 3 d 2 h later, at 24 Oct 03:00, and not all replicas agree yet.",
  );
});
