"""Make the docker-compose.yml for a topology. It has a container for each store, one for the coordinator and one for a light
load. The profile `analytics` adds Spark and an analysis that follows the lab.

Only the coordinator reads the topology; it sends the stores what they need to start. Each server has a service, whose name is
the server's name in lower case. The service listens on HTTP_PORT, SMTP_PORT and IMAP_PORT.

The ports of the lab and of the mail listeners are published on a loopback address of the machine. Each has a variable that
changes it (`published_ports`), and PFLAB_LOOPBACK changes the address of all of them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice
from pathlib import PurePosixPath
from typing import Any, Final

import yaml

from pflab.errors import LabError
from topology.model import Topology
from topology.problems import did_you_mean, quoted

HTTP_PORT: Final = 8025
SMTP_PORT: Final = 2525
IMAP_PORT: Final = 1143

SMTP_PUBLISHED: Final = 12525
IMAP_PUBLISHED: Final = 11143
"""The ports of the first server on the machine that runs the containers; the other servers have the ports after them."""

LOOPBACK: Final = "PFLAB_LOOPBACK"
ADDRESS: Final = f"127.0.0.${{{LOOPBACK}:-1}}"
"""Where all ports are published. Only a number can be chosen, so that no other machine can reach a lab."""

LAB: Final = "lab"
LOAD: Final = "load"
ANALYTICS: Final = "analytics"
"""The name of the service that follows the lab, and of the profile that contains this service and Spark."""

SPARK: Final = "spark"
WORKERS: Final = 2
RESERVED: Final = (LAB, LOAD, ANALYTICS, SPARK)
"""The names of services that are not stores. No server's service may have such a name, or begin with one and a hyphen."""

IMAGE: Final = "pflab:${PFLAB_TAG:-latest}"
SPARK_IMAGE: Final = "pflab-spark:${PFLAB_TAG:-latest}"
MASTER_PORT: Final = 7077
MASTER_PAGE_PORT: Final = 8080

HEAD: Final = """\
# A lab of public folder stores in containers. `pflab compose {topology}` wrote this file.
#
# A lab keeps the topology with which it began; `pflab site`, `pflab server` and `pflab connector` change the running
# organization. To begin with another topology, delete the lab's data (docker compose down --volumes), change the topology file,
# and write this file again.
#
#   docker compose up {build}--wait      start the lab
#   pflab top --lab http://127.0.0.1:8025     watch it
#   docker compose down                   stop it and keep its data; --volumes deletes the data
#   PFLAB_LOOPBACK=2 docker compose -p other up      start another lab beside this one, at 127.0.0.2
#   docker compose --profile analytics up {build}--wait      start Spark too, which keeps a verdict current
#   pflab verdict --lab http://127.0.0.1:8025     print the verdict
#
# This machine reaches the lab at these ports of 127.0.0.1; no other machine can. If a port is taken, set its variable to
# another one, or PFLAB_LOOPBACK to a number from 2 to 254: then all ports are those of 127.0.0.NUMBER.
#
{ports}
#
# PFLAB_CLOCK (60) is the rate of the clock at the first start, in lab seconds for each second.
"""

_OF_A_BUILD: Final = """\
#
# Behind a private package index or certificate authority, PFLAB_PIP_CONF and PFLAB_CA name a pip.conf and a file of
# certificates. The build gets both as secrets and does not keep them.
"""

HEAD_OF_ADDED: Final = """\
# Containers of servers that were added to a running lab. `pflab compose --only {servers}` wrote this file.
#
#   docker compose -f docker-compose.yml -f THIS-FILE up -d {services}      start them, and nothing else
#
{ports}
"""

TOPOLOGY_LABEL: Final = "pflab.topology"
"""The label of the service `lab` with a digest of the topology. With another topology, Compose makes the container again."""

NAME: Final = "pflab"
"""The name of a project begins with this name."""

_KEPT: Final = ["pflab-kept", "python", "-P", "-m", "pflab"]

