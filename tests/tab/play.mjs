/**
 * Write the traces of seeds and scenarios in Pyodide, in Node.js:
 *
 *     node play.mjs PYTHON CHECKOUT PLACE SEEDS SCENARIOS
 *
 * PYTHON     the folder with Pyodide and `lab.tar.xz`, which `make site` builds
 * CHECKOUT   the source tree, whose modules are played
 * PLACE      an empty folder, for the traces
 * SEEDS, SCENARIOS  as JSON
 *
 * Prints one line of JSON: the real seconds of the start and of the play.
 */

import { startPython } from "../../console/tab/python.js";

const [python, checkout, place, seeds, scenarios] = process.argv.slice(2);

/** Only the message of an error: the source of Pyodide is one line of a megabyte. @param {unknown} error */
function end(error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
process.on("uncaughtException", end);
process.on("unhandledRejection", end);

const began = performance.now();
const pyodide = await startPython(`${python}/`);
for (const [inside, outside] of [["/checkout", checkout], ["/place", place]]) {
  pyodide.FS.mkdir(inside);
  pyodide.FS.mount(pyodide.FS.filesystems.NODEFS, { root: outside }, inside);
}
pyodide.runPython(`import sys; sys.path.insert(0, "/checkout")`);
const traces = pyodide.pyimport("tests.tab.traces");
const startS = (performance.now() - began) / 1000;
const playS = await traces.write("/place", pyodide.toPy(JSON.parse(seeds)), pyodide.toPy(JSON.parse(scenarios)));
console.log(JSON.stringify({ startS, playS }));
