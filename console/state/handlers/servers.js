/**
 * Events of servers and of their organization: starts and stops, faults, backups, settings, changed connectors, links, and stores
 * that were marked down.
 */

import * as numbers from "../change_numbers.js";
import { newGeneration, own, table } from "../kept_tree.js";
import { settlePaths } from "../paths.js";
import { HIERARCHY, beganEmpty, numbersOfSetup, reorganize, serverOf, tableOf, show } from "../lab_state.js";

/**
 * @typedef {import("../lab_state.js").Handlers} Handlers
 */

/** @type {Handlers} */
export const SERVERS = {
  "clock.changed": (state, event) => {
    state.rate = event.rate;
  },
  "node.started": (state, event) => {
    const server = serverOf(state, event.node);
    if (!server) return;
    server.status = "running";
    server.version = event.version;
    const isFirstStore = !server.guid;
    server.guid = event.replica_guid;
    const stores = own(state.gen, state, "stores");
    if (stores[event.replica_guid] === undefined) {
      // A restored or new store has a second GUID, shown as A.2 (spec: RP-4, RP-7). No server has a dot in its name.
      const earlier = Object.values(stores).filter((name) => name.split(".")[0] === event.node).length;
      stores[event.replica_guid] = earlier && event.reason !== "restart" ? `${event.node}.${earlier + 1}` : event.node;
    }
    if (event.reason !== "first") return;
    server.tables = table(); // also when a backup was too old, so that the store begins again with an empty database
    server.paths = table();
    server.queue = table();
    server.revision = 0;
    settlePaths(state);
    if (isFirstStore && !beganEmpty(state, event.node)) {
      // The stores of the start have the folders of the topology; no mail brings them.
      const hierarchy = tableOf(state, server, HIERARCHY);
      hierarchy.numbers = numbers.union(hierarchy.numbers, numbersOfSetup(state));
      for (const id of Object.keys(state.folders)) {
        if (id.startsWith(`${state.setup}:`)) show(state, hierarchy, id, id, false);
      }
    }
  },
  "node.stopped": (state, event) => {
    const server = serverOf(state, event.node);
    if (server && server.status !== "deleted") server.status = event.how === "kill" ? "killed" : "stopped";
  },
  "store.deleted": (state, event) => {
    const server = serverOf(state, event.store);
    // A server that did not run learns late that an old object was deleted (spec: RP-7).
    if (server && (event.directory_object ?? 0) >= server.object) server.status = "deleted";
  },
  "store.created": (state, event) => {
    const server = serverOf(state, event.store);
    if (server) Object.assign(server, { status: "stopped", object: event.directory_object, shows: "" });
  },
  "fault.injected": (state, event) => {
    if (event.kind === "kill") {
      const server = serverOf(state, String(event.details.server));
      if (server) server.status = "killed";
      return;
    }
    own(state.gen, state, "faults")[event.fault] = {
      id: event.fault,
      kind: event.kind,
      details: event.details,
      words: (event.words ?? event.kind).replace(/^fault \S+: /, ""),
      at: event.at,
    };
  },
  "fault.healed": (state, event) => {
    delete own(state.gen, state, "faults")[event.fault];
  },
  "backup.made": (state, event) => {
    const server = state.servers[event.store];
    if (!server) return;
    own(state.gen, state, "backups")[event.backup] = server;
    state.gen = newGeneration(); // the backup keeps the server as it is now
  },
  "backup.restored": showBackup,
  "backup.elsewhere": showBackup,
  "organization.changed": (state, event) => reorganize(state, JSON.parse(event.topology)),
  "organization.read": (state, event) => {
    const server = serverOf(state, event.node);
    if (server) server.revision = event.revision;
  },
  "setting.value": (state, event) => {
    const server = serverOf(state, event.node);
    if (server) own(state.gen, server, "settings")[event.name] = { value: event.value, default: event.default };
  },
  "link.down": (state, event) => {
    own(state.gen, state, "linksDown")[event.connector] = event.reason;
  },
  "link.up": (state, event) => {
    delete own(state.gen, state, "linksDown")[event.connector];
  },
  "content.suspended": (state, event) => {
    const server = serverOf(state, event.node);
    if (server) server.suspended = true;
  },
  "content.resumed": (state, event) => {
    const server = serverOf(state, event.node);
    if (server) server.suspended = false;
  },
  "source.down": (state, event) => {
    const server = serverOf(state, event.node);
    if (server) own(state.gen, server, "down")[event.store] = event.at;
  },
  "source.up": (state, event) => {
    const server = serverOf(state, event.node);
    if (server) delete own(state.gen, server, "down")[event.store];
  },
};

/**
 * A server has the state of a backup: of its own store, or of the store of another server.
 * @param {import("../lab_state.js").LabState} state
 * @param {import("../events.js").EventOf<"backup.restored" | "backup.elsewhere">} event
 */
function showBackup(state, event) {
  const server = serverOf(state, event.store);
  const backup = state.backups[event.backup];
  if (!server || !backup) return;
  server.tables = backup.tables;
  server.paths = backup.paths;
  server.queue = table();
  server.revision = backup.revision;
  server.shows = event.type === "backup.elsewhere" ? event.of : "";
  settlePaths(state);
}
