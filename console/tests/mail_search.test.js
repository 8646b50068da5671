import assert from "node:assert/strict";
import { test } from "node:test";

import { parse } from "../state/change_numbers.js";
import { Book } from "../state/kept_book.js";
import { filterOf, mailList, withFilter } from "../state/mail_search.js";

const A = "a".repeat(32);
const FOLDER = `${"c".repeat(32)}:1`;

/** @param {string} id @param {Record<string, unknown>} more @returns {any} */
const mail = (id, more) => ({
  id,
  type: 4,
  from: "A",
  to: ["B"],
  folders: [],
  marks: [],
  size: 1,
  at: 0,
  legs: [],
  received: [],
  sender: "",
  subject: "",
  returned: [],
  deleted: [],
  ...more,
});

/** @param {...any} mails */
function bookOf(...mails) {
  const book = new Book("id");
  mails.forEach((each) => book.set(each));
  return book;
}

const leg = { from: "A", to: "B", sentAt: 0, arrivedAt: 1, why: "" };

/** @type {any} */
const STATE = {
  servers: { A: { queue: { queued: {} } }, B: { queue: {} } },
  stores: { [A]: "A" },
  folders: { [FOLDER]: { path: "Projects" } },
  mails: bookOf(
    mail("content", {
      folders: [{ folder: FOLDER, cnset: parse(`${A}:2-4`) }],
      legs: [{ ...leg, outcome: "arrived" }],
    }),
    mail("status", { type: 0x20, from: "B", to: ["A"], legs: [{ ...leg, outcome: "lost" }] }),
    mail("queued", { type: 0x10 }),
    mail("crossing", { type: 0x10, to: ["A-2"] }),
  ),
};

/** @param {string} search */
const found = (search) => mailList(STATE, new Set(["crossing"]), search, 10).rows.map((row) => row.id);

test("all mails are listed, the newest first, and no more than there is room for", () => {
  assert.deepEqual(found(""), ["crossing", "queued", "status", "content"]);
  assert.deepEqual(
    { ...mailList(STATE, new Set(), "", 1), rows: 0 },
    { rows: 0, fitting: 4, all: 4 },
    "the count is that of all mails",
  );
});

test("filters and words must all fit, and a mail is found by each change in a range", () => {
  assert.deepEqual(found("from:b"), ["status"]);
  assert.deepEqual(found("to:b"), ["queued", "content"]);
  assert.deepEqual(found("type:status"), ["crossing", "queued", "status"]);
  assert.deepEqual(found('type:"status request"'), ["status"]);
  assert.deepEqual(found("folder:proj change:A-3"), ["content"]);
  assert.deepEqual(found("change:A-5"), []);
  assert.deepEqual(found("change:A-1"), []);
  assert.deepEqual(found("is:lost"), ["status"]);
  assert.deepEqual(found("is:waiting"), ["queued"]);
  assert.deepEqual(found("is:on-its-way"), ["crossing"]);
  assert.deepEqual(found("projects from:a"), ["content"]);
  assert.deepEqual(found("a-2"), ["crossing", "content"]);
});

const DAY = Date.UTC(2003, 9, 21) * 1000;

/** @type {any} */
const OF_PEOPLE = {
  ...STATE,
  mails: bookOf(
    mail("status", { type: 0x20, from: "B", to: ["A"], legs: [{ ...leg, outcome: "arrived" }], at: DAY - 1 }),
    mail("report", {
      type: undefined,
      from: "[127.0.0.1]",
      sender: "kim@contoso.test",
      to: ["Projects@contoso.test"],
      subject: "Weekly report",
      at: DAY,
      returned: ["Projects@contoso.test"],
    }),
    mail("lunch", {
      type: undefined,
      from: "mail.outside.test",
      to: ["kim@contoso.test"],
      at: 2 * DAY,
      received: ["A"],
    }),
    mail("purged", { type: undefined, from: "A", to: ["lee@x.test"], at: 2 * DAY, deleted: ["lee@x.test"] }),
  ),
};

test("the mail of people is found by parts of addresses, subject, day, state and Message-ID", () => {
  const of = (/** @type {string} */ search) => mailList(OF_PEOPLE, new Set(), search, 10).rows.map((row) => row.id);
  assert.deepEqual(of("from:kim@"), ["report"]);
  assert.deepEqual(of("from:[127.0.0.1]"), []);
  assert.deepEqual(of("to:projects"), ["report"]);
  assert.deepEqual(of('about:"weekly rep"'), ["report"]);
  assert.deepEqual(of("weekly"), ["report"]);
  assert.deepEqual(of("day:2003-10-21"), ["report"]);
  assert.deepEqual(of("is:returned"), ["report"]);
  assert.deepEqual(of("is:deleted"), ["purged"]);
  assert.deepEqual(of("is:delivered"), ["lunch", "status"]);
  assert.deepEqual(of("id:<Lunch>"), ["lunch"]);
});

test("a form changes a filter of a search and leaves the rest", () => {
  const search = 'hello from:A type:"status request"';
  assert.equal(filterOf(search, "type"), "status request");
  assert.equal(filterOf(search, "to"), "");
  assert.equal(withFilter(search, "from", "kim@contoso.test"), 'hello type:"status request" from:kim@contoso.test');
  assert.equal(withFilter(search, "about", 'the "last" report'), `${search} about:"the last report"`);
  assert.equal(withFilter(search, "type", ""), "hello from:A");
});
