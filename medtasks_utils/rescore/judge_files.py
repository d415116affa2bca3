"""Judge responses, and write one CSV file per judge.

The first columns are those that the environment's judging script writes (docs/environments.md); others follow.

Replies of the judge are cached, so a rerun of the command repeats only requests that failed.
"""

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from medtasks_utils.extraction.letters import LETTERS
from medtasks_utils.judging import Judge, Judgement, JudgeSettings, judge_all
from medtasks_utils.statistics.intervals import estimate
from medtasks_utils.statistics.metrics import Metric
from medtasks_utils.statistics.score_arrays import MetricScores, integer_codes
from medtasks_utils.statistics.scores import JudgedScore
from medtasks_utils.writing import JsonObject, csv_of, printable, table, write_whole

from .judged_responses import ExplainedResponse

STATUSES = JUDGED, WRONG, FAILED, SKIPPED = "judged", "wrong", "failed", "skipped"


@dataclass(frozen=True)
class Rescoring:
    """The result of ``medtasks rescore``.

    Attributes:
        scores: for each judge and run, the estimated mean over the examples, from 0 to 100, with its standard error and
            interval, where a wrong answer counts as 0; and the numbers of judged, wrong, failed and skipped responses.
        paths: the paths of the CSV files.
    """

    scores: list[JsonObject]
    paths: list[Path]

    @property
    def failed(self) -> bool:
        """True if nothing was judged, because the judge failed or no response has a reference explanation."""
        totals = sum((score["statuses"] for score in self.scores), Counter[str]())
        return not totals[JUDGED] and (totals[FAILED] > 0 or not totals[WRONG])

    def to_data(self) -> JsonObject:
        """Return the scores and the paths as a JSON-compatible dict."""
        return {"scores": self.scores, "written": list(map(str, self.paths))}

    def to_text(self) -> str:
        """Return a table of the scores, and the paths."""
        rows = []
        for score in self.scores:
            numbers = ["–" if score[name] is None else f"{score[name]:.2f}" for name in ("score", "stderr")]
            counts = (score["statuses"][status] for status in STATUSES)
            rows.append((score["judge"], score["run"], *numbers, score["examples"], *counts))
        text = table([("", "", "score", "stderr", "examples", *STATUSES), *rows], left=(0, 1))
        if count := sum(score["failed_judges"] for score in self.scores):
            text += f"\n\nfailed judgements of single models: {count}; they count as the mean of the others"
        if sum(score["statuses"][SKIPPED] for score in self.scores):
            text += f"\n\n{SKIPPED}: the example has no reference explanation to judge by"
        return f"{text}\n\nwritten: {', '.join(map(str, self.paths))}"


def rescore(
    responses: Sequence[ExplainedResponse],
    judges: Sequence[Judge],
    settings: JudgeSettings,
    prefix: str,
    verbose: bool,
) -> Rescoring:
    """Judge every response with every judge, and write one CSV file per judge.

    A file's path begins with ``prefix``. The file replaces an earlier one when its judge has finished. A line on
    standard error names each failure and, if ``verbose``, each judgement.

    Raises:
        JudgeError: if the judge model cannot be used.
        MedtasksError: if a file cannot be written, which is checked before anything is judged.
    """
    result = Rescoring([], [Path(f"{prefix}{judge.name.replace('-', '')}.csv") for judge in judges])
    for path in result.paths:
        write_whole(path, path.read_bytes() if path.exists() else b"")
    # Several tasks may share a response.
    cases = list(dict.fromkeys(response.case for response in responses if response.needs_judge))
    for judge, path in zip(judges, result.paths, strict=True):
        judgements = dict(zip(cases, judge_all(judge, settings, cases, check_first=True), strict=True))
        judged = [_Judged(item, judgements[item.case] if item.needs_judge else None) for item in responses]
        for item in judged:
            item.print(verbose)
        rows = [_row(item, judge, settings.model) for item in judged]
        write_whole(path, csv_of(rows[0], (row.values() for row in rows)))
        for run in dict.fromkeys(response.run for response in responses):
            of_run = [item for item in judged if item.response.run == run]
            result.scores.append({"judge": judge.name, "run": run, **_scores(of_run)})
    return result


