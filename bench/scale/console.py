"""Measure the console in Chromium beside a live lab of 12 servers and 1,000 folders, with 54,000 events and with a million
(`make bench-console`).

    python -m bench.scale.console              54,000 events, and then 1,000,000
    python -m bench.scale.console 5000         about this number of events

The lab is real: its servers replicate over sockets until it has the events. As in `pflab up`, it keeps only the newest ones in
memory, and a checkpoint of what the others have led to. Then Chromium opens the console, each time as a new page.

shown_ms       from the request for the page until the map is on the screen
caught_up_ms   until the console has all events
click_ms       from a click on a server until the frame that shows its panel; the largest of all servers
travel_ms      from a movement of the slider until the frame that shows that moment; the largest of 20 moments
replay_frames_s, live_frames_s
               frames in each second while mails move over the map: while the past is played, and while the clock moves on
replay_gap_ms, live_gap_ms
               the time between two frames; 95 of 100 are shorter
replay_moving, live_moving
               the most envelopes that moved at once
heap_mib       JavaScript's memory at the end
held           how many events the page has
load           how many processes of the machine wanted a processor, in the mean of the last minute
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from node.api.http_server import HttpServer
from pflab.drivers.live import LiveLab
from pflab.runs.recorder import MOST_HELD
from pflab.runs.run_folder import RunFolder
from pflab.server.app import app_of_live_lab
from tests.support.chromium import Browser, chromium
from topology.file.load import topology_from_text
from traces.labtime import HOUR_US

EVENTS: Final = (54_000, 1_000_000)
SITES: Final = 4
SERVERS: Final = 12
FOLDERS: Final = 1_000
HOLDERS: Final = 4

CAUGHT_UP: Final = "performance.getEntriesByName('caught up').length"
FIGURES: Final = """(() => {
    const at = name => performance.getEntriesByName(name)[0].startTime;
    return {shown_ms: at('lab shown'), caught_up_ms: at('caught up')};
})()"""
FRAME: Final = "const frame = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));"
CLICKS: Final = f"""(async () => {{
    {FRAME}
    let longest = 0;
    for (const card of document.querySelectorAll('.card')) {{
        const began = performance.now();
        card.dispatchEvent(new MouseEvent('click', {{bubbles: true}}));
        await frame();
        longest = Math.max(longest, performance.now() - began);
    }}
    return longest;
}})()"""
TRAVELS: Final = f"""(async () => {{
    {FRAME}
    const slider = document.querySelector('.travel input[type=range]');
    let longest = 0;
    for (let nth = 1; nth <= 20; nth++) {{
        const began = performance.now();
        slider.value = Math.round(Number(slider.min) + (slider.max - slider.min) * nth / 21);
        slider.dispatchEvent(new Event('input', {{bubbles: true}}));
        await frame();
        longest = Math.max(longest, performance.now() - began);
    }}
    return longest;
}})()"""
COUNTED: Final = """
    const counted = async (name) => {
        const gaps = [];
        let most = 0, last = performance.now();
        const began = last;
        while (last - began < 4000) {
            await new Promise(requestAnimationFrame);
            gaps.push(performance.now() - last);
            last += gaps.at(-1);
            most = Math.max(most, document.querySelectorAll('.envelope').length);
        }
        const frames_s = gaps.length / ((last - began) / 1000);
        const gap_ms = gaps.sort((a, b) => a - b)[Math.floor(gaps.length * 0.95)];
        return {[`${name}_frames_s`]: frames_s, [`${name}_gap_ms`]: gap_ms, [`${name}_moving`]: most};
    };"""
REPLAY: Final = f"""(async () => {{
    {COUNTED}
    [...document.querySelectorAll('.travel button')].find(button => button.textContent.trim() === 'Play').click();
    return counted('replay');
}})()"""
LIVE: Final = f"""(async () => {{
    {COUNTED}
    const order = (path, body) => fetch(path, {{
        method: 'POST', headers: {{'Content-Type': 'application/json'}}, body: JSON.stringify(body),
    }});
    document.querySelector('.travel .present').click();
    for (let nth = 0; nth < 200; nth++) {{
        const folder = `Folder${{String(nth).padStart(4, '0')}}`;
        await order(`/nodes/N${{nth % {SERVERS} + 1}}/messages`, {{folder, subject: `Live ${{nth}}`}});
    }}
    const moved = order('/lab/clock/advance', {{to: '15 min'}});
    const found = await counted('live');
    if (!(await moved).ok) throw new Error('the lab did not move on');
    return found;
}})()"""


def topology() -> str:
    sites = [f"S{number}" for number in range(1, SITES + 1)]
    servers = [f"N{number}" for number in range(1, SERVERS + 1)]
    lines = ["organization: Large", "domain: large.test", "start: 2003-10-21T00:00Z", f"sites: [{', '.join(sites)}]"]
    lines += ["connectors:"]
    lines += [
        f"  - {{name: {one}-{other}, kind: routing-group, between: [{one}, {other}], cost: 10, latency: 80 ms}}"
        for one, other in pairwise(sites)
    ]
    lines += ["servers:"]
    lines += [f'  {name}: {{site: {sites[nth % SITES]}, version: "2003"}}' for nth, name in enumerate(servers)]
    lines += ["folders:"]
    for nth in range(FOLDERS):
        holders = ", ".join(servers[(nth + step * 5) % SERVERS] for step in range(HOLDERS))
        lines.append(f"  Folder{nth:04}: {{replicas: [{holders}]}}")
    return "\n".join(lines)


async def fill(lab: LiveLab, wanted: int) -> None:
    """Post to one folder after the other until the lab has so many events."""
    nth = 0
    while lab.record.count < wanted:
        for _ in range(200):
            path = f"Folder{nth % FOLDERS:04}"
            server = lab.topology.folders[path].replicas[nth // FOLDERS % HOLDERS]
            await lab.do(server, lambda node, now, path=path, nth=nth: node.post(now, path, subject=f"Post {nth}"))  # type: ignore[misc]
            nth += 1
        await lab.advance(lab.now + HOUR_US // 4)
        print(f"  {lab.record.count} events", file=sys.stderr)


def measure(url: str, program: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, Browser(program, Path(profile)) as browser:
        browser.open_url(url, 1440, 900, dark=True)
        while not browser.value(CAUGHT_UP):
            pass
        found = dict(browser.value(FIGURES))
        found["click_ms"] = browser.value(CLICKS)
        found["travel_ms"] = browser.value(TRAVELS)
        found |= browser.value(REPLAY)
        found |= browser.value(LIVE)
        found["heap_mib"] = browser.value("performance.memory.usedJSHeapSize / 2 ** 20")
        found["held"] = browser.value(
            "(({min, max}) => max - min)(document.querySelector('.travel input[type=range]'))"
        )
        found["load"] = os.getloadavg()[0]
        return found


async def run(events: Sequence[int], program: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = RunFolder.create(Path(place), "bench")
        lab = LiveLab(topology_from_text(topology()), seed=1, folder=folder, most_events=MOST_HELD)
        server = HttpServer(app_of_live_lab(lambda: lab))
        async with lab:
            host, port = await server.start()
            try:
                for wanted in events:
                    await fill(lab, wanted)
                    count = lab.record.count
                    figures = await asyncio.to_thread(measure, f"http://{host}:{port}/", program)
                    told = "  ".join(f"{name}={value:.0f}" for name, value in figures.items())
                    print(f"events={count}  {told}", flush=True)
            finally:
                await server.stop()


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.scale.console", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "events", nargs="*", type=int, default=EVENTS, help="how many events the lab has (default: %(default)s)"
    )
    events = parser.parse_args().events
    program = chromium()
    if program is None:
        raise SystemExit("Chromium is not installed; on Debian: apt-get install chromium")
    asyncio.run(run(events, program))


if __name__ == "__main__":
    main()
