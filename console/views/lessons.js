/** The course: the list of lessons, and the text of the lesson that is played. */

import { LESSONS } from "../api.js";
import { html, useEffect, useRef, useState } from "../vendor/preact.js";

/**
 * @typedef {import("../store.js").Store} Store
 *
 * @typedef {object} Listed
 * @property {string} name
 * @property {number | null} number
 * @property {string | null} level
 * @property {string | null} learn
 * @property {string} title
 * @property {number} minutes
 * @property {number} questions
 * @property {number} servers
 */

const LEVELS = { basic: "Basic", advanced: "Advanced", expert: "Expert" };

/** The dialog with the list of lessons. @param {{store: Store}} props */
export function Lessons({ store }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const [lessons, setLessons] = useState(/** @type {Listed[] | null} */ (null));
  const open = store.page.dialog.value === "lessons";
  useEffect(() => {
    if (!open) {
      dialog.current?.close();
      return;
    }
    dialog.current?.showModal();
    fetch(LESSONS)
      .then((answer) => answer.json())
      .then(setLessons, () => store.orders.tell("the lab does not answer; has it been stopped?"));
  }, [open]);
  const begin = (/** @type {Listed} */ lesson) =>
    store.orders.act(`Starting the lesson ${lesson.title}`, async () => {
      const answer = await fetch(LESSONS, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ name: lesson.name }),
      });
      const begun = await answer.json();
      if (!answer.ok) throw new Error(begun.detail);
      location.assign(`/?lab=${begun.path.replace(/\/$/, "")}`);
    });
  const levels = [...new Set((lessons ?? []).map((each) => each.level))];
  return html`<dialog ref=${dialog} class="lessons" aria-label="Lessons" onClose=${() => (store.page.dialog.value = "")}>
    <h2>Lessons</h2>
    <p class="hint">
      Each lesson is played in a lab of its own, beside the lab that you see. Its stores, databases and mails are real.
    </p>
    ${!lessons && html`<p>Loading …</p>`}
    ${levels.map(
      (level) => html`<h3>${LEVELS[/** @type {keyof typeof LEVELS} */ (level)] ?? "Own lessons"}</h3>
        <ol class="course">
          ${(lessons ?? [])
            .filter((each) => each.level === level)
            .map(
              (each) => html`<li key=${each.name}>
                <button disabled=${Boolean(store.orders.busy.value)} onClick=${() => begin(each)}>
                  <b>${each.number !== null ? `${each.number}. ` : ""}${each.title}</b>
                  <small>
                    ${each.learn ? `You learn ${each.learn}. ` : ""}About ${each.minutes} min, ${each.questions}${" "}
                    ${each.questions === 1 ? "question" : "questions"}.
                  </small>
                </button>
              </li>`,
            )}
        </ol>`,
    )}
    <button onClick=${() => (store.page.dialog.value = "")}>Close</button>
  </dialog>`;
}

/** The text of the lesson whose lab is shown, above the panel. @param {{store: Store}} props */
export function LessonCard({ store }) {
  const player = store.lesson;
  const lesson = player.lesson.value;
  const card = useRef(/** @type {HTMLElement | null} */ (null));
  const index = player.index.value;
  useEffect(() => card.current?.scrollTo({ top: 0 }), [index]);
  if (!lesson) return null;
  const beat = lesson.beats[index];
  const busy = Boolean(store.orders.busy.value);
  const last = index >= player.last();
  return html`<section class="lesson" aria-label="Lesson" ref=${card}>
    <header>
      <b>${lesson.title}</b>
      <small>
        ${beat ? `step ${index + 1} of ${Math.max(lesson.beats_total, lesson.beats.length)}` : "the end"}
      </small>
      <button onClick=${() => player.end()} title="End the lesson and its lab">End</button>
    </header>
    ${index === 0 && lesson.introduction && html`<p class="introduction">${lesson.introduction}</p>`}
    <div aria-live="polite">${beat ? html`<${BeatText} store=${store} beat=${beat} />` : html`<${TheEnd} lesson=${lesson} />`}</div>
    ${player.notes.value && beat?.notes && html`<aside class="notes" aria-label="Presenter's notes">${beat.notes}</aside>`}
    <footer>
      <button disabled=${index === 0 || busy} onClick=${() => player.back()} title="One step back (b)">Back</button>
      ${store.timeline.playing.value && html`<button onClick=${() => store.timeline.skip()}>Skip</button>`}
      ${
        lesson.beats.some((each) => each.notes) &&
        html`<button aria-pressed=${player.notes.value} onClick=${() => (player.notes.value = !player.notes.value)}>
        Notes
      </button>`
      }
      <span class="space"></span>
      ${
        beat &&
        html`<button class="primary" disabled=${busy} onClick=${() => player.next()} title="Next step (Enter)">
        ${busy ? "…" : last && beat.kind === "question" && !beat.given ? "Show me" : "Next"}
      </button>`
      }
    </footer>
  </section>`;
}

/** @param {{store: Store, beat: import("../lesson_player.js").Beat}} props */
function BeatText({ store, beat }) {
  const player = store.lesson;
  const question = beat.kind === "reveal" && beat.question !== null ? player.lesson.value?.beats[beat.question] : null;
  return html`
    ${question && html`<p class="hint">${question.text}</p>`}
    ${
      question?.given &&
      html`<p class=${question.given === beat.answer ? "right" : "wrong"}>
      ${question.given === beat.answer ? "Right: " : `You said “${question.given}”. The answer: `} <b>${beat.answer}</b>
    </p>`
    }
    ${beat.kind === "reveal" && !question?.given && beat.answer && html`<p><b>${beat.answer}</b></p>`}
    <p>${beat.text}</p>
    ${beat.kind === "reveal" && beat.because && html`<p class="because">${beat.because}</p>`}
    ${
      beat.kind === "question" &&
      html`<div class="row" role="group" aria-label="Answers">
      ${beat.choices.map(
        (choice) => html`<button
          class=${beat.given === choice ? "given" : ""}
          disabled=${Boolean(beat.given) || Boolean(store.orders.busy.value)}
          onClick=${() => player.next(choice)}
        >
          ${choice}
        </button>`,
      )}
    </div>`
    }
  `;
}

/** @param {{lesson: import("../lesson_player.js").Lesson}} props */
function TheEnd({ lesson }) {
  return html`
    ${lesson.failure && html`<p class="wrong">The lesson could not be played to its end: ${lesson.failure.join(" ")}</p>`}
    ${lesson.verdict?.in_words.map((each) => html`<p>${each}</p>`)} ${lesson.look && html`<p>Look at: ${lesson.look}</p>`}
    <p>The lab is still up. Try what you like in it, or end the lesson.</p>
  `;
}
