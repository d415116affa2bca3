"""Define the base class of benchmarks: objects that load rows, read answers in responses, and score them.

Benchmarks do not depend on the harness. Data flows one way::

    files -> load/examples -> (the harness renders prompts, the model answers) -> strict/flexible -> score
"""

import itertools
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from medtasks_utils.extraction.boxes import last_box, unwrap
from medtasks_utils.extraction.letters import LETTERS, letter_of, read_letter
from medtasks_utils.extraction.plain import without_continuation
from medtasks_utils.extraction.think import final_text
from medtasks_utils.extraction.weighing import NOTHING, Reading
from medtasks_utils.filters import FLEXIBLE, STRICT
from medtasks_utils.statistics.metrics import Metric
from medtasks_utils.statistics.scores import Score
from medtasks_utils.writing import printable

from .known_issues import ALIKE, CONTRADICTED, NO_IMAGE, contradicted, has_options_alike, refers_to_image, words_of
from .options import Options
from .tables import Row, Table

if TYPE_CHECKING:
    from medtasks_utils.judging import Case

Example = dict[str, Any]
"""One example: the fields that the YAML templates render, the right answer, and the fields of breakdowns."""

KNOWN_ISSUES = "known_issues"
"""The name of the field with the reasons to doubt an example's label."""

UNANSWERED = "[invalid]"
"""The logged answer of an unanswered response; the harness uses the same word."""


class PinnedFile(NamedTuple):
    """A file of a GitHub repository: its ``path`` there, its SHA-256, and the ``name`` of the local copy."""

    path: str
    sha256: str
    name: str


class Repository(NamedTuple):
    """A data set on the hub or, if ``files`` is not empty, files on GitHub.

    Attributes:
        name: owner and name, such as ``openlifescienceai/medmcqa``.
        revision: the commit to read, which the option ``revision`` overrides; None for the newest.
        files: the files needed from GitHub. Their checksums pin the revision, so the option cannot override it.
    """

    name: str
    revision: str | None = None
    files: tuple[PinnedFile, ...] = ()


class Resource(NamedTuple):
    """A download that runs may need besides rows and packages, such as a dictionary or a model.

    Attributes:
        name: the name that ``medtasks fetch --only`` takes.
        origin: the source, for display.
        load: a function that loads it in the same way as a run, and downloads it if it is missing.
    """

    name: str
    origin: str
    load: Callable[[], object]


class Breakdown(NamedTuple):
    """A division of a benchmark's examples into groups.

    Attributes:
        name: what the examples are divided by, such as ``subject``.
        key: a function that returns the group of an example; None leaves the example out.
        metrics: names of the metrics to show for each group; runs are compared on the first.
        order: the groups in their natural order; empty to rank them by value.
    """

    name: str
    key: Callable[[Row], str | None]
    metrics: tuple[str, ...] = ("acc",)
    order: tuple[str, ...] = ()


def by_field(name: str) -> Callable[[Row], str | None]:
    """Return a key for :class:`Breakdown`: the value of a field, or None if it is empty."""
    return lambda example: str(example.get(name) or "") or None


class AbstentionRow(NamedTuple):
    """A row of the report's table on the cost of abstaining.

    Attributes:
        name: the heading of the row.
        metric: the metric that the row shows.
        rescore: a function of an answer and its example, both as logged, that returns a score to be aggregated instead
            of the metric's own; None to show the metric as reported.
    """

    name: str
    metric: str
    rescore: Callable[[str, Row], Score] | None = None


class Abstention(NamedTuple):
    """How a response abstains, and what the report shows about the cost of abstaining.

    Attributes:
        answer: the answer that abstains, one of the benchmark's ``answers``.
        rate_metric: the metric with the share of responses that abstain.
        rows: the rows of the report's table, in order; if empty, there is no table.
        lead: an introduction to the table, which explains its rows.
    """

    answer: str
    rate_metric: str
    rows: tuple[AbstentionRow, ...] = ()
    lead: str = ""


class AuditQuestion(NamedTuple):
    """What an auditor learns about an example besides the response; never the right answer or what a filter read.

    Attributes:
        form: the answers that the response may state, in words.
        pattern: a regular expression that matches the whole of any such answer, ignoring case.
        question: the question.
        options: the texts of the choices A to D; empty if there are no choices.
        shown: the answer that the model was asked to check; empty if there is none.
    """

    form: str
    pattern: str
    question: str
    options: tuple[str, ...] = ()
    shown: str = ""


