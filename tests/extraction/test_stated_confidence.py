"""What is read of how sure a response says it is, and that it changes no answer."""

import pytest
from given import each_row

from medtasks_utils import Scorer

ANSWERS = {
    "medmcqa": ("So \\boxed{C}", "The answer is (B).", "C. Axillary nerve", "It is A or B."),
    "medexqa": ("B. It is the nerve.", "The answer is D, since 95 % of cases are."),
    "medhallu": ("\\boxed{1}", "The answer is factual.", "I am unsure.", "0"),
    "medcalc_bench": (
        "<answer>85</answer>",
        "The eGFR is 85 mL/min.",
        "BMI = 70 / 3.24 = 21.6",
        "It cannot be calculated.",
    ),
}


@each_row("forms_of_confidence")
@pytest.mark.parametrize("benchmark", ANSWERS)
def test_an_answer_is_read_as_without_the_confidence(form, benchmark):
    asking, plain = (Scorer(benchmark, ask_confidence=asks).benchmark for asks in (True, False))
    example = Scorer(benchmark).blank_example()
    for text in ANSWERS[benchmark]:
        for name, read in asking.readers.items():
            answer, expected = read(form.format(text), example), plain.readers[name](text, example)
            assert (answer, answer.details["confidence"]) == (expected, 0.85), text
            assert "confidence" not in plain.readers[name](form.format(text), example).details
