import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { LiveSource } from "../source/live.js";
import { TabDoor } from "../source/tab_door.js";

/** @typedef {import("../source/tab_door.js").Order} Order */

/** @type {MessageChannel[]} */
const opened = [];

afterEach(() => {
  for (const { port1, port2 } of opened.splice(0)) {
    port1.close();
    port2.close();
  }
});

/**
 * Return a door, and the other end of its port, which answers each order by `serve`.
 * @param {(order: Order, post: (message: unknown) => void) => void} serve
 */
function doorTo(serve) {
  const channel = new MessageChannel();
  opened.push(channel);
  /** @type {Order[]} */
  const orders = [];
  const post = (/** @type {unknown} */ message) => channel.port2.postMessage(message);
  channel.port2.onmessage = ({ data }) => {
    orders.push(data);
    serve(data, post);
  };
  return { door: new TabDoor(/** @type {any} */ (channel.port1)), orders, post };
}

/** @param {number} id @param {number} status @param {Record<string, string>} headers */
const start = (id, status, headers) => ({ id, kind: "start", a: status, b: JSON.stringify(headers) });
/** @param {number} id @param {string} text */
const body = (id, text) => ({ id, kind: "body", a: new TextEncoder().encode(text), b: null });
/** @param {number} id */
const end = (id) => ({ id, kind: "end", a: null, b: null });

/** An event loop's turn, in which messages of a port arrive. */
const turn = () => new Promise((resolve) => setTimeout(resolve));

test("a request has its method, headers and body, and the answer is a Response with all pieces in order", async () => {
  const { door, orders } = doorTo(({ id }, post) => {
    post(start(id, 201, { "Content-Type": "text/plain", "Pflab-Next": "7" }));
    post(body(id, "one "));
    post(body(id, "two"));
    post(end(id));
  });
  const answer = await door.ask("/lab/clock/rate", { method: "POST", headers: { "X-One": "1" }, body: "{}" });
  assert.equal(answer.status, 201);
  assert.equal(answer.headers.get("Pflab-Next"), "7");
  assert.equal(await answer.text(), "one two");
  const [{ id, ...order }] = orders;
  assert.equal(id, 1);
  assert.deepEqual(order, {
    method: "POST",
    target: "/lab/clock/rate",
    headers: { "X-One": "1" },
    body: new TextEncoder().encode("{}"),
  });
});

test("an answer without content is one", async () => {
  const { door } = doorTo(({ id }, post) => {
    post(start(id, 204, {}));
    post(end(id));
  });
  const answer = await door.ask("/lessons/1", { method: "DELETE" });
  assert.equal(answer.status, 204);
  assert.equal(await answer.text(), "");
});

test("answers that cross each other reach those who asked", async () => {
  /** @type {[Order, (message: unknown) => void][]} */
  const held = [];
  const { door } = doorTo((order, post) => {
    held.push([order, post]);
    if (held.length < 2) return;
    for (const [waiting, reply] of held.reverse()) {
      reply(start(waiting.id, 200, {}));
      reply(body(waiting.id, "target" in waiting ? waiting.target : ""));
      reply(end(waiting.id));
    }
  });
  const texts = await Promise.all(["/one", "/two"].map(async (target) => (await door.ask(target)).text()));
  assert.deepEqual(texts, ["/one", "/two"]);
});

test("who ends a request is told so, the worker too, and what still arrives is dropped", async () => {
  const { door, orders, post } = doorTo(() => undefined);
  const ending = new AbortController();
  const asked = door.ask("/lab", { signal: ending.signal });
  await turn();
  ending.abort();
  await assert.rejects(asked, { name: "AbortError" });
  post(start(1, 200, {}));
  post(body(1, "late"));
  await turn();
  assert.deepEqual(orders.at(-1), { id: 1, cancel: true });
  assert.equal(door.calls.size, 0);
});

test("a request that was ended before it began is not sent", async () => {
  const { door, orders } = doorTo(() => undefined);
  await assert.rejects(door.ask("/lab", { signal: AbortSignal.abort() }), { name: "AbortError" });
  await turn();
  assert.deepEqual(orders, []);
});

