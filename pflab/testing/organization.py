"""A builder of topologies with types, for tests that say in Python what a topology file says in YAML.

    contoso = (
        Organization("Contoso")
        .site("SEA")
        .server("A", version="2003")
        .server("B", version="2007")
        .folder("Projects", replicas=["A", "B"])
    )

The lab checks the values, as it checks those of a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

Version = Literal["5.5", "2000", "2003", "2007"]


class Organization:
    """An organization with sites, servers, connectors and folders. `more` has any other keys of a topology file."""

    def __init__(self, name: str = "Contoso", *, domain: str = "contoso.test", **more: Any) -> None:
        self._document: dict[str, Any] = {"organization": name, "domain": domain, **more}
        self._sites: list[str] = []
        self._servers: dict[str, dict[str, Any]] = {}
        self._connectors: list[dict[str, Any]] = []
        self._folders: dict[str, dict[str, Any]] = {}

    def site(self, name: str) -> Self:
        """Add a site. The servers that follow are in this site unless they say otherwise."""
        self._sites.append(name)
        return self

    def server(
        self,
        name: str,
        *,
        version: Version = "2003",
        site: str | None = None,
        settings: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> Self:
        """Add a server, by default to the site that was added last."""
        if site is None:
            if not self._sites:
                self.site("SITE")
            site = self._sites[-1]
        own = {} if settings is None else {"settings": dict(settings)}
        self._servers[name] = {"site": site, "version": version, **own, **more}
        return self

    def connector(self, site: str, other: str, **more: Any) -> Self:
        """Add a connector between two sites."""
        self._connectors.append({"between": [site, other], **more})
        return self

    def folder(self, path: str, *, replicas: Sequence[str] | None = None, **more: Any) -> Self:
        """Add a folder, by default with a replica on every server that was added before."""
        stores = list(self._servers) if replicas is None else list(replicas)
        self._folders[path] = {"replicas": stores, **more}
        return self

    def as_document(self) -> dict[str, Any]:
        """Return the topology as a topology file has it."""
        connectors = {"connectors": self._connectors} if self._connectors else {}
        return {
            **self._document,
            "sites": list(self._sites),
            **connectors,
            "servers": dict(self._servers),
            "folders": dict(self._folders),
        }
