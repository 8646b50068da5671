/**
 * What shows one lab after the other in the same page. A page is not left for another lab: a lab in a tab would end with it.
 *
 * No other module but this one and the doors (source/) knows the window's location and history.
 */

import { Address } from "./address.js";
import { Navigation } from "./navigation.js";
import { readScene } from "./scene.js";
import { Store } from "./store.js";
import { html, render } from "./vendor/preact.js";
import { App } from "./views/app.js";

/**
 * @typedef {import("./preferences.js").Preferences} Preferences
 * @typedef {import("./source/live.js").Source} Source
 */

/** The answer for a lab that is not there. */
const GONE = 404;

export class Shell {
  /**
   * @param {(base: string) => Source} sourceAt returns the source of a lab
   * @param {Preferences} preferences
   * @param {{inTab?: boolean}} [options] inTab: the lab is in this browser
   */
  constructor(sourceAt, preferences, { inTab = false } = {}) {
    this.sourceAt = sourceAt;
    this.inTab = inTab;
    this.root = /** @type {HTMLElement} */ (document.getElementById("console"));
    this.preferences = preferences;
    /** @type {Store | null} */
    this.store = null;
    /** Null until the lab is shown. @type {Navigation | null} */
    this.navigation = null;
    this.visits = 0;
  }

  /** Show the lab of the window's address, from now on. */
  start() {
    this.root.replaceChildren();
    addEventListener("popstate", () => this.moved());
    void this.show(this.here());
  }

  /** Show what the window's address says, after the user has changed it or gone back. */
  moved() {
    const address = this.here();
    if (this.navigation && String(address) === String(this.store?.address)) this.navigation.show();
    else void this.show(address);
  }

  /** @returns {import("./navigation.js").AddressBar} */
  get bar() {
    const inFrame = parent !== window; // whose steps would be those of the page around it
    return {
      read: () => location.hash.slice(1),
      write: (fragment, step) => {
        const target = withFragment(fragment);
        if (target === location.href) return;
        try {
          if (step && !inFrame) history.pushState(null, "", target);
          else history.replaceState(null, "", target);
        } catch {
          // a browser may refuse, as for a page without an address, or for too many changes in a short time
        }
      },
    };
  }

  here() {
    return Address.parse(location.search, this.inTab);
  }

  /**
   * Show a lab, as the page of its address. If the address is that of this page, begin with the lab again.
   * @param {Address} address
   */
  visit(address) {
    const target = new URL(String(address), location.href);
    if (target.search !== location.search) history.pushState(null, "", target);
    else history.replaceState(null, "", target);
    void this.show(address);
  }

  /** @param {Address} address */
  async show(address) {
    this.store?.close();
    this.navigation?.close();
    this.navigation = null;
    const visit = ++this.visits;
    const store = new Store(this.sourceAt(address.base), address, (other) => this.visit(other), this.preferences);
    this.store = store;
    const link = () => withFragment(this.navigation?.fragment() ?? "");
    render(html`<${App} key=${visit} store=${store} link=${link} />`, this.root);
    try {
      if (store.source.live && address.lesson && !address.base) await this.join(store, visit);
      else {
        await store.open();
        if (visit === this.visits) this.navigation = new Navigation(store, this.bar);
      }
    } catch (error) {
      if (visit !== this.visits) return; // another lab is shown meanwhile
      if (address.base && /** @type {any} */ (error).status === GONE) store.ended.value = true;
      else store.failure.value = error instanceof Error ? error.message : String(error);
    }
  }

  /**
   * Begin the lesson of an address, and play it up to the step of the address. In a tab, join it if it is played there already.
   * @param {Store} store
   * @param {number} visit
   */
  async join({ source, address }, visit) {
    if (!source.live) return;
    const played = this.inTab ? await source.lessonPlayed(address.lesson) : null;
    const path = played ?? (await source.beginLesson(address.lesson, readScene(this.bar.read()).scene.step));
    if (visit !== this.visits) return;
    const lesson = address.ofLesson(path, address.lesson, address.role);
    history.replaceState(null, "", String(lesson) + location.hash);
    await this.show(lesson);
  }
}

/** Return the window's address with another text after "#". @param {string} fragment */
function withFragment(fragment) {
  const [page] = location.href.split("#");
  return fragment ? `${page}#${fragment}` : page;
}
