"""The one HTTP client: when a request is sent again, and how long it waits before."""

import pytest

from medtasks_utils.inference.client import pause_before
from medtasks_utils.inference.responses import ServerBusy, ServerUnavailable, read


def test_pauses_double_up_to_ten_seconds():
    assert [pause_before(attempt, ServerUnavailable("")) for attempt in range(2, 8)] == [1, 2, 4, 8, 10, 10]


@pytest.mark.parametrize(
    ("asked", "pause"),
    [
        *(("7", 7), ("0.5", 0.5), ("120.5", 120), ("9" * 400, 120), ("-5", 1), ("nan", 1), ("soon", 1), (None, 1)),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 1),
        ("Fri, 31 Dec 9998 00:00:00 -0000", 120),
        ("Thu, 01 Jan 99999 00:00:00 GMT", 1),
    ],
)
def test_a_server_may_ask_for_a_pause_of_two_minutes_in_any_form(asked, pause):
    with pytest.raises(ServerBusy) as raised:
        read(503, "", "http://a", "m", {}, asked)
    assert pause_before(2, raised.value) == pause
