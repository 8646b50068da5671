/** The map: sites, servers and connectors, and mails that move between them. It is one SVG picture, so it fits any screen. */

import { SEPARATIONS } from "../state/faults.js";
import { LEGEND, mailTypeName, signOf } from "../state/mail_types.js";
import { CARD_HEIGHT, LEAST, mapLayout, meshOf, orderOf, wayOf } from "../state/map_layout.js";
import { folderName } from "../state/lab_state.js";
import { shortInstant } from "../state/lab_time.js";
import { MOST_LISTED } from "../state/sums.js";
import { html, useEffect, useMemo, useRef } from "../vendor/preact.js";
import { along, Envelopes } from "./envelopes.js";
import { completion, futureOf } from "./expected.js";

/**
 * @typedef {import("../store.js").Store} Store
 * @typedef {import("../state/lab_state.js").LabState} LabState
 * @typedef {import("../state/lab_state.js").Topology} Topology
 * @typedef {import("../state/map_layout.js").MapLayout} MapLayout
 * @typedef {import("../state/sums.js").ServerSums} ServerSums
 */

/** What the squares on the cards say, for the legend. */
const SQUARES = ["in sync", "behind", "locally modified"];

const MARGIN = 12;

/** The most expected mails that are drawn; more would hide the map. */
const MOST_NEXT = 20;

/** Where they are drawn on a connector: at its begin, because its words are in the middle. */
const NEXT_PLACE = 0.12;

/** How small the picture may become: a map that has no room scrolls. */
const LEAST_SCALE = 0.7;

/** The fonts of the longest names, as in style/views.css, and how many letters make a name long. */
const FONT = '"DejaVu Sans", system-ui, sans-serif';
const LONG = 9;
const NAME = { x: 29, size: 20, longSize: 16 };

/** The room that the other words of a card's first line need. */
const VERSION = 62;

/**
 * Return how wide cards must be, and the space between sites, so that every name has room.
 * @param {Topology} topology
 * @returns {import("../state/map_layout.js").Sizes}
 */
function sizesOf(topology) {
  const context = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  const widest = (/** @type {string[]} */ names, /** @type {(name: string) => string} */ font) =>
    Math.max(
      0,
      ...names.map((name) => {
        context.font = `${font(name)} ${FONT}`;
        return context.measureText(name).width;
      }),
    );
  const servers = widest(Object.keys(topology.servers), (name) => `bold ${nameSize(name)}px`);
  const sites = widest(topology.sites, () => "15px") + 32;
  const connectors = widest(
    topology.connectors.map((connector) => connector.name),
    () => "13px",
  );
  return {
    card: Math.max(LEAST.card, Math.ceil(NAME.x + servers + VERSION), Math.ceil(sites)),
    between: Math.max(LEAST.between, Math.ceil(connectors + 16)),
  };
}

/** @param {string} name */
const nameSize = (name) => (name.length < LONG ? NAME.size : NAME.longSize);

/** @param {{store: Store, state: LabState}} props */
export function LabMap({ store, state }) {
  const topology = state.topology;
  const first = store.timeline.history?.organization ?? topology;
  const layout = useMemo(() => mapLayout(topology, sizesOf(topology), orderOf(first)), [topology, first]);
  const flights = useRef(/** @type {HTMLDivElement | null} */ (null));

  useEffect(() => {
    if (!flights.current) return undefined;
    const envelopes = new Envelopes(flights.current, store, layout);
    return () => envelopes.close();
  }, [store, layout]);

  const box = `${-MARGIN} ${-MARGIN} ${layout.width + 2 * MARGIN} ${layout.height + 2 * MARGIN}`;
  const least = {
    minWidth: `${LEAST_SCALE * (layout.width + 2 * MARGIN)}px`,
    minHeight: `${LEAST_SCALE * (layout.height + 2 * MARGIN)}px`,
  };
  return html`<div class="map">
    <div class="scroll">
      <div class="picture" style=${least}>
        <svg viewBox=${box} role="group" aria-label="Map of the organization">
          ${layout.sites.map(
            ({ name, box: { x, y, width, height } }) => html`<g class="site">
              <rect x=${x} y=${y} width=${width} height=${height} rx="12" />
              <text x=${x + 16} y=${y + 22}>site ${name}</text>
            </g>`,
          )}
          ${meshOf(layout, topology).map(
            ([from, to]) => html`<line class="mesh" x1=${from.x} y1=${from.y} x2=${to.x} y2=${to.y} />`,
          )}
          <${NextMails} store=${store} layout=${layout} topology=${topology} />
          ${layout.connectors.map((line) => html`<${Connector} store=${store} state=${state} line=${line} />`)}
          ${Object.entries(layout.servers).map(
            ([name, place]) => html`<${Card} key=${name} store=${store} state=${state} name=${name} place=${place} />`,
          )}
        </svg>
        <div ref=${flights} class="flights" aria-hidden="true"></div>
      </div>
    </div>
    <ul class="legend" aria-label="Colours of mails and folders">
      ${LEGEND.map(({ name, colour }) => html`<li><i class=${`mail-${colour}`} aria-hidden="true"><b>${signOf(colour)}</b></i>${name}</li>`)}
      ${SQUARES.map((sync) => html`<li><i class=${`of-folder ${sync.replace(" ", "-")}`}></i>folder ${sync}</li>`)}
    </ul>
  </div>`;
}

