/**
 * The state of a lab as its events tell it.
 *
 * `apply(state, event)` takes one event of the trace. The live console, time travel and replay files all build their pictures
 * with it, so a picture of an earlier moment is exactly what the live console showed then. Nothing here asks a server.
 *
 * A state is a tree of plain objects that is changed in place. To keep a state, call `keep`: it returns the tree and starts a new
 * generation. After that, the first change to an object in the tree copies this object and its parents, so the kept tree stays
 * as it was. Keeping a state therefore costs nothing, and a run of 50,000 events can have hundreds of kept states.
 *
 * Example: A posts a message, and the mail to B is lost.
 *
 *     change.made (A)      A's table of the folder has A-1, and `existing` of the folder too
 *     mail.submitted (A)   the mail is in A's queue
 *     hop.sent (A)         it has left the queue; the mail has a leg from A to B without an arrival
 *     hop.dropped (B)      the leg is lost: B never has A-1, and the matrix shows B behind
 *
 * The numbers of a table are those of the folder's changes. A store also counts as received what its own numbers skip in a folder,
 * and says so in its mails; nobody can miss these numbers, so they may be absent here until the store sends them.
 *
 * What must never happen: that a state depends on anything but the events up to it, for example on real time.
 */

import * as numbers from "./change_numbers.js";

