/**
 * Lets the service worker give this page its files: then the lab needs no network, all its files are of one version, and the policy
 * binds its workers too (service_worker.js).
 *
 * A page that came from the network waits until the service worker has all files, and loads itself again. Where there are no service
 * workers (a private window, another host without HTTPS), or they cannot keep the files, it goes on with files from the network.
 */

/** @typedef {{kept: number}} Progress How much of the files the service worker has, from 0 to 1. */

/** Says that this tab has loaded the page again: so it does that once at most. */
const LOADED = "pflab loaded again";

/**
 * Return when this page may start its lab.
 * @param {(kept: number) => void} tell gets how much of the files is kept, from 0 to 1
 */
export async function filesReady(tell) {
  const registration = registered(tell);
  if (navigator.serviceWorker?.controller) {
    sessionStorage.removeItem(LOADED);
    return;
  }
  const worker = await registration;
  if (!worker || !(await isActivated(worker)) || sessionStorage.getItem(LOADED)) return;
  sessionStorage.setItem(LOADED, "yes");
  location.reload();
  await new Promise(() => undefined); // the page ends
}

/** Return the service worker, which may not work yet; null if this browser has none. @param {(kept: number) => void} tell */
async function registered(tell) {
  try {
    navigator.serviceWorker.onmessage = (/** @type {MessageEvent<Progress>} */ { data }) => tell(data.kept);
    const registration = await navigator.serviceWorker.register(new URL("../../service_worker.js", import.meta.url));
    return registration.active ?? registration.waiting ?? registration.installing;
  } catch {
    return null;
  }
}

/** Return whether a service worker works, when that is certain. @param {ServiceWorker} worker @returns {Promise<boolean>} */
function isActivated(worker) {
  return new Promise((resolve) => {
    const look = () => {
      if (worker.state === "activated") resolve(true);
      else if (worker.state === "redundant") resolve(false);
    };
    worker.onstatechange = look;
    look();
  });
}
