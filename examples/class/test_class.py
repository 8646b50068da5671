"""The exercises: unsolved they fail, and each solution changes the answer only. pytest plays the solutions by itself."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXERCISES = sorted((Path(__file__).parent / "exercises").glob("*.yaml"))


def without_answer(path):
    return re.sub(r"# Your answer.*# End of your answer", "", path.read_text("utf-8"), flags=re.DOTALL)


def test_an_exercise_fails_until_it_is_solved():
    done = subprocess.run(
        [sys.executable, "-m", "pflab", "run", "--simulate", "--json", *EXERCISES],
        capture_output=True,
        text=True,
        check=False,
    )
    assert [each["passed"] for each in json.loads(done.stdout)] == [False, False, False]


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda path: path.stem)
def test_a_solution_changes_the_answer_only(exercise):
    solution = exercise.parent.parent / "solutions" / exercise.name
    assert without_answer(solution) == without_answer(exercise)
    assert solution.read_text("utf-8") != exercise.read_text("utf-8")
