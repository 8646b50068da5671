/** Sizes as people read them. */

/**
 * Return a size such as `3.4 MB`, or a difference of sizes: rounded, in the largest unit of which it has one. 1 KB has 1024 bytes.
 * @param {number} bytes
 */
export function sizeWords(bytes) {
  let size = bytes;
  let unit = "bytes";
  for (const larger of ["KB", "MB", "GB"]) {
    if (Math.abs(size) < 1024) break;
    size /= 1024;
    unit = larger;
  }
  return `${unit === "bytes" ? size.toLocaleString("en") : size.toFixed(1)} ${unit}`;
}

/**
 * Return what has crossed, such as `3 mails, 4.1 KB`.
 * @param {import("../state/lab_state.js").Carried} carried
 */
export const carriedWords = ({ mails, bytes }) =>
  `${mails.toLocaleString("en")} ${mails === 1 ? "mail" : "mails"}, ${sizeWords(bytes)}`;
