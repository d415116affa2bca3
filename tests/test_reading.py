"""The flexible reading: statements, texts that state nothing, the judged corpus, and what must change no reading."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import pytest
from conftest import load
from hypothesis import given
from hypothesis import strategies as st
from judged import CORPUS, TASKS, judged, outcome

from medtasks_utils.extraction import nothing
from medtasks_utils.extraction.letters import read_letter
from medtasks_utils.extraction.plain import stated, tidied
from medtasks_utils.extraction.values import read_value
from medtasks_utils.extraction.verdicts import read_verdict
from medtasks_utils.extraction.words import symbols_of

LOADED = {benchmark: load(name) for benchmark, name in TASKS.items()}
ROWS = [*judged(), *judged(CORPUS / "later")]
NERVES = ["Axillary nerve", "Musculocutaneous nerve", "Long thoracic nerve", "Spinal accessory nerve"]

LETTERS = [
    ("The answer is (C).", "C"),
    ("Therefore, among A through D, the answer is C.", "C"),
    ("The answer is (C). The fear that it may recur is not a valid reason.", "C"),
    ("(D) is not a true statement. Thus A, B and C are true. The answer is (D).", "D"),
    ("The answer is (A). A lesion of that nerve causes winging.", "A"),
    ("Among A through D, the answer is B, the musculocutaneous nerve.", "B"),
    ("long thoracic nerve", "C"),
    ("Option B\n\nQuestion: Which artery?\nAnswer: D", "B"),
    ("**Correct answer: C. Long thoracic nerve**\n\n- A. Axillary nerve: the deltoid.", "C"),
    ("Die richtige Antwort ist C.", "C"),
    ("正确答案是C。", "C"),
    ("Ответ: В", "B"),
    ("The answer is A. Wait, it is C.", "C"),
    ('{"answer": "B", "reasoning": "A or C?"}', "B"),
    (r"\boxed{\text{C}}", "C"),
    ("<reasoning>The answer is A?</reasoning> The answer is B.", "B"),
    ("[THINK]The answer is A?[/THINK]B", "B"),
    ("Therefore, among A through D, the answer is none of the above.", None),
    ("The answer is (None).", None),
    ("The answer is (E).", None),
    ("The answer is A or B.", None),
    ("I would not choose A.", None),
    ("\n".join(f"{letter}. {nerve}" for letter, nerve in zip("ABCD", NERVES, strict=True)), None),
    ("The nerve is long. " * 20, None),
]
VALUES: list[tuple[str, Any, Any]] = [
    ("Total Caprini Score = 3 (Age) + 2 (Immobilization) + 3 (Risk factors) + 2 (Genetic) = 10 points.", "integer", 10),
    ("Height squared: (1.9558)^2 ≈ 3.8251. Multiply by the BMI: 19.7 * 3.8251 ≈ 75.44 kg.", "decimal", 75.44),
    ("Adding these together: 60 (Oxycodone) + 560 (Hydromorphone) + 2 (Codeine) = 622 MME per day.", "decimal", 622),
    ("Fever: 1 point. Cough: 2 points. The total score is 5.", "integer", 5),
    ("Divide 330 by 0.664 to get the QTc. The result is approximately 497 msec.", "decimal", 497),
    ("330 + 15.554 = 345.554. Round to the nearest whole number, resulting in 346 msec.", "decimal", 346),
    ("The BMI is 44 divided by (1.56)^2, which is approximately 18.07.", "decimal", 18.07),
    ("The corrected calcium is 9.76 mg/dL (reference range: 8.5-10.2).", "decimal", 9.76),
    ("FIB-4 is 2.77, which is > 2.67.", "decimal", 2.77),
    ("**Result:** 1,234.5 mL", "decimal", 1234.5),
    ("The GFR is 4.9 mL/min/1.73 m².", "decimal", 4.9),
    ('{"step_by_step_thinking": "BMI = 44 / 2.4 = 18.3", "answer": "18.07 kg/m²"}', "decimal", 18.07),
    ("analysisWe compute 3.assistantfinal<answer>4</answer>", "integer", 4),
    ("206 ÷ 7 = 29 weeks with 3 days remainder. The age is 29 weeks and 3 days.", "weeks_days", (29, 3)),
    ("Add 7 days: 05/27/2020. The estimated due date is 02/27/2021.", "date", "2021-02-27"),
    ('{"answer":"Insufficient data, the weight of 30 kg is old"}', "decimal", None),
    ("The sodium is 140. Finally, we plug in the values and solve for GFR", "decimal", None),
    ("α is −0.411. We can plug in the values to get the GFR.", "decimal", None),
    ("The weight is missing, so the rate cannot be calculated.", "decimal", None),
    ("The level is 7 (0 points), but it is high. " * 12, "decimal", None),
]
VERDICTS = [
    ("The answer is factual.", "0"),
    ("The answer is not factual.", "1"),
    ("**Verdict:** Hallucinated (1)", "1"),
    (r"\boxed{2}", "2"),
    ('{"hallucinated": false}', "0"),
    ("Is it factual? No.", "1"),
    ("Although the dose is correct, the trial is invented. The answer is hallucinated.", "1"),
    ("Die Antwort ist halluziniert.", "1"),
    ("该回答是事实。", "0"),
    ("Either factual or hallucinated?", None),
    (r"Reply with \boxed{0} if it is factual.", None),
]


@pytest.mark.parametrize(("text", "letter"), LETTERS)
def test_letters(text: str, letter: str | None) -> None:
    assert read_letter(text, NERVES).value == letter


@pytest.mark.parametrize(("text", "kind", "value"), VALUES)
def test_values(text: str, kind: Any, value: Any) -> None:
    read = read_value(text, kind).value
    assert (str(read) if kind == "date" else read) == value


@pytest.mark.parametrize(("text", "verdict"), VERDICTS)
def test_verdicts(text: str, verdict: str | None) -> None:
    assert read_verdict(text).value == verdict


# ---- nothing from nothing


@given(st.text(alphabet="abcdefgh", min_size=30, max_size=80), st.integers(9, 40))
def test_a_text_that_says_the_same_over_and_over_loops(sentence: str, times: int) -> None:
    assert nothing.loops(f"{sentence}. " * times)
    assert not nothing.loops(f"{sentence}. ")


@given(st.sampled_from(["and the", "which is", "3 +", "so that", "of"]), st.integers(1, 9))
def test_a_text_that_ends_within_a_sentence_breaks_off(end: str, sentences: int) -> None:
    text = "The pulse adds two. " * sentences
    assert nothing.whole_until(f"{text}It is {end}") == len(text)
    assert nothing.whole_until(text) == len(text)


@given(st.sampled_from(["we can calculate the score", "solve for the GFR", "we plug in the values"]), st.floats(1, 99))
def test_a_plan_is_no_result(plan: str, value: float) -> None:
    assert nothing.only_plans(symbols_of(f"The age is given. Then {plan}.", ()))
    assert read_value(f"The sodium is {value:.1f}. Then {plan}.", "decimal").value is None


@given(st.sampled_from(["none of the above", "unknown", "not in the options"]), st.sampled_from("ABCD"))
def test_what_gives_up_has_no_letter(words: str, letter: str) -> None:
    assert read_letter(f"{letter} is common. The answer is {words}.", NERVES).value is None


@given(st.sampled_from(["weight", "albumin"]), st.floats(1, 99))
def test_what_lacks_data_has_no_value(needed: str, value: float) -> None:
    text = f"The age is {value:.0f}. The {needed} is missing, so it cannot be calculated."
    assert nothing.lacks(symbols_of(text, ()))
    assert read_value(text, "decimal").value is None


@given(st.sampled_from("ABCD"), st.sampled_from("ABCD"), st.sampled_from(["Wait, ", "Correction: ", "No, I misread. "]))
def test_what_is_taken_back_is_not_stated(first: str, second: str, words: str) -> None:
    assert read_letter(f"The answer is {first}. {words}the answer is {second}.").value == second


# ---- the judged corpus

LEAST = {"ordinary": (0.98, 0.015), "hard": (0.80, 0.15), "": (0.72, 0.16)}
"""The share that must be right, and the largest that may be wrong, by kind, over all four benchmarks."""


def found(rows: list[dict[str, Any]], rewrite: Callable[[str], str] = str) -> list[Any]:
    """What the flexible filters read of rows, rewritten or not."""
    return [LOADED[row["benchmark"]].flexible(rewrite(row["response"]), row).value for row in rows]


def test_the_corpus_is_read_as_its_readers_did() -> None:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row, value in zip(ROWS, found(ROWS), strict=True):
        counts[row.get("kind", "")][outcome(row, value)] += 1
    for kind, (right, wrong) in LEAST.items():
        total = sum(counts[kind].values())
        assert counts[kind]["right"] >= right * total, (kind, counts[kind])
        assert counts[kind]["wrong"] <= wrong * total, (kind, counts[kind])


REWRITTEN: dict[str, Callable[[str], str]] = {
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
def test_rewriting_changes_nothing(at: int) -> None:
    rewrite, rows = [*REWRITTEN.values()][at], ROWS[at :: len(REWRITTEN)]
    changed = [
        row["id"] for row, one, other in zip(rows, found(rows), found(rows, rewrite), strict=True) if one != other
    ]
    assert len(changed) <= 0.02 * len(rows), changed


# ---- any text

PIECES = [
    "A",
    "B. ",
    "1",
    "2.5 ",
    "=",
    "is ",
    "not ",
    "answer ",
    "**",
    "\n",
    "\\boxed{",
    "}",
    "<answer>",
    '"answer": "',
]


@given(st.text() | st.lists(st.sampled_from([*PIECES, "</answer>", "factual ", "या", "答案", "\ud800"])).map("".join))
def test_any_text_gives_a_reading_or_none(text: str) -> None:
    assert read_letter(text, NERVES).value in (None, *"ABCD")
    assert read_verdict(text).value in (None, *"012")
    for kind in ("decimal", "integer", "date", "weeks_days"):
        reading = read_value(text, kind)
        assert (reading.value is None) == (reading.cue == "none")
        assert 0 <= reading.certainty <= 1
    assert isinstance(stated(text), str) and len(tidied(text)) <= 4 * len(text) + 9
