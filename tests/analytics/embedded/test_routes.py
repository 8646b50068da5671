"""Routes between the sites of a topology: the least costs, for all that a trace may say of connectors."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.ingest.routes import FAR, MOST_SITES, Route, routes

SITES = "abcdef"
CONNECTORS = st.lists(
    st.fixed_dictionaries(
        {
            "between": st.tuples(st.sampled_from(SITES), st.sampled_from(SITES)).map(list),
            "cost": st.integers(1, 9),
            "affinity": st.integers(1, 9) | st.just("none"),
        }
    )
)


def topology(sites: str, connectors: object) -> dict[str, object]:
    """Return a topology with two servers in each site."""
    servers = {f"{site}{nth}": {"site": site} for site in sites for nth in range(2)}
    return {"servers": servers, "connectors": connectors}


def least(connectors: list[dict[str, Any]], weight: str) -> dict[tuple[str, str], int]:
    """Return the least sum from each site to each other one, by trying all ways as often as there are sites."""
    sums = {(site, site): 0 for site in SITES}
    for _ in SITES:
        for connector in (each for each in connectors if isinstance(each[weight], int)):
            for one, other in (connector["between"], reversed(connector["between"])):
                for start in (start for start in SITES if (start, one) in sums):
                    sums[start, other] = min(sums.get((start, other), FAR), sums[start, one] + connector[weight])
    return sums


@given(st.sampled_from(["abc", SITES]), CONNECTORS)
def test_a_route_has_the_least_sum_of_costs(sites: str, connectors: list[dict[str, Any]]) -> None:
    """RT-1, RT-4: costs count over all connectors, also through sites without servers; affinities over those that allow
    referrals. A site reaches itself for nothing."""
    expected = {name: least(connectors, name) for name in ("cost", "affinity")}
    assert routes(topology(sites, connectors)) == [
        Route(home, there, expected["cost"].get((home, there)), expected["affinity"].get((home, there)))
        for home in sites
        for there in sites
    ]


@pytest.mark.parametrize(
    "connector",
    [
        None,
        "ab",
        {},
        {"between": ["a"], "cost": 1},
        {"between": ["a", 1], "cost": 1},
        {"between": "ab", "cost": 1},
        {"between": ["a", "b"]},
        {"between": ["a", "b"], "cost": "1"},
        {"between": ["a", "b"], "cost": 1.0},
        {"between": ["a", "b"], "cost": True},
        {"between": ["a", "b"], "cost": -1},
        {"between": ["a", "b"], "cost": 2**31, "affinity": "9" * 5000},
    ],
)
def test_a_connector_in_another_form_is_left_out(connector: object) -> None:
    """An altered topology has fewer routes, and no error."""
    far = [Route("a", "a", 0, 0), Route("a", "b", None, None), Route("b", "a", None, None), Route("b", "b", 0, 0)]
    assert routes(topology("ab", [connector])) == far


@pytest.mark.parametrize(
    "of", [None, [], {}, {"servers": []}, {"servers": {"A": None}}, {"servers": {"A": {"site": 1}}}]
)
def test_a_topology_in_another_form_has_no_routes(of: object) -> None:
    """Without sites there is no route."""
    assert routes(of) == []


def test_a_topology_with_too_many_sites_has_no_routes() -> None:
    """A false trace does not fill the memory: the number of routes is the square of that of sites."""
    assert routes({"servers": {str(nth): {"site": str(nth)} for nth in range(MOST_SITES + 1)}}) == []
