/** What a connector has carried hour by hour, from the events of the history. */

import { HOUR_US } from "./lab_time.js";

/**
 * @typedef {import("./lab_state.js").Carried} Carried
 * @typedef {import("./lab_state.js").LabState} LabState
 * @typedef {import("./lab_time.js").LabTime} LabTime
 *
 * @typedef {object} Hour
 * @property {LabTime} at its beginning
 * @property {number} bytes of all mails
 * @property {Map<number | undefined, Carried>} types by the number of the type of mail; undefined is ordinary mail
 */

/**
 * Return what a connector has carried in the last hours up to a state, the present hour last.
 * @param {import("./log.js").Entries<import("./events.js").LabEvent>} events of the history that the state belongs to
 * @param {LabState} state
 * @param {LabTime} now the lab time, which can be later than that of the state's last event
 * @param {string} connector
 * @param {number} count of hours
 * @returns {Hour[]}
 */
export function hourlyTraffic(events, state, now, connector, count) {
  const firstAt = (Math.floor(now / HOUR_US) - count + 1) * HOUR_US;
  /** @type {Hour[]} */
  const hours = Array.from({ length: count }, (_, place) => ({
    at: firstAt + place * HOUR_US,
    bytes: 0,
    types: new Map(),
  }));
  for (let index = state.count - 1; index >= 0; index--) {
    const event = events.at(index);
    if (!event || event.at < firstAt) break;
    if (event.type !== "hop.sent" || event.connector !== connector) continue;
    const hour = hours[Math.floor((event.at - firstAt) / HOUR_US)];
    const type = event.mail ? state.mails.get(event.mail)?.type : undefined;
    const { mails, bytes } = hour.types.get(type) ?? { mails: 0, bytes: 0 };
    hour.types.set(type, { mails: mails + 1, bytes: bytes + event.size });
    hour.bytes += event.size;
  }
  return hours;
}
