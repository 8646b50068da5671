/** Parts of the forms with which administrators change the organization and its folders: a choice, what somebody types, and the command beside it. */

import { terminalCommand } from "../../../state/terminal.js";
import { html } from "../../../vendor/preact.js";

/** @typedef {(text: string) => void} SetText */

/** A handler that takes what an input or a choice now has. @param {SetText} set */
export const taking = (set) => (/** @type {any} */ event) => set(event.target.value);

/**
 * One of several words.
 * @param {{label: string, name: string, value: string, options: [string, string][], set: SetText}} props options: words with labels
 */
export function Choice({ label, name, value, options, set }) {
  return html`<label
    >${label}
    <select name=${name} value=${value} onChange=${taking(set)}>
      ${options.map(([word, text]) => html`<option value=${word}>${text}</option>`)}
    </select>
  </label>`;
}

/**
 * Return words that are their own labels.
 * @param {readonly string[]} words
 * @param {(word: string) => string} [shownAs]
 * @returns {[string, string][]}
 */
export const ownLabels = (words, shownAs = (word) => word) => words.map((word) => [word, shownAs(word)]);

/** The command that does the same as a request; nothing if no verb does it. @param {import("../../../state/terminal.js").Request} request */
export function InTerminal(request) {
  return html`<${Command} command=${terminalCommand(request)} />`;
}

/** @param {{command: string | null}} props */
export function Command({ command }) {
  return command && html`<p class="hint command">In a terminal: <code>${command}</code></p>`;
}
