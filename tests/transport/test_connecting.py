"""Opening a connection has a limit of its own, also where packets are dropped."""

from __future__ import annotations

import asyncio
import socket
import time
from contextlib import ExitStack

import pytest

from node.api.http_client import HttpLine, Unanswered
from tests.support.dropped_packets import packets_dropped
from tests.support.smtp_peers import Receiver, mail
from transport.connecting import CONNECT_S, ROUNDS, connecting
from transport.envelope import SendOutcome, SendState
from transport.smtp.sender import INSIDE, SenderLimits, SmtpSender

pytestmark = pytest.mark.live

SHORT_S = 0.05

WAITING = 200
"""Twice the backlog that asyncio has by default."""


async def test_a_mail_to_a_peer_behind_a_firewall_is_tried_again_after_the_limit_for_connecting() -> None:
    """RT-2: the attempt ends as unreachable long before the limit for an answer, and the reason says what happened."""
    sender = SmtpSender(SenderLimits(connect_seconds=SHORT_S, greeting_seconds=600.0))
    with packets_dropped() as address:
        outcome = await sender.send(address, mail(), "A")
    await sender.close()
    host, port = address
    said = f"no connection: {host}:{port} neither accepted nor refused the connection within 0.05 s"
    assert outcome == SendOutcome(SendState.DEFERRED, said, unreachable=True)


def test_the_limit_for_connecting_is_the_same_inside_and_outside_the_lab() -> None:
    """A busy server takes long to answer, but its operating system accepts the connection at once."""
    assert INSIDE.connect_seconds == SenderLimits().connect_seconds == CONNECT_S


async def test_a_request_between_processes_of_a_lab_ends_after_the_limit_for_connecting() -> None:
    """A request has no limit for its answer, but one for its connection."""
    with packets_dropped() as address:
        line = HttpLine(address, connect_s=SHORT_S)
        with pytest.raises(Unanswered, match=r"neither accepted nor refused the connection within 0\.05 s"):
            await line.ask("GET", "/")
        line.close()


async def test_a_connection_that_was_accepted_while_this_process_was_stopped_is_not_given_up() -> None:
    """TM-1: the speed of the machine does not decide whether an attempt fails, so time in which nothing could be read does not
    count."""
    listener = await Receiver().listen()
    async with connecting(listener.address, SHORT_S):
        time.sleep(4 * SHORT_S)  # noqa: ASYNC251 - the event loop is blocked, as in a process that a signal has stopped
        _, writer = await asyncio.open_connection(*listener.address)
    writer.close()
    await listener.stop()
    assert ROUNDS > 1


async def test_an_error_of_the_block_is_not_taken_for_the_limit() -> None:
    """Another time-out inside the block stays what it is."""
    with pytest.raises(TimeoutError, match="of the block"):
        async with connecting(("127.0.0.1", 1)):
            raise TimeoutError("of the block")


async def test_a_listener_has_room_for_all_connections_that_wait_to_be_accepted() -> None:
    """ML-7: a busy server drops none of the connections that its limits allow."""
    listener = await Receiver().listen()
    with ExitStack() as stack:
        # The event loop accepts nothing meanwhile.
        for _ in range(WAITING):
            stack.enter_context(socket.create_connection(listener.address, CONNECT_S))
    await listener.stop()
    assert listener.limits.connections > WAITING
