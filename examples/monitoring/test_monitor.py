"""The monitor, tried on labs whose mail is lost and whose servers stop."""

from datetime import timedelta
from itertools import islice

import pytest
from monitor import IN_STEP, as_text, changes, look, main, watch


@pytest.mark.parametrize("text", ["", "A-1", "A-1..3, A-5", "A-7, SEA-01-2..4"])
def test_change_numbers_are_read_and_written(text):
    assert as_text(changes(text)) == text


def lose_a_mail(lab):
    lab.inject("lose", from_="A", to="B", type="content", count=1)
    lab.post("A", "Projects", subject="Hello")
    lab.advance("20 min")


def test_a_lost_mail_is_seen_before_the_servers_know_of_it(lab):
    lose_a_mail(lab)
    assert lab.backfill("B") == []
    assert look(lab) == {"1-1": IN_STEP, "Projects": "B lacks A-1"}


def test_a_stopped_server_is_named(lab):
    lab.stop("C")
    assert look(lab) == {"1-1": IN_STEP, "Projects": IN_STEP, "server C": "server C is stopped; start it first"}


def test_the_monitor_follows_a_folder_until_backfill_repairs_it(lab):
    lose_a_mail(lab)
    lines = watch(lab, timedelta(hours=48), pause=lambda: lab.advance("1 h"))
    assert list(islice(lines, 3)) == [
        "2003-10-21 00:20  1-1: all servers have the same changes",
        "2003-10-21 00:20  Projects: B lacks A-1",
        "2003-10-22 06:20  Projects: all servers have the same changes",
    ]


def test_the_monitor_ends_when_a_folder_is_behind_for_too_long(lab):
    lose_a_mail(lab)
    *_, last = watch(lab, timedelta(hours=24), pause=lambda: lab.advance("1 h"))
    assert last == "2003-10-22 00:20  Projects: behind for 24 hours"


def test_the_exit_status_tells_what_happened(lab, capsys):
    lose_a_mail(lab)
    assert main([lab.url, "--limit", "0"]) == 1
    assert "Projects: B lacks A-1" in capsys.readouterr().out
    assert main(["http://127.0.0.1:9"]) == 2
