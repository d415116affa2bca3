"""MedCalc-Bench: where the answer stands in a response, and both readings of it."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import documents, load
from hypothesis import given, settings
from hypothesis import strategies as st

from medtasks_utils.benchmarks.medcalc_bench.kinds import KINDS, is_right
from medtasks_utils.extraction.values import content_value


def plain_value(content: str, judgement: Any) -> Any:
    return content_value(content, judgement).value


TASK = load("medcalc_bench")
BOXED = load("medcalc_bench", medcalc_bench={"answer_format": "boxed"})

FLEXIBLE: dict[str, list[tuple[str, float | str | None]]] = {
    "decimal": [
        ("<answer>46.1</answer>", 46.1),
        ("<answer>46.1 mL/min</answer>", 46.1),
        ("Reasoning.\n<answer>\n46.1\n</answer>", 46.1),
        ("<answer>12</answer> no, <answer>46.1</answer>", 46.1),
        ("<ANSWER>46.1</ANSWER>", 46.1),
        (r"<answer>46.1<\answer>", 46.1),
        ("<answer>46.1", 46.1),
        (r"\boxed{46.1}", 46.1),
        (r"\boxed{46.1 \text{ mL/min}}", 46.1),
        (r"$\boxed{46.1\ \mathrm{mL/min}}$", 46.1),
        (r"<answer>$\boxed{46.1}$</answer>", 46.1),
        ("The creatinine clearance is 46.1 mL/min.", 46.1),
        ("**Final answer:** 46.1 mL/min", 46.1),
        ("Final answer:\n46.1", 46.1),
        ("### Final Answer\n\n**46.1 mL/min**", 46.1),
        ("The answer is 46.1 mL/min.\n\nLet me know if you need the 3 steps again.", 46.1),
        ("Therefore, the patient's BMI is approximately 22.9 kg/m².", 22.9),
        (
            (
                "Therefore, based on the Cockcroft-Gault equation with the adjusted body weight, the patient's "
                "estimated creatinine clearance at presentation is approximately 46.1 mL/min."
            ),
            46.1,
        ),
        ("CrCl = (140-66)*65.46*0.85/(72*1.24) = 46.1 mL/min", 46.1),
        ("So CrCl = **46.1 mL/min**.\n\nThis indicates moderate impairment (stage 3).", 46.1),
        ("Answer: 46.1", 46.1),
        ("answer = 46.1", 46.1),
        ('{"answer": "46.1"}', 46.1),
        ('{"step_by_step_thinking": "x = 3", "answer": "46.1 mL/min"}', 46.1),
        ("46.1", 46.1),
        ("≈ 46.1", 46.1),
        ("The final value is **46.1**", 46.1),
        ("Final value: 46.1 mL/min (rounded)", 46.1),
        ("The result is 46.1.", 46.1),
        ("Result: $46.1$", 46.1),
        ("I cannot compute this.", None),
        ("", None),
        ("<answer></answer>", None),
        ("<answer>unknown</answer>", None),
        ("<answer>N/A</answer>", None),
        ("Step 1: weight 70 kg\nStep 2: height 1.75 m\nI cannot finish.", None),
        ("<think>The answer is 3</think><answer>46.1</answer>", 46.1),
        ("<think>The answer is 46.1", None),
        ("<think>x</think>The answer is 46.1", 46.1),
        (r"The answer is \boxed{46.1", None),
    ],
    "integer": [
        ("<answer>4 points</answer>", 4),
        ("<answer>4/9</answer>", 4),
        ("The CHA2DS2-VASc score is 4.", 4),
        ("The patient's score is 4 points, corresponding to a 4.0% yearly risk of stroke.", 4),
        ("Total score: 4", 4),
        ("**Total score = 1 + 1 + 2 = 4**", 4),
        ("Total: 4 points", 4),
        ("Age: 1 point\nHypertension: 1 point\nStroke: 2 points\n\n**Total score: 4 points**", 4),
        ("Final answer: 4 out of 9", 4),
        (r"\boxed{4}", 4),
        ("<answer>four</answer>", 4),
    ],
    "date": [
        ("<answer>May 4, 2021</answer>", "5/4/2021"),
        ("<answer> 5/4/2021 </answer>", "5/4/2021"),
        ("The due date is May 4, 2021.", "5/4/2021"),
        ("The estimated due date is 05/04/2021", "5/4/2021"),
        ("Final answer: 2021-05-04", "5/4/2021"),
        (r"\boxed{05/04/2021}", "5/4/2021"),
        (r"\boxed{\text{May 4, 2021}}", "5/4/2021"),
        ("LMP: 7/28/2020\nAdd 280 days\n\nEDD: 5/4/2021", "5/4/2021"),
        ("<answer>30 February 2021</answer>", None),
    ],
    "weeks_days": [
        ("<answer>4 weeks and 3 days</answer>", "(4 weeks, 3 days)"),
        ("The gestational age is 4 weeks and 3 days.", "(4 weeks, 3 days)"),
        ("Final answer: 4w3d", "(4 weeks, 3 days)"),
        (r"\boxed{(4 \text{ weeks}, 3 \text{ days})}", "(4 weeks, 3 days)"),
        (r"\boxed{4+3}", "(4 weeks, 3 days)"),
        ("**Gestational age:** 4 weeks, 3 days", "(4 weeks, 3 days)"),
        ("From 1/1/2021 to 2/1/2021 is 31 days.\n\nSo the gestational age is 4 weeks and 3 days.", "(4 weeks, 3 days)"),
    ],
}


@pytest.mark.parametrize(
    ("judgement", "response", "value"),
    [(judgement, response, value) for judgement, rows in FLEXIBLE.items() for response, value in rows],
)
def test_flexible(judgement: str, response: str, value: float | str | None) -> None:
    answer = TASK.flexible(response, {"judgement": judgement})
    if value is None:
        assert answer.value is None
    else:
        assert (str(answer) if isinstance(value, str) else answer.value) == value


@pytest.mark.parametrize(
    ("response", "value"),
    [
        ("<answer>5</answer>", 5),
        ("<answer>4</answer> <answer>5</answer>", 5),
        ("<answer>5", None),
        ("5</answer>", None),
        ("The answer is 5.", None),
        ("<answer></answer>", None),
        ("<think><answer>4</answer></think><answer>5</answer>", 5),
        ("<think><answer>4</answer></think> The answer is 5.", None),
        ("<think>a</think> then <think>b <answer>4</answer></think> 5.", None),
        # think tags that do not pair up: the last intact tag, wherever it stands
        ("<think>so <answer>5</answer> or", 5),
        ("<think>so\n<answer>5</answer>", 5),
        ("<think>so it is <answer>5</answer>. I hope this helps!", 5),
        ("so it is <answer>5</answer>, I think.</think>", 5),
        ("so <answer>4</answer></think> it is <answer>5</answer> in all", 5),
        ("<think>a</think></think> value: <answer>5</answer> mL", 5),
        ("</think>a<think> thus <answer>5</answer> mL", 5),
        ("<think>a<THINK>b</think> <answer>5</answer> <think> or <answer>6", 5),
        ("<answer>5</answer> \\boxed{6}", 5),
        ("\\boxed{6}", 6),
        ("\\boxed{\\text{(6)}.}", 6),
        ("<ANSWER>5<\\answer>", 5),
    ],
)
def test_strict_reads_the_last_closed_tag_else_the_box(response: str, value: int | None) -> None:
    assert TASK.strict(response, {"judgement": "decimal"}).value == value


def test_the_form_that_was_asked_for_comes_first() -> None:
    doc = {"judgement": "decimal"}
    response = "<answer>5</answer> \\boxed{6}"
    assert [task.strict(response, doc).value for task in (TASK, BOXED)] == [5, 6]
    assert [task.flexible(response, doc).value for task in (TASK, BOXED)] == [5, 6]
    assert BOXED.strict("<answer>5</answer>", doc).value == 5


def test_a_percentage_may_be_the_number_or_the_fraction() -> None:
    doc = {"judgement": "decimal", "ground_truth": "0.833", "lower_limit": 0.79, "upper_limit": 0.87}
    assert is_right(plain_value("83.3%", "decimal"), doc)
    assert is_right(plain_value("0.833%", "decimal"), doc)
    assert not is_right(plain_value("83.3", "decimal"), doc)
    assert not is_right(plain_value("8.33%", "decimal"), doc)
    assert not is_right(KINDS["decimal"].strict("0.833%"), doc)


def test_the_truth_in_its_shown_form_is_right_under_both_readings() -> None:
    for doc in documents(TASK):
        for response in (f"<answer>{doc['shown_truth']}</answer>", f"\\boxed{{{doc['shown_truth']}}}"):
            for read in (TASK.strict, TASK.flexible):
                assert TASK.score(doc, read(response, doc))["acc"] == 1.0, (doc["calculator_id"], response)


def test_an_answer_out_of_reach_is_wrong() -> None:
    for doc in documents(TASK):
        far = {"date": "1/1/1875", "weeks_days": "(77 weeks, 6 days)"}.get(doc["judgement"], "-987654.25")
        for response in (f"<answer>{far}</answer>", rf"oxed{{{far}}}", "<answer>unknown</answer>", ""):
            for read in (TASK.strict, TASK.flexible):
                assert TASK.score(doc, read(response, doc))["acc"] == 0.0, (doc["calculator_id"], response)


PROSE = "abcdehiklmnoprtuvwyzMLE .,;:()*/%^=≈×-\n\\{}"


@settings(deadline=None)
@given(st.text(alphabet=PROSE + "0123456789", max_size=80), st.sampled_from(sorted(KINDS)))
def test_no_answer_breaks_the_scoring(content: str, judgement: Any) -> None:
    doc = next(doc for doc in documents(TASK) if doc["judgement"] == judgement)
    for response in (f"<answer>{content}</answer>", content):
        for read in (TASK.strict, TASK.flexible):
            assert TASK.score(doc, read(response, doc))["acc"] in (0.0, 1.0)


@settings(deadline=None)
@given(
    st.floats(-1000, 1000).map(lambda x: round(x, 2)), st.sampled_from(["{}", " {} ", "{}.", "**{}**", "= {}", "{} mg"])
)
def test_a_plain_number_is_read_alike_by_both(value: float, style: str) -> None:
    content = style.format(f"{value:.2f}")
    assert KINDS["decimal"].strict(content) == plain_value(content, "decimal") == value
