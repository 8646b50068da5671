/** What only a running server can tell: requests whose answers a view shows. */

import { useEffect, useState } from "../../vendor/preact.js";

/** @typedef {import("../../store.js").Store} Store */

/** How long a view waits before it asks again, in milliseconds. A fast lab changes a folder many times a second. */
const ASK_EVERY_MS = 400;

/**
 * Return whether servers can be asked: the present of a lab that runs is shown.
 * @param {Store} store
 */
export function canAsk(store) {
  return store.source.live && !store.travelling.value;
}

/**
 * Return the path of a request to a node.
 * @param {string} server
 * @param {string} path with everything after the name of the node, already encoded
 */
export function nodePath(server, path) {
  return `/nodes/${encodeURIComponent(server)}${path}`;
}

/**
 * Ask a server, and ask again whenever `path` or `version` changes. Until the new answer is there, the last one for the same
 * path is returned.
 * @param {Store} store
 * @param {string | null} path null: do not ask
 * @param {unknown} version any value that changes when the answer may have changed
 * @returns {{answer: any, error: string}} `answer` is null until there is one
 */
export function useAnswer(store, path, version) {
  const [told, setTold] = useState({ path: "", answer: /** @type {any} */ (null), error: "", at: 0 });
  useEffect(() => {
    if (path === null) return undefined;
    let over = false;
    const wait = told.path === path ? Math.max(0, told.at + ASK_EVERY_MS - performance.now()) : 0;
    const timer = setTimeout(async () => {
      let answer = null;
      let error = "";
      try {
        answer = await store.source.request(path);
      } catch (problem) {
        error = problem instanceof Error ? problem.message : String(problem);
      }
      if (!over) setTold({ path, answer, error, at: performance.now() });
    }, wait);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [store, path, version]);
  return path !== null && told.path === path ? told : { answer: null, error: "" };
}
