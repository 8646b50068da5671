/**
 * What a page shows of its lab, as the address of the page says it after "#".
 *
 *     #view=replicas&select=server&id=B&part=backfill&at=2003-10-22T00:15:00.000Z&event=812
 *
 * What is as in a page that was just opened does not stand in the address. An address can come from a stranger: what is read here
 * has the types below and is bounded, and only navigation.js, which knows the lab, says whether it has such a server.
 */

import { PARTS, SELECTABLE, VIEWS } from "./page.js";
import { isoInstant, parseInstant } from "./state/lab_time.js";

/**
 * @typedef {import("./state/lab_time.js").LabTime} LabTime
 *
 * @typedef {object} Scene
 * @property {number} step of the lesson, from 1 on; 0: there is no lesson, or its newest step
 * @property {import("./page.js").View} view
 * @property {import("./page.js").Selection | null} selection
 * @property {import("./page.js").Part} part
 * @property {import("./page.js").Reader} reader
 * @property {string | null} origins
 * @property {string} search in the list of mails
 * @property {{at: LabTime, count: number | null} | "end" | null} moment count: how many events have happened, if it is known.
 *   "end": of a finished run; of a live lab, the present. null: the moment of the step, or the one with which a page begins
 * @property {boolean} plays whether a replay plays on from there; a page that is shown never says so itself
 * @property {import("./page.js").Axis} axis
 *
 * @typedef {Record<string, string>} Values what stands in the address
 */

/** @type {Scene} */
export const OPENING = Object.freeze({
  step: 0,
  view: "map",
  selection: null,
  part: "state",
  reader: { folder: "", server: "", beside: "" },
  origins: null,
  search: "",
  moment: null,
  plays: false,
  axis: { ordered: false, span: null },
});

/** The most characters after "#", and of one value. */
const MOST_LENGTH = 4_000;
const MOST_VALUE = 500;

/** The largest number of a step or an event, and the longest axis of order. */
const MOST_COUNT = 1e9;

/** The instants that an address can have: those whose years have four digits. */
const EARLIEST = Date.UTC(0, 0, 1) * 1000;
const LATEST = Date.UTC(9999, 0, 1) * 1000;

/** Two instants of one axis are at least so far apart, in microseconds; two places of the axis of order, in steps. */
const SHORTEST_SPAN = 1;
const SHORTEST_ORDERED = 0.001;

/**
 * Write a scene as it stands in the address after "#".
 * @param {Scene} scene
 * @returns {string}
 */
export function writeScene({ step, view, selection, part, reader, origins, search, moment, plays, axis }) {
  /** @type {Values} */
  const values = {};
  /** @param {string} name @param {string | null | undefined} value */
  const put = (name, value) => {
    if (value && value.length <= MOST_VALUE) values[name] = value;
  };
  put("step", step ? String(step) : "");
  put("view", view === OPENING.view ? "" : view);
  put("select", selection?.kind);
  put("id", selection?.id);
  put("folder", selection?.folder);
  put("server", selection?.server);
  put("part", part === OPENING.part ? "" : part);
  put("read", reader.folder);
  put("on", reader.server);
  put("beside", reader.beside);
  if (reader.beside === null) values.beside = "";
  put("origins", origins);
  put("search", search);
  if (moment === "end") put("at", moment);
  else if (moment && inRange(moment.at)) {
    put("at", isoInstant(moment.at));
    put("event", moment.count === null ? "" : String(moment.count));
  }
  put("play", plays ? "1" : "");
  put("axis", axis.ordered ? "order" : "");
  if (axis.span && axis.span.every(axis.ordered ? onAxis : inRange)) {
    const [from, until] = axis.span.map((end) => (axis.ordered ? String(end) : isoInstant(end)));
    put("from", from);
    put("until", until);
  }
  // These characters are safe after "#", and an instant is easier to read with them.
  return String(new URLSearchParams(values)).replaceAll("+", "%20").replaceAll("%3A", ":").replaceAll("%40", "@");
}

/** @param {LabTime} at */
function inRange(at) {
  return at >= EARLIEST && at < LATEST;
}

