/**
 * Run programs in the lab's Python, in Node.js: node ways_out.mjs SITE PROGRAMS, where PROGRAMS is a JSON array.
 *
 * Prints a JSON array: of each program the last line of its traceback, or null if it had no error.
 */

import { join } from "node:path";
import { wordsOf } from "../../console/tab/lab_ports.js";
import { startPython } from "../../console/tab/python.js";

const [site, programs] = process.argv.slice(2);
const python = await startPython(join(site, "python/"));
const results = JSON.parse(programs).map((/** @type {string} */ program) => {
  try {
    python.runPython(program);
    return null;
  } catch (error) {
    return wordsOf(error);
  }
});
console.log(JSON.stringify(results));
process.exit(0);
