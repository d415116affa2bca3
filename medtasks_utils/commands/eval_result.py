"""Present the result of ``medtasks eval``: the scores, and where they are saved."""

import shlex
from pathlib import Path

from medtasks_utils.harness.checks import model_name
from medtasks_utils.harness.evaluation import Evaluation
from medtasks_utils.report.score_table import lines_of, score_data, score_table
from medtasks_utils.results import as_run, read_runs

from .flags import CommandResult, print_error

_NO_SCORES = "no scores (--predict_only keeps responses without scoring them)"


def result_of(evaluation: Evaluation) -> CommandResult | None:
    """Return the result of an evaluation, marked as failed if it was not saved; None in all processes but the first."""
    results, path, limit = evaluation.results, evaluation.path, evaluation.config.limit
    if results is None:
        return None
    if evaluation.problem:
        print_error(evaluation.problem)
    run = read_runs(path)[0] if path else as_run(results, Path("run"))
    lines = lines_of(run)
    data = {
        "model": model_name(evaluation.config),
        "scores": score_data(lines),
        "limit": limit,
        "seconds": round(evaluation.seconds, 3),
        "tokens": None,
        "answers_taken_over": 0,
        **evaluation.spent,
        "against": evaluation.against,
        "results": str(path) if path else None,
        "problem": evaluation.problem,
    }
    remarks = [f"{task.task}: {remark}" for task in run.tasks.values() for remark in task.remarks]
    shares = [
        f"{task}: --limit {limit:g}, {counts['effective']:,} of {counts['original']:,} examples "
        f"({100 * counts['effective'] / counts['original']:.1f} %)"
        for task, counts in results["n-samples"].items()
        if limit
    ]
    text = [score_table(lines) or _NO_SCORES, *remarks, *shares, "", _spent(evaluation), _next(evaluation)]
    return CommandResult(text, data, failed=bool(evaluation.problem))


def _spent(evaluation: Evaluation) -> str:
    """Return a line with the seconds that the evaluation took and the tokens that it used, as far as known."""
    counts = evaluation.spent.get("tokens", {})
    tokens = [f"{count:,} {kind} tokens" for kind, count in counts.items() if kind != "replies"]
    return ", ".join([f"{evaluation.seconds:,.1f} s", *tokens])


def _next(evaluation: Evaluation) -> str:
    """Return text that says where the results are saved, or that they are not, and suggests what to do next."""
    if evaluation.unsaved:
        return f"not all results are saved in {evaluation.folder}"
    if evaluation.path is None:
        return "not saved; --output_path results --log_samples saves every sample for medtasks report"
    saved = shlex.quote(str(evaluation.path))
    if not evaluation.config.predict_only:
        return f"saved in {saved}\nnext: medtasks report {saved} -o report.html"
    way_on = "\nnext: run the same command with --extend instead of --predict_only to score them"
    return f"saved in {saved}{way_on * (evaluation.store is not None)}"