class _Judged(NamedTuple):
    """A response with its judgement, which is None if the response was not sent to the judge."""

    response: ExplainedResponse
    judgement: Judgement | None

    @property
    def status(self) -> str:
        if self.judgement is None:
            return WRONG if self.response.case.references else SKIPPED
        return FAILED if self.judgement.score is None else JUDGED

    def print(self, verbose: bool) -> None:
        """Print the judgement on standard error if it failed or ``verbose`` is set, and failures of single models."""
        name = f"{self.response.run}, {self.response.task}, {self.response.example}"
        for model, of_model in self.judgement.output.get("judges", {}).items() if self.judgement else ():
            if of_model["failure"]:
                print(f"failed: {name}: {model}: {of_model['failure']}: {of_model['error']}", file=sys.stderr)
        if self.judgement and self.judgement.failure:
            print(f"failed: {name}: {self.judgement.failure}: {self.judgement.error}", file=sys.stderr)
        elif self.judgement and verbose:
            print(f"judged: {name}: {self.judgement.score:.1f}", file=sys.stderr)


def _scores(judged: Sequence[_Judged]) -> JsonObject:
    """Estimate the mean score over a run's examples with references, and count its responses by status."""
    scores: dict[tuple[str, str], list[JudgedScore]] = defaultdict(list)
    for response, judgement in judged:
        if judgement or response.case.references:
            score = JudgedScore(True, judgement.score) if judgement else JudgedScore(False, 0.0)
            scores[response.task, response.example].append(score)
    independent = integer_codes([None] * len(scores))
    metric = Metric("explanation", unit="points", is_of_explanations=True)
    mean = estimate(MetricScores.of(list(scores.values()), independent, independent), metric)
    return {
        "score": mean.value,
        "stderr": mean.stderr,
        "low": mean.low,
        "high": mean.high,
        "few": mean.few,
        "examples": mean.n,
        "failed_judges": sum(judgement.output.get("failed_judges", 0) for _, judgement in judged if judgement),
        "statuses": Counter(item.status for item in judged),
    }


def _row(judged: _Judged, judge: Judge, model: str) -> dict[str, str]:
    """Return a response's row in a judge's file.

    Rates and scores range from 0 to 100, but from 0 to 1 in the columns of the environment's own judging script.
    """
    response, status = judged.response, judged.status
    case = response.case
    result = judged.judgement or Judgement(0.0 if status == WRONG else None)
    score, output = result.score, result.output
    output_json = json.dumps(output, ensure_ascii=False)
    environment_columns: JsonObject = {"judge_model_output": output_json, "judge_score": _share(score)}
    if judge.name == "factscore":
        environment_columns = {
            "claims_labels_json": output_json,
            "support_rate": _share(output.get("support")),
            "coverage_labels_json": json.dumps(output.get("reference_labels", []), ensure_ascii=False),
            "coverage_rate": _share(output.get("coverage")),
            "final_score": _share(score),
        }
    values = {
        "run_file": response.path,
        "specialty": case.specialty,
        "question": case.question,
        **dict(zip_longest(LETTERS, case.options, fillvalue="")),
        "answer": case.answer_letter,
        "completion": response.text,
        **environment_columns,
        "references": "\n".join(case.references),
        "error": "no reference explanation to judge by" if status == SKIPPED else result.error,
        "run": response.run,
        "task": response.task,
        "example": response.example,
        "generation": response.generation,
        "given": response.given,
        "model": model,
        "judge": f"{judge.signature}|model:{model.replace(',', '+')}",
        "status": status,
        "score": score,
        "failure": result.failure,
    }
    # UTF-8 and CSV cannot represent lone surrogates and NUL, so both become U+FFFD.
    return {
        name: "" if value is None else printable(str(value)).replace("\0", "\ufffd") for name, value in values.items()
    }


def _share(score: float | None) -> float | None:
    return None if score is None else score / 100
