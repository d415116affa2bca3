"""MedMCQA's flexible reading: what models write, and what a reader takes from it."""

from __future__ import annotations

import pytest
from conftest import load
from hypothesis import given, settings
from hypothesis import strategies as st

from medtasks_utils.extraction.boxes import last_box, unwrap
from medtasks_utils.extraction.letters import LETTERS, letter_of, read_letter

NERVES = ["Axillary nerve", "Musculocutaneous nerve", "Long thoracic nerve", "Spinal accessory nerve"]
ON_NERVES: dict[str | None, list[str]] = {
    "C": [
        "C",
        "C.",
        "(C)",
        "C)",
        "c",
        "(c)",
        "**C**",
        "**C.**",
        "`C`",
        "$C$",
        r"\(C\)",
        r"The answer is \boxed{C",
        r"$\text{C}$",
        r"$\mathbf{C}$",
        "  C \n",
        "[C]",
        "The answer is C.",
        "The answer is C",
        "the answer is c.",
        "The correct answer is (C).",
        "The correct answer is: **C. Long thoracic nerve**",
        "**Answer: C**",
        "**Answer:** C",
        "Answer: C",
        "Answer - C",
        "Answer C",
        "ANSWER: C",
        "Ans: C",
        "Ans. C",
        "answer: c",
        "answer is option c",
        "Correct option: C",
        "Correct choice is C",
        "Final Answer: C",
        "### Final Answer\nC",
        "### Final Answer\n\n**C. Long thoracic nerve**",
        "## Answer:\n\n**C**",
        "**Final Answer:**\n\n(C)",
        "Final answer: Option C",
        "The best answer is C because it supplies serratus anterior.",
        "The most appropriate choice is C) Long thoracic nerve.",
        "Therefore, the correct option is C.",
        "I would choose C.",
        "I'd go with C",
        "I'd pick option C here.",
        "My answer would be C.",
        "I select (C).",
        "C) Long thoracic nerve",
        "C. Long thoracic nerve",
        "**C. Long thoracic nerve**",
        "**C) Long thoracic nerve**",
        "C: Long thoracic nerve",
        "C - Long thoracic nerve",
        "C, long thoracic nerve",
        "Option C",
        "Option C is correct.",
        "Choice C",
        "C is correct.",
        "C is the correct answer.",
        "C is the right answer",
        "C is the best answer.",
        "C is the most likely answer.",
        "Long thoracic nerve",
        "Long thoracic nerve.",
        "**Long thoracic nerve**",
        "LONG THORACIC NERVE",
        "The nerve injured is the long thoracic nerve.",
        "The answer is long thoracic nerve",
        "The answer is the long thoracic nerve, since the axillary nerve supplies the deltoid.",
        "The answer is $C$.",
        r"The answer is \text{C}",
        r"The final answer is $\boxed{\text{C}}$.",
        r"The answer is \textbf{C}.",
        "<answer>C</answer>",
        '{"answer": "C"}',
        '{"answer":"C","explanation":"Winged scapula."}',
        "{'answer': 'C'}",
        '```json\n{"answer": "C"}\n```',
        (
            "C. Long thoracic nerve\n\n"
            "Explanation: The long thoracic nerve supplies serratus anterior. A is wrong because the "
            "axillary nerve supplies the deltoid."
        ),
        (
            "The answer is C.\n\nA. Axillary nerve: supplies the deltoid.\n"
            "B. Musculocutaneous nerve: supplies biceps.\nD. Spinal accessory nerve: trapezius."
        ),
        "A is incorrect because it supplies the deltoid. B is incorrect. D is incorrect. Therefore, C.",
        "A is wrong, B is wrong and D is wrong, so C is correct.",
        "The answer is not A but C.",
        "The answer isn't A; it is C.",
        "The answer is not A, it's C.",
        "The answer is C, not B.",
        "The answer is C and not A.",
        "The answer is C, A is wrong.",
        "A is incorrect, so the answer is C.",
        "The answer is A. Wait, no. The answer is C.",
        "Option A is incorrect. Option B is incorrect. Option C is correct. Option D is incorrect.",
        "Option A: Incorrect.\nOption B: Incorrect.\nOption C: Correct.\nOption D: Incorrect.",
        (
            "A. Axillary nerve: incorrect.\nB. Musculocutaneous nerve: incorrect.\n"
            "C. Long thoracic nerve: correct.\nD. Spinal accessory nerve: incorrect."
        ),
        ("A. Axillary nerve ❌\nB. Musculocutaneous nerve ❌\nC. Long thoracic nerve ✅\nD. Spinal accessory nerve ❌"),
        (
            "Let's look at each:\nA. Axillary nerve - deltoid\nB. Musculocutaneous nerve - biceps\n"
            "C. Long thoracic nerve - serratus\nD. Spinal accessory nerve - trapezius\n\n"
            "C. Long thoracic nerve"
        ),
        (
            "Let's look at each:\nA. Axillary nerve - deltoid\nB. Musculocutaneous nerve - biceps\n"
            "C. Long thoracic nerve - serratus\nD. Spinal accessory nerve - trapezius\n\nC"
        ),
        (
            "**A. Axillary nerve**: deltoid.\n**B. Musculocutaneous nerve**: biceps.\n"
            "**C. Long thoracic nerve**: serratus.\n**D. Spinal accessory nerve**: trapezius.\n\n"
            "The winging points to **C**."
        ),
        (
            "Choose the correct answer:\nA. Axillary nerve\nB. Musculocutaneous nerve\n"
            "C. Long thoracic nerve\nD. Spinal accessory nerve\n\nAnswer: C"
        ),
        "A patient with winging of the scapula has an injury of the long thoracic nerve.",
        "Answer: A patient with winging has an injury of the long thoracic nerve.",
        "A tempting but wrong answer is B. The right answer is C.",
        "The answer to this vignette is C.",
        "The answer to question 3 is C.",
        "The option that best fits is C.",
        "It is the long thoracic nerve rather than the axillary nerve.",
        "答案是C",
        "正确答案：C",
        "答案：C。",
        "After the vignette, **C** is the best match, since A and B supply the arm.",
        "So the answer must be C!",
        "Thus, (C).",
        "Hence C.",
        "This leaves C.",
        "I'm confident it's C.",
        "Looking at winging and history,\nthe diagnosis is clear.\n\n**Final answer: C**",
        r"Final Answer: The final answer is $\boxed{C}$. I hope it is correct.",
        "Step 1: Vitamin A is irrelevant.\nStep 2: Hepatitis B is irrelevant.\n\nAnswer: C",
        "The correct answer is C. (A) supplies the deltoid, (B) the biceps.",
        ("The answer is C: long thoracic nerve. The axillary nerve (A) supplies the deltoid; the answer is not A."),
        "Option C is the right one. Option A and option B are wrong.",
        "C is correct, A is not correct.",
        "A doctor would say the answer is C",
        "The correct response is option (C) - Long thoracic nerve",
        "My final choice: C",
        "Choice: C",
        "Selected option: C",
        "Correct Answer → C",
        "> **C**",
        "- C",
        "1. C",
        r"\boxed{C. Long thoracic nerve}",
        r"\boxed{\text{C. Long thoracic nerve}}",
        r"\boxed{(C) Long thoracic nerve}",
        r"\boxed{C: Long thoracic nerve}",
        r"\boxed{C - Long thoracic nerve}",
        r"\boxed{C Long thoracic nerve}",
        r"\boxed{Option C}",
        r"\boxed{\text{Option C}}",
        r"\boxed{\text{Answer: C}}",
        r"\boxed{\text{Long thoracic nerve}}",
        r"\boxed{Long thoracic nerve}",
        r"The nerve is \boxed{?}. The answer is C.",
        r"\\boxed{C}",
        r"\boxed {C}",
        r"\boxed{{C}}",
        r"\boxed{A} no, wait: \boxed{C}",
        r"\boxed{\boxed{C}}",
        r"\boxed{c}",
        r"\boxed{2}",
        r"\boxed{\text{(C).}}",
        "<think>The answer is A.</think>The answer is C.",
        "The answer is A.</think>C",
    ],
    None: [
        "<C>",
        "Not A.",
        "The answer is not A.",
        "A or B",
        "The answer is A or B.",
        "The answer is either A or B.",
        "Both A and C",
        "Both A and C are correct.",
        "The answer could be A, B or D.",
        "Answer: A/B",
        "Answer: A & C",
        "A, C, and D",
        "Answer: A, C",
        "A. Axillary nerve\nB. Musculocutaneous nerve\nC. Long thoracic nerve\nD. Spinal accessory nerve",
        "B. Musculocutaneous nerve\nD. Spinal accessory nerve\nA. Axillary nerve\nC. Long thoracic nerve",
        (
            "Answer choices:\nA. Axillary nerve\nB. Musculocutaneous nerve\nC. Long thoracic nerve\n"
            "D. Spinal accessory nerve"
        ),
        "Answer: A 45-year-old with this picture needs imaging.",
        "I would not choose A.",
        "Don't pick B.",
        "A is not correct.",
        "Neither A nor C is correct.",
        "It's not the axillary nerve.",
        "The injury spares the axillary nerve and the long thoracic nerve.",
        "I don't think the answer is A.",
        "If the answer is A, the deltoid would be weak.",
        "Whether the answer is A or C is unclear.",
        "I don't know.",
        "",
        "None of the above",
        "The question cannot be answered.",
        "E",
        "The answer is E.",
        "42",
        "The answer is 42.",
        "**A** is incorrect.",
        "Vitamin A and hepatitis B are irrelevant here.",
        r"\boxed{A, C}",
        r"\boxed{A \text{ or } B}",
        r"\boxed{(A) or (B)}",
        r"\boxed{E}",
        r"\boxed{}",
        r"\boxed{AB}",
        r"\boxed{A/B}",
        r"\boxed{5}",
        "<think>The answer is A.",
    ],
}

