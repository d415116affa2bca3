"""What a benchmark is: a plain object that knows its rows, how answers are read, and how they are scored.

Nothing here, and nothing in a benchmark, knows the harness. Data flows one way::

    files -> load/examples -> (the harness renders prompts, the model answers) -> strict/flexible -> score
"""

import itertools
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterator, Mapping, Sequence
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
from medtasks_utils.writing import one_line

from .known_issues import ALIKE, CONTRADICTED, NO_IMAGE, contradicted, has_options_alike, refers_to_image, words_of
from .options import Options
from .tables import Row, Table

if TYPE_CHECKING:
    from medtasks_utils.judging import Case

Example = dict[str, Any]
"""One example: the fields that the templates in YAML render, the right answer, and what breakdowns need."""

KNOWN_ISSUES = "known_issues"
"""The field with the reasons to doubt an example's label."""

UNANSWERED = "[invalid]"
"""What stands for an answer in logs where none was found: the harness's own word for it."""


class PinnedFile(NamedTuple):
    """A file of a GitHub repository: its ``path`` there, the SHA-256 of its bytes, the ``name`` it is kept under."""

    path: str
    sha256: str
    name: str


class Repository(NamedTuple):
    """A data set on the hub or, where ``files`` names any, files on GitHub.

    Attributes:
        name: as in ``openlifescienceai/medmcqa``.
        revision: the commit that runs read unless the option ``revision`` names another; None for the newest.
        files: those of GitHub that are needed; another revision would have other checksums, so none can be chosen.
    """

    name: str
    revision: str | None = None
    files: tuple[PinnedFile, ...] = ()


class Resource(NamedTuple):
    """Something that runs need besides rows and packages, such as a dictionary or a model.

    Attributes:
        name: as ``medtasks fetch --only`` has it.
        origin: where it comes from.
        load: loads it as a run does, downloading what is not there.
    """

    name: str
    origin: str
    load: Callable[[], object]


class Breakdown(NamedTuple):
    """A way to divide a benchmark's examples.

    Attributes:
        name: of the division, as in ``by subject``.
        key: the group of an example; None leaves it out.
        metrics: what is of interest in the groups, out of the task's metrics; the first is the one compared.
        order: the groups, where they have an order of their own; otherwise the report ranks them by value.
    """

    name: str
    key: Callable[[Row], str | None]
    metrics: tuple[str, ...] = ("acc",)
    order: tuple[str, ...] = ()


def by_field(name: str) -> Callable[[Row], str | None]:
    """A breakdown's key: the value of a field, None where it is empty."""
    return lambda example: str(example.get(name) or "") or None


class AbstentionRow(NamedTuple):
    """A row of the report's table on the cost of abstaining.

    Attributes:
        name: what the row is called.
        metric: the metric that the row shows.
        rescore: the score of an answer to an example, both as logged, which the row counts in place of the metric's
            own; None to show the metric as it was reported.
    """

    name: str
    metric: str
    rescore: Callable[[str, Row], Score] | None = None


@dataclass(frozen=True)
class Abstention:
    """How a response abstains, and what the report shows of the cost.

    Attributes:
        answer: the answer that abstains, one of the benchmark's ``answers``.
        rate_metric: the metric with the share of responses that abstain.
        rows: the rows of the report's table, in order; without any there is no table.
        lead: what readers of the table need to know.
    """

    answer: str
    rate_metric: str
    rows: tuple[AbstentionRow, ...] = ()
    lead: str = ""

    def problems(self, answers: Container[str], metrics: Container[str]) -> Iterator[str]:
        """Yield what it names that the benchmark does not have among its answers and metrics."""
        if self.answer not in answers:
            yield f"abstention.answer is {self.answer!r}, which is not among answers"
        for metric in dict.fromkeys([self.rate_metric, *(row.metric for row in self.rows)]):
            if metric not in metrics:
                yield f"abstention names the metric {metric!r}, which is not among metrics"


class AuditQuestion(NamedTuple):
    """What an auditor is told of an example beside a response: neither the right answer nor what the rules read.

    Attributes:
        form: what the response may state, in words.
        pattern: a regular expression that a stated answer matches as a whole, in upper or lower case.
        question: the question.
        options: the texts of the choices A to D; empty without choices.
        shown: the answer that the response judges; empty if it judges none.
    """

    form: str
    pattern: str
    question: str
    options: tuple[str, ...] = ()
    shown: str = ""


