"""What this project takes for granted about the insides of aiosmtpd, aiosmtplib and asyncio.

A new version of one of them that fails here needs a look at transport/smtp/connection.py, smtp_session.py and
smtp_client.py before it is pinned.
"""

import asyncio
import inspect

import aiosmtplib
import pytest
from aiosmtpd.smtp import SMTP, Envelope
from aiosmtplib.protocol import SMTPProtocol


def source(thing: object) -> str:
    return inspect.getsource(thing)  # type: ignore[arg-type]


def test_aiosmtpd_reads_commands_through_the_reader_that_we_replace() -> None:
    """Its command loop calls `_reader.readuntil()`, and answers an empty line with 500."""
    text = source(SMTP._handle_client)
    assert "await self._reader.readuntil()" in text
    assert "if not line:" in text
    assert "self._reader = reader" in source(SMTP._cb_client_connected)


def test_aiosmtpd_is_a_stream_protocol_that_can_be_given_another_reader() -> None:
    """Its base class is asyncio's, whose constructor takes the reader and the callback."""
    assert issubclass(SMTP, asyncio.StreamReaderProtocol)
    names = list(inspect.signature(asyncio.StreamReaderProtocol.__init__).parameters)
    assert names[:4] == ["self", "stream_reader", "client_connected_cb", "loop"]


def test_aiosmtpd_looks_commands_and_hooks_up_by_name() -> None:
    """`smtp_DATA` of a subclass is the DATA command; hooks get the parts of the envelope to fill in."""
    text = source(SMTP.__init__)
    assert 'm.startswith("smtp_")' in text and 'm.startswith("handle_")' in text
    assert "self._call_handler_hook('MAIL', address, mail_options)" in source(SMTP.smtp_MAIL)
    assert "self._call_handler_hook('RCPT', address, rcpt_options)" in source(SMTP.smtp_RCPT)
    assert "self._getaddr(arg)" in source(SMTP.smtp_MAIL)
    assert vars(Envelope())["rcpt_tos"] == []


def test_aiosmtpd_cancels_the_task_of_a_connection_that_ends() -> None:
    """What is left of a half mail is cancelled, whether the peer closes or the connection breaks."""
    for end in (SMTP.eof_received, SMTP.connection_lost):
        assert "self._handler_coroutine.cancel()" in source(end)


def test_aiosmtpd_hangs_up_when_the_idle_time_is_over() -> None:
    """It resets a timer at each command by a method that we replace, and cancels the handle that we keep for it."""
    assert "duration or self._timeout_duration, self._timeout_cb" in source(SMTP._reset_timeout)
    assert "self.transport.close()" in source(SMTP._timeout_cb)
    assert "self._reset_timeout()" in source(SMTP._handle_client)
    assert "self._timeout_handle.cancel()" in source(SMTP.connection_lost)


def test_aiosmtpd_takes_commands_and_parameters_from_where_we_put_ours() -> None:
    """Commands are looked up in `_smtp_methods`, the parameters of MAIL come from `_getparams` before BODY is judged."""
    assert "self._smtp_methods.get(command)" in source(SMTP._handle_client)
    text = source(SMTP.smtp_MAIL)
    assert text.index("self._getparams(mail_options)") < text.index("params.pop('BODY', '7BIT')")
    assert 'self._call_handler_hook("EHLO", hostname, response)' in source(SMTP.smtp_EHLO)
    assert "self.envelope = self._create_envelope()" in source(SMTP._set_post_data_state)


def test_aiosmtplib_keeps_what_our_groups_need() -> None:
    """Replies are parsed one by one out of a buffer; the protocol is made where we make ours."""
    text = source(SMTPProtocol.data_received)
    assert "self._response_pending or self._response_waiter.done()" in text
    assert "self._response_waiter.set_result(response)" in text
    assert "del self._buffer[:offset]" in source(SMTPProtocol._read_response_from_buffer)
    assert "self._response_waiter = self._loop.create_future()" in source(SMTPProtocol.read_response)
    assert "SMTPProtocol(" in source(aiosmtplib.SMTP._create_connection)
    assert "await self._create_connection(" in source(aiosmtplib.SMTP.connect)
    assert "connection_lost_callback" in inspect.signature(SMTPProtocol.__init__).parameters


def test_asyncio_keeps_what_our_reader_needs() -> None:
    """A stream reader has a buffer that may be cut, and resumes reading when that is asked of it."""
    reader = asyncio.StreamReader(loop=asyncio.new_event_loop())
    assert isinstance(reader._buffer, bytearray)  # type: ignore[attr-defined]
    reader._maybe_resume_transport()  # type: ignore[attr-defined]
    reader._loop.close()  # type: ignore[attr-defined]


def test_aiosmtplib_gives_its_protocol_out() -> None:
    """The content is written past aiosmtplib's own DATA, by public methods of its protocol."""
    assert list(inspect.signature(SMTPProtocol.write).parameters) == ["self", "data"]
    assert "timeout" in inspect.signature(SMTPProtocol.read_response).parameters
    client = aiosmtplib.SMTP(hostname="127.0.0.1", port=1, local_hostname="a", start_tls=False)
    assert client.protocol is None and client.transport is None and not client.is_connected


async def test_asyncio_reads_as_much_as_max_size_says() -> None:
    """The transport of a socket takes the size of its reads from `max_size`."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(asyncio.Protocol, "127.0.0.1", 0)
    transport, _ = await loop.create_connection(asyncio.Protocol, *server.sockets[0].getsockname())
    max_size = getattr(transport, "max_size", None)
    transport.close()
    server.close()
    await server.wait_closed()
    assert max_size == 256 * 1024


@pytest.mark.parametrize("name", ["_create_envelope", "_getaddr", "_cb_client_connected", "handle_exception"])
def test_aiosmtpd_has_the_methods_that_we_call_or_replace(name: str) -> None:
    """Names that are not public are still there."""
    assert callable(getattr(SMTP, name))
