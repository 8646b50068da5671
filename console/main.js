/** The console's start: a lab of the server from which the page comes, or a finished run inside the page. */

import { LiveSource } from "./source/live.js";
import { ReplaySource } from "./source/replay.js";
import { ServerDoor } from "./source/server_door.js";
import { Shell } from "./shell.js";

const packed = document.getElementById("run")?.textContent;
if (packed) new Shell(() => new ReplaySource(packed)).start();
else {
  const door = new ServerDoor();
  new Shell((base) => new LiveSource(base, door)).start();
}