/**
 * @typedef {import("./change_numbers.js").NumberSet} NumberSet
 * @typedef {import("./lab_time.js").LabTime} LabTime
 *
 * @typedef {object} LabEvent An event of a trace, with the words for it that the server adds.
 * @property {string} type
 * @property {string} node
 * @property {number} seq
 * @property {LabTime} at
 * @property {string} [mail]
 * @property {string} [words]
 *
 * @typedef {object} TopologyServer
 * @property {string} site
 * @property {string} version
 * @property {string} [joins] `start`, or when it joins
 *
 * @typedef {object} Connector
 * @property {string} name
 * @property {string} kind
 * @property {[string, string]} between
 * @property {number} cost
 * @property {string} [latency]
 * @property {string} [schedule]
 * @property {string} [bandwidth]
 * @property {Record<string, string>} [bridgeheads] the server in each site that sends over the connector
 *
 * @typedef {object} Topology The topology as `/lab/topology` returns it.
 * @property {string} organization
 * @property {string} domain
 * @property {string[]} sites
 * @property {Connector[]} connectors
 * @property {Record<string, TopologyServer>} servers
 * @property {Record<string, {replicas: string[]}>} folders
 *
 * @typedef {object} Row What a store knows of another store's replica.
 * @property {number} gen
 * @property {NumberSet} numbers
 * @property {LabTime} sentAt
 * @property {LabTime} heardAt
 *
 * @typedef {object} Entry A backfill array entry.
 * @property {number} gen
 * @property {number} id
 * @property {NumberSet} missing
 * @property {boolean} local
 * @property {LabTime} madeAt
 * @property {LabTime} dueAt
 * @property {number} attempts
 * @property {boolean} waitsForSlot
 * @property {readonly {source: string, at: LabTime, retryAt: LabTime}[]} requests
 *
 * @typedef {object} Item A message or a folder in one store.
 * @property {number} gen
 * @property {string} number the version that is shown
 * @property {boolean} deleted
 * @property {readonly string[]} conflict all versions of an unresolved conflict; empty if there is none
 *
 * @typedef {object} Table A store's state of one folder.
 * @property {number} gen
 * @property {NumberSet} numbers the change numbers that the store has
 * @property {Record<string, Row>} rows by store
 * @property {Record<number, Entry>} entries the backfill array
 * @property {Record<string, Item>} items by object id
 * @property {boolean} pending the store waits until it may delete its replica
 * @property {boolean} dropped the store has deleted its replica
 * @property {LabTime | null} sentAt when the store last sent a mail about this folder
 * @property {NumberSet} sent what this mail said that the store has
 *
 * @typedef {object} Queued A mail in the queue of a server.
 * @property {number} gen
 * @property {LabTime} since
 * @property {readonly string[]} recipients for whom a copy still has to leave
 * @property {number} failures
 * @property {LabTime | null} retryAt
 * @property {string} reason of the last failure
 *
 * @typedef {"not started" | "running" | "stopped" | "killed" | "deleted"} ServerStatus
 *
 * @typedef {object} Server
 * @property {number} gen
 * @property {string} name
 * @property {ServerStatus} status
 * @property {string} version
 * @property {string} guid
 * @property {boolean} suspended content replication is suspended
 * @property {Record<string, Table>} tables by folder
 * @property {Record<string, Queued>} queue by mail
 * @property {Record<string, LabTime>} down the stores that this one marked down, and when
 * @property {Record<string, {value: string, default: string}>} settings
 *
 * @typedef {object} Leg One hop of a mail.
 * @property {string} from
 * @property {string} to
 * @property {LabTime} sentAt
 * @property {LabTime | null} arrivedAt
 * @property {"on its way" | "arrived" | "lost" | "failed"} outcome
 * @property {string} why the connector, the fault or the reason of a failure
 *
 * @typedef {object} Mail
 * @property {number} gen
 * @property {string} id
 * @property {number | undefined} type the message type; undefined for ordinary mail
 * @property {string} from
 * @property {readonly string[]} to the stores, or for ordinary mail the addresses
 * @property {readonly {folder: string, cnset: NumberSet, row: NumberSet, updates: number}[]} folders
 * @property {readonly string[]} marks
 * @property {number} size in bytes
 * @property {LabTime} at
 * @property {readonly Leg[]} legs
 * @property {readonly string[]} received the stores that have decoded it
 *
 * @typedef {object} Change
 * @property {string} folder
 * @property {string} object
 * @property {string} number
 * @property {"folder" | "message" | "fai"} kind
 * @property {"create" | "modify" | "delete"} operation
 * @property {string} subject
 * @property {string} node
 * @property {LabTime} at
 * @property {readonly string[]} [replicas] the replica list, if a folder was changed
 *
 * @typedef {object} Folder
 * @property {number} gen
 * @property {string} id
 * @property {string} path
 * @property {readonly string[]} replicas
 * @property {boolean} deleted
 * @property {NumberSet} existing every change of the folder that a store has made and not lost
 *
 * @typedef {object} Fault
 * @property {string} id
 * @property {string} kind
 * @property {Record<string, unknown>} details
 * @property {string} words what it does, as the lab says it
 * @property {LabTime} at
 *
 * @typedef {object} LabState
 * @property {number} gen
 * @property {number} count how many events it has taken
 * @property {LabTime} at
 * @property {number} rate lab seconds for each real second; 0 while the clock is paused
 * @property {Topology} topology
 * @property {Record<string, Server>} servers
 * @property {Record<string, Folder>} folders by id; `1-1` is the hierarchy
 * @property {Record<string, string>} stores the name shown for each replica GUID
 * @property {Record<string, Mail>} mails by Message-ID
 * @property {Record<string, Change>} changes by change number
 * @property {Record<string, Fault>} faults that have not ended
 * @property {Record<string, Server>} backups the server as it was, by the id of the backup
 * @property {Record<string, string>} linksDown connectors that do not work, with the reason
 * @property {string} setup the GUID that numbers the folders of the topology
 */

/** The folder id of the hierarchy. */
export const HIERARCHY = "1-1";

/**
 * @template T
 * @returns {Record<string, T>}
 */
const table = () => Object.create(null);

let generations = 0;

/** Return a generation that no state has had. */
export function newGeneration() {
  generations += 1;
  return generations;
}

/**
 * Return the state before the first event.
 * @param {Topology} topology
 * @param {LabTime} at
 * @param {string} setup the GUID that numbers the folders of the topology
 * @returns {LabState}
 */
