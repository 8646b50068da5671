/** The bar at the top: the organization, the lab clock and its controls, and the verdict. */

import { CLOCK, LAB } from "../api.js";
import { clockTime, duration, fullInstant } from "../state/lab_time.js";
import { folderName } from "../state/lab_state.js";
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { useMenu } from "./menu.js";
import { NEVER_SUSPENDED } from "./panel/administration.js";
import { Save } from "./save_menu.js";

/**
 * @typedef {import("../store.js").Store} Store
 * @typedef {import("../state/lab_state.js").LabState} LabState
 */

/** The slider's right end: a lab day for each second. The slider is logarithmic. */
const FASTEST = 86_400;

/** How often the clock is painted, in milliseconds. */
const PAINT_MS = 100;

/** @param {{store: Store, state: LabState, link: () => string}} props */
export function TopBar({ store, state, link }) {
  return html`<header class="bar">
    <h1>pflab <small>${state.topology.organization}</small></h1>
    <${Clock} store=${store} />
    ${store.source.live && html`<${ClockControls} store=${store} state=${state} />`}
    <span class="space"></span>
    ${!store.clock.connected.value && html`<span class="badge bad" role="status">no connection</span>`}
    <${SparkVerdict} store=${store} />
    <${Verdict} store=${store} state=${state} />
    <${CopyLink} store=${store} link=${link} />
    ${store.source.live && html`<${Save} store=${store} />`}
    ${store.source.live && html`<${FaultsButton} store=${store} />`}
    ${store.source.live && store.address.role !== "class" && html`<button onClick=${() => (store.page.dialog.value = "lessons")} title="Lessons (l)">Lessons</button>`}
    <button onClick=${() => (store.page.dialog.value = "keys")} aria-label="Keys and display" title="Keys and display (?)">?</button>
    <${Suspended} store=${store} state=${state} />
  </header>`;
}

/** For how long a button says that it has done its work, in milliseconds. */
const SAID_MS = 2_000;

/** A button that copies the address of what is shown. @param {{store: Store, link: () => string}} props */
function CopyLink({ store, link }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    const address = link();
    try {
      await navigator.clipboard.writeText(address);
    } catch {
      store.orders.tell(`This page may not copy. The link: ${address}`); // as in a frame, or without HTTPS
      return;
    }
    setCopied(true);
    setTimeout(() => setCopied(false), SAID_MS);
  };
  return html`<button onClick=${copy} title="Copy a link to what is shown: view, selection, moment, zoom and step">
    <span role="status">${copied ? "Copied" : "Copy link"}</span>
  </button>`;
}

/** On which servers content is suspended: "in sync" then says little. @param {{store: Store, state: LabState}} props */
function Suspended({ store, state }) {
  const names = Object.keys(state.servers).filter((name) => state.servers[name].suspended);
  if (names.length === 0) return null;
  const [unable, sending] = replicating(state);
  return html`<p class="banner" role="status">
    Content replication is suspended on${" "}
    ${names.map(
      (name, index) =>
        html`${index > 0 && ", "}<button class="link" onClick=${() => store.page.select({ kind: "server", id: name })}>${name}</button>`,
    )}.
    Changes of posts stay where they were made until it is resumed; folders still replicate.
    ${sending.length > 0 && html` These servers still replicate content: ${sending.join(", ")}.`}
    ${unable.length > 0 && html` Their versions cannot suspend it: ${unable.join(", ")}.`}
  </p>`;
}

/**
 * Return the running servers whose content is not suspended: those whose versions have no such setting, and the others.
 * @param {LabState} state
 * @returns {[string[], string[]]}
 */
function replicating(state) {
  const servers = Object.values(state.servers).filter(({ status, suspended }) => status === "running" && !suspended);
  const unable = servers.filter(({ version }) => NEVER_SUSPENDED.includes(version));
  return /** @type {[string[], string[]]} */ (
    [unable, servers.filter((server) => !unable.includes(server))].map((group) => group.map(({ name }) => name))
  );
}

/** @param {{store: Store}} props */
function FaultsButton({ store }) {
  const count = Object.keys(store.timeline.history?.now.faults ?? {}).length;
  return html`<button onClick=${() => (store.page.dialog.value = "faults")} title="Faults (f)">
    Faults${count > 0 && html` <span class="badge bad">${count}</span>`}
  </button>`;
}

