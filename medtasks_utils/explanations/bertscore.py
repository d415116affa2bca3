"""BERTScore (Zhang et al. 2020, arXiv:1904.09675): equal to ``bert-score``'s F1, sooner and with less memory.

The score is the F1 of ``bert_score.score([candidate], [references], model_type=model, num_layers=n)``: each token is
matched with the most similar one of the other text by the cosine of their vectors in layer n of the model; precision
and recall are means of these; no idf weights, no baseline rescaling; the best reference counts. The model is SciBERT,
layer 8, unless another is named. Texts are read up to the model's length, 512 tokens for SciBERT; longer ones are cut
there, counted and logged.

Each distinct text is embedded once, in batches of similar length. Embeddings are dropped after their last use, and of
those that wait for a later use only so many are kept (others are computed again), so memory does not grow with the
number of examples. bert-score pads the references of a call to the longest, and lets the padding stand in for a best
match whose cosine is negative; so it is here, for the references of one example, as if each example were a call.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from medtasks_utils.explanations.metric import DEFAULT_BERTSCORE_MODEL, MetricError, Progress, unobserved

if TYPE_CHECKING:
    from torch import Tensor

    from medtasks_utils.explanations.encoder import Encoder, Tokens

logger = logging.getLogger("lm_eval.medtasks")  # shown like the harness's own lines

_TOKENS_IN_MEMORY = 1 << 15
"""Tokens whose vectors are held at a time: 100 MB with 768 dimensions. As many again may wait for a later use."""

Pair = tuple[str, tuple[str, ...]]


class BertScore:
    """BERTScore F1, the best over the references.

    Args:
        model: a hub repository, or a folder with a model and its tokenizer; SciBERT by default.
        num_layers: the layer whose vectors are compared; by default bert-score's choice for a model that it knows, else
            two thirds of the model's layers, which for SciBERT is the same.
        device: ``auto`` (cuda, else mps, else cpu), or a device of torch.
        batch_size: how many texts are embedded at once, at most.
    """

    name = "bertscore"

    def __init__(
        self,
        model: str = DEFAULT_BERTSCORE_MODEL,
        *,
        num_layers: int | None = None,
        device: str = "auto",
        batch_size: int = 64,
    ) -> None:
        self.model = model
        self.num_layers = num_layers
        self.device = device
        self.batch_size = batch_size

    @property
    def signature(self) -> str:
        """The model, its layer, and what bert-score's own hash says of idf weights and rescaling."""
        return f"bertscore|{self.model}|layer:{self._encoder().num_layers}|measure:f1|no-idf|no-rescaling|refs:best"

    def prepare(self) -> None:
        """Load the model, and fetch it first if need be.

        It stays in the CPU's memory: the device, with the model under test on it, is used while scoring only.

        Raises:
            MetricError: if torch, transformers, the model or the device is not to be had.
        """
        self._encoder()
        self._check_device()

    def score(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]], progress: Progress = unobserved
    ) -> list[float]:
        """See :class:`~medtasks_utils.explanations.metric.Metric`."""
        import torch

        encoder = self._encoder()
        pairs = [(candidate, tuple(texts)) for candidate, texts in zip(candidates, references, strict=True)]
        done = 0

        def count(more: int) -> None:
            nonlocal done
            done += more
            progress(more)

        try:
            encoder.model.to(self._device())
            return self._score(encoder, pairs, count)
        except torch.cuda.OutOfMemoryError:  # the model under test may have left no room
            if self.device != "auto":
                raise MetricError(
                    f"bertscore: {self.device} has too little memory left: lower bertscore_batch_size (now "
                    f"{self.batch_size}), or set bertscore_device to cpu"
                ) from None
        finally:
            encoder.model.to("cpu")
            torch.cuda.empty_cache()
        logger.warning("bertscore: the GPU has too little memory left; scoring on the CPU")
        progress(-done)
        return self._score(encoder, pairs, progress)

    def _score(self, encoder: Encoder, pairs: Sequence[Pair], progress: Progress) -> list[float]:
        uses = Counter(text for pair in pairs for text in _texts(pair))
        cut: set[str] = set()
        vectors: dict[str, Tensor] = {}
        weights: dict[str, Tensor] = {}
        scores: list[float] = []
        for chunk, tokens in _chunks(encoder, pairs, vectors):
            for text, new in zip(tokens, encoder.embed([t.ids for t in tokens.values()], self.batch_size), strict=True):
                vectors[text] = new
                weights[text] = new.new_tensor([float(token not in encoder.special) for token in tokens[text].ids])
            cut.update(text for text, read in tokens.items() if read.cut)
            scores += _f1_of_pairs(chunk, vectors, weights)
            for pair in chunk:
                uses.subtract(_texts(pair))
            _forget(vectors, weights, uses)
            progress(len(chunk))
        if cut:
            logger.warning(
                "bertscore: %d of %d texts are longer than %d tokens; the rest of them is not compared",
                len(cut),
                len(uses),
                encoder.limit,
            )
        return scores

    def _encoder(self) -> Encoder:
        try:
            from medtasks_utils.explanations.encoder import load_encoder
        except ImportError as error:
            raise MetricError(
                f"bertscore needs torch and transformers ({error}): run `pip install torch transformers`, "
                "or leave bertscore out of explanation_metrics"
            ) from None
        return load_encoder(self.model, self.num_layers)

    def _check_device(self) -> None:
        import torch

        if self.device == "auto":
            return
        try:
            device = torch.device(self.device)
        except RuntimeError:
            raise MetricError(f"bertscore_device {self.device!r} is no device: auto, cuda, mps or cpu") from None
        # device_count asks the driver; is_available would start CUDA, and the model under test could not fork any more.
        there = {"cuda": torch.cuda.device_count() > (device.index or 0), "mps": torch.backends.mps.is_available()}
        if not there.get(device.type, True):
            raise MetricError(f"bertscore_device {self.device!r} is not there; auto takes what there is")

    def _device(self) -> Any:
        import torch

        if self.device != "auto":
            return torch.device(self.device)
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def _texts(pair: Pair) -> tuple[str, ...]:
    """The texts of a pair that have to be embedded: none if the candidate is blank, since that scores 0."""
    candidate, references = pair
    return (candidate, *references) if candidate.strip() else ()


