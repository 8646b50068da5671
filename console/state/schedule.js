/**
 * Replication schedules as texts and as a grid of the week (spec: OUT-1). Pure functions.
 *
 * The grid has 672 quarter hours in UTC; 0 is Sunday 00:00. `scheduleText` writes a grid as the API does.
 *
 *     "Mon-Fri 20:00-06:00"      five spans of 40 quarter hours, the first one at Monday 20:00
 *     "every 4 h"                the quarter hours at 00:00, 04:00, ... of each day
 *     "always", "never"          no grid
 */

export const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
export const SLOTS_AN_HOUR = 4;
export const SLOTS_A_DAY = 24 * SLOTS_AN_HOUR;
export const SLOTS_A_WEEK = 7 * SLOTS_A_DAY;

const DAY_NAMES = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const EVERY = /^every\s+(?:([124])\s*)?(?:h|hours?)$/i;
const ENTRY = /^\s*([a-z][a-z,\s-]*?)?\s*(\d.*?)?\s*$/i;
const TIMES = /^(\d{1,2}):(\d{2})(?:\s*-\s*(\d{1,2}):(\d{2}))?$/;

/** @typedef {"default" | "always" | "never" | "every 1 h" | "every 2 h" | "every 4 h" | "custom"} Word */

/**
 * The choices of a schedule in the words of the tool that administers a server of a version.
 * @type {Record<string, Partial<Record<Word, string>>>}
 */
const WORDS = {
  5.5: { default: "Use information store schedule", always: "Always", never: "Never", custom: "Selected times" },
  2000: {
    default: "Use default schedule",
    always: "Always run",
    never: "Never run",
    "every 1 h": "Run every hour",
    "every 2 h": "Run every 2 hours",
    "every 4 h": "Run every 4 hours",
    custom: "Use custom schedule",
  },
  2007: {
    default: "Use public folder database replication schedule",
    always: "Always Run",
    never: "Never Run",
    "every 1 h": "Run every hour",
    "every 2 h": "Run every 2 hours",
    "every 4 h": "Run every 4 hours",
    custom: "Use Custom Schedule",
  },
};

/**
 * Return the choices for a schedule, each with the words of the version.
 * @param {string} version
 * @param {boolean} inherits whether there is a default: a folder uses the schedule of its store
 * @returns {[Word, string][]}
 */
export function scheduleChoices(version, inherits) {
  const words = /** @type {[Word, string][]} */ (Object.entries(WORDS[version === "2003" ? "2000" : version]));
  return words.filter(([word]) => inherits || word !== "default");
}

/**
 * Return the quarter hours of a text; an empty set for a text without times, and null for a text that is no schedule.
 * @param {string} text
 * @returns {Set<number> | null}
 */
export function scheduleSlots(text) {
  const entries = text.split(";");
  const only = entries.length === 1 ? text.trim().toLowerCase() : "";
  if (["always", "never", "default"].includes(only)) return new Set();
  const interval = EVERY.exec(only);
  if (interval) return everyHours(Number(interval[1] ?? 1));
  const slots = new Set(/** @type {number[]} */ ([]));
  for (const entry of entries) {
    const spans = spansOf(entry);
    if (!spans) return null;
    for (const { start, length } of spans)
      for (let slot = start; slot < start + length; slot += 1) slots.add(slot % SLOTS_A_WEEK);
  }
  return slots;
}

/**
 * Return which choice a text is.
 * @param {string} text
 * @returns {Word}
 */
export function scheduleWord(text) {
  const slots = scheduleSlots(text);
  const word = slots?.size ? scheduleText(slots) : text.trim().toLowerCase();
  return ["default", "always", "never", "every 1 h", "every 2 h", "every 4 h"].includes(word)
    ? /** @type {Word} */ (word)
    : "custom";
}

/**
 * Return a grid as a text; `never` without a quarter hour.
 * @param {Set<number>} slots
 * @returns {string}
 */
export function scheduleText(slots) {
  if (slots.size === 0) return "never";
  for (const hours of [1, 2, 4]) {
    const every = everyHours(hours);
    if (every.size === slots.size && [...every].every((slot) => slots.has(slot))) return `every ${hours} h`;
  }
  /** @type {Map<number, number[]>} The days of each span, by its start in the day and its length. */
  const days = new Map();
  for (const { start, length } of runs(slots)) {
    const key = (start % SLOTS_A_DAY) * (SLOTS_A_WEEK + 1) + length;
    days.set(key, [...(days.get(key) ?? []), Math.floor(start / SLOTS_A_DAY)]);
  }
  return [...days]
    .sort(([one], [other]) => one - other)
    .map(([key, on]) => spanText(Math.floor(key / (SLOTS_A_WEEK + 1)), key % (SLOTS_A_WEEK + 1), on))
    .join("; ");
}

