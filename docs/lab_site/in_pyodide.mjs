// Run a Python program in Pyodide, under Node.js: node in_pyodide.mjs ORDER, where ORDER is JSON of the type below.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

/**
 * @typedef {object} Order
 * @property {string} pyodide the folder of the npm package
 * @property {string} program the file with the program
 * @property {string} call an expression that is evaluated afterwards
 * @property {Record<string, string>} folders folders of this machine, by the places where the program sees them
 */

/** @type {Order} */
const order = JSON.parse(process.argv[2]);
const { loadPyodide } = await import(pathToFileURL(join(order.pyodide, "pyodide.mjs")).href);
const python = await loadPyodide({
  indexURL: order.pyodide,
  // Bytecode without the columns of statements is a quarter smaller. A fixed seed orders sets, so it is always the same.
  args: ["-X", "no_debug_ranges"],
  env: { HOME: "/home", PYTHONDONTWRITEBYTECODE: "1", PYTHONHASHSEED: "0" },
});
for (const [place, folder] of Object.entries(order.folders)) {
  python.FS.mkdirTree(place);
  python.mountNodeFS(place, folder);
}
await python.runPythonAsync(readFileSync(order.program, "utf8"), { filename: order.program });
await python.runPythonAsync(order.call);
process.exit(0); // timers of Pyodide would keep Node.js alive
