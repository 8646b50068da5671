/** What an order would lose, said before it is given. Pure functions of the state. */

import * as numbers from "./change_numbers.js";
import { folderName } from "./lab_state.js";
import { heldFolders } from "./summary.js";

/**
 * @typedef {import("./lab_state.js").LabState} LabState
 */

/** The most folders that are named. */
const MOST = 4;

/**
 * Return the changes that no other server has, by the path of their folder.
 * @param {LabState} state
 * @param {string} server
 * @returns {{folder: string, count: number}[]}
 */
export function onlyHere(state, server) {
  const others = Object.values(state.servers).filter(({ name, status }) => name !== server && status !== "deleted");
  const folders = heldFolders(state, server).map((folder) => {
    const own = state.servers[server].tables[folder]?.numbers ?? numbers.NOTHING;
    const alone = others.reduce(
      (set, { tables }) => numbers.minus(set, tables[folder]?.numbers ?? numbers.NOTHING),
      own,
    );
    return { folder: folderName(state, folder), count: numbers.count(alone) };
  });
  return folders.filter(({ count }) => count > 0);
}

/** Return what the deletion of a store loses, in words. @param {LabState} state @param {string} server */
export function storeLoss(state, server) {
  const alone = onlyHere(state, server);
  if (alone.length === 0) return `Other servers have all changes of ${server}.`;
  const named = alone.slice(0, MOST).map(({ folder, count }) => `${changes(count)} of ${folder}`);
  if (alone.length > MOST) named.push(`those of ${alone.length - MOST} more folders`);
  return `No other server has ${named.join(", ")}: they are lost for good.`;
}

/**
 * Return what the deletion of mails loses, in words.
 * @param {LabState} state
 * @param {readonly string[]} mails their Message-IDs
 */
export function mailLoss(state, mails) {
  const people = mails.filter((id) => state.mails.get(id)?.type === undefined).length;
  const stores = mails.length - people;
  return [
    `${mailsWords(mails.length)} will be deleted, and nobody gets a notice.`,
    people > 0 && `${mailsWords(people)} of people never arrive${people === 1 ? "s" : ""}.`,
    stores > 0 &&
      `What ${mailsWords(stores)} of replication would bring comes later by backfill, if a server still has it.`,
  ]
    .filter(Boolean)
    .join(" ");
}

/** @param {number} count */
const changes = (count) => `${count.toLocaleString("en")} ${count === 1 ? "change" : "changes"}`;

/** @param {number} count */
const mailsWords = (count) => `${count.toLocaleString("en")} ${count === 1 ? "mail" : "mails"}`;