/** The time of a quarter hour in its day. @param {number} slot */
export function slotTime(slot) {
  const [hour, quarter] = [Math.floor(slot / SLOTS_AN_HOUR), slot % SLOTS_AN_HOUR];
  return `${String(hour).padStart(2, "0")}:${String(quarter * 15).padStart(2, "0")}`;
}

/** @param {number} hours */
function everyHours(hours) {
  const step = hours * SLOTS_AN_HOUR;
  return new Set(Array.from({ length: SLOTS_A_WEEK / step }, (_, index) => index * step));
}

/** @typedef {{start: number, length: number}} Span */

/** The spans of one entry of a text; null if it is none. @param {string} entry @returns {Span[] | null} */
function spansOf(entry) {
  const [, dayText, timeText] = ENTRY.exec(entry) ?? [];
  if (dayText === undefined && timeText === undefined) return null;
  const days = daysOf(dayText);
  const span = timeText === undefined ? { start: 0, length: SLOTS_A_DAY } : timesOf(timeText);
  return days && span && days.map((day) => ({ start: day * SLOTS_A_DAY + span.start, length: span.length }));
}

/** @param {string | undefined} text @returns {number[] | null} */
function daysOf(text) {
  if (text === undefined || ["daily", "every day"].includes(text.toLowerCase())) return DAYS.map((_, day) => day);
  const days = [];
  for (const part of text.split(",")) {
    const ends = part.split("-").map((name) => dayOf(name.trim().toLowerCase()));
    if (ends.length > 2 || ends.includes(-1)) return null;
    const [first, last = first] = ends;
    for (let day = 0; day <= (last - first + 7) % 7; day += 1) days.push((first + day) % 7);
  }
  return days;
}

/** @param {string} name */
const dayOf = (name) => DAY_NAMES.findIndex((day) => name === day || name === day.slice(0, 3));

/** @param {string} text @returns {Span | null} */
function timesOf(text) {
  const match = TIMES.exec(text);
  if (!match) return null;
  const start = slotAt(match[1], match[2], 23);
  if (start === null || match[3] === undefined) return start === null ? null : { start, length: 1 };
  const end = slotAt(match[3], match[4], 24);
  if (end === null || end === start) return null;
  return { start, length: (end - start + SLOTS_A_DAY) % SLOTS_A_DAY || SLOTS_A_DAY };
}

/** @param {string} hours @param {string} minutes @param {number} lastHour @returns {number | null} */
function slotAt(hours, minutes, lastHour) {
  const [hour, minute] = [Number(hours), Number(minutes)];
  if (hour > lastHour || minute > 59 || minute % 15 || (hour === 24 && minute)) return null;
  return hour * SLOTS_AN_HOUR + minute / 15;
}

/**
 * The unbroken runs of quarter hours, also around the week's end. Runs of a day or more end at midnight.
 * @param {Set<number>} slots
 * @returns {Span[]}
 */
function runs(slots) {
  if (slots.size === SLOTS_A_WEEK) return DAYS.map((_, day) => ({ start: day * SLOTS_A_DAY, length: SLOTS_A_DAY }));
  const spans = [];
  for (const first of [...slots].sort((one, other) => one - other)) {
    if (slots.has((first - 1 + SLOTS_A_WEEK) % SLOTS_A_WEEK)) continue;
    let [start, length] = [first, 1];
    while (slots.has((start + length) % SLOTS_A_WEEK)) length += 1;
    while (length >= SLOTS_A_DAY) {
      const part = SLOTS_A_DAY - (start % SLOTS_A_DAY);
      spans.push({ start, length: part });
      [start, length] = [(start + part) % SLOTS_A_WEEK, length - part];
    }
    if (length) spans.push({ start, length });
  }
  return spans;
}

/** @param {number} first @param {number} length @param {number[]} on the days */
function spanText(first, length, on) {
  const dayText = on.length === 7 ? "" : daysText(on);
  if (length === SLOTS_A_DAY) return dayText || "Mon-Sun";
  const end = first + length;
  const times = length > 1 ? `-${slotTime(end <= SLOTS_A_DAY ? end : end - SLOTS_A_DAY)}` : "";
  return `${dayText} ${slotTime(first)}${times}`.trim();
}

/** Days as text, Monday first: `Mon-Fri`, `Sat,Sun` or `Mon,Wed-Fri`. @param {number[]} on */
function daysText(on) {
  /** @type {number[][]} */
  const together = [];
  for (const day of [1, 2, 3, 4, 5, 6, 0].filter((candidate) => on.includes(candidate))) {
    const last = together.at(-1);
    if (last && (last[last.length - 1] + 1) % 7 === day) last.push(day);
    else together.push([day]);
  }
  return together
    .map((run) =>
      run.length > 2 ? `${DAYS[run[0]]}-${DAYS[run[run.length - 1]]}` : run.map((day) => DAYS[day]).join(","),
    )
    .join(",");
}
