/** Why a store asks these sources: its choice as a picture, as a sorted list or as the six groups, with who was passed over and why. */

import { folderName, setName } from "../../state/lab_state.js";
import { parse, union } from "../../state/change_numbers.js";
import { shortInstant } from "../../state/lab_time.js";
import { choicesOf, groupsOf, keyColumns, sortedHolders } from "../../state/source_choice.js";
import { html, useMemo } from "../../vendor/preact.js";
import { Expected, futureOf } from "../expected.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 * @typedef {import("../../state/source_choice.js").Choice} Choice
 * @typedef {import("../../state/source_choice.js").Considered} Considered
 */

/** The most choices of a server that are shown. */
const MOST = 3;

/** The choices of a server, and the next one that is expected. @param {{store: Store, state: LabState, name: string, folder: string}} props */
export function SourceChoices({ store, state, name, folder }) {
  const events = store.timeline.history?.events ?? [];
  const choices = useMemo(
    () => choicesOf(events, state.count, { server: name, folder }, MOST),
    [events, state.count, name, folder],
  );
  const future = futureOf(store);
  const next = future && choicesOf(future.events, future.events.length, { server: name, folder }, Infinity).at(-1);
  if (!next && choices.length === 0) return null;
  return html`<h3>Whom ${name} asks, and why</h3>
    ${next && html`<${SourceChoice} state=${state} choice=${next} expected />`}
    ${choices.map((choice) => html`<${SourceChoice} key=${choice.seq} state=${state} choice=${choice} />`)}`;
}

/** One choice. @param {{state: LabState, choice: Choice, expected?: boolean}} props */
export function SourceChoice({ state, choice, expected = false }) {
  const changes = setName(state, union(parse(choice.cnset), parse(choice.cnset_fai)));
  const asks = choice.chosen.length ? `asks ${choice.chosen.join(" and ")}` : "finds nobody to ask";
  const words = `${choice.node} ${asks} for ${changes || "the rest"} of ${folderName(state, choice.folder)}, ${shortInstant(choice.at)}`;
  return html`<figure class="choice" aria-label=${words}>
    <figcaption>${expected ? html`<${Expected}>${words}</${Expected}>` : words}</figcaption>
    ${choice.method === "six groups" ? html`<${Groups} choice=${choice} />` : html`<${SortedList} choice=${choice} />`}
    ${choice.one_by_one && html`<p class="hint">No server has all of it, so the next one is asked after the retry time-out.</p>`}
  </figure>`;
}

/** @param {{choice: Choice}} props */
function SortedList({ choice }) {
  const keys = keyColumns(choice);
  const holders = sortedHolders(choice);
  const equal = keys.flatMap(({ differs }, index) => (differs || !holders.length ? [] : holders[0].values[index]));
  return html`<p class="hint">
      Sorted by: ${keys.map(({ order }) => order).join(", ")}. A marked value put a server behind the one above it.
      ${equal.length > 0 && html`${" "}Equal for all: ${equal.join(", ")}.`}
    </p>
    <table>
      <thead>
        <tr>
          <th scope="col">Server</th>
          ${keys.map(({ title, differs }) => differs && html`<th scope="col">${title}</th>`)}
          <th scope="col">Result</th>
        </tr>
      </thead>
      <tbody>
        ${holders.map(
          (holder) => html`<tr class=${holder.asked ? "asked" : ""}>
            <th scope="row">${holder.store}</th>
            ${holder.values.map((value, index) => {
              if (!keys[index].differs) return null;
              if (index !== holder.decides) return html`<td>${value}</td>`;
              return html`<td><mark title="This put it behind the server above">${value}</mark></td>`;
            })}
            <td><${Result} holder=${holder} /></td>
          </tr>`,
        )}
      </tbody>
    </table>`;
}

/** @param {{choice: Choice}} props */
function Groups({ choice }) {
  return html`<p class="hint">Searched from group 1 on, for one server that has everything.</p>
    <ol class="groups">
      ${groupsOf(choice).map(
        ({ number, name, holders }) => html`<li class=${holders.some((holder) => holder.asked) ? "asked" : ""}>
          <b>${number}</b> <span class="hint">${name}</span>
          ${holders.length === 0 && html`<div class="hint">nobody</div>`}
          ${holders.map(
            (holder) => html`<div>
              <b>${holder.store}</b> <span class="badge">${holder.version}</span> ${holder.values[0]}:${" "}<${Result} holder=${holder} />
            </div>`,
          )}
        </li>`,
      )}
    </ol>`;
}

/** @param {{holder: Considered}} props */
function Result({ holder }) {
  return holder.asked
    ? html`<span class="badge good">asked</span>`
    : html`<span class="hint">passed over: ${holder.passedOver}</span>`;
}
