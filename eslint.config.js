// ESLint: the recommended rules, and a rule that keeps what users wrote from becoming markup.
import js from "@eslint/js";
import globals from "globals";

/** Properties that make markup of text. The console writes text through Preact alone. */
const MARKUP = ["dangerouslySetInnerHTML", "innerHTML", "outerHTML", "srcdoc", "insertAdjacentHTML"];
const message = "This makes markup of text; let Preact write the text.";

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
    files: ["eslint.config.js", ".github/*.mjs", "console/**/*.mjs", "console/tests/**"],
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
        { selector: `MemberExpression[object.name="document"][property.name=/^write/]`, message },
      ],
    },
  },
];
