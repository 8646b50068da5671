/**
 * Python for a lab: Pyodide, whose standard library, libraries and modules of pflab are one archive (docs/lab_site).
 *
 * The archive is unpacked before Python starts, by the decoder of xz that Pyodide has for Python's `lzma`. A zip archive, which
 * Pyodide expects, would be a quarter larger, and Python would take longer to read its modules from it.
 */

import * as ed25519 from "../vendor/ed25519.js";

/**
 * @typedef {object} Files Emscripten's file system.
 * @property {(folder: string) => string[]} readdir
 * @property {(path: string) => void} mkdirTree
 * @property {(path: string) => Uint8Array} readFile
 * @property {(path: string, content: Uint8Array, options: {canOwn: boolean}) => void} writeFile
 * @property {(path: string) => void} unlink
 *
 * @typedef {object} Module Pyodide before Python starts: files, memory, and functions in C.
 * @property {Files} FS
 * @property {Uint8Array} HEAPU8
 * @property {(bytes: number) => number} _malloc
 * @property {(at: number) => void} _free
 * @property {(stream: number, mostBytes: bigint, flags: number) => number} _lzma_stream_decoder
 * @property {(stream: number, action: number) => number} _lzma_code
 * @property {(stream: number) => void} _lzma_end
 * @property {(name: string) => void} addRunDependency
 * @property {(name: string) => void} removeRunDependency
 *
 * @typedef {(module: Module) => unknown} Step What Pyodide does before Python starts; it may be a promise.
 */

/** Where Python finds its modules. */
const MODULES = "/lib/pflab";

/** Where Pyodide puts the file that it takes for a zip archive of the standard library. */
const LIBRARIES = "/lib";

const ENVIRONMENT = { HOME: "/home", PYTHONDONTWRITEBYTECODE: "1", PYTHONPATH: MODULES };

/**
 * Start Python.
 * @param {string} folder the address of the site's folder `python/`; in Node.js, its path. It ends with a slash
 * @param {() => void} [loaded] is called when all files are there
 * @returns {Promise<any>} the interface of Pyodide
 */
export async function startPython(folder, loaded) {
  const program = (/** @type {string} */ name) => import(folder + name);
  const [{ loadPyodide }, { default: create }] = await Promise.all([
    program("pyodide.mjs"),
    program("pyodide.asm.mjs"),
  ]);
  const python = await new Promise((resolve, reject) => {
    /** @param {{preRun: Step[]}} settings */
    function createPyodideModule(settings) {
      const steps = settings.preRun;
      /** @param {Module} module */
      async function unpacked(module) {
        module.addRunDependency(MODULES);
        await Promise.all(steps.map((step) => step(module)));
        loaded?.();
        unpack(module);
        module.removeRunDependency(MODULES);
      }
      settings.preRun = [(module) => unpacked(module).catch(reject)];
      return create(settings);
    }
    const stdLibURL = `${folder}lab.tar.xz`;
    const jsglobals = {}; // Python's module `js` has nothing of the browser
    const env = { ...ENVIRONMENT };
    loadPyodide({ indexURL: folder, stdLibURL, env, jsglobals, createPyodideModule }).then(resolve, reject);
  });
  python.registerJsModule("pflab_ed25519", ed25519);
  return python;
}

/** Write the files of the archive. @param {Module} module */
function unpack(module) {
  const { FS } = module;
  const file = FS.readdir(LIBRARIES).find((name) => name.endsWith(".zip"));
  if (!file) throw new Error("the site does not give lab.tar.xz");
  const path = `${LIBRARIES}/${file}`;
  const archive = FS.readFile(path);
  FS.unlink(path);
  let held = new Uint8Array();
  for (const part of decoded(module, archive)) {
    const joined = new Uint8Array(held.length + part.length);
    joined.set(held);
    joined.set(part, held.length);
    held = joined.subarray(writeFiles(FS, joined));
  }
}

/** How many bytes are decoded at once. */
const PART_BYTES = 2 ** 20;

/** liblzma's `lzma_stream` on a platform of 32 bits: its size, and the places of the members that are used. */
const STREAM = { bytes: 88, nextIn: 0, availIn: 4, nextOut: 16, availOut: 20 };

/** The decoder may use as much memory; it needs the size of the archive's dictionary (docs/lab_site/archives.py). */
const MOST_BYTES = 2n ** 26n;

/** liblzma's return codes and actions. */
const OK = 0;
const END = 1;
const FINISH = 3;

/**
 * Decode xz.
 * @param {Module} module @param {Uint8Array} archive
 * @returns {Generator<Uint8Array, void>} parts, each of which is valid until the next
 */
function* decoded(module, archive) {
  const stream = module._malloc(STREAM.bytes);
  const input = module._malloc(archive.length);
  const output = module._malloc(PART_BYTES);
  // The memory has a new buffer whenever it grows.
  const set = (/** @type {number} */ member, /** @type {number} */ value) =>
    new DataView(module.HEAPU8.buffer).setUint32(stream + member, value, true);
  try {
    module.HEAPU8.fill(0, stream, stream + STREAM.bytes);
    module.HEAPU8.set(archive, input);
    let result = module._lzma_stream_decoder(stream, MOST_BYTES, 0);
    set(STREAM.nextIn, input);
    set(STREAM.availIn, archive.length);
    while (result === OK) {
      set(STREAM.nextOut, output);
      set(STREAM.availOut, PART_BYTES);
      result = module._lzma_code(stream, FINISH);
      const left = new DataView(module.HEAPU8.buffer).getUint32(stream + STREAM.availOut, true);
      yield module.HEAPU8.subarray(output, output + PART_BYTES - left);
    }
    if (result !== END) throw new Error(`lab.tar.xz is damaged (${result})`);
  } finally {
    module._lzma_end(stream);
    for (const place of [stream, input, output]) module._free(place);
  }
}

/** The format of tar: blocks, and where a header has the name, the size and the first part of a long name. */
const BLOCK = 512;
const NAME = [0, 100];
const SIZE = [124, 136];
const PREFIX = [345, 500];

/** What follows a text in its field. */
const PADDING = /\0.*$/s;

const OCTAL = 8;

/**
 * Write the files that are complete.
 * @param {Files} FS @param {Uint8Array} tar from the header of a file
 * @returns {number} how many bytes these files are
 */
function writeFiles(FS, tar) {
  let at = 0;
  const field = (/** @type {number[]} */ [from, to]) =>
    new TextDecoder().decode(tar.subarray(at + from, at + to)).replace(PADDING, "");
  while (at + BLOCK <= tar.length && tar[at] !== 0) {
    const bytes = Number.parseInt(field(SIZE), OCTAL);
    const content = at + BLOCK;
    if (content + bytes > tar.length) break;
    const path = [MODULES, field(PREFIX), field(NAME)].filter(Boolean).join("/");
    FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    FS.writeFile(path, tar.slice(content, content + bytes), { canOwn: true });
    at = content + Math.ceil(bytes / BLOCK) * BLOCK;
  }
  return at;
}
