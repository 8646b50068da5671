"""Room for contents on their way in, shared by all connections of a listener.

A limit for one mail bounds nothing while a hundred connections each bring one. Strangers share half of the room, so that
they never keep out the stores.

# spec: ML-7
"""

from transport.mta_values import RefusalError


class NoRoom(RefusalError):
    """All the room is taken; the sender is to come again."""

    def __init__(self) -> None:
        super().__init__(452, "4.3.1 too many mails at once, try again later")


class Room:
    """`limit_bytes` for all connections together; `taken` of them are."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self.taken = 0
        self.taken_by_strangers = 0


class Share:
    """What one connection takes of the room."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._held = 0
        self._held_as_stranger = 0

    def grow(self, size: int, *, stranger: bool) -> bool:
        """Takes `size` bytes more; False, and nothing taken, if there is no room for them."""
        room = self._room
        if room.taken + size > room.limit_bytes:
            return False
        if stranger and room.taken_by_strangers + size > room.limit_bytes // 2:
            return False
        room.taken += size
        self._held += size
        if stranger:
            room.taken_by_strangers += size
            self._held_as_stranger += size
        return True

    def free(self) -> None:
        """Gives everything back."""
        self._room.taken -= self._held
        self._room.taken_by_strangers -= self._held_as_stranger
        self._held = self._held_as_stranger = 0
