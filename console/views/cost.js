/** "What would it cost?": asked before an order, and answered by a copy of the lab. The lab itself is not touched. */

import { LAB } from "../api.js";
import { COST_WITHIN, costOf } from "../forecast/cost.js";
import { html, useEffect, useState } from "../vendor/preact.js";
import { isPresent } from "./fetched.js";
import { InTerminal } from "./panel/organization/form_parts.js";
import { sizeWords } from "./size_words.js";

/**
 * @typedef {import("../store.js").Store} Store
 * @typedef {import("../forecast/cost.js").Cost} Cost
 * @typedef {Record<string, unknown>} Step a step of a scenario
 */

/** The button that asks, and the answer below it. @param {{store: Store, steps: readonly Step[]}} props */
export function AskCost({ store, steps }) {
  const [asked, setAsked] = useState("");
  const question = JSON.stringify(steps);
  if (!isPresent(store)) return null;
  return html`<div class="cost">
    <button
      type="button"
      class="what-if"
      title="A copy of the lab tries it. The lab itself does not change."
      disabled=${asked === question}
      onClick=${() => setAsked(question)}
    >
      What would it cost?
    </button>
    ${asked === question && html`<${Answer} key=${question} store=${store} question=${question} close=${() => setAsked("")} />`}
  </div>`;
}

/** @param {{store: Store, question: string, close: () => void}} props question: the steps as JSON */
function Answer({ store, question, close }) {
  const [cost, setCost] = useState(/** @type {Cost | null} */ (null));
  const [refused, setRefused] = useState("");
  const body = { within: COST_WITHIN, steps: JSON.parse(question), converged: "all", cost: true };
  useEffect(() => {
    let current = true;
    store.source
      .request(LAB.forecast, { method: "POST", body })
      .then((answer) => current && setCost(costOf(answer)))
      .catch((error) => current && setRefused(error.message));
    return () => {
      current = false;
    };
  }, [store, question]);
  return html`<section aria-label="What it would cost" aria-busy=${!cost && !refused}>
    <p class=${refused ? "problem" : "hint"} role="status">
      ${refused ? `It cannot be said: ${refused}` : cost ? cost.end : "A copy of the lab plays forward …"}
    </p>
    ${cost && html`<${Lines} cost=${cost} />`}
    <${InTerminal} method="POST" path=${LAB.forecast} body=${body} />
    <div class="row"><button type="button" onClick=${close}>Close</button></div>
  </section>`;
}

/** @param {{cost: Cost}} props */
function Lines({ cost: { lines, mails } }) {
  const more = `${Math.abs(mails).toLocaleString("en")} ${Math.abs(mails) === 1 ? "mail" : "mails"}`;
  return html`${
    lines.length > 0 &&
    html`<table class="traffic">
        <thead>
          <tr>
            <th scope="col">Line</th>
            <th scope="col" class="number">Mails</th>
            <th scope="col" class="number">Size</th>
          </tr>
        </thead>
        <tbody>
          ${lines.map(
            (line) => html`<tr key=${line.connector}>
              <th scope="row">${line.connector}</th>
              <td class="number">${signed(line.mails, line.mails.toLocaleString("en"))}</td>
              <td class="number">${signed(line.bytes, sizeWords(line.bytes))}</td>
            </tr>`,
          )}
        </tbody>
      </table>`
  }
    <p class="hint">${lines.length === 0 && "No line carries more. "}Servers send ${more} ${mails < 0 ? "less" : "more"} until then.</p>`;
}

/** @param {number} amount @param {string} words of it */
const signed = (amount, words) => (amount > 0 ? `+${words}` : words);