/** @param {{store: Store, state: LabState, line: MapLayout["connectors"][number]}} props */
function Connector({ store, state, line }) {
  const connector = state.topology.connectors.find((candidate) => candidate.name === line.name);
  if (!connector) return null;
  const down = state.linksDown[line.name] !== undefined;
  const faults = Object.values(state.faults).filter((fault) => fault.details.connector === line.name);
  const cut = down || faults.some((fault) => SEPARATIONS.includes(fault.kind));
  const schedule = [connector.schedule ?? "always"].flat().join("; ");
  const details = [connector.latency, schedule !== "always" && schedule].filter(Boolean);
  const pointed = store.page.highlight.value?.connectors.includes(line.name);
  const cost = `cost ${connector.cost}${cut ? " · cut" : ""}`;
  const lines = line.isNarrow ? [cost] : [...details, cost]; // the line below it has words too
  const unseen = line.isNarrow ? details : [];
  const choose = () => store.page.select({ kind: "connector", id: line.name });
  return html`<g
    class=${`connector ${cut ? "cut" : faults.length ? "slow" : ""} ${pointed ? "pointed" : ""}`}
    tabindex="0"
    role="button"
    aria-label=${`Connector ${[line.name, ...lines, ...unseen].join(", ")}`}
    onClick=${choose}
    onKeyDown=${onEnter(choose)}
  >
    <line x1=${line.from.x} y1=${line.from.y} x2=${line.to.x} y2=${line.to.y} />
    <line class="target" x1=${line.from.x} y1=${line.from.y} x2=${line.to.x} y2=${line.to.y} />
    <text class=${line.name.length < LONG ? "" : "small"} x=${line.label.x} y=${line.label.y - 10}>${line.name}</text>${" "}
    ${lines.map(
      (detail, index) =>
        html`<text class="small" x=${line.label.x} y=${line.label.y + 19 + 17 * index}>${detail}</text>${" "}`,
    )}
  </g>`;
}

/**
 * A server. It is painted again only if something on it is different.
 * @param {{store: Store, state: LabState, name: string, place: import("../state/map_layout.js").Box}} props
 */
function Card({ store, state, name, place }) {
  const sums = store.timeline.sums.value?.servers[name];
  const { status, version, shows, suspended, queue } = state.servers[name];
  const queued = Object.keys(queue).length;
  const selected = store.page.selection.value?.kind === "server" && store.page.selection.value.id === name;
  const pointed = store.page.highlight.value?.servers.includes(name);
  const expected = completion(store, name);
  return useMemo(
    () => sums && picture({ store, state, name, place, sums, queued, selected, pointed, expected }),
    [store, name, place, sums, status, version, shows, suspended, queued, selected, pointed, expected],
  );
}

/**
 * The picture of a server. Its accessible name contains the words that are seen, so that a user can speak them; the spaces between
 * the texts keep these words apart.
 * @param {{store: Store, state: LabState, name: string, place: import("../state/map_layout.js").Box, sums: ServerSums,
 *   queued: number, selected: boolean, pointed: boolean | undefined, expected: string}} props
 */
