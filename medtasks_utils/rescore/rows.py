"""What a row of ``<prefix>geval.csv`` and ``<prefix>factscore.csv`` says of one response under one judge."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from medtasks_utils.judging import Judge, Judgement
from medtasks_utils.rescore.samples import Response
from medtasks_utils.rescore.table import JudgedRow

COLUMNS = (
    *("run", "task", "specialty", "example", "generation", "question", "options", "answer", "right_answer", "response"),
    *("model", "judge", "repeat", "status", "score", "support", "coverage", "claims", "reference_claims", "output"),
    *("references", "failure", "error", "calls", "prompt_tokens", "completion_tokens"),
)
"""Options, claims, reference claims, output and references are JSON; rates and scores are 0–100."""

JUDGED, WRONG, FAILED, SKIPPED = "judged", "wrong", "failed", "skipped"
NO_REFERENCES = "no reference explanation to judge by"


@dataclass(frozen=True)
class Rater:
    """A way to judge, by the model of this name at its endpoint."""

    judge: Judge
    model: str

    @property
    def signature(self) -> str:
        """Every choice behind the number, in one line: rows with another signature are another judge's."""
        return f"{self.judge.signature}|model:{self.model}"


def row_without_call(response: Response, rater: Rater) -> JudgedRow:
    """The row of a response that no judge sees: without references it has no score, and a wrong answer has 0."""
    if not response.case.references:
        return _row(response, rater, 0, SKIPPED) | {"error": NO_REFERENCES}
    return _row(response, rater, 0, WRONG) | {"score": "0.0"}


def row_of(response: Response, rater: Rater, repeat: int, judgement: Judgement) -> JudgedRow:
    """The row of a judged response, or of one where the judge failed."""
    output = judgement.output
    row = _row(response, rater, repeat, FAILED if judgement.score is None else JUDGED)
    return row | {
        "score": _number(judgement.score),
        "support": _number(output.get("support")),
        "coverage": _number(output.get("coverage")),
        "claims": _json(_labelled(output)),
        "reference_claims": _json(_labelled(output, "reference_")),
        "output": _json(output),
        "failure": judgement.failure or "",
        "error": judgement.error or "",
        "calls": str(judgement.calls),
        "prompt_tokens": str(judgement.tokens.prompt),
        "completion_tokens": str(judgement.tokens.completion),
    }


def _row(response: Response, rater: Rater, repeat: int, status: str) -> JudgedRow:
    case = response.case
    return dict.fromkeys(COLUMNS, "") | {
        "run": response.run,
        "task": response.task,
        "specialty": case.specialty,
        "example": response.example,
        "generation": str(response.generation),
        "question": case.question,
        "options": _json(case.options),
        "answer": response.answer,
        "right_answer": case.answer_letter,
        "response": response.text,
        "model": rater.model,
        "judge": rater.signature,
        "repeat": str(repeat),
        "status": status,
        "references": _json(case.references),
        "calls": "0",
        "prompt_tokens": "0",
        "completion_tokens": "0",
    }


def _labelled(output: Mapping[str, Any], prefix: str = "") -> list[dict[str, Any]]:
    """Claims with their labels: FActScore's verdicts (None where the call failed), G-Eval's alignment."""
    claims, labels = output.get(f"{prefix}claims"), output.get(f"{prefix}labels")
    if isinstance(claims, Sequence) and isinstance(labels, Sequence):
        return [{"claim": claim, "label": label} for claim, label in zip(claims, labels, strict=True)]
    alignment = output.get("alignment") if not prefix else None
    if not isinstance(alignment, Mapping):
        return []
    return [
        {"claim": claim, "label": label}
        for label, aligned in alignment.items()
        if isinstance(aligned, list)
        for claim in aligned
    ]


def _number(value: float | None) -> str:
    return "" if value is None else repr(float(value))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
