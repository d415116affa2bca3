"""What the question asks for as evidence: its quantity, unit, formula or date; nothing where no question is at hand."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import documents, load

from medtasks_utils.extraction.values import read_value

TASK = load("medcalc_bench")

BOTH_GAPS = "Na 140, Cl 103, HCO3 22: the anion gap is 15 mEq/L. The albumin-corrected anion gap is 20 mEq/L."
WEIGHTS = "CrCl is 46.1 mL/min, BMI is 27.3, the ideal body weight is 58.9 kg, the adjusted body weight is 65.5 kg."
SEVERAL = "By Bazett the QTc is 487.6 ms. By Fridericia it is 452 ms. By Framingham it is 449 ms."
SCORES = "CHA2DS2-VASc is 4, HAS-BLED is 2, and CHADS2 is 3."
STEROIDS = "Dexamethasone 4 mg is equivalent to 26.7 mg prednisolone or 107 mg hydrocortisone."
DATED = "Conception was around 02/09/2023 and the baby is due 11/02/2023."

ASKED = [
    ("decimal", BOTH_GAPS, "How large is the anion gap in mEq/L?", 15),
    ("decimal", BOTH_GAPS, "What is the albumin-corrected anion gap?", 20),
    ("decimal", WEIGHTS, "What is her creatinine clearance in mL/min, with the adjusted body weight in kg?", 46.1),
    ("decimal", WEIGHTS, "What is her ideal body weight in terms of kg?", 58.9),
    ("decimal", WEIGHTS, "What is her BMI?", 27.3),
    ("decimal", SEVERAL, "Using Fridericia's formula, what is the corrected QT interval?", 452),
    ("decimal", SEVERAL, "Using Bazett's formula, what is the corrected QT interval?", 487.6),
    ("decimal", STEROIDS, "From the dose of dexamethasone, what is the dose of prednisolone in mg?", 26.7),
    ("decimal", STEROIDS, "From the dose of dexamethasone, what is the dose of hydrocortisone in mg?", 107),
    ("decimal", "LDL = 131 mg/dL\nLDL = 3.39 mmol/L", "What is the LDL in mg/dL?", 131),
    ("decimal", "LDL = 131 mg/dL\nLDL = 3.39 mmol/L", "What is the LDL in mmol/L?", 3.39),
    ("decimal", "The rate is 64 mL/hr. The daily total is 1536 mL.", "What is the maintenance rate in mL/hr?", 64),
    ("decimal", "QTc is 487 msec, which is 0.487 s.", "What is the QTc in msec?", 487),
    ("integer", SCORES, "What is the CHA2DS2-VASc score?", 4),
    ("integer", SCORES, "What is the HAS-BLED score?", 2),
    ("integer", "Wells (DVT): 2. Geneva: 5. PERC: 1.", "What is the Wells score?", 2),
    ("date", DATED, "What is the date of conception?", "2023-02-09"),
    ("date", DATED, "What is the due date?", "2023-11-02"),
]


@pytest.mark.parametrize(("kind", "text", "question", "value"), ASKED)
def test_the_value_of_what_was_asked_for(kind: Any, text: str, question: str, value: float | str) -> None:
    read = read_value(text, kind, asked=question).value
    assert (str(read) if isinstance(value, str) else read) == value


def test_the_document_brings_its_question() -> None:
    doc = {"judgement": "decimal", "question": "What is the anion gap?", "calculator_name": "Anion Gap"}
    assert TASK.flexible(BOTH_GAPS, doc).value == 15
    assert TASK.flexible(BOTH_GAPS, {"judgement": "decimal"}).value == 20


def test_a_text_cut_off_before_what_was_asked_for_has_no_answer() -> None:
    text = "The BMI is 27.3. The ideal body weight is 58.9 kg. The creatinine clearance is then"
    assert read_value(text, "decimal", asked="What is the creatinine clearance in mL/min?").value is None


def test_a_plain_statement_is_read_whatever_was_asked() -> None:
    for doc in documents(TASK):
        text = f"The answer is {doc['shown_truth']}."
        without = {key: doc[key] for key in doc if key not in ("question", "calculator_name")}
        assert TASK.flexible(text, doc).value == TASK.flexible(text, without).value is not None
