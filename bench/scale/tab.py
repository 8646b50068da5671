"""Measure the lab in a browser tab, and the same play in Python on this machine (`make bench-tab`).

    python -m bench.scale.tab              once, with the files in build/site/lab, which `make site` builds
    python -m bench.scale.tab --runs 5     five times: the medians, the least and the largest figures

The files come from a web server on this machine, so the network takes no time.

sent_mb        all files, if the server compresses with gzip what is not compressed
cold_shown_s, warm_shown_s
               in Chromium, from the request for the page until the picture of the organization is there
cold_ready_s, warm_ready_s
               until the lab is up and the console shows it. Cold: the browser was never used. Warm: it has kept the files
start_cpu_s    processor seconds of the thread in which Python starts, in Node.js, until the lab is up; the browser's page, and
               threads that compile WebAssembly, work beside it
step_ms, native_step_ms
               a step of a lesson in Node.js and in Python on this machine: the mean of all steps of LESSONS
slowest_step_ms, native_slowest_step_ms
               the slowest of these steps
hour_s, native_hour_s
               an hour of play without the time in which a person thinks: 600 posts, 60 movements of the clock, and what the
               console reads after each of these
begun_mib, hour_mib
               memory of the process of Node.js before and after that hour
load           how many processes of the machine wanted a processor, in the mean of the last minute
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Final

from playwright.sync_api import Playwright, sync_playwright

from bench.summary import Outcome, median, shown, shown_spread
from tests.support.chromium import chromium
from tests.support.lab_site import StaticServer
from tests.support.node_lab import NodeLab
from tests.support.tab import opened
from topology.file.examples import EXAMPLES

SITE: Final = Path(__file__).resolve().parents[2] / "build" / "site" / "lab"
LESSONS: Final = ("lost-mail", "six-groups", "conflict")
MINUTES: Final = 60
POSTS: Final = 10
"""In each minute."""
SERVERS: Final = "ABCE"
"""The holders of Projects."""

LONGEST_MS: Final = 300_000
SEEN: Final = """
    window.seen = {};
    const kinds = {shown: ".opening .card", ready: "[role=tab]", asked: ".choice button:last-child:enabled"};
    new MutationObserver(() => {
        for (const [kind, selector] of Object.entries(kinds)) {
            const found = !(kind in seen) && document.querySelector(selector);
            if (!found) continue;
            seen[kind] = performance.now() / 1000;
            if (kind === "asked") found.click();
        }
    }).observe(document, {subtree: true, childList: true, attributes: true});