/** @param {number} place of the axis of order */
function onAxis(place) {
  return Math.abs(place) < MOST_COUNT;
}

/**
 * Read a scene.
 * @param {string} fragment what stands in the address after "#"
 * @returns {{scene: Scene, unread: string[]}} unread: the names of the values that are none; the scene is then as in a page that
 *   was just opened
 */
export function readScene(fragment) {
  if (fragment.length > MOST_LENGTH) return { scene: OPENING, unread: ["its length"] };
  const values = new URLSearchParams(fragment);
  /** @type {string[]} */
  const unread = [];
  /**
   * Return what a value means; the alternative if there is none, or none that has a meaning.
   * @template T
   * @param {string} name
   * @param {T} otherwise
   * @param {(value: string) => T | undefined} meaning
   * @returns {T}
   */
  const get = (name, otherwise, meaning) => {
    const value = values.get(name);
    if (value === null) return otherwise;
    const read = value.length <= MOST_VALUE ? meaning(value) : undefined;
    if (read === undefined) unread.push(name);
    return read ?? otherwise;
  };
  const text = (/** @type {string} */ name) => get(name, "", (value) => value);
  const beside = text("beside");
  const ordered = get("axis", false, (value) => value === "order" || undefined);
  const count = get("event", null, whole);
  return {
    scene: {
      step: get("step", 0, whole),
      view: get("view", OPENING.view, (value) => keyOf(VIEWS, value)),
      selection: get("select", OPENING.selection, (value) =>
        selectionOf(value, text("id"), text("folder"), text("server")),
      ),
      part: get("part", OPENING.part, (value) => keyOf(PARTS, value)),
      reader: { folder: text("read"), server: text("on"), beside: values.has("beside") && !beside ? null : beside },
      origins: text("origins") || null,
      search: text("search"),
      moment: get("at", OPENING.moment, (value) => momentOf(value, count)),
      plays: get("play", OPENING.plays, (value) => value === "1" || undefined),
      axis: { ordered, span: get("from", null, (from) => spanOf(ordered, from, text("until"))) },
    },
    unread,
  };
}

/**
 * Return a text as a key of an object, if it is one of its own.
 * @template {object} T
 * @param {T} keyed
 * @param {string} text
 */
function keyOf(keyed, text) {
  return Object.hasOwn(keyed, text) ? /** @type {keyof T} */ (text) : undefined;
}

/** @param {string} text */
function whole(text) {
  return /^\d{1,10}$/.test(text) && Number(text) <= MOST_COUNT ? Number(text) : undefined;
}

/**
 * @param {string} value
 * @param {string} id
 * @param {string} folder
 * @param {string} server
 * @returns {Scene["selection"] | undefined}
 */
function selectionOf(value, id, folder, server) {
  const kind = SELECTABLE.find((each) => each === value);
  return kind && id ? { kind, id, ...(folder && { folder }), ...(server && { server }) } : undefined;
}

/**
 * @param {string} text
 * @param {number | null} count
 * @returns {Scene["moment"] | undefined}
 */
function momentOf(text, count) {
  const at = instantOf(text);
  return text === "end" ? text : at === undefined ? undefined : { at, count };
}

/** @param {string} text */
function instantOf(text) {
  const at = /^\d{4}-\d\d-\d\d(T[\d:.]{4,15}Z)?$/.test(text) ? parseInstant(text) : null;
  return at !== null && inRange(at) ? at : undefined;
}

/**
 * @param {boolean} ordered
 * @param {string} from
 * @param {string} until
 * @returns {Scene["axis"]["span"] | undefined}
 */
function spanOf(ordered, from, until) {
  const [start, end] = [from, until].map(ordered ? placeOf : instantOf);
  if (start === undefined || end === undefined) return undefined;
  return end - start >= (ordered ? SHORTEST_ORDERED : SHORTEST_SPAN) ? [start, end] : undefined;
}

/** @param {string} text a place of the axis of order */
function placeOf(text) {
  return /^-?\d{1,10}(\.\d{1,3})?$/.test(text) ? Number(text) : undefined;
}
