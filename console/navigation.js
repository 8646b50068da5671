/**
 * The address of a page follows what the page shows, and the page shows what its address says.
 *
 * What a user does deliberately is a step of the browser's history, to which the browser's Back returns: another view, another
 * selection, a jump in time. What changes by and by changes the address only: a play, the zoom, a search that is typed.
 */

import { readScene, writeScene } from "./scene.js";
import { fullInstant, HOUR_US } from "./state/lab_time.js";
import { effect, untracked } from "./vendor/preact.js";

/**
 * @typedef {import("./scene.js").Scene} Scene
 * @typedef {import("./store.js").Store} Store
 *
 * @typedef {object} AddressBar What stands in the address of the page after "#".
 * @property {() => string} read
 * @property {(fragment: string, step: boolean) => void} write step: whether it becomes a step of the browser's history
 */

/** After which time a moment or a zoom that changes no more is written, in milliseconds. Browsers permit few changes a second. */
const SETTLE_MS = 400;

/** How much of a frame is seen when it begins to play. */
const HALF = 0.5;

/**
 * Return what a page shows.
 * @param {Store} store
 * @returns {Scene}
 */
function sceneOf({ source, page, timeline, lesson }) {
  const moment = timeline.moment.value;
  // An earlier step of a lesson is not shown in the present, unless the user goes there.
  const opening = source.live && lesson.index.value >= lesson.last();
  return {
    step: lesson.lesson.value ? lesson.index.value + 1 : 0,
    view: page.view.value,
    selection: page.selection.value,
    part: page.part.value,
    reader: page.reader.value,
    origins: page.origins.value,
    search: page.mailSearch.value,
    moment: moment ? { at: Math.round(moment.at), count: moment.count } : opening ? null : "end",
    plays: false,
    axis: page.axis.value,
  };
}

/** Return a text that only changes with what a user does deliberately, except for a jump in time. @param {Scene} scene */
function chosenIn(scene) {
  return writeScene({ ...scene, search: "", moment: null, axis: { ...scene.axis, span: null } });
}

/** Return a text that changes with the moment only. @param {Scene} scene */
const momentIn = ({ moment }) => JSON.stringify(moment);

export class Navigation {
  /**
   * @param {Store} store which has been opened
   * @param {AddressBar} bar
   */
  constructor(store, bar) {
    this.store = store;
    this.bar = bar;
    /** What the address says. */
    this.scene = sceneOf(store);
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** Whether the user has chosen something that the address does not say yet, and whether the moment was played there. */
    this.chosen = false;
    this.played = false;
    /** Plays on as soon as a frame can be seen, which may be far below in the page around it. */
    this.seen = new IntersectionObserver((parts) => parts.some((part) => part.isIntersecting) && this.playOn(), {
      threshold: HALF,
    });
    if (bar.read()) this.show();
    else bar.write(this.fragment(), false);
    this.stop = effect(() => this.changed(sceneOf(store)));
  }

  close() {
    this.stop();
    this.seen.disconnect();
    clearTimeout(this.timer);
  }

  /** Return the address of what is shown now, after "#". */
  fragment() {
    return writeScene(untracked(() => sceneOf(this.store)));
  }

  /** Show what the address says, or what comes next to it. A line tells what could not be shown. */
  show() {
    const { scene, unread } = readScene(this.bar.read());
    const lines = unread.length > 0 ? [`These parts of the address cannot be read: ${unread.join(", ")}.`] : [];
    lines.push(...untracked(() => put(this.store, scene)));
    if (lines.length > 0) this.store.orders.tell(lines.join(" "));
    this.wrote(false);
    if (!scene.plays || this.store.source.live) return;
    if (parent === window) this.playOn();
    else this.seen.observe(document.documentElement);
  }

  /** Play a replay from what is shown: a lesson to its next text, another run to its end. */
  playOn() {
    this.seen.disconnect();
    const { lesson, timeline } = this.store;
    if (lesson.lesson.value) lesson.replay();
    else timeline.togglePlay();
  }

  /** @param {Scene} scene */
  changed(scene) {
    const { timeline, orders } = this.store;
    const playing = timeline.playing.value !== null;
    const chosen = chosenIn(scene) !== chosenIn(this.scene);
    // A lesson goes on from an earlier moment, which nobody has chosen.
    if (orders.busy.value && !chosen) return;
    this.played ||= playing;
    if (writeScene(scene) === writeScene(this.scene)) return;
    // While a lab is played, the address follows; otherwise it waits until the slider stands still.
    if (this.timer !== undefined && (this.chosen || (playing && !chosen))) return;
    this.chosen = chosen;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.settle(), chosen ? 0 : SETTLE_MS);
  }

  /** Write what is shown. */
  settle() {
    const scene = untracked(() => sceneOf(this.store));
    if (writeScene(scene) === writeScene(this.scene)) this.rest();
    else this.wrote(this.chosen || (momentIn(scene) !== momentIn(this.scene) && !this.played));
  }

  /** @param {boolean} step */
  wrote(step) {
    this.scene = untracked(() => sceneOf(this.store));
    this.bar.write(writeScene(this.scene), step);
    this.rest();
  }

  rest() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.chosen = this.played = false;
  }
}