"""
"""Notes when a page shows something; asked whether to go on with the lab that the browser has kept, it starts over."""

Ask = Callable[[str, str, object], str]
"""Sends a request with a method, a target and a body, and returns the body of the answer."""


def in_chromium(playwright: Playwright, url: str, profile: Path) -> dict[str, float]:
    """Open the page, and return when it has shown what."""
    with closing(
        playwright.chromium.launch_persistent_context(profile, executable_path=chromium(), args=["--no-sandbox"])
    ) as context:
        context.add_init_script(SEEN)
        page = context.new_page()
        page.goto(url)
        page.wait_for_selector("[role=tab]", timeout=LONGEST_MS)
        seen: dict[str, float] = page.evaluate("window.seen")
        return seen


def steps_ms(ask: Ask) -> Iterator[float]:
    """Play lessons to their ends, and yield the time of each step."""
    for name in LESSONS:
        lesson = f"/lessons/{json.loads(ask('POST', '/lessons', {'name': name}))['id']}"
        status = "waiting"
        while status == "waiting":
            began = time.monotonic()
            ask("POST", f"{lesson}/next", {})
            yield (time.monotonic() - began) * 1000
            status = json.loads(ask("GET", f"{lesson}/lesson", None))["status"]
        assert status == "finished", f"{name} is {status}"
        ask("DELETE", lesson, None)


def hour_s(ask: Ask) -> float:
    """Play for an hour, and return the real time."""
    began, known = time.monotonic(), 0
    for minute in range(MINUTES):
        for nth in range(POSTS):
            post = {"folder": "Projects", "subject": f"Post {nth}", "body": f"Text of minute {minute}. " * 20}
            ask("POST", f"/nodes/{SERVERS[nth % len(SERVERS)]}/messages", post)
        ask("POST", "/lab/clock/advance", {"to": "1 h"})
        ask("GET", "/lab", None)
        known += ask("GET", f"/lab/events?words=true&after={known}", None).count("\n")
    return time.monotonic() - began


def resident_mib(process: int) -> float:
    """Return the memory of a process."""
    fields = Path(f"/proc/{process}/statm").read_text("ascii").split()
    return int(fields[1]) * os.sysconf("SC_PAGESIZE") / 2**20


def cpu_s(process: int) -> float:
    """Return the processor time of the first thread of a process."""
    return int(Path(f"/proc/{process}/task/{process}/schedstat").read_text("ascii").split()[0]) / 1e9


def played(ask: Ask) -> dict[str, float]:
    """Return the figures of play."""
    steps = list(steps_ms(ask))
    return {"step_ms": statistics.fmean(steps), "slowest_step_ms": max(steps), "hour_s": hour_s(ask)}


def in_node() -> dict[str, float]:
    """Return the figures of the files in Node.js."""
    with closing(NodeLab(SITE)) as lab:

        def ask(method: str, target: str, body: object) -> str:
            status, content = lab.answer(method, target, body)
            assert status < HTTPStatus.BAD_REQUEST, content
            return content

        ask("GET", "/lab", None)
        started = cpu_s(lab.process)
        begun = resident_mib(lab.process)
        figures = played(ask)
        return {"start_cpu_s": started, **figures, "begun_mib": begun, "hour_mib": resident_mib(lab.process)}


@contextmanager
def native(folder: Path) -> Iterator[Ask]:
    """Open a lab in this process."""
    with asyncio.Runner() as runner:
        lab = opened(folder, (EXAMPLES / "default.yaml").read_text("utf-8"))
        page = runner.run(lab.__aenter__())

        def ask(method: str, target: str, body: object) -> str:
            answer = runner.run(page.answer(method, target, b"" if body is None else json.dumps(body).encode()))
            assert answer.status < HTTPStatus.BAD_REQUEST, answer.body
            return answer.body.decode()

        try:
            yield ask
        finally:
            runner.run(lab.__aexit__(None, None, None))


def sent_mb() -> float:
    """Return the size of all files as they are sent."""
    contents = (path.read_bytes() for path in SITE.rglob("*") if path.is_file())
    return sum(min(len(content), len(gzip.compress(content))) for content in contents) / 1e6


def figures() -> dict[str, float]:
    """Measure once."""
    found = {"sent_mb": sent_mb()}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        with StaticServer(SITE) as server, sync_playwright() as playwright:
            for name in ("cold", "warm"):
                seen = in_chromium(playwright, server.url, Path(place) / "profile")
                found |= {f"{name}_shown_s": seen["shown"], f"{name}_ready_s": seen["ready"]}
        found |= in_node()
        with native(Path(place)) as ask:
            found |= {f"native_{name}": value for name, value in played(ask).items()}
    return {**found, "load": os.getloadavg()[0]}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.scale.tab", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1, help="how often (default: %(default)s)")
    runs = parser.parse_args().runs
    if chromium() is None:
        raise SystemExit("Chromium is not installed; on Debian: apt-get install chromium")
    if not SITE.is_dir():
        raise SystemExit("make site builds what is measured")
    outcome = Outcome("tab")
    for _ in range(runs):
        outcome.add(figures())
    for name, values in outcome.values.items():
        print(f"{name:24} {shown(median(values)):>8} {shown_spread(values)}")


if __name__ == "__main__":
    main()
