/** Loads Python (Pyodide) with the lab's modules. A test loads it in the same way, in Node.js. */

import * as ed25519 from "../vendor/ed25519.js";

/**
 * @typedef {object} Python What the lab uses of Pyodide.
 * @property {(content: ArrayBuffer | Uint8Array, format: string, options: {extractDir: string}) => void} unpackArchive
 * @property {(name: string, content: object) => void} registerJsModule
 * @property {(program: string) => any} runPython
 * @property {(name: string) => any} pyimport
 */

/** Where the lab's modules are, in the file system of Python. */
const MODULES = "/lib/pflab";

/**
 * @template {Python} Loaded
 * @param {(options: object) => Promise<Loaded>} loadPyodide
 * @param {string} folder where Pyodide is
 * @param {Promise<ArrayBuffer | Uint8Array>} modules the archive of the lab's modules
 * @param {(step: number, words: string) => void} tell gets how much of the lab's start is done, from 0 to 1, and what comes next
 */
export async function loadedPython(loadPyodide, folder, modules, tell) {
  modules.catch(() => undefined); // it is told below, when it is awaited
  const python = await loadPyodide({
    indexURL: folder,
    env: { HOME: "/home", PYTHONDONTWRITEBYTECODE: "1" },
    jsglobals: {}, // Python's module `js` has nothing of the browser
  });
  tell(0.4, "Unpacking the lab");
  python.unpackArchive(await modules, "xztar", { extractDir: MODULES });
  python.registerJsModule("pflab_ed25519", ed25519);
  python.runPython(`import sys; sys.path.insert(0, "${MODULES}")`);
  tell(0.55, "Loading the lab");
  return python;
}
