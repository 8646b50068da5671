/** The console's start: a lab of the server from which the page comes, or a finished run inside the page. */

import { Preferences } from "./preferences.js";
import { LiveSource } from "./source/live.js";
import { ReplaySource, unpacked } from "./source/replay.js";
import { ServerDoor } from "./source/server_door.js";
import { Shell } from "./shell.js";
import { Stage } from "./stage.js";

const preferences = new Preferences();
preferences.apply();
const root = document.documentElement;
root.toggleAttribute("data-framed", parent !== window);
const packed = document.getElementById("run")?.textContent;
const shell = packed ? new Shell(() => new ReplaySource(() => unpacked(packed)), preferences) : ofServer();
/** For programs that draw a run. */
export const stage = new Stage(shell);
shell.start();

function ofServer() {
  const door = new ServerDoor();
  return new Shell((base) => new LiveSource(base, door), preferences);
}
