/** A link to another lab, which this page then shows. */

import { html } from "../vendor/preact.js";

/** @param {{store: import("../store.js").Store, address: import("../address.js").Address, class?: string, children?: unknown}} props */
export function Visit({ store, address, class: look, children }) {
  const follow = (/** @type {MouseEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return; // another tab or window
    event.preventDefault();
    store.visit(address);
  };
  return html`<a class=${look} href=${String(address)} onClick=${follow}>${children}</a>`;
}
