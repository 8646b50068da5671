"""The errors that a lab raises at its users."""


class LabError(Exception):
    """The lab cannot do what was requested. The text is one line: what is wrong, and what would be right."""


class NotThere(LabError):
    """The lab has no server, fault or saved lab with the given name."""


class NotIdle(LabError):
    """A wait reached its limit; the text names the servers that are not idle and why."""


class KeepsRun(LabError):
    """The lab cannot begin another run. If the caller gave a topology, it is the lab's own."""


class KeepsTopology(LabError):
    """The lab cannot begin another run, and the caller gave a topology that differs from the lab's."""


class Taken(LabError):
    """A saved lab of that name exists, and the caller did not ask to replace it."""
