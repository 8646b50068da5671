/**
 * The properties of a folder as an administrator sets them, all as text. Pure functions of what a server says about the folder.
 */

/**
 * @typedef {object} FolderView What a server says about a folder.
 * @property {string} path
 * @property {string | null} schedule null: the store's schedule
 * @property {string} priority
 * @property {string | null} age_limit
 * @property {string | null} warning_limit
 * @property {string | null} post_limit
 * @property {string | null} item_limit
 * @property {string[]} contacts
 * @property {string | null} address null: the folder accepts no mail
 *
 * @typedef {"age_limit" | "warning_limit" | "post_limit" | "item_limit"} LimitName
 * @typedef {LimitName | "schedule" | "priority" | "contacts" | "alias"} PropertyName
 *
 * @typedef {object} Property
 * @property {PropertyName} name as the API has it
 * @property {string} label as System Manager had it
 * @property {Record<string, string>} [words] as the tool of another version had it; 2007 had parameters of Set-PublicFolder
 * @property {string} absent the text of a property that is not set
 * @property {string[]} examples
 * @property {boolean} [unique] whether no other folder can have the same
 */

/** @type {Property[]} */
export const PROPERTIES = [
  {
    name: "schedule",
    label: "Replication schedule",
    words: { 2007: "ReplicationSchedule" },
    absent: "default",
    examples: ["default", "always", "every 1 h", "every 2 h", "every 4 h", "never", "Mon-Fri 20:00-06:00"],
  },
  {
    name: "priority",
    label: "Priority of replication mails",
    words: { 5.5: "Replication message importance" },
    absent: "normal",
    examples: ["not urgent", "normal", "urgent"],
  },
  {
    name: "age_limit",
    label: "Age limit",
    words: { 5.5: "Age limit for all replicas", 2007: "AgeLimit" },
    absent: "none",
    examples: ["none", "30 d"],
  },
  {
    name: "warning_limit",
    label: "Issue warning at",
    words: { 2007: "StorageQuota" },
    absent: "none",
    examples: ["none", "8 MB"],
  },
  {
    name: "post_limit",
    label: "Prohibit post at",
    words: { 2007: "PostStorageQuota" },
    absent: "none",
    examples: ["none", "10 MB"],
  },
  {
    name: "item_limit",
    label: "Maximum item size",
    words: { 2007: "MaxItemSize" },
    absent: "none",
    examples: ["none", "300 KB"],
  },
  { name: "contacts", label: "Contacts for conflicts", absent: "", examples: [] },
  {
    name: "alias",
    label: "Mail address, before the @",
    absent: "none",
    examples: ["default", "none"],
    unique: true,
  },
];

/**
 * Return the name of a property in the words of a version's tool, and as a tooltip the option of ours.
 * @param {Property} property
 * @param {string} version of the server that is administered
 */
export function wordsOf({ name, label, words }, version) {
  return { label: words?.[version] ?? label, title: `--${name.replace("_", "-")} of pflab folder change` };
}

/**
 * Return a property as a text.
 * @param {FolderView} folder
 * @param {Property} property
 * @returns {string}
 */
export function textOf(folder, { name, absent }) {
  const value = name === "alias" ? folder.address?.split("@")[0] : folder[name];
  return Array.isArray(value) ? value.join(", ") : (value ?? absent);
}

/**
 * Return the properties that differ from those of the folder, as the API takes them.
 * @param {FolderView} folder
 * @param {Partial<Record<PropertyName, string>>} texts what was edited
 * @returns {Record<string, string | string[]>}
 */
export function changedProperties(folder, texts) {
  /** @type {Record<string, string | string[]>} */
  const changes = {};
  for (const property of PROPERTIES) {
    const text = texts[property.name]?.trim();
    if (text === undefined || text === textOf(folder, property)) continue;
    changes[property.name] = property.name === "contacts" ? text.split(/[\s,]+/).filter(Boolean) : text;
  }
  return changes;
}
