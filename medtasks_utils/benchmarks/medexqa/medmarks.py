"""Define MedExQA under Medmarks' protocol (arXiv:2605.01417): answers in tags, a rubric for one or more judges."""

from collections.abc import Sequence
from dataclasses import replace

from medtasks_utils.benchmarks.answers import Answer
from medtasks_utils.benchmarks.facts import Example, Files, LoadReport, Tasks
from medtasks_utils.benchmarks.medmarks_letters import letter_in_tag, tagged
from medtasks_utils.benchmarks.tables import Table
from medtasks_utils.judging import Case
from medtasks_utils.statistics.metrics import Metric

from .benchmark import MedExQA
from .explanations import Explanations, case_of
from .options import MedExQAOptions

_MISSING = {"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A"}
_MISSING |= {"NA", "NULL", "NaN", "None", "n/a", "nan", "null"}
"""Cells that pandas reads as missing; Medmarks' prompts show them as None."""


class MedmarksMedExQAOptions(MedExQAOptions):
    """Options of MedExQA under Medmarks' protocol: only a requested judge or metric scores explanations."""

    fixed = ("seed", "use_think", "vary_order")

    @property
    def lexical_metrics(self) -> tuple[str, ...]:
        """The lexical metrics that the user names; by default, none."""
        return self.explanation_metrics if "explanation_metrics" in self.model_fields_set else ()


def case_of_tag(example: Example, response: str) -> Case:
    """Return a judge's input, with the last explanation tag or the word None, and both references, even if blank."""
    explanation = (tagged(response, "explanation") or ["None"])[-1]
    references = (example["explanation_1"], example["explanation_2"])
    return case_of(example, response)._replace(explanation=explanation, references=references)


class RewardedExplanations(Explanations):
    """A scorer that adds ``reward``, the judges' mean from 0 to 1.

    The reward is 0 if the answer is wrong or has no judgement and, as in Medmarks, if a judge failed.
    """

    def add_scores(self, answers: Sequence[tuple[Example, Answer]]) -> None:
        """Add the scores of explanations, and the reward."""
        super().add_scores(answers)
        for _, answer in answers:
            judged = answer.details.get("judge") or {"score": None}
            is_whole = judged["score"] is not None and not judged.get("failed_judges")
            answer.scores["reward"] = judged["score"] / 100 if is_whole else 0.0


class MedmarksMedExQA(MedExQA):
    """``medmarks_medexqa``: a letter and an explanation in tags, all specialties as one set."""

    name = "medmarks_medexqa"
    title = "MedExQA (Medmarks)"
    data = replace(MedExQA.data, folder="medexqa")
    tasks = Tasks(default="medmarks_medexqa", checked=())
    written = "<answer>%s</answer>"
    packages = (*MedExQA.packages, "pylatexenc")
    options_class = MedmarksMedExQAOptions
    metrics = (*MedExQA.metrics, Metric("reward", unit="number", is_of_explanations=True))
    case_of = staticmethod(case_of_tag)
    explanations_class = RewardedExplanations

    def reported(self) -> list[Metric]:
        """Return the benchmark's metrics that the task reports; the reward only with judges."""
        reward = [metric for metric in self.metrics if metric.name == "reward" and self.options.judges]
        return [*super().reported(), *reward]

    def load(self, files: Files, split: str, report: LoadReport) -> list[Example]:
        """Return the examples; the evaluated examples are in the order of ``datasets.Dataset.shuffle(seed=0)``."""
        examples = [_shown(example) for example in super().load(files, split, report)]
        if split != self.options.split:
            return examples
        ranks = {specialty: rank for rank, specialty in enumerate(self.options.specialty)}
        examples.sort(key=lambda example: ranks[example["specialty"]])
        import numpy as np  # imported late, as --help does not need it

        return [examples[place] for place in np.random.default_rng(0).permutation(len(examples))]

    def examples(self, table: Table, report: LoadReport) -> list[Example]:
        """Convert rows of unknown specialty, as Medmarks shows them."""
        return list(map(_shown, super().examples(table, report)))

    def strict(self, text: str, example: Example) -> Answer:
        """Read the last answer tag by Medmarks' rule; without one, the response is unanswered."""
        return letter_in_tag(text, example, -1)


BENCHMARK = MedmarksMedExQA


def _shown(example: Example) -> Example:
    """Return an example as Medmarks shows it, with the word None for cells that pandas treats as missing."""
    texts = {name: example[name] for name in ("question", "explanation_1", "explanation_2")}
    shown = {name: "None" if text in _MISSING else text for name, text in texts.items()}
    return {**example, **shown, "options": ["None" if text in _MISSING else text for text in example["options"]]}
