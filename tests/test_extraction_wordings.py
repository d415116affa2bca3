"""Options in other spellings, numerals and abbreviations than the question's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judged import CORPUS, judged

from medtasks_utils.extraction.letters import read_letter
from medtasks_utils.extraction.wordings import as_in_options

ERRORS = ["Type I error", "Type II error", "Sampling error", "Measurement error"]
BLEEDS = ["Epidural haematoma", "Subdural haematoma", "Subarachnoid haemorrhage", "Intracerebral bleed"]
GERMS = ["Neisseria gonorrhoeae", "Neisseria meningitidis", "Moraxella catarrhalis", "Haemophilus influenzae"]
DEVICES = ["Isolation transformer", "Ground fault circuit interrupter", "Fuse", "Surge protector"]
ULCERS = ["Pressure ulcer, stage 1", "Pressure ulcer, stage 2", "Pressure ulcer, stage 3", "Pressure ulcer, stage 4"]
DRUGS = ["Amitriptyline", "Carbamazepine", "Gabapentin", "Pregabalin"]
PRESSURES = ["Diastolic blood pressure (DBP)", "Systolic blood pressure (SBP)", "Pulse pressure", "Mean pressure"]
PLOTS = ["Levey-Jennings chart", "Scatchard plot", "Bland-Altman plot", "ROC curve"]


@pytest.mark.parametrize(
    ("options", "response", "letter"),
    [
        (ERRORS, "This is a type 2 error.", "B"),
        (BLEEDS, "The answer is subarachnoid hemorrhage.", "C"),
        (BLEEDS, r"\boxed{Subdural hematoma}", "B"),
        (GERMS, "The organism is N. meningitidis.", "B"),
        (GERMS, "The correct answer is H. influenzae.", "D"),
        (DEVICES, "The correct answer is the GFCI.", "B"),
        (ULCERS, "The correct answer is stage 3.", "C"),
        (DRUGS, "I would choose pregabaline.", "D"),
        (DRUGS, "The answer is amitryptiline, a tricyclic.", None),  # two slips are too many
        (PRESSURES, "The answer is SBP.", "B"),
        (PRESSURES, "The answer is systolic blood pressure.", "B"),
        (PLOTS, "The most suitable option is the **Levey–Jennings chart**.", "A"),
        (PLOTS, "The answer is the Bland Altman plot.", "C"),
        (["Typical", "Atypical", "Mixed", "None"], "The answer is atypical.", "B"),
        (["Sepsis", "Shock", "Burns", "Trauma"], "The answer is asepsis.", None),
    ],
)
def test_an_option_in_other_words(options: list[str], response: str, letter: str | None) -> None:
    assert read_letter(response, options).value == letter


OPTIONS = [row["options"] for row in judged(CORPUS) if row.get("options")]


@given(st.sampled_from(OPTIONS), st.integers(0, 3))
def test_the_options_own_words_stay_as_they_are(options: list[str], index: int) -> None:
    stated = f"The correct answer is {options[index]}."
    assert as_in_options(stated, options).lower() == stated.lower()


@given(st.sampled_from(OPTIONS), st.text(max_size=200))
def test_respelling_is_done_once(options: list[str], text: str) -> None:
    once = as_in_options(text, options)
    assert as_in_options(once, options) == once