/**
 * Return the milliseconds of an instant while time stands still: mails within one second can then be told apart.
 * @param {Store} store
 * @param {number} at
 */
function fraction(store, at) {
  const stands = store.timeline.travelling.value || !store.clock.reading.value?.rate;
  const ms = Math.floor(at / 1000) % 1000;
  return stands && ms ? `.${String(ms).padStart(3, "0")}` : "";
}

/** The lab time, painted between two readings of the clock. @param {{store: Store}} props */
function Clock({ store }) {
  const element = useRef(/** @type {HTMLTimeElement | null} */ (null));
  useEffect(() => {
    const paint = () => {
      const at = store.clock.labTime();
      if (element.current) element.current.textContent = `${fullInstant(at)}${fraction(store, at)} UTC`;
    };
    paint();
    const timer = setInterval(paint, PAINT_MS);
    store.timeline.watchers.add(paint); // so the clock is that of the frame
    return () => {
      clearInterval(timer);
      store.timeline.watchers.delete(paint);
    };
  }, [store]);
  const clock = store.clock.reading.value;
  const rate = clock?.rate ?? 0;
  const how = store.orders.busy.value
    ? `${store.orders.busy.value} …`
    : !store.source.live || !clock
      ? "a finished run"
      : store.timeline.travelling.value
        ? "an earlier moment"
        : clock.warping
          ? "warping"
          : rate === 0
            ? "paused"
            : rate === 1
              ? "real time"
              : `${duration(rate * 1e6)} each second`;
  return html`<div class="clock">
    <time ref=${element}></time>
    <span class="how" role="status">${how}</span>
  </div>`;
}

/** @param {{store: Store, state: LabState}} props */
function ClockControls({ store, state }) {
  const rate = store.clock.reading.value?.rate ?? 0;
  const setRate = (/** @type {number} */ newRate) =>
    store.orders.send("Setting the clock", CLOCK.rate, { rate: newRate });
  const running = rate > 0;
  return html`<div class="controls" role="group" aria-label="Clock">
    <button onClick=${() => setRate(running ? 0 : 1)} title=${running ? "Pause (Space)" : "Run (Space)"}>
      ${running ? "❚❚ Pause" : "▶ Run"}
    </button>
    <button
      onClick=${() => store.orders.next()}
      title="Go to the next instant at which anything is due (n)"
    >
      ▶❘ Next event
    </button>
    <label class="speed"
      >Speed
      <input
        type="range"
        min="0"
        max="100"
        value=${Math.round((Math.log(Math.max(1, rate)) / Math.log(FASTEST)) * 100)}
        onChange=${(/** @type {any} */ event) =>
          setRate(Math.round(Math.exp((event.target.value / 100) * Math.log(FASTEST))))}
        aria-valuetext=${running ? `${rate} lab seconds each second` : "paused"}
      />
    </label>
    <${Until} store=${store} state=${state} />
  </div>`;
}

const JUMPS = ["15 min", "1 h", "6 h", "12 h", "1 day"];

