/** The command that does in a terminal what a form of the console does. */

/** @typedef {string | number | boolean | null | undefined | readonly string[] | Record<string, string>} Value A property as the API takes it. */

/**
 * Return the command that does the same in a terminal.
 * @param {string} verb such as `connector add`
 * @param {string | readonly string[]} names what comes before the options
 * @param {Record<string, Value>} [fields] as the API takes them
 * @returns {string}
 */
export function commandOf(verb, names, fields = {}) {
  const options = Object.entries(fields).flatMap(([field, value]) => {
    if (value === undefined || value === null || value === false) return [];
    const option = `--${field.replaceAll("_", "-")}`;
    if (value === true) return [option];
    return [option, word(typeof value === "object" ? Object.values(value).join(",") : String(value))];
  });
  return ["pflab", verb, ...[names].flat().map(word), ...options].join(" ");
}

/** Return a text as one word of a shell. @param {string} text */
function word(text) {
  return /^[\w.,:/%+@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
