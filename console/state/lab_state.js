/**
 * The state of a lab as its events tell it.
 *
 * `apply(state, event)` (apply.js) takes one event of the trace. The live console, time travel and replay files all build their
 * pictures with it, so a picture of an earlier moment is exactly what the live console showed then. Nothing here asks a server.
 * The handlers of events are in handlers/, by subject.
 *
 * A state is a tree of which earlier trees are kept (kept_tree.js), so a run of 50,000 events can have hundreds of kept states.
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
import { Book } from "./kept_book.js";
import { newGeneration, own, ownEntry, table } from "./kept_tree.js";

/**
 * @typedef {import("./change_numbers.js").NumberSet} NumberSet
 * @typedef {import("./lab_time.js").LabTime} LabTime
 *
 * @typedef {import("./events.js").LabEvent} LabEvent
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
 * @property {string | string[]} [schedule]
 * @property {string} [bandwidth]
 * @property {number | "none"} [affinity] the cost of referrals
 * @property {string[]} [senders] the addresses whose mail crosses; left out for everybody's
 * @property {string} [size_limit] the size of the largest mail of a user that crosses
 * @property {Record<string, string>} [bridgeheads] the server in each site that sends over the connector
 *
 * @typedef {object} Topology The topology as `/lab/topology` returns it.
 * @property {number} [revision] how often the organization was changed since the run began; left out before the first change
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
 * @property {readonly string[]} conflicts the objects that are in an unresolved conflict
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
 * @property {number} object which directory object of its name its store has (spec: RP-7)
 * @property {number} revision the change of the organization that it has read last; 0: none (spec: RT-6)
 * @property {LabTime} namedAt when it changed a folder last, for example its name
 * @property {Record<string, string>} paths at which it has said that it shows folders (paths.js)
 * @property {string} shows the server whose store it only shows, because the backup of that store was restored here (spec: RP-8); ""
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
 * @property {readonly string[]} received the stores that have decoded it, and the servers that have delivered it to people or folders
 * @property {string} sender of ordinary mail, the envelope sender; "" if it is not known
 * @property {string} subject of ordinary mail
 * @property {readonly string[]} returned the addresses for which it went back to its sender
 * @property {readonly string[]} deleted the addresses for which an administrator deleted it
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
 * @property {string} first its path in the organization's beginning; "" if it was made later
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
 * @property {Topology} topology the organization as it is at this moment (spec: RT-6)
 * @property {Record<string, Server>} servers
 * @property {Record<string, Folder>} folders by id; `1-1` is the hierarchy
 * @property {Record<string, string>} stores the name shown for each replica GUID
 * @property {Book<Mail>} mails by Message-ID
 * @property {Book<Change>} changes by change number
 * @property {Record<string, Fault>} faults that have not ended
 * @property {Record<string, Server>} backups the server as it was, by the id of the backup
 * @property {Record<string, string>} linksDown connectors that do not work, with the reason
 * @property {Record<string, Record<string, Carried>>} carried what has crossed each connector, by the number of the type of mail; ""
 *   for ordinary mail
 * @property {string} setup the GUID that numbers the folders of the topology
 *
 * @typedef {{mails: number, bytes: number}} Carried
 *
 * @typedef {{[T in LabEvent["type"]]?: (state: LabState, event: import("./events.js").EventOf<T>) => void}} Handlers
 */

/** The folder id of the hierarchy. */
export const HIERARCHY = "1-1";

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
    mails: new Book("id"),
    changes: new Book("number"),
    faults: table(),
    backups: table(),
    linksDown: table(),
    carried: table(),
    setup,
  };
  for (const [name, { version }] of Object.entries(topology.servers))
    state.servers[name] = newServer(gen, name, version);
  state.folders[HIERARCHY] = newFolder(gen, HIERARCHY, "the hierarchy", Object.keys(topology.servers));
  Object.entries(topology.folders).forEach(([path, { replicas }], index) => {
    const id = `${setup}:${index + 1}`;
    state.folders[id] = newFolder(gen, id, path, replicas, path);
  });
  state.folders[HIERARCHY].existing = numbersOfSetup(state);
  return state;
}

/**
 * Return the change numbers of the topology's folders. All stores that are there at the start have them without any mail.
 * @param {LabState} state
 * @returns {NumberSet}
 */
export function numbersOfSetup({ topology, setup }) {
  const count = Object.keys(topology.folders).length;
  return count ? new Map([[setup, [[1, count]]]]) : numbers.NOTHING;
}

/**
 * Return whether a store joined later, or was created again.
 * @param {LabState} state
 * @param {string} store
 */
