"""INN beside pflab: articles of 1 KB that are offered to one of three news servers until the two others have all.

The servers are three instances of `innd` on the loopback. A has an `innfeed` that sends each article to B and C as soon as A
has it. A client offers articles to A with TAKETHIS, 100 in flight, as pflab's users post 100 in a request. INN stores articles
by CNFS, with an overview (tradindexed) and a history, and calls fsync for no article: what it has accepted survives a killed
process, not a power cut. Settings are the defaults, except that innfeed queues articles in memory only.
"""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from typing import Final, Literal

from bench.ports import free_port

DURABILITY: Final = "as INN's: what was accepted survives a killed process, not a power cut"
PFLAB_DURABILITY: Final[Literal["full", "normal"]] = "normal"
ARRIVED: Final = "articles/s until B and C have all (100 in flight)"
COMPARED: Final = {ARRIVED: "bulk posts/s converged (100 a request)"}

ARTICLES: Final = 10_000
IN_FLIGHT: Final = 100
TIMEOUT_S: Final = 60.0
LOOK_S: Final = 0.01
BUFFER_KIB: Final = 131_072
LINES: Final = b"\r\n".join([b"x" * 77] * 13)  # 1 KB of text
BIN: Final = Path("/usr/lib/news/bin")  # where Debian has INN's programs
ROOT: Final = os.geteuid() == 0
USER: Final = "news" if ROOT else getpass.getuser()  # innd refuses to run as root

FOLDERS: Final = (
    *("etc", "db", "run", "log", "http", "tmp", "filter"),
    *("spool/articles", "spool/overview", "spool/incoming/bad", "spool/innfeed", "spool/outgoing"),
)
INN: Final = """
mta: "/bin/true %s"
mailcmd: /bin/true
organization: Bench
domain: bench.test
pathhost: {name}.bench.test
hismethod: hisv6
ovmethod: tradindexed
runasuser: {user}
runasgroup: {group}
bindaddress: 127.0.0.1
bindaddress6: none
port: {port}
doinnwatch: false
pathnews: {news}
pathbin: {bin}
pathdb: {folder}/db
pathetc: {folder}/etc
pathfilter: {folder}/filter
pathhttp: {folder}/http
pathlog: {folder}/log
pathrun: {folder}/run
pathtmp: {folder}/tmp
pathspool: {folder}/spool
patharchive: {folder}/spool
patharticles: {folder}/spool/articles
pathincoming: {folder}/spool/incoming
pathoutgoing: {folder}/spool/outgoing
pathoverview: {folder}/spool/overview
"""
FILES: Final = {
    "etc/incoming.conf": 'streaming: true\nmax-connections: 20\npeer bench {\n hostname: "127.0.0.1"\n}\n',
    "etc/storage.conf": "method cnfs {\n newsgroups: *\n class: 1\n options: ALL\n}\n",
    "etc/expire.ctl": "/remember/:11\n*:A:1:10:never\n",
    "etc/control.ctl": "all:*:*:drop\n",
    "db/newsgroups": "",
    "db/active.times": "",
    "db/history": "",
    "db/active": "".join(
        f"{group} 0000000000 0000000001 {flag}\n"
        for group, flag in (("control", "n"), ("control.cancel", "n"), ("junk", "n"), ("bench.posts", "y"))
    ),
}


def missing() -> str | None:
    """Return why INN cannot run here; None if it can."""
    return None if (BIN / "innd").is_file() else "innd not installed (Debian's package inn2)"


