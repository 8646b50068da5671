/** The trainer's page: the step with its notes, the votes, what comes next, the pupils, and the windows for the class. */

import { LESSONS, ROOM } from "../../api.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { Invitation } from "./invitation.js";
import { Step } from "./step.js";

/**
 * @typedef {import("../../class_room.js").ClassRoom} ClassRoom
 * @typedef {import("../../class_room.js").Seen} Seen
 * @typedef {import("../../lesson_player.js").Listed} Lesson
 */

/** @param {{room: ClassRoom}} props */
export function TrainerPage({ room }) {
  const seen = room.seen.value;
  const own = room.ofTrainer.value;
  if (room.state.value === "out" || !seen)
    return html`<main class="class-page"><p class="notice" role="alert">${room.notice.value || "Opening the class …"}</p></main>`;
  return html`<main class="class-page trainer">
    <header class="class-bar">
      <h1>Trainer</h1>
      <span class="who">${room.counts.value.pupils} in the class</span>
      ${!room.connected.value && html`<span class="lost" role="alert">no connection; trying again …</span>`}
      <a class="button" href="./class?projector" onClick=${openProjector}>Projector window</a>
      ${seen.lab && html`<${ConsoleLink} room=${room} seen=${seen} />`}
    </header>
    <p class="notice" role="alert">${room.notice.value}</p>
    <div class="columns">
      <div>
        <${Step} room=${room} votes=${own?.votes} />
        ${seen.step !== null && html`<${Steps} room=${room} seen=${seen} />`}
        ${own?.notes && html`<aside class="notes" aria-label="Notes">${own.notes}</aside>`}
        ${own?.following && html`<p class="following"><b>Next:</b> ${own.following}</p>`}
        <${Timer} step=${`${seen.lab} ${seen.step}`} />
        <${Course} room=${room} seen=${seen} />
      </div>
      <div>
        <${Pupils} room=${room} />
        <${Invitation} room=${room} />
      </div>
    </div>
  </main>`;
}

/** The projector's window is opened by this one, so that it has the token too. @param {MouseEvent} event */
function openProjector(event) {
  event.preventDefault();
  window.open("./class?projector", "_blank");
}

/** @param {{room: ClassRoom, seen: Seen}} props */
function ConsoleLink({ room, seen }) {
  const address = `./?lab=${seen.lab}&lesson=${encodeURIComponent(seen.lesson ?? "")}`;
  return html`<a class="button" href=${address} onClick=${opening(room, address)}>Console of the lab</a>`;
}

/** Return what opens the console of a lab in a window that may reach it. @param {ClassRoom} room @param {string} address */
function opening(room, address) {
  return async (/** @type {MouseEvent} */ event) => {
    event.preventDefault();
    const opened = window.open("", "_blank"); // before anything is waited for, or the browser takes it for an advertisement
    if ((await room.act(ROOM.window)) === undefined) opened?.close();
    else opened?.location.assign(new URL(address, document.baseURI));
  };
}

/** @param {{room: ClassRoom, seen: Seen}} props */
function Steps({ room, seen }) {
  const [busy, setBusy] = useState(false);
  const act = async (/** @type {string} */ path, /** @type {unknown} */ body) => {
    setBusy(true);
    await room.act(path, { method: "POST", body }).finally(() => setBusy(false));
  };
  const { step } = seen;
  const waits = seen.state !== "playing" && seen.state !== "ended";
  return html`<div class="row" role="group" aria-label="Steps">
    ${
      seen.state === "question" &&
      html`<button disabled=${busy} onClick=${() => act(ROOM.tally, { step })}>Show the votes</button>`
    }
    <button disabled=${busy || !step} onClick=${() => act(ROOM.again, { step: (step ?? 1) - 1 })}>Back one step</button>
    <button disabled=${busy || !waits} onClick=${() => act(ROOM.again, { step })}>Start this step again</button>
    <button class="primary" disabled=${busy || !waits} onClick=${() => act(ROOM.next, { seen: step })}>
      ${busy || seen.state === "playing" ? "…" : "Next"}
    </button>
  </div>`;
}

