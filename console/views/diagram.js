/**
 * The space-time diagram: a lane for each server, time from left to right, mails as arrows.
 *
 * It is painted on a canvas, because a run can have ten thousand arrows. Only what lies in the visible part of the time axis is
 * painted. Beside it there is a slider over the events, for people who use the keyboard, and because much can happen within one
 * instant. A click shows the lab as it was at that moment; a click on an arrow selects its mail.
 */

import { fullInstant } from "../state/lab_time.js";
import { SPEEDS } from "../timeline.js";
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { Painter } from "./diagram_painter.js";

/**
 * @typedef {import("../store.js").Store} Store
 * @typedef {import("../state/lab_state.js").LabState} LabState
 */

/** @param {{store: Store, state: LabState, pointed: boolean}} props */
export function Diagram({ store, state, pointed }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const tip = useRef(/** @type {HTMLDivElement | null} */ (null));
  const painter = useRef(/** @type {Painter | null} */ (null));
  const [filter, setFilter] = useState("");
  const [position, setPosition] = useState("");
  const ordered = store.page.ordered.value;

  useEffect(() => {
    if (!canvas.current || !tip.current) return undefined;
    const diagram = new Painter(canvas.current, tip.current, store);
    painter.current = diagram;
    return () => diagram.close();
  }, [store]);
  useEffect(() => {
    if (!painter.current) return;
    painter.current.filter = filter.toLowerCase();
    painter.current.paintSoon();
  });

  const seek = async (/** @type {string} */ text, /** @type {1 | -1} */ direction) => {
    setPosition(await go(store, text, direction));
    painter.current?.reveal();
  };

  const { timeline } = store;
  const head = timeline.head.value;
  store.forecast.future.value; // a new one is painted
  const { count: moment, at } = timeline.painted.value;
  const playing = timeline.playing.value && !timeline.paused.value;
  const earliest = timeline.history?.events.first ? "earlier events are only in the traces" : "the beginning";
  const event = moment > 0 ? store.timeline.history?.events.at(moment - 1) : undefined;
  return html`<section class=${pointed ? "diagram pointed" : "diagram"} aria-label="Space-time diagram">
    <div class="travel">
      <button onClick=${() => store.timeline.travelBy(-1)} aria-label="One event back" title="One event back (←)">◀</button>
      <input
        type="range"
        min=${timeline.history?.events.first ?? 0}
        max=${head}
        value=${moment}
        aria-label="Moment of the run"
        aria-valuetext=${event ? `${fullInstant(at)}, event ${moment} of ${head}` : earliest}
        onInput=${(/** @type {any} */ event) => store.timeline.travelTo(Number(event.target.value))}
      />
      <button onClick=${() => store.timeline.travelBy(1)} aria-label="One event forward" title="One event forward (→)">▶</button>
      <button
        class="play"
        disabled=${!timeline.travelling.value && store.source.live}
        onClick=${() => timeline.togglePlay()}
        title="Play what happened from this moment on (k)"
      >
        ${playing ? "Pause" : "Play"}
      </button>
      <select
        class="speed"
        aria-label="Speed of the play"
        value=${timeline.speed.value}
        onChange=${(/** @type {any} */ event) => (timeline.speed.value = Number(event.target.value))}
      >
        ${SPEEDS.map((speed) => html`<option value=${speed}>${speed < 1 ? `1/${1 / speed}` : speed}×</option>`)}
      </select>
      <button
        class="present"
        disabled=${!store.timeline.travelling.value}
        onClick=${() => store.timeline.travelTo(null)}
        title=${store.source.live ? "Return to the present (End)" : "Go to the end of the run (End)"}
      >
        ${store.source.live ? "Now" : "End"}
      </button>
      <output class="event">
        ${event ? html`<b>${event.node}</b> ${event.words ?? event.type}` : earliest}
      </output>
      <label class="filter"
        >Find
        <input
          type="search"
          value=${filter}
          placeholder="A-1, status …"
          title="Enter: next match, Shift+Enter: previous match"
          onInput=${(/** @type {any} */ event) => {
            setFilter(event.target.value);
            setPosition("");
          }}
          onKeyDown=${(/** @type {any} */ event) => {
            // What the field says now: after fast typing the view still has the text before.
            if (event.key === "Enter") void seek(event.target.value, event.shiftKey ? -1 : 1);
          }}
        />
      </label>
      ${filter && html`<button onClick=${() => seek(filter, -1)} aria-label="Previous match">↑</button>`}
      ${filter && html`<button onClick=${() => seek(filter, 1)} aria-label="Next match">↓</button>`}
      <span class="found" role="status">${position}</span>
      <button
        aria-pressed=${ordered}
        onClick=${() => painter.current?.openInstants(!ordered)}
        title="Spread out the events of each instant in the order in which they happened"
      >
        Order
      </button>
      ${
        store.source.live &&
        html`<button
          aria-pressed=${store.forecast.enabled.value}
          onClick=${() => (store.forecast.enabled.value = !store.forecast.enabled.value)}
          title=${store.forecast.refused.value || "Show in grey what will happen if nobody changes anything"}
        >
          Expected
        </button>`
      }
      <button onClick=${() => painter.current?.zoomBy(1.6)} aria-label="Zoom in">+</button>
      <button onClick=${() => painter.current?.zoomBy(1 / 1.6)} aria-label="Zoom out">−</button>
      <button onClick=${() => painter.current?.fit()} title="Show the whole run">All</button>
    </div>
    <div class="lanes" role="group" aria-label="Lanes">
      <canvas ref=${canvas} role="img" aria-label=${`Mails between ${Object.keys(state.servers).join(", ")} over time`}></canvas>
    </div>
    <div class="pointer-tip" ref=${tip} hidden></div>
  </section>`;
}

/**
 * Go from the moment that is shown to the next event that has a text in its words, or to the one before, and select its mail.
 * @param {Store} store
 * @param {string} text
 * @param {1 | -1} direction
 * @returns {Promise<string>} which one it is of how many
 */
async function go(store, text, direction) {
  const { timeline } = store;
  const places = text.trim() ? await timeline.find(text.trim().toLowerCase()) : [];
  if (places.length === 0) {
    if (text.trim()) store.orders.tell(`No event contains “${text}”.`);
    return text.trim() && "none";
  }
  const current = (timeline.moment.value?.count ?? 0) - 1;
  const beyond =
    direction === 1 ? places.findIndex((index) => index > current) : places.findLastIndex((index) => index < current);
  const nth = beyond >= 0 ? beyond : direction === 1 ? 0 : places.length - 1;
  timeline.travelTo(places[nth] + 1);
  /** @type {any} */
  const event = timeline.history?.events.at(places[nth]);
  if (event?.mail) store.page.select({ kind: "mail", id: event.mail });
  return `${nth + 1} of ${places.length}`;
}