@dataclass(frozen=True, slots=True)
class Server:
    """One instance of innd, in a folder of its own."""

    name: str
    folder: Path
    port: int

    def prepare(self, feeds: Sequence[Server]) -> None:
        """Write the files of a server that sends what it gets to `feeds`."""
        for each in FOLDERS:
            (self.folder / each).mkdir(parents=True)
        group = USER if ROOT else self.folder.group()
        values = {"name": self.name, "folder": self.folder, "port": self.port, "bin": BIN, "news": BIN.parent}
        peers = [
            f"peer {each.name}.bench.test {{\n ip-name: 127.0.0.1\n port-number: {each.port}\n}}\n" for each in feeds
        ]
        channel = f"innfeed!:!*:Tc,Wnm*:{BIN}/innfeed\n"
        sites = [f"{each.name}.bench.test:*:Tm:innfeed!\n" for each in feeds]
        buffer = self.folder / "spool" / "buffer"
        files = {
            "etc/inn.conf": INN.format(user=USER, group=group, **values),
            "etc/newsfeeds": "".join(["ME:*::\n", *sites, channel if feeds else ""]),
            "etc/innfeed.conf": f"initial-sleep: 0\nhost-queue-highwater: {ARTICLES * 2}\n{''.join(peers)}",
            "etc/cycbuff.conf": f"cycbuff:ONE:{buffer}:{BUFFER_KIB}\nmetacycbuff:ALL:ONE\n",
            **FILES,
        }
        for path, text in files.items():
            (self.folder / path).write_text(text, "ascii")
        with buffer.open("wb") as file:
            file.truncate(BUFFER_KIB * 1024)
        if ROOT:
            for place in (self.folder, *self.folder.rglob("*")):
                shutil.chown(place, USER, group)
        self.run("makedbz", "-i", "-o", "-s", str(ARTICLES * 2), "-f", str(self.folder / "db" / "history"))

    def run(self, program: str, *arguments: str) -> None:
        self.start(program, *arguments).wait(TIMEOUT_S)

    def start(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        """Start one of INN's programs as the user that INN requires."""
        environment = {**os.environ, "INNCONF": str(self.folder / "etc" / "inn.conf")}
        order = [str(BIN / program), *arguments]
        with (self.folder / "log" / f"{program}.out").open("ab") as out:
            return subprocess.Popen(
                order,
                env=environment,
                cwd=self.folder,
                stdout=out,
                stderr=out,
                user=USER if ROOT else None,
                group=USER if ROOT else None,
                extra_groups=() if ROOT else None,
            )

    @contextmanager
    def running(self) -> Iterator[Client]:
        """Run innd; yield a client of it."""
        process = self.start("innd", "-f")
        try:
            with Client(self.port) as client:
                yield client
        finally:
            self.run("ctlinnd", "-t", "10", "shutdown", "the benchmark ends")
            if process.poll() is None:
                process.kill()
            process.wait(TIMEOUT_S)


class Client:
    """An NNTP connection to a server that is starting."""

    def __init__(self, port: int) -> None:
        until_s = time.monotonic() + TIMEOUT_S
        while True:
            try:
                self._socket = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S)
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                break
            except ConnectionRefusedError:
                assert time.monotonic() < until_s, "innd did not start"
                time.sleep(LOOK_S)
        self._replies = self._socket.makefile("rb")
        assert self._reply() == 200, "innd refuses the connection"

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._replies.close()
        self._socket.close()

    def ask(self, *commands: bytes) -> list[int]:
        """Return the codes of the replies to the commands. 100 are in flight: each reply lets the next command go.

        Sending 100 and waiting for 100 replies would cost 40 ms each time: innd sends its replies one by one, and each waits
        for our delayed acknowledgement of the one before.
        """
        codes = []
        self._socket.sendall(b"".join(commands[:IN_FLIGHT]))
        for number in range(len(commands)):
            codes.append(self._reply())
            self._socket.sendall(b"".join(commands[number + IN_FLIGHT : number + IN_FLIGHT + 1]))
        return codes

    def wait_for(self, numbers: range) -> bool:
        """Wait until the server has the articles; return whether it had all at once."""
        at_once, until_s = True, time.monotonic() + TIMEOUT_S
        while set(self.ask(*(b"STAT <%d@bench.test>\r\n" % number for number in numbers))) != {223}:
            assert time.monotonic() < until_s, "an article did not arrive"
            at_once = False
            time.sleep(LOOK_S)
        return at_once

    def _reply(self) -> int:
        line = self._replies.readline()
        assert line, "innd closed the connection"
        return int(line.split(b" ", 1)[0])


def _article(number: int, date: bytes) -> bytes:
    return (
        b"TAKETHIS <%(number)d@bench.test>\r\nPath: client\r\nFrom: kim@bench.test\r\nNewsgroups: bench.posts\r\n"
        b"Subject: post %(number)d\r\nDate: %(date)s\r\nMessage-ID: <%(number)d@bench.test>\r\n\r\n%(lines)s\r\n.\r\n"
    ) % {b"number": number, b"date": date, b"lines": LINES}


def figures(articles: int = ARTICLES) -> dict[str, float | str]:
    """Articles of 1 KB into one of three servers until the two others have them."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        folder.chmod(0o755)  # innd runs as another user
        first = free_port(3)
        a, *others = [Server(name, folder / name, first + number) for number, name in enumerate("abc")]
        for server in (a, *others):
            server.prepare(others if server is a else [])
        b, c, client = [stack.enter_context(server.running()) for server in (*others, a)]
        assert client.ask(b"MODE STREAM\r\n") == [203]
        date = formatdate(usegmt=True).encode()
        assert client.ask(_article(articles, date)) == [239]  # innfeed connects to B and C
        for other in (b, c):
            other.wait_for(range(articles, articles + 1))
        began_s = time.perf_counter()
        assert set(client.ask(*(_article(number, date) for number in range(articles)))) == {239}, (
            "an article was refused"
        )
        accepted_s = time.perf_counter() - began_s
        for other in (b, c):
            other.wait_for(range(articles - IN_FLIGHT, articles))
        took_s = time.perf_counter() - began_s
        if {other.wait_for(range(articles)) for other in (b, c)} != {True}:  # articles have overtaken each other
            took_s = time.perf_counter() - began_s
    return {"articles/s accepted by A": round(articles / accepted_s), ARRIVED: round(articles / took_s)}
