"""The errors that a lab raises at its users."""


class LabError(Exception):
    """The lab cannot do what was requested. The text is one line: what is wrong, and what would be right."""


class NotThere(LabError):
    """The lab has nothing of the name that was given: no such server, fault or saved lab."""


class NotIdle(LabError):
    """A wait reached its limit; the text names the servers that are not idle and why."""


class KeepsRun(LabError):
    """The lab cannot begin another run. If a topology was given, the lab has this topology."""


class KeepsTopology(LabError):
    """The lab cannot begin another run, and was given another topology than its own."""


class Taken(LabError):
    """A saved lab of that name exists, and the caller did not ask to replace it."""
