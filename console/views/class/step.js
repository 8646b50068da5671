/** The step of a class: its text, its question with the choices, the votes as bars, and the answer. */

import { html } from "../../vendor/preact.js";

/** @typedef {import("../../class_room.js").ClassRoom} ClassRoom */

/** What is seen while there is no text. */
const WAITING = "The lesson has not begun. This page shows it as soon as it does.";

/** @param {{room: ClassRoom, votes?: Record<string, number> | null}} props votes: in place of those that are shown to all */
export function Step({ room, votes }) {
  const seen = room.seen.value;
  if (!seen || seen.state === "waiting")
    return html`<section class="step" aria-live="polite"><p>${WAITING}</p></section>`;
  const tally = votes ?? seen.tally;
  return html`<section class="step" aria-live="polite" aria-label="Step">
    <p class="hint">
      <b>${seen.title}</b>, ${seen.state === "ended" ? "the end" : `step ${(seen.step ?? 0) + 1} of ${seen.steps ?? 1}`}
      ${seen.state === "playing" && " · the lab plays on …"}
    </p>
    ${seen.introduction && html`<p class="introduction">${seen.introduction}</p>`}
    ${seen.asked && html`<p class="hint">${seen.asked}</p>`}
    ${seen.answer && html`<p class="right">The answer: <b>${seen.answer}</b></p>`}
    <p class="text">${seen.text}</p>
    ${seen.because && html`<p>${seen.because}</p>`}
    ${seen.state === "question" && !room.trains && html`<${Choices} room=${room} choices=${seen.choices ?? []} />`}
    ${
      seen.state === "question" &&
      room.trains &&
      !tally &&
      html`<ul class="choices">
      ${(seen.choices ?? []).map((choice) => html`<li>${choice}</li>`)}
    </ul>`
    }
    ${tally && html`<${Bars} tally=${tally} answer=${seen.answer} own=${room.you.value?.vote ?? null} />`}
    ${
      seen.state === "question" &&
      html`<p class="hint">${room.counts.value.voted} of ${room.counts.value.pupils} have voted.</p>`
    }
  </section>`;
}

/** @param {{room: ClassRoom, choices: string[]}} props */
function Choices({ room, choices }) {
  const own = room.you.value?.vote ?? null;
  return html`<div class="choices" role="group" aria-label="Your vote">
      ${choices.map(
        (choice) => html`<button aria-pressed=${own === choice} onClick=${() => room.vote(choice)}>${choice}</button>`,
      )}
    </div>
    <p class="hint" role="status">
      ${own === null ? "Choose an answer." : `Your vote: ${own}. You can change it until the votes are shown.`}
    </p>`;
}

/** @param {{tally: Record<string, number>, answer: string | null, own: string | null}} props own: the choice of this pupil */
function Bars({ tally, answer, own }) {
  const all = Math.max(
    1,
    Object.values(tally).reduce((sum, count) => sum + count, 0),
  );
  return html`<ul class="bars" aria-label="Votes">
    ${Object.entries(tally).map(
      ([choice, count]) =>
        html`<li class=${choice === answer ? "correct" : ""}>
          <span class="choice"
            >${choice}${choice === answer && " ✓"}${choice === own && html`${" "}<small>(your vote)</small>`}</span
          >
          ${" "}<span class="count">${count}</span>
          <span class="bar" aria-hidden="true"><i style=${{ width: `${(100 * count) / all}%` }}></i></span>
        </li>`,
    )}
  </ul>`;
}
