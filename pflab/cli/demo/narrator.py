"""Tells a lesson on the terminal: its texts and questions, what has changed at each step, and prompts that take commands.

At a prompt the lab is up, and its HTTP API serves it. So every verb of pflab works there, typed at the prompt or in another
terminal in the same folder.
"""

from __future__ import annotations

import asyncio
import shlex
import signal
import sys
from collections.abc import Awaitable, Callable

from rich.console import Console, RenderableType
from rich.segment import SegmentLines
from rich.text import Text

from pflab.cli.app import VERBS
from pflab.cli.demo.what_changed import WhatChanged
from pflab.scenario.lesson import Narration, Quiz
from pflab.scenario.load import Step
from pflab.scenario.session import Play
from pflab.terms.event_words import to_the_second

Reader = Callable[[], Awaitable[str]]
"""Returns the next line that the reader types."""


class Narrator:
    """Prints each text, question and answer of a lesson when its step comes. With `ask` it waits for the reader, with
    `notes` it prints the presenter's notes."""

    def __init__(self, console: Console, ask: bool, reader: Reader | None = None, *, notes: bool = False) -> None:
        self.changes = WhatChanged()
        self._console = console
        self._ask = ask
        self._notes = notes
        self._read = reader or _line_of_terminal
        self._quiz: Quiz | None = None
        self._predicted: str | None = None

    async def tell(self, step: Step, play: Play) -> None:
        """Print what has changed, and then the text of this step. The runner calls this as its `StepWatcher`."""
        if step.number == 1:
            await self.show_changes(play)
        if isinstance(step.args, Quiz):
            await self.show_changes(play)
            await self._ask_question(step.args)
        elif isinstance(step.args, Narration):
            await self.show_changes(play)
            paragraphs: list[RenderableType] = [
                "",
                Text.assemble((f"{to_the_second(play.lab.now)}  ", "cyan"), step.args.text),
            ]
            if step.verb == "reveal":
                paragraphs += self._answer()
            paragraphs += self._notes_of(step.args)
            await self.show(*paragraphs)
            await self.prompt("Press Enter to continue, or type a command such as pflab state:")

    async def show_changes(self, play: Play) -> None:
        """Print what has changed since the last step."""
        parts = list(self.changes.show(play))
        if parts:
            await self.show(*(paragraph for part in parts for paragraph in ("", part)))

    async def show(self, *parts: RenderableType) -> None:
        """Print something; with `ask`, a page at a time."""
        if not self._ask:
            for part in parts:
                self._console.print(part)
            return
        lines = [line for part in parts for line in self._console.render_lines(part, pad=False)]
        height = max(4, self._console.height - 2)
        for first in range(0, len(lines), height):
            if first:
                await self.prompt("Press Enter for more:")
            self._console.print(SegmentLines(lines[first : first + height], new_lines=True), end="")

    async def prompt(self, question: str) -> str:
        """Wait for a line, and return it. A line that is a command of pflab is run first, and then the question comes again."""
        while self._ask:
            self._console.print(Text(f"{question} ", style="dim"), end="")
            typed = (await self._read()).strip()
            if not await _run_command(typed):
                return typed
        return ""

    async def _ask_question(self, quiz: Quiz) -> None:
        await self.show(
            "",
            Text(quiz.ask, style="bold"),
            *(Text(f"  {number}. {choice}") for number, choice in enumerate(quiz.choices, start=1)),
            *self._notes_of(quiz),
        )
        self._quiz, self._predicted = quiz, None
        while self._ask and self._predicted is None:
            typed = await self.prompt(f"What do you expect? 1 to {len(quiz.choices)}, or Enter for no answer:")
            if not typed:
                break
            if typed.isdecimal() and 0 < int(typed) <= len(quiz.choices):
                self._predicted = quiz.choices[int(typed) - 1]

    def _notes_of(self, text: Narration | Quiz) -> list[RenderableType]:
        return [Text(f"Notes: {text.notes}", style="magenta")] if self._notes and text.notes else []

    def _answer(self) -> list[RenderableType]:
        quiz, self._quiz = self._quiz, None
        if quiz is None:
            return []
        lines: list[RenderableType] = []
        if self._predicted == quiz.answer:
            lines.append(Text("Your answer is right.", style="green"))
        elif self._predicted is not None:
            lines.append(Text(f"Your answer: {self._predicted}", style="yellow"))
        return [*lines, Text(f"The answer: {quiz.answer}", style="bold"), Text(quiz.because)]


async def _run_command(typed: str) -> bool:
    """Run a line that is a command of pflab, such as `pflab state` or `state`. Return whether it is one."""
    try:
        words = shlex.split(typed)
    except ValueError:
        return False
    args = words[1:] if words[:1] == ["pflab"] else words
    if not args or (args == words and args[0] not in VERBS):
        return False
    # Ctrl-C ends the command and not the lesson. A command that is started does not inherit this handler.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        sys.stdout.flush()
        command = [sys.executable, "-c", "from pflab.cli import main; main()", *args]
        await (await asyncio.create_subprocess_exec(*command)).wait()
    finally:
        signal.signal(signal.SIGINT, before)
    return True


async def _line_of_terminal() -> str:
    """Return the next line that the user types, or '' at the end of input. The event loop runs meanwhile, so Ctrl-C works."""
    typed = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin, typed.set)
    try:
        await typed.wait()
    finally:
        loop.remove_reader(sys.stdin)
    return sys.stdin.buffer.readline().decode(sys.stdin.encoding, "replace")
