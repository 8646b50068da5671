/** The course: the list of lessons, and the text of the lesson that is played. */

import { LESSONS } from "../api.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { Visit } from "./visit.js";

/**
 * @typedef {import("../store.js").Store} Store
 * @typedef {import("../lesson_player.js").Lesson} Lesson
 * @typedef {import("../lesson_player.js").Listed} Listed
 */

/** What a tab says of lessons. */
const NOT_KEPT = "This browser keeps the lab, but no lesson: a lesson ends when its last tab is closed.";

/** The dialog with the list of lessons. @param {{store: Store}} props */
export function Lessons({ store }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const [lessons, setLessons] = useState(/** @type {Listed[] | null} */ (null));
  const [problem, setProblem] = useState("");
  const [search, setSearch] = useState("");
  const open = store.page.dialog.value === "lessons";
  useEffect(() => {
    if (!open) {
      dialog.current?.close();
      return;
    }
    dialog.current?.showModal();
    setProblem("");
    courseOf(store).then(
      ({ lessons, unknown }) => {
        setLessons(lessons);
        if (unknown.length > 0) setProblem(`The address names lessons that are not here: ${unknown.join(", ")}.`);
      },
      (/** @type {Error} */ error) => setProblem(error.message),
    );
  }, [open]);
  const term = search.trim().toLowerCase();
  const fitting = (lessons ?? []).filter((lesson) =>
    `${lesson.name} ${lesson.title} ${lesson.learn ?? ""}`.toLowerCase().includes(term),
  );
  const labs = (lessons ?? []).flatMap((lesson) => lesson.played.map((lab) => ({ ...lab, lesson })));
  return html`<dialog ref=${dialog} class="lessons" aria-label="Lessons" onClose=${() => (store.page.dialog.value = "")}>
    <h2>Lessons</h2>
    <p class="hint">
      Each lesson is played in a lab of its own, beside the lab that you see. Its stores, databases and mails are real; only the
      network between them is simulated.
      ${store.address.inTab && ` ${NOT_KEPT}`}
    </p>
    ${
      labs.length > 0 &&
      html`<h3>Played at present</h3>
        <ul class="played">
          ${labs.map(
            ({ id, path, told, lesson }) =>
              html`<li key=${id}>
                <${Visit} store=${store} address=${store.address.ofLesson(path, lesson.name)}>${lesson.title}</${Visit}>, step ${told} of ${lesson.texts + lesson.questions}
              </li>`,
          )}
        </ul>`
    }
    <label class="filter"
      >Search${" "}
      <input
        type="search"
        value=${search}
        placeholder="lost-mail, conflict …"
        onInput=${(/** @type {any} */ event) => setSearch(event.target.value)}
      />
    </label>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${!lessons && !problem && html`<p>Loading …</p>`}
    ${lessons && fitting.length === 0 && html`<p class="hint">No lesson contains “${search}”.</p>`}
    ${[...new Set(fitting.map((lesson) => lesson.heading))].map(
      (heading) => html`<h3>${heading}</h3>
        <ol class="course">
          ${fitting
            .filter((lesson) => lesson.heading === heading)
            .map(
              (lesson) => html`<li key=${lesson.name}>
                <button disabled=${Boolean(store.orders.busy.value)} onClick=${() => begin(store, lesson)}>
                  <b>${lesson.number !== null ? `${lesson.number}. ` : ""}${lesson.title}</b>${" "}
                  <code>${lesson.name}</code>
                  <small>
                    ${lesson.learn ? `You learn ${lesson.learn}. ` : ""}About ${lesson.minutes} min, ${lesson.questions}${" "}
                    ${lesson.questions === 1 ? "question" : "questions"}.
                  </small>
                </button>
              </li>`,
            )}
        </ol>`,
    )}
    <button onClick=${() => (store.page.dialog.value = "")}>Close</button>
  </dialog>`;
}

/**
 * Return the lessons of the address's course, or all lessons, and the names that no lesson has. Throws an error with the mistakes in
 * a lesson's file.
 * @param {Store} store
 * @returns {Promise<{lessons: Listed[], unknown: string[]}>}
 */
async function courseOf({ source, address: { course } }) {
  /** @type {Listed[]} */
  const all = source.live ? await source.ask(LESSONS) : [];
  if (course.length === 0) return { lessons: all, unknown: [] };
  const lessons = course.flatMap((name) => all.filter((lesson) => lesson.name === name));
  return {
    lessons: lessons.map((lesson, place) => ({ ...lesson, number: place + 1, heading: "Course" })),
    unknown: course.filter((name) => !lessons.some((lesson) => lesson.name === name)),
  };
}

