"""The rows of the environments that defined the benchmarks' scores, as this pack's documents.

An environment keeps of a row what its rewards need, in ``info`` and ``answer``; the rest stands in the prompt. Fields
are found by their names in the data sets and in the environments, whatever their case and separators.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from medtasks_utils.benchmarks.medcalc_bench.kinds import BY_CALCULATOR
from medtasks_utils.benchmarks.medexqa.options import SPECIALTIES
from medtasks_utils.extraction.letters import LETTERS
from medtasks_utils.results.samples import Row, mapping

IDENTITY: dict[str, tuple[str, ...]] = {
    "medmcqa": ("question", "options"),
    "medexqa": ("question", "options"),
    "medcalc_bench": ("note", "question"),
    "medhallu": ("question", "answer"),
}
"""The fields that an example of an environment shares with the same one of the harness."""

TASK_OF_ALL_ROWS = {"medexqa": "medexqa_all"}
"""The task that an environment's rows are of, where that is not the benchmark's default."""

_BY_NAME = {"medmcqa": "medmcqa", "medexqa": "medexqa", "medcalc": "medcalc_bench", "medhallu": "medhallu"}
_BY_FIELD = {
    "medmcqa": ("cop", "opa", "subjectname"),
    "medexqa": ("exp0", "exp1", "explanation1", "explanation2"),
    "medcalc_bench": ("calcid", "calculatorid"),
    "medhallu": ("originaltype", "hallucinationcategory", "categoryofhallucination", "hallucinatedanswer"),
}
_OPTIONS = re.compile(r"\nA\. (.*?)\nB\. (.*?)\nC\. (.*?)\nD\. (.*?)(?:\nAnswer:\s*)?\Z", re.DOTALL)
_QUESTION = re.compile(r"^Question:", re.MULTILINE)
_NOTE = re.compile(
    r"Patient Note:\s*(?P<note>(?:(?!Patient Note:).)*?)\s*\bQuestion:\s*(?P<question>[^\n]+)", re.DOTALL
)
_JUDGED = re.compile(
    r"Question:\s*(?P<question>.*?)\s*\nAnswer:\s*(?P<answer>.*?)\s*(?:\nReturn just|\nIs this|\Z)", re.DOTALL
)


class RowError(ValueError):
    """A line that lacks what scoring needs; the message says what."""


def benchmark_named(name: Any) -> str | None:
    """The benchmark that an environment's name stands for, such as ``medarc/medcalc-bench``; None for another."""
    plain = _plain(str(name or ""))
    return next((benchmark for part, benchmark in _BY_NAME.items() if part in plain), None)


def benchmark_with(info: Mapping[str, Any]) -> str | None:
    """The benchmark whose rows have such fields."""
    fields = set(map(_plain, info))
    return next((benchmark for benchmark, known in _BY_FIELD.items() if fields.intersection(known)), None)


def info_of(line: Mapping[str, Any]) -> Row:
    """A line's ``info``, which some versions write as JSON within JSON."""
    info = line.get("info")
    if isinstance(info, str):
        try:
            info = json.loads(info)
        except ValueError:
            return {}
    return mapping(info)


def document(benchmark: str, line: Mapping[str, Any], prompt: str, example: str) -> Row:
    """A line's row as a document.

    Args:
        prompt: the last message that the model was asked.
        example: what names the example in the file.

    Raises:
        RowError: if something is missing that scoring needs.
    """
    given = {_plain(name): value for name, value in info_of(line).items() if value is not None}
    if line.get("answer") not in (None, ""):
        given.setdefault("answer", line["answer"])
    return {"id": example, **_MAKERS[benchmark](given, prompt)}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _first(given: Mapping[str, Any], *names: str, default: Any = None) -> Any:
    return next((given[name] for name in names if name in given), default)


def _letter(given: Mapping[str, Any]) -> str:
    letter = str(_first(given, "answer", "answerletter", "answercorrect", default="")).strip().upper()
    if len(letter) != 1 or letter not in LETTERS:
        raise RowError(f"answer is {letter[:20]!r}, not A, B, C or D")
    return letter


