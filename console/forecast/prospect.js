/**
 * Until when a replica lacks a change: why it lacks it, and what is expected to happen until it has it, in words.
 *
 * Example: the copy for B was lost.
 *
 *     B lacks A-1: the copy from A to B was lost.
 *     Expected: A's status tells B at 22 Oct 00:15; B asks A at 22 Oct 06:15; B has it at 22 Oct 06:15.
 */

import * as numbers from "../state/change_numbers.js";
import { splitNumber, storeOfAddress } from "../state/lab_state.js";
import { shortInstant } from "../state/lab_time.js";
import { isRequest, mailTypeName } from "../state/mail_types.js";
import { entryFor } from "../state/posts.js";

/**
 * @typedef {import("../state/lab_state.js").LabState} LabState
 * @typedef {import("../state/lab_state.js").Mail} Mail
 * @typedef {import("../state/lab_time.js").LabTime} LabTime
 * @typedef {import("./future.js").Future} Future
 *
 * @typedef {object} Lack A change that a replica lacks.
 * @property {string} server
 * @property {string} folder
 * @property {string} number as traces write it
 *
 * @typedef {object} Hop
 * @property {string} mail
 * @property {string} from
 * @property {string} to
 * @property {LabTime} at
 *
 * @typedef {object} Prospect
 * @property {string} why what keeps the change away now
 * @property {string[]} steps what is expected until the change comes, in the order of time
 * @property {LabTime | null} at when the change comes; null if not within the forecast
 * @property {Hop | null} hop the first hop of a mail that is expected to bring it
 */

/** The most steps that are told; a mail can be tried again many times. */
const MOST_STEPS = 8;

/**
 * Return why a replica lacks a change now, in the words of one clause.
 * @param {LabState} state
 * @param {Lack} lack
 */
export function whyLacks(state, { server, folder, number }) {
  const { status } = state.servers[server];
  if (status !== "running") return `${server} is ${status}`;
  const carriers = state.mails.values().filter((mail) => mail.to.includes(server) && brings(mail, folder, number));
  for (const mail of carriers) {
    for (const { name, queue } of Object.values(state.servers)) {
      const forServer = queue[mail.id]?.recipients.some((recipient) => storeOfAddress(state, recipient) === server);
      if (forServer) return `the ${mailTypeName(mail.type)} mail with it waits on ${name}`;
    }
  }
  const entry = entryFor(state, server, folder, number);
  const request = entry?.requests.at(-1);
  if (request) return `${server} has asked ${request.source} at ${shortInstant(request.at)}`;
  const knowledge = entry ? `${server} has known since ${shortInstant(entry.madeAt)}` : "";
  const lost = carriers.findLast((mail) => !mail.received.includes(server) && mail.legs.some(isLost));
  const leg = lost?.legs.find(isLost);
  if (leg)
    return `the copy was lost between ${leg.from || "its sender"} and ${leg.to}${knowledge && `, and ${knowledge}`}`;
  if (knowledge) return knowledge;
  const maker = state.changes.get(number)?.node;
  const isSent = carriers.length || state.mails.values().some((mail) => brings(mail, folder, number));
  if (!isSent && maker) return `${maker} has not sent it yet`;
  return `${server} does not know of it`;
}

/** @param {import("../state/lab_state.js").Leg} leg */
const isLost = (leg) => leg.outcome === "lost";

/**
 * @param {Mail} mail
 * @param {string} folder
 * @param {string} number
 */
function brings(mail, folder, number) {
  const [guid, counter] = splitNumber(number);
  return (
    !isRequest(mail.type) &&
    mail.folders.some((claim) => claim.folder === folder && numbers.has(claim.cnset, guid, counter))
  );
}

/**
 * Return why a replica lacks a change, and what is expected until it has it.
 * @param {LabState} state the present
 * @param {Future} future
 * @param {Lack} lack
 * @returns {Prospect}
 */
