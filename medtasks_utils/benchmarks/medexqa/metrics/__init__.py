"""Lexical metrics of explanations: a text's similarity to its references, 0–100.

================  ====================================================  =====================
``rougeL``        longest common subsequence of words, F-measure        Lin 2004
``bleu``          n-gram precision of one example, without smoothing    Papineni et al. 2002
``meteor``        aligned words, stems and synonyms                     Banerjee & Lavie 2005
``bertscore``     aligned contextual embeddings, F1                     Zhang et al. 2020
================  ====================================================  =====================

With several references, ROUGE-L, METEOR and BERTScore take the best match; BLEU counts n-grams over all of them. Each
equals, for one example at a time, what Hugging Face ``evaluate`` gives by default, from which the score of explanations
was defined; no code of it is fetched or run.

>>> metrics = make_metrics(["rougeL", "bleu"])
>>> for metric in metrics:
...     metric.prepare()
...     metric.score(["A stent keeps the artery open."], [["A stent keeps the artery open."]])
[100.0]
[100.0]
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
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
"""By name: classes of :class:`Metric`."""


class Metric(ABC):
    """A similarity of a candidate text to one or more reference texts; ``name`` is as in :data:`METRICS`."""

    name: str

    @property
    @abstractmethod
    def signature(self) -> str:
        """Every choice behind the number, with versions, in one line; valid after :meth:`prepare`."""

    def prepare(self) -> None:  # noqa: B027
        """Check, fetch and load what scoring needs; here nothing.

        Raises:
            MedtasksError: if something is missing and cannot be fetched.
        """

    def score(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
        """Score texts, each example for itself; a progress bar appears if it takes more than a second.

        Args:
            candidates: n texts; an empty one scores 0.
            references: for each candidate one or more texts that are not blank.

        Returns:
            n scores, 0–100, higher is more similar.
        """
        from tqdm import tqdm  # here, since whether it shows is settled when it is imported

        self.prepare()
        pairs = list(zip(candidates, references, strict=True))
        return [
            100 * self.of_one(candidate, texts) if candidate.strip() else 0.0
            for candidate, texts in tqdm(pairs, delay=1, desc=f"Scoring explanations ({self.name})")
        ]

    @abstractmethod
    def of_one(self, candidate: str, references: Sequence[str]) -> float:
        """The score, 0–1, of a candidate that is not blank."""


def make_metrics(names: Iterable[str], **settings: Any) -> list[Metric]:
    """The metrics of these names, each once, in the order given; only what they need is imported.

    Args:
        names: out of :data:`METRICS`.
        settings: of the metrics, each after the metric's name, as in ``bertscore_device``; see the metrics' classes.
    """
    named = [(key.partition("_"), value) for key, value in settings.items()]
    return [METRICS[name](**{key: value for (own, _, key), value in named if own == name}) for name in names]