_HARDENED: Final[dict[str, Any]] = {
    "restart": "always",
    "stop_grace_period": "10s",
    "read_only": True,
    "tmpfs": ["/tmp"],
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges:true"],
}

_HEALTH: Final[dict[str, Any]] = {
    "test": ["CMD", "pflab-ready", str(HTTP_PORT), "/readyz"],
    "interval": "3s",
    "timeout": "5s",
    "retries": 3,
    "start_period": "120s",
}

_SPARK_SERVICE: Final[dict[str, Any]] = {
    **_HARDENED,
    "profiles": [ANALYTICS],
    # Spark unpacks native libraries into /tmp.
    "tmpfs": ["/tmp:exec"],
}


@dataclass(frozen=True, slots=True)
class ComposeOrder:
    """Paths for the compose file, relative to its folder.

    topology: the topology file.
    context: the source code from which the image is built, or None if the image exists already.
    """

    topology: str
    context: str | None

    @property
    def project(self) -> str:
        """The name of the Compose project: that of the topology's file, in characters that Compose permits."""
        stem = PurePosixPath(self.topology).stem.lower()
        return f"{NAME}-{re.sub(r'[^a-z0-9_-]+', '-', stem)}".rstrip("-")


@dataclass(frozen=True, slots=True)
class PublishedPort:
    """A port of this machine at which users reach the lab.

    variable: the setting that changes it.
    """

    what: str
    variable: str
    default: int

    def bound_to(self, port: int) -> str:
        """Return how a compose file publishes a container's port there."""
        return f"{self.shown}:{port}"

    @property
    def shown(self) -> str:
        """The address in the form in which Compose fills in the settings."""
        return f"{ADDRESS}:${{{self.variable}:-{self.default}}}"


def lab_port() -> PublishedPort:
    return PublishedPort("the lab", "PFLAB_PORT", HTTP_PORT)


def added_text(topology: Topology, servers: Sequence[str]) -> str:
    """Return the text of a second compose file, with only the services of servers that were added to a running lab.

    Raises LabError for a server that the topology does not have, and as `compose_text` does.
    """
    service_of_store = {name: service for name, (service, _) in addresses_of(list(topology.servers)).items()}
    ports = mail_ports(topology)
    for name in servers:
        if name not in ports:
            raise LabError(f"there is no server {quoted(name)}; {did_you_mean(name, ports)}")
    services = {service_of_store[name]: name for name in servers}
    document = {
        "services": {service: _store(service, name, *ports[name]) for service, name in services.items()},
        "volumes": {f"store-{service}": {} for service in services},
    }
    head = HEAD_OF_ADDED.format(
        servers=",".join(servers),
        services=" ".join(services),
        ports=_listed(port for name in servers for port in ports[name]),
    )
    return head + yaml.dump(document, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=120)


def _listed(ports: Iterable[PublishedPort]) -> str:
    return "\n".join(f"#   {port.variable:<24} {port.default:>5}   {port.what}" for port in ports)


def mail_ports(topology: Topology) -> Mapping[str, tuple[PublishedPort, PublishedPort]]:
    """Return the ports for SMTP and IMAP of each server. SMTP has the port of the topology if it names one.

    The ports of a server stay when another one is removed (`Server.place`).
    """
    named_ports = {server.smtp_port for server in topology.servers.values()}

    def free(first: int, place: int) -> int:
        return next(islice((port for port in count(first) if port not in named_ports), place, None))

    ports = {}
    for name, server in topology.servers.items():
        variable = service_of(name).upper().replace("-", "_")
        named = sum(other.smtp_port is not None and other.place < server.place for other in topology.servers.values())
        smtp = server.smtp_port or free(SMTP_PUBLISHED, server.place - named)
        imap = free(IMAP_PUBLISHED, server.place)
        ports[name] = (
            PublishedPort(f"{name}, SMTP", f"PFLAB_SMTP_{variable}", smtp),
            PublishedPort(f"{name}, IMAP", f"PFLAB_IMAP_{variable}", imap),
        )
    return ports


