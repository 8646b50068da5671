/**
 * What a user prefers, in every page of the console: light or dark, large type, and whether letters are shortcuts. The browser
 * keeps it, so that another page, such as a lesson, looks the same.
 */

import { effect, signal } from "./vendor/preact.js";

/** @typedef {"system" | "light" | "dark"} Theme */

const KEPT = "pflab";

export class Preferences {
  constructor() {
    const saved = read();
    this.theme = signal(/** @type {Theme} */ (saved.theme ?? "system"));
    /** Large type, for a projector. */
    this.projector = signal(saved.projector === true);
    /** Whether letters, digits and Space are shortcuts (WCAG 2.1.4). */
    this.letterKeys = signal(saved.letterKeys !== false);
  }

  /** Show the page as it is preferred, from now on, and keep what changes. */
  apply() {
    const root = document.documentElement;
    const light = matchMedia("(prefers-color-scheme: light)");
    const forced = matchMedia("(forced-colors: active)"); // then the pictures must suit the system's background
    const show = () => {
      const { theme, projector } = this;
      root.dataset.theme =
        theme.value === "system" || forced.matches ? (light.matches ? "light" : "dark") : theme.value;
      root.toggleAttribute("data-projector", projector.value);
      window.dispatchEvent(new Event("resize")); // the diagram paints itself again, with the new colours and sizes
    };
    for (const query of [light, forced]) query.addEventListener("change", show);
    effect(show);
    effect(() => {
      const { theme, projector, letterKeys } = this;
      keep({ theme: theme.value, projector: projector.value, letterKeys: letterKeys.value });
    });
  }

  /** Change between light and dark. */
  toggleTheme() {
    this.theme.value = document.documentElement.dataset.theme === "light" ? "dark" : "light";
  }
}

/** Return what the browser has kept. A browser that keeps nothing, as for some local files, is no mistake. */
function read() {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "{}");
  } catch {
    return {};
  }
}

/** @param {{theme: Theme, projector: boolean, letterKeys: boolean}} preferences */
function keep(preferences) {
  try {
    localStorage.setItem(KEPT, JSON.stringify(preferences));
  } catch {
    // the next page begins with the system's colours
  }
}
