/** "What if": two futures of the present side by side, with and without a change. The lab itself is not touched. */

import { NOTHING } from "../forecast/future.js";
import { notable } from "../forecast/what_if.js";
import { shortInstant } from "../state/lab_time.js";
import { html, useEffect, useState } from "../vendor/preact.js";
import { isPresent } from "./fetched.js";
import { Modal } from "./folders/modal.js";
import { carriedWords } from "./size_words.js";

/**
 * @typedef {import("../store.js").Store} Store
 * @typedef {import("../forecast/future.js").Future} Future
 * @typedef {import("../forecast/what_if.js").Comparison} Comparison
 * @typedef {import("../forecast/what_if.js").Question} Question
 */

/** The most differences that are listed. */
const MOST = 200;

/** A button that asks, in the present of a live lab. @param {{store: Store, question: Question}} props */
export function Ask({ store, question }) {
  if (!isPresent(store)) return null;
  return html`<button class="what-if" title="Compare both futures. The lab itself does not change." onClick=${() => (store.page.question.value = question)}>
    ${question.words}
  </button>`;
}

/** The dialog with the answer. @param {{store: Store}} props */
export function WhatIf({ store }) {
  const question = store.page.question.value;
  if (!question) return null;
  return html`<${Answer} key=${question.words} store=${store} question=${question} />`;
}

/** @param {{store: Store, question: Question}} props */
function Answer({ store, question }) {
  const [comparison, setComparison] = useState(/** @type {Comparison | null} */ (null));
  const [refused, setRefused] = useState("");
  useEffect(() => {
    let current = true;
    store.forecast
      .compare(question.steps)
      .then((answer) => current && setComparison(answer))
      .catch((error) => current && setRefused(error.message));
    return () => {
      current = false;
    };
  }, [store, question]);
  const close = () => (store.page.question.value = null);
  return html`<${Modal} title=${question.words} onClose=${close}>
    <p class="hint">Two copies of the lab play forward from now. The lab itself does not change.</p>
    ${refused && html`<p class="problem">${refused}</p>`}
    ${!comparison && !refused && html`<p class="hint" role="status">The copies are playing …</p>`}
    ${comparison && html`<${Futures} comparison=${comparison} />`}
    <form method="dialog" class="row close"><button>Close</button></form>
  </${Modal}>`;
}

/** @param {{comparison: Comparison}} props */
function Futures({ comparison }) {
  const differences = notable(comparison.differences);
  if (differences.length === 0)
    return html`<p>Nothing would be different until ${shortInstant(comparison.with.until)}.</p>`;
  return html`<table class="futures">
      <thead>
        <tr>
          <th scope="col">Expected</th>
          <th scope="col">− only if nothing is changed</th>
          <th scope="col">+ only with this change</th>
        </tr>
        <tr>
          <th scope="row">All replicas agree</th>
          <td><b>${agreement(comparison.without)}</b></td>
          <td><b>${agreement(comparison.with)}</b></td>
        </tr>
        ${connectorsThatDiffer(comparison).map(
          (name) => html`<tr key=${name}>
            <th scope="row">${name} carries</th>
            <td>${carriedWords(comparison.without.carried.get(name) ?? NOTHING)}</td>
            <td>${carriedWords(comparison.with.carried.get(name) ?? NOTHING)}</td>
          </tr>`,
        )}
      </thead>
      <tbody>
        ${differences.slice(0, MOST).map(({ only, at, node, words, times, lastAt }) => {
          const again = times > 1 && html` <span class="hint">(${times} times, last at ${shortInstant(lastAt)})</span>`;
          const line = html`<b>${node}</b> ${words}${again}`;
          return html`<tr>
            <th scope="row"><time>${shortInstant(at)}</time></th>
            <td class="without">${only === "without" && html`− ${line}`}</td>
            <td class="with">${only === "with" && html`+ ${line}`}</td>
          </tr>`;
        })}
      </tbody>
    </table>
    ${differences.length > MOST && html`<p class="hint">and ${differences.length - MOST} more; pflab what-if lists all</p>`}`;
}

/** Return the connectors that do not carry the same in both futures. @param {Comparison} comparison */
function connectorsThatDiffer({ with: { carried }, without }) {
  return [...new Set([...carried.keys(), ...without.carried.keys()])].filter((name) => {
    const [left, right] = [carried, without.carried].map((sums) => sums.get(name) ?? NOTHING);
    return left.mails !== right.mails || left.bytes !== right.bytes;
  });
}

/** @param {Future} future */
function agreement(future) {
  if (future.lacks) return `not before ${shortInstant(future.until)}`;
  return future.agreedAt === null ? "all the time" : `from ${shortInstant(future.agreedAt)} on`;
}
