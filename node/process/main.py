"""The command line of a store's process: what a container runs, and what `pflab up --processes` starts.

    python -m node NAME --managed --data DIR --lab-secret-file FILE --token-file FILE
    python -m node NAME --topology FILE --data DIR --lab-secret-file FILE

With --managed the process waits until a coordinator starts the store (`node.process.managed`). With --topology it starts the
store itself: one server alone, or with the peers that --peer names. Either way it listens for HTTP, prints its addresses as
one line of JSON, and runs until SIGTERM or SIGINT. After a kill, everything that the store acknowledged is still there.
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

from pydantic import TypeAdapter, ValidationError

from node.api.http_server import OpenToAll
from node.api.values import ServerUnknown
from node.errors import NodeError, bug_line
from node.host.clock import ClockError
from node.process.managed import ManagedNode
from topology.file.fields import ServerName
from topology.problems import ProblemsError
from traces.errors import TimeTextError
from traces.labtime import checked_rate
from transport.resources import raise_most_open_files

MISUSE: Final = 2

INTERNAL: Final = 70

MAX_PORT: Final = 65_535
_PORT_DIGITS: Final = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the process; return its exit code."""
    began_s = time.monotonic()
    raise_most_open_files()
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.topology is None and not options.managed:
        parser.error("give a topology file with --topology, or --managed to wait for a coordinator")
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s", stream=sys.stderr)
    try:
        asyncio.run(ManagedNode(options).run(began_s))
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
        description="Run one server of a lab: its public folder store, MTA and listener.",
        epilog="Example: pflab node A --topology lab.yaml --data /data --lab-secret-file /run/secrets/lab",
    )
    parser.add_argument("name", type=_name, help="the server's name in the topology")
    parser.add_argument(
        "--topology", type=Path, metavar="FILE", help="a topology file: start the store at once, without a coordinator"
    )
    parser.add_argument("--managed", action="store_true", help="wait until a coordinator starts the store")
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="the folder of the store's database")
    parser.add_argument(
        "--traces", type=Path, metavar="DIR", help="the folder of the trace segments; default: DATA/traces"
    )
    parser.add_argument(
        "--lab-secret-file",
        type=Path,
        required=True,
        metavar="FILE",
        help="the file of the secret that all stores of the lab share",
    )
    parser.add_argument(
        "--token-file", type=Path, metavar="FILE", help="the file of the token that every HTTP request must have"
    )
    parser.add_argument("--smtp-host", metavar="HOST", default="127.0.0.1", help="the address on which SMTP listens")
    parser.add_argument("--smtp-port", metavar="N", type=_port, default=0, help="the SMTP port; 0: a free port")
    parser.add_argument("--http-host", metavar="HOST", default="127.0.0.1", help="the address on which HTTP listens")
    parser.add_argument("--http-port", metavar="N", type=_port, default=0, help="the HTTP port; 0: a free port")
    parser.add_argument(
        "--peer",
        type=_peer,
        action="append",
        default=[],
        metavar="NAME=HOST:PORT",
        help="the address of another server; with --managed the coordinator sends it",
    )
    parser.add_argument(
        "--rate",
        type=_rate,
        default=1.0,
        help="with --topology: lab seconds for each real second; 0: the clock is paused",
    )
    parser.add_argument("--leashed", action="store_true", help="stop the server when stdin is closed")
    parser.add_argument(
        "--durability",
        choices=("full", "normal"),
        default="full",
        help="normal: a commit survives a killed process; full: it survives a power failure too",
    )
    return parser


def _name(text: str) -> str:
    try:
        return TypeAdapter(ServerName).validate_python(text)
    except ValidationError as error:
        raise argparse.ArgumentTypeError(error.errors()[0]["msg"]) from None


def _rate(text: str) -> float:
    try:
        return checked_rate(float(text))
    except TimeTextError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _peer(text: str) -> tuple[str, tuple[str, int]]:
    name, _, address = text.partition("=")
    host, _, port = address.rpartition(":")
    if not (name and host):
        raise argparse.ArgumentTypeError(f"{text!r} is not a peer; write for example B=b.lab:25")
    return name, (host, _port(port))


def _port(text: str) -> int:
    if not (text.isdecimal() and len(text) <= _PORT_DIGITS and int(text) <= MAX_PORT):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; write a number from 0 to {MAX_PORT}")
    return int(text)