SCURVY = ["Metformin", "Vitamin C", "B cells", "None of the above"]
ON_SCURVY: dict[str | None, list[str]] = {
    "A": [
        "The drug is metformin, not vitamin C.",
        "A.",
    ],
    "B": [
        "The answer is vitamin C.",
        "**Vitamin C**",
        "Vitamin C deficiency explains it. The answer is B.",
        (
            "To solve this, consider each option.\n\n"
            "**Option A: Metformin** – lowers glucose, not relevant.\n"
            "**Option B: Vitamin C** – deficiency causes scurvy.\n"
            "**Option C: B cells** – not relevant.\n**Option D: None of the above** – not applicable.\n\n"
            "**Conclusion:** The best answer is **B**."
        ),
        "Okay, the user wants X. A could be right. But B seems better.\n\nThe answer is B",
        "Analysis: A - no. B - yes. C - no. D - no.\nFinal: B",
        ("The patient has scurvy, which is caused by vitamin C deficiency.\n\nTherefore the answer is (B) Vitamin C."),
        "B is the correct option. Reason: A is used in diabetes.",
        "I think B, but I'm not entirely certain.",
        "I think the answer is B",
        "I believe it is B.",
        "My answer is B because A, C and D are unrelated.",
        "Answer: B. Vitamin C\nExplanation: A (metformin) is for diabetes; C and D do not fit.",
        "The answer is B; A is for diabetes",
        "The right answer here would be B",
        "B.\nScurvy is due to lack of ascorbic acid.",
        "B\n\nScurvy is due to lack of ascorbic acid. A is wrong.",
        "Scurvy.\n\nB",
        "Scurvy.\n\n(B)",
        "Scurvy.\n\n**B.** Vitamin C",
        "Scurvy.\n\n**B:** Vitamin C",
        "\n\n**Correct Answer: B) Vitamin C**\n\n**Why?**\n- A is for diabetes\n- C is a cell",
        "### Answer: **B. Vitamin C**",
        "✅ **B. Vitamin C**",
        "✅ Correct answer: B",
        "**Answer**: (B)",
        "**Answer**: **B**",
        "__B__",
        "The answer is B!",
        "The answer is B, i.e. vitamin C.",
        "The answer is option B (vitamin C).",
        "The answer: B",
        "Answer is B",
        "correct answer B",
        "Correct: B",
        "The correct one is B.",
        "B) Vitamin C ✅",
        "Based on the findings the most likely answer is B",
        "B seems to be the best choice.",
        "B would be correct.",
        "B, since scurvy is a lack of ascorbic acid.",
        "B because scurvy is a lack of ascorbic acid.",
        "B - scurvy",
        "B (Vitamin C)",
        "(B) Vitamin C",
        "[B] Vitamin C",
        "B Vitamin C",
        "Option B: Vitamin C",
        "Option B, vitamin C, is correct.",
        "Option (B)",
        "option b",
        "The answer is b) vitamin C",
        "b. Vitamin C",
        "b) vitamin c",
        "Unlike metformin, vitamin C treats scurvy.",
        "The answer cannot be A, so B is right.",
        "Let me reconsider: the answer is A? No, the answer is B.",
        "The answer is A. On reflection that is wrong; the correct answer is B.",
        "Eliminating A, C, and D leaves B.",
        "By exclusion the answer must be B, as A, C and D are false.",
        "Answer:B",
        "answer:B",
        "Answer:(B)",
        "Answer=B",
        "The final answer is: $B$",
        "The final answer is B\n\nReferences:\n1. Smith A. Scurvy. 2019.\n2. Jones B. Nutrition. 2020.",
        "Thus the correct choice is:\n\nB. Vitamin C",
        "Thus the correct choice is\n\nB. Vitamin C",
        "So, the answer is **B. Vitamin C**.\n\nLet me know if you have any questions about option A or C!",
        "The answer is **Vitamin C (B)**.",
        "The correct answer is Vitamin C (Option B).",
        "Vitamin C (B)",
        "The answer is (b).",
        '{"choice": "B", "reason": "A is wrong"}',
        "Final answer → B",
        "final_answer: B",
        "Answer: [B]",
        "Answer: {B}",
        "Answer: 'B'",
        'Answer: "B"',
        "The letter of the correct answer is B.",
        "B is the only option that fits.",
        "Only B fits.",
        "B fits best.",
        "B",
    ],
    "C": [
        "The answer is B cells.",
        "B cells",
    ],
    "D": [
        "None of the above",
        "None of the options fits, so the answer is D.",
        "The correct answer is none of the above.",
    ],
    None: [
        "I'm torn between A and B.",
        "It could be A. It could be B.",
        "A? B?",
        "The answer is not B.",
        "The correct answer is not listed.",
        "Please provide the image.",
        "The choice depends on A.",
        "Metformin and vitamin C are both used.",
        "Neither metformin nor vitamin C.",
        "Metformin is incorrect.",
        "Metformin can be ruled out.",
        "Which of these? A. The patient has scurvy.",
        "A 45-year-old man has scurvy.",
        "The answer is A or, more likely, B.",
    ],
}