/** @param {Store} store @param {Pick<Listed, "name" | "title">} lesson */
function begin(store, { name, title }) {
  void store.orders.act(`Starting the lesson ${title}`, () => store.lesson.begin(name));
}

/** What is seen when the lesson of an address has ended. @param {{store: Store}} props */
export function EndedLesson({ store }) {
  const { lesson: name } = store.address;
  return html`<section class="loading" aria-label="Ended lesson">
    <h1>This lesson has ended</h1>
    <p>Somebody ended it, another lesson took its place, nobody used it for half an hour, or the lab was restarted.</p>
    <div class="row">
      ${name && html`<button class="primary" onClick=${() => begin(store, { name, title: name })}>Begin ${name} again</button>`}
      <${Visit} class="button" store=${store} address=${store.address.home()}>Go to the lab</${Visit}>
    </div>
    <p class="hint" role="alert">${store.orders.notice.value}</p>
  </section>`;
}

/** The text of the lesson whose lab is shown, above the panel. @param {{store: Store}} props */
export function LessonCard({ store }) {
  const player = store.lesson;
  const lesson = player.lesson.value;
  const card = useRef(/** @type {HTMLElement | null} */ (null));
  const index = player.index.value;
  useLayoutEffect(() => card.current?.scrollTo({ top: 0 }), [index]);
  if (!lesson) return null;
  const beat = lesson.beats[index];
  const busy = Boolean(store.orders.busy.value);
  const last = index >= player.last();
  const { live } = store.source;
  return html`<section class="lesson" aria-label="Lesson" ref=${card}>
    <header>
      <b>${lesson.title}</b>
      <small>
        ${beat ? `step ${index + 1} of ${Math.max(lesson.beats_total, lesson.beats.length)}` : "the end"}
      </small>
      ${live && html`<button onClick=${() => player.end()} title="End the lesson and its lab">End</button>`}
    </header>
    ${index === 0 && lesson.introduction && html`<p class="introduction">${lesson.introduction}</p>`}
    ${index === 0 && store.address.inTab && html`<p class="hint">${NOT_KEPT}</p>`}
    ${index === 0 && !live && html`<p class="hint">A replay: what happened when this lesson was played.</p>`}
    <div aria-live="polite">
      ${beat?.kind === "problem" ? html`<${Problem} store=${store} beat=${beat} />` : html`<${Disturbed} store=${store} />`}
      ${beat && beat.kind !== "problem" && html`<${BeatText} store=${store} beat=${beat} />`}
      ${!beat && html`<${TheEnd} store=${store} lesson=${lesson} />`}
    </div>
    ${!live && beat?.notes && html`<details><summary>Presenter's notes</summary>${beat.notes}</details>`}
    <footer>
      <button disabled=${index === 0 || busy} onClick=${() => player.back()} title="One step back (b)">Back</button>
      ${
        live &&
        !player.presenting &&
        html`<button
          aria-pressed=${player.following.value}
          title="Go on with whoever plays the lesson on"
          onClick=${() => (player.following.value = !player.following.value)}
        >
          Follow
        </button>`
      }
      ${
        live &&
        !player.presenting &&
        html`<a
          class="button"
          href=${String(store.address.ofLesson(store.source.base, lesson.name, "presenter"))}
          target="_blank"
          title="Open a window with the notes, which plays the lesson on for this page too"
          onClick=${() => (player.following.value = true)}
        >
          Presenter
        </a>`
      }
      <button class=${store.timeline.playing.value ? "" : "absent"} onClick=${() => store.timeline.skip()}>Skip</button>
      ${
        live &&
        beat &&
        beat.kind !== "problem" &&
        index > 0 &&
        html`<button disabled=${busy} title="The lab becomes again what it was at this step" onClick=${() => player.again(index)}>
          Start this step again
        </button>`
      }
      ${
        live &&
        beat &&
        html`<button disabled=${busy} title="Begin the lesson again, in a new lab" onClick=${() => player.again(0)}>Start over</button>`
      }
      <span class="space"></span>
      ${
        beat &&
        (live || !last) &&
        html`<button class="primary" disabled=${busy} onClick=${() => player.next()} title="Next step (Enter)">
        ${busy ? "…" : nextWords(beat, last)}
      </button>`
      }
    </footer>
  </section>`;
}

/** The presenter's window: the text of the lesson, and the notes to it. @param {{store: Store}} props */
export function Presenter({ store }) {
  const notes = store.lesson.beat()?.notes;
  return html`<main class="presenter">
    <${LessonCard} store=${store} />
    <aside class="notes" aria-label="Presenter's notes">${notes ?? "There are no notes to this step."}</aside>
    <p class="hint" role="alert">${store.orders.notice.value}</p>
  </main>`;
}

/** @param {{store: Store, beat: import("../lesson_player.js").Beat}} props */
function BeatText({ store, beat }) {
  const player = store.lesson;
  const waiting = player.answered();
  const question = beat.kind === "reveal" && beat.question !== null ? player.lesson.value?.beats[beat.question] : null;
  return html`
    ${question && html`<p class="hint">${question.text}</p>`}
    ${waiting && html`<p class="answered">Your answer: <b>${waiting.given}</b>. The lesson will tell whether it is right.</p>`}
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

/** @param {{store: Store, lesson: Lesson}} props */
function TheEnd({ store, lesson }) {
  const [following, setFollowing] = useState(/** @type {Listed | undefined} */ (undefined));
  useEffect(() => {
    courseOf(store).then(
      ({ lessons }) => setFollowing(lessons[lessons.findIndex(({ name }) => name === lesson.name) + 1]),
      () => undefined, // then there is only this lesson
    );
  }, [lesson.name]);
  const busy = Boolean(store.orders.busy.value);
  const { source } = store;
  if (!source.live) {
    return html`${lesson.verdict?.in_words.map((sentence) => html`<p>${sentence}</p>`)} ${lesson.learn && html`<p>You have learned ${lesson.learn}.</p>`}`;
  }
  const { outside } = source;
  return html`
    ${lesson.failure && html`<p class="wrong">The lesson could not go on: ${lesson.failure.join(" ")}</p>`}
    ${lesson.verdict?.in_words.map((sentence) => html`<p>${sentence}</p>`)} ${lesson.look && html`<p>Look at: ${lesson.look}</p>`}
    ${
      lesson.look &&
      html`<p class="hint">${
        outside === null
          ? "This lab is in your browser, so no program outside of it can reach it. Take the lab, and start a server with it."
          : html`In a terminal, add${" "}<code>--lab ${outside}</code> to reach the lab of this lesson.`
      }</p>`
    }
    <p>The lab is still up. Try what you like in it, end the lesson, or go on:</p>
    <div class="row" role="group" aria-label="Go on">
      ${following && html`<button disabled=${busy} onClick=${() => begin(store, following)}>Next lesson: ${following.title}</button>`}
      <button disabled=${busy} onClick=${() => begin(store, lesson)}>Once more</button>
    </div>
  `;
}

/** @param {import("../lesson_player.js").Beat} beat @param {boolean} last whether it is the newest one */
function nextWords({ kind, given }, last) {
  if (kind === "problem") return "Go on from here";
  return last && kind === "question" && !given ? "Show me" : "Next";
}

/** What people have changed before the text that is shown, and the way back. @param {{store: Store}} props */
function Disturbed({ store }) {
  const disturbed = store.lesson.disturbed();
  if (disturbed.length === 0) return null;
  return html`<p class="disturbed" role="note">
    ${disturbed.map(({ index, changes }) => `You ${joined(changes)} in step ${index + 1}. `)}
    The lesson is written for a lab without that.${" "}
    <${BackTo} store=${store} index=${disturbed[0].index} />
  </p>`;
}

/** A step of the lesson that has failed, because the lab was changed. @param {{store: Store, beat: import("../lesson_player.js").Beat}} props */
function Problem({ store, beat }) {
  const disturbed = store.lesson.disturbed().at(-1);
  return html`<p class="wrong">${beat.text}</p>
    ${disturbed && html`<p><${BackTo} store=${store} index=${disturbed.index} /></p>`}
    <details>
      <summary>What the lesson expected</summary>
      <ul>
        ${beat.expected.map((line) => html`<li>${line}</li>`)}
      </ul>
    </details>`;
}

/** @param {{store: Store, index: number}} props */
function BackTo({ store, index }) {
  if (!store.source.live) return null;
  return html`<button disabled=${Boolean(store.orders.busy.value)} onClick=${() => store.lesson.again(index)}>
    Start step ${index + 1} again
  </button>`;
}

/** @param {string[]} words */
function joined(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