export function beginning(topology, at, setup) {
  const gen = newGeneration();
  /** @type {LabState} */
  const state = {
    gen,
    count: 0,
    at,
    rate: 0,
    topology,
    servers: table(),
    folders: table(),
    stores: table(),
    mails: table(),
    changes: table(),
    faults: table(),
    backups: table(),
    linksDown: table(),
    setup,
  };
  for (const [name, server] of Object.entries(topology.servers)) {
    state.servers[name] = {
      gen,
      name,
      status: "not started",
      version: server.version,
      guid: "",
      suspended: false,
      tables: table(),
      queue: table(),
      down: table(),
      settings: table(),
    };
  }
  state.folders[HIERARCHY] = newFolder(gen, HIERARCHY, "the hierarchy", Object.keys(topology.servers));
  Object.entries(topology.folders).forEach(([path, { replicas }], index) => {
    const id = `${setup}:${index + 1}`;
    state.folders[id] = newFolder(gen, id, path, replicas);
  });
  return state;
}

/**
 * Return the present state for keeping, and a state to go on with.
 * @param {LabState} state
 * @returns {{kept: LabState, next: LabState}}
 */
export function keep(state) {
  return { kept: state, next: { ...state, gen: newGeneration() } };
}

/**
 * @param {number} gen
 * @param {string} id
 * @param {string} path
 * @param {readonly string[]} replicas
 * @returns {Folder}
 */
function newFolder(gen, id, path, replicas) {
  return { gen, id, path, replicas, deleted: false, existing: numbers.NOTHING };
}

// --- changing a tree whose older generations others keep

/** The generation in which each table was last copied. A table has the keys of the lab, so its generation is kept beside it. */
const copiedIn = /** @type {WeakMap<object, number>} */ (new WeakMap());

/**
 * Return the table `owner[key]`, for changing. `owner` must belong to the present generation.
 * @template {object} O
 * @template {keyof O} K
 * @param {number} gen
 * @param {O} owner
 * @param {K} key
 * @returns {O[K]}
 */
function own(gen, owner, key) {
  const before = /** @type {any} */ (owner[key]);
  if (copiedIn.get(before) === gen) return before;
  const copy = Object.assign(table(), before);
  copiedIn.set(copy, gen);
  owner[key] = copy;
  return /** @type {any} */ (copy);
}

/**
 * Return the object at `key` of a table, for changing; undefined if there is none.
 * @template {{gen: number}} T
 * @param {number} gen
 * @param {Record<string, T>} from
 * @param {string | number} key
 * @returns {T | undefined}
 */
function ownEntry(gen, from, key) {
  const before = from[key];
  if (before === undefined || before.gen === gen) return before;
  return (from[key] = { ...before, gen });
}

/**
 * @param {LabState} state
 * @param {string} name
 * @returns {Server | undefined}
 */
function serverOf(state, name) {
  return state.servers[name] && ownEntry(state.gen, own(state.gen, state, "servers"), name);
}

/**
 * @param {LabState} state
 * @param {Server} server
 * @param {string} folder
 * @returns {Table}
 */
function tableOf(state, server, folder) {
  const tables = own(state.gen, server, "tables");
  const found = ownEntry(state.gen, tables, folder);
  if (found) return found;
  return (tables[folder] = {
    gen: state.gen,
    numbers: numbers.NOTHING,
    rows: table(),
    entries: table(),
    items: table(),
    pending: false,
    dropped: false,
    sentAt: null,
    sent: numbers.NOTHING,
  });
}

/**
 * @param {LabState} state
 * @param {string} id
 * @returns {Folder}
 */
function folderOf(state, id) {
  const folders = own(state.gen, state, "folders");
  const found = ownEntry(state.gen, folders, id);
  if (found) return found;
  return (folders[id] = newFolder(state.gen, id, id, []));
}

