"""The verbs of a connection: STARTTLS, AUTH for stores, X-LINK2STATE, XEXCH50, DATA in blocks, and BDAT (RFC 3030).

aiosmtpd has EHLO, HELO, MAIL, RCPT, RSET, NOOP and QUIT. The states of a connection:

=========  ================================================================================
new        connected; no EHLO yet
ready      EHLO was accepted; no mail has begun
mail       MAIL was accepted
addressed  at least one RCPT was accepted
chunks     a chunk of BDAT arrived, and it was not the last
closed
=========  ================================================================================

=======================  ===================  =========================================================================
state                    command              next state
=======================  ===================  =========================================================================
new                      EHLO, HELO           ready
ready                    STARTTLS             new, in TLS; everything before is forgotten (RFC 3207)
ready                    AUTH                 ready; the peer is the store that it proved to be (ML-3)
any but new, closed      X-LINK2STATE         unchanged; only reports of a store are accepted (RT-2)
ready                    MAIL                 mail
mail, addressed          RCPT                 addressed
addressed                XEXCH50              addressed; the mail may be a system message (ML-3)
addressed                DATA and a content   ready; the mail is stored, or refused
addressed, chunks        BDAT                 chunks (ML-4)
addressed, chunks        BDAT ... LAST        ready; the mail is stored, or refused
mail, addressed, chunks  RSET, EHLO           ready; the mail is dropped
any                      QUIT                 closed
any                      a limit is exceeded  closed, after the reply 421 or 552
=======================  ===================  =========================================================================

A command in another state is refused with 503. A server with a certificate refuses AUTH and MAIL without TLS, with 530. A
refused command changes no state.

Example: EHLO, AUTH; MAIL, RCPT, XEXCH50 and its blob, and `BDAT 5000 LAST` with 5000 bytes, all in one group. The state is
ready, addressed, addressed, ready.

What must never happen:

- A reply 250 before the mail is durable (IN-2). So if a fault loses the reply, the mail is stored, and the peer sends the mail
  again.
- A mail that is stored although the connection ended inside its content.
- Bytes of a chunk that are read as commands. So a refused chunk is still read to its end, and a chunk of unknown or excessive
  size closes the connection.
- Bytes after CR CRLF . CRLF that are obeyed as commands. A server before this one may have read them as content.
- Unencrypted commands that a third party put behind STARTTLS and that are obeyed in TLS (RFC 3207 6).
"""

import asyncio
import secrets
from base64 import b64encode
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, cast

from aiosmtpd.smtp import Session
from msgspec.structs import replace

from transport.envelope import IncomingHop, RefusalError
from transport.errors import CodecError
from transport.mime.headers import incoming_mail
from transport.protocol import link_state, xexch50
from transport.protocol.auth import ANSWER_LIMIT_BYTES, MECHANISM, NONCE_BYTES, proven_store
from transport.protocol.fault_points import Mishap, Verb
from transport.protocol.hop_headers import take_hop_line
from transport.smtp import bdat
from transport.smtp.bdat import Chunks
from transport.smtp.connection import NULL_PATH, Connection, MailEnvelope, plain, reply_to
from transport.smtp.data import DataReader
from transport.smtp.limits import READ_BYTES, NoRoom


