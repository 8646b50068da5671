"""Mail addresses of stores, folders and people (spec: ML-5, ML-7). The transport of a server queries them.

A folder's addresses follow from the hierarchy alone, so all stores compute the same addresses. A folder has two addresses. One
is its alias, which is made from its name unless an administrator set one. The other is the alias with eight digits of the
folder's id; no other folder ever has this address. If several folders have the same alias, the one with the smallest creation
number has the address without digits, as with names (HI-7).
"""

from __future__ import annotations

import re
import unicodedata
from hashlib import sha256
from typing import Final

from node.state.directory import Directory
from node.state.folders import Folder, Folders
from node.state.state_table import ReplicationStateTable
from topology.model import STORE_ADDRESS_SUFFIX
from transport.mta.routing import OUTSIDE

MAX_ALIAS: Final = 48
"""Longest alias that is made from a name. With digits it has at most 64 characters, as RFC 5321, section 4.5.3.1.1 requires."""

NAMELESS: Final = "folder"
"""The alias of a folder whose name has no usable characters."""

RESERVED: Final = frozenset({"postmaster", "abuse", "mailer-daemon"})
"""Local parts with a fixed meaning (RFC 2142)."""

_ALIAS: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")
_OUTSIDE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_UNREACHABLE: Final = 1 << 30


def is_alias(text: str) -> bool:
    """Return whether an administrator may set this alias."""
    return _ALIAS.fullmatch(text) is not None and ".." not in text


def alias_of(name: str) -> str:
    """Return the alias that is made from a folder's name: its ASCII letters, digits, `.`, `-` and `_`, without accents.

    If no character is left, the alias is `folder`.
    """
    plain = _OUTSIDE.sub("", unicodedata.normalize("NFKD", name))
    parts = [part.strip("-_") for part in plain.split(".")]
    return ".".join(part for part in parts if part)[:MAX_ALIAS].rstrip("._-") or NAMELESS


def own_address(alias: str, object_id: bytes, domain: str) -> str:
    """Return the address that no other folder ever has."""
    return f"{alias}-{sha256(object_id).hexdigest()[:8]}@{domain}"


class AddressBook:
    """Finds the owner of an address in this store's present hierarchy and directory."""

    def __init__(
        self, name: str, domain: str, directory: Directory, folders: Folders, rst: ReplicationStateTable
    ) -> None:
        self._name = name
        self._domain = domain
        self._directory = directory
        self._folders = folders
        self._rst = rst
        self._tree_version = -1
        self._by_address: dict[str, Folder] = {}
        self._address: dict[int, str] = {}
        self._people: frozenset[str] = frozenset()

    # -- queries of the transport

    def server_of(self, address: str) -> str | None:
        """Return the server that mail for an address goes to, or None if the address does not exist.

        Mail to a folder goes to a holder: this store, or the nearest holder (spec: ML-5). An address of this domain that
        belongs to no store and no folder belongs to a person, whose mailbox is here. An address of another domain is OUTSIDE.
        """
        store = self._directory.server_of(address)
        if store is not None:
            return store
        folder = self.folder_of(address)
        if folder is not None:
            return self.holder(folder)
        if self._looks_like_a_store(address):
            return None
        return self._name if address.rpartition("@")[2].casefold() == self._domain.casefold() else OUTSIDE

    def accepts(self, address: str) -> bool:
        """Return whether SMTP may deliver to an address: a store, a folder, or a contact of a folder. There is no relaying."""
        if self._directory.server_of(address) is not None:
            return True
        folder = self.folder_of(address)
        if folder is not None:
            return self.holder(folder) is not None
        self._refresh()
        return address.casefold() in self._people

    # -- recipients on this server

    def is_this_store(self, address: str) -> bool:
        """Return whether an address is one of this store itself, which gets replication mail there."""
        return self._directory.server_of(address) == self._name

    def folder_of(self, address: str) -> Folder | None:
        """Return the mail-enabled folder with this address, ignoring case."""
        self._refresh()
        return self._by_address.get(address.casefold())

    def address_of(self, folder: Folder) -> str | None:
        """Return a folder's address, without digits if possible, or None if it accepts no mail."""
        self._refresh()
        return self._address.get(folder.fid)

    def holder(self, folder: Folder) -> str | None:
        """Return the store that accepts a folder's mail: this one if it holds the folder, otherwise the nearest by site and
        cost."""
        own = self._rst.own(folder.fid)
        if own is not None and not own.pending:
            return self._name
        assert folder.props is not None, "a mail-enabled folder is alive"
        stores = [
            entry
            for store in folder.props.replicas
            if store != self._name and (entry := self._directory.get(store)) is not None
        ]
        if not stores:
            return None
        return min(stores, key=lambda entry: (self._cost(entry.name), entry.guid)).name

    def _cost(self, store: str) -> int:
        if self._directory.same_site(self._name, store):
            return -1
        cost = self._directory.cost(self._name, store)
        return _UNREACHABLE if cost is None else cost

    def _looks_like_a_store(self, address: str) -> bool:
        local, _, domain = address.rpartition("@")
        is_own_domain = domain.casefold() in (self._domain.casefold(), *self._directory.domains)
        return is_own_domain and local[-len(STORE_ADDRESS_SUFFIX) :].casefold() == "-is"

    def _refresh(self) -> None:
        """Compute the addresses again if the tree has changed."""
        if self._tree_version == self._folders.arranged:
            return
        self._tree_version = self._folders.arranged
        self._by_address, self._address = {}, {}
        people: set[str] = set()
        live = [folder for folder in self._folders.all() if folder.props is not None and not folder.hidden]
        live.sort(key=lambda folder: (folder.props.created, folder.object))  # type: ignore[union-attr]
        for folder in live:
            assert folder.props is not None
            people.update(contact.casefold() for contact in folder.props.contacts)
            if folder.props.alias != "":
                self._enter(folder, folder.props.alias or alias_of(folder.props.name))
        self._people = frozenset(people)

    def _enter(self, folder: Folder, alias: str) -> None:
        permanent = own_address(alias, folder.object, self._domain)
        plain = f"{alias}@{self._domain}"
        is_taken = (
            plain.casefold() in self._by_address or alias.casefold() in RESERVED or self._looks_like_a_store(plain)
        )
        self._address[folder.fid] = permanent if is_taken else plain
        self._by_address[permanent.casefold()] = folder
        if not is_taken:
            self._by_address[plain.casefold()] = folder
