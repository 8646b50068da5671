/** The page of a pupil: the form to join, and then the step of the class. */

import { ROOM } from "../../api.js";
import { html, useState } from "../../vendor/preact.js";
import { saveAs } from "../download.js";
import { ClassMap } from "./class_map.js";
import { Step } from "./step.js";

/** @typedef {import("../../class_room.js").ClassRoom} ClassRoom */

/** The longest name, as the server takes it. */
const MOST_LETTERS = 40;

/** @param {{room: ClassRoom}} props */
export function PupilPage({ room }) {
  if (room.state.value === "out") return html`<${Join} room=${room} />`;
  const you = room.you.value;
  return html`<main class="class-page">
    <header class="class-bar">
      <h1>Class</h1>
      <span class="who">${you?.name}</span>
      ${!room.connected.value && html`<span class="lost" role="alert">no connection; trying again …</span>`}
    </header>
    <${Step} room=${room} />
    <p class="notice" role="alert">${room.notice.value}</p>
    ${room.seen.value?.lab && html`<${OwnLab} room=${room} lab=${you?.lab ?? null} tab=${you?.tab} />`}
    <${ClassMap} room=${room} />
  </main>`;
}

/** @param {{room: ClassRoom}} props */
function Join({ room }) {
  const [name, setName] = useState("");
  const [busy, setBusy] = useState(false);
  const join = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy(true);
    await room.join(name).finally(() => setBusy(false));
  };
  return html`<main class="class-page">
    <header class="class-bar"><h1>Join the class</h1></header>
    <form class="join" onSubmit=${join}>
      <label
        >Your name
        <input
          required
          autocomplete="nickname"
          maxlength=${MOST_LETTERS}
          value=${name}
          onInput=${(/** @type {any} */ event) => setName(event.target.value)}
      /></label>
      <button class="primary" disabled=${busy || !name.trim()}>Join</button>
    </form>
    <p class="hint">The trainer sees your name and your votes. Other pupils see only how many have voted for what.</p>
    <p class="notice" role="alert">${room.notice.value}</p>
  </main>`;
}

/** tab: whether the lab runs in this browser. @param {{room: ClassRoom, lab: string | null, tab: boolean | undefined}} props */
function OwnLab({ room, lab, tab }) {
  const [busy, setBusy] = useState(false);
  const take = async () => {
    setBusy(true);
    await room.takeLab().finally(() => setBusy(false));
  };
  const save = async () => {
    const answer = await room.door.ask(ROOM.lab);
    if (answer.ok) saveAs(new Blob([await answer.arrayBuffer()]), "class.pflab");
    else room.notice.value = (await answer.json()).detail;
  };
  return html`<div class="own-lab" role="group" aria-label="A lab of your own">
    ${
      tab
        ? html`<button disabled=${busy} onClick=${() => room.takeToTab()}>Take this lab</button>`
        : lab
          ? html`<a class="button primary" href=${`./?lab=${lab}&class`} target="_blank">Open your lab</a>
            <button disabled=${busy} onClick=${take}>Take it again, as it is now</button>`
          : html`<button disabled=${busy} onClick=${take}>${busy ? "…" : "Take this lab"}</button>`
    }
    <button onClick=${save}>Save this lab as a file</button>
    <p class="hint">Your lab is a copy. What you do in it changes nothing for the class.</p>
  </div>`;
}
