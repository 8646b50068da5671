/**
 * What a page shows until its lab is up: the organization or the lesson, how far the start is, and whether to go on with a lab that
 * the browser has kept. The build writes what is shown (pflab/lessons/previews.py), so it is there before Python is.
 */

import { ReplaySource } from "../source/replay.js";
import { fullInstant, parseInstant } from "../state/lab_time.js";
import { Store } from "../store.js";
import { html, useEffect, useState } from "../vendor/preact.js";
import { LabMap } from "../views/map.js";

/**
 * @typedef {import("../address.js").Address} Address
 * @typedef {import("../source/tab_door.js").Condition} Condition
 * @typedef {import("../source/tab_door.js").TabDoor} TabDoor
 * @typedef {import("../preferences.js").Preferences} Preferences
 *
 * @typedef {Pick<import("../source/replay.js").Run, "topology" | "setup"> & {title: string, text: string}} Preview
 */

/** @param {Address} address @returns {Promise<Preview | null>} */
async function previewOf({ lesson, topology }) {
  const path = lesson
    ? `lesson/${encodeURIComponent(lesson)}`
    : `topology/${encodeURIComponent(topology || "default")}`;
  const answer = await fetch(new URL(`../../preview/${path}.json`, import.meta.url));
  return answer.ok ? answer.json() : null;
}

/**
 * door: null until there is a worker.
 * @typedef {{door: TabDoor | null, condition: import("../vendor/preact.js").Signal<Condition>, address: Address,
 *   preferences: Preferences, again: () => void}} OpeningProps
 */

/** @param {OpeningProps} props */
export function Opening({ door, condition, address, preferences, again }) {
  const [preview, setPreview] = useState(/** @type {Preview | null} */ (null));
  const [store, setStore] = useState(/** @type {Store | null} */ (null));
  useEffect(() => {
    const show = async () => {
      const content = await previewOf(address);
      if (!content) return;
      const { topology, setup } = content;
      const contents = { posts: {}, mails: {} };
      const source = new ReplaySource(() => ({ topology, setup, events: [], contents, lesson: null }));
      const unopened = new Store(source, address, () => undefined, preferences);
      await unopened.open();
      setPreview(content);
      setStore(unopened);
    };
    show().catch(() => undefined); // then only the progress is shown
  }, []);
  const { state, step, words, kept } = condition.value;
  const map = store?.timeline.shown.value;
  return html`<div class="opening"><main>
    <h1>${preview?.title ?? "pflab"}</h1>
    ${preview?.text && html`<p class="said">${preview.text}</p>`}
    ${
      state === "loading" &&
      html`<p class="how" role="status">
        <progress max="1" value=${step} aria-label="Start of the lab"></progress>
        ${words || "Loading the lab"} … The lab runs in this browser: nothing is installed, and nothing leaves your machine.
      </p>`
    }
    ${state === "choosing" && door && kept && html`<${Choice} door=${door} kept=${kept} refused=${words} />`}
    ${state === "failed" && html`<${Failed} words=${words} example=${address.topology} again=${again} />`}
    ${store && map && html`<${LabMap} store=${store} state=${map} />`}
  </main></div>`;
}

/** @param {{door: TabDoor, kept: NonNullable<Condition["kept"]>, refused: string}} props */
function Choice({ door, kept, refused }) {
  const [chosen, setChosen] = useState(false);
  const open = (/** @type {"kept" | "new"} */ how) => {
    setChosen(true);
    door.open({ how }).catch(() => undefined); // then the worker offers the lab again, with the reason
  };
  const time = momentOf(kept.keptAt);
  return html`<section class="choice" aria-label="The lab that this browser has kept">
    <p>This browser has kept the lab ${kept.organization}, which stands at ${fullInstant(parseInstant(kept.labTime) ?? 0)} UTC.</p>
    <div class="row">
      <button class="primary" disabled=${chosen} onClick=${() => open("kept")}>Go on with the lab of ${time}</button>
      <button disabled=${chosen} onClick=${() => open("new")}>Start over</button>
    </div>
    ${refused && html`<p class="problem" role="alert">${refused}</p>`}
  </section>`;
}

/** example: the name of the example that did not begin. @param {{words: string, example: string, again: () => void}} props */
function Failed({ words, example, again }) {
  return html`<section>
    <p class="problem" role="alert">${words}</p>
    <div class="row">
      <button onClick=${again}>Begin again</button>
      ${example && html`<a class="button" href="./">Open the lab with five servers</a>`}
    </div>
  </section>`;
}

/**
 * Return a real time as people in this browser's place say it: the clock time, and the day if it is not today.
 * @param {number} at in milliseconds since 1970
 */
function momentOf(at) {
  const date = new Date(at);
  const time = date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return date.toDateString() === new Date().toDateString() ? time : `${date.toLocaleDateString()}, ${time}`;
}
