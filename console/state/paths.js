/**
 * The paths of folders, as each server shows them, and the one that the console calls a folder by.
 *
 * A server says at which path it shows a folder (events folder.shown and folder.moved). While a new name is on its way, servers show
 * different paths. The console calls the folder by the newest one: that of the server that made the change. If no server shows that
 * path any more, because the change has lost against another one or was lost with a server's state, the path that most servers show
 * takes its place.
 *
 *     A renames Projects to Plans    A: Plans, B: Projects    Plans
 *     B has it                       A: Plans, B: Plans       Plans
 *     A goes back to a backup before B has it                 A: Projects, B: Projects    Projects
 */

import { own } from "./kept_tree.js";
import { folderOf, pathOn } from "./lab_state.js";

/**
 * @typedef {import("./lab_state.js").LabState} LabState
 * @typedef {import("./lab_state.js").Server} Server
 * @typedef {import("./lab_state.js").Folder} Folder
 */

/**
 * Note at which path a server shows a folder from now on.
 * @param {LabState} state
 * @param {Server} server
 * @param {string} id
 * @param {string} path
 * @param {boolean} isMade whether the server has made the change that gave the folder this path
 */
export function showAt(state, server, id, path, isMade) {
  own(state.gen, server, "paths")[id] = path;
  const folder = folderOf(state, id);
  if (isMade) folder.path = path;
  else settlePath(state, folder);
}

/** Let all folders have paths that servers show. @param {LabState} state */
export function settlePaths(state) {
  for (const id of Object.keys(state.folders)) settlePath(state, folderOf(state, id));
}

/** @param {LabState} state @param {Folder} folder */
function settlePath(state, folder) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const server of Object.values(state.servers)) {
    const path = server.status === "deleted" ? "" : pathOn(server, folder);
    if (path) counts.set(path, (counts.get(path) ?? 0) + 1);
  }
  if (counts.has(folder.path)) return;
  const [most] = [...counts].sort(([path, count], [other, of]) => of - count || (path < other ? -1 : 1));
  if (most) folder.path = most[0];
}