/** The menu "Until": jump by a duration, to an instant, to convergence, or to the next mail of a kind. @param {{store: Store, state: LabState}} props */
function Until({ store, state }) {
  const menu = useMenu();
  const go = (/** @type {string} */ what, /** @type {string} */ path, /** @type {unknown} */ body) => {
    menu.close();
    void store.orders.act(what, async () => {
      const answer = await store.source.request(path, { method: "POST", body });
      if (answer.held === false) store.orders.tell("It did not happen within 7 lab days.");
    });
  };
  const folders = Object.values(state.folders).filter((folder) => !folder.deleted);
  return html`<div class="menu" ref=${menu.element} onKeyDown=${menu.onKeyDown}>
    <button aria-haspopup="true" aria-expanded=${menu.open} onClick=${menu.toggle}>Until …</button>
    ${
      menu.open &&
      html`<div class="sheet" role="dialog" aria-label="Move the clock until">
      <h2>Move the clock</h2>
      <div class="row">
        ${JUMPS.map(
          (span) => html`<button onClick=${() => go(`Moving ${span}`, CLOCK.advance, { to: span })}>${span}</button>`,
        )}
      </div>
      <form
        onSubmit=${(/** @type {any} */ event) => {
          event.preventDefault();
          go("Moving the clock", CLOCK.advance, { to: event.target.elements.to.value });
        }}
      >
        <label>To <input name="to" placeholder="2003-10-22T06:15Z or 90 min" required /></label>
        <button>Go</button>
      </form>
      <h2>Until a folder has converged</h2>
      <div class="row">
        ${folders.slice(0, 12).map(
          ({ id }) =>
            html`<button
              onClick=${() =>
                go(`Waiting for ${folderName(state, id)}`, CLOCK.until, {
                  converged: id === "1-1" ? id : folderName(state, id),
                  within: "7 days",
                })}
            >
              ${folderName(state, id)}
            </button>`,
        )}
      </div>
      <h2>Until the next mail</h2>
      <div class="row">
        ${MAILS.map(
          (kind) =>
            html`<button onClick=${() => go(`Waiting for mail: ${kind}`, CLOCK.until, { mail: kind, within: "7 days" })}>
              ${kind}
            </button>`,
        )}
      </div>
      <h2>Until the next</h2>
      <div class="row">
        ${UNTIL_EVENTS.map(
          ([type, label]) =>
            html`<button onClick=${() => go(`Waiting: ${label}`, CLOCK.until, { event: type, within: "7 days" })}>
              ${label}
            </button>`,
        )}
      </div>
    </div>`
    }
  </div>`;
}

/** The types of mail that one can wait for, by the names that the API takes. */
const MAILS = [
  "hierarchy",
  "content",
  "status",
  "status request",
  "backfill request",
  "hierarchy response",
  "content response",
];

const UNTIL_EVENTS = [
  ["entry.made", "backfill entry"],
  ["conflict.arose", "conflict"],
  ["hop.failed", "failed delivery"],
  ["replica.dropped", "replica removed"],
];

/** Which folders agree, from the events alone. @param {{store: Store, state: LabState}} props */
function Verdict({ store, state }) {
  const sums = store.timeline.sums.value;
  if (!sums) return null;
  const { agree, folders, conflicts } = sums;
  const allAgree = agree === folders;
  const suspended = Object.values(state.servers).some((server) => server.suspended);
  const conflictWords = conflicts ? `, ${conflicts} ${conflicts === 1 ? "conflict" : "conflicts"}` : "";
  const words = `${allAgree ? "all folders agree" : `${agree} of ${folders} folders agree`}${conflictWords}`;
  return html`<button
    class=${`badge verdict ${allAgree && !conflictWords && !suspended ? "good" : "warn"}`}
    onClick=${() => (store.page.view.value = "replicas")}
    title=${`${words} at ${clockTime(state.at)}: ${allAgree ? "all running holders of each folder have every change" : "click to see what is missing"}`}
  >
    ${words}
  </button>`;
}

/** How often the console asks for the verdict of pflab follow, in milliseconds. Spark needs some seconds for each. */
const VERDICT_EVERY_MS = 5000;

const JUDGEMENTS = {
  converged: { text: "Spark: converged", kind: "good" },
  "not converged": { text: "Spark: not converged", kind: "warn" },
  "rules violated": { text: "Spark: rules violated", kind: "bad" },
};

/** The verdict of `pflab follow`, if it runs beside the lab. @param {{store: Store}} props */
function SparkVerdict({ store }) {
  const [verdict, setVerdict] = useState(/** @type {{judgement: string, at: string} | null} */ (null));
  useEffect(() => {
    if (!store.source.live || store.source.base) return undefined;
    const ask = () => {
      store.source.request(LAB.state).then(
        (lab) => setVerdict(lab.verdict),
        () => setVerdict(null),
      );
    };
    ask();
    const timer = setInterval(ask, VERDICT_EVERY_MS);
    return () => clearInterval(timer);
  }, [store]);
  if (!verdict) return null;
  const judgement = JUDGEMENTS[/** @type {keyof typeof JUDGEMENTS} */ (verdict.judgement)];
  return html`<span class=${`badge ${judgement?.kind ?? ""}`} title=${`Up to ${verdict.at}, by pflab follow`}>
    ${judgement?.text ?? `Spark: ${verdict.judgement}`}
  </span>`;
}
