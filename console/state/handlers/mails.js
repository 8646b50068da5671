/** Events of mails: their way from server to server, and the queues. */

import * as numbers from "../change_numbers.js";
import { ownBook } from "../kept_book.js";
import { own, ownEntry } from "../kept_tree.js";
import { isRequest } from "../mail_types.js";
import { HIERARCHY, serverOf, tableOf, storeOfAddress } from "../lab_state.js";

/**
 * @template {import("../events.js").LabEvent["type"]} T
 * @typedef {import("../events.js").EventOf<T>} EventOf
 */

/**
 * @typedef {import("../lab_state.js").Handlers} Handlers
 *
 * @typedef {EventOf<"mail.submitted" | "mail.received" | "mail.posted" | "mailbox.delivered">} WrittenEvent
 * @typedef {EventOf<"hop.sent" | "hop.received" | "hop.dropped" | "hop.expired" | "hop.deleted">} HopEvent
 * @typedef {WrittenEvent | HopEvent} MailEvent
 * @typedef {import("../lab_state.js").LabState} LabState
 * @typedef {import("../lab_state.js").Leg} Leg
 * @typedef {import("../lab_state.js").Mail} Mail
 * @typedef {import("../lab_state.js").Server} Server
 */

/** @type {Handlers} */
export const MAILS = {
  "mail.submitted": (state, event) => {
    const folders = mailFolders(event.folders);
    const to = event.recipients.map((address) => storeOfAddress(state, address));
    if (!event.mail) return;
    state.mails = ownBook(state.gen, state.mails);
    state.mails.set({
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
      sender: "",
      subject: "",
      returned: [],
      deleted: [],
    });
    enqueue(state, event);
    const server = serverOf(state, event.node);
    if (!server) return;
    for (const { folder, row } of folders) {
      if (!folder || server.tables[folder]?.dropped) continue;
      const at = tableOf(state, server, folder);
      at.sentAt = event.at;
      at.sent = row;
      at.numbers = numbers.union(at.numbers, row);
    }
  },
  "mail.received": (state, event) => {
    const mail = mailOf(state, event);
    if (mail) mail.received = [...mail.received, event.node];
    const server = serverOf(state, event.node);
    if (!server || isRequest(event.message_type)) return; // a request brings nothing, also to a store that lacks it too
    for (const { folder, cnset } of mailFolders(event.folders)) {
      if (cnset.size && holds(state, server, folder)) {
        const at = tableOf(state, server, folder);
        at.numbers = numbers.union(at.numbers, cnset);
      }
    }
  },
  "mail.posted": (state, event) => deliver(state, event, ""),
  "mail.not_posted": (state, event) => dequeue(state, { ...event, recipients: [event.recipient ?? ""] }),
  "mailbox.delivered": (state, event) => deliver(state, event, event.subject),
  "hop.sent": (state, event) => {
    dequeue(state, event);
    if (event.connector && state.linksDown[event.connector] !== undefined) {
      delete own(state.gen, state, "linksDown")[event.connector];
    }
    const mail = mailOf(state, event);
    if (event.connector) carry(state, event.connector, mail?.type, event.size);
    if (!mail) return;
    // The receiver's hop.received can come first: both ends record the same hop.
    const index = mail.legs.findIndex((hop) => hop.to === event.next_hop && hop.sentAt < 0);
    /** @type {Leg} */
    const before = index >= 0 ? mail.legs[index] : newLeg(event.node, event.next_hop);
    const leg = {
      ...before,
      from: event.node,
      sentAt: event.begun_at ?? event.at,
      why: before.why || (event.connector ?? ""),
    };
    mail.legs = index >= 0 ? mail.legs.with(index, leg) : [...mail.legs, leg];
  },
  "hop.received": (state, event) => {
    // From a foreign relay, the peer is not the server at the beginning of the leg.
    endLeg(state, event, event.authenticated === false ? "" : event.peer, "arrived", "");
    const mail = mailOf(state, event);
    if (mail && !mail.sender) Object.assign(mail, { sender: event.sender ?? "", subject: event.subject ?? "" });
    const onward = event.recipients.filter((address) => storeOfAddress(state, address) !== event.node);
    if (onward.length) enqueue(state, { ...event, recipients: onward });
  },
  "hop.dropped": (state, event) => endLeg(state, event, "", "lost", `fault ${event.fault}`),
  "hop.failed": (state, event) => {
    const server = serverOf(state, event.node);
    const queued = server && event.mail && ownEntry(state.gen, own(state.gen, server, "queue"), event.mail);
    if (!queued) return;
    queued.failures += 1;
    queued.retryAt = event.retry_at;
    queued.reason = event.reason;
  },
  "hop.expired": (state, event) => {
    dequeue(state, event);
    const mail = mailOf(state, event);
    if (mail) mail.returned = [...mail.returned, ...event.recipients];
  },
  "hop.deleted": (state, event) => {
    dequeue(state, event);
    const mail = mailOf(state, event);
    if (mail) mail.deleted = [...mail.deleted, ...event.recipients];
  },
};

