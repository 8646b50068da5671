import assert from "node:assert/strict";
import { test } from "node:test";

import { Address } from "../address.js";

test("the address of a lesson on a server is read and written alike", () => {
  const search = "?lab=/lessons/28c9551c89e0048e&lesson=lost-mail&presenter";
  const address = Address.parse(search, false);
  assert.equal(address.base, "/lessons/28c9551c89e0048e");
  assert.equal(address.role, "presenter");
  assert.equal(String(address), `./${search}`);
  assert.equal(String(address.home()), "./");
});

test("only the path of a lesson is a path of a lab", () => {
  for (const lab of ["//stranger.test", "/lessons/../lab", "https://stranger.test/lessons/1", "/lessons/1/2"]) {
    assert.equal(Address.parse(`?lab=${encodeURIComponent(lab)}`, false).base, "");
  }
});

test("the course of a class stays in the address from lesson to lesson", () => {
  const address = Address.parse("?topology=one-site&lesson=lost-mail&course=lost-mail,a%26b,lost-mail,", true);
  assert.deepEqual(address.course, ["lost-mail", "a&b"]);
  assert.equal(String(address.home()), "./?topology=one-site&course=lost-mail,a%26b");
  assert.equal(
    String(address.ofLesson("/lessons/2/", "conflict")),
    "./?topology=one-site&lesson=conflict&course=lost-mail,a%26b",
  );
});

test("in a tab, an address has the lesson's name and the topology, and no path, which would not outlive the tab", () => {
  const address = Address.parse("?topology=one-site", true).ofLesson("/lessons/1/", "lost-mail");
  assert.equal(address.base, "/lessons/1");
  assert.equal(String(address), "./?topology=one-site&lesson=lost-mail");
  assert.equal(Address.parse("?lab=/lessons/1&lesson=lost-mail", true).base, "");
  assert.equal(String(address.home()), "./?topology=one-site");
});