/** How long the class has been at a step. @param {{step: string}} props */
function Timer({ step }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const began = Date.now();
    setSeconds(0);
    const timer = setInterval(() => setSeconds(Math.floor((Date.now() - began) / 1000)), 1000);
    return () => clearInterval(timer);
  }, [step]);
  const words = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  return html`<p class="hint" role="timer" aria-label="Time at this step">At this step for ${words}</p>`;
}

/** @param {{room: ClassRoom, seen: Seen}} props */
function Course({ room, seen }) {
  const [lessons, setLessons] = useState(/** @type {Lesson[]} */ ([]));
  const [name, setName] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    void room.act(LESSONS, {}).then((found) => setLessons(found ?? []));
  }, []);
  const chosen = name || lessons[0]?.name || "";
  const begin = async () => {
    setBusy(true);
    await room.act(ROOM.lesson, { method: "POST", body: { name: chosen } }).finally(() => setBusy(false));
  };
  return html`<div class="row" role="group" aria-label="Lessons">
    <label
      >Lesson${" "}
      <select value=${chosen} onChange=${(/** @type {any} */ event) => setName(event.target.value)}>
        ${lessons.map((lesson) => html`<option value=${lesson.name}>${lesson.number ?? "·"} ${lesson.title}</option>`)}
      </select></label
    >
    <button disabled=${busy || !chosen} onClick=${begin}>${busy ? "…" : "Begin it"}</button>
    ${seen.lesson && html`<button onClick=${() => room.act(ROOM.lesson, { method: "DELETE" })}>End the lesson</button>`}
  </div>`;
}

/** @param {{room: ClassRoom}} props */
function Pupils({ room }) {
  const list = room.ofTrainer.value?.list ?? [];
  return html`<section class="pupils" aria-label="Pupils">
    <h2>Pupils</h2>
    ${list.length === 0 && html`<p class="hint">Nobody has joined yet.</p>`}
    ${
      list.length > 0 &&
      html`<div class="scroll" tabindex="0" role="region" aria-label="List of pupils">
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Step</th>
              <th scope="col">Vote</th>
              <th scope="col">Own lab</th>
              <th scope="col"><span class="hidden">Remove</span></th>
            </tr>
          </thead>
          <tbody>
            ${list.map(
              (pupil) =>
                html`<tr key=${pupil.id}>
                  <th scope="row">${pupil.name}${!pupil.here && html`${" "}<small>(away)</small>`}</th>
                  <td>${pupil.step === null ? "–" : pupil.step + 1}</td>
                  <td>${pupil.vote ?? "–"}</td>
                  <td>${pupil.lab ? html`<${OwnLab} room=${room} path=${pupil.lab} pupil=${pupil} />` : "–"}</td>
                  <td>
                    <button
                      aria-label=${`Remove ${pupil.name}`}
                      onClick=${() => room.act(ROOM.pupil(pupil.id), { method: "DELETE" })}
                    >
                      Remove
                    </button>
                  </td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>`
    }
  </section>`;
}

/** The lab of a pupil: a window of its own, and the projector. @param {{room: ClassRoom, path: string, pupil: import("../../class_room.js").Listed}} props */
function OwnLab({ room, path, pupil: { id, name } }) {
  const projected = room.ofTrainer.value?.projected?.id === id;
  const address = `./?lab=${path}&class`;
  const project = () => room.act(ROOM.projected, { method: "POST", body: { pupil: projected ? null : id } });
  return html`<a href=${address} aria-label=${`Show the lab of ${name}`} onClick=${opening(room, address)}>show</a>${" "}
    <button aria-pressed=${projected} aria-label=${`The lab of ${name} on the projector`} onClick=${project}>projector</button>`;
}