/**
 * A server has put a mail into a mailbox or a folder.
 * @param {LabState} state
 * @param {EventOf<"mail.posted" | "mailbox.delivered">} event
 * @param {string} subject
 */
function deliver(state, event, subject) {
  const mail = mailOf(state, event);
  if (!mail) return;
  dequeue(state, { ...event, recipients: addressesOf(event) });
  mail.received = [...mail.received, event.node];
  mail.sender ||= event.sender;
  mail.subject ||= subject;
}

/**
 * Remove the recipients of an event from the queue of its server.
 * @param {LabState} state
 * @param {{node: string, mail?: string | null, recipients: readonly string[]}} event
 */
function dequeue(state, event) {
  const server = serverOf(state, event.node);
  if (!server || !event.mail) return;
  const queue = own(state.gen, server, "queue");
  const queued = ownEntry(state.gen, queue, event.mail);
  if (!queued) return;
  queued.recipients = queued.recipients.filter((address) => !event.recipients.includes(address));
  if (queued.recipients.length === 0) delete queue[event.mail];
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
 * @param {readonly import("../events.js").MailFolder[]} folders
 * @returns {Mail["folders"]}
 */
export function mailFolders(folders) {
  return folders.map(({ folder, cnset, cnset_fai, row, row_fai, updates }) => ({
    folder,
    cnset: numbers.union(numbers.parse(cnset), numbers.parse(cnset_fai)),
    row: numbers.union(numbers.parse(row), numbers.parse(row_fai)),
    updates,
  }));
}

/**
 * Return the mail of an event, for changing. A mail that no store submitted is ordinary mail; its recipients are those that any
 * event names.
 * @param {LabState} state
 * @param {MailEvent} event
 * @returns {Mail | undefined}
 */
function mailOf(state, event) {
  if (!event.mail) return undefined;
  state.mails = ownBook(state.gen, state.mails);
  const before = state.mails.get(event.mail);
  const to = addressesOf(event).map((address) => storeOfAddress(state, address));
  /** @type {Mail} */
  const mail = before
    ? before.gen === state.gen
      ? before
      : { ...before, gen: state.gen }
    : {
        gen: state.gen,
        id: event.mail,
        type: undefined,
        from: "peer" in event ? event.peer : event.node,
        to: [],
        folders: [],
        marks: [],
        size: "size" in event ? event.size : 0,
        at: event.at,
        legs: [],
        received: [],
        sender: "",
        subject: "",
        returned: [],
        deleted: [],
      };
  if (mail !== before) state.mails.set(mail);
  if (mail.type === undefined) mail.to = [...mail.to, ...to.filter((name) => !mail.to.includes(name))];
  return mail;
}

/** @param {MailEvent} event @returns {readonly string[]} */
function addressesOf(event) {
  if ("recipient" in event) return [event.recipient ?? ""].filter(Boolean);
  return "recipients" in event ? event.recipients : [];
}

/**
 * @param {LabState} state
 * @param {MailEvent & {recipients: readonly string[]}} event
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
 * Count a mail that has crossed a connector.
 * @param {LabState} state
 * @param {string} connector
 * @param {number | undefined} type of the mail
 * @param {number} size
 */
function carry(state, connector, type, size) {
  const key = `${type ?? ""}`;
  const before = state.carried[connector]?.[key] ?? { mails: 0, bytes: 0 };
  const sums = { ...state.carried[connector], [key]: { mails: before.mails + 1, bytes: before.bytes + size } };
  own(state.gen, state, "carried")[connector] = sums;
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
 * @param {EventOf<"hop.received"> | EventOf<"hop.dropped">} event
 * @param {string} peer
 * @param {Leg["outcome"]} outcome
 * @param {string} why
 */
function endLeg(state, event, peer, outcome, why) {
  const mail = mailOf(state, event);
  if (!mail) return;
  const index = mail.legs.findIndex(
    (hop) => hop.to === event.node && hop.outcome === "on its way" && (!peer || hop.from === peer),
  );
  const before = index >= 0 ? mail.legs[index] : newLeg(peer, event.node);
  const leg = { ...before, arrivedAt: event.at, outcome, why: why || before.why };
  mail.legs = index >= 0 ? mail.legs.with(index, leg) : [...mail.legs, leg];
}
