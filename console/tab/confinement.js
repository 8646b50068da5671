/**
 * Takes from a worker everything with which a program reaches beyond it: the network, what the browser keeps, other workers, and
 * JavaScript made of text. What the worker itself needs of these, its modules have taken before.
 *
 * The lab's Python reads files of strangers. It reads them with care (pflab/runs/lab_file.py), so this is a second wall. A list
 * of what is left is safer than one of what is taken, because browsers get new ways out.
 */

/** The names that the language has, and those that Python as WebAssembly needs while it runs. */
const LEFT = new Set([
  ...["AggregateError", "Array", "ArrayBuffer", "Atomics", "BigInt", "BigInt64Array", "BigUint64Array", "Boolean"],
  ...["DataView", "Date", "Error", "EvalError", "FinalizationRegistry", "Float16Array", "Float32Array", "Float64Array"],
  ...["Infinity", "Int16Array", "Int32Array", "Int8Array", "Intl", "Iterator", "JSON", "Map", "Math", "NaN", "Number"],
  ...["Object", "Promise", "Proxy", "RangeError", "ReferenceError", "Reflect", "RegExp", "Set", "SharedArrayBuffer"],
  ...["String", "Symbol", "SyntaxError", "TypeError", "URIError", "Uint16Array", "Uint32Array", "Uint8Array"],
  ...["Uint8ClampedArray", "WeakMap", "WeakRef", "WeakSet", "decodeURI", "decodeURIComponent", "encodeURI"],
  ...[
    "encodeURIComponent",
    "escape",
    "globalThis",
    "isFinite",
    "isNaN",
    "parseFloat",
    "parseInt",
    "undefined",
    "unescape",
  ],
  ...[
    "AbortController",
    "AbortSignal",
    "Blob",
    "DOMException",
    "Event",
    "EventTarget",
    "MessageChannel",
    "MessageEvent",
  ],
  ...["MessagePort", "TextDecoder", "TextEncoder", "URL", "WebAssembly", "atob", "btoa", "clearTimeout", "console"],
  ...["constructor", "crypto", "performance", "postMessage", "queueMicrotask", "self", "setTimeout", "structuredClone"],
]);

/** One function of each kind: what made it makes functions of text. */
const FUNCTIONS = [() => undefined, async () => undefined, function* () {}, async function* () {}];

/** Close the ways out of this worker, for good. */
export function confine() {
  const { setTimeout, Function } = self;
  for (let from = self; from !== EventTarget.prototype; from = Object.getPrototypeOf(from)) {
    for (const name of Object.getOwnPropertyNames(from)) if (!LEFT.has(name)) Reflect.deleteProperty(from, name);
  }
  /** @returns {never} */
  function closed() {
    throw new EvalError("this worker makes no programs of text");
  }
  closed.prototype = Function.prototype; // so a function is still an instance of it
  Object.defineProperty(self, "Function", { value: closed });
  for (const each of FUNCTIONS) Object.defineProperty(Object.getPrototypeOf(each), "constructor", { value: closed });
  const later = (/** @type {TimerHandler} */ work, /** @type {number | undefined} */ ms) =>
    typeof work === "function" ? setTimeout(work, ms) : closed();
  Object.defineProperty(self, "setTimeout", { value: later });
}