def doubt_of(example: Row) -> str | None:
    """Return the group of an example in :data:`BY_DOUBT`; None if the sample was logged without ``known_issues``."""
    issues = example.get(KNOWN_ISSUES)
    if issues is None:
        return None
    return "doubted" if issues else "not doubted"


BY_DOUBT = Breakdown("label", doubt_of)
"""A breakdown by whether a known issue casts doubt on an example's label."""


class ResponseScores(NamedTuple):
    """The scores of one response, with the cluster and stratum of its example.

    Attributes:
        values: scores by metric name.
        cluster: a key shared by examples that are not independent of each other; None for an independent example.
        stratum: the group whose mean enters macro averages; None if there are no groups.
    """

    values: dict[str, Score]
    cluster: str | None
    stratum: str | None


class Answer(str):
    """The answer that a filter read in a response: the text that samples show, and the value that is scored.

    Attributes:
        value: the value that scoring compares; None if no answer was found.
        response: the whole response.
        scores: further scores of this response, added by a :class:`BatchScorer` or by the tools.
        details: further fields of the logged sample, with values that JSON can represent. All answers of a task have
            the same fields, among them always these. ``found_by`` is ``box``, ``tag``, ``key`` (of JSON), ``letter``
            (stated), ``option_text``, ``statement`` (of a value or verdict), ``fuzzy`` (similarity to a choice),
            ``filter`` (of a variant), or ``none``. ``certainty`` is the estimated probability that the reading is
            right, from 0 to 1: 1 for an answer read by a strict rule, 0 if no answer was found. ``words`` are
            the words that state the answer; empty if they are not known.
    """

    value: Any
    response: str
    scores: dict[str, Score]
    details: dict[str, Any]

    def __new__(
        cls,
        value: Any,
        response: str = "",
        shown: str | None = None,
        found_by: str = "statement",
        certainty: float = 1.0,
        words: str = "",
    ) -> "Answer":
        """Create an answer that samples show as ``shown``; by default, as its value."""
        if value is None:
            shown, found_by, certainty, words = UNANSWERED, "none", 0.0, ""
        self = super().__new__(cls, shown or str(value))
        self.value = value
        self.response = response
        self.scores = {}
        self.details = {"found_by": found_by, "certainty": round(certainty, 3), "words": printable(words)}
        return self


class TaskInfo(NamedTuple):
    """What a benchmark knows about the task that runs it.

    Attributes:
        name: the task's name, for messages.
        subset: ``dataset_name`` in the YAML, such as a specialty; None for all rows.
        generates: True if answers are generated text, False if they are log-likelihoods.
    """

    name: str
    subset: str | None = None
    generates: bool = True


class Files(Protocol):
    """A source of a benchmark's files: the hub's cache, a directory, or the bundled sample."""

    def folder(self, repository: Repository) -> Path:
        """Return the folder with a repository's files, after downloading them if necessary."""

    def cached(self, repository: Repository) -> Path | None:
        """Return the folder with a repository's files, or None if they are not downloaded yet."""


@dataclass
class LoadReport:
    """The numbers of rows or examples left out, by reason, and remarks for readers of the results."""

    left_out: Counter[str] = field(default_factory=Counter)
    remarks: list[str] = field(default_factory=list)

    def with_text(self, examples: list[Example], *fields: str) -> list[Example]:
        """Return the examples with text in all ``fields``, and count the others as left out."""
        for name in fields:
            with_text = [example for example in examples if example[name].strip()]
            self.left_out += Counter({f"no {name}": len(examples) - len(with_text)})
            examples = with_text
        return examples


class BatchScorer(Protocol):
    """An object that scores all answers of a task together, such as a judge or a batched model."""

    failure: str | None
    """The reason why no answer could be scored; None if at least one was scored, or if there were no answers."""

    @property
    def signatures(self) -> dict[str, str]:
        """By metric or judge, a text with every choice that its scores depend on."""

    def score(self, answers: Sequence[tuple[Example, Answer]]) -> None:
        """Add the scores to each answer's ``scores``, and further fields of the sample to its ``details``."""


