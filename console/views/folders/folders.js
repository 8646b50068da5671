/** Folders and posts, like a mail reader: the tree of folders, and one folder on one server or on two beside each other. */

import { hasReplica } from "../../state/posts.js";
import { html, useState } from "../../vendor/preact.js";
import { FolderDialog, NewFolderDialog } from "./folder_dialogs.js";
import { PostDialog } from "./post_dialog.js";
import { PostList } from "./post_list.js";
import { RecoverDialog } from "./recover_dialog.js";
import { FolderTree } from "./tree.js";

/**
 * @typedef {import("../../store.js").Store} Store
 * @typedef {import("../../page.js").Reader} Reader
 * @typedef {import("../../state/lab_state.js").LabState} LabState
 * @typedef {{kind: "new folder" | "folder" | "post" | "recover", server: string} | null} Asked
 */

/**
 * Return what is open: what the user chose, or else the first folder on its first holder.
 * @param {Reader} reader
 * @param {LabState} state
 * @returns {Reader}
 */
function whatIsOpen({ folder, server, beside }, state) {
  const servers = Object.keys(state.servers);
  const exists = state.folders[folder] && !state.folders[folder].deleted;
  const id = exists
    ? folder
    : (Object.values(state.folders).find((candidate) => candidate.id !== "1-1" && !candidate.deleted)?.id ?? "");
  const holders = servers.filter((name) => hasReplica(state, name, id));
  const first = state.servers[server] ? server : (holders[0] ?? servers[0]);
  const second = holders.find((name) => name !== first) ?? null;
  return {
    folder: id,
    server: first,
    beside: beside === null ? null : state.servers[beside] ? beside : second,
  };
}

/** @param {{store: Store, state: LabState}} props */
export function Folders({ store, state }) {
  const reader = whatIsOpen(store.page.reader.value, state);
  const [dialog, setDialog] = useState(/** @type {Asked} */ (null));
  const open = (/** @type {Partial<Reader>} */ change) => (store.page.reader.value = { ...reader, ...change });
  const close = () => setDialog(null);
  const canChange = store.source.live && !store.timeline.travelling.value;
  const { folder } = reader;
  return html`<div class="folders">
    <${FolderTree}
      state=${state}
      folder=${folder}
      onOpen=${(/** @type {string} */ id) => openFolder(store, state, reader, id)}
      onNew=${canChange && (() => setDialog({ kind: "new folder", server: reader.server }))}
    />
    ${
      folder
        ? html`<${PostList}
            store=${store}
            state=${state}
            reader=${reader}
            onOpen=${open}
            onAsk=${canChange && ((/** @type {Asked} */ order) => setDialog(order))}
          />`
        : html`<p class="hint">The organization has no folder.</p>`
    }
    ${
      dialog?.kind === "new folder" &&
      html`<${NewFolderDialog}
        store=${store}
        state=${state}
        server=${dialog.server}
        folder=${folder}
        onClose=${close}
      />`
    }
    ${
      dialog?.kind === "folder" &&
      html`<${FolderDialog} store=${store} state=${state} server=${dialog.server} folder=${folder} onClose=${close} />`
    }
    ${
      dialog?.kind === "post" &&
      html`<${PostDialog} store=${store} state=${state} server=${dialog.server} folder=${folder} onClose=${close} />`
    }
    ${
      dialog?.kind === "recover" &&
      html`<${RecoverDialog} store=${store} state=${state} server=${dialog.server} folder=${folder} onClose=${close} />`
    }
  </div>`;
}

/**
 * Open another folder. The servers stay if they hold it.
 * @param {Store} store
 * @param {LabState} state
 * @param {Reader} reader
 * @param {string} folder
 */
function openFolder(store, state, reader, folder) {
  const holds = (/** @type {string | null} */ name) => name !== null && hasReplica(state, name, folder);
  store.page.reader.value = {
    folder,
    server: holds(reader.server) ? reader.server : "",
    beside: reader.beside === null || holds(reader.beside) ? reader.beside : "",
  };
}
