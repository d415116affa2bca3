"""Judging responses into one CSV file a judge: the columns of the environment's script first, then ours.

What is judged already is in the judge's cache: the same command again asks only what was not answered.
"""

import csv
import io
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from medtasks_utils.extraction.letters import LETTERS
from medtasks_utils.judging import Case, Judge, Judgement, JudgeSettings, Tokens, judge_all
from medtasks_utils.judging import summary as spent
from medtasks_utils.statistics.intervals import Estimate, estimate
from medtasks_utils.statistics.metrics import Metric
from medtasks_utils.statistics.scores import JudgedScore, MetricScores, codes
from medtasks_utils.writing import printable, table, write_whole

from .samples import Response

Log = Callable[[str], object]
JudgedRow = dict[str, str]

STATUSES = JUDGED, WRONG, FAILED, SKIPPED = "judged", "wrong", "failed", "skipped"


@dataclass(frozen=True)
class Rescoring:
    """What came of it.

    Attributes:
        scores: by judge and run, the mean over the examples, a wrong answer counting 0 (:mod:`statistics`).
        statuses: likewise, how many responses were judged, wrong, failed and skipped.
        paths: the files written.
    """

    scores: dict[tuple[str, str], Estimate]
    statuses: dict[tuple[str, str], Counter[str]]
    paths: list[Path]

    @property
    def failed(self) -> bool:
        """True if judges were asked and none gave a score."""
        every = sum(self.statuses.values(), Counter[str]())
        return bool(every[FAILED]) and not every[JUDGED]

    def to_data(self) -> dict[str, Any]:
        """Return the scores and the paths, as JSON holds them."""
        scores = [
            {"judge": judge, "run": run, "score": own.value, "stderr": own.stderr, "low": own.low, "high": own.high}
            | {"few": own.few, "examples": own.n, "statuses": dict(self.statuses[judge, run])}
            for (judge, run), own in self.scores.items()
        ]
        return {"scores": scores, "written": list(map(str, self.paths))}

    def to_text(self) -> str:
        """Return a table of the scores, and the paths."""
        rows = []
        for key, own in self.scores.items():
            numbers = ["–" if number is None else f"{number:.2f}" for number in (own.value, own.stderr)]
            rows.append((*key, *numbers, own.n, *(self.statuses[key][status] for status in STATUSES)))
        text = table(rows, ("", "", "score", "stderr", "examples", *STATUSES), left=2)
        return f"{text}\n\nwritten: {', '.join(map(str, self.paths))}"


def rescore(
    responses: Sequence[Response],
    judges: Sequence[Judge],
    settings: JudgeSettings,
    prefix: str,
    log: Log = lambda line: None,
    verbose: bool = False,
) -> Rescoring:
    """Judge every response with every judge, into one CSV file a judge.

    A file is written when its judge is done, in place of an earlier one.

    Args:
        responses: with answers right and wrong.
        settings: of the judging model.
        prefix: of the files' paths, as in ``results/judged_``.
        log: where one line about each failure goes, and one about each judge.
        verbose: whether each judgement gets a line too.

    Raises:
        JudgeError: before anything is judged, if the model cannot be asked.
        MedtasksError: if a file cannot be written, which is tried before anything is judged.
    """
    result = Rescoring({}, {}, [Path(f"{prefix}{judge.name.replace('-', '')}.csv") for judge in judges])
    for path in result.paths:
        write_whole(path, path.read_bytes() if path.exists() else b"", make_folder=True)
    for judge, path in zip(judges, result.paths, strict=True):
        judged = list(zip(responses, _judged(responses, judge, settings, log, verbose), strict=True))
        text = io.StringIO(newline="")
        rows = [_row(*each, judge, settings.model) for each in judged]
        writer = csv.DictWriter(text, rows[0])
        writer.writeheader()
        writer.writerows(rows)
        write_whole(path, text.getvalue())
        for run in dict.fromkeys(response.run for response in responses):
            own = [each for each in judged if each[0].run == run]
            result.statuses[judge.name, run] = Counter(_status(*each) for each in own)
            result.scores[judge.name, run] = _mean(own)
    return result


