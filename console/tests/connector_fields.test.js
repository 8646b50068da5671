import assert from "node:assert/strict";
import { test } from "node:test";

import { changedFields, FIELDS } from "../state/connector_fields.js";

/** @type {import("../state/lab_state.js").Connector} */
const LINE = {
  name: "SEA-NYC",
  kind: "x400",
  between: ["SEA", "NYC"],
  cost: 10,
  latency: "80 ms",
  bridgeheads: { NYC: "C", SEA: "A" },
  schedule: ["Mon-Fri 20:00-06:00", "Sat"],
};

/** @returns {any} */
const texts = () => Object.fromEntries(FIELDS.map((field) => [field.name, field.text(LINE)]));

test("a property that is not set has a word, and several times are one text", () => {
  assert.deepEqual(texts(), {
    cost: "10",
    latency: "80 ms",
    bandwidth: "none",
    schedule: "Mon-Fri 20:00-06:00; Sat",
    size_limit: "none",
    affinity: "none",
    senders: "everybody",
    bridgeheads: "A, C",
  });
});

test("only what was edited is sent", () => {
  assert.deepEqual(changedFields(LINE, texts()), {});
  const edited = { ...texts(), cost: " 5 ", schedule: "every 1 h", size_limit: "1 MB", latency: "80 ms " };
  assert.deepEqual(changedFields(LINE, edited), { cost: 5, schedule: "every 1 h", size_limit: "1 MB" });
  assert.deepEqual(changedFields(LINE, { cost: "11" }), { cost: 11 });
  const ends = { affinity: "7", senders: "kim@contoso.test, lee@contoso.test", bridgeheads: "B,C" };
  assert.deepEqual(changedFields(LINE, ends), {
    affinity: 7,
    senders: ["kim@contoso.test", "lee@contoso.test"],
    bridgeheads: { SEA: "B", NYC: "C" },
  });
  assert.deepEqual(changedFields({ ...LINE, senders: ["kim@contoso.test"] }, { senders: "everybody" }), {
    senders: [],
  });
});
