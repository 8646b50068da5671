/** The console's start: a lab of the server from which the page comes, or a finished run inside the page. */

import { Preferences } from "./preferences.js";
import { LiveSource } from "./source/live.js";
import { ReplaySource, unpacked } from "./source/replay.js";
import { ServerDoor } from "./source/server_door.js";
import { Shell } from "./shell.js";

const preferences = new Preferences();
preferences.apply();
const packed = document.getElementById("run")?.textContent;
if (packed) new Shell(() => new ReplaySource(() => unpacked(packed)), preferences).start();
else {
  const door = new ServerDoor();
  new Shell((base) => new LiveSource(base, door), preferences).start();
}
