"""The columns and colours of events on the terminal. Only verbs that show events import this module, because it needs the
libraries of a lab.

The words of each event are in `pflab.terms.event_words`.
"""

from __future__ import annotations

from rich.text import Text

from pflab.runs.event_lines import NODE_COLUMNS, columns, style_of
from pflab.terms.event_words import Lexicon, tag_of
from pflab.terms.printable import printable
from traces.events import Event


def styled_line(event: Event, names: Lexicon) -> Text:
    """Return an event as one line; its type gives the colour."""
    at, node, text = columns(event, names)
    line = Text(f"{at}  ", style="dim")
    line.append(f"{printable(node):<{NODE_COLUMNS}}  ", style="bold")
    line.append(printable(text), style=style_of(tag_of(event)))
    return line
