"""Mail in files: mbox, Maildir, single messages."""

from __future__ import annotations

import mailbox
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pflab.errors import LabError
from pflab.workload.mail_files import read_mails
from pflab.workload.mbox import mbox_of, split_mbox
from tests.support.clock import START_AT
from tests.support.real_world_mails import HAND_MADE, cpython_mails

LINES = st.lists(
    st.sampled_from([b"From ", b">From x", b">>From ", b"", b"text", b"\r", b"From: a@b.test"]), max_size=12
)


def mbox(*mails: bytes) -> bytes:
    return b"".join(mbox_of(("kim@x.test", START_AT, mail) for mail in mails))


@given(st.lists(LINES.map(lambda lines: b"Subject: x\n\n" + b"".join(each + b"\n" for each in lines)), max_size=4))
def test_an_mbox_is_read_back_to_the_byte(mails: list[bytes]) -> None:
    """An mbox that pflab wrote is read back the same, even with lines that look like separators (spec: ML-5)."""
    assert list(split_mbox(mbox(*mails))) == mails


def test_awkward_mail_goes_through_an_mbox() -> None:
    """Real messages in one mbox are read back unchanged, except for a missing final line end."""
    mails = [mail for mail in {**cpython_mails(), **HAND_MADE}.values() if mail.strip()]
    whole = [mail if mail.endswith(b"\n") else mail + b"\n" for mail in mails]
    assert list(split_mbox(mbox(*mails))) == whole


def test_pythons_mailbox_reads_what_we_write(tmp_path: Path) -> None:
    """Python's mailbox module reads the same number of messages, with their subjects."""
    path = tmp_path / "out.mbox"
    path.write_bytes(mbox(b"Subject: one\n\nFrom here\n", b"Subject: two\r\n\r\nx"))
    box = mailbox.mbox(path)
    assert [message["subject"] for message in box] == ["one", "two"]
    assert box[0].get_from().startswith("kim@x.test Tue Oct 21 00:00:00 2003")
    box.close()


def test_we_read_what_pythons_mailbox_writes(tmp_path: Path) -> None:
    """mbox and Maildir written by Python's mailbox module are read, mail by mail, in order."""
    for name, make in (("box", mailbox.mbox), ("dir", mailbox.Maildir)):
        box = make(tmp_path / name)
        for number in range(3):
            box.add(b"Subject: number %d\n\nFrom the heart\n" % number)
        box.close()
        found = [each.content for each in read_mails(tmp_path / name)]
        assert sorted(found) == [b"Subject: number %d\n\nFrom the heart\n" % number for number in range(3)]


def test_single_messages_and_folders_of_them(tmp_path: Path) -> None:
    """A file that does not begin with `From ` is one message; the .eml files of a folder are read by name."""
    (tmp_path / "b.eml").write_bytes(b"Subject: b\n\n")
    (tmp_path / "a.eml").write_bytes(b"Subject: a\n\n")
    (tmp_path / "note.txt").write_bytes(b"no mail")
    assert [each.content for each in read_mails(tmp_path)] == [b"Subject: a\n\n", b"Subject: b\n\n"]
    [one] = read_mails(tmp_path / "a.eml")
    assert one.source.endswith("a.eml")


def test_a_device_is_refused() -> None:
    """A device without end must not fill the memory."""
    with pytest.raises(LabError, match="this is a device"):
        list(read_mails(Path("/dev/zero")))


def test_what_holds_no_mail_is_refused_in_one_line(tmp_path: Path) -> None:
    """A missing file, an empty one and a folder without mail each give one line that says what would be right."""
    (tmp_path / "empty").write_bytes(b"\n")
    (tmp_path / "lab.yaml").write_bytes(b"# Not a mail.\nservers: {A: , B: }\n")
    (tmp_path / "folder").mkdir()
    for name in ("missing", "empty", "lab.yaml", "folder"):
        with pytest.raises(LabError, match=name) as error:
            list(read_mails(tmp_path / name))
        assert "\n" not in str(error.value)
