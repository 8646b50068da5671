/** A dangerous order is asked twice: a button opens the words about what will be lost, and a second button gives the order. */

import { html, useState } from "../vendor/preact.js";

/**
 * What will be lost, with the button that gives the order.
 * @param {{label: string, words: string, act: () => void, close: () => void}} props label: the name of the order
 */
export function Confirmation({ label, words, act, close }) {
  const give = () => {
    close();
    act();
  };
  return html`<section class="confirm" aria-label=${label}>
    <p>${words}</p>
    <div class="row">
      <button type="button" class="danger" onClick=${give}>${label}</button>
      <button type="button" onClick=${close}>Cancel</button>
    </div>
  </section>`;
}

/**
 * A button that asks first.
 * @param {{button: string, label: string, words: () => string, act: () => void, title?: string}} props
 *   button: its words before the dots; label: the name of the order
 */
export function Sure({ button, label, words, act, title }) {
  const [open, setOpen] = useState(false);
  return html`<button type="button" class="danger" aria-expanded=${open} title=${title} onClick=${() => setOpen(!open)}>
      ${button} …
    </button>
    ${open && html`<${Confirmation} label=${label} words=${words()} act=${act} close=${() => setOpen(false)} />`}`;
}