def _judged(
    responses: Sequence[Response], judge: Judge, settings: JudgeSettings, log: Log, verbose: bool
) -> list[Judgement | None]:
    """A judgement of each response; None of those that no judge sees."""
    found: list[Judgement | None] = [None] * len(responses)
    places: dict[Case, list[int]] = defaultdict(list)  # the same response may come from several tasks
    for place, response in enumerate(responses):
        if response.needs_judge:
            places[response.case].append(place)
    same = list(places.values())

    def add(index: int, judgement: Judgement) -> None:
        first, *others = same[index]
        found[first] = judgement
        for place in others:
            found[place] = replace(judgement, calls=0, tokens=Tokens())  # what it cost is counted once
        name = f"{responses[first].run}, {responses[first].task}, {responses[first].example}"
        if judgement.score is None:
            log(f"failed: {name}: {judgement.failure}: {judgement.error}")
        elif verbose:
            log(f"judged: {name}: {judgement.score:.1f}")

    judgements = judge_all(judge, settings, list(places), add, check_first=True)
    if judgements:
        log(f"{judge.signature}|model:{settings.model}: {spent(judgements)}")
    return found


def _status(response: Response, judgement: Judgement | None) -> str:
    if judgement is None:
        return SKIPPED if not response.case.references else WRONG
    return FAILED if judgement.score is None else JUDGED


def _mean(judged: Sequence[tuple[Response, Judgement | None]]) -> Estimate:
    """The mean over the examples of a run; without references, an example is left out."""
    scores: dict[tuple[str, str], list[JudgedScore]] = defaultdict(list)
    for response, judgement in judged:
        if _status(response, judgement) != SKIPPED:
            value = 0.0 if judgement is None else judgement.score
            scores[response.task, response.example].append(JudgedScore(judgement is not None, value))
    each = codes([None] * len(scores))
    metric = Metric("explanation", unit="points", is_of_explanations=True)
    return estimate(MetricScores.of(list(scores.values()), each, each), metric)


def _row(response: Response, judgement: Judgement | None, judge: Judge, model: str) -> JudgedRow:
    """A line of a judge's file. The environment's own scores and rates are from 0 to 1; ``score`` is from 0 to 100."""
    case = response.case
    status = _status(response, judgement)
    own = judgement or Judgement(0.0 if status == WRONG else None)
    score, output = own.score, own.output
    said = json.dumps(output, ensure_ascii=False)
    theirs = {
        "g-eval": {"judge_model_output": said, "judge_score": _share(score)},
        "factscore": {
            "claims_labels_json": said,
            "support_rate": _share(output.get("support")),
            "coverage_labels_json": json.dumps(output.get("reference_labels", []), ensure_ascii=False),
            "coverage_rate": _share(output.get("coverage")),
            "final_score": _share(score),
        },
    }
    values = {
        "run_file": response.path,
        "specialty": case.specialty,
        "question": case.question,
        **dict(zip_longest(LETTERS, case.options, fillvalue="")),
        "answer": case.answer_letter,
        "completion": response.text,
        **theirs.get(judge.name, {}),
        "references": "\n".join(case.references),
        "error": "no reference explanation to judge by" if status == SKIPPED else own.error,
        "run": response.run,
        "task": response.task,
        "example": response.example,
        "generation": response.generation,
        "given": response.given,
        "model": model,
        "judge": f"{judge.signature}|model:{model}",
        "status": status,
        "score": score,
        "failure": own.failure,
        "calls": own.calls,
        "prompt_tokens": own.tokens.prompt,
        "completion_tokens": own.tokens.completion,
    }
    # Lone surrogates and NUL, which UTF-8 and CSV cannot hold, become U+FFFD.
    cells = {name: "" if value is None else printable(str(value)) for name, value in values.items()}
    return {name: cell.replace("\0", "\ufffd") for name, cell in cells.items()}


def _share(score: Any) -> float | None:
    return None if score is None else float(score) / 100