def doubt_of(example: Row) -> str | None:
    """A breakdown's key: whether a known issue casts doubt on the label; None in samples that do not say."""
    issues = example.get(KNOWN_ISSUES)
    return None if issues is None else "doubted" if issues else "not doubted"


BY_DOUBT = Breakdown("label", doubt_of)
"""Examples by whether their labels are doubted: the group ``not doubted`` has the metric without those."""


class Scores(NamedTuple):
    """The metrics of one response, with what aggregation needs beside them.

    Attributes:
        values: by metric.
        cluster: examples that share it are not independent; None if this one stands alone.
        stratum: the group whose mean enters macro averages; None if there are no groups.
    """

    values: dict[str, Score]
    cluster: str | None
    stratum: str | None


class Answer(str):
    """What a filter read out of one response: the text that the samples show, and the value behind it.

    Attributes:
        value: what scoring compares; None if no answer was found.
        response: the whole response.
        scores: further metrics of this response, put there by a :class:`BatchScorer` or by the tools.
        details: what the logged sample tells of this response besides; every answer of a task has the same names, and
            values are what JSON can hold. ``found_by`` is always among them: ``box``, ``tag``, ``key`` (of JSON),
            ``letter`` (stated), ``option_text``, ``statement`` (of a value or verdict), ``fuzzy`` (similarity to an
            option), ``filter`` (a variant's own), or ``none``. So is ``certainty``, 0 to 1: how sure the reading is; 1
            for what a rule finds, 0 where nothing was found.
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
    ) -> "Answer":
        """An answer that shows as ``shown``, or as its value."""
        self = super().__new__(cls, UNANSWERED if value is None else str(value) if shown is None else shown)
        self.value = value
        self.response = response
        self.scores = {}
        self.details = {
            "found_by": "none" if value is None else found_by,
            "certainty": 0.0 if value is None else round(certainty, 3),
        }
        return self


class TaskInfo(NamedTuple):
    """What a benchmark may know of the task that it is run as.

    Attributes:
        name: for messages.
        subset: YAML's ``dataset_name``, such as one specialty; None for the whole.
        generates: whether answers are generated text, and not log-likelihoods.
    """

    name: str
    subset: str | None = None
    generates: bool = True


class Files(Protocol):
    """Where a benchmark's files are: the hub's cache, a directory, or the bundled sample."""

    def folder(self, repository: Repository) -> Path:
        """The folder with a repository's files, downloaded where need be."""

    def cached(self, repository: Repository) -> Path | None:
        """The same, but only if nothing has to be downloaded for it."""


@dataclass
class LoadReport:
    """What loading has to say: how many rows were left out, by reason, and remarks for readers of the results."""

    left_out: Counter[str] = field(default_factory=Counter)
    remarks: list[str] = field(default_factory=list)

    def with_text(self, examples: Sequence[Example], *fields: str) -> list[Example]:
        """The examples that have text in all ``fields``; the others are left out."""
        for name in fields:
            self.left_out += Counter(f"no {name}" for example in examples if not example[name].strip())
            examples = [example for example in examples if example[name].strip()]
        return list(examples)

    def warnings(self) -> list[str]:
        """One line for each reason for which rows were left out."""
        return [f"left out {n} row{'s' if n > 1 else ''}: {reason}" for reason, n in self.left_out.items()]


class BatchScorer(Protocol):
    """Scores that are best computed for all answers of a task together, such as a judge's."""

    @property
    def signatures(self) -> dict[str, str]:
        """The choices behind its numbers, by metric or judge."""

    def score(self, answers: Sequence[tuple[Example, Answer]]) -> None:
        """Put its metrics into the answers' ``scores``, and what else samples should show into their ``details``."""


