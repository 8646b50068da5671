/** Tabs: one of several parts is shown. The arrow keys move between the tabs, as the ARIA practices say. */

import { html } from "../../vendor/preact.js";

/**
 * @typedef {{id: string, label: string, count?: number}} Tab
 * @param {{label: string, tabs: readonly Tab[], chosen: string, choose: (id: string) => void, children?: any}} props
 */
export function Tabs({ label, tabs, chosen, choose, children }) {
  const move = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = tabs.findIndex((tab) => tab.id === chosen);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    choose(next.id);
    const list = /** @type {HTMLElement} */ (event.currentTarget);
    /** @type {HTMLElement | null} */ (list.querySelector(`[data-tab="${next.id}"]`))?.focus();
  };
  return html`<nav class="tabs" role="tablist" aria-label=${label} onKeyDown=${move}>
      ${tabs.map(
        ({ id, label: name, count }) => html`<button
          role="tab"
          data-tab=${id}
          id=${`tab-${id}`}
          aria-selected=${id === chosen}
          aria-controls=${`part-${id}`}
          tabindex=${id === chosen ? 0 : -1}
          onClick=${() => choose(id)}
        >
          ${name}${count ? html` <span class="badge">${count}</span>` : ""}
        </button>`,
      )}
    </nav>
    <div class="part" role="tabpanel" id=${`part-${chosen}`} aria-labelledby=${`tab-${chosen}`}>${children}</div>`;
}
