"""Define the base class of benchmarks, which load rows, read answers in responses, and score them.

A benchmark is a class. Its attributes are the facts about it; an instance is bound to the options and the task of a
run. Benchmarks do not depend on the harness. Data flows one way::

    files -> load -> examples -> (the harness renders prompts, the model answers) -> strict/flexible -> scores
"""

import itertools
import re
from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, final, get_args

from medtasks_utils.extraction.boxes import last_box, unwrap
from medtasks_utils.extraction.stated_confidence import split_confidence
from medtasks_utils.extraction.think import final_text
from medtasks_utils.extraction.weighing import Reading
from medtasks_utils.filters import FLEXIBLE, STRICT
from medtasks_utils.statistics.metrics import ACC, ANSWERED, Metric
from medtasks_utils.statistics.scores import Score
from medtasks_utils.tools.loop import Dialogue

from .answers import Answer, BatchScorer
from .facts import AuditQuestion, Data, Example, Files, LoadReport, ReportFacts, Repository, TaskInfo, Tasks
from .known_issues import CONTRADICTED, contradicted, words_of
from .options import Options
from .tables import Row, Table, read_split, text_of

if TYPE_CHECKING:
    from medtasks_utils.judging import Case

OptionsOf = TypeVar("OptionsOf", bound=Options)


class AuditRules:
    """The question for an auditor, and the comparison of the auditor's readings with those of the filters.

    Args:
        benchmark: the benchmark, bound to the options of the run whose responses are read.
    """

    def __init__(self, benchmark: "Benchmark[Any]") -> None:
        self.benchmark = benchmark

    def question(self, example: Example) -> AuditQuestion:
        """Return the question about an example, and the form of its answers.

        The possible answers are those in :attr:`Benchmark.answers` or, if it is empty, any line of at most 200
        characters.
        """
        form, pattern = "the answer alone, in the response's own words", r"\S[^\n]{0,199}?"
        meanings = self.benchmark.answers
        if meanings:
            listed = [answer if meaning == answer else f"{answer} ({meaning})" for answer, meaning in meanings.items()]
            form, pattern = f"one of: {', '.join(listed)}", "|".join(map(re.escape, meanings))
        data = self.benchmark.data
        choices, checked = tuple(example.get(data.choices, ())), example.get(data.checked_answer, "")
        return AuditQuestion(form, pattern, str(example.get("question", "")), choices, checked)

    def values_of(self, answer: str, example: Example) -> list[Any]:
        """Return the values that a logged answer may represent, by default at most one; [] for an unreadable answer."""
        value = self.benchmark.value(answer, example)
        return [] if value is None else [value]

    def is_same(self, value: Any, other: Any, example: Example | None = None) -> bool:
        """Return whether two values are the same answer; by default, whether they are equal.

        If ``example`` is given, a derived class may also accept a difference within the tolerance of its label.
        """
        return bool(value == other)

    @final
    def agree(self, values: Sequence[Any], others: Sequence[Any], example: Example | None = None) -> bool:
        """Return whether two answers, given as the values that they may represent, have a value in common."""
        return any(self.is_same(*pair, example) for pair in itertools.product(values, others))