/**
 * Split a change number or an object id into its GUID and its counter.
 * @param {string} number
 * @returns {[string, number]}
 */
export function splitNumber(number) {
  const colon = number.indexOf(":");
  return [number.slice(0, colon), Number(number.slice(colon + 1))];
}

/**
 * Return the store of a mail address such as `A-IS@contoso.test`; other addresses are returned as they are.
 * @param {LabState} state
 * @param {string} address
 */
export function storeOfAddress(state, address) {
  const name = address.split("@")[0].replace(/-IS$/, "");
  return state.servers[name] && address.split("@")[0] !== name ? name : address;
}

/**
 * Return the name shown for a GUID: that of its store, or `Setup` for the folders of the topology.
 * @param {LabState} state
 * @param {string} guid
 */
export function storeName(state, guid) {
  return state.stores[guid] ?? "Setup";
}

/**
 * Return a change number as people read it: `A-1`.
 * @param {LabState} state
 * @param {string} number
 */
export function numberName(state, number) {
  const [guid, counter] = splitNumber(number);
  return `${storeName(state, guid)}-${counter}`;
}

/**
 * Return a set of change numbers as people read it: `A-1..4, B-2`.
 * @param {LabState} state
 * @param {NumberSet} set
 */
export function setName(state, set) {
  return numbers.words(set, (guid) => storeName(state, guid));
}

/**
 * Return the path of a folder; the hierarchy is `the hierarchy`.
 * @param {LabState} state
 * @param {string} id
 */
export function folderName(state, id) {
  return state.folders[id]?.path ?? id;
}

/**
 * Return what a change changed: the subject of a message, or the path of a folder.
 * @param {LabState} state
 * @param {string} number
 */
export function changeSubject(state, number) {
  const change = state.changes[number];
  if (!change) return "";
  return change.subject || (change.kind === "folder" ? folderName(state, change.object) : "");
}

// --- events

