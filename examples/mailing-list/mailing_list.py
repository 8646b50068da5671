"""A mailing list whose members are public folders. It needs the standard library only.

    mailing-list distribute --list dev@fabrikam.test --to Projects@contoso.test --server mail.contoso.test:25 < message.eml
    mailing-list digest --list dev@fabrikam.test monday.eml tuesday.eml > digest.eml

The exit status of distribute is 1 if the server refused some members.
"""

from __future__ import annotations

import argparse
import smtplib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path


class Loop(Exception):
    """Raised if a message comes from this list already. Its members would get it again and again."""


@dataclass(frozen=True)
class MailingList:
    """A list with its own address and the addresses of its members."""

    address: str
    members: Sequence[str] = ()

    @property
    def list_id(self) -> str:
        """The value of the header List-Id (RFC 2919)."""
        return f"<{self.address.replace('@', '.')}>"

    def distribute(self, message: EmailMessage, server: tuple[str, int]) -> Mapping[str, tuple[int, bytes]]:
        """Send a message to all members. Return the SMTP reply for each member that the server refused.

        Raises Loop, OSError if the server cannot be reached, and SMTPRecipientsRefused if it refused all members.
        """
        if message["List-Id"] == self.list_id:
            raise Loop(f"the message {message['Subject']!r} comes from {self.address}")
        copy = message_from_bytes(message.as_bytes(), policy=SMTP)
        del copy["List-Id"]
        copy["List-Id"] = self.list_id
        with smtplib.SMTP(*server) as connection:
            return connection.send_message(copy, from_addr=self.address, to_addrs=list(self.members))

    def digest(self, messages: Sequence[EmailMessage]) -> EmailMessage:
        """Return one message with the subjects of these messages, in their order."""
        found = EmailMessage(policy=SMTP)
        found["From"] = found["To"] = self.address
        found["Subject"] = f"Digest: {len(messages)} messages"
        found.set_content("".join(f"{each['Subject']} ({each['From']})\n" for each in messages))
        return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    parser = argparse.ArgumentParser(description="A mailing list whose members are public folders.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    distribute = verbs.add_parser("distribute", help="send the message on standard input to all members")
    distribute.add_argument("--to", action="append", required=True, metavar="MEMBER")
    distribute.add_argument("--server", default="localhost:25", metavar="HOST:PORT")
    digest = verbs.add_parser("digest", help="print a digest of some messages")
    digest.add_argument("files", nargs="+", type=Path)
    for each in (distribute, digest):
        each.add_argument("--list", required=True, metavar="ADDRESS")
    given = parser.parse_args(arguments)

    if given.verb == "digest":
        messages = [message_from_bytes(each.read_bytes(), policy=SMTP) for each in given.files]
        sys.stdout.write(MailingList(given.list).digest(messages).as_string())
        return 0
    host, _, port = given.server.rpartition(":")
    message = message_from_bytes(sys.stdin.buffer.read(), policy=SMTP)
    refused = MailingList(given.list, given.to).distribute(message, (host, int(port)))
    for member, (code, reply) in refused.items():
        print(f"{member}: {code} {reply.decode('utf-8', 'replace')}", file=sys.stderr)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
