"""Score the similarity of an explanation to its references, from 0 to 100.

================  ====================================================  =====================
``rougeL``        longest common subsequence of words, F-measure        Lin 2004
``bleu``          n-gram precision of one example, without smoothing    Papineni et al. 2002
``meteor``        aligned words, stems and synonyms                     Banerjee & Lavie 2005
``bertscore``     aligned contextual embeddings, F1                     Zhang et al. 2020
================  ====================================================  =====================

With more than one reference, ROUGE-L, METEOR and BERTScore take the best match; BLEU pools n-grams over all references.
Each score equals that of Hugging Face ``evaluate`` with its defaults, called for one example at a time, which is how
published scores were computed. ``evaluate`` itself is not used.

>>> for metric in map(make_metric, ["rougeL", "bleu"]):
...     metric.prepare()
...     metric.score(["A stent keeps the artery open."], [["A stent keeps the artery open."]])
[100.0]
[100.0]
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from medtasks_utils.registry import Registry

DEFAULT_BERTSCORE_MODEL = "allenai/scibert_scivocab_uncased"
_HERE = "medtasks_utils.benchmarks.medexqa.metrics"
METRICS = Registry(
    "medtasks.explanation_metrics",
    {
        "rougeL": f"{_HERE}.rouge:RougeL",
        "bleu": f"{_HERE}.bleu:Bleu",
        "meteor": f"{_HERE}.meteor:Meteor",
        "bertscore": f"{_HERE}.bertscore:BertScore",
    },
)
"""Classes of :class:`ExplanationMetric`, by name."""


class ExplanationMetric(ABC):
    """A metric of the similarity between an explanation and one or more references.

    Attributes:
        name: its key in :data:`METRICS`.
    """

    name: str

    @property
    @abstractmethod
    def signature(self) -> str:
        """A line with every setting and version that the score depends on. Call :meth:`prepare` first."""

    def prepare(self) -> None:  # noqa: B027
        """Download, load and check the resources for scoring; by default, do nothing.

        Raises:
            MedtasksError: if a resource is missing and cannot be downloaded.
        """

    def score(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
        """Score each explanation against its references; a progress bar appears after one second.

        Args:
            candidates: n explanations; a blank one scores 0.
            references: for each explanation, one or more non-blank texts.

        Returns:
            n scores from 0 to 100; higher is more similar.
        """
        from tqdm import tqdm  # imported here, since tqdm reads its environment variables on import

        self.prepare()
        pairs = list(zip(candidates, references, strict=True))
        return [
            100 * self.of_one(candidate, texts) if candidate.strip() else 0.0
            for candidate, texts in tqdm(pairs, delay=1, desc=f"Scoring explanations ({self.name})")
        ]

    @abstractmethod
    def of_one(self, candidate: str, references: Sequence[str]) -> float:
        """Return the score, from 0 to 1, of a non-blank explanation against its references."""


def make_metric(name: str, **bertscore: Any) -> ExplanationMetric:
    """Create a metric by its key in :data:`METRICS`. Only its dependencies are imported.

    Keyword arguments are those of :class:`.bertscore.BertScore`; other metrics ignore them.

    Raises:
        MedtasksError: if a package that the metric needs is not installed.
    """
    metric: ExplanationMetric = METRICS[name](**(bertscore if name == "bertscore" else {}))
    return metric
