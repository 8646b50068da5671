import assert from "node:assert/strict";
import { test } from "node:test";

import { changedProperties, PROPERTIES, textOf } from "../state/folder_properties.js";

const FOLDER = {
  path: "Projects",
  schedule: null,
  priority: "normal",
  age_limit: "30 d",
  warning_limit: null,
  post_limit: null,
  item_limit: null,
  contacts: ["kim@contoso.test", "lee@contoso.test"],
  address: "projects@contoso.test",
};

/** @returns {any} */
const texts = () => Object.fromEntries(PROPERTIES.map((property) => [property.name, textOf(FOLDER, property)]));

test("a property that is not set has a word, which the server takes too", () => {
  const { schedule, age_limit: age, warning_limit: warning, contacts } = texts();
  assert.deepEqual(
    [schedule, age, warning, contacts],
    ["default", "30 d", "none", "kim@contoso.test, lee@contoso.test"],
  );
});

test("only what was changed is sent, so nobody sets what he did not mean", () => {
  assert.deepEqual(changedProperties(FOLDER, texts()), {});
  const wanted = { ...texts(), schedule: " every 4 h ", age_limit: "none", contacts: "kim@contoso.test" };
  assert.deepEqual(changedProperties(FOLDER, wanted), {
    schedule: "every 4 h",
    age_limit: "none",
    contacts: ["kim@contoso.test"],
  });
});

test("the mail address is shown by its alias, or by the word for none", () => {
  assert.equal(texts().alias, "projects");
  assert.deepEqual(changedProperties(FOLDER, { alias: "projects" }), {});
  assert.deepEqual(changedProperties({ ...FOLDER, address: null }, { alias: "none" }), {});
  assert.deepEqual(changedProperties({ ...FOLDER, address: null }, { alias: "default" }), { alias: "default" });
});
