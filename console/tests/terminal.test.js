import assert from "node:assert/strict";
import { test } from "node:test";

import * as api from "../api.js";
import { commandOf, terminalCommand } from "../state/terminal.js";

const GUID = "a".repeat(32);
const POST = `${GUID}:7`;
const state = /** @type {any} */ ({
  stores: { [GUID]: "A" },
  folders: { "1-4": { id: "1-4", path: "Old plans/2003" } },
  servers: { B: { paths: {}, tables: { "1-4": { items: { [POST]: { number: `${GUID}:9` } } } } } },
});
const post = api.message("B", "Old plans/2003", POST);
const folder = api.node("A").folder("Old plans/2003");

/** Requests of the console with the commands that do the same. The tests of Python try each command. @type {[string, string, any, string][]} */
const ORDERS = [
  ["POST", api.server("B", "start"), undefined, "pflab fault start B"],
  ["POST", api.server("B", "stop"), undefined, "pflab fault stop B"],
  ["POST", api.server("B", "kill"), undefined, "pflab fault kill B"],
  ["POST", api.server("B", "backup"), undefined, "pflab fault backup B"],
  ["POST", api.server("B", "create"), undefined, "pflab directory create B"],
  ["POST", api.server("B", "restore"), { backup: "backup-1" }, "pflab fault restore B --backup backup-1"],
  ["POST", api.server("B", "delete"), { on: "A", force: false }, "pflab directory delete B --on A"],
  ["POST", api.server("B", "delete"), { on: "A", force: true }, "pflab directory delete B --on A --force"],
  ["POST", api.LAB.servers, { name: "F", site: "LON", version: "5.5" }, "pflab server add F --site LON --version 5.5"],
  ["DELETE", api.serverItself("F"), undefined, "pflab server remove F"],
  ["POST", api.LAB.sites, { name: "New York" }, "pflab site add 'New York'"],
  ["DELETE", api.site("LON"), undefined, "pflab site remove LON"],
  ["POST", api.LAB.connectors, { name: "X", between: ["SEA", "LON"] }, "pflab connector add X --between SEA,LON"],
  [
    "PATCH",
    api.connector("SEA-LON"),
    { cost: 5, schedule: "every 1 h" },
    "pflab connector change SEA-LON --cost 5 --schedule 'every 1 h'",
  ],
  ["DELETE", api.connector("SEA-LON"), undefined, "pflab connector remove SEA-LON"],
  [
    "POST",
    api.LAB.policies,
    { name: "London", domain: "fabrikam.test", filter: { sites: ["LON"], versions: ["5.5", "2003"] } },
    "pflab directory policy add London --domain fabrikam.test --sites LON --versions 5.5,2003",
  ],
  ["PATCH", api.policy("London"), { priority: 1 }, "pflab directory policy change London --priority 1"],
  [
    "PATCH",
    api.policy("Default Policy"),
    { domain: "fabrikam.test" },
    "pflab directory policy change 'Default Policy' --domain fabrikam.test",
  ],
  ["DELETE", api.policy("London"), undefined, "pflab directory policy remove London"],
  ["POST", api.LAB.policy, { recipient_update: "1 h" }, "pflab directory schedule '1 h'"],
  ["POST", api.LAB.policy, { at_once: true }, "pflab directory update"],
  [
    "POST",
    api.LAB.forecast,
    { within: "30 d", steps: [{ stop: "B" }, { restore: { on: "B", backup: "backup-1" } }], cost: true },
    `pflab what-if '{"stop":"B"}' '{"restore":{"on":"B","backup":"backup-1"}}' --cost`,
  ],
  ["POST", api.CLOCK.rate, { rate: 3600 }, "pflab clock rate 3600"],
  ["POST", api.CLOCK.step, undefined, "pflab clock step"],
  ["POST", api.CLOCK.advance, { to: "36 h" }, "pflab clock advance '36 h'"],
  [
    "POST",
    api.FAULTS.all,
    { kind: "lose", from: "A", to: "B", count: 1 },
    "pflab fault lose --from A --to B --count 1",
  ],
  ["POST", api.FAULTS.all, { kind: "cut", between: ["A", "B"], one_way: true }, "pflab fault cut A B --one-way"],
  ["POST", api.FAULTS.all, { kind: "skew", server: "B", by: "10 min" }, "pflab fault skew B --by '10 min'"],
  ["DELETE", api.fault("F1"), undefined, "pflab fault heal F1"],
  ["POST", api.node("A").send, { folder: "1-1", days: 7, to: ["B"] }, "pflab resend 1-1 --days 7 --from A --to B"],
  ["POST", api.node("A").synchronize, { folder: "Projects" }, "pflab synchronize Projects --server A"],
  ["PATCH", api.node("A").settings, { "Age Limit": "30 d" }, "pflab settings change 'Age Limit' '30 d' --server A"],
  ["PATCH", api.node("A").settings, { "Age Limit": null }, "pflab settings change 'Age Limit' absent --server A"],
  [
    "POST",
    api.node("A").replicas,
    { folder: "1-1", replace: "B", by: "C" },
    "pflab replicas replace 1-1 --replica B --by C --on A",
  ],
  [
    "POST",
    api.node("A").replicas,
    { folder: "Projects", add: ["B"] },
    "pflab replicas add Projects --replica B --on A",
  ],
  [
    "POST",
    api.node("A").propagate,
    { folder: "Projects", properties: ["schedule", "priority"] },
    "pflab folder propagate Projects --node A --properties schedule,priority",
  ],
  ["POST", api.node("A").queue, { order: "freeze", next_hop: "B" }, "pflab queue freeze --to B --server A"],
  ["POST", api.node("A").queue, { order: "delete", mails: [17, 18] }, "pflab queue delete 17 18 --server A"],
  [
    "POST",
    api.node("A").folders,
    { path: "News", replicas: ["A", "B"] },
    "pflab folder create News --node A --replicas A,B",
  ],
  ["PATCH", folder, { rename: "2004" }, "pflab folder rename 'Old plans/2003' 2004 --node A"],
  [
    "PATCH",
    folder,
    { rename: "2004", move_to: "" },
    "pflab folder rename 'Old plans/2003' 2004 --node A && pflab folder move 'Old plans/2004' '' --node A",
  ],
  ["PATCH", folder, { schedule: "every 4 h" }, "pflab folder change 'Old plans/2003' --node A --schedule 'every 4 h'"],
  ["DELETE", folder, undefined, "pflab folder delete 'Old plans/2003' --node A"],
  ["POST", api.node("A").recoverFolder("News"), undefined, "pflab recover News --node A"],
  [
    "POST",
    api.node("A").messages,
    { folder: "News", subject: "Hello", body: "", sender: "" },
    "pflab post News --node A --subject Hello",
  ],
  [
    "PATCH",
    post.itself,
    { subject: "Ho", body: "at noon", based_on: [`${GUID}:9`] },
    "pflab edit A-9 --node B --subject Ho --body 'at noon' --based-on A-9",
  ],
  ["DELETE", post.itself, undefined, "pflab delete A-9 --node B"],
  ["POST", post.recover, undefined, "pflab recover A-9 --node B"],
  [
    "POST",
    post.resolve,
    { keep: `${GUID}:7`, by: "kim@contoso.test" },
    "pflab resolve A-9 --node B --keep A-7 --by kim@contoso.test",
  ],
  [
    "POST",
    post.resolve,
    { keep: "all", by: "kim@contoso.test" },
    "pflab resolve A-9 --node B --keep all --by kim@contoso.test",
  ],
];

