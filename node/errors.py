"""Errors of the public folder store. Each is one clear line: what is wrong and what would be right."""

from __future__ import annotations


class NodeError(Exception):
    """Something a node was asked that it cannot do; the text is for people."""


class FolderUnknown(NodeError):
    """No visible folder has this path here."""


class FolderExists(NodeError):
    """A visible folder already has this name under this parent."""


class NoReplicaHere(NodeError):
    """The folder is known, but this store holds no active replica of it."""


class MessageUnknown(NodeError):
    """No live message with this id in this folder here."""


class NotRunning(NodeError):
    """The store is stopped."""


class Waiting(NotRunning):
    """The process is there, and its store waits for the coordinator to begin it."""


class CannotWrite(NodeError):
    """The store can write nothing at present, for want of room on its disk or of file handles. What was asked has changed
    nothing, what was acknowledged is there, and as soon as there is room the store goes on by itself."""

    def __init__(self, store: str, why: object) -> None:
        super().__init__(f"store {store} cannot write: {why}; it goes on by itself when it can")


class Misuse(NodeError):
    """A request that makes no sense as it stands; the text says what would."""


class KeyReused(NodeError):
    """An Idempotency-Key that stands for another request already."""


class MailRefused(NodeError):
    """A mail this node does not take. `code` is an SMTP reply code, `text` its line."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{code} {text}")
        self.code = code
        self.text = text


class BadMail(NodeError):
    """A mail for the store that is not, or not soundly, a replication mail of this organization (spec: IN-5)."""


class OrdinaryMail(BadMail):
    """A mail to the store's address with no replication message in it."""


class InternalError(Exception):
    """A bug of pflab: an exception that no code expected. It is not a NodeError, so nobody handles it as a refusal.

    The text says where it happened and what was being done; the original exception is `__cause__`. `elsewhere`: it happened
    in another process, and the text says where the traceback is.
    """

    def __init__(self, text: str, *, elsewhere: bool = False) -> None:
        super().__init__(text)
        self.elsewhere = elsewhere

    @classmethod
    def of(cls, where: str, doing: str, error: BaseException) -> InternalError:
        """Return the internal error at `where` (`server A`) while `doing` something (`while starting`)."""
        elsewhere = isinstance(error, InternalError) and error.elsewhere
        return cls(f"{where}: internal error {doing}: {described(error)}", elsewhere=elsewhere)


def described(error: BaseException) -> str:
    """Return the type and the text of an exception on one line: `KeyError: 'x'`."""
    text = " ".join(str(error).split())
    if isinstance(error, InternalError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def bug_line(error: BaseException, *, doing: str = "", hint: str = "the log of the server has the traceback") -> str:
    """Return the line that reports an exception as a bug. `hint` says how to see the traceback."""
    text = described(error)
    if isinstance(error, InternalError) and error.elsewhere:
        return text
    return f"{text if isinstance(error, InternalError) else f'internal error{doing}: {text}'} (this is a bug; {hint})"


class Crashed(BaseException):
    """The simulator's power cut. A BaseException, so that no `except Exception` in the store survives it."""
