"""Postfix beside pflab: mails of 1 KB that one Postfix accepts by SMTP, stores in its queue and delivers by SMTP.

`smtp-source` sends the mails over the loopback with 8 connections; each connection sends its next mail when the last has been
accepted. `smtp-sink` receives and discards them. Postfix delivers each mail once; a change of pflab goes to two stores. Postfix
calls fsync for each mail before it accepts it. Its settings are the defaults, except addresses, folders and no lookups in DNS.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, Literal

from bench.ports import free_port

DURABILITY: Final = "as Postfix's: an fsync for each mail before it is accepted"
PFLAB_DURABILITY: Final[Literal["full", "normal"]] = "full"
DELIVERED: Final = "mails/s delivered, 8 in flight"
COMPARED: Final = {DELIVERED: "8 users: changes/s visible"}

MAILS: Final = 2_000
IN_FLIGHT: Final = 8
MAIL_BYTES: Final = 1_024
PROGRAMS: Final = ("postfix", "smtp-source", "smtp-sink")
FOLDERS: Final = f"{os.environ.get('PATH', '')}:/usr/sbin"
USER: Final = "postfix"

MAIN: Final = """
compatibility_level = 3.6
queue_directory = {folder}/queue
data_directory = {folder}/data
maillog_file = {folder}/log
maillog_file_prefixes = {folder}
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = postfix.bench.test
mydestination =
mynetworks = 127.0.0.0/8
alias_maps =
smtpd_peername_lookup = no
smtp_host_lookup = native
"""

MASTER: Final = """
127.0.0.1:{port} inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
error unix - - n - - error
retry unix - - n - - error
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
"""


def missing(programs: Sequence[str] = PROGRAMS) -> str | None:
    """Return why Postfix cannot run here; None if it can."""
    absent = [name for name in programs if shutil.which(name, path=FOLDERS) is None]
    if absent:
        return f"{', '.join(absent)} not installed (Debian's package postfix)"
    return None if os.geteuid() == 0 else "Postfix can be started by root only"


def program(name: str) -> str:
    """Return the path of a program of Postfix."""
    found = shutil.which(name, path=FOLDERS)
    assert found is not None, f"{name} is not installed"
    return found


@contextmanager
def own_postfix(folder: Path, port: int, settings: str, services: str = "") -> Iterator[Path]:
    """Run a Postfix of our own that listens at `port`; yield its configuration folder. `settings` and `services` are added to
    its main.cf and master.cf."""
    folder.chmod(0o755)  # Postfix's programs run as another user
    for name in ("etc", "queue", "data"):
        (folder / name).mkdir()
    shutil.chown(folder / "data", USER, USER)
    (folder / "etc" / "main.cf").write_text(MAIN.format(folder=folder) + settings, "ascii")
    (folder / "etc" / "master.cf").write_text(MASTER.format(port=port) + services, "ascii")
    order = [program("postfix"), "-c", str(folder / "etc")]
    subprocess.run([*order, "start"], check=True, capture_output=True)
    try:
        yield folder / "etc"
    finally:
        subprocess.run([*order, "stop"], check=True, capture_output=True)


def _wait_for(sink: IO[bytes], mails: int) -> None:
    """Read the counters that the sink prints until it has the mails."""
    text = b""
    while (counts := re.findall(rb"mesg=(\d+)", text)) == [] or int(counts[-1]) < mails:
        more = os.read(sink.fileno(), 4096)
        assert more, "smtp-sink has ended"
        text = (text + more)[-200:]


def figures(mails: int = MAILS) -> dict[str, float | str]:
    """Mails of 1 KB from smtp-source through Postfix until smtp-sink has all."""
    sink = free_port(2)
    port = sink + 1
    order = [program("smtp-sink"), "-u", USER, "-c", f"127.0.0.1:{sink}", "128"]
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen(order, stdout=subprocess.PIPE) as receiver:
        try:
            with own_postfix(Path(folder), port, f"relayhost = [127.0.0.1]:{sink}\n"):
                send = [program("smtp-source"), "-s", str(IN_FLIGHT), "-l", str(MAIL_BYTES)]
                send += ["-f", "a@bench.test", "-t", "b@bench.test"]
                subprocess.run(
                    [*send, "-m", "1", f"127.0.0.1:{port}"], check=True
                )  # smtp-source waits for the listener
                assert receiver.stdout is not None
                _wait_for(receiver.stdout, 1)
                began_s = time.perf_counter()
                subprocess.run([*send, "-m", str(mails), f"127.0.0.1:{port}"], check=True)
                accepted_s = time.perf_counter() - began_s
                _wait_for(receiver.stdout, mails + 1)
                took_s = time.perf_counter() - began_s
        finally:
            receiver.terminate()
    return {"mails/s accepted, 8 in flight": round(mails / accepted_s), DELIVERED: round(mails / took_s)}
