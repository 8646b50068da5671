/**
 * What only the server knows: fetched when it is shown. What changes is shown only in the present of a live lab; what never changes,
 * such as a mail, also at earlier moments, and in a replay.
 */

import { relative } from "../state/lab_time.js";
import { html, useEffect, useRef, useState } from "../vendor/preact.js";

/** @typedef {import("../store.js").Store} Store */

/** The shortest time between two requests for the same thing, in milliseconds. */
const REFRESH_MS = 700;

/** How often count-downs are painted, in milliseconds. */
const TICK_MS = 500;

/**
 * Return whether the server can be asked about what is shown.
 * @param {Store} store
 */
export function isPresent(store) {
  return Boolean(store.source.live) && !store.timeline.travelling.value;
}

/**
 * @template T
 * @typedef {{value: T | undefined, refused: string, again: () => void}} Answer
 */

/**
 * Ask the server, and ask again when `version` changes. `path` "" asks nothing.
 * @template [T=any]
 * @param {Store} store
 * @param {string} path
 * @param {unknown} [version]
 * @param {{fixed?: boolean}} [options] fixed: the answer does not change, so it is true at any moment
 * @returns {Answer<T>}
 */
export function useAnswer(store, path, version = 0, { fixed = false } = {}) {
  const [answer, setAnswer] = useState({ path: "", value: /** @type {T | undefined} */ (undefined), refused: "" });
  const [round, setRound] = useState(0);
  const last = useRef({ path: "", at: 0 });
  const question = (fixed ? store.source.has(path) : isPresent(store)) ? path : "";
  useEffect(() => {
    if (!question) return undefined;
    let current = true;
    const soon = last.current.path === question ? last.current.at + REFRESH_MS - performance.now() : 0;
    const timer = setTimeout(
      () => {
        last.current = { path: question, at: performance.now() };
        store.source
          .request(question)
          .then((value) => current && setAnswer({ path: question, value, refused: "" }))
          .catch((error) => current && setAnswer({ path: question, value: undefined, refused: error.message }));
      },
      Math.max(0, soon),
    );
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [store, question, version, round]);
  const again = () => setRound(round + 1);
  return answer.path === question ? { ...answer, again } : { value: undefined, refused: "", again };
}

/** A line instead of what only the present of a live lab has. @param {{what: string}} props */
export function OnlyPresent({ what }) {
  return html`<p class="hint">${what} can be shown only in the present of a live lab.</p>`;
}

/** An instant as a count-down or as the time since then, painted while the clock runs. @param {{store: Store, at: number}} props */
export function Relative({ store, at }) {
  const [, tick] = useState(0);
  const runs = isPresent(store) && (store.clock.reading.value?.rate ?? 0) > 0;
  useEffect(() => {
    if (!runs) return undefined;
    const timer = setInterval(() => tick((count) => count + 1), TICK_MS);
    return () => clearInterval(timer);
  }, [runs]);
  return html`<time>${relative(at, store.clock.labTime())}</time>`;
}
