/** The menu "Save": the run and the lab as files, and the lab as it is, to go back to. In a tab also: begin with another lab. */

import { LAB, savedLab } from "../api.js";
import { html, useEffect, useState } from "../vendor/preact.js";
import { Download } from "./download.js";
import { useMenu } from "./menu.js";

/**
 * @typedef {import("../store.js").Store} Store
 * @typedef {NonNullable<import("../source/server_door.js").Door["open"]>} Opens
 */

/** @param {{store: Store}} props */
export function Save({ store }) {
  const menu = useMenu();
  const [saved, setSaved] = useState(/** @type {string[]} */ ([]));
  const [notes, setNotes] = useState(false);
  const { source, orders } = store;
  const opens = source.live ? source.door.open : null;
  const busy = orders.busy.value;
  useEffect(() => {
    if (menu.open && !busy && !source.base)
      source.request(LAB.saved).then(setSaved, (/** @type {Error} */ error) => orders.tell(error.message));
  }, [menu.open, busy]);
  const save = (/** @type {any} */ event) => {
    event.preventDefault();
    const { name, replace } = event.target.elements;
    menu.close();
    void orders.send(`Saving ${name.value}`, savedLab(name.value).itself, { replace: replace.checked }, "PUT");
  };
  const reset = (/** @type {string} */ name) => {
    menu.close();
    void orders.send(`Going back to ${name}`, savedLab(name).reset);
  };
  return html`<div class="menu right" ref=${menu.element} onKeyDown=${menu.onKeyDown}>
    <button aria-haspopup="true" aria-expanded=${menu.open} onClick=${menu.toggle}>Save …</button>
    ${
      menu.open &&
      html`<div class="sheet" role="dialog" aria-label="Save">
      ${
        !source.base &&
        html`<h2>A state to go back to</h2>
          <form onSubmit=${save}>
            <label>Save it as <input name="name" required pattern="[A-Za-z0-9][A-Za-z0-9_.\\-]*" placeholder="class-1" /></label>
            <button>Save the lab</button>
            <div><label><input type="checkbox" name="replace" /> replace a lab that was saved under this name</label></div>
          </form>
          <h2>Go back to a saved lab</h2>
          ${saved.length === 0 && html`<p class="hint">This lab was not saved yet.</p>`}
          <div class="row">
            ${saved.map(
              (name) =>
                html`<button class="danger" title="What happened since then is gone" onClick=${() => reset(name)}>
                  Go back to ${name}
                </button>`,
            )}
          </div>`
      }
      <h2>This run</h2>
      <div class="row">
        <${Download} store=${store} path=${LAB.replay(notes)} name="run.html">
          Download the run as one HTML file
        </${Download}>
      </div>
      ${
        source.taught &&
        html`<label
          ><input
            type="checkbox"
            checked=${notes}
            onChange=${(/** @type {any} */ event) => setNotes(event.target.checked)}
          />
          with the presenter's notes</label
        >`
      }
      <p class="hint">
        The file plays in any browser, without a lab and a network. It has the posts and mails with their content${source.taught && ", and the lesson's texts and questions"}.
        A page of your own can show it in a frame.
      </p>
      ${
        !source.base &&
        html`<h2>This lab</h2>
          <div class="row"><${Download} store=${store} path=${LAB.file} name="lab.zip">Take this lab as one file</${Download}></div>
          <p class="hint">
            The file has the databases, the mails and all events. It goes on in a browser's tab, and on a server
            with <code>pflab up --from FILE</code>. <code>pflab check FILE</code> judges its events.
          </p>
          ${opens && html`<${Open} store=${store} opens=${opens} />`}`
      }
    </div>`
    }
  </div>`;
}

/** How a topology's file is called. */
const TOPOLOGY = /\.ya?ml$/i;

/** The largest file that is read, in bytes. A lab file may be as large (pflab/runs/lab_file.py). */
const MOST_BYTES = 64 * 1024 * 1024;

/** Begin with another lab in this tab. @param {{store: Store, opens: Opens}} props */
function Open({ store, opens }) {
  const [mistakes, setMistakes] = useState("");
  const open = async (/** @type {any} */ event) => {
    /** @type {File | undefined} */
    const file = event.target.files[0];
    event.target.value = "";
    if (!file) return;
    setMistakes("");
    if (file.size > MOST_BYTES) {
      setMistakes(`${file.name} has ${file.size} B; a lab has at most ${MOST_BYTES} B.`);
      return;
    }
    await store.orders.act(`Opening ${file.name}`, async () => {
      try {
        if (TOPOLOGY.test(file.name)) await opens({ how: "topology", content: await file.text() });
        else await opens({ how: "file", content: new Uint8Array(await file.arrayBuffer()) });
      } catch (error) {
        setMistakes(error instanceof Error ? error.message : String(error));
      }
    });
  };
  return html`<h2>Another lab</h2>
    <label class="file"
      >Open a topology (.yaml) or the file of a lab, in place of this one:
      <input type="file" disabled=${Boolean(store.orders.busy.value)} onChange=${open} />
    </label>
    ${mistakes && html`<pre class="problem" role="alert">${mistakes}</pre>`}
    <p class="hint">
      A page cannot listen for connections. So this lab has no SMTP and IMAP addresses for mail programs, no containers, and no
      address for <code>--lab</code>: for these, take the lab and start a server with it.
    </p>`;
}
