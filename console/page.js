/** What the user has opened and selected. */

import { signal } from "./vendor/preact.js";

/**
 * @typedef {{kind: "server" | "mail" | "connector" | "folder" | "replica" | "post", id: string, folder?: string, server?: string}} Selection
 *
 * @typedef {object} Reader What the view "Folders" shows. An empty name: the view chooses.
 * @property {string} folder an id
 * @property {string} server
 * @property {string | null} beside the server to compare with; null: none
 * @typedef {"map" | "replicas" | "folders" | "mails"} View
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
    this.part = signal("state");
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
