/**
 * The page of a class. Its address has a key after "#", which no browser sends to a server:
 *
 *     class#KEY              a pupil's page
 *     class?trainer#TOKEN    the trainer's page; it takes the token out of the address, which may be seen on a projector
 *     class?projector        what the class sees, opened by the trainer's page
 */

import { ClassRoom } from "./class_room.js";
import { Preferences } from "./preferences.js";
import { html, render } from "./vendor/preact.js";
import { Projector } from "./views/class/projector.js";
import { PupilPage } from "./views/class/pupil_page.js";
import { TrainerPage } from "./views/class/trainer_page.js";

/** Where a window keeps the trainer's token: windows that it opens have it too, and other tabs do not. */
const TOKEN = "pflab-class-trainer";

const preferences = new Preferences();
preferences.apply();
const role = new URLSearchParams(location.search);
const trains = role.has("trainer") || role.has("projector");
const room = new ClassRoom(trains ? trainerToken() : location.hash.slice(1), trains, preferences);
room.projects = role.has("projector");
const page = role.has("projector") ? Projector : trains ? TrainerPage : PupilPage;
const root = /** @type {HTMLElement} */ (document.getElementById("class"));
root.replaceChildren();
render(html`<${page} room=${room} />`, root);
void room.open();

function trainerToken() {
  const given = location.hash.slice(1);
  if (given) {
    sessionStorage.setItem(TOKEN, given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return given || (sessionStorage.getItem(TOKEN) ?? "");
}
