import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { TabDoor } from "../source/tab_door.js";
import { LabPorts } from "../tab/lab_ports.js";

/**
 * @typedef {import("../tab/lab_ports.js").Request} Request
 * @typedef {import("../tab/lab_ports.js").Send} Send
 * @typedef {import("../source/tab_door.js").Beginning} Beginning
 */

/** @type {MessageChannel[]} */
const opened = [];

afterEach(() => opened.splice(0).forEach(({ port1 }) => port1.close()));

/** A lab that answers with what was asked, and whose streams end only when they are cancelled. */
class Echo {
  constructor() {
    /** @type {string[]} */
    this.cancelled = [];
    /** @type {Beginning[]} */
    this.begun = [];
    this.toldOfChanges = 0;
    this.toldOfHiding = 0;
  }

  changed() {
    this.toldOfChanges++;
  }

  hidden() {
    this.toldOfHiding++;
  }

  /** @param {Request} request @param {Send} send */
  answer({ method, target, body }, send) {
    const { promise, resolve, reject } = withResolvers();
    if (target === "/broken") reject(new Error("Traceback\n  some line\nValueError: no such thing"));
    else {
      send("start", 200, JSON.stringify({ "Content-Type": "text/plain" }));
      send(
        "body",
        new TextEncoder().encode(`${method} ${target} ${new TextDecoder().decode(body ?? undefined)}`),
        null,
      );
      if (target !== "/stream") {
        send("end", null, null);
        resolve(undefined);
      }
    }
    const cancel = () => {
      this.cancelled.push(target);
      reject(new Error("cancelled"));
    };
    return { then: promise.then.bind(promise), cancel };
  }

  /** @param {Beginning} beginning */
  async open(beginning) {
    this.begun.push(beginning);
    if (beginning.how === "topology") throw new Error("1:1: a server is missing");
  }
}

function withResolvers() {
  /** @type {(value: unknown) => void} */
  let resolve = () => undefined;
  /** @type {(reason: unknown) => void} */
  let reject = () => undefined;
  const promise = new Promise((keep, fail) => {
    resolve = keep;
    reject = fail;
  });
  return { promise, resolve, reject };
}

/** Return the ports of a lab, and a function that opens a page's door to it. */
function lab() {
  const echo = new Echo();
  const ports = new LabPorts(echo);
  const door = () => {
    const channel = new MessageChannel();
    opened.push(channel);
    ports.add(/** @type {any} */ (channel.port2));
    return new TabDoor(/** @type {any} */ (channel.port1));
  };
  return { echo, ports, door };
}

const READY = /** @type {const} */ ({ state: "ready", step: 1, words: "" });

/** Wait until something is so. @param {() => boolean} holds */
async function until(holds) {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve));
}

test("requests that come before the lab is up are answered when it is", async () => {
  const { ports, door } = lab();
  const page = door();
  const asked = page.ask("/lab", { method: "PUT", body: "x" });
  await until(() => ports.waiting.length === 1);
  ports.tell(READY);
  assert.equal(await (await asked).text(), "PUT /lab x");
  assert.equal(page.condition.value.state, "ready");
});

test("each page gets its own answers, and is told how the worker is when it comes", async () => {
  const { ports, door } = lab();
  ports.tell(READY);
  const pages = [door(), door()];
  const texts = await Promise.all(pages.map(async (page, index) => (await page.ask(`/${index}`)).text()));
  assert.deepEqual(texts, ["GET /0 ", "GET /1 "]);
  assert.deepEqual(
    pages.map((page) => page.condition.value.state),
    ["ready", "ready"],
  );
});

test("a page that leaves ends its streams, and those of others go on", async () => {
  const { echo, ports, door } = lab();
  ports.tell(READY);
  const [gone, stays] = [door(), door()];
  await Promise.all([gone.ask("/stream"), stays.ask("/stream")]);
  gone.leave();
  await until(() => echo.cancelled.length > 0);
  assert.deepEqual(echo.cancelled, ["/stream"]);
  assert.equal(ports.ports.size, 1);
});

test("who reads a stream no more ends it in the lab", async () => {
  const { echo, ports, door } = lab();
  ports.tell(READY);
  const ending = new AbortController();
  await door().ask("/stream", { signal: ending.signal });
  ending.abort();
  await until(() => echo.cancelled.length > 0);
});

test("an error of the lab reaches the page as its last line", async () => {
  const { ports, door } = lab();
  ports.tell(READY);
  await assert.rejects(door().ask("/broken"), { message: "ValueError: no such thing" });
});

test("a lab is opened on order, and its mistakes come back", async () => {
  const { echo, door } = lab();
  const page = door();
  await page.open({ how: "new" });
  await assert.rejects(page.open({ how: "topology", content: "{}" }), { message: "1:1: a server is missing" });
  assert.deepEqual(
    echo.begun.map(({ how }) => how),
    ["new", "topology"],
  );
});

test("only requests that can change the lab count as changes, and when they have ended", async () => {
  const { echo, ports, door } = lab();
  ports.tell(READY);
  const page = door();
  await (await page.ask("/lab")).text();
  await page.ask("/stream", { method: "POST" });
  assert.equal(ports.changes, 0);
  await (await page.ask("/lab/clock/step", { method: "POST" })).text();
  await until(() => echo.toldOfChanges === 1);
  assert.equal(ports.changes, 1);
  await assert.rejects(page.ask("/broken", { method: "POST" }));
  assert.equal(ports.changes, 2);
});

test("the lab learns that a page is hidden", async () => {
  const { echo, door } = lab();
  door().hide();
  await until(() => echo.toldOfHiding === 1);
});
