"""How long anybody may talk, many commands at once, and verbs that the lab makes go wrong."""

import pytest

from tests.support.smtp_peers import RECIPIENTS, ListenerHarness, credentials
from transport.protocol.auth import MECHANISM
from transport.protocol.fault_points import Mishap, Verb, VerbFault
from transport.smtp.listener import ListenerLimits


async def test_a_group_of_commands_is_answered_in_order(harness: ListenerHarness) -> None:
    """RFC 2920: commands that arrive together are obeyed one by one."""
    client = await harness.client()
    group = f"MAIL FROM:<a@x.test>\r\nRCPT TO:<{RECIPIENTS[0]}>\r\nRCPT TO:<x@y.test>\r\nDATA\r\n"
    assert (await client.say(group.encode())).startswith("250 2.1.0")
    assert [(await client.reply())[:3] for _ in range(3)] == ["250", "550", "354"]


async def test_commands_without_a_mail_are_limited(harness: ListenerHarness) -> None:
    """ML-7: a client that sends only commands is disconnected; one that sends mail is not."""
    harness.limits = ListenerLimits(fruitless_commands=5)
    client = await harness.client()
    for _ in range(3):
        assert (await client.say("NOOP")).startswith("250")
    await client.say("MAIL FROM:<a@x.test>")
    await client.say(f"RCPT TO:<{RECIPIENTS[0]}>")
    assert (await client.say(b"BDAT 3 LAST\r\na\r\n")).startswith("250")
    for _ in range(5):
        assert (await client.say("NOOP")).startswith("250")
    assert (await client.say("NOOP")).startswith("421 4.7.0")
    assert await client.reply() == ""


async def test_one_machine_does_not_take_all_connections(harness: ListenerHarness) -> None:
    """ML-7: connections without authentication have a limit for each machine; those of stores do not count. The stranger
    that has been silent for longest makes room for a new connection, so that a store can always connect."""
    harness.limits = ListenerLimits(stranger_connections=2, store_connections=1)
    store = await harness.store()
    first, second = await harness.client(), await harness.client()
    assert (await first.say("NOOP")).startswith("250")
    third = await harness.client()
    assert (await second.reply()).startswith("421 B 4.3.2")
    assert (await first.say("NOOP")).startswith("250")
    assert (await store.say("NOOP")).startswith("250")
    assert (await third.authenticate(credentials("A"))).startswith("421")


async def test_a_crowd_of_strangers_does_not_lock_out_a_store(harness: ListenerHarness) -> None:
    """ML-7: a store connects although strangers have taken all connections and send one mail each, without its end."""
    harness.limits = ListenerLimits(connections=6, stranger_connections=4)
    for _ in range(6):
        await harness.addressed()
    store = await harness.store()
    assert (await store.say("NOOP")).startswith("250")
    assert len(harness.listener.sessions) <= 5


@pytest.mark.parametrize("verb", [Verb.EHLO, Verb.AUTH, Verb.MAIL, Verb.RCPT, Verb.XEXCH50, Verb.DATA, Verb.QUIT])
async def test_a_fault_replaces_a_verb(harness: ListenerHarness, verb: Verb) -> None:
    """The fault's reply replaces the server's, for that verb only, and nothing is stored."""
    client = await harness.addressed() if verb in {Verb.XEXCH50, Verb.DATA} else await harness.client()
    if verb is Verb.RCPT:
        await client.say("MAIL FROM:<a@x.test>")
    harness.faults = {verb: VerbFault(Mishap.REPLY, 451, "4.3.0 so it is")}
    said = {
        Verb.EHLO: "EHLO A",
        Verb.AUTH: f"AUTH {MECHANISM}",
        Verb.MAIL: "MAIL FROM:<a@x.test>",
        Verb.RCPT: f"RCPT TO:<{RECIPIENTS[0]}>",
        Verb.XEXCH50: "XEXCH50 2 2",
        Verb.DATA: "DATA",
        Verb.QUIT: "QUIT",
    }[verb]
    assert await client.say(said) == "451 4.3.0 so it is"
    assert harness.verbs[-1] == ("A", verb)
    assert (await client.say("NOOP")).startswith("250")


@pytest.mark.parametrize("mishap", [Mishap.DISCONNECT, Mishap.SILENCE])
async def test_a_mail_is_stored_if_the_last_reply_is_lost(harness: ListenerHarness, mishap: Mishap) -> None:
    """OUT-9: after the end of data the mail is durable, although its sender gets no reply."""
    harness.limits = ListenerLimits(silence_seconds=0.01)
    harness.faults = {Verb.END: VerbFault(mishap)}
    client = await harness.addressed()
    assert await client.say(b"BDAT 3 LAST\r\na\r\n") == ""
    assert harness.contents == [b"a\r\n"]


@pytest.mark.parametrize("mishap", [Mishap.DISCONNECT, Mishap.SILENCE])
async def test_the_rest_of_a_dropped_chunk_is_not_read_as_commands(harness: ListenerHarness, mishap: Mishap) -> None:
    """ML-7: if a fault drops the connection inside a chunk, its other bytes are not obeyed."""
    harness.limits = ListenerLimits(silence_seconds=0.01)
    harness.faults = {Verb.BDAT: VerbFault(mishap)}
    client = await harness.addressed()
    assert await client.say(b"BDAT 50 LAST\r\nRSET\r\nMAIL FROM:<b@x.test>\r\n") == ""
    assert harness.verbs[-1] == ("A", Verb.BDAT)


async def test_a_chunk_that_a_fault_refuses_is_read_to_its_end(harness: ListenerHarness) -> None:
    """A fault at BDAT replies after the whole chunk has arrived."""
    harness.faults = {Verb.BDAT: VerbFault(Mishap.REPLY, 452, "4.3.1 no room")}
    client = await harness.addressed()
    assert await client.say(b"BDAT 6 LAST\r\nNOOP\r\n") == "452 4.3.1 no room"
    assert (await client.say("NOOP")).startswith("250")
    assert harness.contents == []