export function prospectOf(state, future, lack) {
  const { server, folder, number } = lack;
  const [guid, counter] = splitNumber(number);
  const at = future.arrivalOf(server, folder, guid, counter);
  const names = (/** @type {string} */ set) => numbers.has(numbers.parse(set), guid, counter);
  /** @type {Set<string>} the mails that bring the change to the server */
  const carriers = new Set(
    state.mails
      .values()
      .filter((mail) => mail.to.includes(server) && !mail.received.includes(server) && brings(mail, folder, number))
      .map(({ id }) => id),
  );
  /** @type {Set<number>} the entries of the server for the change */
  const entries = new Set();
  const entry = entryFor(state, server, folder, number);
  if (entry) entries.add(entry.id);
  /** @type {string[]} */
  const steps = [];
  /** @type {Hop | null} */
  let hop = null;
  /** @type {string} where the mail is that brings the change, if it is on a line */
  let crosses = "";
  let lastMail = "";
  const say = (/** @type {string} */ words, /** @type {LabTime} */ when) => {
    const step = `${words} at ${shortInstant(when)}`;
    if (steps.at(-1) !== step && steps.length < MOST_STEPS) steps.push(step);
  };
  for (const event of /** @type {any[]} */ (future.events)) {
    if (at !== null && event.at > at) break;
    const own = event.node === server;
    switch (event.type) {
      case "mail.submitted": {
        const bringing = event.folders.some(
          (/** @type {any} */ claim) => claim.folder === folder && (names(claim.cnset) || names(claim.cnset_fai)),
        );
        if (isRequest(event.message_type) || !bringing) break;
        const to = event.recipients.map((/** @type {string} */ address) => storeOfAddress(state, address));
        if (!to.includes(server)) break;
        carriers.add(event.mail);
        if (!entries.size) say(`${event.node} sends it`, event.at);
        break;
      }
      case "mail.received":
        if (own) lastMail = `${event.sender}'s ${mailTypeName(event.message_type)}`;
        break;
      case "hop.sent":
        // What was already waiting leaves; and a line that takes its time, or opens late, is a step too.
        if (!carriers.has(event.mail) || !forServer(state, event.recipients, server)) break;
        hop ??= { mail: event.mail, from: event.node, to: event.next_hop, at: event.begun_at ?? event.at };
        if (isUnderWay(future, event)) {
          crosses ||= `the mail with it is on its way from ${event.node} to ${event.next_hop}`;
          if (event.next_hop !== server) say(`the mail reaches ${event.next_hop}`, event.at);
        } else if (state.mails.get(event.mail) || (event.begun_at ?? event.at) < event.at)
          say(`the mail leaves ${event.node}`, event.begun_at ?? event.at);
        break;
      case "hop.failed":
        if (carriers.has(event.mail)) say(`the mail fails between ${event.node} and ${event.next_hop}`, event.at);
        break;
      case "hop.dropped":
        if (carriers.has(event.mail) && forServer(state, event.recipients, server)) say("the mail is lost", event.at);
        break;
      case "entry.made":
        if (!own || event.folder !== folder || !(names(event.cnset) || names(event.cnset_fai))) break;
        entries.add(event.entry);
        if (!event.parent) say(`${lastMail || "a mail"} tells ${server}`, event.at);
        break;
      case "request.sent":
        if (own && event.folder === folder && entries.has(event.entry)) say(`${server} asks ${event.source}`, event.at);
        break;
    }
  }
  if (at !== null) steps.push(`${server} has it at ${shortInstant(at)}`);
  return { why: crosses || whyLacks(state, lack), steps, at, hop };
}

/**
 * @param {LabState} state
 * @param {readonly string[]} addresses
 * @param {string} server
 */
function forServer(state, addresses, server) {
  return addresses.some((address) => storeOfAddress(state, address) === server);
}

/**
 * Return what is expected of a mail that waits on a server: when it leaves, when it arrives.
 * @param {Future} future
 * @param {string} mail
 * @param {string} server on which it waits
 * @param {string} nextHop
 * @returns {string}
 */
export function prospectOfMail(future, mail, server, nextHop) {
  /** @type {string[]} */
  const steps = [];
  for (const event of /** @type {any[]} */ (future.events)) {
    if (event.mail !== mail) continue;
    if (event.type === "hop.failed" && event.node === server && event.next_hop === nextHop) {
      if (steps.length === 0) steps.push(`the attempt at ${shortInstant(event.at)} fails`);
    } else if (event.type === "hop.sent" && event.node === server && event.next_hop === nextHop) {
      const begunAt = event.begun_at ?? event.at;
      const over = event.connector ? ` over ${event.connector}` : "";
      const when = shortInstant(begunAt);
      steps.push(isUnderWay(future, event) ? `on its way${over} since ${when}` : `leaves ${server} at ${when}${over}`);
      steps.push(arrivalWords(future, mail, nextHop, event.at));
      return steps.join(", ");
    } else if (event.type === "hop.expired" && event.node === server) {
      steps.push(`expires at ${shortInstant(event.at)}`);
      return steps.join(", ");
    }
  }
  steps.push(`still waits on ${server} at ${shortInstant(future.until)}`);
  return steps.join(", ");
}

/**
 * Return whether a hop has begun, and the lab has not told of it, because it has not ended.
 * @param {Future} future
 * @param {any} hop its event
 */
function isUnderWay(future, { begun_at: begunAt, at }) {
  return begunAt !== undefined && begunAt <= future.from && future.from < at;
}

/** @param {Future} future @param {string} mail @param {string} server @param {LabTime} at */
function arrivalWords(future, mail, server, at) {
  const lost = future.events.find(
    (event) => event.mail === mail && event.node === server && event.type === "hop.dropped",
  );
  return lost ? `is lost at ${shortInstant(lost.at)}` : `arrives at ${server} at ${shortInstant(at)}`;
}
