/** The whole screen: the bar with the clock, the view, the panel beside it, and the diagram below. */

import { VIEWS } from "../page.js";
import { html, useEffect } from "../vendor/preact.js";
import { Diagram } from "./diagram.js";
import { Folders } from "./folders/folders.js";
import { Faults } from "./faults.js";
import { Keys, useKeys } from "./keys.js";
import { EndedLesson, Lessons, Presenter } from "./lessons.js";
import { LabMap } from "./map.js";
import { Mails } from "./mails.js";
import { Matrix } from "./matrix.js";
import { Panel } from "./panel.js";
import { TopBar } from "./top_bar.js";
import { Visit } from "./visit.js";
import { WhatIf } from "./what_if.js";

/** @typedef {import("../store.js").Store} Store */

const VIEW_IDS = /** @type {import("../page.js").View[]} */ (Object.keys(VIEWS));

/** @param {{store: Store, link: () => string}} props link returns the address of what is shown */
export function App({ store, link }) {
  useKeys(store);
  const state = store.timeline.shown.value;
  const organization = state?.topology.organization;
  useEffect(() => {
    if (organization) document.title = `${organization} · pflab`;
  }, [organization]);
  useEffect(() => {
    if (state) performance.mark("lab shown"); // make bench-console measures how long this takes
  }, [Boolean(state)]);
  if (store.ended.value) return html`<${EndedLesson} store=${store} />`;
  if (store.failure.value) return html`<${Failure} store=${store} />`;
  if (!state) return html`<p class="loading">Loading the lab …</p>`;
  if (store.lesson.presenting) return html`<${Presenter} store=${store} />`;
  return html`
    <${TopBar} store=${store} state=${state} link=${link} />
    <main class=${store.source.live && store.timeline.travelling.value ? "travelling" : ""}>
      <section class="view" aria-label="View">
        <nav class="tabs" role="tablist" aria-label="Views">
          ${VIEW_IDS.map(
            (id) => html`
              <button
                role="tab"
                id=${`tab-${id}`}
                aria-selected=${store.page.view.value === id}
                aria-controls="view"
                onClick=${() => (store.page.view.value = id)}
              >
                ${VIEWS[id]}
              </button>
            `,
          )}
        </nav>
        <div id="view" role="tabpanel" aria-labelledby=${`tab-${store.page.view.value}`}>${viewOf(store, state)}</div>
      </section>
      <${Panel} store=${store} state=${state} />
    </main>
    <${Diagram} store=${store} state=${state} pointed=${store.page.highlight.value?.view === "diagram"} />
    ${store.source.live && html`<${Faults} store=${store} state=${state} />`}
    <${WhatIf} store=${store} />
    <${Keys} store=${store} />
    ${store.source.live && html`<${Lessons} store=${store} />`}
    <${Notice} store=${store} />
  `;
}

/**
 * @param {Store} store
 * @param {import("../state/lab_state.js").LabState} state
 */
function viewOf(store, state) {
  if (store.page.view.value === "replicas") return html`<${Matrix} store=${store} state=${state} />`;
  if (store.page.view.value === "folders") return html`<${Folders} store=${store} state=${state} />`;
  if (store.page.view.value === "mails") return html`<${Mails} store=${store} state=${state} />`;
  return html`<${LabMap} store=${store} state=${state} />`;
}

/** Why the lab is not shown, and the way to another one if there is one. @param {{store: Store}} props */
function Failure({ store }) {
  const home = store.address.home();
  return html`<section class="loading">
    <p role="alert">${store.failure.value}</p>
    ${
      String(home) !== String(store.address) &&
      html`<${Visit} class="button" store=${store} address=${home}>Go to the lab</${Visit}>`
    }
  </section>`;
}

/** What an order has done, or why the lab refuses it, until the user closes it or orders something else. @param {{store: Store}} props */
function Notice({ store }) {
  const notice = store.orders.notice.value;
  return html`<div class=${store.orders.refused.value ? "notice refused" : "notice"} role="alert" hidden=${!notice}>
    <span>${notice}</span>
    <button aria-label="Close" onClick=${() => store.orders.tell("")}>✕</button>
  </div>`;
}
