"""The recipient policies of an organization, and how often the recipient update service runs (spec: ML-1).

A recipient policy has a name, a filter that says to which stores it applies, and the domain of the addresses that it gives. The
policies are in a list, in the order of their priority. The first one that applies to a store gives it its address. The Default
Policy has the lowest priority and applies to every store, so each store gets an address.

Example: with these policies, the store of a server of 2003 in London gets an address of fabrikam.test, one of 5.5 in London
gets one of adatum.test, and every other store gets one of contoso.test.

| priority | name | filter | domain |
|---|---|---|---|
| 1 | London 5.5 | sites LON, versions 5.5 | adatum.test |
| 2 | London | sites LON | fabrikam.test |
| lowest | Default Policy | - | contoso.test |
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from topology.arguments import PolicyFields
from topology.enums import ServerVersion
from topology.problems import ValueTextError, did_you_mean, one_of, quoted
from traces.errors import TimeTextError
from traces.labtime import DAY_US, MINUTE_US, format_duration, parse_duration

MAX_DOMAIN: Final = 200
MAX_POLICIES: Final = 100
MAX_POLICY_NAME: Final = 64

DEFAULT_POLICY: Final = "Default Policy"
"""The name of the policy that applies to every store, with the lowest priority."""

_NAME: Final = re.compile(r"[^\W_](?:[\w .&'-]*[\w.])?")
_LABEL: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?", re.ASCII)


def parse_recipient_update(text: str) -> int | None:
    """Return how often the service runs, in microseconds: 0 for `always`, None for `never`.

    Raises ValueTextError for another text than these two or a duration from a minute to a day.
    """
    if text in {"always", "never"}:
        return 0 if text == "always" else None
    try:
        interval_us = parse_duration(text)
    except TimeTextError:
        interval_us = 0
    if not MINUTE_US <= interval_us <= DAY_US:
        raise ValueTextError(
            f"{quoted(text)} is not an update interval",
            "write always, never, or a duration from 1 min to 1 d, such as 1 h",
        )
    return interval_us


def format_recipient_update(interval_us: int | None) -> str:
    """Return how often the service runs as text; `parse_recipient_update` reads it back."""
    if not interval_us:
        return "never" if interval_us is None else "always"
    return format_duration(interval_us)


def parse_mail_domain(text: str) -> str:
    """Return a mail domain. Raises ValueTextError if the text is none."""
    if len(text) > MAX_DOMAIN or not all(_LABEL.fullmatch(label) for label in text.split(".")):
        raise ValueTextError(
            f"{quoted(text)} is not a mail domain",
            "use letters, digits and hyphens between dots, such as contoso.test",
        )
    return text


def parse_policy_name(text: str) -> str:
    """Return the name of a recipient policy. Raises ValueTextError if the text is none, or is that of the Default Policy."""
    if text.casefold() == DEFAULT_POLICY.casefold():
        raise ValueTextError(
            f"every organization has the {DEFAULT_POLICY} already", "choose another name, or change its domain"
        )
    if len(text) > MAX_POLICY_NAME or _NAME.fullmatch(text) is None:
        raise ValueTextError(
            f"{quoted(text)} is not a name for a recipient policy",
            "use letters, digits, spaces and . & ' - _, beginning with a letter or digit;"
            f" at most {MAX_POLICY_NAME} characters",
        )
    return text


@dataclass(frozen=True, slots=True)
class PolicyFilter:
    """Says to which stores a policy applies: those of these sites, of these servers, and of these versions. An empty part means
    all, and not every part is empty."""

    sites: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    versions: tuple[ServerVersion, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.sites or self.servers or self.versions)

    def applies_to(self, server: str, site: str, version: str) -> bool:
        """Return whether the store of a server meets each part of the filter."""
        parts: tuple[tuple[Sequence[str], str], ...] = (
            (self.sites, site),
            (self.servers, server),
            (self.versions, version),
        )
        return all(not names or name in names for names, name in parts)

    def as_document(self) -> dict[str, list[str]]:
        """Return the filter in the form of a topology file."""
        parts: dict[str, Sequence[str]] = {"sites": self.sites, "servers": self.servers, "versions": self.versions}
        return {part: [str(name) for name in names] for part, names in parts.items() if names}


@dataclass(frozen=True, slots=True)
class RecipientPolicy:
    """A recipient policy other than the Default Policy."""

    name: str
    domain: str
    filter: PolicyFilter

    def as_document(self) -> dict[str, Any]:
        """Return the policy in the form of a topology file."""
        return {"name": self.name, "domain": self.domain, "filter": self.filter.as_document()}


@dataclass(frozen=True, slots=True)
class RecipientPolicies:
    """All recipient policies of an organization. The methods that change them return others, and raise ValueTextError.

    default_domain: the domain of the Default Policy.
    others: the other policies, in the order of their priority.
    """

    default_domain: str
    others: tuple[RecipientPolicy, ...] = ()

    def domain_of(self, server: str, site: str, version: str) -> str:
        """Return the domain of the address that the store of a server gets."""
        policies = (policy.domain for policy in self.others if policy.filter.applies_to(server, site, version))
        return next(policies, self.default_domain)

    def as_documents(self) -> list[dict[str, Any]]:
        """Return the policies in the order of their priority, with the Default Policy, which has no filter."""
        numbered = [{**policy.as_document(), "priority": number} for number, policy in enumerate(self.others, 1)]
        default = {"name": DEFAULT_POLICY, "domain": self.default_domain, "filter": None, "priority": "lowest"}
        return [*numbered, default]

    def added(self, name: str, fields: PolicyFields, known: "KnownNames") -> "RecipientPolicies":
        """Return the policies with a new one. Without a priority it comes before the Default Policy only."""
        parse_policy_name(name)
        if any(policy.name.casefold() == name.casefold() for policy in self.others):
            raise ValueTextError(
                f"there is a recipient policy {quoted(name)} already", "change it, or choose another name"
            )
        if len(self.others) >= MAX_POLICIES:
            raise ValueTextError(f"there are {MAX_POLICIES} recipient policies already", "remove one first")
        if fields.get("domain") is None or fields.get("filter") is None:
            raise ValueTextError("the recipient policy has no domain or no filter", "a new policy needs both")
        policy = _with(RecipientPolicy(name, self.default_domain, PolicyFilter()), fields, known)
        return replace(self, others=_placed(self.others, policy, fields.get("priority"), len(self.others) + 1))

    def changed(self, name: str, fields: PolicyFields, known: "KnownNames") -> "RecipientPolicies":
        """Return the policies with another domain, filter or priority of one. The Default Policy has only a domain."""
        if name.casefold() == DEFAULT_POLICY.casefold():
            if fields.get("filter") is not None or fields.get("priority") is not None:
                raise ValueTextError(
                    f"the {DEFAULT_POLICY} applies to every store, with the lowest priority",
                    "only its domain can be changed",
                )
            domain = fields.get("domain")
            return self if domain is None else replace(self, default_domain=parse_mail_domain(domain))
        index = self._index(name)
        others = (*self.others[:index], *self.others[index + 1 :])
        policy = _with(self.others[index], fields, known)
        return replace(self, others=_placed(others, policy, fields.get("priority"), index + 1))

    def removed(self, name: str) -> "RecipientPolicies":
        """Return the policies without one."""
        if name.casefold() == DEFAULT_POLICY.casefold():
            raise ValueTextError(f"the {DEFAULT_POLICY} cannot be removed", "change its domain")
        index = self._index(name)
        return replace(self, others=(*self.others[:index], *self.others[index + 1 :]))

    def _index(self, name: str) -> int:
        names = [policy.name for policy in self.others]
        if name not in names:
            raise ValueTextError(
                f"there is no recipient policy {quoted(name)}", did_you_mean(name, [*names, DEFAULT_POLICY])
            )
        return names.index(name)


@dataclass(frozen=True, slots=True)
class KnownNames:
    """The names that a filter may have."""

    sites: Sequence[str] = field(default_factory=tuple)
    servers: Sequence[str] = field(default_factory=tuple)


def _with(policy: RecipientPolicy, fields: PolicyFields, known: KnownNames) -> RecipientPolicy:
    domain, filter_ = fields.get("domain"), fields.get("filter")
    if domain is not None:
        policy = replace(policy, domain=parse_mail_domain(domain))
    return policy if filter_ is None else replace(policy, filter=_filter(filter_, known))


def _filter(parts: Mapping[str, Any], known: KnownNames) -> PolicyFilter:
    """Return a filter from its parts as people give them."""
    names: dict[str, tuple[str, ...]] = {part: tuple(dict.fromkeys(parts.get(part) or ())) for part in _PARTS}
    what = {"sites": ("a site", known.sites), "servers": ("a server", known.servers)}
    for part, (kind, right) in what.items():
        for name in names[part]:
            if name not in right:
                raise ValueTextError(f"{quoted(name)} is not {kind}", did_you_mean(name, right))
    for name in names["versions"]:
        if name not in set(ServerVersion):
            raise ValueTextError(f"{quoted(name)} is not a version", one_of(ServerVersion))
    versions = tuple(ServerVersion(name) for name in names["versions"])
    chosen = PolicyFilter(names["sites"], names["servers"], versions)
    if chosen.is_empty:
        raise ValueTextError("the filter is empty, so the policy would apply to no store", _NOT_EMPTY)
    return chosen


_PARTS: Final = ("sites", "servers", "versions")
_NOT_EMPTY: Final = "name sites, servers or versions"


def _placed(
    others: tuple[RecipientPolicy, ...], policy: RecipientPolicy, priority: int | None, present: int
) -> tuple[RecipientPolicy, ...]:
    """Return the policies with one more, at this priority, or without one at the present one."""
    at, most = present if priority is None else priority, len(others) + 1
    if not 1 <= at <= most:
        raise ValueTextError(f"{quoted(at)} is not a priority", f"write a number from 1, the highest, to {most}")
    return (*others[: at - 1], policy, *others[at - 1 :])
