/**
 * The command that does in a terminal what a request of the console does.
 *
 * Each line of the table is for one kind of request; where a part of its path stands for a name, it has a star. The first line that
 * fits a request makes its command. Requests that no verb makes, such as those of lessons, have none.
 *
 *     POST /lab/servers/B/restore {backup: "backup-1"}     pflab fault restore B --backup backup-1
 */

import { CLOCK, FAULTS, LAB, connector, fault, message, node, policy, server, serverItself, site } from "../api.js";
import { folderName, numberName } from "./lab_state.js";

/**
 * @typedef {import("./lab_state.js").LabState} LabState
 *
 * @typedef {string | number | boolean | null | undefined | readonly string[] | Record<string, string>} Value A property as the API takes it.
 *
 * @typedef {object} Request
 * @property {string} method
 * @property {string} path as the API has it, with its query
 * @property {any} [body]
 *
 * @typedef {(names: string[], body: any, context: {state: LabState | null, folder: string}) => string | null} Words
 */

const ANY = "*";
const NODE = node(ANY);
const MESSAGE = message(ANY, "", ANY);

/** @type {[string, string, Words][]} */
const TABLE = [
  ["POST", LAB.servers, (_, { name, ...fields }) => commandOf("server add", name, fields)],
  ["DELETE", serverItself(ANY), ([name]) => commandOf("server remove", name)],
  ["POST", server(ANY, "restore"), ([name], body) => commandOf("fault restore", name, body)],
  ["POST", server(ANY, "delete"), ([name], { on, force }) => commandOf("directory delete", name, { on, force })],
  ["POST", server(ANY, "create"), ([name]) => commandOf("directory create", name)],
  ["POST", server(ANY, "start"), ([name]) => commandOf("fault start", name)],
  ["POST", server(ANY, "stop"), ([name]) => commandOf("fault stop", name)],
  ["POST", server(ANY, "kill"), ([name]) => commandOf("fault kill", name)],
  ["POST", server(ANY, "backup"), ([name]) => commandOf("fault backup", name)],
  ["POST", LAB.sites, (_, { name }) => commandOf("site add", name)],
  ["DELETE", site(ANY), ([name]) => commandOf("site remove", name)],
  ["POST", LAB.connectors, (_, { name, ...fields }) => commandOf("connector add", name, fields)],
  ["PATCH", connector(ANY), ([name], fields) => commandOf("connector change", name, fields)],
  ["DELETE", connector(ANY), ([name]) => commandOf("connector remove", name)],
  ["POST", LAB.policy, (_, body) => updateService(body)],
  ["POST", LAB.forecast, (_, { steps, cost }) => (cost ? commandOf("what-if", steps.map(yamlOf), { cost }) : null)],
  ["POST", LAB.policies, (_, { name, ...fields }) => ofPolicy("add", name, fields)],
  ["PATCH", policy(ANY), ([name], fields) => ofPolicy("change", name, fields)],
  ["DELETE", policy(ANY), ([name]) => ofPolicy("remove", name, {})],
  ["POST", CLOCK.rate, (_, { rate }) => commandOf("clock rate", String(rate))],
  ["POST", CLOCK.step, () => commandOf("clock step", [])],
  ["POST", CLOCK.advance, (_, { to }) => commandOf("clock advance", to)],
  ["POST", FAULTS.all, (_, body) => faultWords(body)],
  ["DELETE", fault(ANY), ([id]) => commandOf("fault heal", id)],
  ["POST", NODE.send, ([from], { folder, days, to }) => commandOf("resend", folder, { days, from, to: to?.[0] })],
  ["POST", NODE.synchronize, ([server], { folder }) => commandOf("synchronize", folder, { server })],
  ["PATCH", NODE.settings, ([server], body) => setting(server, body)],
  ["POST", NODE.replicas, ([on], body) => replicas(on, body)],
  [
    "POST",
    NODE.propagate,
    ([name], { folder, ...rest }) => commandOf("folder propagate", folder, { node: name, ...rest }),
  ],
  [
    "POST",
    NODE.queue,
    ([server], { order, mails, next_hop: to }) =>
      commandOf(`queue ${order}`, (mails ?? []).map(String), { to, server }),
  ],
  ["POST", NODE.folders, ([name], { path, ...fields }) => commandOf("folder create", path, { node: name, ...fields })],
  ["PATCH", NODE.folder(ANY), ([name, path], fields) => folderChange(name, path, fields)],
  ["DELETE", NODE.folder(ANY), ([name, path]) => commandOf("folder delete", path, { node: name })],
  ["POST", NODE.recoverFolder(ANY), ([name, path]) => commandOf("recover", path, { node: name })],
  ["POST", NODE.messages, ([name], body) => post(name, body)],
  [
    "PATCH",
    MESSAGE.itself,
    ([name, id], body, context) => ofMessage("edit", name, id, (state) => edited(body, state), context),
  ],
  ["DELETE", MESSAGE.itself, ([name, id], _, context) => ofMessage("delete", name, id, () => ({}), context)],
  ["POST", MESSAGE.recover, ([name, id], _, context) => ofMessage("recover", name, id, () => ({}), context)],
  [
    "POST",
    MESSAGE.resolve,
    ([name, id], { keep, by }, context) =>
      ofMessage(
        "resolve",
        name,
        id,
        (state) => ({ keep: keep === "all" ? keep : numberName(state, keep), by }),
        context,
      ),
  ],
];

