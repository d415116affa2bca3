"""The flexible reading: statements, texts that state nothing, the judged corpus, and what must change no reading."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from given import TASK_OF, table
from hypothesis import given
from hypothesis import strategies as st
from judged import CORPUS, judged, outcome
from running import reader

from medtasks_utils.extraction import nothing

LOADED = {benchmark: reader(name) for benchmark, name in TASK_OF.items()}
ROWS = [*judged(), *judged(CORPUS / "later")]


# ---- nothing from nothing


@given(st.text(alphabet="abcdefgh", min_size=30, max_size=80), st.integers(9, 40))
def test_a_text_that_says_the_same_over_and_over_loops(sentence, times):
    assert nothing.loops(f"{sentence}. " * times)
    assert not nothing.loops(f"{sentence}. ")


@given(st.sampled_from(["and the", "which is", "3 +", "so that", "of"]), st.integers(1, 9))
def test_a_text_that_ends_within_a_sentence_breaks_off(end, sentences):
    text = "The pulse adds two. " * sentences
    assert nothing.whole_until(f"{text}It is {end}") == len(text)
    assert nothing.whole_until(text) == len(text)


# ---- the judged corpus


def found(rows: list[dict[str, Any]], rewrite: Callable[[str], str] = str) -> list[Any]:
    """What the flexible filters read of rows, rewritten or not."""
    return [LOADED[row["benchmark"]].flexible(rewrite(row["response"]), row).value for row in rows]


def test_the_corpus_is_read_as_its_readers_did():
    """All but the responses of the table, by what became of them: whoever reads one more takes it out."""
    outcomes = {row["id"]: outcome(row, value) for row, value in zip(ROWS, found(ROWS), strict=True)}
    assert {key: each for key, each in outcomes.items() if each != "right"} == dict(table("corpus_not_read"))


REWRITTEN = {
    "carriage returns": (r"\n", "\r\n"),
    "spaces at the ends of lines": (r"\n", "  \n"),
    "two spaces after a full stop": (r"(?<=[a-z]\.) (?=[A-Z])", "  "),
    "spaces that do not break": (r"(?<=\d) (?=[a-zA-Z%])", "\u00a0"),
    "typographic quotes": ("'", "’"),
    "points as bullets": (r"^[-*] ", "• "),
    "colons in bold": (r"\*\*:", ":**"),
    "HTML for bold": (r"\*\*([^*\n]+)\*\*", r"<strong>\1</strong>"),
    "underscores for bold": (r"\*\*([^*\n]+)\*\*", r"__\1__"),
    "indentation": (r"^(?=\S)", "  "),
    "reasoning before": (r"\A", "<think>\nA? 3.5?\n</think>\n\n"),
    "a ruler at the end": (r"\Z", "\n\n---"),
    "an end-of-text token": (r"\Z", "<|im_end|>"),
}
NOT_WITH = {"indentation": "`", "reasoning before": "think>"}


@pytest.mark.parametrize(("at", "name"), [*enumerate(REWRITTEN)], ids=REWRITTEN)
def test_rewriting_changes_nothing(at, name):
    rows = [row for row in ROWS[at :: len(REWRITTEN)] if NOT_WITH.get(name, "\0") not in row["response"]]
    others = found(rows, lambda text: re.sub(*REWRITTEN[name], text, flags=re.MULTILINE))
    assert [row["id"] for row, one, other in zip(rows, found(rows), others, strict=True) if one != other] == []