def published_ports(topology: Topology) -> list[PublishedPort]:
    """Return all ports that the compose file of a topology publishes."""
    return [lab_port(), *chain.from_iterable(mail_ports(topology).values())]


def digest_of(topology: Topology) -> str:
    """Return the value of TOPOLOGY_LABEL for a topology."""
    return hashlib.sha256(topology.as_json().encode()).hexdigest()[:16]


def service_of(server: str) -> str:
    """Return the name of a server's service, which is also the host name of the server's container."""
    return server.lower()


def addresses_of(names: Sequence[str]) -> dict[str, tuple[str, int]]:
    """Return the address of each server's process. Raises LabError for a name that cannot be the name of a service."""
    services: dict[str, str] = {}
    for name in names:
        service = service_of(name)
        if service in RESERVED or service.startswith(tuple(f"{reserved}-" for reserved in RESERVED)):
            raise LabError(f"server {name}: its service would have the reserved name {service!r}; rename the server")
        if service in services:
            raise LabError(
                f"servers {services[service]} and {name} would have the same service {service}; rename one of them"
            )
        services[service] = name
    return {name: (service, HTTP_PORT) for service, name in services.items()}


def compose_text(topology: Topology, order: ComposeOrder) -> str:
    """Return the text of the compose file. The same topology always gives the same text.

    Raises LabError if the name of a server cannot be the name of a service.
    """
    stores = {service: name for name, (service, _) in addresses_of(list(topology.servers)).items()}
    ports = mail_ports(topology)
    document: dict[str, Any] = {
        "name": order.project,
        "services": {
            LAB: _lab(topology, order),
            LOAD: _load(),
            **_analytics(order),
            **{service: _store(service, name, *ports[name]) for service, name in stores.items()},
        },
        "volumes": {
            name: {} for name in ("lab", "secrets", "tables", "traces", *(f"store-{service}" for service in stores))
        },
    }
    if order.context is not None:
        document["secrets"] = {
            "pip_conf": {"file": "${PFLAB_PIP_CONF:-/dev/null}"},
            "ca": {"file": "${PFLAB_CA:-/dev/null}"},
        }
    text = yaml.dump(document, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=120)
    build = "" if order.context is None else "--build "
    head = HEAD.format(topology=order.topology, build=build, ports=_listed(published_ports(topology)))
    return head + (_OF_A_BUILD if build else "") + text