/**
 * Show a scene. Returns a line for each thing in it that cannot be shown.
 * @param {Store} store
 * @param {Scene} scene
 * @returns {string[]}
 */
function put(store, scene) {
  const { page } = store;
  const lines = [...putStep(store, scene.step), ...putMoment(store, scene)];
  const missing = new Set();
  const { reader, origins, axis } = scene;
  const known = knownIn(store);
  const folder = (/** @type {string | undefined} */ id) => !id || known.folder(id) || !missing.add("folder");
  const server = (/** @type {string | null | undefined} */ id) => !id || known.server(id) || !missing.add("server");
  page.view.value = scene.view;
  page.part.value = scene.part;
  page.mailSearch.value = scene.search;
  page.origins.value = folder(origins ?? "") ? origins : null;
  page.reader.value = {
    folder: folder(reader.folder) ? reader.folder : "",
    server: server(reader.server) ? reader.server : "",
    beside: server(reader.beside) ? reader.beside : "",
  };
  const { selection } = scene;
  if (selection && !known[selection.kind](selection.id)) missing.add(selection.kind);
  const fits = selection && known[selection.kind](selection.id) && folder(selection.folder) && server(selection.server);
  page.select(fits ? selection : null);
  if (missing.size > 0) lines.push(`This lab does not have what the address names: ${[...missing].join(", ")}.`);
  const seen = axis.span === null || reaches(store, axis);
  if (!seen) lines.push("The diagram shows the whole run: nothing happened in the part that the address names.");
  page.axis.value = seen ? axis : { ...axis, span: null };
  return lines;
}

/**
 * Return for each kind of thing whether the lab has or had one with an id.
 * @param {Store} store
 * @returns {Record<import("./page.js").Kind | "folder", (id: string) => boolean>}
 */
function knownIn({ timeline }) {
  const state = timeline.history?.now;
  const tables = Object.values(state?.servers ?? {}).flatMap((server) => Object.values(server.tables));
  const subjects = new Set([
    ...(state?.topology.connectors ?? []).map(({ name }) => `connector ${name}`),
    ...(timeline.history?.events.entries ?? []).flatMap((event) =>
      event.type === "organization.changed" ? [event.subject] : [],
    ),
  ]);
  return {
    server: (id) => Object.hasOwn(state?.servers ?? {}, id),
    folder: (id) => Object.hasOwn(state?.folders ?? {}, id),
    mail: (id) => state?.mails.get(id) !== undefined,
    connector: (id) => subjects.has(`connector ${id}`),
    post: (id) => state?.changes.get(id) !== undefined || tables.some(({ items }) => Object.hasOwn(items, id)),
  };
}

/**
 * @param {Store} store
 * @param {number} step
 */
function putStep({ lesson }, step) {
  if (step === 0) return [];
  if (!lesson.lesson.value) return ["This address is that of a lesson, and no lesson is played in this lab."];
  const last = lesson.last();
  lesson.show(Math.min(step - 1, last));
  return step - 1 > last ? [`This address is that of step ${step}; the lesson was played to step ${last + 1}.`] : [];
}

/**
 * @param {Store} store
 * @param {Scene} scene
 */
function putMoment(store, { moment, step }) {
  const { timeline, clock, source, lesson } = store;
  if (moment === null && !(step && lesson.lesson.value)) store.showOpening(); // otherwise it is the moment of the step
  if (moment === "end") timeline.travelTo(null);
  if (moment === null || moment === "end") return [];
  const { pace } = timeline.marks;
  const exact = moment.count === null ? null : pace.between(moment.count, moment.at);
  const present = clock.present();
  const shown = exact ?? pace.at(Math.min(moment.at, present));
  timeline.travel(shown, source.live && shown.count === pace.count);
  const wanted = fullInstant(moment.at);
  if (moment.at > present)
    return [`This address is that of ${wanted}; nothing is known here after ${fullInstant(present)}.`];
  if (moment.at < pace.beginning)
    return [`This address is that of ${wanted}; nothing is known here before ${fullInstant(pace.beginning)}.`];
  if (moment.count !== null && !exact)
    return [`This address was written for another run. This is ${wanted} in this one.`];
  return [];
}

/**
 * Return whether anything of the run is seen in a part of the axis, or next to it.
 * @param {Store} store
 * @param {import("./page.js").Axis} axis
 */
function reaches({ timeline, clock }, { ordered, span }) {
  const { pace } = timeline.marks;
  const [first, last] = ordered ? [pace.orders[0] ?? 0, pace.lastOrder] : [pace.beginning, clock.present()];
  const beyond = last - first + (ordered ? 1 : HOUR_US);
  return span !== null && span[1] > first - beyond && span[0] < last + beyond;
}
