"""Score single responses from Python exactly as a run scores them.

>>> from medtasks_utils import score
>>> score("medcalc_bench", row, "<answer>4.2</answer>")["strict-match"].metrics["acc"]      # doctest: +SKIP
1.0
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.base import Answer, BatchScorer, Example, LoadReport, TaskInfo
from medtasks_utils.benchmarks.options import read_options
from medtasks_utils.benchmarks.tables import Table
from medtasks_utils.benchmarks.yaml_tasks import tasks_named
from medtasks_utils.errors import DataError, UsageError, did_you_mean
from medtasks_utils.extraction.plain import BOLD
from medtasks_utils.extraction.weighing import Candidate
from medtasks_utils.filters import DEFAULT_FILTER
from medtasks_utils.statistics.scores import as_number
from medtasks_utils.writing import printable

_SHOWN = 20  # candidates
_AROUND = 40  # characters on either side of a candidate


class Scored(NamedTuple):
    """What one filter makes of a response.

    Attributes:
        answer: what it read, as samples show it; None if it found none.
        found_by: how it was found, as in ``box``; ``none`` if it was not.
        metrics: of this response, in the metrics' own units; None where one does not apply.
    """

    answer: str | None
    found_by: str
    metrics: dict[str, float | None]


class Scorer:
    """Scores responses to a task's rows; what that takes is prepared once.

    Args:
        task: as under ``--tasks``, or a benchmark; of a group, whose tasks score alike, the first.
        options: of the benchmark, as under ``--set``. Scores that take files or models beyond the rows, such as those
            of MedExQA's explanations, are off unless an option asks for them.

    Raises:
        UsageError: for a task or an option that does not exist.
    """

    def __init__(self, task: str, **options: Any) -> None:
        settings = _single_task(task)
        self.benchmark = benchmarks().named(settings["benchmark"], f"{task}: benchmark")
        self.info = TaskInfo(settings["task"], settings.get("dataset_name"))
        known = self.benchmark.options.model_fields
        defaults = self.benchmark.options.without_costly(options.keys())
        self.options: Any = read_options(
            self.benchmark.options,
            self.benchmark.name,
            (settings.get("dataset_kwargs") or {}) | defaults,
            options,
            "score",
        )
        left_out = {name: known[name].default for name in self.benchmark.options.leave_out}
        self._of_rows = self.options.model_copy(update=left_out)
        self.metrics = {metric.name for metric in self.benchmark.metrics_of(self.info, self.options)}
        self._batch_scorer: BatchScorer | None = None

    def __call__(self, row: Mapping[str, Any], response: str, *, shown: str | None = None) -> dict[str, Scored]:
        """Score one response under both filters.

        Args:
            row: as in the data set. MedMCQA's ``cop`` is, as on the hub, 0 to 3 for A to D if it is a number: of one
                row alone, it cannot be told whether its file counts from 1.
            response: the model's text; where it used tools, its last reply.
            shown: of a row that makes several examples, which one: for MedHallu ``ground_truth`` or ``hallucinated``,
                the answer that was shown.

        Returns:
            By filter, ``strict-match`` and ``flexible-extract``.

        Raises:
            UsageError: for a row that makes several examples.
            DataError: for a row that cannot be read.
        """
        return self.many([row], [response], shown=shown)[0]

    def many(
        self, rows: Iterable[Mapping[str, Any]], responses: Iterable[str], *, shown: str | None = None
    ) -> list[dict[str, Scored]]:
        """Score responses, one to each row; what is best scored together, such as explanations, is.

        Raises:
            UsageError: for a response that is not a text, or numbers of rows and responses that differ.
        """
        rows, responses = list(rows), list(responses)
        if len(rows) != len(responses):
            raise UsageError(
                f"{self.info.name}: {len(rows)} rows, but {len(responses)} responses: give one to each row"
            )
        examples: list[Example] = []
        answers: list[tuple[Example, Answer]] = []
        for row, text in zip(rows, responses, strict=True):
            if not isinstance(text, str):
                raise UsageError(f"{self.info.name}: a response is a text, not {text!r:.50}; give '' for none")
            example, response = self.example(row, shown), printable(text)
            examples.append(example)
            answers += [(example, read(response, example, self.options)) for read in self.benchmark.readers.values()]
        if self._batch_scorer is None:
            self._batch_scorer = self.benchmark.batch_scorer(self.options, self.info, examples)
        if self._batch_scorer is not None:
            self._batch_scorer.score(answers)
        scored = itertools.starmap(self._scored, answers)
        return [dict(zip(self.benchmark.readers, scored, strict=False)) for _ in examples]

    def example(self, row: Mapping[str, Any], shown: str | None = None) -> Example:
        """Return the example that a row makes, or of several the one that ``shown`` tells apart.

        Raises:
            UsageError: for a row that makes several examples, or none that is meant.
            DataError: for a row that cannot be used.
        """
        report = LoadReport()
        examples = self.benchmark.examples(Table([row]), self._of_rows, report)
        if not examples:
            raise DataError(f"the row cannot be used: {', '.join(report.left_out)}")
        field = self.benchmark.told_apart_by
        if field is None:
            if shown is not None:
                raise UsageError(f"{self.info.name}: a row makes one example, so shown={shown!r} has no effect")
            return examples[0]
        chosen = [example for example in examples if shown in (None, example[field])]
        if len(chosen) == 1:
            return chosen[0]
        listed = " or shown=".join(repr(example[field]) for example in examples)
        raise UsageError(f"{self.info.name}: say which answer the model was shown: shown={listed}, not {shown!r}")

    def blank_example(self, kind: str | None = None) -> Example:
        """Return an example with no more than what reading a response needs.

        Args:
            kind: what is asked for, of a benchmark with several kinds of answer; None for the first.

        Raises:
            UsageError: for a kind that the benchmark does not have.
        """
        kinds = self.benchmark.kinds or ("",)
        if kind is not None and kind not in self.benchmark.kinds:
            known = f"one of {', '.join(kinds)}" if self.benchmark.kinds else "left out: there is one kind of answer"
            raise UsageError(f"{self.info.name}: kind must be {known}, not {kind!r}")
        return self.benchmark.blank_example(kinds[0] if kind is None else kind)

    def told(self, response: str, example: Example, explain: bool = False) -> Iterator[str]:
        """Yield lines on what each filter reads in a response and how; with ``explain``, on the candidates too.

        Of each candidate, the heaviest first, these are shown: weight, value, cue, evidence, and its place.
        """
        for name, read in self.benchmark.readers.items():
            answer = read(response, example, self.options)
            yield f"{name}: {answer} ({answer.details['found_by']})"
        if not explain:
            return
        reading = self.benchmark.read(response, example, self.options)
        if reading.value is not None:
            yield f"certainty {reading.certainty:.2f}"
        for candidate in sorted(reading.candidates, key=lambda candidate: -candidate.weight)[:_SHOWN]:
            value = candidate.value
            if isinstance(value, tuple):
                value = "{} weeks, {} days".format(*value)
            evidence = {candidate.cue: candidate.support, **candidate.evidence}
            weights = ", ".join(f"{name} {weight:+g}" for name, weight in evidence.items())
            yield f"{candidate.weight:6g}  {value}  {weights}  {_place(candidate)}"

    def _scored(self, example: Example, answer: Answer) -> Scored:
        values = {**self.benchmark.score(answer, example, self.options).values, **answer.scores}
        metrics = {name: as_number(value) for name, value in values.items() if name in self.metrics}
        return Scored(None if answer.value is None else str(answer), answer.details["found_by"], metrics)


def _place(candidate: Candidate) -> str:
    """Return the candidate's text and what is around it, on one line."""
    text, start, end = candidate.text, candidate.start, candidate.end
    shown = f"…{text[max(0, start - _AROUND) : start]}[{text[start:end][:_AROUND]}]{text[end : end + _AROUND]}…"
    return " ".join(shown.replace(BOLD, "**").split())