test("a worker that fails says why to all who wait, and to all who come later", async () => {
  const { door, post } = doorTo(() => undefined);
  const waiting = door.ask("/lab");
  const told = { message: "there is no memory left", status: 0 };
  post({ state: "failed", step: 1, words: told.message });
  await assert.rejects(waiting, told);
  await assert.rejects(door.ask("/lab"), told);
});

test("a worker is silent while it does not answer a request; a stream that has begun waits for nothing", async (context) => {
  let now = 0;
  context.mock.method(performance, "now", () => now);
  const { door, post } = doorTo(({ id }, reply) => {
    if (id === 1) reply(start(id, 200, {}));
  });
  await door.ask("/labs/stream");
  now = 60_000;
  assert.equal(door.silentMs(), 0);
  const waiting = door.ask("/lab/clock");
  now = 90_000;
  assert.equal(door.silentMs(), 30_000);
  post(body(1, ": alive"));
  await turn();
  assert.equal(door.silentMs(), 0);
  post(start(2, 200, {}));
  await waiting;
  now = 200_000;
  assert.equal(door.silentMs(), 0);
});

test("a request that fails in the worker fails here with its words", async () => {
  const { door } = doorTo(({ id }, post) => post({ id, kind: "failed", a: "MemoryError", b: null }));
  await assert.rejects(door.ask("/lab"), { message: "MemoryError", status: 0 });
});

test("a source asks through the door: an answer is decoded, and a refusal has the lab's words", async () => {
  const { door } = doorTo((order, post) => {
    const refused = "target" in order && order.target === "/lessons/1/lab/clock/step";
    post(start(order.id, refused ? 409 : 200, { "Content-Type": "application/json" }));
    post(body(order.id, refused ? '{"detail": "the clock runs"}' : '{"rate": 1}'));
    post(end(order.id));
  });
  const source = new LiveSource("/lessons/1", door);
  assert.deepEqual(await source.request("/lab/clock"), { rate: 1 });
  await assert.rejects(source.request("/lab/clock/step", { method: "POST" }), {
    message: "the clock runs",
    status: 409,
  });
});

test("a file has the name that the lab gives it, and no type that a browser would show", async () => {
  const { door } = doorTo(({ id }, post) => {
    post(start(id, 200, { "Content-Type": "text/html", "Content-Disposition": 'attachment; filename="run.html"' }));
    post(body(id, "<p>"));
    post(end(id));
  });
  const { name, content } = await new LiveSource("", door).file("/lab/replay");
  assert.equal(name, "run.html");
  assert.equal(content.type, "");
  assert.equal(await content.text(), "<p>");
});

test("events arrive as they are sent, in pieces of any length, and a reader that leaves ends the stream", async () => {
  const text = ': pflab\n\nid: 1\nevent: up/1@\ndata: {"type": "a"}\n\nid: 2\nevent: up/1@\ndata: {"type": "b"}\n\n';
  const { door, orders } = doorTo((order, post) => {
    if ("cancel" in order) return;
    post(start(order.id, 200, { "Content-Type": "text/event-stream" }));
    for (const piece of text.match(/[^]{1,7}/g) ?? []) post(body(order.id, piece));
  });
  /** @type {import("../source/lab_streams.js").Arrival[]} */
  const arrivals = [];
  /** @type {boolean[]} */
  const connections = [];
  await new Promise((resolve) => {
    const follow = door.follow((told) => {
      arrivals.push(...(told.arrivals ?? []));
      if (told.connected !== undefined) connections.push(told.connected);
      if (arrivals.length < 2) return;
      follow(null);
      resolve(undefined);
    });
    follow({ base: "", history: "up/1", count: 0 });
  });
  await turn();
  assert.deepEqual(arrivals, [
    { number: 1, data: '{"type": "a"}' },
    { number: 2, data: '{"type": "b"}' },
  ]);
  assert.deepEqual(connections, [true]);
  assert.deepEqual(orders.at(-1), { id: 1, cancel: true });
});
