/**
 * Chooses a replication schedule as System Manager did: from a list in the words of the server's version, or in a grid of days and
 * hours (spec: OUT-1). What is chosen is written as the text that the API takes.
 *
 * Keys in the grid: arrows move, Space selects or clears, Shift with an arrow gives the next times what the present one has.
 */

import {
  DAYS,
  scheduleChoices,
  scheduleSlots,
  scheduleText,
  scheduleWord,
  SLOTS_A_DAY,
  SLOTS_AN_HOUR,
  slotTime,
} from "../state/schedule.js";
import { html, useRef, useState } from "../vendor/preact.js";

/** @typedef {(text: string) => void} SetText */

/** The times that the first choice of "custom" has: the nights of working days. */
const NIGHTS = "Mon-Fri 20:00-06:00";

/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/**
 * @param {{text: string, set: SetText, version: string, of: string, inherits?: boolean}} props
 *   version: of the server; of: whose schedule it is; inherits: whether a folder can have the schedule of its store
 */
export function SchedulePicker({ text, set, version, of, inherits = false }) {
  const [open, setOpen] = useState(false);
  return html`<details class="schedule" open=${open} onToggle=${(/** @type {any} */ event) => setOpen(event.currentTarget.open)}>
    <summary>Choose the times of ${of} …</summary>
    ${open && html`<${Choices} text=${text} set=${set} version=${version} of=${of} inherits=${inherits} />`}
  </details>`;
}

/** @param {{text: string, set: SetText, version: string, of: string, inherits: boolean}} props */
function Choices({ text, set, version, of, inherits }) {
  const [step, setStep] = useState(SLOTS_AN_HOUR);
  const slots = scheduleSlots(text);
  const choices = scheduleChoices(version, inherits);
  const word = scheduleWord(text);
  const chosen = choices.some(([choice]) => choice === word) ? word : "custom";
  const choose = (/** @type {string} */ choice) => {
    if (choice !== "custom") set(choice);
    else if (!slots?.size) set(NIGHTS);
  };
  // The form around it reads its own inputs, and these are none of them.
  const apart = (/** @type {any} */ event) => event.stopPropagation();
  return html`<div onInput=${apart}>
    <div class="row" role="radiogroup" aria-label=${`Times of ${of}`}>
      ${choices.map(
        ([
          choice,
          label,
        ]) => html`<label class="tick" title=${choice === "custom" ? "times of the week, such as Mon-Fri 20:00-06:00" : choice}
          ><input type="radio" name=${`choice of ${of}`} checked=${choice === chosen} onChange=${() => choose(choice)} /> ${label}</label
        >`,
      )}
    </div>
    <div class="row" role="radiogroup" aria-label="Detail view">
      Detail view:
      ${[SLOTS_AN_HOUR, 1].map(
        (size) => html`<label class="tick"
          ><input type="radio" name=${`view of ${of}`} checked=${size === step} onChange=${() => setStep(size)} /> ${size === 1 ? "15 minutes" : "1 hour"}</label
        >`,
      )}
    </div>
    ${slots ? html`<${Grid} slots=${slots} step=${step} set=${set} />` : html`<p class="missing">This is no schedule: ${text}</p>`}
  </div>`;
}

/**
 * The week. A cell is on if all its quarter hours are, and partly on if some are.
 * @param {{slots: Set<number>, step: number, set: SetText}} props step: quarter hours in a cell
 */