for (const [method, path, body, command] of ORDERS) {
  test(`${method} ${path} is ${command}`, () => {
    assert.equal(terminalCommand({ method, path, body }, state), command);
  });
}

test("a request that no verb makes has no command", () => {
  assert.equal(terminalCommand({ method: "PUT", path: api.savedLab("mine").itself, body: {} }, state), null);
  assert.equal(terminalCommand({ method: "POST", path: api.LESSON.next, body: {} }, state), null);
  assert.equal(
    terminalCommand({ method: "DELETE", path: api.message("B", "News", POST).itself, body: undefined }, state),
    null,
  );
});

test("a request whose body no verb can write has no command, and does not fail", () => {
  /** @type {[string, string, any][]} */
  const requests = [
    ["PATCH", api.node("A").settings, {}],
    ["POST", api.node("A").replicas, { folder: "1-1" }],
    ["POST", api.node("A").queue, { order: "freeze", mails: 17 }],
    ["POST", api.FAULTS.all, { kind: "cut", between: 5 }],
    ["POST", api.LAB.forecast, { cost: true, within: "1 h" }],
    ["POST", api.LAB.forecast, { within: "36 h" }],
  ];
  for (const [method, path, body] of requests) {
    assert.equal(terminalCommand({ method, path, body }, state), null, `${method} ${path}`);
  }
});

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
