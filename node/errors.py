"""Errors of the public folder store. Each text is one line that says what is wrong and what to do instead."""

from __future__ import annotations


class NodeError(Exception):
    """A node cannot do what was requested. The text is for people."""


class FolderUnknown(NodeError):
    """No visible folder here has this path."""


class FolderExists(NodeError):
    """A visible folder already has this name under this parent."""


class NoReplicaHere(NodeError):
    """The folder is known, but this store has no active replica of it."""


class MessageUnknown(NodeError):
    """The folder has no message with this id here, or it was deleted or has expired."""


class NotAContact(NodeError):
    """The person is not one of the folder's contacts, who alone resolve its conflicts (spec: CF-3)."""


class OverLimit(NodeError):
    """A storage limit of a folder refuses a post or an edit (spec: AD-2).

    `folder` is the folder's id in traces, `status` the enhanced status code for a mail that is returned (RFC 3463).
    """

    def __init__(self, text: str, *, folder: str = "", status: str = "") -> None:
        super().__init__(text)
        self.folder = folder
        self.status = status


class NotRunning(NodeError):
    """The store is stopped."""


class Waiting(NotRunning):
    """The process runs, and waits for the coordinator to start its store."""


class CannotWrite(NodeError):
    """The store cannot write now, because its disk is full, or no file handle or memory is free.

    The request changed nothing, and nothing that was acknowledged is lost. A store that runs continues by itself when it can
    write.
    """

    def __init__(self, store: str, why: str, *, starting: bool = False) -> None:
        super().__init__(
            f"store {store} cannot start: {why}"
            if starting
            else f"store {store} cannot write: {why}; the store continues by itself when it can write again"
        )


class Misuse(NodeError):
    """A request is not valid. The text says what would be valid."""


class KeyReused(NodeError):
    """An Idempotency-Key was already used for another request."""


class MailRefused(NodeError):
    """The node refuses a mail. `code` and `text` are those of the SMTP reply."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{code} {text}")
        self.code = code
        self.text = text


class BadMail(NodeError):
    """A mail to the store is not a valid replication mail of this organization (spec: IN-5)."""


class OrdinaryMail(BadMail):
    """A mail to the store's address has no replication message."""


class InternalError(Exception):
    """A bug of pflab: an exception that no code expected. It is not a NodeError, so nobody handles it as a refusal.

    The text says where it happened and what was being done; the original exception is `__cause__`.

    `elsewhere`: the exception happened in another process, and the text says where its traceback is.
    """

    def __init__(self, text: str, *, elsewhere: bool = False) -> None:
        super().__init__(text)
        self.elsewhere = elsewhere

    @classmethod
    def of(cls, where: str, doing: str, error: BaseException) -> InternalError:
        """Return an internal error. `where` names the place (`server A`), `doing` what was being done (`while starting`)."""
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
    """The simulator cuts a store's power by raising this. No `except Exception` in the store catches a BaseException."""
