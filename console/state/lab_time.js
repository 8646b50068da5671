/**
 * Lab time: whole microseconds since 1970, in UTC. A number holds them exactly until the year 2255.
 *
 * @typedef {number} LabTime
 */

export const SECOND_US = 1_000_000;
export const MINUTE_US = 60 * SECOND_US;
export const HOUR_US = 60 * MINUTE_US;
export const DAY_US = 24 * HOUR_US;

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** @param {number} value */
const two = (value) => String(value).padStart(2, "0");

/**
 * Return an instant as `Wed 22 Oct 2003 00:15:00`, in UTC.
 * @param {LabTime} at
 */
export function fullInstant(at) {
  const date = new Date(at / 1000);
  const day = `${DAYS[date.getUTCDay()]} ${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
  return `${day} ${clockTime(at)}`;
}

/**
 * Return the time of day, `00:15:00`.
 * @param {LabTime} at
 */
export function clockTime(at) {
  const date = new Date(at / 1000);
  return `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`;
}

/**
 * Return an instant as `22 Oct 00:15`, with seconds if it has any.
 * @param {LabTime} at
 */
export function shortInstant(at) {
  const date = new Date(at / 1000);
  const time = date.getUTCSeconds() ? clockTime(at) : clockTime(at).slice(0, 5);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${time}`;
}

/**
 * Return an instant as the API writes it, `2003-10-22T00:15:00.000Z`, with microseconds if it has any.
 * @param {LabTime} at
 */
export function isoInstant(at) {
  const atMs = Math.floor(at / 1000);
  const microseconds = at - atMs * 1000;
  return new Date(atMs).toISOString().replace("Z", `${microseconds ? String(microseconds).padStart(3, "0") : ""}Z`);
}

/**
 * Read an instant as the API writes it; null if it is not one.
 * @param {string} text
 * @returns {LabTime | null}
 */
export function parseInstant(text) {
  const atMs = Date.parse(text.replace(/\.(\d{3})\d*/, ".$1"));
  const [, microseconds = ""] = /\.\d{3}(\d{1,3})/.exec(text) ?? [];
  return Number.isNaN(atMs) ? null : atMs * 1000 + Number(microseconds.padEnd(3, "0"));
}

/**
 * Return a duration in its two largest units: `6 h`, `23 h 59 min`, `1 d 12 h`, `1.5 s`, `80 ms`.
 * @param {number} spanUs
 * @returns {string}
 */
export function duration(spanUs) {
  if (spanUs < 0) return `-${duration(-spanUs)}`;
  if (spanUs < SECOND_US) return `${Math.round(spanUs / 1000)} ms`;
  if (spanUs < MINUTE_US) return `${Math.round(spanUs / (SECOND_US / 10)) / 10} s`;
  const seconds = Math.round(spanUs / SECOND_US);
  /** @type {[number, string][]} */
  const parts = [
    [Math.floor(seconds / 86400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ];
  const first = parts.findIndex(([value]) => value > 0);
  return parts
    .slice(first, first + 2)
    .filter(([value]) => value > 0)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(" ");
}

/**
 * Return how long ago or how far ahead an instant is: `just now`, `6 h ago`, `in 15 min`.
 * @param {LabTime} at
 * @param {LabTime} now
 */
export function relative(at, now) {
  const span = at - now;
  if (Math.abs(span) < 5 * SECOND_US) return "just now";
  return span < 0 ? `${duration(-span)} ago` : `in ${duration(span)}`;
}
