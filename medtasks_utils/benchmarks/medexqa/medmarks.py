"""Define MedExQA by the protocol of Medmarks (arXiv:2605.01417): tags, and a rubric that several models judge by."""

from dataclasses import replace

import numpy as np

from medtasks_utils.benchmarks.answers import Answer
from medtasks_utils.benchmarks.facts import Example, Files, LoadReport, Tasks
from medtasks_utils.benchmarks.medmarks_letters import medmarks_letter, tagged

from .benchmark import MedExQA

_MISSING = {"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A"}
_MISSING |= {"NA", "NULL", "NaN", "None", "n/a", "nan", "null"}
"""Cells that pandas reads as missing; Medmarks' prompts show them as None."""


class MedmarksMedExQA(MedExQA):
    """``medmarks_medexqa``: a letter and an explanation in tags, all specialties as one set."""

    name = "medmarks_medexqa"
    title = "MedExQA (Medmarks)"
    data = replace(MedExQA.data, folder="medexqa")
    tasks = Tasks(default="medmarks_medexqa")
    written = "<answer>%s</answer>"
    packages = (*MedExQA.packages, "pylatexenc")

    def load(self, files: Files, split: str, report: LoadReport) -> list[Example]:
        """Return the examples; those to evaluate on are in the order of ``datasets.Dataset.shuffle(seed=0)``."""
        examples = [_shown(example) for example in super().load(files, split, report)]
        if split != self.options.split:
            return examples
        ranks = {specialty: rank for rank, specialty in enumerate(self.options.specialty)}
        examples.sort(key=lambda example: ranks[example["specialty"]])
        return [examples[place] for place in np.random.default_rng(0).permutation(len(examples))]

    def strict(self, text: str, example: Example) -> Answer:
        """Read the last answer tag by Medmarks' rule; without one, the response is unanswered."""
        content = (tagged(text) or [""])[-1]
        letter = medmarks_letter(content, example["answer_letter"], example["options"][example["answer_idx"]])
        return Answer(letter, text, found_by="tag")


BENCHMARK = MedmarksMedExQA


def _shown(example: Example) -> Example:
    """Return an example as Medmarks shows it: cells that pandas reads as missing are the word None."""
    texts = {name: example[name] for name in ("question", "explanation_1", "explanation_2")}
    shown = {name: "None" if text in _MISSING else text for name, text in texts.items()}
    return {**example, **shown, "options": ["None" if text in _MISSING else text for text in example["options"]]}