TASK = load("medmcqa_openmed")


def pairs(table: dict[str | None, list[str]]) -> list[tuple[str, str | None]]:
    return [(response, letter) for letter, responses in table.items() for response in responses]


def flexible(response: str, options: list[str]) -> str | None:
    answer: str | None = TASK.flexible(response, {"options": options}).value
    return answer


@pytest.mark.parametrize(("response", "letter"), pairs(ON_NERVES))
def test_responses_on_nerves(response: str, letter: str | None) -> None:
    assert flexible(response, NERVES) == letter


@pytest.mark.parametrize(("response", "letter"), pairs(ON_SCURVY))
def test_responses_on_scurvy(response: str, letter: str | None) -> None:
    assert flexible(response, SCURVY) == letter


def test_options_that_are_letters_numbers_or_parts_of_each_other() -> None:
    assert flexible("The answer is B", ["AB", "A", "B", "O"]) == "B"  # the letter, not the blood group
    assert flexible("A", ["AB", "A", "B", "O"]) == "A"
    assert flexible("It takes 30 minutes.", ["10", "20", "30", "40"]) == "C"
    assert flexible("The dose is 2.5 mg.", ["1", "2", "5", "8"]) is None
    assert flexible("Iron deficiency", ["Iron", "Iron deficiency", "Zinc", "Copper"]) == "B"
    assert flexible("The ironing", ["Iron", "Gold", "Zinc", "Copper"]) is None
    assert flexible("C. albicans", ["E. coli", "C. albicans", "S. aureus", "C. tetani"]) == "B"
    assert flexible("   ", ["", " ", ".", "x"]) is None


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize(
    "style",
    [
        "{}",
        "The answer is {}.",
        "The correct answer is ({}).",
        "**Answer: {}**",
        "Option {} is correct.",
        "{}. {text}",
        "**{}) {text}**",
        "### Final answer\n\n{}",
        "I would choose {}.",
        "{text}",
        "The answer is {text}.",
        "{listing}\n\nThe answer is {}.",
        "{listing}\n\n{}. {text}",
        "\\boxed{{{}. {text}}}",
        "\\boxed{{\\text{{{text}}}}}",
    ],
)
def test_every_letter_in_every_style(style: str, letter: str) -> None:
    listing = "\n".join(f"{a}. {option}" for a, option in zip(LETTERS, NERVES, strict=True))
    response = style.format(letter, text=NERVES[LETTERS.index(letter)], listing=listing)
    assert flexible(response, NERVES) == letter