function picture({ store, state, name, place, sums, queued, selected, pointed, expected }) {
  const server = state.servers[name];
  const standing = standingOf(server, sums);
  const choose = () => store.page.select({ kind: "server", id: name });
  const room = Math.min(MOST_LISTED, Math.floor((place.width - (queued ? 70 : 26)) / 14));
  const waiting = queued > 99 ? "99+" : String(queued);
  return html`<g
    class=${`card ${server.status.replace(" ", "-")} ${server.shows ? "shown" : ""} ${sums.missing || server.suspended ? "behind" : ""} ${selected ? "selected" : ""} ${pointed ? "pointed" : ""}`}
    transform=${`translate(${place.x} ${place.y})`}
    tabindex="0"
    role="button"
    aria-label=${`Server ${name}, ${server.version}: ${standing}${expected && `, ${expected}`}${queued ? `, ${waiting} queued` : ""}`}
    onClick=${choose}
    onKeyDown=${onEnter(choose)}
  >
    <rect width=${place.width} height=${CARD_HEIGHT} rx="8" />
    <circle class="status" cx="16" cy="20" r="5" />
    <text class=${name.length < LONG ? "name" : "name long"} x=${NAME.x} y="26">${name}</text>${" "}
    <text class="version" x=${place.width - 12} y="25">${server.version}</text>${" "}
    <text class="told" x="14" y="48">${standing}</text>${" "}
    ${expected && html`<text class="expected" x="2" y=${CARD_HEIGHT + 14}>${expected}</text>${" "}`}
    ${sums.replicas.slice(0, room).map(
      (replica, index) =>
        html`<rect class=${`square ${replica.sync.replace(" ", "-")}`} x=${14 + index * 14} y="60" width="11" height="9" rx="2">
          <title>${folderName(state, replica.folder)}: ${replica.sync}</title>
        </rect>`,
    )}
    ${
      queued > 0 &&
      html`<g class="queued" transform=${`translate(${place.width - 50} 57)`}>
      <rect width="40" height="15" rx="3" />
      <text x="20" y="11.5">${waiting}✉</text>
    </g>`
    }
  </g>`;
}

/**
 * The mails that are expected next, in grey, with open outlines.
 * @param {{store: Store, layout: MapLayout, topology: Topology}} props
 */
function NextMails({ store, layout, topology }) {
  const mails = futureOf(store)?.nextMails(store.clock.present()) ?? [];
  return mails.slice(0, MOST_NEXT).map(({ from, to, connector, sentAt, type }) => {
    const way = wayOf(layout, topology, from, to, connector);
    if (way.length < 2) return null;
    const { x, y } = along(way, connector ? NEXT_PLACE : 0.5);
    const at = shortInstant(sentAt);
    const words = `expected: ${mailTypeName(type)} from ${from} to ${to} at ${at}`;
    return html`<g class="next-mail expected" role="img" aria-label=${words}>
      <title>${words}</title>
      <polyline points=${way.map((point) => `${point.x},${point.y}`).join(" ")} />
      <path d=${`M${x - 11} ${y - 8}h22v16h-22z m0 0l11 8l11 -8`} />
      ${connector ? html`<text x=${x} y=${y + 22}>${at}</text>` : html`<text class="beside" x=${x - 16} y=${y + 4}>${at}</text>`}
    </g>`;
  });
}

/** @param {import("../state/lab_state.js").Server} server @param {ServerSums} sums */
function standingOf({ status, shows, suspended }, sums) {
  if (status !== "running") return status;
  if (shows) return `only shows ${shows}`;
  return suspended ? "content suspended" : words(sums);
}

/** @param {ServerSums} sums */
function words(sums) {
  if (sums.missing) return `lacks ${sums.missing}${sums.waiting ? ", knows it" : ""}`;
  if (sums.conflicts) return `${sums.conflicts} ${sums.conflicts === 1 ? "conflict" : "conflicts"}`;
  const folders = sums.folders - 1;
  return `${folders} ${folders === 1 ? "folder" : "folders"}`;
}

/** @param {() => void} act */
export const onEnter = (act) => (/** @type {KeyboardEvent} */ event) => {
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    act();
  }
};