def _question_and_options(given: Mapping[str, Any], prompt: str) -> tuple[str, list[str]]:
    """From ``info`` as far as it has them, else from the prompt."""
    options = _first(given, "options", "choices")
    if isinstance(options, Mapping):
        options = [options.get(letter, "") for letter in LETTERS]
    if not isinstance(options, list) or len(options) != len(LETTERS) or options == list(LETTERS):
        options = [_first(given, letter.lower(), f"op{letter.lower()}") for letter in LETTERS]
    shown = _OPTIONS.search(prompt.strip("\n"))
    if shown and None in options:
        options = list(shown.groups())
    if None in options:
        raise RowError("the options stand neither in info nor in the prompt")
    question = given.get("question") or (_asked(prompt.strip("\n")[: shown.start()]) if shown else "")
    return str(question).strip(), [str(option).strip() for option in options]


def _asked(text: str) -> str:
    """The question in what a prompt has before the options: after ``Question:``, else the last paragraph."""
    text = text.removesuffix("\nChoices:")
    named = list(_QUESTION.finditer(text))
    return text[named[-1].end() :] if named else text.rpartition("\n\n")[2]


def _medmcqa(given: Mapping[str, Any], prompt: str) -> Row:
    letter = _letter(given)
    try:
        question, options = _question_and_options(given, prompt)
    except RowError:  # no score depends on them
        question, options = prompt, []
    named = {name: str(_first(given, _plain(name), default="")) for name in ("subject_name", "topic_name")}
    return {"question": question, "options": options, "answer_letter": letter, **named}


def _medexqa(given: Mapping[str, Any], prompt: str) -> Row:
    question, options = _question_and_options(given, prompt)
    stem = str(_first(given, "specialty", "specialization", default="")).strip().lower()
    explanations = (_first(given, *names, default="") for names in (("exp0", "explanation1"), ("exp1", "explanation2")))
    first, second = (str(explanation) for explanation in explanations)
    return {
        "specialty": next((s.name for s in SPECIALTIES if stem in (s.stem, s.name, s.code.lower())), stem),
        "question": question,
        "options": options,
        "answer_letter": _letter(given),
        "explanation_1": first,
        "explanation_2": second,
    }


def _medcalc_bench(given: Mapping[str, Any], prompt: str) -> Row:
    calculator = _number(given, "Calculator ID", "calcid", "calculatorid")
    if calculator not in BY_CALCULATOR:
        raise RowError(f"unknown Calculator ID {calculator:g}")
    judgement = BY_CALCULATOR[int(calculator)].name
    truth = _first(given, "groundtruth", "groundtruthanswer", "answer")
    if truth is None:
        raise RowError("there is no true answer")
    lower = upper = None
    if judgement in ("integer", "decimal"):
        _number({"truth": truth}, "Ground Truth Answer", "truth")
        limits = (_number(given, f"{side} Limit", f"{side}limit", f"{side}bound") for side in ("lower", "upper"))
        lower, upper = sorted(limits) if judgement == "decimal" else (None, None)
    shown = list(_NOTE.finditer(prompt))
    of_prompt = shown[-1].groupdict() if shown else {"note": "", "question": ""}
    category = str(given.get("category", "")).lower().replace(" ", "_")
    return {
        "calculator_id": int(calculator),
        "calculator_name": str(given.get("calculatorname", f"calculator {calculator:g}")),
        "category": "lab_test" if category == "lab" else category,
        "judgement": judgement,
        "note": str(given.get("patientnote") or of_prompt["note"]).strip(),
        "question": str(given.get("question") or of_prompt["question"]).strip(),
        "ground_truth": str(truth).strip(),
        "lower_limit": lower,
        "upper_limit": upper,
    }


def _number(given: Mapping[str, Any], title: str, *names: str) -> float:
    value = _first(given, *names)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise RowError(f"{title} is {str(value)[:40]!r}, not a number") from None


def _medhallu(given: Mapping[str, Any], prompt: str) -> Row:
    target = str(given.get("answer", "")).strip()
    if target not in ("0", "1"):
        raise RowError(f"answer is {target[:20]!r}, not 0 or 1")
    shown = _JUDGED.search(prompt)
    question = str(given.get("question") or (shown["question"] if shown else ""))
    kind = str(_first(given, "hallucinationcategory", "categoryofhallucination", default=""))
    return {
        "row": question or prompt,
        "question": question,
        "answer": shown["answer"] if shown else "",
        "difficulty": str(_first(given, "difficulty", "difficultylevel", default="")).strip().lower(),
        "category": kind,
        "shown": "hallucinated" if target == "1" else "ground_truth",
        "target": target,
    }


_MAKERS: dict[str, Callable[[Mapping[str, Any], str], Row]] = {
    "medmcqa": _medmcqa,
    "medexqa": _medexqa,
    "medcalc_bench": _medcalc_bench,
    "medhallu": _medhallu,
}
