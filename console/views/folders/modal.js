/** A dialog over the screen with a form. It is open as long as it is rendered. */

import { html, useEffect, useRef } from "../../vendor/preact.js";

/**
 * @param {{title: string, onClose: () => void, children?: unknown}} props
 */
export function Modal({ title, onClose, children }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  // Escape closes the dialog and nothing behind it.
  const keys = (/** @type {KeyboardEvent} */ event) => event.stopPropagation();
  return html`<dialog class="form" ref=${dialog} aria-label=${title} onClose=${onClose} onKeyDown=${keys}>
    <h2>${title}</h2>
    ${children}
  </dialog>`;
}
