/** The map of the common lab, to look at. */

import { html } from "../../vendor/preact.js";
import { LabMap } from "../map.js";

/** @param {{room: import("../../class_room.js").ClassRoom}} props */
export function ClassMap({ room }) {
  const store = room.mapped.value;
  const state = store?.timeline.shown.value;
  if (!store || !state) return null;
  return html`<section class="lab" aria-label=${room.projects && room.ofTrainer.value?.projected ? `The lab of ${room.ofTrainer.value.projected.name}` : "The lab of the class"}>
    <${LabMap} key=${store.source.base} store=${store} state=${state} />
  </section>`;
}
