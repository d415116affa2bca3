"""Reading what judges reply: the form asked for in any wrapping, and no score out of anything else."""

import json
from contextlib import suppress
from unittest.mock import Mock

import pytest
from given import each_row, table
from hypothesis import given
from hypothesis import strategies as st
from judge_server import LABELS, geval_reply

from medtasks_utils.judging import judge_replies
from medtasks_utils.judging.geval import SCHEMA, read_object
from medtasks_utils.judging.judge_replies import MAX_CLAIMS, UnreadableError, read_claims, read_label

PROSE = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="{}[]`"), max_size=200)
AROUND = ("{}", "```json\n{}\n```", "Here it is: {} That is all.", "Sure! 85 of 100, I would say:\n {} \n")


@pytest.mark.parametrize("around", AROUND)
@each_row("written_scores")
def test_a_judge_s_json_object_is_read_in_any_wrapping(score, read, around):
    reply = geval_reply(score, justification='It says {"so"}, and [more].\nTruly.')
    for text in (json.dumps(reply), json.dumps(reply, indent=2), json.dumps(reply).replace("\\n", "\n")):
        assert read_object(around.replace("{}", text, 1)) == {**reply, "final_score": read}


@each_row("unreadable_replies")
def test_replies_without_such_an_object_give_no_score_and_no_claims(reader, text):
    with pytest.raises(UnreadableError):
        {"score": read_object, "claims": read_claims}[reader](text)


@given(PROSE, PROSE)
def test_prose_never_has_a_score_claims_or_a_label(text, more):
    for read, said in ((read_object, "85"), (read_claims, "85"), (read_label, "it is FULLY_SUPPORTED")):
        with pytest.raises(UnreadableError):
            read(f"{text} {said} {more}")


def test_the_schema_asks_for_what_the_protocol_names():
    assert set(SCHEMA["properties"]) == set(SCHEMA["required"]) == set(geval_reply(1))
    for name, values in table("values_of_replies"):
        assert SCHEMA["properties"][name]["enum"] == values


@given(st.floats(allow_nan=False) | st.integers() | st.text() | st.booleans() | st.none())
def test_a_score_is_a_number_from_0_to_100_and_is_kept_as_it_is(score):
    text = json.dumps(geval_reply(score))
    if isinstance(score, int | float) and not isinstance(score, bool) and (score == 0 or 1 <= score <= 100):
        assert read_object(text)["final_score"] == score
    elif not (isinstance(score, str) and score.strip().isdecimal()):
        with pytest.raises(UnreadableError):
            read_object(text)


@pytest.mark.parametrize("around", AROUND[:3])
@given(claims=st.lists(st.text(st.characters(codec="utf-8")), max_size=MAX_CLAIMS))
def test_claims_are_read_once_each_without_blanks(around, claims):
    expected = list(dict.fromkeys(" ".join(claim.split()) for claim in claims if claim.strip()))
    assert read_claims(around.replace("{}", json.dumps(claims))) == expected


@each_row("around_labels")
def test_a_label_is_read_in_any_case_and_wrapping_and_nothing_else_is(around):
    for label in LABELS:
        for text in (label, label.lower(), label.replace("_", " ").title(), label.replace("_", "-")):
            assert read_label(around.replace("{}", text)) == label
    for text in ("", "SUPPORTED", "FULLY_SUPPORTED because", " ".join(LABELS), "Label: NOT_SUPPORTED", "1"):
        with pytest.raises(UnreadableError):
            read_label(around.replace("{}", text))


@each_row("pieces_of_json")
def test_the_number_of_values_that_are_tried_has_a_limit(piece, monkeypatch):
    tried = Mock(wraps=judge_replies._decoder.raw_decode)
    monkeypatch.setattr(judge_replies, "_decoder", Mock(raw_decode=tried))
    with suppress(UnreadableError):
        (read_object if "{" in piece else read_claims)(piece * 201)
    assert tried.call_count == 200
