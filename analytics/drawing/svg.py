"""SVG elements as text, with every text made harmless."""

from __future__ import annotations

import re
import unicodedata
from html import escape
from typing import Final

LONGEST: Final = 120
"""How many characters of a text from a trace are shown. A subject may be much longer."""

_DIGITS: Final = re.compile(r"(\d+)")


def cleaned(text: str, longest: int = LONGEST) -> str:
    """Return a text from a trace for display: control characters, line separators and marks that change the direction of
    writing are shown as escapes, and a long text is cut."""
    display_text = "".join(_shown(char) for char in text[: longest + 1])
    return display_text if len(text) <= longest else f"{display_text[:longest]}…"


def _shown(char: str) -> str:
    if char in "\n\t":
        return " "
    return f"\\u{ord(char):04x}" if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"} else char


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sorting key that puts A2 before A10."""
    parts = _DIGITS.split(text)
    return tuple((0, int(part), "") if part.isdecimal() and part.isascii() else (1, 0, part) for part in parts if part)


def counted(number: int, what: str) -> str:
    """Return a number with its noun: `1 mail`, `2 mails`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def element(name: str, *children: str, **attributes: object) -> str:
    """Return an element. Attributes are cleaned and escaped; an underscore at the end of a name is dropped, others become
    hyphens, and None leaves the attribute out. `children` are markup: see `text`."""
    parts = (
        f' {key.rstrip("_").replace("_", "-")}="{escape(_value(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    opened = f"<{name}{''.join(parts)}"
    return f"{opened}>{''.join(children)}</{name}>" if children else f"{opened}/>"


def text(content: str, x: float, y: float, **attributes: object) -> str:
    """Return a text element with this content, escaped."""
    return element("text", escape(cleaned(content)), x=x, y=y, **attributes)


def title(content: str) -> str:
    """Return a title, which browsers show as a tooltip and screen readers read."""
    return element("title", escape(cleaned(content, 400)))


def picture(width: float, height: float, label: str, *children: str) -> str:
    """Return a whole picture. `label` says in a sentence what it shows, for readers who cannot see it."""
    return element(
        "svg", *children, xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {_value(width)} {_value(height)}",
        role="img", aria_label=label, class_="picture",
    )  # fmt: skip


def _value(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else cleaned(str(value), 600)
