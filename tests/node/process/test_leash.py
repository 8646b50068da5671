"""A process ends when its standard input is closed."""

from __future__ import annotations

import subprocess
import sys

from node.process.leash import KILLED
from pflab.drivers.launch import node_environment

HANGS = """
from node.process.leash import end_with_parent
end_with_parent(lambda: print("end", flush=True), patience_s=0.1)
print("up", flush=True)
while True:
    pass
"""


def test_a_process_that_hangs_is_killed_after_its_parent_has_gone() -> None:
    """When standard input is closed, the process is told to end. If it does not, it is killed."""
    pipe = subprocess.PIPE
    order = [sys.executable, "-c", HANGS]
    with subprocess.Popen(order, stdin=pipe, stdout=pipe, text=True, env=node_environment()) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        process.stdin.write("this is not the end\n")
        process.stdin.close()
        assert process.stdout.read() == "end\n"
        assert process.wait() == KILLED