function Grid({ slots, step, set }) {
  const [[row, column], setPlace] = useState(/** @type {[number, number]} */ ([1, 8]));
  /** Whether the pointer selects or clears while it is down; null while it is up. */
  const painting = useRef(/** @type {boolean | null} */ (null));
  const table = useRef(/** @type {HTMLTableElement | null} */ (null));
  const columns = SLOTS_A_DAY / step;
  const at = Math.min(column, columns - 1);
  const quarters = (/** @type {number} */ day, /** @type {number} */ cell) =>
    Array.from({ length: step }, (_, quarter) => day * SLOTS_A_DAY + cell * step + quarter);
  const stateOf = (/** @type {number[]} */ of) => of.filter((slot) => slots.has(slot)).length / of.length;
  const put = (/** @type {number[]} */ of, /** @type {boolean} */ on) => {
    const changed = new Set(slots);
    for (const slot of of)
      if (on) changed.add(slot);
      else changed.delete(slot);
    set(scheduleText(changed));
  };
  const toggle = (/** @type {number[]} */ of) => put(of, stateOf(of) < 1);
  const all = (/** @type {number[]} */ days, /** @type {number[]} */ cells) =>
    days.flatMap((day) => cells.flatMap((cell) => quarters(day, cell)));
  const everyDay = DAYS.map((_, day) => day);
  const everyCell = Array.from({ length: columns }, (_, cell) => cell);
  const onKey = (/** @type {any} */ event) => {
    const { key, shiftKey } = event;
    if (key === " " || key === "Enter") toggle(quarters(row, at));
    else if (MOVES[key]) {
      const [down, right] = MOVES[key];
      const [day, cell] = [(row + down + 7) % 7, (at + right + columns) % columns];
      setPlace([day, cell]);
      if (shiftKey) put(quarters(day, cell), stateOf(quarters(row, at)) === 1);
      /** @type {HTMLElement | null | undefined} */
      const next = table.current?.querySelector(`[data-place="${day} ${cell}"]`);
      next?.focus();
    } else return;
    event.preventDefault();
  };
  const paint = (/** @type {number} */ day, /** @type {number} */ cell) => () => {
    if (painting.current !== null) put(quarters(day, cell), painting.current);
  };
  const begin = (/** @type {number} */ day, /** @type {number} */ cell) => (/** @type {any} */ event) => {
    if (event.button !== 0) return;
    setPlace([day, cell]);
    painting.current = stateOf(quarters(day, cell)) < 1;
    put(quarters(day, cell), painting.current);
    addEventListener("pointerup", () => (painting.current = null), { once: true });
  };
  const headed = everyCell.filter((cell) => (cell * step) % SLOTS_AN_HOUR === 0);
  return html`<div class="scroll">
      <table class="week" role="grid" aria-label="Times in UTC" ref=${table} onKeyDown=${onKey}>
        <thead>
          <tr role="row">
            <th scope="col">UTC</th>
            ${headed.map((cell) => {
              const hour = (cell * step) / SLOTS_AN_HOUR;
              const cells = everyCell.filter((other) => Math.floor((other * step) / SLOTS_AN_HOUR) === hour);
              return html`<th scope="col" colspan=${cells.length}>
                <button type="button" tabindex="-1" aria-label=${`hour ${hour} on every day`} onClick=${() => toggle(all(everyDay, cells))}>
                  ${hour}
                </button>
              </th>`;
            })}
          </tr>
        </thead>
        <tbody>
          ${DAYS.map(
            (name, day) => html`<tr role="row">
              <th scope="row">
                <button type="button" tabindex="-1" aria-label=${`all of ${name}`} onClick=${() => toggle(all([day], everyCell))}>${name}</button>
              </th>
              ${everyCell.map((cell) => {
                const part = stateOf(quarters(day, cell));
                const [from, to] = [slotTime(cell * step), slotTime((cell + 1) * step)];
                return html`<td
                  role="gridcell"
                  data-place=${`${day} ${cell}`}
                  class=${part === 1 ? "on" : part > 0 ? "partly" : ""}
                  tabindex=${day === row && cell === at ? 0 : -1}
                  aria-selected=${part === 1}
                  aria-label=${`${name} ${from}-${to}${part > 0 && part < 1 ? ", partly" : ""}`}
                  title=${`${name} ${from}-${to}`}
                  onPointerDown=${begin(day, cell)}
                  onPointerEnter=${paint(day, cell)}
                ></td>`;
              })}
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <p class="hint">UTC. Arrows move, Space selects or clears, Shift with an arrow does the same to the next times.</p>`;
}
