/** A button that saves a file of the lab. */

import { html } from "../vendor/preact.js";

/** For how long the browser may need the content of a file that it saves, in milliseconds. */
const SAVING_MS = 60_000;

/**
 * @param {{store: import("../store.js").Store, path: string, name: string, plain?: boolean, children?: unknown}} props
 *   name: of the file, if the lab gives none. plain: the button looks like a link.
 */
export function Download({ store, path, name, plain = false, children }) {
  const { source, orders } = store;
  const save = () =>
    orders.act(`Fetching ${name}`, async () => {
      if (!source.live) return;
      const file = await source.file(path);
      saveAs(file.content, file.name || name);
    });
  return html`<button class=${plain ? "link" : ""} disabled=${Boolean(orders.busy.value)} onClick=${save}>${children}</button>`;
}

/**
 * Let the browser save a file.
 * @param {Blob} content
 * @param {string} name
 */
export function saveAs(content, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), SAVING_MS);
}
