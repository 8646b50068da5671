/** What the class sees on the projector: how to join, and then the step, the votes and the map. No notes. */

import { html, useEffect } from "../../vendor/preact.js";
import { ClassMap } from "./class_map.js";
import { Invitation } from "./invitation.js";
import { Step } from "./step.js";

/** @param {{room: import("../../class_room.js").ClassRoom}} props */
export function Projector({ room }) {
  const seen = room.seen.value;
  const projected = room.ofTrainer.value?.projected;
  useEffect(() => {
    document.documentElement.toggleAttribute("data-projector", true);
  }, []);
  if (room.state.value === "out")
    return html`<main class="class-page projected"><p class="notice" role="alert">${room.notice.value}</p></main>`;
  return html`<main class="class-page projected">
    <header class="class-bar">
      <h1>${seen?.title ?? "Class"}</h1>
      <span class="who">${room.counts.value.pupils} in the class</span>
      ${!room.connected.value && html`<span class="lost" role="alert">no connection; trying again …</span>`}
    </header>
    ${(!seen || seen.state === "waiting" || seen.state === "ended") && html`<${Invitation} room=${room} />`}
    ${seen && seen.state !== "waiting" && html`<${Step} room=${room} />`}
    <p class="notice" role="alert">${room.notice.value}</p>
    ${projected && html`<h2 class="whose">The lab of ${projected.name}</h2>`}
    <${ClassMap} room=${room} />
  </main>`;
}
