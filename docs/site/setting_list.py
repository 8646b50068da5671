"""The page of the settings: each with its place in Exchange, from the catalogue."""

from __future__ import annotations

from topology.enums import ALL_VERSIONS, ServerVersion
from topology.settings.catalogue import SPECS
from topology.settings.spec import DWORD_MAX, LEVEL_NAMES, Kind, Place, SettingSpec
from topology.settings.values import value_text

HEAD = """# Settings

Each setting of a server, by the name that it had in Exchange. [Topologies](topology.md#settings) says how to write them, and
`pflab settings` shows and changes those of a running lab.
"""


def render() -> str:
    """Return the page."""
    parts = [HEAD]
    for place in Place:
        specs = [spec for spec in SPECS if spec.place is place]
        if specs:
            parts.append(f"\n## {_TITLES[place]}\n\n`{place}`\n" if "\\" in place else f"\n## {_TITLES[place]}\n")
            parts += [_setting(spec) for spec in specs]
    return "".join(parts)


_TITLES = {
    Place.REGISTRY: "In the registry, for each store",
    Place.REGISTRY_5_5: "In the registry, for all stores of a server",
    Place.DIAGNOSTICS: "Diagnostics logging",
    Place.DIRECTORY: "In the directory, on the store",
    Place.MTA: "In the directory, on the server's message transfer",
    Place.LAB: "Only in the lab",
}


def _setting(spec: SettingSpec) -> str:
    low, high = value_text(spec, spec.low), value_text(spec, spec.high)
    numbers = f"{low} or more" if spec.high >= DWORD_MAX * spec.unit_size else f"{low} to {high}"
    facts = [f"a {spec.kind.value}" + (f", kept in {spec.unit}" if spec.unit else "")]
    facts.append(f"default: {value_text(spec, spec.default)}")
    if spec.kind in {Kind.DURATION, Kind.COUNT, Kind.SIZE}:
        facts.append(f"range: {numbers}")
    if spec.kind is Kind.LEVEL:
        facts += [
            f"levels: {', '.join(LEVEL_NAMES[ServerVersion.V2003].values())}",
            f"levels of 2007: {', '.join(LEVEL_NAMES[ServerVersion.V2007].values())}",
        ]
    if spec.versions != ALL_VERSIONS:
        facts.append(f"only versions {', '.join(spec.versions)}")
    if spec.moved_to_directory:
        facts.append(f"versions {', '.join(spec.moved_to_directory)} keep it in the directory")
    if spec.aliases:
        facts.append("other names: " + ", ".join(f"`{each}`" for each in spec.aliases))
    return f"\n### {spec.name}\n\n*{'; '.join(facts)}*\n\n{spec.does[0].upper()}{spec.does[1:]}.\n"