def test_strict_reads_a_box_only() -> None:
    def strict(response: str) -> str | None:
        answer: str | None = TASK.strict(response, {"options": NERVES}).value
        return answer

    for response in (r"\boxed{C}", r"\boxed{c}", r"\boxed{2}", r"$\boxed{\text{(C).}}$", r"\boxed{A} \boxed{ **C** }"):
        assert strict(response) == "C"
    for response in (
        "C",
        "The answer is C.",
        r"\boxed{E}",
        r"\boxed{4}",
        r"\boxed{-1}",
        r"\boxed{C. Long}",
        r"\boxed{",
        "",
    ):
        assert strict(response) is None
    assert strict(r"\boxed{C} \boxed{?}") is None
    assert strict(r"<think>\boxed{A}</think>C") is None
    assert strict(r"<think>\boxed{A}</think>\boxed{C}") == "C"
    assert strict(r"<think>\boxed{A}") is None


def test_the_form_of_a_response() -> None:
    doc = {"options": NERVES, "answer_letter": "C"}

    def form(response: str) -> object:
        return TASK.score(doc, TASK.strict(response, doc))["format"]

    assert form(r"<think>x</think>\boxed{C}") == form("\n<think>\n</think>\n\\boxed{D}.") == 1.0
    for response in (
        r"\boxed{C}",
        r"<think>x</think>C",
        r"<think>x</think>\boxed{C}\boxed{C}",
        r"So <think>x</think>\boxed{C}",
        r"<think>x</think><think>y</think>\boxed{C}",
        r"<think>x\boxed{C}",
        r"x</think>\boxed{C}",
        "",
    ):
        assert form(response) == 0.0, response


def test_letters_of_tokens() -> None:
    assert [letter_of(token) for token in ("A", "d", "E", "AB", "", "0", "1", "٠")] == ["A", "D", *[None] * 6]
    assert [letter_of(token, digits=True) for token in ("0", "3", "4", "-1", "²", "٠")] == ["A", "D", *[None] * 4]


@settings(deadline=None)
@given(st.text(), st.lists(st.text(max_size=12), min_size=4, max_size=4))
def test_any_text_and_options_are_read(text: str, options: list[str]) -> None:
    assert read_letter(text, options).value in {*LETTERS, None}


@settings(deadline=None)
@given(st.text(alphabet="ABCDabcd .,:()*{}\\$\nisoranwerbxt", max_size=60))
def test_a_boxed_letter_is_read_alike_by_both(text: str) -> None:
    response = text + r"\boxed{C}"
    doc = {"options": NERVES}
    assert TASK.flexible(response, doc).value == TASK.strict(response, doc).value
    assert letter_of(unwrap(last_box(response) or ""), digits=True) == "C"
