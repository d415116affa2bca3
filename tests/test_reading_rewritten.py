"""What does not change what a response says does not change what is read: line ends, spaces, bullets, a ruler."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import load
from judged import CORPUS, TASKS, judged, outcome

LOADED = {benchmark: load(name) for benchmark, name in TASKS.items()}
ROWS = [*judged(), *judged(Path(CORPUS) / "later")]
REWRITTEN: dict[str, Callable[[str], str]] = {
    "carriage returns": lambda text: text.replace("\n", "\r\n"),
    "spaces at the ends of lines": lambda text: text.replace("\n", "  \n"),
    "two spaces after a full stop": lambda text: re.sub(r"(?<=[a-z]\.) (?=[A-Z])", "  ", text),
    "spaces that do not break": lambda text: re.sub(r"(?<=\d) (?=[a-zA-Z%])", "\u00a0", text),
    "narrow spaces": lambda text: re.sub(r"(?<=\d) (?=[a-zA-Z%])", "\u202f", text),
    "typographic quotes": lambda text: text.replace("'", "’"),
    "minus signs": lambda text: text.replace(" - ", " − "),
    "asterisks as bullets": lambda text: re.sub(r"^- ", "* ", text, flags=re.MULTILINE),
    "points as bullets": lambda text: re.sub(r"^[-*] ", "• ", text, flags=re.MULTILINE),
    "deeper headings": lambda text: re.sub(r"^(#{1,4}) ", r"\1# ", text, flags=re.MULTILINE),
    "colons in bold": lambda text: re.sub(r"\*\*:", ":**", text),
    "colons after bold": lambda text: re.sub(r":\*\*", "**:", text),
    "dollars for LaTeX": lambda text: re.sub(r"\\[()]", "$", text).replace("\\[", "$$").replace("\\]", "$$"),
    "HTML for bold": lambda text: re.sub(r"\*\*([^*\n]+)\*\*", r"<strong>\1</strong>", text),
    "underscores for bold": lambda text: re.sub(r"\*\*([^*\n]+)\*\*", r"__\1__", text),
    "bold italics": lambda text: re.sub(r"\*\*([^*\n]+)\*\*", r"***\1***", text),
    "numbered headings": lambda text: re.sub(r"^(#{2,4}) (?=[A-OR-Z])", r"\1 3. ", text, flags=re.MULTILINE),
    "indentation": lambda text: text if "`" in text else re.sub(r"^(?=\S)", "  ", text, flags=re.MULTILINE),
    "reasoning before": lambda text: text if "think>" in text else f"<think>\nLet me see.\n</think>\n\n{text}",
    "a ruler at the end": lambda text: f"{text}\n\n---",
    "a smile": lambda text: f"{text.rstrip()} 😊",
    "an end-of-text token": lambda text: f"{text}<|im_end|>",
}


def faults(name: str, rows: list[dict[str, object]]) -> dict[object, str]:
    """The rows that are read otherwise when they are rewritten so."""
    rewritten = [(row, REWRITTEN[name](str(row["response"]))) for row in rows]
    return {
        row["id"]: text
        for row, text in rewritten
        if text != row["response"] and outcome(row, LOADED[str(row["benchmark"])].flexible(text, row).value) != "right"
    }


@pytest.mark.parametrize(("at", "name"), [*enumerate(REWRITTEN)])
def test_rewriting_changes_nothing(at: int, name: str) -> None:
    assert faults(name, ROWS[at :: 6 * len(REWRITTEN)]) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", REWRITTEN)
def test_rewriting_changes_nothing_anywhere(name: str) -> None:
    assert faults(name, ROWS).keys() <= {"medexqa-later-d5-d5a-094"}  # the authors' fuzzy comparison sees the token