class Benchmark(ABC):
    """The base class of benchmarks.

    Attributes:
        name: the name in commands, the key of its options in ``--metadata``, and its folder in a data directory.
        title: the name as its authors write it.
        options: the class of its options.
        truth: the field with the right answer, in the requested form.
        written: a template of a response that gives an answer; ``%s`` stands for the answer.
        default_task: the task or group to run when only the benchmark's name is given.
        whole_task: the task over all rows, if ``default_task`` is a group; None if it is ``default_task`` itself.
        shown_fields: fields of an example that every prompt shows; they identify the example of a prompt.
        told_apart_by: the field that distinguishes the examples of one row; None if a row is one example.
        kinds: the kinds of answer that examples ask for, the most common first; empty if there is only one.
        rewarded: the default metric of a training reward.
        checked_tasks: the tasks and groups that ``medtasks selfcheck`` runs.
        repositories: the repositories with the rows, by the version that options choose; the first is the default.
        metrics: every metric that its tasks may report, the most important first.
        headline_metrics: names of the metrics that a summary shows after the first of ``metrics``.
        compared: names of the metrics on which runs are compared.
        breakdowns: the ways in which the report divides the examples into groups.
        cluster: the field whose value is the same in examples that are not independent; None if all are independent.
        stratum: the field whose groups enter macro averages with equal weight; None if there are no groups.
        prompt_fields: fields of an example that only the prompt uses.
        unsigned_fields: fields that the signature's hash of the rows ignores.
        content_fields: the fields with the question and the right answer; required with ``shortcuts``.
        shortcuts: the file with scores that are reached without the question; None if none were measured.
        answers: the possible answers, as logged, with their meanings; empty if they cannot be listed.
        abstention: how a response abstains, and what that costs; None if responses cannot abstain.
        case_of: a function of an example and a response that returns the explanation in the response, with the
            question and the references that a judge needs; None if there are no reference explanations.
        marks: by metric, the words with which the report marks samples whose value is above 0.
        stated_by: the ``found_by`` of an answer outside a box, tag or key.
        packages: packages whose versions enter the signature, besides this one and lm_eval.
        sample: the folder with sample rows, if it is outside this package.
        tasks: the folder with the YAML, if it is outside this package.
    """

    name: str
    title: str
    options: type[Options]
    truth: str
    written: str = "\\boxed{%s}"
    default_task: str
    whole_task: str | None = None
    shown_fields: tuple[str, ...] = ("question",)
    told_apart_by: str | None = None
    kinds: tuple[str, ...] = ()
    rewarded: str = "acc"
    checked_tasks: tuple[str, ...]
    repositories: Mapping[str, Repository]
    metrics: tuple[Metric, ...]
    compared: tuple[str, ...] = ("acc",)
    breakdowns: tuple[Breakdown, ...] = ()
    headline_metrics: tuple[str, ...] = ("acc",)
    cluster: str | None = None
    stratum: str | None = None
    prompt_fields: tuple[str, ...] = ()
    unsigned_fields: tuple[str, ...] = ()
    content_fields: tuple[str, ...] = ()
    shortcuts: Path | None = None
    answers: Mapping[str, str] = {}
    abstention: Abstention | None = None
    case_of: Callable[[Example, str], "Case"] | None = None
    marks: Mapping[str, str] = {}
    stated_by: str = "statement"
    packages: tuple[str, ...] = ()
    sample: Path | None = None
    tasks: Path | None = None

    # ---- the task

    def check(self, task: TaskInfo, options: Any) -> list[str]:
        """Return warnings about unusual options, one line each.

        Raises:
            UsageError: for options that do not apply to the task.
        """
        return []

    def metrics_of(self, task: TaskInfo, options: Any) -> list[Metric]:
        """Return the metrics that a task reports, except those that ``repeats`` adds."""
        return list(self.metrics)

    def resources(self) -> Sequence[Resource]:
        """Return the downloads that the benchmark's tasks may need besides rows and packages."""
        return ()

    # ---- rows

    def repository(self, options: Any) -> Repository:
        """Return the repository with the rows that the options choose; by default, the first repository."""
        return next(iter(self.repositories.values()))

    @abstractmethod
    def load(self, files: Files, options: Any, task: TaskInfo, split: str, report: LoadReport) -> list[Example]:
        """Return the examples of a split, either to evaluate on or to draw few-shot examples from.

        Raises:
            DataError: for an unknown split, or rows that cannot be found, read or understood.
        """

    @abstractmethod
    def examples(self, table: Table, options: Any, report: LoadReport) -> list[Example]:
        """Convert rows into examples, and count unusable rows in the report.

        Raises:
            DataError: for missing columns, or rows that cannot be understood.
        """

    def first(self, examples: Sequence[Example], limit: int | None) -> Sequence[int]:
        """Return the indices of the examples that ``--limit`` selects, in ascending order; all without a limit."""
        return range(len(examples))[:limit]

    def blank_example(self, kind: str) -> Example:
        """Return an example for a text that belongs to no row; it has only the fields that reading needs.

        Args:
            kind: one of ``kinds``; an empty string if ``kinds`` is empty.
        """
        return {}

    def options_of_environment(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options for reading the responses from a run of this benchmark in another harness.

        Args:
            arguments: the arguments of the environment that was run.
        """
        return {}

    def asked(self, example: Example) -> tuple[Hashable, str]:
        """Return a key that is equal for examples with the same question, and the example's right answer."""
        fields = [str(example[name]) for name in self.content_fields if name != self.truth]
        return tuple(map(words_of, fields)), str(example[self.truth])

    def issues_of(self, example: Example) -> list[str]:
        """Return the reasons to doubt an example's label that can be seen in the example alone."""
        return []

    def add_known_issues(self, examples: Sequence[Example]) -> None:
        """Add the field ``known_issues`` to each example: the reasons to doubt its label, joined by semicolons."""
        contradictions = contradicted(map(self.asked, examples))
        for example, is_contradicted in zip(examples, contradictions, strict=True):
            issues = [CONTRADICTED] if is_contradicted and self.content_fields else []
            example[KNOWN_ISSUES] = "; ".join(issues + self.issues_of(example))

    # ---- reading

    @abstractmethod
    def value(self, content: str, example: Example, options: Any) -> Any:
        """Convert the content of a box or tag into a value by the published rule; None if it is not an answer."""

    def strict(self, text: str, example: Example, options: Any) -> Answer:
        """Read the answer by the benchmark's published rule; by default, it is the content of the last box."""
        return self.content(last_box(final_text(text)) or "", example, options, text, "box")

    def shown(self, value: Any, example: Example) -> str:
        """Return an answer's value as samples show it."""
        return str(value)

    def content(
        self, content: str, example: Example, options: Any, response: str = "", found_by: str = "filter"
    ) -> Answer:
        """Create an answer from the content of a box or tag, or from the output of a variant's filter."""
        value = self.value(content, example, options)
        return Answer(value, response, self.shown(value, example), found_by)

    def flexible(self, text: str, example: Example, options: Any) -> Answer:
        """Read the answer that the response states, in a box or in any other form."""
        reading = self.read(text, example, options)
        value = None if reading.value is None else self.value(reading.value, example, options)
        return Answer(value, text, found_by=self.found_by(reading), certainty=reading.certainty, words=reading.words)

    @property
    def readers(self) -> dict[str, Callable[[str, Example, Any], Answer]]:
        """The functions that read the answer in a response, by filter."""
        return {STRICT: self.strict, FLEXIBLE: self.flexible}

    def read(self, text: str, example: Example, options: Any) -> Reading:
        """Return the reading for ``flexible``: the best candidate and its certainty; by default, no answer."""
        return NOTHING

    def found_by(self, reading: Reading) -> str:
        """Return how an answer was found, as one of the values listed in :class:`Answer`."""
        otherwise = "option_text" if reading.cue == "named" else self.stated_by
        return reading.cue if reading.cue in ("box", "tag", "key") else otherwise

    def has_final_answer(self, text: str, options: Any) -> bool:
        """Return whether a reply gives an answer in the requested form, which ends a conversation with tools."""
        return last_box(final_text(text)) is not None

    # ---- scores

    @abstractmethod
    def score(self, answer: Answer, example: Example, options: Any) -> ResponseScores:
        """Score one response on every metric; the task reports those that :meth:`metrics_of` returns."""

    def scores(self, answer: Answer, example: Example, right: float, **others: Score) -> ResponseScores:
        """Return ``acc``, ``answered`` and the other scores, with the example's cluster and stratum."""
        values = {"acc": float(right), "answered": float(answer.value is not None), **others}
        cluster = None if self.cluster is None else str(example[self.cluster])
        stratum = None if self.stratum is None else str(example[self.stratum])
        return ResponseScores(values, cluster, stratum)

    def batch_scorer(
        self, options: Any, task: TaskInfo, examples: Sequence[Example] | None = None, processes: int = 1
    ) -> BatchScorer | None:
        """Return a :class:`BatchScorer` that is ready for use, or None if the task needs none.

        Args:
            options: the task's options.
            task: the task.
            examples: all examples to be scored; None if they are not loaded yet.
            processes: the number of processes in the run; each has its own scorer.

        Raises:
            MedtasksError: if something is not installed, not reachable or not downloaded.
        """
        return None

    # ---- audits: an LLM reads responses, to check what the filters read

    def audit_question(self, example: Example) -> AuditQuestion:
        """Return the question to an auditor about a response to an example."""
        form, pattern = "the answer alone, in the response's own words", r"\S[^\n]{0,199}?"
        meanings = {answer: meaning for answer, meaning in self.answers.items() if answer != UNANSWERED}
        if meanings:
            listed = [answer if meaning == answer else f"{answer} ({meaning})" for answer, meaning in meanings.items()]
            form, pattern = f"one of: {', '.join(listed)}", "|".join(map(re.escape, meanings))
        return AuditQuestion(form, pattern, str(example.get("question", "")))

    def values_of(self, answer: str, example: Example) -> list[Any]:
        """Return the values that a logged answer may stand for; empty if it is not an answer."""
        value = self.value(answer, example, self.options())
        return [] if value is None else [value]

    def is_same(self, value: Any, other: Any, example: Example | None = None) -> bool:
        """Return whether two values are the same answer; with the example, within the tolerance of its label."""
        return bool(value == other)

    def is_right(self, value: Any, example: Example) -> bool:
        """Return whether :meth:`score` counts a value as the right answer."""
        return self.score(Answer(value), example, self.options()).values["acc"] == 1.0


# ---- benchmarks of choices


class ChoiceOptions(Options):
    """Options of a multiple-choice benchmark.

    Attributes:
        vary_order: show the choices in a different order in each generation; needs repeats
    """

    needs: ClassVar = {"vary_order": "repeats above 1"}

    vary_order: bool = False

    def has_effect(self, name: str) -> bool:
        """Return whether an option has an effect; for ``vary_order``, whether there are repeats."""
        return self.repeats > 1 if name == "vary_order" else super().has_effect(name)


class ChoiceBenchmark(Benchmark):
    """A benchmark with four choices, whose order may differ between the generations of an example.

    Attributes:
        are_numbered: True if 0 to 3 in a box mean A to D.
    """

    are_numbered = False
    truth = "answer_letter"
    shown_fields = ("question", "options")
    content_fields = ("question", "options", "answer_letter")
    stated_by = "letter"
    answers: Mapping[str, str] = {**dict(zip(LETTERS, LETTERS, strict=True)), UNANSWERED: "no answer"}

    def first_order(self, example: Example) -> str:
        """Return the letters in the order in which the prompt of the first generation shows them; A to D by default."""
        return LETTERS

    def in_order(self, example: Example, order: str) -> Example:
        """Return the example with its choices in the given order of letters, for the prompt template.

        By default, the order is the field ``order``.
        """
        return {**example, "order": order}

    def blank_example(self, kind: str) -> Example:
        """Return an example whose choices have no text."""
        return {"options": [""] * len(LETTERS)}

    def asked(self, example: Example) -> tuple[Hashable, str]:
        """Return a key that is equal for the same question and choices in any order, and the right choice's text."""
        options = example["options"]
        return (words_of(example["question"]), *sorted(options)), options[example["answer_idx"]]

    def issues_of(self, example: Example) -> list[str]:
        """Return the issues of an example: two choices are alike, or the question refers to an image."""
        alike = [ALIKE] if has_options_alike(example["options"]) else []
        return [*alike, NO_IMAGE] if refers_to_image(example["question"]) else alike

    def value(self, content: str, example: Example, options: Any) -> str | None:
        """Return the letter A to D in the content of a box or tag; None if the content is not such a letter."""
        return letter_of(unwrap(content), self.are_numbered)

    def read(self, text: str, example: Example, options: Any) -> Reading:
        """Read the letter that a response chooses, in a box or elsewhere."""
        return read_letter(final_text(without_continuation(text)), example["options"])

    def audit_question(self, example: Example) -> AuditQuestion:
        """Ask for the letter that the response states, and show the choices."""
        return super().audit_question(example)._replace(options=tuple(example["options"]))


def order_of(generation: int, first: str) -> str:
    """Return the order in which a generation shows the choices.

    Four successive generations show each of four choices once in each position; 24 show every order once.

    Args:
        generation: the number of the generation, from 0.
        first: the order in generation 0.

    >>> [order_of(generation, "ABCD") for generation in range(6)]
    ['ABCD', 'BCDA', 'CDAB', 'DABC', 'ABDC', 'BDCA']
    """
    round_number, shift = divmod(generation, len(first))
    arrangements = list(itertools.permutations(first[1:]))
    order = first[0] + "".join(arrangements[round_number % len(arrangements)])
    return order[shift:] + order[:shift]
