"""Readers of text one by one: tables of texts with what is read of them, and what holds of any text."""

import datetime
import math

import pytest
from given import GENERATION_TASKS, same, table
from hypothesis import given
from hypothesis import strategies as st
from places import as_its_row_says
from running import documents, reader

from medtasks_utils.benchmarks.medcalc_bench.absence import states_not_available
from medtasks_utils.benchmarks.medcalc_bench.kinds import KINDS
from medtasks_utils.benchmarks.medcalc_bench.numbers import evaluate, python_literal, strict_decimal
from medtasks_utils.benchmarks.medcalc_bench.quantities import Percentage
from medtasks_utils.benchmarks.medcalc_bench.values import Kind, content_value, read_value
from medtasks_utils.benchmarks.medexqa.authors import authors_answer
from medtasks_utils.benchmarks.medhallu.verdicts import read_verdict
from medtasks_utils.extraction.boxes import boxes, last_box, unwrap
from medtasks_utils.extraction.letters import read_letter
from medtasks_utils.extraction.tags import last_tag
from medtasks_utils.extraction.think import final_text, is_one_block_then_answer, think_tags_pair_up

NERVES = ["Axillary nerve", "Musculocutaneous nerve", "Long thoracic nerve", "Spinal accessory nerve"]
APHASIAS = ["Broca aphasia", "Wernicke aphasia", "Conduction aphasia.", "Aphasia"]
VALUES: tuple[Kind, ...] = ("decimal", "integer", "date", "weeks_days")
DATE, AGE = "content_date", "content_weeks_days"


READERS = {
    **{f"content_{kind}": lambda text, kind=kind: content_value(text, kind).value for kind in VALUES},  # type: ignore[misc]
    **{f"strict_{kind}": lambda text, kind=kind: KINDS[kind].strict(text) for kind in VALUES},  # type: ignore[misc]
    "boxes": boxes,
    "expression": evaluate,
    "final_text": final_text,
    "last_tag": last_tag,
    "letter": lambda text: read_letter(text, NERVES).value,
    "literal": python_literal,
    "words_that_decide": lambda text: read_letter(text, NERVES).words,
    "medexqa_authors": lambda text: authors_answer(text, APHASIAS)[0],
    "one_block": is_one_block_then_answer,
    "percentage": lambda text: isinstance(content_value(text, "decimal").value, Percentage),
    "tags_pair_up": think_tags_pair_up,
    "unwrapped": unwrap,
    "verdict": lambda text: read_verdict(text).value,
}
"""By the name of a table in ``tables/``; what a value in it stands for is compared by :func:`same`."""


@pytest.mark.parametrize("name", READERS)
def test_each_text_gives_its_expected_answer(name):
    found = [(text, wanted, READERS[name](text)) for text, wanted in table(name)]
    assert [row for row in found if not same(row[2], row[1])] == []


test_a_function_of_readers_returns_what_its_row_says = as_its_row_says("functions_of_extraction")


def test_a_stated_value_is_read_out_of_a_whole_response():
    found = [(text, value, read_value(text, kind).value) for text, (kind, value) in table("stated_value")]
    assert [row for row in found if not same(row[2], row[1])] == []


# ---- what is written is read back, in any style


def written(kind):
    """Texts of a kind: ways to write a number or a date, answers, pieces of texts."""
    return [text for own, text in table("texts_by_kind") if own == kind]


@given(
    st.floats(-1e6, 1e6),
    st.sampled_from(written("number")),
    st.integers(-30, 30),
    st.sampled_from(written("power of ten")),
)
def test_a_number_is_read_in_any_style(number, style, exponent, power):
    value, read = round(number, 3), READERS["content_decimal"]
    for form in (f"{value:.3f}", f"{value:,.3f}", f"{value:.9e}", repr(value).replace("-", "−")):
        assert read(style.format(form)) == pytest.approx(value, abs=5e-4)
    mantissa = 1 + exponent % 9
    assert read(power.format(mantissa, exponent)) == pytest.approx(mantissa * 10.0**exponent)


@given(st.dates(datetime.date(1900, 1, 1), datetime.date(2099, 12, 31)), st.sampled_from(written("date")))
def test_a_date_is_read_in_any_style(date, style):
    assert READERS[DATE](date.strftime(style)) == date
    for text in (f"{date.month}/{date.day}/{date.year}", f"{date.month:02}/{date.day:02}/{date.year}"):
        assert READERS["strict_date"](text) == READERS[DATE](text) == date


@given(st.integers(0, 45), st.integers(0, 6), st.sampled_from(written("age")))
def test_an_age_in_weeks_and_days_is_read_in_any_style(weeks, days, style):
    assert READERS[AGE](style.format(weeks, days)) == (weeks, days)
    assert READERS["strict_weeks_days"](f"({weeks} weeks, {days} days)") == (weeks, days)
    assert READERS[AGE](f"{7 * weeks + days} days") == (weeks, days)


# ---- expressions


