/** What a connector has carried: sums by type of mail, and a chart and a table of its last hours. */

import { hourlyTraffic } from "../../../state/hourly_traffic.js";
import { HOUR_US, shortInstant } from "../../../state/lab_time.js";
import { LEGEND, mailColour, mailTypeName, signOf } from "../../../state/mail_types.js";
import { html } from "../../../vendor/preact.js";
import { carriedWords, sizeWords } from "../../size_words.js";

/**
 * @typedef {import("../../../store.js").Store} Store
 * @typedef {import("../../../state/hourly_traffic.js").Hour} Hour
 * @typedef {import("../../../state/lab_state.js").LabState} LabState
 */

/** How many hours the chart has: two days show what is sent once a day. */
const HOURS = 48;

/** The size of the chart, in units of its own: an hour is `STEP` wide, and its bar less. */
const STEP = 8;
const BAR = 6;
const HEIGHT = 70;

/** The colours from the bottom of a bar to its top. */
const COLOURS = LEGEND.map(({ colour }) => colour);

/** @param {{store: Store, state: LabState, name: string}} props */
export function Traffic({ store, state, name }) {
  const sums = state.carried[name];
  if (!sums) return html`<p class="hint">No mail yet.</p>`;
  const now = Math.max(state.at, store.clock.labTime());
  const hours = hourlyTraffic(store.timeline.history?.events ?? [], state, now, name, HOURS);
  return html`<table class="traffic">
      <thead>
        <tr>
          <th scope="col">Type</th>
          <th scope="col" class="number">Mails</th>
          <th scope="col" class="number">Size</th>
        </tr>
      </thead>
      <tbody>
        ${Object.entries(sums).map(([key, { mails, bytes }]) => {
          const type = key ? Number(key) : undefined;
          return html`<tr key=${key}>
            <th scope="row"><${Sign} type=${type} /> ${mailTypeName(type)}</th>
            <td class="number">${mails.toLocaleString("en")}</td>
            <td class="number">${sizeWords(bytes)}</td>
          </tr>`;
        })}
      </tbody>
    </table>
    <${Chart} name=${name} hours=${hours} />`;
}

/** The colour of a type of mail, with its sign. @param {{type: number | undefined}} props */
function Sign({ type }) {
  const colour = mailColour(type);
  return html`<span class=${`swatch mail-${colour}`} aria-hidden="true">${signOf(colour)}</span>`;
}

/** @param {{name: string, hours: Hour[]}} props */
function Chart({ name, hours }) {
  const most = hours.reduce((busiest, hour) => (hour.bytes > busiest.bytes ? hour : busiest));
  const days = HOURS / 24;
  if (most.bytes === 0) return html`<p class="hint">Nothing in the last ${days} days.</p>`;
  const width = HOURS * STEP;
  const words = `Most in the hour from ${shortInstant(most.at)} on: ${sizeWords(most.bytes)}`;
  return html`<figure class="hourly">
      <svg
        viewBox=${`0 0 ${width} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label=${`What ${name} has carried in each of the last ${HOURS} hours. ${words}`}
      >
        ${hours.map((hour, place) => html`<${Bar} key=${hour.at} hour=${hour} place=${place} most=${most.bytes} />`)}
        <line class="axis" x1="0" x2=${width} y1=${HEIGHT} y2=${HEIGHT} />
      </svg>
      <div class="ends">
        <time>${shortInstant(hours[0].at)}</time>
        <time>${shortInstant(hours[HOURS - 1].at + HOUR_US)}</time>
      </div>
      <figcaption class="hint">Bytes by hour, in the last ${days} days. ${words}.</figcaption>
    </figure>
    <details class="by-hour">
      <summary>By hour as a table</summary>
      <table class="traffic">
        <thead>
          <tr>
            <th scope="col">Hour from</th>
            <th scope="col">Mails</th>
          </tr>
        </thead>
        <tbody>
          ${hours
            .filter(({ bytes }) => bytes)
            .map(
              ({ at, types }) => html`<tr key=${at}>
              <th scope="row"><time>${shortInstant(at)}</time></th>
              <td>${[...types].map(([type, carried]) => html`<div>${mailTypeName(type)}: ${carriedWords(carried)}</div>`)}</td>
            </tr>`,
            )}
        </tbody>
      </table>
    </details>`;
}

/** @param {{hour: Hour, place: number, most: number}} props */
function Bar({ hour, place, most }) {
  if (hour.bytes === 0) return null;
  const parts = [...hour.types].sort(([one], [other]) => rank(one) - rank(other));
  let below = 0;
  const words = parts.map(([type, carried]) => `${mailTypeName(type)}: ${carriedWords(carried)}`).join("; ");
  return html`<g>
    <title>${`${shortInstant(hour.at)}: ${words}`}</title>
    ${parts.map(([type, { bytes }]) => {
      const height = (bytes / most) * HEIGHT;
      below += height;
      return html`<rect class=${`mail-${mailColour(type)}`} x=${place * STEP + 1} y=${HEIGHT - below} width=${BAR} height=${height} />`;
    })}
  </g>`;
}

/** @param {number | undefined} type */
const rank = (type) => COLOURS.indexOf(mailColour(type));
