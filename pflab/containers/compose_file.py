"""Make the docker-compose.yml for a topology. It has a container for each store, one for the coordinator and one for a light
load. The profile `analytics` adds Spark and an analysis that follows the lab.

Only the coordinator reads the topology; it sends the stores what they need to start. Each server has a service, whose name is
the server's name in lower case. The service listens on HTTP_PORT and SMTP_PORT.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import yaml

from pflab.errors import LabError
from topology.model import Topology

HTTP_PORT: Final = 8025
SMTP_PORT: Final = 2525

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
# A lab of public folder stores in containers. `pflab compose {topology}` wrote this file: change the topology and run it again.
#
#   docker compose up --build --wait      start the lab
#   pflab top --lab http://127.0.0.1:8025     watch it
#   docker compose down                   stop it and keep its data; --volumes deletes the data
#   docker compose -p other up            start another lab beside this one; set another PFLAB_PORT for it
#   docker compose --profile analytics up --build --wait      start Spark too, which keeps a verdict current
#   pflab verdict --lab http://127.0.0.1:8025     print the verdict
#
# PFLAB_PORT (8025) is the port of the lab on this machine; no other machine can reach it. PFLAB_CLOCK (60) is the rate of the
# clock at the first start, in lab seconds for each second.
#
# Behind a private package index or certificate authority, PFLAB_PIP_CONF and PFLAB_CA name a pip.conf and a file of
# certificates. The build gets both as secrets and does not keep them.
"""

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

    topology: the topology file; context: the source code from which the image is built, or None if the image exists already.
    """

    topology: str
    context: str | None


def service_of(server: str) -> str:
    """Return the name of a server's service, which is also the host name of the server's container."""
    return server.lower()


def addresses_of(names: Sequence[str]) -> dict[str, tuple[str, int]]:
    """Return the address of each server's process. Raises LabError for a name that cannot be the name of a service."""
    services: dict[str, str] = {}
    for name in names:
        service = service_of(name)
        if service in RESERVED or service.startswith(tuple(f"{each}-" for each in RESERVED)):
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
    document: dict[str, Any] = {
        "name": "pflab",
        "services": {
            LAB: _lab(order),
            LOAD: _load(),
            **_analytics(order),
            **{service: _store(service, name, topology.servers[name].smtp_port) for service, name in stores.items()},
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
    return HEAD.format(topology=order.topology) + text


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


def _lab(order: ComposeOrder) -> dict[str, Any]:
    return {
        **_built(IMAGE, order, "lab"),
        "command": [
            *("coordinate", "/topology.yaml", "--data", "/lab", "--secrets", "/secrets"),
            *("--host", "0.0.0.0", "--port", str(HTTP_PORT), "--known-as", f"{LAB}:{HTTP_PORT}", "--trust-gateway"),
            *("--clock", "${PFLAB_CLOCK:-60}", "--traces-most", "${PFLAB_TRACES_MB:-2048}"),
            *("--patience", "${PFLAB_PATIENCE:-60}"),
        ],
        "ports": [f"127.0.0.1:${{PFLAB_PORT:-{HTTP_PORT}}}:{HTTP_PORT}"],
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


def _store(service: str, name: str, smtp_port: int | None) -> dict[str, Any]:
    """Return the service of a store. `smtp_port`: the port of this machine at which mail programs reach it."""
    published = {} if smtp_port is None else {"ports": [f"127.0.0.1:{smtp_port}:{SMTP_PORT}"]}
    return {
        **published,
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
    seen = ["traces:/traces:ro", "tables:/tables", "secrets:/secrets:ro"]
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
                "volumes": seen,
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
            "volumes": seen,
            "depends_on": {
                LAB: {"condition": "service_healthy"},
                **{worker: {"condition": "service_started"} for worker in workers},
            },
            **_SPARK_SERVICE,
        },
    }
