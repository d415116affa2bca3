"""Present the result of ``medtasks eval``: the scores, and the files in which they are saved."""

import shlex
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from medtasks_utils.filters import STRICT
from medtasks_utils.harness.checks import model_name
from medtasks_utils.harness.evaluation import Evaluation
from medtasks_utils.harness.settings import FOR_REASONING
from medtasks_utils.report.calibration import confidence_lines
from medtasks_utils.report.score_table import ScoreLine, cautions, lines_of, score_data, score_table
from medtasks_utils.results import Run, as_run, merged, read_runs
from medtasks_utils.results.samples import mapping
from medtasks_utils.statistics.metrics import ANSWERED
from medtasks_utils.writing import WIDTH, caution

from .flags import CommandResult, print_error

_NO_SCORES = "no scores (--predict_only keeps responses without scoring them)"


def result_of(evaluation: Evaluation) -> CommandResult | None:
    """Return the result of an evaluation; None in all processes but the first.

    The command fails if results could not be saved, or if a task failed.
    """
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
    if not lines:
        return CommandResult([_NO_SCORES, "", *next_steps(evaluation)], data, failed=bool(evaluation.problem))
    distrust = chain(cautions(lines), on_cut(evaluation, lines), remarks_of(run), on_parts(evaluation, run))
    parts = [[score_table(lines), *confidence_lines(run)], [*map(caution, distrust)], next_steps(evaluation)]
    text = [title_of(evaluation, run, lines), *(line for part in parts if part for line in ("", *part))]
    return CommandResult(text, data, failed=bool(evaluation.problem))


def title_of(evaluation: Evaluation, run: Run, lines: Sequence[ScoreLine]) -> str:
    """Return a line with the run's name, a heading for the columns, and the duration in seconds."""
    rule = "published rule, " * any(STRICT in line.scores for line in lines)
    repeats = {task.config.get("repeats") or 1 for task in run.tasks.values()}
    of_repeats = f", mean of {'/'.join(map(str, sorted(repeats)))} replies" * (max(repeats) > 1)
    title = f"{run.name}   {rule}% right, 95 % interval{of_repeats}".lstrip()
    seconds = f"{evaluation.seconds:,.0f} s"
    return f"{title}   {seconds.rjust(WIDTH - len(title) - 3)}"


def on_cut(evaluation: Evaluation, lines: Sequence[ScoreLine]) -> Iterator[str]:
    """Yield a line with the share of replies cut off at the token limit and a remedy; nothing if none was cut off."""
    cut = [(share, line.topic) for line in lines if (share := line.means["cut"])]
    if not cut:
        return
    shares = [*dict.fromkeys(ANSWERED.shown(share) for share in sorted(share for share, _ in cut))]
    ends = " to ".join(shares[:: max(1, len(shares) - 1)])
    results = chain.from_iterable(topic.results.values() for _, topic in cut)
    tasks = chain.from_iterable(result.tasks for result in results)
    limits = [mapping(task.config.get("generation_kwargs")).get("max_gen_toks") or 0 for task in tasks]
    to = "To request only these again" if evaluation.keeps else "To let more finish"
    flags = f"{'--extend ' * evaluation.keeps}--gen_kwargs max_gen_toks={2 * (max(limits) or FOR_REASONING)}"
    yield f"Cut off: {ends} %. {to}: the same command with {flags}"


def remarks_of(run: Run) -> Iterator[str]:
    """Yield each remark on a run once, prefixed with the names of the tasks that it concerns.

    The prefix is omitted if the run has more than one task and the remark concerns them all.
    """
    tasks = defaultdict(list)
    for task in run.tasks.values():
        for remark in task.remarks:
            tasks[remark].append(task.task)
    for remark, names in tasks.items():
        yield remark if len(names) == len(run.tasks) > 1 else f"{', '.join(names)}: {remark}"


def on_parts(evaluation: Evaluation, run: Run) -> Iterator[str]:
    """Yield cautions if only a part of the questions was evaluated, or the rows are the bundled sample."""
    if any(task.source == "sample" for task in run.tasks.values()):
        yield "The rows are the bundled sample: they test the setup, not the model."
    if any(task.asked < task.available for task in run.tasks.values()):
        limit = evaluation.config.limit
        run_is = f"--limit {limit:g}: a partial run" if limit else "A partial run"
        yield f"{run_is}; do not compare with published numbers."


def next_steps(evaluation: Evaluation) -> list[str]:
    """Return lines with the folder of the results and the next command, or the flags that save results.

    If not all results could be saved, return only a line that says so.
    """
    config, folder = evaluation.config, evaluation.folder if evaluation.config.output_path else None
    if evaluation.unsaved:
        return [f"not all results are saved in {folder}"]
    if evaluation.path is None or folder is None:
        return ["not saved: add --output_path results --log_samples to save every sample"]
    if config.predict_only:
        next_lines = ["the same command with --extend instead of --predict_only scores them"] * evaluation.keeps
    else:
        # Of several runs in the folder, this one must be named.
        run = folder if len(merged(read_runs(folder))) == 1 else evaluation.path
        whole = folder if config.output_path.endswith(".json") else Path(config.output_path)
        next_lines = [f"medtasks report {shlex.quote(str(whole))} -o report.html"]
        if config.log_samples:
            next_lines.append(f"medtasks compare {shlex.quote(str(run))} {shlex.quote(str(whole / 'OTHER'))}")
    return [f"saved   {folder}", *(f"{label:<8}{line}" for label, line in zip(("next", ""), next_lines, strict=False))]
