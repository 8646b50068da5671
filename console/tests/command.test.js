import assert from "node:assert/strict";
import { test } from "node:test";

import { commandOf } from "../state/command.js";

test("a command has what the request has, and a shell reads each value as one word", () => {
  assert.equal(commandOf("connector change", "SEA-NYC", { cost: 5 }), "pflab connector change SEA-NYC --cost 5");
  assert.equal(
    commandOf("connector add", "it's", { between: ["SEA", "LON"], size_limit: "1 MB" }),
    "pflab connector add 'it'\\''s' --between SEA,LON --size-limit '1 MB'",
  );
  const ends = { senders: [], bridgeheads: { SEA: "B", NYC: "C" } };
  assert.equal(
    commandOf("connector change", "SEA-NYC", ends),
    "pflab connector change SEA-NYC --senders '' --bridgeheads B,C",
  );
  assert.equal(commandOf("connector remove", "SEA-NYC"), "pflab connector remove SEA-NYC");
  assert.equal(commandOf("folder move", ["Old plans", ""], { node: "A" }), "pflab folder move 'Old plans' '' --node A");
});