/** @type {Record<string, (state: LabState, event: any) => void>} */
const TAKE = {
  "clock.changed": (state, event) => {
    state.rate = event.rate;
  },
  "node.started": (state, event) => {
    const server = serverOf(state, event.node);
    if (!server) return;
    server.status = "running";
    server.version = event.version;
    server.guid = event.replica_guid;
    const stores = own(state.gen, state, "stores");
    if (stores[event.replica_guid] === undefined) {
      // A restored or new store has a second GUID, shown as A2 (spec: RP-4, DL-4).
      const earlier = Object.values(stores).filter((name) => name.replace(/\d+$/, "") === event.node).length;
      stores[event.replica_guid] = earlier && event.reason !== "restart" ? `${event.node}${earlier + 1}` : event.node;
    }
    if (event.reason !== "first") return;
    server.tables = table(); // also when a backup was too old, so that the store begins again with an empty database
    server.queue = table();
    const count = Object.keys(state.topology.folders).length;
    if (count) {
      // Every store has the folders of the topology from its start; no mail brings them.
      const hierarchy = tableOf(state, server, HIERARCHY);
      hierarchy.numbers = numbers.union(hierarchy.numbers, new Map([[state.setup, [[1, count]]]]));
      for (let each = 1; each <= count; each++) {
        show(state, hierarchy, `${state.setup}:${each}`, `${state.setup}:${each}`, false);
      }
    }
  },
  "node.stopped": (state, event) => {
    const server = serverOf(state, event.node);
    if (server) server.status = event.how === "kill" ? "killed" : "stopped";
  },
  "store.deleted": (state, event) => {
    const server = serverOf(state, event.store);
    if (server) server.status = "deleted";
  },
  "fault.injected": (state, event) => {
    if (event.kind === "kill") {
      const server = serverOf(state, event.details.server);
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
  "backup.restored": (state, event) => {
    const server = serverOf(state, event.store);
    const backup = state.backups[event.backup];
    if (!server || !backup) return;
    server.tables = backup.tables;
    server.queue = table();
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

  "change.made": (state, event) => {
    own(state.gen, state, "changes")[event.number] = {
      folder: event.folder,
      object: event.object,
      number: event.number,
      kind: event.kind,
      operation: event.operation,
      subject: event.subject,
      node: event.node,
      at: event.at,
      replicas: event.replicas ?? undefined,
    };
    const made = numbers.parse(event.number);
    const folder = folderOf(state, event.folder);
    folder.existing = numbers.union(folder.existing, made);
    if (event.kind === "folder") changeFolder(state, event);
    const server = serverOf(state, event.node);
    if (!server) return;
    if (event.kind === "folder") returnToList(state, server, event);
    const at = tableOf(state, server, event.folder);
    at.numbers = numbers.union(at.numbers, made);
    show(state, at, event.object, event.number, event.operation === "delete");
  },
  "version.applied": (state, event) => {
    const server = serverOf(state, event.node);
    if (!server) return;
    const at = tableOf(state, server, event.folder);
    at.numbers = numbers.union(at.numbers, numbers.parse(event.stands_for));
    if (event.kind === "folder") returnToList(state, server, event);
    const item = at.items[event.object];
    if (!item?.conflict.length) show(state, at, event.object, event.number, event.deleted);
  },
  "version.ignored": (state, event) => {
    const server = serverOf(state, event.node);
    if (!server || event.reason === "no replica") return;
    const at = tableOf(state, server, event.folder);
    at.numbers = numbers.union(at.numbers, numbers.parse(event.stands_for));
  },
  "expired.everywhere": (state, event) => {
    const server = serverOf(state, event.node);
    if (!server) return;
    const at = tableOf(state, server, event.folder);
    at.numbers = numbers.union(at.numbers, numbers.union(numbers.parse(event.cnset), numbers.parse(event.cnset_fai)));
  },
  "item.expired": (state, event) => remove(state, event),
  "tombstone.made": (state, event) => {
    const server = serverOf(state, event.node);
    if (server) show(state, tableOf(state, server, event.folder), event.object, event.number, true);
    if (event.folder === HIERARCHY && state.folders[event.object]) folderOf(state, event.object).deleted = true;
  },
  "tombstone.dropped": (state, event) => remove(state, event),
  "conflict.arose": (state, event) => {
    const server = serverOf(state, event.node);
    if (!server) return;
    const items = own(state.gen, tableOf(state, server, event.folder), "items");
    items[event.object] = { gen: state.gen, number: event.winner, deleted: false, conflict: event.versions };
  },
  "conflict.ended": (state, event) => {
    const server = serverOf(state, event.node);
    if (!server) return;
    const at = tableOf(state, server, event.folder);
    show(state, at, event.object, event.number, at.items[event.object]?.deleted ?? false);
  },

  "folder.shown": (state, event) => {
    folderOf(state, event.folder).path = event.path;
  },
  "replica.added": (state, event) => {
    const folder = folderOf(state, event.folder);
    if (!folder.replicas.includes(event.store)) folder.replicas = [...folder.replicas, event.store].sort();
    const server = serverOf(state, event.node);
    if (!server || event.store !== event.node) return;
    const at = tableOf(state, server, event.folder);
    at.pending = false;
    at.dropped = false;
  },
  "replica.pending": (state, event) => {
    const folder = folderOf(state, event.folder);
    folder.replicas = folder.replicas.filter((store) => store !== event.node);
    const server = serverOf(state, event.node);
    if (server) tableOf(state, server, event.folder).pending = true;
  },
  "replica.dropped": (state, event) => {
    const server = serverOf(state, event.node);
    if (!server) return;
    const tables = own(state.gen, server, "tables");
    delete tables[event.folder];
    tableOf(state, server, event.folder).dropped = true;
  },
  loss: (state, event) => {
    const folder = folderOf(state, event.folder);
    folder.existing = numbers.minus(folder.existing, numbers.parse(event.cnset));
  },

  "row.replaced": (state, event) => {
    const server = serverOf(state, event.node);
    if (!server) return;
    const rows = own(state.gen, tableOf(state, server, event.folder), "rows");
    const said = numbers.union(numbers.parse(event.cnset), numbers.parse(event.cnset_fai));
    rows[event.store] = { gen: state.gen, numbers: said, sentAt: event.sent_at, heardAt: event.at };
  },
  "entry.made": (state, event) => {
    const server = serverOf(state, event.node);
    if (!server) return;
    const entries = own(state.gen, tableOf(state, server, event.folder), "entries");
    const missing = numbers.union(numbers.parse(event.cnset), numbers.parse(event.cnset_fai));
    const parent = event.parent && entryOf(state, { ...event, entry: event.parent })?.entry;
    if (parent) parent.missing = numbers.minus(parent.missing, missing);
    entries[event.entry] = {
      gen: state.gen,
      id: event.entry,
      missing,
      local: event.local,
      madeAt: parent ? parent.madeAt : event.at,
      dueAt: event.due_at,
      attempts: parent ? parent.attempts : 0,
      waitsForSlot: false,
      requests: [],
    };
  },
  "entry.satisfied": (state, event) => {
    const server = serverOf(state, event.node);
    if (server) delete own(state.gen, tableOf(state, server, event.folder), "entries")[event.entry];
  },
  "entry.pruned": (state, event) => {
    const found = entryOf(state, event);
    if (!found) return;
    const { entries, entry } = found;
    const pruned = numbers.union(numbers.parse(event.cnset), numbers.parse(event.cnset_fai));
    entry.missing = numbers.minus(entry.missing, pruned);
    if (entry.missing.size === 0) delete entries[entry.id];
  },
  "entry.timed_out": (state, event) => {
    const entry = entryOf(state, event)?.entry;
    if (entry) entry.attempts = event.attempt;
  },
  "request.deferred": (state, event) => {
    const entry = entryOf(state, event)?.entry;
    if (entry) entry.waitsForSlot = true;
  },
  "request.sent": (state, event) => {
    const entry = entryOf(state, event)?.entry;
    if (!entry) return;
    entry.waitsForSlot = false;
    entry.dueAt = event.retry_at;
    entry.requests = [...entry.requests, { source: event.source, at: event.at, retryAt: event.retry_at }];
  },
  "request.ended": (state, event) => {
    const entry = entryOf(state, event)?.entry;
    if (entry) entry.requests = entry.requests.filter((request) => request.source !== event.source);
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

  "mail.submitted": (state, event) => {
    const folders = mailFolders(event.folders);
    const to = event.recipients.map((/** @type {string} */ each) => storeOfAddress(state, each));
    own(state.gen, state, "mails")[event.mail] = {
      gen: state.gen,
      id: event.mail,
      type: event.message_type,
      from: event.node,
      to,
      folders,
      marks: event.marks ?? [],
      size: event.size,
      at: event.at,
      legs: [],
      received: [],
    };
    enqueue(state, event);
    const server = serverOf(state, event.node);
    if (!server) return;
    for (const each of folders) {
      if (!each.folder || server.tables[each.folder]?.dropped) continue;
      const at = tableOf(state, server, each.folder);
      at.sentAt = event.at;
      at.sent = each.row;
      at.numbers = numbers.union(at.numbers, each.row);
    }
  },
  "mail.received": (state, event) => {
    const mail = mailOf(state, event);
    if (mail) mail.received = [...mail.received, event.node];
    const server = serverOf(state, event.node);
    if (!server) return;
    for (const each of mailFolders(event.folders)) {
      if (each.cnset.size && holds(state, server, each.folder)) {
        const at = tableOf(state, server, each.folder);
        at.numbers = numbers.union(at.numbers, each.cnset);
      }
    }
  },
  "version.held": (state, event) => lack(state, event, event.stands_for),
  "version.failed": (state, event) => {
    if (event.folder && event.number) lack(state, event, event.number);
  },
  "hop.sent": (state, event) => {
    const server = serverOf(state, event.node);
    if (server) {
      const queue = own(state.gen, server, "queue");
      const queued = ownEntry(state.gen, queue, event.mail);
      if (queued) {
        queued.recipients = queued.recipients.filter((each) => !event.recipients.includes(each));
        if (queued.recipients.length === 0) delete queue[event.mail];
      }
    }
    if (event.connector && state.linksDown[event.connector] !== undefined) {
      delete own(state.gen, state, "linksDown")[event.connector];
    }
    const mail = mailOf(state, event);
    if (!mail) return;
    // The receiver's hop.received can come first: both ends record the same hop.
    const leg = mail.legs.findIndex((each) => each.to === event.next_hop && each.sentAt < 0);
    /** @type {Leg} */
    const known = leg >= 0 ? mail.legs[leg] : newLeg(event.node, event.next_hop);
    const sent = { ...known, from: event.node, sentAt: event.at, why: known.why || (event.connector ?? "") };
    mail.legs = leg >= 0 ? mail.legs.with(leg, sent) : [...mail.legs, sent];
  },
  "hop.received": (state, event) => {
    // From a foreign relay, the peer is not the server at the beginning of the leg.
    endLeg(state, event, event.authenticated === false ? "" : event.peer, "arrived", "");
    const onward = event.recipients.filter((/** @type {string} */ each) => storeOfAddress(state, each) !== event.node);
    if (onward.length) enqueue(state, { ...event, recipients: onward });
  },
  "hop.dropped": (state, event) => endLeg(state, event, "", "lost", `fault ${event.fault}`),
  "hop.failed": (state, event) => {
    const server = serverOf(state, event.node);
    const queued = server && ownEntry(state.gen, own(state.gen, server, "queue"), event.mail);
    if (!queued) return;
    queued.failures += 1;
    queued.retryAt = event.retry_at;
    queued.reason = event.reason;
  },
  "hop.expired": (state, event) => {
    const server = serverOf(state, event.node);
    if (server) delete own(state.gen, server, "queue")[event.mail];
  },
};

/**
 * Take one event. Events must come in causal order, as the lab's stream and `pflab replay` give them.
 * @param {LabState} state
 * @param {LabEvent} event
 */
export function apply(state, event) {
  state.count += 1;
  if (event.at > state.at) state.at = event.at;
  TAKE[event.type]?.(state, event);
}

/**
 * @param {LabState} state
 * @param {Table} at
 * @param {string} object
 * @param {string} number
 * @param {boolean} deleted
 */
function show(state, at, object, number, deleted) {
  own(state.gen, at, "items")[object] = { gen: state.gen, number, deleted, conflict: [] };
}

/**
 * Return whether a store has a replica of a folder, or is on its replica list.
 * @param {LabState} state
 * @param {Server} server
 * @param {string} folder
 */
function holds(state, server, folder) {
  const table = server.tables[folder];
  if (folder === HIERARCHY || (table && !table.dropped)) return true;
  return state.folders[folder]?.replicas.includes(server.name) ?? false;
}

/**
 * A mail accounts for these numbers, but the store could not take them.
 * @param {LabState} state
 * @param {any} event
 * @param {string} cnset
 */
function lack(state, event, cnset) {
  const server = serverOf(state, event.node);
  if (!server) return;
  const at = tableOf(state, server, event.folder);
  at.numbers = numbers.minus(at.numbers, numbers.parse(cnset));
}

/**
 * @param {LabState} state
 * @param {any} event
 */
function remove(state, event) {
  const server = serverOf(state, event.node);
  if (server) delete own(state.gen, tableOf(state, server, event.folder), "items")[event.object];
}

/**
 * @param {LabState} state
 * @param {any} event
 */
function changeFolder(state, event) {
  const folder = folderOf(state, event.object);
  folder.deleted = event.operation === "delete";
  if (event.replicas) folder.replicas = event.replicas;
  if (event.subject && event.operation === "create") {
    const parent = event.parent && event.parent !== HIERARCHY ? state.folders[event.parent] : undefined;
    folder.path = parent ? `${parent.path}/${event.subject}` : event.subject;
  }
}

/**
 * A store that waits until it may delete its replica stops waiting when it is on the replica list again.
 * @param {LabState} state
 * @param {Server} server
 * @param {any} event
 */
function returnToList(state, server, event) {
  if (!server.tables[event.object]?.pending) return;
  if (state.changes[event.number]?.replicas?.includes(server.name))
    tableOf(state, server, event.object).pending = false;
}

/**
 * @param {LabState} state
 * @param {any} event
 */
function entryOf(state, event) {
  const server = serverOf(state, event.node);
  if (!server) return undefined;
  const entries = own(state.gen, tableOf(state, server, event.folder), "entries");
  const entry = ownEntry(state.gen, entries, event.entry);
  return entry && { entries, entry };
}

/**
 * @param {any[]} folders
 * @returns {Mail["folders"]}
 */
function mailFolders(folders) {
  return folders.map((each) => ({
    folder: each.folder,
    cnset: numbers.union(numbers.parse(each.cnset), numbers.parse(each.cnset_fai)),
    row: numbers.union(numbers.parse(each.row), numbers.parse(each.row_fai)),
    updates: each.updates,
  }));
}

/**
 * Return the mail of an event, for changing. A mail that no store submitted is ordinary mail.
 * @param {LabState} state
 * @param {any} event
 * @returns {Mail | undefined}
 */
function mailOf(state, event) {
  if (!event.mail) return undefined;
  const mails = own(state.gen, state, "mails");
  const found = ownEntry(state.gen, mails, event.mail);
  if (found) return found;
  return (mails[event.mail] = {
    gen: state.gen,
    id: event.mail,
    type: undefined,
    from: event.peer ?? event.node,
    to: (event.recipients ?? []).map((/** @type {string} */ each) => storeOfAddress(state, each)),
    folders: [],
    marks: [],
    size: event.size ?? 0,
    at: event.at,
    legs: [],
    received: [],
  });
}

/**
 * @param {LabState} state
 * @param {any} event
 */
function enqueue(state, event) {
  const server = serverOf(state, event.node);
  if (!server || !event.mail) return;
  mailOf(state, event);
  const queue = own(state.gen, server, "queue");
  const already = queue[event.mail]?.recipients ?? [];
  queue[event.mail] = {
    gen: state.gen,
    since: event.at,
    recipients: [...already, ...event.recipients],
    failures: 0,
    retryAt: null,
    reason: "",
  };
}

/**
 * @param {string} from
 * @param {string} to
 * @returns {Leg}
 */
function newLeg(from, to) {
  return { from, to, sentAt: -1, arrivedAt: null, outcome: "on its way", why: "" };
}

/**
 * @param {LabState} state
 * @param {any} event
 * @param {string} peer
 * @param {Leg["outcome"]} outcome
 * @param {string} why
 */
function endLeg(state, event, peer, outcome, why) {
  const mail = mailOf(state, event);
  if (!mail) return;
  const leg = mail.legs.findIndex(
    (each) => each.to === event.node && each.outcome === "on its way" && (!peer || each.from === peer),
  );
  const known = leg >= 0 ? mail.legs[leg] : newLeg(peer, event.node);
  const ended = { ...known, arrivedAt: event.at, outcome, why: why || known.why };
  mail.legs = leg >= 0 ? mail.legs.with(leg, ended) : [...mail.legs, ended];
}
