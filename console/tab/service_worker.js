/**
 * The service worker of the lab. It keeps all files of one version, and gives the lab's pages and workers these files and nothing
 * else, so that they need no network and never get files of two versions.
 *
 * The build writes this file as `lab/service_worker.js`, after a first line that sets `CONTENT` (docs/lab_site/site.py).
 * So each version of the lab has another service worker, and the browser handles the change: the new one keeps its files while
 * the old one works, and takes over when the last page and the last worker of the old one have gone.
 *
 * What must never happen: a file whose SHA-256 is not that of the list is kept, or a file is given that is not kept.
 */

/**
 * @typedef {object} Content What `lab/content.json` has, and the policy.
 * @property {string} version
 * @property {string} policy the Content-Security-Policy of the page
 * @property {Record<string, {bytes: number, sha256: string}>} files
 *
 * @typedef {Event & {waitUntil: (work: Promise<unknown>) => void}} LifeEvent
 * @typedef {Event & {request: Request, respondWith: (answer: Promise<Response>) => void}} FetchEvent
 *
 * @typedef {object} Scope What TypeScript's library for pages does not have of a service worker.
 * @property {Content} CONTENT
 * @property {ServiceWorkerRegistration} registration
 * @property {{matchAll: (which: {includeUncontrolled: boolean}) =>
 *   Promise<{postMessage: (message: import("./offline.js").Progress) => void}[]>}} clients
 * @property {(kind: string, listener: (event: any) => void) => void} addEventListener
 */

const scope = /** @type {Scope} */ (/** @type {unknown} */ (self));
const { version, policy, files } = scope.CONTENT;

/** The address of the lab: all its files are below it. */
const ADDRESS = scope.registration.scope;
const PAGE = "index.html";

/** The caches of all versions at this address begin so. Other addresses of the same host have other caches. */
const CACHES = `pflab ${ADDRESS} `;
const CACHE = CACHES + version;

/** A policy cannot have these characters in an address. */
const SEPARATORS = /[;,]/g;

const HEADERS = {
  // The policy in the page does not bind workers, and 'self' would be the whole host.
  "Content-Security-Policy": policy.replaceAll("'self'", ADDRESS.replace(SEPARATORS, encodeURIComponent)),
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

/** @param {string} name */
const addressOf = (name) => new URL(name, ADDRESS).href;

/** Keep all files, or none. */
async function keepAll() {
  const names = Object.keys(files).sort((a, b) => files[b].bytes - files[a].bytes);
  const total = names.reduce((sum, name) => sum + files[name].bytes, 0);
  const pages = await scope.clients.matchAll({ includeUncontrolled: true });
  const cache = await caches.open(CACHE);
  let bytes = 0;
  const keep = async (/** @type {string} */ name) => {
    await cache.put(addressOf(name), await fetched(name));
    bytes += files[name].bytes;
    for (const page of pages) page.postMessage({ kept: bytes / total });
  };
  try {
    await Promise.all(names.map(keep));
  } catch (error) {
    await caches.delete(CACHE);
    throw error;
  }
}

/** Return a file from the network, as it is kept. @param {string} name */
async function fetched(name) {
  const answer = await fetch(addressOf(name), { cache: "no-cache" });
  if (!answer.ok) throw new Error(`the site does not give ${name} (${answer.status})`);
  const content = await answer.arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
  if (Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("") !== files[name].sha256) {
    throw new Error(`${name} is not that of version ${version}`);
  }
  const kind = answer.headers.get("Content-Type") ?? "application/octet-stream";
  return new Response(content, { headers: { ...HEADERS, "Content-Type": kind } });
}

/** Remove the files of earlier versions. */
async function removeEarlier() {
  const earlier = (await caches.keys()).filter((name) => name.startsWith(CACHES) && name !== CACHE);
  if (scope.registration.installing) return; // one of them is that of a later version
  await Promise.all(earlier.map((name) => caches.delete(name)));
}

/** Return what a page or a worker gets. @param {Request} request */
async function answerTo({ url }) {
  const { origin, pathname } = new URL(url);
  const address = origin + pathname;
  const name = address.startsWith(ADDRESS) ? address.slice(ADDRESS.length) || PAGE : null;
  if (name === null || !Object.hasOwn(files, name)) return new Response(null, { status: 404, headers: HEADERS });
  const cache = await caches.open(CACHE);
  const kept = await cache.match(addressOf(name));
  if (kept) return kept;
  try {
    const answer = await fetched(name); // somebody has removed it: a tool of the browser, another page of this host
    await cache.put(addressOf(name), answer.clone());
    return answer;
  } catch {
    return Response.error();
  }
}

scope.addEventListener("install", (/** @type {LifeEvent} */ event) => event.waitUntil(keepAll()));
scope.addEventListener("activate", (/** @type {LifeEvent} */ event) => event.waitUntil(removeEarlier()));
scope.addEventListener("fetch", (/** @type {FetchEvent} */ event) => event.respondWith(answerTo(event.request)));
