"""Score single responses from Python exactly as a run scores them.

>>> from medtasks_utils import score
>>> score("medcalc_bench", row, "<answer>4.2</answer>")["strict-match"].metrics["acc"]      # doctest: +SKIP
1.0
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, starmap
from typing import Any, NamedTuple

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.answers import Answer, BatchScorer
from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.benchmarks.facts import Example, LoadReport, TaskInfo
from medtasks_utils.benchmarks.options import read_options
from medtasks_utils.benchmarks.tables import Row, Table
from medtasks_utils.benchmarks.yaml_tasks import tasks_named
from medtasks_utils.errors import DataError, UsageError, did_you_mean
from medtasks_utils.extraction.plain import BOLD
from medtasks_utils.extraction.weighing import NOTHING, Candidate
from medtasks_utils.filters import DEFAULT_FILTER
from medtasks_utils.statistics.scores import as_number
from medtasks_utils.writing import one_line, printable

_SHOWN = 20  # maximum number of candidates that are shown
_AROUND = 40  # number of characters that are shown on either side of a candidate


class Scored(NamedTuple):
    """The answer and the scores of a response under one filter.

    Attributes:
        answer: the answer as samples show it; None if none was found.
        found_by: the form in which the answer was found, such as ``box``; ``none`` without an answer.
        metrics: the scores of the response by metric, in the metrics' own units; None if a metric does not apply.
    """

    answer: str | None
    found_by: str
    metrics: dict[str, float | None]


class Scorer:
    """A scorer of responses to rows of a task.

    Resources for explanations, such as models, are loaded on the first call.

    Args:
        task: the name of a task, as for ``--tasks``, or of a benchmark. For a group of tasks of one benchmark, the
            first task is used.
        options: the benchmark's options, as for ``--set``. Scores that need additional files or models, such as those
            of MedExQA's explanations, are off unless an option turns them on.

    Raises:
        UsageError: for an unknown task or option, an invalid value, a group of different benchmarks, or a task that
            scores log-likelihoods.
    """

    def __init__(self, task: str, **options: Any) -> None:
        settings = _single_task(task)
        kind = benchmarks().named(settings["benchmark"], f"{task}: benchmark")
        of_options = kind.options_class
        defaults = (settings.get("dataset_kwargs") or {}) | of_options.without_costly(options.keys())
        set_options = read_options(of_options, kind.name, defaults, options)
        self.benchmark: Benchmark[Any] = kind(set_options, TaskInfo(settings["task"], settings.get("dataset_name")))
        self.metrics = {metric.name for metric in self.benchmark.reported()}
        self._batch_scorer: BatchScorer | None = None

    def __call__(self, row: Row, response: str, *, shown: str | None = None) -> dict[str, Scored]:
        """Score a response with both filters.

        Args:
            row: a row of the data set. In MedMCQA's ``cop``, the numbers 0 to 3 mean A to D, as on the Hub. A single
                row does not show whether its file counts from 1; if it does, set the option ``cop_base`` to 1.
            response: the model's text; the last reply if the model used tools.
            shown: the example shown to the model, if the row has more than one; for MedHallu, ``ground_truth`` or
                ``hallucinated``, the answer that was shown to the model.

        Returns:
            The result by filter, ``strict-match`` and ``flexible-extract``.

        Raises:
            UsageError: if the row has more than one example and ``shown`` does not name one, or the response is not a
                string.
            DataError: for a row that cannot be read or used.
            MedtasksError: if explanations need something that is not installed, reachable or downloaded.
        """
        return self.many([row], [response], shown=shown)[0]

    def many(
        self, rows: Iterable[Row], responses: Iterable[str], *, shown: str | None = None
    ) -> list[dict[str, Scored]]:
        """Score many responses, one for each row, and return the results in order; ``shown`` applies to every row.

        Scores such as those of explanations are computed in one batch.

        Raises:
            UsageError: if the numbers of rows and responses differ; otherwise as for a single response.
        """
        rows, responses = list(rows), list(responses)
        if len(rows) != len(responses):
            raise UsageError(
                f"{self.benchmark.task.name}: pass one response for each row (rows: {len(rows)}, responses: "
                f"{len(responses)})"
            )
        for text in responses:
            if not isinstance(text, str):
                raise UsageError(
                    f"{self.benchmark.task.name}: a response must be a string, not {text!r:.50}; pass '' if there is "
                    "no response"
                )
        examples = [self.example(row, shown) for row in rows]
        answers = [*map(self._answers, examples, responses)]
        if self._batch_scorer is None:
            self._batch_scorer = self.benchmark.batch_scorer(examples)
        if self._batch_scorer is not None:
            self._batch_scorer.add_scores([*chain.from_iterable(answers)])
        scored = [starmap(self._scored, of_example) for of_example in answers]
        return [dict(zip(self.benchmark.readers, results, strict=True)) for results in scored]

    def example(self, row: Row, shown: str | None = None) -> Example:
        """Convert a row to an example; if the row has more than one, return the one that ``shown`` names.

        Raises:
            UsageError: if the row has more than one example and ``shown`` names none of them.
            DataError: for a row that cannot be used.
        """
        report = LoadReport()
        examples = self.benchmark.examples(Table([row]), report)
        if not examples:
            raise DataError(f"{self.benchmark.task.name}: the row cannot be used: {', '.join(report.left_out)}")
        field = self.benchmark.data.told_apart_by
        if field is None:
            return examples[0]
        chosen = [example for example in examples if shown in (None, example[field])]
        if len(chosen) == 1:
            return chosen[0]
        listed = " or shown=".join(repr(example[field]) for example in examples)
        raise UsageError(
            f"{self.benchmark.task.name}: shown={shown!r} does not say which answer the model was shown; pass "
            f"shown={listed}"
        )

    def blank_example(self, kind: str | None = None) -> Example:
        """Return an example with only the fields needed to read a response.

        Args:
            kind: the kind of answer, if the benchmark has more than one; None for the first.

        Raises:
            UsageError: for a kind that the benchmark does not have.
        """
        blanks = self.benchmark.blanks
        if kind is None:
            kind = next(iter(blanks))
        elif not kind or kind not in blanks:
            known = f"choose one of {', '.join(blanks)}" if len(blanks) > 1 else "omit it, since there is only one kind"
            raise UsageError(f"{self.benchmark.task.name} has no answers of kind {kind!r}: {known}")
        return dict(blanks[kind])

    def lines_of_readings(self, response: str, example: Example, explain: bool = False) -> Iterator[str]:
        """Yield lines with the answer that each filter finds in a response, and the form in which it was found.

        With ``explain``, also yield the certainty, if there is an answer, and the 20 candidates with the highest
        weights, the highest first: weight, value, cue, evidence, and the surrounding text.
        """
        for name, read in self.benchmark.readers.items():
            answer = read(response, example)
            yield f"{name}: {answer} ({answer.details['found_by']})"
        if not explain:
            return
        reading = self.benchmark.read(response, example) or NOTHING
        if reading.value is not None:
            yield f"certainty {reading.certainty:.2f}"
        for candidate in sorted(reading.candidates, key=lambda candidate: -candidate.weight)[:_SHOWN]:
            value = candidate.value
            if isinstance(value, tuple):
                value = "{} weeks, {} days".format(*value)
            evidence = {candidate.cue: candidate.support, **candidate.evidence}
            weights = ", ".join(f"{name} {weight:+g}" for name, weight in evidence.items())
            yield f"{candidate.weight:6g}  {value}  {weights}  {_place(candidate)}"

    def _answers(self, example: Example, response: str) -> list[tuple[Example, Answer]]:
        """Return, for each filter, the example with the answer that the filter finds in the response."""
        return [(example, read(printable(response), example)) for read in self.benchmark.readers.values()]

    def _scored(self, example: Example, answer: Answer) -> Scored:
        values = {**self.benchmark.scores(answer, example), **answer.scores}
        metrics = {name: as_number(value) for name, value in values.items() if name in self.metrics}
        return Scored(None if answer.value is None else str(answer), answer.details["found_by"], metrics)


def _place(candidate: Candidate) -> str:
    """Return the beginning of a candidate in brackets, with the text on either side, on one line."""
    text, start, end = candidate.text, candidate.start, candidate.end
    shown = f"…{text[max(0, start - _AROUND) : start]}[{text[start:end][:_AROUND]}]{text[end : end + _AROUND]}…"
    return one_line(shown.replace(BOLD, "**"))


def score(task: str, row: Row, response: str, *, shown: str | None = None, **options: Any) -> dict[str, Scored]:
    """Score a single response with both filters.

    For more than one response, create a :class:`Scorer`; its docstrings describe the arguments.
    """
    return Scorer(task, **options)(row, response, shown=shown)


def reward(
    benchmark: str, *, filter_name: str = DEFAULT_FILTER, metric: str | None = None, **options: Any
) -> Callable[..., list[float]]:
    """Return a reward function for training, as TRL's ``GRPOTrainer`` accepts in ``reward_funcs``.

    Args:
        benchmark: the name of a benchmark, or of one of its tasks.
        filter_name: ``strict-match`` or ``flexible-extract``.
        metric: the metric that is the reward; None for the metric ``reward`` if the task reports one, as in MedHallu,
            else ``acc``.
        options: the benchmark's options.

    Returns:
        A function ``f(completions, **columns)`` that returns one number for each completion, 0 if the metric does not
        apply to it. A completion is a string, or a list of messages whose last one is the response. Columns are lists:
        the columns of the data set and, for MedHallu, ``shown``, which distinguishes the two examples of a row. The
        first call infers facts from its rows that a single row does not show, such as the base of MedMCQA's ``cop``.
        The function raises DataError for a missing column.

    Raises:
        UsageError: for a benchmark, filter, metric or option that does not exist, and the other errors of
            :class:`Scorer`.
    """
    scorer = Scorer(benchmark, **options)
    if filter_name not in scorer.benchmark.readers:
        raise UsageError(f"reward: filter_name must be {' or '.join(scorer.benchmark.readers)}, not {filter_name!r}")
    name = metric or ("reward" if "reward" in scorer.metrics else "acc")
    told_apart_by = scorer.benchmark.data.told_apart_by or ""
    if name not in scorer.metrics:
        raise UsageError(f"reward: {benchmark} has no metric {name!r}; it has {', '.join(sorted(scorer.metrics))}")

    def rewards(completions: Sequence[Any], **columns: Any) -> list[float]:
        """Return the reward of each completion; ``columns[name][i]`` is a field of the i-th completion's row."""
        listed = {column: values for column, values in columns.items() if isinstance(values, list | tuple)}
        rows = [dict(zip(listed, cells, strict=True)) for _, *cells in zip(completions, *listed.values(), strict=False)]
        scorer.benchmark.settle(rows)
        numbers = []
        for row, completion in zip(rows, completions, strict=True):
            text = completion if isinstance(completion, str) else completion[-1]["content"] or ""
            scored = scorer(row, text, shown=row.get(told_apart_by))
            numbers.append(scored[filter_name].metrics.get(name) or 0.0)
        return numbers

    rewards.__name__ = f"{scorer.benchmark.name}_{name}"
    return rewards


def _single_task(name: str) -> dict[str, Any]:
    """Return the settings of the named task or, for a group or tag, of its first task.

    Raises:
        UsageError: if the name is unknown, or belongs to different benchmarks or to tasks that do not generate text.
    """
    tasks = tasks_named(name)
    if not tasks:
        hint = did_you_mean(name, benchmarks())
        raise UsageError(f"there is no task {name!r}{hint}; medtasks eval --help lists all")
    named = dict.fromkeys(settings["benchmark"] for settings in tasks)
    if len(named) > 1:
        raise UsageError(f"{name} is a group of several benchmarks; name the row's benchmark: {' or '.join(named)}")
    if tasks[0]["output_type"] != "generate_until":
        raise UsageError(f"{name} scores log-likelihoods, not text; use {tasks[0]['task'].removesuffix('_logits')}")
    return tasks[0]
