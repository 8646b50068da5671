/**
 * Run programs in the lab's Python, in Node.js: node ways_out.mjs SITE PROGRAMS, where PROGRAMS is a JSON array.
 *
 * Prints a JSON array: of each program the last line of its traceback, or null if it had no error.
 */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { wordsOf } from "../../console/tab/lab_ports.js";
import { loadedPython } from "../../console/tab/python.js";

const [site, programs] = process.argv.slice(2);
const folder = join(site, "python/");
const { loadPyodide } = await import(pathToFileURL(`${folder}pyodide.mjs`).href);
const modules = readFile(`${folder}lab.tar.xz`).then((content) => new Uint8Array(content));
const python = await loadedPython(loadPyodide, folder, modules, () => undefined);
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