def test_a_literal_too_long_for_python_or_too_large_for_a_float_is_no_value():
    assert python_literal("9" * 4300) == 10**4300 - 1
    assert python_literal("9" * 4301) is None
    assert python_literal("9" * 400 + ".0") is None
    assert strict_decimal("9" * 400 + "%") is None
    assert KINDS["days"].strict("9" * 400) is None


LONG = ["*".join(["2**999"] * 100), "(" * 1000 + "1", "-" * 1500 + "1", "[" * 500, "1 if " * 300]


def test_expressions_cannot_reach_out_or_grow_and_leave_nothing_behind():
    for expression in [*LONG, *(text for text, value in table("expression") if value is None)]:
        assert evaluate(expression) is None
        assert strict_decimal(f"str({expression})") is None or len(expression) < 2
    assert evaluate("math.sqrt(4) + np.pi") == 2 + math.pi
    assert strict_decimal(f"str({'1111111111+' * 200}1)") is None, "a long one is refused, not cut"


# ---- boxes, tags and reasoning

PLAIN = st.text(alphabet=st.characters(exclude_characters="\\{}", exclude_categories=["Cs"]))
BRACES = st.lists(st.sampled_from(["\\boxed{", *"{}A\\ ", "\\{", "\\}", "\\\\"]), max_size=30).map("".join)
UNTAGGED = st.text().filter(lambda text: "answer>" not in text.lower() and "think>" not in text.lower())


@given(PLAIN, PLAIN, PLAIN, PLAIN)
def test_the_last_balanced_box_is_read(before, first, between, last):
    text = rf"{before}\boxed{{{first}}}{between}\boxed{{{last}}}"
    for whole in (text, rf"{text} \boxed{{ {before}", rf"{text} {{{{ {{}} "):
        assert last_box(whole) == last


@given(BRACES)
def test_the_content_of_a_box_is_balanced_and_part_of_the_text(text):
    contents = boxes(text)
    assert last_box(text) == (contents[-1] if contents else None)
    assert sum(map(len, contents)) <= len(text)
    for content in contents:
        assert content in text
        assert last_box(rf"\boxed{{{content}}}") == (boxes(content) or [content])[-1]


WRAPPERS = st.lists(st.sampled_from(written("wrapper")), max_size=6)


@given(st.sampled_from(["A", "0", "12.5", "C. x", "5/4/2021"]), WRAPPERS)
def test_an_answer_wrapped_in_latex_or_markup_is_read_bare(token, wrappers):
    wrapped = token
    for wrapper in wrappers:
        wrapped = wrapper % wrapped
    assert unwrap(wrapped) == token
    assert unwrap(last_box(rf"So: $\boxed{{{wrapped}}}$.") or "") == token


@given(UNTAGGED, UNTAGGED, UNTAGGED)
def test_the_last_closed_tag_is_read(before, content, after):
    text = f"{before}<answer>0</answer>{before}<answer>{content}</answer>{after}"
    assert last_tag(text) == content


@given(UNTAGGED, UNTAGGED)
def test_reasoning_tags_that_the_server_strips_make_no_difference(reasoning, answer):
    assert final_text(f"<think>{reasoning}</think>{answer}") == answer == final_text(answer)
    assert final_text(f"{reasoning}</think>{answer}") == answer
    assert final_text(f"{answer}<think>{reasoning}") == answer


REASONING, ANSWERS = written("reasoning"), written("answer")


@pytest.mark.parametrize("name", GENERATION_TASKS)
def test_no_answer_is_read_in_reasoning(name):
    task = reader(name)
    doc = documents(task)[0]
    for read in (task.strict, task.flexible):
        for answer in ANSWERS:
            whole, stripped = read(f"<think>\n{REASONING[0]}\n</think>\n\n{answer}", doc), read(answer, doc)
            assert whole.value == stripped.value
            assert {**task.score(doc, whole), "format": None} == {**task.score(doc, stripped), "format": None}
        for reasoning in REASONING:
            assert read(f"<think>{reasoning}", doc).value is None
            assert read(f"<think>So.</think>\n<think>{reasoning}", doc).value is None


# ---- any text

LIKE = st.text(alphabet="0123456789+/wd weksay,()[]'\"-. janfbmrch$*{}\\tA", max_size=40)
ANY = st.text() | LIKE | st.lists(st.sampled_from(written("piece"))).map("".join)


@given(ANY)
def test_any_text_is_read_without_an_error(text):
    found = {name: read(text) for name, read in READERS.items() if name not in ("literal", "expression")}
    assert found["letter"] in (None, *"ABCD") and found["verdict"] in (None, *"012")
    for kind in VALUES:
        for value in (found[f"content_{kind}"], found[f"strict_{kind}"]):
            if kind == "date":
                assert isinstance(value, datetime.date | None)
            elif kind == "weeks_days":
                assert value is None or (len(value) == 2 and min(value) >= 0)
            else:
                assert value is None or math.isfinite(value)
        reading = read_value(text, kind)
        assert (reading.value is None) == (reading.cue == "none") and 0 <= reading.certainty <= 1
    once = found["unwrapped"]
    assert unwrap(once) == once and len(once) <= len(text)
    assert (found["last_tag"] or "") in text
    states_not_available(text)