export function beganEmpty(state, store) {
  const joins = state.topology.servers[store]?.joins ?? "start";
  return joins !== "start" || (state.servers[store]?.object ?? 0) > 0;
}

/**
 * @param {number} gen
 * @param {string} id
 * @param {string} path
 * @param {readonly string[]} replicas
 * @param {string} [first]
 * @returns {Folder}
 */
function newFolder(gen, id, path, replicas, first = "") {
  return { gen, id, path, first, replicas, deleted: false, existing: numbers.NOTHING };
}

/**
 * @param {number} gen
 * @param {string} name
 * @param {string} version
 * @returns {Server} a server that has not started yet
 */
function newServer(gen, name, version) {
  return {
    gen,
    name,
    status: "not started",
    version,
    guid: "",
    object: 0,
    revision: 0,
    namedAt: -1,
    paths: table(),
    shows: "",
    suspended: false,
    tables: table(),
    queue: table(),
    down: table(),
    settings: table(),
  };
}

/**
 * Take an organization that was changed. It may have servers that are new, and lack some that were removed (RT-6).
 * @param {LabState} state
 * @param {Topology} topology
 */
export function reorganize(state, topology) {
  state.topology = topology;
  for (const name of Object.keys(state.servers).filter((server) => !topology.servers[server])) {
    delete own(state.gen, state, "servers")[name];
    const hierarchy = folderOf(state, HIERARCHY);
    hierarchy.replicas = hierarchy.replicas.filter((server) => server !== name);
  }
  for (const [name, { version }] of Object.entries(topology.servers)) {
    if (state.servers[name]) continue;
    own(state.gen, state, "servers")[name] = newServer(state.gen, name, version);
    const hierarchy = folderOf(state, HIERARCHY);
    hierarchy.replicas = [...hierarchy.replicas, name];
  }
  const names = new Set(topology.connectors.map((connector) => connector.name));
  for (const name of Object.keys(state.linksDown)) {
    if (!names.has(name)) delete own(state.gen, state, "linksDown")[name];
  }
}

/**
 * @param {LabState} state
 * @param {string} name
 * @returns {Server | undefined}
 */
export function serverOf(state, name) {
  return state.servers[name] && ownEntry(state.gen, own(state.gen, state, "servers"), name);
}

/**
 * @param {LabState} state
 * @param {Server} server
 * @param {string} folder
 * @returns {Table}
 */
export function tableOf(state, server, folder) {
  const tables = own(state.gen, server, "tables");
  const copy = ownEntry(state.gen, tables, folder);
  if (copy) return copy;
  return (tables[folder] = {
    gen: state.gen,
    numbers: numbers.NOTHING,
    rows: table(),
    entries: table(),
    items: table(),
    conflicts: [],
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
export function folderOf(state, id) {
  const folders = own(state.gen, state, "folders");
  const folder = ownEntry(state.gen, folders, id);
  if (folder) return folder;
  return (folders[id] = newFolder(state.gen, id, id, []));
}

/**
 * @param {LabState} state
 * @param {Table} at
 * @param {string} object
 * @param {string} number
 * @param {boolean} deleted
 */
export function show(state, at, object, number, deleted) {
  own(state.gen, at, "items")[object] = { gen: state.gen, number, deleted, conflict: [] };
  settle(at, object);
}

/**
 * An object is in no conflict any more, if it was in one.
 * @param {Table} at
 * @param {string} object
 */
export function settle(at, object) {
  if (at.conflicts.includes(object)) at.conflicts = at.conflicts.filter((other) => other !== object);
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
 * Return the path of a folder, or its id if no event has said it.
 * @param {LabState} state
 * @param {string} id
 * @param {string} [server] whose path is wanted, for an order to it: while a new name is on its way, servers have different ones
 */
export function folderName(state, id, server = "") {
  const folder = state.folders[id];
  if (!folder) return id;
  return (state.servers[server] && pathOn(state.servers[server], folder)) || folder.path;
}

/**
 * Return the path at which a server shows a folder; that of the organization's beginning if it has said nothing else.
 * @param {Server} server
 * @param {Folder} folder
 */
export const pathOn = (server, folder) => server.paths[folder.id] ?? folder.first;

/**
 * Return what a change changed: the subject of a message, or the path of a folder.
 * @param {LabState} state
 * @param {string} number
 */
export function changeSubject(state, number) {
  const change = state.changes.get(number);
  if (!change) return "";
  return change.subject || (change.kind === "folder" ? folderName(state, change.object) : "");
}