class _Plain(yaml.SafeDumper):
    """Writes repeated values in full, without YAML anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _built(image: str, order: ComposeOrder, target: str) -> dict[str, Any]:
    if order.context is None:
        return {"image": image}
    build = {
        "context": order.context,
        "dockerfile": "compose/Dockerfile",
        "target": target,
        "secrets": ["pip_conf", "ca"],
    }
    return {"image": image, "build": build}


def _lab(topology: Topology, order: ComposeOrder) -> dict[str, Any]:
    at = {name: (smtp.shown, imap.shown) for name, (smtp, imap) in mail_ports(topology).items()}
    return {
        **_built(IMAGE, order, "lab"),
        "labels": {TOPOLOGY_LABEL: digest_of(topology)},
        "command": [
            *("coordinate", "/topology.yaml", "--data", "/lab", "--secrets", "/secrets"),
            *("--host", "0.0.0.0", "--port", str(HTTP_PORT), "--known-as", f"{LAB}:{HTTP_PORT}", "--trust-gateway"),
            *("--clock", "${PFLAB_CLOCK:-60}", "--traces-most", "${PFLAB_TRACES_MB:-2048}"),
            *("--patience", "${PFLAB_PATIENCE:-60}", "--stay", "--imap-port", str(IMAP_PORT), "--added-at", ADDRESS),
            *chain.from_iterable(
                ("--smtp-at", f"{name}={smtp}", "--imap-at", f"{name}={imap}") for name, (smtp, imap) in at.items()
            ),
        ],
        "ports": [lab_port().bound_to(HTTP_PORT)],
        "volumes": [
            {
                "type": "bind",
                "source": order.topology,
                "target": "/topology.yaml",
                "read_only": True,
                "bind": {"create_host_path": False},
            },
            "lab:/lab",
            "traces:/lab/traces",
            "secrets:/secrets",
        ],
        "healthcheck": _HEALTH,
        **_HARDENED,
    }


def _load() -> dict[str, Any]:
    return {
        "image": IMAGE,
        "command": [
            *("load", "--lab", f"http://{LAB}:{HTTP_PORT}", "--rate", "${PFLAB_LOAD:-0.05}", "--for", "6 h"),
            "--while-running",
            *("--mix", "post=4,edit=2,delete=3", "--size", "300"),
        ],
        "environment": {"PFLAB_TOKEN_FILE": "/secrets/token"},
        "volumes": ["secrets:/secrets:ro"],
        "depends_on": {LAB: {"condition": "service_healthy"}},
        **_HARDENED,
    }


def _store(service: str, name: str, smtp: PublishedPort, imap: PublishedPort) -> dict[str, Any]:
    """Return the service of a store.

    smtp, imap: the ports of this machine at which mail programs reach it.
    """
    return {
        "ports": [smtp.bound_to(SMTP_PORT), imap.bound_to(IMAP_PORT)],
        "image": IMAGE,
        "hostname": service,
        "entrypoint": _KEPT,
        "command": [
            *("node", name, "--managed", "--data", "/data", "--traces", "/traces"),
            *("--lab-secret-file", "/secrets/secret", "--token-file", "/secrets/token"),
            *("--http-host", "0.0.0.0", "--http-port", str(HTTP_PORT)),
            *("--smtp-host", "0.0.0.0", "--smtp-port", str(SMTP_PORT)),
        ],
        "volumes": [f"store-{service}:/data", "traces:/traces", "secrets:/secrets:ro"],
        "healthcheck": _HEALTH,
        **_HARDENED,
    }


def _analytics(order: ComposeOrder) -> dict[str, Any]:
    """Return the services of Spark and of the analysis. They can read the traces, but no store's database."""
    workers = [f"{SPARK}-worker-{number}" for number in range(1, WORKERS + 1)]
    master = f"spark://{SPARK}:{MASTER_PORT}"
    health = {**_HEALTH, "test": ["CMD", "pflab-ready", str(MASTER_PAGE_PORT), "/"]}
    volumes = ["traces:/traces:ro", "tables:/tables", "secrets:/secrets:ro"]
    return {
        SPARK: {
            **_built(SPARK_IMAGE, order, "spark"),
            "hostname": SPARK,
            "command": ["master"],
            "volumes": ["secrets:/secrets:ro"],
            "healthcheck": health,
            **_SPARK_SERVICE,
        },
        **{
            worker: {
                "image": SPARK_IMAGE,
                "hostname": worker,
                "command": ["worker", master],
                "volumes": volumes,
                "depends_on": {SPARK: {"condition": "service_healthy"}},
                **_SPARK_SERVICE,
            }
            for worker in workers
        },
        ANALYTICS: {
            "image": SPARK_IMAGE,
            "hostname": ANALYTICS,
            "command": [
                *("follow", "/traces", "--tables", "/tables", "--lab", f"http://{LAB}:{HTTP_PORT}"),
                *("--master", master, "--every", "${PFLAB_JUDGE_EVERY:-15}"),
            ],
            "environment": {"PFLAB_TOKEN_FILE": "/secrets/token"},
            "volumes": volumes,
            "depends_on": {
                LAB: {"condition": "service_healthy"},
                **{worker: {"condition": "service_started"} for worker in workers},
            },
            **_SPARK_SERVICE,
        },
    }