class StoreSession(Connection):
    """A connection with all verbs."""

    _blob: bytes | None = None
    """The blob that the present command brought."""

    def extensions(self) -> list[str]:
        """Return the lines of the reply to EHLO, without the last one."""
        # spec: ML-3, ML-4
        offers = self._listener.offers()
        lines = [self.hostname, f"SIZE {self.data_size_limit}", "PIPELINING", "8BITMIME", "ENHANCEDSTATUSCODES"]
        self._chunking = offers.chunking
        if self._chunking:
            lines += ["BINARYMIME", "CHUNKING"]
        if self._listener.tls is not None and not self._secured:
            lines.append("STARTTLS")
        if offers.authentication:
            lines += [f"AUTH {MECHANISM}", link_state.VERB, xexch50.AHEAD]
        return lines

    async def _run(self, name: str, method: Callable[[str | None], Awaitable[None]], arg: str | None) -> None:
        """Handle one command. A blob that follows XEXCH50 at once is read whatever the answer will be.  # spec: ML-3"""
        self._blob = None
        ahead = xexch50.read_ahead(arg) if name == Verb.XEXCH50 and arg else None
        if ahead is not None:
            size, arg = ahead
            if size > xexch50.BLOB_LIMIT_BYTES:
                await self.push("552 5.3.4 the blob is too large")
                self.hang_up()  # nobody knows where the next command begins
                return
            self._blob = b"".join(await self._lines.take(size, lambda _: self.store is not None))
        await super()._run(name, method, arg)

    # --- identity

    async def smtp_STARTTLS(self, arg: str | None) -> None:  # noqa: N802 - looked up by name
        """Begin TLS, and forget everything that arrived unencrypted (RFC 3207)."""
        context = self._listener.tls
        if arg:
            await self.push("501 5.5.4 STARTTLS takes no argument")
        elif context is None or self._secured or self.in_transaction:
            await self.push("503 5.5.1 STARTTLS is not allowed now")
        else:
            self._lines.forget()  # so that the reply does not wait for the next command of a group
            await self.push("220 2.0.0 Ready to start TLS")
            # A third party may have put commands behind STARTTLS (RFC 3207 6). Nothing more is read before the handshake.
            self._lines.forget()
            try:
                clear = cast(asyncio.Transport, self.transport)
                transport = await self.loop.start_tls(clear, self, context, server_side=True)
            except OSError as error:
                raise ConnectionResetError(f"the TLS handshake failed: {error}") from error
            self._restart(transport)

    def _restart(self, transport: Any) -> None:
        """Forget the commands that arrived unencrypted (RFC 3207 4.2)."""
        reader, writer = cast(Any, self._reader), cast(Any, self._writer)
        self.transport = reader._transport = writer._transport = transport
        self._secured = self._over_ssl = True
        self.store = None
        cast(Session, self.session).host_name = None
        self.envelope = self._create_envelope()

    async def smtp_AUTH(self, arg: str | None) -> None:  # noqa: N802 - as above
        """Let a store prove its identity."""
        # spec: ML-3
        if await self.check_helo_needed("EHLO"):
            return
        if self.store is not None or self.in_transaction:
            await self.push("503 5.5.1 AUTH is not allowed now")
        elif not self._listener.offers().authentication or arg is None or arg.upper() != MECHANISM:
            await self.push("504 5.5.4 Unrecognized authentication type")
        else:
            nonce = secrets.token_bytes(NONCE_BYTES)
            self._lines.forget()
            await self.push(b"334 " + b64encode(nonce))
            try:
                answer = (await self._lines.readuntil()).rstrip(b"\r\n")
            except asyncio.LimitOverrunError:
                await self.push("500 5.5.6 the answer to AUTH is too long")
                self.hang_up()
            else:
                await self._greet_store(answer, nonce)

    async def _greet_store(self, answer: bytes, nonce: bytes) -> None:
        listener = self._listener
        store = None
        if len(answer) <= ANSWER_LIMIT_BYTES:
            store = proven_store(answer, listener.hostname, nonce, listener.verify_peer)
        if store is None:
            await self.push("535 5.7.8 not a store of this organization")
        elif sum(1 for session in listener.sessions if session.store == store) >= listener.limits.store_connections:
            await self.push("421 4.3.2 too many connections of one store")
            self.hang_up()
        else:
            self.store = store
            await self.push("235 2.7.0 OK")

    async def smtp_X_LINK2STATE(self, arg: str | None) -> None:  # noqa: N802 - as above; a hyphen is no part of a name
        """Accept a report of a link from a store, and refuse other peers."""
        # spec: RT-2
        if self.store is None or not self._listener.offers().authentication:
            await self.push(xexch50.NEED_AUTHENTICATION)
        elif link_state.read_line(arg) is None or arg is None:
            await self.push("501 5.5.4 not a report of a link")
        else:
            try:
                self._listener.link_state(self.store, arg)
            except Exception as error:
                await self.push(reply_to(error))
            else:
                await self.push("250 2.0.0 OK")

    async def smtp_XEXCH50(self, arg: str | None) -> None:  # noqa: N802 - as above
        """Read the properties of the mail that are not in its content."""
        # spec: ML-3
        command = xexch50.read_command(arg)
        if self.envelope is None or not self.envelope.rcpt_tos:
            await self.push("503 5.5.1 need RCPT first")
        elif self.store is None or not self._listener.offers().authentication:
            await self.refuse("XEXCH50", arg, xexch50.NEED_AUTHENTICATION)
        elif command is None or command[0] > xexch50.BLOB_LIMIT_BYTES or command[1] > self._listener.limits.recipients:
            await self.refuse("XEXCH50", arg, "501 5.5.4 XEXCH50 <size> <recipients>, within the limits")
        else:
            size, recipients = command
            if self._blob is None:
                await self.push(xexch50.GO_AHEAD)
                self._flush()
                self._blob = b"".join(await self._lines.take(size, lambda _: True))
            try:
                self._mail.hop = xexch50.decode(self._blob, recipients, self.store, self._mail.rcpt_tos)
            except CodecError as error:
                await self.refuse("XEXCH50", arg, f"550 5.6.0 {plain(str(error))}")
            else:
                await self.push("250 2.0.0 OK")

    # --- the content

    async def smtp_DATA(self, arg: str | None) -> None:  # noqa: N802 - as above
        """Read a content in blocks, store the mail, reply."""
        if await self._no_content_now():
            return
        if arg:
            await self.push("501 5.5.4 DATA takes no argument")
            return
        if self._mail.binary or self._mail.chunks is not None:
            await self.push("503 5.5.1 use BDAT for a binary mail, and after another BDAT")
            return
        await self.push("354 End data with <CR><LF>.<CR><LF>")
        self._flush()
        data = DataReader(self._listener.limits.message_bytes)
        is_whole = False
        while not is_whole:
            # If the peer disconnects, aiosmtpd cancels this task, and nothing is stored.
            chunk = await self._lines.read(READ_BYTES)
            if not chunk:
                raise ConnectionResetError("the connection ended inside DATA")
            if data.keeps and not self.has_room(len(chunk)):
                data.refuse(NoRoom())
            is_whole = data.feed(chunk)
            if not data.keeps:
                self._share.free()
        if data.doubtful:
            # The next bytes may be a part of the mail that a third party wrote, so they are not obeyed.
            await self._end(data.content)
            self.hang_up()
            return
        self._lines.unread(data.rest)
        await self._end(data.content)

    async def smtp_BDAT(self, arg: str | None) -> None:  # noqa: N802 - as above
        """Read one chunk; store the mail after the last."""
        # spec: ML-4
        chunk = bdat.read_command(arg)
        limit_bytes = self._listener.limits.message_bytes
        if chunk is None or chunk.size > limit_bytes * bdat.SKIP_FACTOR:
            await self.push("501 5.5.4 BDAT <size> [LAST]" if chunk is None else "552 5.3.4 the chunk is too large")
            self.hang_up()  # nobody knows where the next command begins
            return
        mail = self._mail
        chunks = mail.chunks or Chunks(limit_bytes)
        if not mail.rcpt_tos:
            chunks.refuse(RefusalError(503, "5.5.1 need RCPT first"))
        verbs = (Verb.DATA, Verb.BDAT) if mail.rcpt_tos else ()
        fault = None
        for verb in verbs:
            fault = fault or await self._listener.on_verb(self.peer_name, verb)
        if fault is not None and fault.mishap is Mishap.REPLY:
            chunks.refuse(RefusalError(fault.code, fault.text))
        elif await self._apply_fault(fault):
            return
        refusal = chunks.announced(chunk)
        if not self._lines.has(chunk.size):
            self._flush()
        blocks = await self._lines.take(chunk.size, self.has_room if refusal is None else lambda _: False)
        if refusal is None and sum(map(len, blocks)) < chunk.size:
            refusal = chunks.overflowed()
            self._share.free()
        if mail.rcpt_tos:
            mail.chunks = chunks
        if refusal is not None:
            await self.push(reply_to(refusal))
            return
        chunks.add(blocks)
        if chunk.last:
            await self._end(partial(chunks.content, binary=mail.binary))
        else:
            await self.push(f"250 2.0.0 {chunk.size} octets")

    async def _no_content_now(self) -> bool:
        if await self.check_helo_needed():
            return True
        if self.envelope is None or not self.envelope.rcpt_tos:
            await self.push("503 5.5.1 need RCPT first")
            return True
        return False

    async def _end(self, read_content: Callable[[], bytes]) -> None:
        """Store the mail, then reply. If a fault loses the reply, the mail is still stored."""
        fault = await self._listener.on_verb(self.peer_name, Verb.END)
        mail = self._mail
        is_refused = fault is not None and fault.mishap is Mishap.REPLY
        reply = fault.line if fault is not None and is_refused else await self._accept(read_content, mail)
        self.envelope = self._create_envelope()
        if fault is not None and fault.mishap is not Mishap.REPLY:
            await self._apply_fault(fault)
            return
        if reply.startswith("2"):
            self._fruitless = self._refused = 0
        await self.push(reply)

    async def _accept(self, read_content: Callable[[], bytes], mail: MailEnvelope) -> str:
        # spec: IN-2
        try:
            content = read_content()
            if self.store is None:
                self._listener.check_room(len(content))
            sender = "" if mail.mail_from in {None, NULL_PATH} else mail.mail_from or ""
            incoming = incoming_mail(sender, mail.rcpt_tos, content)
            hop_facts, incoming = take_hop_line(incoming)  # also of a mail whose blob was sent ahead
            hop = mail.hop or hop_facts or IncomingHop(self.peer_name, None, 0)
            if mail.refused is not None:
                hop = replace(hop, refused=mail.refused)
            storing_fault = self._listener.accept(hop, incoming)
            if storing_fault is not None:
                await storing_fault
        except Exception as error:
            return reply_to(error)
        return "250 2.0.0 OK"
