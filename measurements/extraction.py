"""What our filters and other projects' extractors read in the corpus of judged responses: right, wrong and missed.

    python measurements/extraction.py [FOLDER]

FOLDER holds other responses in the form of `tests/corpus`.
Peers that are not installed are left out and named; the patterns of simple-evals and of inspect_ai's answer lines are
restated here. Letters are compared on MedMCQA and MedExQA, numbers on MedCalc-Bench's decimals and scores, verdicts on
MedHallu. A peer has no row where it has no extractor for the kind.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from judged import CORPUS, TASKS, judged, outcome

Row = dict[str, Any]
Extractor = Callable[[Row], Any]
KINDS = {"medmcqa": "letters", "medexqa": "letters", "medcalc_bench": "numbers", "medhallu": "verdicts"}


def number(text: Any) -> float | None:
    """The number that a peer's extraction is, if it is one."""
    try:
        return float(str(text).replace(",", "").strip("$ .")) if text is not None else None
    except ValueError:
        return None


def ours(filter_name: str) -> dict[str, Extractor]:
    """Our strict or flexible filter, on every kind."""
    from lm_eval.tasks import TaskManager

    tasks_folder = Path(__file__).parents[1] / "tasks"
    metadata = {"medtasks_data": "sample", "medexqa": {"use_explanations": False}}
    manager = TaskManager(include_path=str(tasks_folder), include_defaults=False, metadata=metadata)
    tasks = manager.load(list(TASKS.values()))["tasks"]

    def read(row: Row) -> Any:
        return getattr(tasks[TASKS[row["benchmark"]]], filter_name)(row["response"], row).value

    return dict.fromkeys(("letters", "numbers", "verdicts"), read)


def harness() -> dict[str, Extractor]:
    """The letter after "answer is", as in chain-of-thought tasks; the last number, as in GSM8K."""
    from lm_eval.filters.extraction import RegexFilter

    def extracted(pattern: str, row: Row) -> str | None:
        found: str = RegexFilter(pattern, group_select=-1, fallback="").apply([[row["response"]]], [{}])[0][0]
        return found or None

    return {
        "letters": lambda row: extracted(r"answer is:? \**\(?([A-D])\b", row),
        "numbers": lambda row: number(extracted(r"(-?[$0-9.,]{2,})|(-?[0-9]+)", row)),
        "verdicts": lambda row: extracted(r"(-?[$0-9.,]{2,})|(-?[0-9]+)", row),
    }


def simple_evals() -> dict[str, Extractor]:
    """``Answer: X`` on a line, as in simple-evals (restated)."""

    def letter(row: Row) -> str | None:
        match = re.search(r"(?i)Answer[ \t]*:[ \t]*\$?([A-D])\$?", row["response"])
        return match[1].upper() if match else None

    def line(row: Row) -> str | None:
        match = re.search(r"(?i)Answer\s*:\s*([^\n]+)", row["response"])
        return match[1] if match else None

    return {"letters": letter, "numbers": lambda row: number(line(row)), "verdicts": line}


def inspect() -> dict[str, Extractor]:
    """inspect_ai's ``ANSWER: X`` patterns, a letter or a line."""
    from inspect_ai._util import pattern

    def found(expression: str, row: Row) -> str | None:
        match = re.search(expression, row["response"])
        return match[1].strip() if match else None

    return {
        "letters": lambda row: (found(pattern.ANSWER_PATTERN_LETTER, row) or "").upper() or None,
        "numbers": lambda row: number(found(pattern.ANSWER_PATTERN_LINE, row)),
        "verdicts": lambda row: found(pattern.ANSWER_PATTERN_LINE, row),
    }


def math_verify() -> dict[str, Extractor]:
    """math-verify's ``parse``: expressions and LaTeX, or a choice of strings."""
    from math_verify import ExprExtractionConfig, LatexExtractionConfig, StringExtractionConfig, parse

    def first(row: Row, *configs: Any) -> str | None:
        found = parse(row["response"], extraction_config=list(configs))
        return str(found[0]) if found else None

    def value(row: Row) -> float | None:
        return number(first(row, LatexExtractionConfig(), ExprExtractionConfig()))

    def verdict(row: Row) -> str | None:
        found = value(row)
        return None if found is None else f"{found:g}"

    return {
        "letters": lambda row: first(row, StringExtractionConfig(strings=("A", "B", "C", "D"), lowercase=False)),
        "numbers": value,
        "verdicts": verdict,
    }


def lighteval() -> dict[str, Extractor]:
    """lighteval's extractive match: indices for letters, expressions for numbers."""
    from lighteval.metrics.utils.extractive_match_utils import (
        ExprExtractionConfig,
        IndicesExtractionConfig,
        LatexExtractionConfig,
        extract_target_from_pred,
        get_extraction_regexes,
    )
    from lighteval.tasks.requests import Doc
    from lighteval.utils.language import Language

    doc = Doc(query="", choices=list("ABCD"), gold_index=0)
    targets = {
        "letters": [IndicesExtractionConfig(prefix_for_extraction="NativeLetters")],
        "numbers": [LatexExtractionConfig(), ExprExtractionConfig()],
    }
    patterns = {kind: get_extraction_regexes(doc, configs, Language.ENGLISH) for kind, configs in targets.items()}

    def read(kind: str, row: Row) -> str | None:
        found = extract_target_from_pred(row["response"], patterns[kind], "any_match", "first_match", 5)
        return str(found[0]) if found else None

    return {
        "letters": lambda row: read("letters", row),
        "numbers": lambda row: number(read("numbers", row)),
    }


EXTRACTORS: dict[str, Callable[[], dict[str, Extractor]]] = {
    "medtasks, flexible-extract": lambda: ours("flexible"),
    "medtasks, strict-match": lambda: ours("strict"),
    "lm-evaluation-harness filters": harness,
    "lighteval": lighteval,
    "math-verify": math_verify,
    "inspect_ai": inspect,
    "simple-evals": simple_evals,
}


def table(rows: list[Row]) -> Iterator[str]:
    """Lines of the table, a row for each extractor."""
    kinds = list(dict.fromkeys(KINDS.values()))
    of_kind = {kind: [row for row in rows if KINDS[row["benchmark"]] == kind] for kind in kinds}
    yield "| extractor | " + " | ".join(f"{kind} ({len(of_kind[kind])})" for kind in kinds) + " |"
    yield "|---|" + "---|" * len(kinds)
    for name, make in EXTRACTORS.items():
        try:
            extractors = make()
        except ImportError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
            continue
        cells = []
        for kind in kinds:
            if kind not in extractors:
                cells.append("–")
                continue
            found = Counter(outcome(row, extractors[kind](row)) for row in of_kind[kind])
            cells.append(" / ".join(str(found[which]) for which in ("right", "wrong", "missed")))
        yield f"| {name} | " + " | ".join(cells) + " |"


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else CORPUS
    rows = [row for row in judged(folder) if row.get("judgement") not in ("date", "weeks_days")]
    for line in table(rows):
        print(line, flush=True)


if __name__ == "__main__":
    main()
