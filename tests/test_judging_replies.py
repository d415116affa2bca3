"""Reading what judges reply: the form asked for in any wrapping, and no score out of anything else."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_server import LABELS, geval_reply

from medtasks_utils.judging.geval import SCHEMA, read_object
from medtasks_utils.judging.replies import MAX_CLAIMS, UnreadableError, find_object, read_claims, read_label

PROSE = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="{}[]`"), max_size=200)
SENTENCES = ("", "Here it is:\n", "Sure! 85 of 100, I would say: ")


@pytest.mark.parametrize(
    "around", ["{}", "```json\n{}\n```", "```\n{}\n```", "Here is it: {} That is all.", "\n {} \n"]
)
@pytest.mark.parametrize("score", [0, 100, 73, 12.5])
def test_an_object_is_read_in_fences_and_sentences(around: str, score: float) -> None:
    reply = geval_reply(score, justification='It says {"so"}, and [more].\nTruly.')
    assert read_object(around.replace("{}", json.dumps(reply))) == reply
    assert read_object(around.replace("{}", json.dumps(reply, indent=2))) == reply


@pytest.mark.parametrize(
    ("text", "score"), [("85", 85), (" 85.5 ", 85.5), ("100", 100), ("0", 0), ("1", 1), ("007", 7)]
)
def test_a_string_that_is_a_number_is_one(text: str, score: float) -> None:
    reply = read_object(json.dumps(geval_reply(text)))
    assert reply == geval_reply(score)
    assert "malformed" not in reply


def test_line_breaks_inside_strings_are_read() -> None:
    assert read_object('{"final_score": 5, "justification": "one\ntwo"}')["justification"] == "one\ntwo"


def test_half_characters_are_read_as_what_can_be_written() -> None:
    reply = read_object(json.dumps(geval_reply(5, justification="a\ud800", claims=["\udfff b"])))
    assert (reply["justification"], reply["claims"]) == ("a\ufffd", ["\ufffd b"])
    assert read_claims('["\\ud83d\\ude00", "\\ud83d"]') == ["\U0001f600", "\ufffd"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The score is 85.",
        "final_score: 85",
        '"final_score": 85',
        "85",
        "[85]",
        "{}",
        '{"score": 85}',
        '{"final_score": 85',
        '{"final_score": "0.85"}',
        '{"final_score": 0.85}',
        '{"final_score": 0.999}',
        '{"final_score": 1e-9}',
        '{"final_score": "-5"}',
        '{"final_score": "85 "}x{"final_score": "86"}',
        '{"final_score": "101"}',
        '{"final_score": "eighty-five"}',
        '{"final_score": ""}',
        '{"final_score": "85/100"}',
        '{"final_score": true}',
        '{"final_score": null}',
        '{"final_score": [85]}',
        '{"final_score": NaN}',
        '{"final_score": Infinity}',
        '{"final_score": -1}',
        '{"final_score": 100.5}',
        '{"final_score": 1e400}',
        '{"verdict": {"final_score": 85}}',
        '{"final_score": 40} No: {"final_score": 85}',
    ],
)
def test_no_score_is_made_of_anything_else(text: str) -> None:
    with pytest.raises(UnreadableError):
        read_object(text)


@given(PROSE, PROSE)
def test_prose_never_has_a_score_claims_or_a_label(text: str, more: str) -> None:
    for read in (read_object, read_claims):
        with pytest.raises(UnreadableError):
            read(f"{text} 85 {more}")
    with pytest.raises(UnreadableError):
        read_label(f"{text} it is FULLY_SUPPORTED {more}")


@given(
    st.one_of(
        st.floats(allow_nan=False),
        st.integers(),
        st.text(),
        st.booleans(),
        st.none(),
        st.lists(st.integers(), max_size=2),
    )
)
def test_a_score_is_a_number_from_0_to_100_and_is_kept_as_it_is(score: Any) -> None:
    valid = isinstance(score, int | float) and not isinstance(score, bool) and (score == 0 or 1 <= score <= 100)
    text = json.dumps(geval_reply(score))
    if valid:
        assert read_object(text)["final_score"] == score
    else:
        with pytest.raises(UnreadableError):
            read_object(text)


def test_other_fields_that_are_not_as_asked_for_are_named_and_kept() -> None:
    reply = geval_reply(50, reasoning="so so", claims="one", extra=1)
    del reply["medical_errors"]
    assert read_object(json.dumps(reply)) == {**reply, "malformed": ["claims", "medical_errors", "reasoning"]}
    assert "malformed" not in read_object(json.dumps(geval_reply(50)))


def test_the_schema_is_one_that_strict_endpoints_take() -> None:
    def check(node: Any) -> None:
        if isinstance(node, dict):
            assert not {"default", "minimum", "maximum", "pattern"} & node.keys()
            if node.get("type") == "object":
                assert node["additionalProperties"] is False
                assert node["required"] == list(node["properties"])
        for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            check(child)

    check(SCHEMA)
    assert set(SCHEMA["properties"]) == set(geval_reply(1))


@pytest.mark.parametrize("before", SENTENCES)
@pytest.mark.parametrize("fence", ["{}", "```json\n{}\n```"])
@given(claims=st.lists(st.text(st.characters(codec="utf-8")), max_size=MAX_CLAIMS))
def test_claims_are_read_once_each_without_blanks(before: str, fence: str, claims: list[str]) -> None:
    expected = list(dict.fromkeys(" ".join(claim.split()) for claim in claims if claim.strip()))
    assert read_claims(before + fence.replace("{}", json.dumps(claims))) == expected


@pytest.mark.parametrize(
    "text",
    ["One. Two.", "- One\n- Two", '["One", 2]', '{"claims": "One"}', '["One"] or ["Two"]', '["One", "Tw'],
)
def test_no_claims_are_made_of_anything_else(text: str) -> None:
    with pytest.raises(UnreadableError):
        read_claims(text)


def test_a_list_of_claims_that_ran_away_is_not_read() -> None:
    with pytest.raises(UnreadableError, match="21 claims"):
        read_claims(json.dumps([f"Claim {index}" for index in range(MAX_CLAIMS + 1)]))


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize(
    "around", ["{}", " {}\n", "{}.", '"{}"', "'{}'", "**{}**", "`{}`", "```\n{}\n```", "```text\n{}\n```"]
)
def test_a_label_is_read_in_any_case_and_wrapping(label: str, around: str) -> None:
    for text in (label, label.lower(), label.replace("_", " ").title(), label.replace("_", "-")):
        assert read_label(around.replace("{}", text)) == label


@pytest.mark.parametrize(
    "text", ["", "SUPPORTED", "FULLY_SUPPORTED because", "FULLY_SUPPORTED NOT_SUPPORTED", "Label: NOT_SUPPORTED", "1"]
)
def test_nothing_but_a_label_is_a_label(text: str) -> None:
    with pytest.raises(UnreadableError):
        read_label(text)


@pytest.mark.parametrize("piece", ["{", "[", '{"a":', '["', "{}", "[]", "`", "```\n", '{"final_score": ', "FULLY "])
def test_long_replies_are_read_in_linear_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    start = time.process_time()
    for read in (read_object, read_claims, read_label):
        with suppress(UnreadableError):
            read(text)
    assert time.process_time() - start < 20  # quadratic would be minutes


def test_find_object_takes_the_object_with_the_key() -> None:
    assert find_object('{"a": 1} then {"b": 2}', having="b") == {"b": 2}
    assert find_object('{"b": 2} again {"b": 2}', having="b") == {"b": 2}
