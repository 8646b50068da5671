/** What is in a mail: decoded to each property of each item, or as it crossed the wire. */

import { mail } from "../../api.js";
import { html, useState } from "../../vendor/preact.js";
import { useAnswer } from "../fetched.js";
import { Tabs } from "./tabs.js";

/** @typedef {import("../../store.js").Store} Store */

/** The most characters of a mail that are shown. */
const MOST_SHOWN = 200_000;

const TABS = [
  { id: "decoded", label: "Decoded" },
  { id: "raw", label: "Raw message" },
];

/** @param {{store: Store, id: string}} props */
export function MailContent({ store, id }) {
  const [form, setForm] = useState("decoded");
  const path = form === "decoded" ? mail(id).decoded : mail(id).raw;
  const { value, refused } = useAnswer(store, path, 0, { fixed: true });
  const text = typeof value === "string" ? value : "";
  return html`<${Tabs} label="Content of the mail" tabs=${TABS} chosen=${form} choose=${setForm}>
    ${!store.source.has(path) && html`<p class="hint">The content of this mail is not in this file.</p>`}
    ${refused && html`<p class="hint">${refused}</p>`}
    ${text && html`<pre class="text" tabindex="0">${text.slice(0, MOST_SHOWN)}</pre>`}
    ${text.length > MOST_SHOWN && html`<p class="hint">and ${(text.length - MOST_SHOWN).toLocaleString("en")} more characters</p>`}
  </${Tabs}>`;
}
