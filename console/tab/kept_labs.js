/** The labs that this browser keeps: for each address the newest state of its lab, as the file that "Take this lab" downloads. */

/**
 * @typedef {object} KeptLab
 * @property {Uint8Array} content the lab as one file
 * @property {number} keptAt the real time, in milliseconds since 1970
 * @property {string} organization
 * @property {string} labTime as the lab writes an instant
 */

/** Sites at other addresses of the same host have other labs. */
const DATABASE = `pflab ${new URL("../../", import.meta.url).pathname}`;
const LABS = "labs";

/** Taken at once: the worker loses it when it has loaded Python (confinement.js). */
const { indexedDB } = self;

/** @returns {Promise<IDBDatabase>} */
function opened() {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(LABS);
  return resultOf(request);
}

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function resultOf(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * Return when a transaction has ended. It can fail after all its requests have succeeded, if the disk or the site's share is full.
 * @param {IDBTransaction} transaction
 */
function ended(transaction) {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error);
  });
}

/**
 * Do one thing with the kept labs.
 * @template T
 * @param {IDBTransactionMode} mode
 * @param {(labs: IDBObjectStore) => IDBRequest<T>} work
 * @returns {Promise<T>}
 */
async function withLabs(mode, work) {
  const database = await opened();
  try {
    const transaction = database.transaction(LABS, mode);
    const result = resultOf(work(transaction.objectStore(LABS)));
    await Promise.all([result, ended(transaction)]);
    return await result;
  } finally {
    database.close();
  }
}

/** Return the lab that is kept under a name. @param {string} name @returns {Promise<KeptLab | undefined>} */
export const keptLab = (name) => withLabs("readonly", (labs) => labs.get(name));

/** Keep a lab under a name, in place of the one before. @param {string} name @param {KeptLab} lab */
export const keepLab = (name, lab) => withLabs("readwrite", (labs) => labs.put(lab, name));