class Benchmark(ABC, Generic[OptionsOf]):
    """A benchmark, bound to the options and the task of a run.

    A benchmark with options of its own derives from ``Benchmark[MyOptions]``. A benchmark with boxed answers needs
    ``name``, ``title``, ``data``, ``tasks``, ``answers`` and :meth:`example`; for the rest, the defaults suffice.
    Methods marked ``final`` are for callers; a benchmark overrides the methods that these call.

    Attributes:
        name: the name in commands, the key of its options in ``--metadata``, and its folder in a data directory.
        title: the name as its authors write it.
        data: the source of the rows, and the meaning of the examples' fields.
        tasks: the tasks that run the benchmark.
        metrics: every metric that the benchmark's tasks may report, the most important first.
        report: the settings for the report, comparisons and summaries.
        answers: the possible answers, as logged, with their meanings; empty if they cannot be listed, such as numbers.
        written: a template of a response that states an answer; ``%s`` is replaced by the answer.
        stated_by: the ``found_by`` of an answer that is stated outside boxes, tags and keys, other than by a choice's
            text (``option_text``).
        blanks: for each kind of answer, most common first, an example with only the fields that reading needs.
        packages: packages whose versions are part of the signature, besides medtasks and lm_eval.
        case_of: a function that returns a judge's input for an example and a response: the explanation, the question
            and the references; None for a benchmark without reference explanations.
        audit_class: the class of the rules for audits.
        dialogue_class: the class of the rules for conversations with tools.
        options, task: the options and the task of the run.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    data: ClassVar[Data]
    tasks: ClassVar[Tasks]
    metrics: ClassVar[tuple[Metric, ...]] = (ACC, ANSWERED)
    report: ClassVar[ReportFacts] = ReportFacts()
    answers: ClassVar[Mapping[str, str]] = {}
    written: ClassVar[str] = "\\boxed{%s}"
    stated_by: ClassVar[str] = "statement"
    blanks: ClassVar[Mapping[str, Example]] = {"": {}}
    packages: ClassVar[tuple[str, ...]] = ()
    case_of: ClassVar["Callable[..., Case] | None"] = None
    audit_class: ClassVar[type[AuditRules]] = AuditRules
    dialogue_class: ClassVar[type[Dialogue]] = Dialogue

    options_class: type[OptionsOf] = Options  # type: ignore[assignment]
    """The class of the options, as in ``Benchmark[MyOptions]``; :class:`Options` without brackets."""

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        for base in vars(cls).get("__orig_bases__", ()):
            for argument in get_args(base):
                is_of_options = isinstance(argument, type) and issubclass(argument, Options)
                if is_of_options:
                    cls.options_class = argument
                elif not isinstance(argument, TypeVar):
                    raise TypeError(f"Benchmark[...] takes a class derived from Options, not {argument!r}")

    def __init__(self, options: OptionsOf | None = None, task: TaskInfo | None = None) -> None:
        self.options: OptionsOf = options or self.options_class()
        self.task = task or TaskInfo(self.tasks.default)

    # ---- the task

    def reported(self) -> list[Metric]:
        """Return the benchmark's metrics that the task reports besides :data:`.ADDED_METRICS`; by default, all."""
        return list(self.metrics)

    # ---- rows

    @final
    @property
    def repository(self) -> Repository:
        """The repository that the option ``dataset_version`` names; the first one for a benchmark without it."""
        repositories = self.data.repositories
        return repositories[getattr(self.options, "dataset_version", next(iter(repositories)))]

    def load(self, files: Files, split: str, report: LoadReport) -> list[Example]:
        """Return the examples of a split, either to evaluate on or to draw few-shot examples from.

        Rows that are left out are counted in ``report``, which also collects remarks for readers of the results.

        Raises:
            DataError: for an unknown split, or rows that cannot be found, read or understood.
        """
        return self.examples(read_split(files.folder(self.repository), split), report)

    def examples(self, table: Table, report: LoadReport) -> list[Example]:
        """Convert rows to examples; leave out and count those without text in a field that every prompt shows.

        Raises:
            DataError: for missing columns, rows that cannot be understood, or examples in which a field that every
                prompt shows does not exist.
        """
        return report.with_text(table.made(self.example), *self.data.shown)

    def example(self, row: Row) -> Example:
        """Convert a row to an example; by default, convert each of the row's cells to text.

        Raises:
            KeyError: for a missing column.
            ValueError: for a row that cannot be understood, with the reason.
        """
        return {name: text_of(cell) for name, cell in row.items()}

    def relabelled(self, example: Example, order: str) -> Example:
        """Return the example with reordered choices: A to D become the choices that had the letters in ``order``.

        With ``BADC``, A becomes the choice that was B.

        Raises:
            TypeError: by default, for a benchmark without choices.
        """
        raise TypeError(f"{self.name} has no choices to show in another order")

    def settle(self, rows: Sequence[Row]) -> None:
        """Infer facts that a single row does not show from all rows that will be converted; by default, do nothing."""

    def first(self, examples: Sequence[Example], limit: int | None) -> Sequence[int]:
        """Return the indices of the examples that ``--limit`` selects, in ascending order; all without a limit.

        By default, the first examples are selected.
        """
        return range(len(examples))[:limit]

    def in_data_order(self, example: Example) -> Example:
        """Return the example with its choices in the order of the data; by default, return it unchanged.

        Copies of an example whose choices were shuffled are recognised in this form.
        """
        return example

    def known_issues(self, examples: Sequence[Example]) -> list[list[str]]:
        """Return, for each example, the reasons to doubt its label; an empty list if there are none.

        By default, the only reason is that another example has an equal question and a different answer. The question
        consists of the fields ``data.content`` without the label; without such fields, no label is doubted.
        """
        truth = self.data.truth
        names = [name for name in self.data.content if name != truth]

        def asked(example: Example) -> tuple[tuple[str, ...], str]:
            """Return the normalised fields of an example's question, and its right answer."""
            return tuple(words_of(str(example[name])) for name in names), str(example[truth])

        return [[CONTRADICTED] if names and is_twice else [] for is_twice in contradicted(map(asked, examples))]

    # ---- reading

    def value(self, content: str, example: Example) -> Any:
        """Convert the content of a box or tag to a value by the published rule; None if it is not an answer.

        By default, the value is one of ``answers``, ignoring case, or any non-blank text if ``answers`` is empty.
        """
        text = unwrap(content)
        if not self.answers:
            return text or None
        return next((answer for answer in self.answers if answer.lower() == text.lower()), None)

    def shown(self, value: Any, example: Example) -> str:
        """Return the text that samples show for an answer's value; by default, ``str(value)``."""
        return str(value)

    @final
    def answer(self, content: str, example: Example, response: str = "", found_by: str = "filter") -> Answer:
        """Create an answer from the content of a box or tag, or from the output of a variant's filter.

        If :meth:`value` returns None for the content, the response is unanswered. ``response`` and ``found_by`` become
        fields of the :class:`Answer`.
        """
        value = self.value(content, example)
        return Answer(value, response, self.shown(value, example), found_by)

    def strict(self, text: str, example: Example) -> Answer:
        """Read the answer by the benchmark's published rule; by default, the content of the last box.

        By default, only the text after the reasoning is searched, and a response without a box is unanswered.
        """
        return self.answer(last_box(final_text(text)) or "", example, text, "box")

    def read(self, text: str, example: Example) -> Reading | None:
        """Return the flexible reading: the best candidate and its certainty.

        Return None, the default, if the benchmark has only the strict reading.
        """
        return None

    def flexible(self, text: str, example: Example) -> Answer:
        """Return the answer that :meth:`read` finds in a response, or the result of :meth:`strict` if it returns None.

        A reading without a value is an unanswered response.
        """
        reading = self.read(text, example)
        if reading is None:
            return self.strict(text, example)
        value = None if reading.value is None else self.value(reading.value, example)
        return Answer(value, text, None, self.found_by(reading), reading.certainty, reading.words)

    @final
    def found_by(self, reading: Reading) -> str:
        """Return the form in which a reading found its answer, one of the values listed in :class:`Answer`."""
        otherwise = "option_text" if reading.cue == "named" else self.stated_by
        return reading.cue if reading.cue in ("box", "tag", "key") else otherwise

    @final
    def answer_read(self, reading: str, text: str, example: Example) -> Answer:
        """Read the answer by the method that ``reading`` names, ``strict`` or ``flexible``.

        With the option ``ask_confidence``, the confidence that the response states is removed before reading, and
        becomes the answer's detail ``confidence``; None if the response states none.
        """
        if not self.options.ask_confidence:
            return getattr(self, reading)(text, example)  # type: ignore[no-any-return]
        confidence, rest = split_confidence(text)
        answer: Answer = getattr(self, reading)(rest, example)
        answer.details["confidence"] = confidence
        return answer

    @final
    @property
    def readers(self) -> dict[str, Callable[[str, Example], Answer]]:
        """The functions that find the answer in a response, by the name of their filter."""
        return {STRICT: partial(self.answer_read, "strict"), FLEXIBLE: partial(self.answer_read, "flexible")}

    def has_final_answer(self, text: str) -> bool:
        """Return whether a reply contains an answer in the requested form, by default a box.

        Such a reply ends a conversation with tools.
        """
        return last_box(final_text(text)) is not None

    # ---- scores

    def is_right(self, value: Any, example: Example) -> bool:
        """Return whether ``value`` (None without an answer) is right; by default, whether it equals the label."""
        return bool(value == example[self.data.truth])

    def scores(self, answer: Answer, example: Example) -> dict[str, Score]:
        """Return an answer's scores by metric, by default ``acc`` and ``answered``.

        Scores of metrics that :meth:`reported` does not return are not reported.
        """
        right = self.is_right(answer.value, example)
        return {"acc": float(right), "answered": float(answer.value is not None)}

    def batch_scorer(self, examples: Sequence[Example] | None = None, processes: int = 1) -> BatchScorer | None:
        """Return a :class:`BatchScorer` that is ready for use; None, the default, if the task needs none.

        Args:
            examples: all examples to be scored; None if they are not loaded yet.
            processes: the number of processes in the run; each has its own scorer.

        Raises:
            MedtasksError: if a requirement is not installed, not reachable or not downloaded.
        """
        return None

    @final
    @property
    def audit(self) -> AuditRules:
        """The rules for audits, bound to this benchmark."""
        return self.audit_class(self)
