/** What the user has opened and selected. */

import { computed, signal } from "./vendor/preact.js";

/** The views, by their names in an address, and their titles. */
export const VIEWS = { map: "Map", replicas: "Replicas", folders: "Folders", mails: "Mails" };

/** The parts of a server's panel, by their names in an address, and their titles. */
export const PARTS = {
  state: "State table",
  backfill: "Backfill",
  queue: "Mail queue",
  notices: "Notices",
  held: "Folders",
  log: "Log",
  directory: "Directory",
  settings: "Settings",
};

/** What can be selected. */
export const SELECTABLE = /** @type {const} */ (["server", "mail", "connector", "post"]);

/**
 * @typedef {typeof SELECTABLE[number]} Kind
 * @typedef {{kind: Kind, id: string, folder?: string, server?: string}} Selection
 *
 * @typedef {object} Reader What the view "Folders" shows. An empty name: the view chooses.
 * @property {string} folder an id
 * @property {string} server
 * @property {string | null} beside the server to compare with; null: none
 * @typedef {keyof typeof VIEWS} View
 * @typedef {keyof typeof PARTS} Part
 *
 * @typedef {object} Axis What the diagram shows.
 * @property {boolean} ordered whether each instant is opened
 * @property {readonly [number, number] | null} span the ends of the part of the axis that is seen; null: the whole axis
 *
 * @typedef {"" | "faults" | "lessons" | "keys" | "mail"} Dialog
 */

export class Page {
  constructor() {
    this.view = signal(/** @type {View} */ ("map"));
    this.reader = signal(/** @type {Reader} */ ({ folder: "", server: "", beside: "" }));
    /** The folder whose changes the view "Replicas" shows by origin; null: all folders. */
    this.origins = signal(/** @type {string | null} */ (null));
    this.selection = signal(/** @type {Selection | null} */ (null));
    /** The part of a server's panel that is shown, kept when another server is selected: so one compares servers. */
    this.part = signal(/** @type {Part} */ ("state"));
    this.axis = signal(/** @type {Axis} */ ({ ordered: false, span: null }));
    this.ordered = computed(() => this.axis.value.ordered);
    /** What is searched in the list of mails. */
    this.mailSearch = signal("");
    this.dialog = signal(/** @type {Dialog} */ (""));
    /** The what-if question that is being answered. */
    this.question = signal(/** @type {import("./forecast/what_if.js").Question | null} */ (null));
    /** What a lesson points at. */
    this.highlight = signal(/** @type {import("./lesson_player.js").Highlight | null} */ (null));
  }

  /** @param {Selection | null} selection */
  select(selection) {
    this.selection.value = selection;
  }
}
