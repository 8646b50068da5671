/** What the keyboard does, and the list of keys. */

import { CLOCK } from "../api.js";
import { html, useEffect, useLayoutEffect, useRef } from "../vendor/preact.js";

/** @typedef {import("../store.js").Store} Store */

/** @type {{keys: string[], shown: string, does: string, act: (store: Store) => void, live?: boolean}[]} */
const KEYS = [
  { keys: ["?"], shown: "?", does: "list the keys", act: (store) => (store.page.dialog.value = "keys") },
  {
    keys: [" "],
    shown: "Space",
    does: "pause the clock, or let it run",
    live: true,
    act: (store) =>
      void store.orders.send("Setting the clock", CLOCK.rate, {
        rate: (store.clock.reading.value?.rate ?? 0) > 0 ? 0 : 1,
      }),
  },
  {
    keys: ["n"],
    shown: "n",
    does: "go to the next instant at which anything is due",
    live: true,
    act: (store) => void store.orders.next(),
  },
  { keys: ["1"], shown: "1", does: "show the map", act: (store) => (store.page.view.value = "map") },
  { keys: ["2"], shown: "2", does: "show the replicas", act: (store) => (store.page.view.value = "replicas") },
  {
    keys: ["l"],
    shown: "l",
    does: "list the lessons",
    live: true,
    act: (store) => (store.page.dialog.value = "lessons"),
  },
  {
    keys: ["Enter"],
    shown: "Enter",
    does: "go to the next step of the lesson",
    act: (store) => void store.lesson.next(),
  },
  { keys: ["b"], shown: "b", does: "go back one step of the lesson", act: (store) => store.lesson.back() },
  { keys: ["3"], shown: "3", does: "show folders and posts", act: (store) => (store.page.view.value = "folders") },
  { keys: ["4"], shown: "4", does: "list all mails", act: (store) => (store.page.view.value = "mails") },
  { keys: ["f"], shown: "f", does: "faults", live: true, act: (store) => (store.page.dialog.value = "faults") },
  { keys: ["k"], shown: "k", does: "play the past, or pause it", act: (store) => store.timeline.togglePlay() },
  { keys: ["ArrowLeft"], shown: "←", does: "go one event back", act: (store) => store.timeline.travelBy(-1) },
  { keys: ["ArrowRight"], shown: "→", does: "go one event forward", act: (store) => store.timeline.travelBy(1) },
  { keys: ["PageUp"], shown: "Page ↑", does: "go 50 events back", act: (store) => store.timeline.travelBy(-50) },
  { keys: ["PageDown"], shown: "Page ↓", does: "go 50 events forward", act: (store) => store.timeline.travelBy(50) },
  { keys: ["Home"], shown: "Home", does: "go to the beginning", act: (store) => store.timeline.travelTo(0) },
  { keys: ["End"], shown: "End", does: "return to the present", act: (store) => store.timeline.travelTo(null) },
  { keys: ["t"], shown: "t", does: "light or dark", act: (store) => store.preferences.toggleTheme() },
  {
    keys: ["p"],
    shown: "p",
    does: "large type, for a projector",
    act: ({ preferences }) => (preferences.projector.value = !preferences.projector.value),
  },
  {
    keys: ["Escape"],
    shown: "Esc",
    does: "close what is open, or return to the present",
    act: (store) => {
      if (store.page.dialog.value) store.page.dialog.value = "";
      else if (store.timeline.travelling.value) store.timeline.travelTo(null);
      else store.page.select(null);
    },
  },
];

/** Listen to the keyboard as soon as the page shows anything. @param {Store} store */
export function useKeys(store) {
  useLayoutEffect(() => {
    const pressed = (/** @type {KeyboardEvent} */ event) => {
      const target = /** @type {HTMLElement} */ (event.target);
      const typing = target.matches("input:not([type=range]), textarea, select, [contenteditable]");
      if ((typing && event.key !== "Escape") || event.ctrlKey || event.metaKey || event.altKey) return;
      if ((event.key === " " || event.key === "Enter") && target.matches("button, [role=button], a, summary")) return;
      if (event.key.startsWith("Arrow") && target.matches("[type=range], [role=tab]")) return;
      if (event.key.length === 1 && !store.preferences.letterKeys.value) return;
      const key = KEYS.find((candidate) => candidate.keys.includes(event.key));
      if (!key || (key.live && !store.source.live)) return;
      event.preventDefault();
      key.act(store);
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [store]);
}

/** The dialog with the list of keys, and what the user prefers. @param {{store: Store}} props */
export function Keys({ store }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const open = store.page.dialog.value === "keys";
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  const { theme, projector, letterKeys } = store.preferences;
  return html`<dialog ref=${dialog} aria-label="Keys and display" onClose=${() => (store.page.dialog.value = "")}>
    <h2>Display</h2>
    <div class="row preferences">
      <label
        >Colours
        <select autofocus=${open} value=${theme.value} onChange=${(/** @type {any} */ event) => (theme.value = event.target.value)}>
          <option value="system">as the system</option>
          <option value="light">light</option>
          <option value="dark">dark</option>
        </select>
      </label>
      <${Switch} preference=${projector} label="Large type, for a projector" />
      <${Switch} preference=${letterKeys} label="Letters, digits and Space are shortcuts" />
    </div>
    <h2>Keys</h2>
    <table class="keys">
      ${KEYS.filter((key) => store.source.live || !key.live).map(
        (key) => html`<tr class=${key.keys[0].length === 1 && !letterKeys.value ? "off" : ""}>
          <th scope="row"><kbd>${key.shown}</kbd></th>
          <td>${key.does}</td>
        </tr>`,
      )}
    </table>
    <button onClick=${() => (store.page.dialog.value = "")}>Close</button>
  </dialog>`;
}

/** @param {{preference: import("../vendor/preact.js").Signal<boolean>, label: string}} props */
function Switch({ preference, label }) {
  return html`<label>
    <input
      type="checkbox"
      checked=${preference.value}
      onChange=${(/** @type {any} */ event) => (preference.value = event.target.checked)}
    />${" "}${label}
  </label>`;
}