class Benchmark(ABC):
    """A benchmark.

    Attributes:
        name: as under ``--metadata``, and of its folder in a data directory.
        title: as its authors write it.
        options: the class of its options.
        truth: the field with the right answer, in the form that is asked for.
        written: a response that gives an answer, with ``%s`` for it.
        default_task: the task, or group of tasks, that people mean by the benchmark's name.
        whole_task: the one task of all its rows, where ``default_task`` is a group; None where it is that task.
        environments: lower-case parts of the names of environments that run it, without signs; its own name if empty.
        shown_fields: fields of an example that every prompt shows, by which a prompt's example is found.
        told_apart_by: the field that tells the examples of one row apart; None where a row makes one example.
        kinds: the kinds of answer that examples ask for, the commonest first; empty where there is but one.
        rewarded: the metric that a reward for training is, unless another is asked for.
        checked_tasks: tasks and groups that ``medtasks selfcheck`` runs.
        repositories: where its rows are, by the version that options choose; the first is the default.
        metrics: all that its tasks may report, the most important first.
        beside: names of those that a summary shows beside the first, where a run has them.
        compared: names of those on which runs are compared.
        breakdowns: the divisions that matter.
        cluster: the field that examples share which are not independent; none if all are.
        stratum: the field whose groups enter macro averages with equal weight.
        prompt_fields: fields of an example that belong to the prompt alone.
        unsigned_fields: fields that have no part in the signature's hash of the rows.
        content_fields: fields that tell what an example asks and its right answer; with ``shortcuts``.
        shortcuts: the file of what is reached on its rows without the question; None where nothing was measured.
        answers: the answers there are, as logged, and what they mean; empty where they are not a few.
        abstention: how a response abstains, and what that costs; None where it cannot.
        marks: by metric, the words by which the report's list of samples marks those whose value is above 0.
        stated_by: what ``found_by`` says of an answer that stands in no box, tag or key.
        packages: beside our own and lm_eval's, those whose versions are in the signature.
        sample: the folder with its sample rows, where that is not this package's own.
        tasks: the folder with its YAML, where that is not this package's own.
    """

    name: str
    title: str
    options: type[Options]
    truth: str
    written: str = "\\boxed{%s}"
    default_task: str
    whole_task: str | None = None
    environments: tuple[str, ...] = ()
    shown_fields: tuple[str, ...] = ("question",)
    told_apart_by: str | None = None
    kinds: tuple[str, ...] = ()
    rewarded: str = "acc"
    checked_tasks: tuple[str, ...]
    repositories: Mapping[str, Repository]
    metrics: tuple[Metric, ...]
    compared: tuple[str, ...] = ("acc",)
    breakdowns: tuple[Breakdown, ...] = ()
    beside: tuple[str, ...] = ("acc",)
    cluster: str | None = None
    stratum: str | None = None
    prompt_fields: tuple[str, ...] = ()
    unsigned_fields: tuple[str, ...] = ()
    content_fields: tuple[str, ...] = ()
    shortcuts: Path | None = None
    answers: Mapping[str, str] = {}
    abstention: Abstention | None = None
    marks: Mapping[str, str] = {}
    stated_by: str = "statement"
    packages: tuple[str, ...] = ()
    sample: Path | None = None
    tasks: Path | None = None

    # ---- the task

    def check(self, task: TaskInfo, options: Any) -> list[str]:
        """Lines that the user should read before the run, about options that are odd for this task.

        Raises:
            UsageError: for options that cannot apply to the task.
        """
        return []

    def metrics_of(self, task: TaskInfo, options: Any) -> list[Metric]:
        """The metrics that a task reports, those of repeats left out."""
        return list(self.metrics)

    def resources(self) -> Sequence[Resource]:
        """What its tasks may need besides rows and packages."""
        return ()

    # ---- rows

    def repository(self, options: Any) -> Repository:
        """Where the rows are: the first of the repositories, unless options choose another."""
        return next(iter(self.repositories.values()))

    @abstractmethod
    def load(self, files: Files, options: Any, task: TaskInfo, split: str, report: LoadReport) -> list[Example]:
        """The examples of a split: those to evaluate on, or those that few-shot examples are drawn from.

        Raises:
            DataError: for rows that cannot be had, read or understood, or a split that there is not.
        """

    @abstractmethod
    def examples(self, table: Table, options: Any, report: LoadReport) -> list[Example]:
        """Rows, checked and named, as examples; those that cannot be used are counted in the report.

        Raises:
            DataError: for columns that are missing, or rows that cannot be understood.
        """

    def blank_example(self, kind: str) -> Example:
        """Return an example with no more than what reading a response needs, for texts without a row.

        Args:
            kind: one of ``kinds``; empty where there are none.
        """
        return {}

    def options_of_environment(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options under which the responses of an environment's run are read, given its arguments."""
        return {}

    def asked(self, example: Example) -> tuple[Hashable, str]:
        """Return what an example asks and its right answer; examples that ask the same should agree on it."""
        fields = [str(example[name]) for name in self.content_fields if name != self.truth]
        return tuple(map(words_of, fields)), str(example[self.truth])

    def issues_of(self, example: Example) -> list[str]:
        """Return the reasons to doubt an example's label that the example itself shows."""
        return []

    def add_known_issues(self, examples: Sequence[Example]) -> None:
        """Put the reasons to doubt its label into each example, under ``known_issues``; empty where there is none."""
        is_contradicted = contradicted(map(self.asked, examples)) if self.content_fields else [False] * len(examples)
        for example, contradiction in zip(examples, is_contradicted, strict=True):
            issues = [CONTRADICTED] if contradiction else []
            example[KNOWN_ISSUES] = "; ".join(issues + self.issues_of(example))

    # ---- reading

    @abstractmethod
    def value(self, content: str, example: Example, options: Any) -> Any:
        """What the content of a box or a tag stands for by the benchmark's published rule; None if it is no answer."""

    def strict(self, text: str, example: Example, options: Any) -> Answer:
        """The answer of a response by the benchmark's published rule: what the last box holds."""
        return self.content(last_box(final_text(text)) or "", example, options, text, "box")

    def content(
        self, content: str, example: Example, options: Any, response: str = "", found_by: str = "filter"
    ) -> Answer:
        """What a box or a tag holds as the answer, or what a variant's own filter gives, which is taken as that."""
        return Answer(self.value(content, example, options), response, found_by=found_by)

    def flexible(self, text: str, example: Example, options: Any) -> Answer:
        """The answer of a response by our best reading: in a box, or said in any other way."""
        reading = self.read(text, example, options)
        value = None if reading.value is None else self.value(reading.value, example, options)
        return Answer(value, text, found_by=self.found_by(reading), certainty=reading.certainty)

    @property
    def readers(self) -> dict[str, Callable[[str, Example, Any], Answer]]:
        """By filter, what reads an answer out of a response."""
        return {STRICT: self.strict, FLEXIBLE: self.flexible}

    def read(self, text: str, example: Example, options: Any) -> Reading:
        """The candidates and the evidence that ``flexible`` weighs; none where it weighs nothing."""
        return NOTHING

    def found_by(self, reading: Reading) -> str:
        """How an answer was found, as :class:`Answer` has it."""
        otherwise = "option_text" if reading.cue == "named" else self.stated_by
        return reading.cue if reading.cue in ("box", "tag", "key") else otherwise

    def has_final_answer(self, text: str, options: Any) -> bool:
        """Return whether a reply gives an answer as it was asked for, which ends a conversation with tools."""
        return last_box(final_text(text)) is not None

    # ---- scores

    @abstractmethod
    def score(self, answer: Answer, example: Example, options: Any) -> Scores:
        """The metrics of one response; a task reports those of them that ``metrics_of`` names."""

    def scores(self, answer: Answer, example: Example, right: float, **others: Score) -> Scores:
        """``acc``, ``answered`` and other metrics, with the example's cluster and stratum."""
        values = {"acc": float(right), "answered": float(answer.value is not None), **others}
        return Scores(values, *(field and str(example[field]) for field in (self.cluster, self.stratum)))

    def case_of(self, example: Example, response: str) -> "Case":
        """Return the explanation in a response as judges see it, its choices lettered from A.

        A benchmark whose examples have reference explanations defines this; ``medtasks rescore`` takes no other.
        """
        raise NotImplementedError(f"{self.name} has no explanations to judge")

    @property
    def has_explanations(self) -> bool:
        """Whether judges can score explanations in its responses."""
        return type(self).case_of is not Benchmark.case_of

    def batch_scorer(
        self, options: Any, task: TaskInfo, examples: Sequence[Example] | None = None, processes: int = 1
    ) -> BatchScorer | None:
        """What scores all answers of a task together, ready to do so; None where there is nothing of the kind.

        Args:
            options: the task's.
            task: what it is run as.
            examples: all that will be scored; None before they are loaded.
            processes: how many there are, each with a scorer of its own.

        Raises:
            MedtasksError: for what is not installed, cannot be reached or is not downloaded.
        """
        return None

    # ---- audits: an LLM says what responses state, beside what the filters read

    def audit_question(self, example: Example) -> AuditQuestion:
        """Return what an auditor is asked about a response to an example."""
        form, pattern = "the answer alone, in the response's own words", r"\S[^\n]{0,199}?"
        meanings = {answer: meaning for answer, meaning in self.answers.items() if answer != UNANSWERED}
        if meanings:
            listed = [answer if meaning == answer else f"{answer} ({meaning})" for answer, meaning in meanings.items()]
            form, pattern = f"one of: {', '.join(listed)}", "|".join(map(re.escape, meanings))
        return AuditQuestion(form, pattern, str(example.get("question", "")))

    def as_logged(self, stated: str) -> str:
        """Return an answer that an auditor writes as the filters log it."""
        return next((answer for answer in self.answers if answer.casefold() == stated.casefold()), stated)

    def values_of(self, answer: str, example: Example) -> list[Any]:
        """Return the values that an answer, as logged, may stand for; none where it is no answer."""
        value = self.value(answer, example, self.options())
        return [] if value is None else [value]

    def is_same(self, value: Any, other: Any) -> bool:
        """Return whether two values are the same answer; of texts, white space and case do not matter."""
        if isinstance(value, str) and isinstance(other, str):
            return one_line(value).casefold() == one_line(other).casefold()
        return bool(value == other)

    def is_right(self, value: Any, example: Example) -> bool:
        """Return whether a value is the right answer, as ``score`` has it."""
        return self.score(Answer(value), example, self.options()).values["acc"] == 1.0


# ---- benchmarks of choices


class ChoiceOptions(Options):
    """Options of a benchmark with choices.

    Attributes:
        vary_order: show each generation the choices in another order; needs repeats
    """

    needs: ClassVar = {"vary_order": "repeats above 1"}

    vary_order: bool = False

    def has_effect(self, name: str) -> bool:
        """See :class:`Options`."""
        return self.repeats > 1 if name == "vary_order" else super().has_effect(name)


class ChoiceBenchmark(Benchmark):
    """A benchmark of four choices; the generations of an example may each see them in another order.

    Attributes:
        are_numbered: whether 0 to 3 in a box mean A to D.
    """

    are_numbered = False
    truth = "answer_letter"
    shown_fields = ("question", "options")
    stated_by = "letter"
    answers: Mapping[str, str] = {**dict(zip(LETTERS, LETTERS, strict=True)), UNANSWERED: "no answer"}

    @abstractmethod
    def first_order(self, example: Example) -> str:
        """The letters in the order that a single generation sees."""

    @abstractmethod
    def in_order(self, example: Example, order: str) -> Example:
        """The example as the prompt's template takes it, with its choices in another order."""

    def blank_example(self, kind: str) -> Example:
        """Return an example whose choices have no text."""
        return {"options": [""] * len(LETTERS)}

    def asked(self, example: Example) -> tuple[Hashable, str]:
        """Return the question and the options in any order, and the right option's text."""
        options = example["options"]
        return (words_of(example["question"]), *sorted(options)), options[example["answer_idx"]]

    def issues_of(self, example: Example) -> list[str]:
        """Return whether two options are alike, and whether an image is missing."""
        alike = [ALIKE] if has_options_alike(example["options"]) else []
        return [*alike, NO_IMAGE] if refers_to_image(example["question"]) else alike

    def value(self, content: str, example: Example, options: Any) -> str | None:
        """One letter A–D."""
        return letter_of(unwrap(content), self.are_numbered)

    def read(self, text: str, example: Example, options: Any) -> Reading:
        """What is weighed to find a letter, boxes among it."""
        return read_letter(final_text(without_continuation(text)), example["options"])

    def audit_question(self, example: Example) -> AuditQuestion:
        """Return which letter the response states, with the texts of the choices."""
        options = tuple(map(str, example["options"]))
        return super().audit_question(example)._replace(form="one of the letters A, B, C and D", options=options)


def order_of(generation: int, first: str) -> str:
    """The order in which a generation, numbered from 0, of an example sees its choices; ``first`` is generation 0's.

    Four generations in a row show each of four choices once in each place; 24 show every order once.

    >>> [order_of(generation, "ABCD") for generation in range(6)]
    ['ABCD', 'BCDA', 'CDAB', 'DABC', 'ABDC', 'BDCA']
    """
    turns, by = divmod(generation, len(first))
    others = list(itertools.permutations(first[1:]))
    order = first[0] + "".join(others[turns % len(others)])
    return order[by:] + order[:by]
