"""How people see the replica GUIDs of a store.

A store that is restored, or created again, goes on under a new GUID (spec: RP-4, RP-7): A, then A.2, A.3. No server has a dot
in its name, so these are never the names of other servers.
"""


def guid_name(store: str, place: int) -> str:
    """Return the name of a store's replica GUID.

    place: 1 for the first GUID of the store, 2 for the second
    """
    return store if place == 1 else f"{store}.{place}"


def store_of_guid_name(name: str) -> str:
    """Return the store that has a name of `guid_name`."""
    return name.partition(".")[0]
