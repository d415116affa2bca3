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
>>> score_all(metrics, ["A stent keeps the artery open."], [["A stent keeps the artery open."]])
[{'rougeL': 100.0, 'bleu': 100.0}]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tqdm import tqdm

from medtasks_utils.explanations.metric import Metric, MetricError

__all__ = ["DEFAULT_BERTSCORE_MODEL", "METRICS", "Metric", "MetricError", "make_metrics", "score_all"]

METRICS = ("rougeL", "bleu", "meteor", "bertscore")
DEFAULT_BERTSCORE_MODEL = "allenai/scibert_scivocab_uncased"
MODEL_FILES = ("*.json", "*.txt", "*.model", "*.safetensors", "*.bin")
"""Files of a hub repository that an encoder is loaded from: settings, tokenizer, and weights in torch's formats."""


def make_metrics(
    names: Iterable[str],
    *,
    bertscore_model: str = DEFAULT_BERTSCORE_MODEL,
    bertscore_device: str = "auto",
    bertscore_batch_size: int = 64,
) -> list[Metric]:
    """The metrics of these names, each once, in the order given; only what they need is imported.

    Args:
        names: out of :data:`METRICS`.
        bertscore_model: a hub repository, or a folder with a model and its tokenizer.
        bertscore_device: ``auto``, or a device of torch such as ``cuda``, ``mps``, ``cpu``.
        bertscore_batch_size: how many texts are embedded at once, at most.

    Raises:
        MetricError: for a name that is none of :data:`METRICS`, or a package that is not installed.
    """
    metrics: list[Metric] = []
    for name in dict.fromkeys(names):
        try:
            if name == "rougeL":
                from medtasks_utils.explanations.rouge import RougeL

                metrics.append(RougeL())
            elif name == "bleu":
                from medtasks_utils.explanations.bleu import Bleu

                metrics.append(Bleu())
            elif name == "meteor":
                from medtasks_utils.explanations.meteor import Meteor

                metrics.append(Meteor())
            elif name == "bertscore":
                from medtasks_utils.explanations.bertscore import BertScore

                metrics.append(BertScore(bertscore_model, device=bertscore_device, batch_size=bertscore_batch_size))
            else:
                raise MetricError(f"there is no metric {name!r}; there are {', '.join(METRICS)}")
        except ImportError as error:
            raise MetricError(
                f"{name} needs a package that is not installed ({error}): install it, "
                f"or leave {name} out of explanation_metrics"
            ) from None
    return metrics


def score_all(
    metrics: Sequence[Metric], candidates: Sequence[str], references: Sequence[Sequence[str]]
) -> list[dict[str, float]]:
    """Score every candidate with every metric; the same candidate with the same references is scored once.

    A progress bar appears if it takes more than a second.

    Args:
        metrics: prepared ones.
        candidates: n texts.
        references: for each candidate one or more texts that are not blank.

    Returns:
        For each candidate its scores by metric, 0–100.

    Raises:
        ValueError: if a candidate has no reference or a blank one.
    """
    pairs = [(candidate, tuple(texts)) for candidate, texts in zip(candidates, references, strict=True)]
    if not all(texts and all(text.strip() for text in texts) for _, texts in pairs):
        raise ValueError("every candidate needs at least one reference, and none may be blank")
    distinct = list(dict.fromkeys(pairs))
    scores: dict[tuple[str, tuple[str, ...]], dict[str, float]] = {pair: {} for pair in distinct}
    with tqdm(total=len(distinct) * len(metrics), delay=1, desc="Scoring explanations", unit="score") as bar:
        for metric in metrics:
            bar.set_postfix_str(metric.name, refresh=False)
            values = metric.score([pair[0] for pair in distinct], [pair[1] for pair in distinct], bar.update)
            for pair, value in zip(distinct, values, strict=True):
                scores[pair][metric.name] = value
    return [dict(scores[pair]) for pair in pairs]
