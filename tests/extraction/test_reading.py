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

from medtasks_utils.benchmarks.medcalc_bench.no_result import lacks
from medtasks_utils.benchmarks.medcalc_bench.values import read_value
from medtasks_utils.extraction import nothing
from medtasks_utils.extraction.letters import read_letter
from medtasks_utils.extraction.words import symbols_of

LOADED = {benchmark: reader(name) for benchmark, name in TASK_OF.items()}
ROWS = [*judged(), *judged(CORPUS / "later")]
NERVES = ["Axillary nerve", "Musculocutaneous nerve", "Long thoracic nerve", "Spinal accessory nerve"]


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


@given(st.sampled_from(["we can calculate the score", "solve for the GFR", "we plug in the values"]), st.floats(1, 99))
def test_a_plan_is_no_result(plan, value):
    assert read_value(f"The sodium is {value:.1f}. Then {plan}.", "decimal").value is None


@given(st.sampled_from(["none of the above", "unknown", "not in the options"]), st.sampled_from("ABCD"))
def test_what_gives_up_has_no_letter(words, letter):
    assert read_letter(f"{letter} is common. The answer is {words}.", NERVES).value is None


@given(st.sampled_from(["weight", "albumin"]), st.floats(1, 99))
def test_what_lacks_data_has_no_value(needed, value):
    text = f"The age is {value:.0f}. The {needed} is missing, so it cannot be calculated."
    assert lacks(symbols_of(text))
    assert read_value(text, "decimal").value is None


@given(st.sampled_from("ABCD"), st.sampled_from("ABCD"), st.sampled_from(["Wait, ", "Correction: ", "No, I misread. "]))
def test_what_is_taken_back_is_not_stated(first, second, words):
    assert read_letter(f"The answer is {first}. {words}the answer is {second}.").value == second


# ---- the judged corpus


def found(rows: list[dict[str, Any]], rewrite: Callable[[str], str] = str) -> list[Any]:
    """What the flexible filters read of rows, rewritten or not."""
    return [LOADED[row["benchmark"]].flexible(rewrite(row["response"]), row).value for row in rows]


def test_the_corpus_is_read_as_its_readers_did():
    """All but the responses of the table, by what became of them: whoever reads one more takes it out."""
    outcomes = {row["id"]: outcome(row, value) for row, value in zip(ROWS, found(ROWS), strict=True)}
    assert {key: each for key, each in outcomes.items() if each != "right"} == dict(table("corpus_not_read"))


REWRITTEN = {
    "carriage returns": lambda text: text.replace("\n", "\r\n"),
    "spaces at the ends of lines": lambda text: text.replace("\n", "  \n"),
    "two spaces after a full stop": lambda text: re.sub(r"(?<=[a-z]\.) (?=[A-Z])", "  ", text),
    "spaces that do not break": lambda text: re.sub(r"(?<=\d) (?=[a-zA-Z%])", "\u00a0", text),
    "typographic quotes": lambda text: text.replace("'", "’"),
    "points as bullets": lambda text: re.sub(r"^[-*] ", "• ", text, flags=re.MULTILINE),
    "colons in bold": lambda text: re.sub(r"\*\*:", ":**", text),
    "HTML for bold": lambda text: re.sub(r"\*\*([^*\n]+)\*\*", r"<strong>\1</strong>", text),
    "underscores for bold": lambda text: re.sub(r"\*\*([^*\n]+)\*\*", r"__\1__", text),
    "indentation": lambda text: text if "`" in text else re.sub(r"^(?=\S)", "  ", text, flags=re.MULTILINE),
    "reasoning before": lambda text: text if "think>" in text else f"<think>\nA? 3.5?\n</think>\n\n{text}",
    "a ruler at the end": lambda text: f"{text}\n\n---",
    "an end-of-text token": lambda text: f"{text}<|im_end|>",
}


@pytest.mark.parametrize("at", range(len(REWRITTEN)), ids=[*REWRITTEN])
def test_rewriting_changes_nothing(at):
    rewrite, rows = [*REWRITTEN.values()][at], ROWS[at :: len(REWRITTEN)]
    changed = [
        row["id"] for row, one, other in zip(rows, found(rows), found(rows, rewrite), strict=True) if one != other
    ]
    assert changed == []
