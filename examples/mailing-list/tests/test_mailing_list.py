"""The mailing list, tried on a whole organization."""

from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP
from io import BytesIO, TextIOWrapper

import pytest
from mailing_list import Loop, MailingList, main

LIST = "dev@fabrikam.test"
BOTH = MailingList(LIST, ["Projects@contoso.test", "News@contoso.test"])


def message(subject):
    found = EmailMessage()
    found["From"], found["To"], found["Subject"] = "kim@fabrikam.test", LIST, subject
    found.set_content("Hello")
    return found


def subjects(lab, server, folder):
    return [each["subject"] for each in lab.messages(server, folder)]


def test_every_member_gets_the_message_on_every_server(lab):
    assert BOTH.distribute(message("Release 2"), lab.smtp("A")) == {}
    lab.advance("20 min")
    for folder in ("Projects", "News"):
        assert subjects(lab, "A", folder) == subjects(lab, "B", folder) == ["Release 2"]


def test_the_other_site_has_the_list_id(lab):
    BOTH.distribute(message("Release 2"), lab.smtp("A"))
    lab.advance("20 min")
    (found,) = lab.messages("B", "News")
    assert message_from_bytes(lab.mail("B", "News", found["id"]), policy=SMTP)["List-Id"] == "<dev.fabrikam.test>"


def test_an_unknown_member_is_reported_and_the_others_get_the_message(lab):
    refused = MailingList(LIST, ["Projects@contoso.test", "Nobody@contoso.test"]).distribute(
        message("Hi"), lab.smtp("A")
    )
    assert [(member, reply[0]) for member, reply in refused.items()] == [("Nobody@contoso.test", 550)]
    lab.until(lambda: subjects(lab, "A", "Projects") == ["Hi"], within="1 min")


def test_the_command_reads_a_message_and_names_refused_members(lab, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(message("Hi").as_bytes())))
    server = "{}:{}".format(*lab.smtp("A"))
    members = ["--to", "Projects@contoso.test", "--to", "Nobody@contoso.test"]
    assert main(["distribute", "--list", LIST, "--server", server, *members]) == 1
    assert capsys.readouterr().err.startswith("Nobody@contoso.test: 550 ")


def test_members_get_a_message_that_was_sent_while_the_line_was_cut(lab):
    lab.inject("cut", between=["SEA", "NYC"])
    BOTH.distribute(message("Release 2"), lab.smtp("A"))
    lab.advance("5 h")
    assert subjects(lab, "B", "News") == []
    lab.heal()
    lab.assert_converged("News", within="12 h")
    assert subjects(lab, "B", "News") == ["Release 2"]


def test_a_server_that_is_down_is_an_error(lab):
    at = lab.smtp("A")
    lab.kill("A")
    with pytest.raises(OSError):
        BOTH.distribute(message("Release 2"), at)


def test_a_post_that_is_sent_to_the_list_does_not_circle(lab, mailbox):
    """The folder Projects writes to the list. The list answers with a copy to the folder, and refuses its own copies."""
    lab.configure("A", {"Smart Host": mailbox.address})
    lab.send_mail("A", "Projects", to=[LIST], subject="Minutes")
    lab.advance("1 min")
    (mail,) = mailbox.to(LIST)
    BOTH.distribute(mail.message, lab.smtp("B"))
    lab.assert_converged("News", within="20 min")
    (copy,) = lab.messages("A", "News")
    with pytest.raises(Loop):
        BOTH.distribute(message_from_bytes(lab.mail("A", "News", copy["id"]), policy=SMTP), lab.smtp("A"))


def test_a_digest_of_what_arrived(lab, mailbox, tmp_path, capsys):
    """The digest names the mails in the order in which they arrived at the list."""
    lab.configure("A", {"Smart Host": mailbox.address})
    for subject in ("Monday", "Tuesday"):
        lab.send_mail("A", "Projects", to=[LIST], subject=subject)
        lab.advance("24 h")
    files = [tmp_path / f"{number}.eml" for number in range(2)]
    for file, mail in zip(files, mailbox.to(LIST), strict=True):
        file.write_bytes(mail.content)

    assert main(["digest", "--list", LIST, *map(str, files)]) == 0
    digest = capsys.readouterr().out
    assert "Subject: Digest: 2 messages" in digest
    assert digest.index("Monday") < digest.index("Tuesday")