def _chunks(
    encoder: Encoder, pairs: Sequence[Pair], embedded: dict[str, Tensor]
) -> Iterator[tuple[Sequence[Pair], dict[str, Tokens]]]:
    """Runs of pairs that fit into memory together, each with the tokens of its texts that are not embedded yet."""
    tokens: dict[str, Tokens] = {}
    start = size = 0
    for end, pair in enumerate(pairs, 1):
        for text in _texts(pair):
            if text not in embedded and text not in tokens:
                tokens[text] = encoder.tokenize(text)
                size += len(tokens[text].ids)
        if size >= _TOKENS_IN_MEMORY or end == len(pairs):
            yield pairs[start:end], tokens
            tokens, size, start = {}, 0, end


def _forget(vectors: dict[str, Tensor], weights: dict[str, Tensor], uses: Counter[str]) -> None:
    """Drop what is not needed any more; then the oldest, if too much waits for a later use."""
    for text in [text for text in vectors if not uses[text]]:
        del vectors[text], weights[text]
    waiting = sum(map(len, vectors.values()))
    for text in list(vectors):
        if waiting <= _TOKENS_IN_MEMORY:
            break
        waiting -= len(vectors.pop(text))
        del weights[text]


def _f1_of_pairs(pairs: Sequence[Pair], vectors: dict[str, Tensor], weights: dict[str, Tensor]) -> list[float]:
    """The best F1, 0–100, of each pair."""
    import torch

    matches = []
    for candidate, references in pairs:
        longest = max(len(vectors[text]) for text in references) if candidate.strip() else 0
        for text in references if longest else ():
            matched = vectors[candidate], vectors[text], weights[candidate], weights[text]
            matches.append(_precision_and_recall(*matched, padded=len(vectors[text]) < longest))
    if not matches:
        return [0.0] * len(pairs)
    precision, recall = torch.stack(matches).cpu().unbind(dim=1)  # one transfer from the device for all pairs
    # Where no token has a weight, as in a text of special tokens alone, the mean is 0/0, and bert-score's F1 is 0.
    f1 = iter((2 * precision * recall / (precision + recall)).nan_to_num(0.0).tolist())
    return [100 * max(next(f1) for _ in references) if candidate.strip() else 0.0 for candidate, references in pairs]


def _precision_and_recall(
    candidate: Tensor, reference: Tensor, candidate_weights: Tensor, weights: Tensor, *, padded: bool
) -> Tensor:
    """Weighted means of the best cosines of the candidate's tokens and of the reference's: a tensor of these two."""
    import torch

    cosines = candidate @ reference.T
    best = cosines.amax(dim=1)
    if padded:
        best = best.clamp(min=0.0)
    precision = (best * candidate_weights).sum() / candidate_weights.sum()
    recall = (cosines.amax(dim=0) * weights).sum() / weights.sum()
    return torch.stack((precision, recall))
