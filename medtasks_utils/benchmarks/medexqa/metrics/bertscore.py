"""BERTScore (Zhang et al. 2020, arXiv:1904.09675): ``bert-score``'s F1, one example at a time, as ``evaluate`` has it.

Each token is matched with the most similar one of the other text by the cosine of their vectors in a layer of the
model; precision and recall are means of these; no idf weights, no baseline rescaling; the best reference counts. The
model is SciBERT unless another is named, and the layer bert-score's choice for a model that it knows, else two thirds
up, which is 8 for any copy of SciBERT. Texts are read up to the model's length, 512 tokens for SciBERT, and longer ones
are cut there. Of several examples in one call bert-score lets padding stand in for a best match whose cosine is
negative, so each has a call of its own.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from huggingface_hub import snapshot_download

from medtasks_utils.benchmarks.base import Resource
from medtasks_utils.errors import MedtasksError, logger, reason_of

from . import DEFAULT_BERTSCORE_MODEL, Metric

_MODEL_FILES = ["*.json", "*.txt", "*.model", "*.safetensors", "*.bin"]
"""Files of a hub repository that a model is loaded from: settings, tokenizer, and weights in torch's formats."""

_USUAL_LENGTH = 512
_WITHOUT = "or leave bertscore out of explanation_metrics"


class BertScore(Metric):
    """BERTScore F1, the best over the references.

    Args:
        model: a hub repository, or a folder with a model and its tokenizer; SciBERT by default.
        device: ``auto`` (cuda, else mps, else cpu), or a device of torch.
        batch_size: how many of an example's texts are embedded at once, at most.
    """

    name = "bertscore"

    def __init__(self, model: str = DEFAULT_BERTSCORE_MODEL, *, device: str = "auto", batch_size: int = 64) -> None:
        self.model = model
        self.device = device
        self.batch_size = batch_size

    @property
    def signature(self) -> str:
        """The model, its layer, and what bert-score's own hash says of idf weights and rescaling."""
        layer = _load(self.model).num_layers
        return f"bertscore|{self.model}|layer:{layer}|measure:f1|no-idf|no-rescaling|refs:best"

    def prepare(self) -> None:
        """Load the model, and fetch it first if need be.

        It stays in the CPU's memory: the device, with the model under test on it, is used while scoring only.

        Raises:
            MedtasksError: if bert-score or the model is not to be had.
        """
        _load(self.model)

    def score(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
        """See :class:`Metric`; the model is on the device meanwhile, or on the CPU where that fails."""
        import torch

        best = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
        device = best if self.device == "auto" else self.device
        try:
            self._move(device)
            return super().score(candidates, references)
        except (RuntimeError, AssertionError) as error:  # no such device, or the model under test has left no room
            logger.warning("bertscore: scored on the CPU, since %s fails (%s)", device, reason_of(error))
            self._move("cpu")
            return super().score(candidates, references)
        finally:
            self._move("cpu")
            torch.cuda.empty_cache()

    def of_one(self, candidate: str, references: Sequence[str]) -> float:
        """F1 on the best reference."""
        _, _, f1 = _load(self.model).score([candidate], [list(references)], batch_size=self.batch_size)
        return float(f1.item())

    def _move(self, device: str) -> None:
        scorer = _load(self.model)
        scorer.device = device
        scorer._model.to(device)


@lru_cache(maxsize=1)
def _load(model: str) -> Any:
    """bert-score's scorer, on the CPU, shared by all who ask for the same one.

    Raises:
        MedtasksError: if bert-score is not installed, or the model cannot be had, read or used.
    """
    try:
        from bert_score import BERTScorer
        from bert_score.utils import model2layers
        from transformers import AutoConfig
    except ImportError as error:
        raise MedtasksError(
            f"bertscore needs bert-score ({error}): pip install 'medtasks[bertscore]', {_WITHOUT}"
        ) from None
    try:
        folder = str(_folder(model))
        config = AutoConfig.from_pretrained(folder)
        layers = model2layers.get(model) or round(config.num_hidden_layers * 2 / 3)
        scorer = BERTScorer(model_type=folder, num_layers=layers, device="cpu")
        tokenizer = scorer._tokenizer
        if len(tokenizer) <= len(tokenizer.all_special_ids):  # as transformers makes one where its files are missing
            raise OSError("its tokenizer has no vocabulary")
    except Exception as error:  # a missing, damaged or odd model fails in many ways, all of them the user's to mend
        raise MedtasksError(
            f"bertscore: the model {model!r} cannot be loaded ({reason_of(error)}): fetch it once where there is "
            f"internet (`medtasks fetch --only scibert`), name another or a folder with bertscore_model, {_WITHOUT}"
        ) from None
    # SciBERT's names no length, which transformers reads as 1e30 and bert-score cannot bear.
    positions = getattr(config, "max_position_embeddings", _USUAL_LENGTH)
    tokenizer.model_max_length = min(tokenizer.model_max_length, positions)
    return scorer


def _folder(model: str) -> Path:
    """The folder of a model: it itself, else the hub's cache, into which it is fetched if need be."""
    return Path(model if Path(model).is_dir() else snapshot_download(model, allow_patterns=_MODEL_FILES))


SCIBERT = Resource("scibert", DEFAULT_BERTSCORE_MODEL, lambda: _folder(DEFAULT_BERTSCORE_MODEL))
