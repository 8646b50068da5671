"""A node as a process of its own: what a container runs, and what `pflab up --processes` starts.

    python -m node NAME --topology FILE --data DIR --lab-secret-file FILE
    python -m node NAME --led --data DIR --lab-secret-file FILE --token-file FILE

It listens for mail and for HTTP, says where on stdout in one line of JSON, and runs until SIGTERM or SIGINT. Where its
peers are it learns from its coordinator (PUT /nodes/NAME/peers) or from options. Killed, it comes back with everything
that it had acknowledged. With --led it waits until its coordinator begins it (`node.process.managed`).
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from node.api.http_server import OpenToAll
from node.api.values import ServerUnknown
from node.errors import NodeError, bug_line
from node.host.clock import ClockError
from node.process.managed import ManagedNode
from node.process.standalone import NodeProcess
from topology.problems import ProblemsError
from traces.errors import TraceError
from traces.labtime import parse_instant

MISUSE: Final = 2

INTERNAL: Final = 70


def main(arguments: Sequence[str] | None = None) -> int:
    """The process; its exit code."""
    began_s = time.monotonic()
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.topology is None and not options.led:
        parser.error("name the topology with --topology, or wait for a coordinator that does with --led")
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s", stream=sys.stderr)
    try:
        asyncio.run((ManagedNode if options.led else NodeProcess)(options).run(began_s))
    except (NodeError, ServerUnknown, OpenToAll, ProblemsError, ClockError, OSError) as error:
        print(f"pflab node {options.name}: {error}", file=sys.stderr)
        return MISUSE
    except Exception as error:
        logging.exception("the traceback of this error:")
        print(f"pflab node {options.name}: {bug_line(error)}", file=sys.stderr)
        return INTERNAL
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pflab node",
        description="One public folder store as a process.",
        epilog="Example: pflab node A --topology lab.yaml --data /data --lab-secret-file /run/secrets/lab",
    )
    parser.add_argument("name", help="the server's name in the topology")
    parser.add_argument("--topology", type=Path, metavar="FILE")
    parser.add_argument("--led", action="store_true", help="wait until the coordinator begins the store")
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="where its database lies")
    parser.add_argument("--traces", type=Path, metavar="DIR", help="where its segments go; default DATA/traces")
    parser.add_argument("--lab-secret-file", type=Path, required=True, metavar="FILE", help="the same for all stores")
    parser.add_argument("--token-file", type=Path, metavar="FILE", help="what whoever asks must know, and tells others")
    parser.add_argument("--smtp-host", default="127.0.0.1")
    parser.add_argument("--smtp-port", type=int, default=0, help="0: a free one")
    parser.add_argument("--http-host", default="127.0.0.1")
    parser.add_argument("--http-port", type=int, default=0, help="0: a free one")
    parser.add_argument(
        "--tls", type=Path, metavar="DIR", help="NAME.crt, NAME.key and authority.crt: STARTTLS is a must"
    )
    parser.add_argument("--peer", type=_peer, action="append", default=[], metavar="NAME=HOST:PORT")
    parser.add_argument("--coordinator", metavar="HOST:PORT", help="whom to ask about faults")
    parser.add_argument("--run", default="lab", help="the run's id in the trace")
    parser.add_argument("--at", type=_instant, metavar="INSTANT", help="the lab time at its start")
    parser.add_argument("--rate", type=float, default=1.0, help="lab seconds per real second; 0: the clock stands")
    parser.add_argument("--held", action="store_true", help="do nothing before the coordinator has said go")
    parser.add_argument("--restore", type=Path, metavar="FILE", help="start on this backup")
    parser.add_argument("--leashed", action="store_true", help="end in order when stdin does")
    parser.add_argument("--durability", choices=("full", "normal"), default="full")
    return parser


def _peer(text: str) -> tuple[str, tuple[str, int]]:
    name, _, address = text.partition("=")
    host, _, port = address.rpartition(":")
    if not (name and host and port.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is no peer; write B=b.lab:25")
    return name, (host, int(port))


def _instant(text: str) -> int:
    try:
        return parse_instant(text)
    except TraceError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
