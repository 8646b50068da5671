/** A menu below a button. */

import { useEffect, useRef, useState } from "../vendor/preact.js";

/** A click elsewhere closes it, and so does Escape, which returns to the button. */
export function useMenu() {
  const [open, setOpen] = useState(false);
  const element = useRef(/** @type {HTMLDivElement | null} */ (null));
  useEffect(() => {
    if (!open) return undefined;
    const away = (/** @type {Event} */ event) => {
      if (!element.current?.contains(/** @type {Node} */ (event.target))) setOpen(false);
    };
    document.addEventListener("pointerdown", away);
    return () => document.removeEventListener("pointerdown", away);
  }, [open]);
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || !open) return;
    event.stopPropagation();
    setOpen(false);
    element.current?.querySelector("button")?.focus();
  };
  return { open, element, onKeyDown, close: () => setOpen(false), toggle: () => setOpen(!open) };
}