def score(
    task: str, row: Mapping[str, Any], response: str, *, shown: str | None = None, **options: Any
) -> dict[str, Scored]:
    """Score one response under both filters: :class:`Scorer` for once; its arguments, and those of a call to it."""
    return Scorer(task, **options)(row, response, shown=shown)


Reward = Callable[..., list[float]]


def reward(benchmark: str, *, filter_name: str = DEFAULT_FILTER, metric: str | None = None, **options: Any) -> Reward:
    """Return a reward for training, in the form that TRL's ``GRPOTrainer`` takes among its ``reward_funcs``.

    Args:
        benchmark: a benchmark, or a task of it.
        filter_name: ``strict-match`` or ``flexible-extract``.
        metric: what is given; None for the benchmark's own: ``reward`` for MedHallu, ``acc`` for the others.
        options: of the benchmark.

    Returns:
        ``f(completions, **columns)``: one number for each completion, a text or a list of messages (the last is the
        response). Columns are those of the data set, a list each, and the field that tells the examples of a row apart,
        for MedHallu ``shown``.

    Raises:
        UsageError: for a benchmark, filter, metric or option that does not exist; by the function, for a column that is
            missing.
    """
    scorer = Scorer(benchmark, **options)
    if filter_name not in scorer.benchmark.readers:
        raise UsageError(f"reward: filter_name is {' or '.join(scorer.benchmark.readers)}, not {filter_name!r}")
    name = metric or scorer.benchmark.rewarded
    told_apart_by = scorer.benchmark.told_apart_by or ""
    if name not in scorer.metrics:
        raise UsageError(f"reward: {benchmark} has no metric {name!r}; it has {', '.join(sorted(scorer.metrics))}")

    def rewards(completions: Sequence[Any], **columns: Any) -> list[float]:
        """Return the reward of each completion."""
        listed = {column: values for column, values in columns.items() if isinstance(values, list | tuple)}
        numbers = []
        for index, completion in enumerate(completions):
            row = {column: values[index] for column, values in listed.items()}
            try:
                scored = scorer(row, _text(completion), shown=row.get(told_apart_by))
            except DataError as error:
                raise UsageError(
                    f"reward: {error}. Columns of the data set reach a reward only if the trainer keeps them "
                    "(remove_unused_columns=False)"
                ) from None
            numbers.append(scored[filter_name].metrics.get(name) or 0.0)
        return numbers

    rewards.__name__ = f"{scorer.benchmark.name}_{name}"
    return rewards


def _text(completion: Any) -> str:
    """Return a completion's text: itself, or the content of the last of its messages."""
    if isinstance(completion, str):
        return completion
    if isinstance(completion, Sequence) and completion and isinstance(completion[-1], Mapping):
        return str(completion[-1].get("content") or "")
    raise UsageError(f"reward: a completion is a text or a list of messages, not {completion!r:.50}")


def _single_task(name: str) -> dict[str, Any]:
    """Return the settings of the task that a name stands for.

    Raises:
        UsageError: for a name that is none, stands for several benchmarks, or for tasks that read no text.
    """
    tasks = tasks_named(name)
    if not tasks:
        hint = did_you_mean(name, benchmarks())
        raise UsageError(f"there is no task {name!r}{hint}; medtasks eval --help lists all")
    named = dict.fromkeys(settings["benchmark"] for settings in tasks)
    if len(named) > 1:
        raise UsageError(f"{name} is a group of several benchmarks: name the row's own, {' or '.join(named)}")
    if tasks[0]["output_type"] != "generate_until":
        raise UsageError(f"{name} scores log-likelihoods, no text: name {tasks[0]['task'].removesuffix('_logits')}")
    return tasks[0]
