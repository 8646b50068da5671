"""The ids of the rules in docs/rules.yaml, which an installed pflab does not have. A test compares both."""

from __future__ import annotations

from typing import Final

_AREAS: Final = (
    "CN 9, HI 7, OUT 9, IN 5, RST 4, BF 9, ST 7, RP 6, CF 5, DL 4, DU 1, ML 7, RT 4, EV 1, SE 1, AD 1, TM 2, CV 3"
)
"""Each area, and the number of its rules, which count from 1."""

RULE_IDS: Final = tuple(
    f"{area}-{number}"
    for area, most in (each.split() for each in _AREAS.split(", "))
    for number in range(1, int(most) + 1)
)
