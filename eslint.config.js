// ESLint: the recommended rules, and a rule that keeps what users wrote from becoming markup.
import js from "@eslint/js";
import globals from "globals";

/** Properties that make markup of text. The console writes text through Preact alone. */
const MARKUP = ["dangerouslySetInnerHTML", "innerHTML", "outerHTML", "srcdoc", "insertAdjacentHTML"];
const message = "This makes markup of text; let Preact write the text.";

/** How a path of the lab's API begins. */
const PATH = "/^\\/(lab|nodes|lessons?|next)(\\/|$)/";

/** How a page reaches the world outside of it. */
const OUTSIDE = [
  "fetch",
  "EventSource",
  "XMLHttpRequest",
  "WebSocket",
  "Worker",
  "SharedWorker",
  "location",
  "history",
];
const byDoor =
  "Only the doors (console/source), the starts of the tab and of a class, and console/shell.js reach beyond the page.";

const inApi = "console/api.js has the paths of the lab's API; use or add one there.";

export default [
  {
    ignores: [
      "console/vendor/*.js",
      "console/vendor/*.entry.mjs",
      "docs/assets/",
      "**/*.d.ts",
      ".venv/",
      ".venv-debian/",
      "runs/",
      "build/",
    ],
  },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2023, sourceType: "module" },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-unused-vars": ["error", { varsIgnorePattern: "^_", argsIgnorePattern: "^_" }],
      "no-var": "error",
      "prefer-const": "error",
    },
  },
  {
    files: ["eslint.config.js", "console/**/*.mjs", "console/tests/**", "docs/lab_site/*.mjs", "tests/tab/*.mjs"],
    languageOptions: { globals: globals.nodeBuiltin },
  },
  {
    files: ["console/**/*.js"],
    ignores: ["console/tests/**"],
    languageOptions: { globals: globals.browser },
    rules: {
      "no-restricted-syntax": [
        "error",
        ...MARKUP.flatMap((name) => [
          { selector: `Identifier[name="${name}"]`, message },
          { selector: `Literal[value="${name}"]`, message },
        ]),
        { selector: `TemplateElement[value.raw=/${MARKUP.join("|")}/]`, message },
        { selector: `Literal[value=${PATH}]`, message: inApi },
        { selector: `TemplateElement[value.raw=${PATH}]`, message: inApi },
        { selector: `MemberExpression[object.name="document"][property.name=/^write/]`, message },
      ],
      "no-restricted-globals": ["error", ...OUTSIDE.map((name) => ({ name, message: byDoor }))],
    },
  },
  {
    files: ["console/source/server_door.js", "console/shell.js", "console/class_main.js", "console/tab/*.js"],
    rules: { "no-restricted-globals": "off" },
  },
  {
    files: ["console/api.js"],
    rules: { "no-restricted-syntax": "off" },
  },
];
