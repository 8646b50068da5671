/** The paths of the HTTP API of a lab, below the lab's base path (`LiveSource.base`). No other module writes a path. */

const part = encodeURIComponent;

/** @param {Record<string, string | number>} values */
const query = (values) =>
  `?${Object.entries(values)
    .map(([name, value]) => `${name}=${part(value)}`)
    .join("&")}`;

export const LAB = {
  state: "/lab",
  topology: "/lab/topology",
  sites: "/lab/sites",
  servers: "/lab/servers",
  connectors: "/lab/connectors",
  policy: "/lab/recipient-policy",
  policies: "/lab/recipient-policies",
  checkpoint: "/lab/checkpoint",
  /** The run as a file; with the presenter's notes, if a lesson is played and they are wanted. @param {boolean} notes */
  replay: (notes) => `/lab/replay${notes ? query({ notes: "true" }) : ""}`,
  saved: "/lab/saved",
  file: "/lab/file",
  forecast: "/lab/forecast",
};

/**
 * Return the paths of a saved lab.
 * @param {string} name
 */
export function savedLab(name) {
  const path = `${LAB.saved}/${part(name)}`;
  return { itself: path, reset: `${path}/reset` };
}

/** @param {string} name */
export const site = (name) => `${LAB.sites}/${part(name)}`;

/** A server itself. @param {string} name */
export const serverItself = (name) => `${LAB.servers}/${part(name)}`;

/** @param {string} name */
export const connector = (name) => `${LAB.connectors}/${part(name)}`;

/** @param {string} name */
export const policy = (name) => `${LAB.policies}/${part(name)}`;

export const CLOCK = {
  now: "/lab/clock",
  rate: "/lab/clock/rate",
  step: "/lab/clock/step",
  advance: "/lab/clock/advance",
  until: "/lab/clock/until",
};

export const FAULTS = { all: "/lab/faults", kinds: "/lab/faults/kinds", waiting: "/lab/faults/waiting" };

/** @param {string} id */
export const fault = (id) => `${FAULTS.all}/${part(id)}`;

/** All lessons of the server, of which each runs in a lab of its own, at the address itself. */
export const LESSONS = "/lessons";

/** The lesson whose lab this is. */
export const LESSON = { state: "/lesson", next: "/next", again: "/again" };

/** The class that a server serves. */
export const ROOM = {
  seen: "/room",
  stream: "/room/stream",
  pupils: "/room/pupils",
  votes: "/room/votes",
  lab: "/room/lab",
  forks: "/room/forks",
  lesson: "/room/lesson",
  next: "/room/next",
  again: "/room/again",
  tally: "/room/tally",
  invitation: "/room/invitation",
  window: "/room/window",
  projected: "/room/projected",
  /** @param {string} id */
  pupil: (id) => `/room/pupils/${part(id)}`,
};

/**
 * Return the path of the events after so many.
 * @param {string} history
 * @param {number} after
 * @param {number} limit
 */
export const events = (history, after, limit) => `/lab/events${query({ words: "true", history, after, limit })}`;

/**
 * Return the path of the stream of new events of several labs.
 * @param {string[]} places each as NUMBER@HISTORY@PATH
 */
export const streamOf = (...places) => `/labs/stream?${places.map((place) => `lab=${part(place)}`).join("&")}`;

/**
 * Return the paths of a mail.
 * @param {string} id the Message-ID
 */
export function mail(id) {
  const path = `/lab/mails/${part(id)}`;
  return { raw: path, decoded: `${path}/decoded`, waiting: `${path}/waiting`, release: `${path}/release` };
}

/**
 * Return the path of an order of the lab to a server.
 * @param {string} name
 * @param {"start" | "stop" | "kill" | "backup" | "restore" | "delete" | "create"} order
 */
export const server = (name, order) => `/lab/servers/${part(name)}/${order}`;

/**
 * Return the paths of a running server's own API.
 * @param {string} name
 */
export function node(name) {
  const path = `/nodes/${part(name)}`;
  return {
    folders: `${path}/folders`,
    queue: `${path}/queue`,
    frozenQueues: `${path}/frozen-queues`,
    mailbox: `${path}/mailbox`,
    retained: `${path}/retained`,
    settings: `${path}/settings`,
    settingDetails: `${path}/settings/details`,
    messages: `${path}/messages`,
    send: `${path}/send`,
    synchronize: `${path}/synchronize`,
    replicas: `${path}/replicas`,
    directory: `${path}/directory`,
    instances: `${path}/instances`,
    propagate: `${path}/propagate`,
    /** @param {string} folder */
    folder: (folder) => `${path}/folders/${part(folder)}`,
    /** @param {string} folder */
    recoverFolder: (folder) => `${path}/folders/${part(folder)}/recover`,
    /** @param {number} limit */
    log: (limit) => `${path}/log${query({ limit })}`,
    /** @param {string} folder */
    messagesOf: (folder) => `${path}/messages${query({ folder })}`,
    /** @param {string} message an id */
    versions: (message) => `${path}/versions${query({ message })}`,
    /** The status of all folders, or of one. @param {string} [folder] */
    replicationStatus: (folder) => `${path}/replication-status${folder ? query({ folder }) : ""}`,
  };
}

/**
 * Return the paths of a message on a server.
 * @param {string} name the server
 * @param {string} folder a path
 * @param {string} id
 */
export function message(name, folder, id) {
  const path = `/nodes/${part(name)}/messages/${part(id)}`;
  const inFolder = query({ folder });
  return {
    itself: `${path}${inFolder}`,
    mail: `${path}/mail${inFolder}`,
    recover: `${path}/recover${inFolder}`,
    resolve: `${path}/resolve${inFolder}`,
    /** @param {number} index */
    attachment: (index) => `${path}/attachments/${index}${inFolder}`,
  };
}