/**
 * Return the command that does in a terminal what a request does; null if no verb does it, or if the body has another form
 * than those that a verb can write.
 * @param {Request} request
 * @param {LabState | null} [state] as it was before the request, for the numbers of messages; without it, these have no command
 */
export function terminalCommand({ method, path, body }, state = null) {
  const [place, query] = path.split("?");
  const folder = new URLSearchParams(query).get("folder") ?? "";
  const parts = place.split("/");
  for (const [verb, pattern, words] of TABLE) {
    const wanted = pattern.split("?")[0].split("/");
    if (verb !== method || wanted.length !== parts.length) continue;
    if (!wanted.every((part, index) => part === ANY || part === parts[index])) continue;
    const names = parts.filter((_, index) => wanted[index] === ANY).map(decodeURIComponent);
    try {
      return words(names, body ?? {}, { state, folder });
    } catch {
      return null; // a body of another form: the order is sent all the same, and the lab says what it thinks of it
    }
  }
  return null;
}

/** Return a step as a terminal takes it: one line of YAML, which JSON is. @param {unknown} step */
const yamlOf = (step) => JSON.stringify(step);

/** @param {any} body */
function updateService({ domain, recipient_update: interval, at_once: atOnce }) {
  const commands = [
    ...(domain ? [ofPolicy("change", "Default Policy", { domain })] : []),
    ...(interval ? [commandOf("directory schedule", interval)] : []),
    ...(atOnce ? [commandOf("directory update", [])] : []),
  ];
  return commands.join(" && ") || null;
}

/** @param {string} action @param {string} name @param {any} fields */
function ofPolicy(action, name, { filter, ...fields }) {
  return commandOf(`directory policy ${action}`, name, { ...fields, ...filter });
}

/** @param {any} body */
function faultWords({ kind, between, server, ...fields }) {
  return commandOf(`fault ${kind}`, [...(between ?? []), ...(server ? [server] : [])], fields);
}

/** @param {string} server @param {Record<string, string | null>} body */
function setting(server, body) {
  const [[name, value]] = Object.entries(body);
  return commandOf("settings change", [name, String(value ?? "absent")], { server });
}

/** @param {string} on @param {any} body */
function replicas(on, { folder, by, ...ways }) {
  const [[way, replica]] = Object.entries(ways);
  return commandOf(`replicas ${way}`, folder, { replica, by, on });
}

/** @param {string} node @param {string} path @param {any} fields */
function folderChange(node, path, { rename, move_to: parent, ...fields }) {
  const above = path.includes("/") ? path.slice(0, path.lastIndexOf("/") + 1) : "";
  const commands = [
    ...(rename === undefined ? [] : [commandOf("folder rename", [path, rename], { node })]),
    ...(parent === undefined
      ? []
      : [commandOf("folder move", [rename === undefined ? path : above + rename, parent], { node })]),
    ...(Object.keys(fields).length ? [commandOf("folder change", path, { node, ...fields })] : []),
  ];
  return commands.join(" && ") || null;
}

/** @param {string} node @param {any} body */
function post(node, { folder, subject, body, sender, attachments, associated }) {
  if (attachments?.length || associated) return null; // a file of the browser is none of the terminal's
  return commandOf("post", folder, { node, subject, body: body || undefined, from: sender || undefined });
}

/** @param {any} body @param {LabState} state */
function edited({ subject, body, based_on: basedOn }, state) {
  return { subject, body, "based-on": basedOn?.length === 1 ? numberName(state, basedOn[0]) : undefined };
}

/**
 * A command for a message, which a terminal names by any of its numbers.
 * @param {string} verb
 * @param {string} node
 * @param {string} id
 * @param {(state: LabState) => Record<string, any>} fields
 * @param {{state: LabState | null, folder: string}} context
 */
function ofMessage(verb, node, id, fields, { state, folder }) {
  if (!state) return null;
  const folderId = Object.keys(state.folders).find((key) => folderName(state, key, node) === folder) ?? folder;
  const item = state.servers[node]?.tables[folderId]?.items[id];
  return item ? commandOf(verb, numberName(state, item.number), { node, ...fields(state) }) : null;
}

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
