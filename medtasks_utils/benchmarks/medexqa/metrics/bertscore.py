"""BERTScore (Zhang et al. 2020, arXiv:1904.09675): ``bert-score``'s F1, one example at a time, as in ``evaluate``.

Each token is matched with the most similar token of the other text, by the cosine of their vectors in one layer of the
model. Precision and recall are means of these cosines, without idf weights or baseline rescaling. With more than one
reference, the highest F1 is used. The default model is SciBERT. The layer is bert-score's choice for models that it
knows, and two thirds of the layers for others, which is 8 for any copy of SciBERT. Texts are truncated to the model's
maximum length, 512 tokens for SciBERT. Each example is scored in a separate call, since in a larger batch, padding
would be preferred to a match with a negative cosine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from huggingface_hub import snapshot_download

from medtasks_utils.benchmarks.facts import Resource
from medtasks_utils.errors import MedtasksError, install, logger, reason_of

from . import DEFAULT_BERTSCORE_MODEL, ExplanationMetric

_MODEL_FILES = ["*.json", "*.txt", "*.model", "*.safetensors", "*.bin"]
"""Patterns of the files to load from a repository on the Hub: settings, tokenizer, and weights for torch."""


@dataclass(eq=False)
class BertScore(ExplanationMetric):
    """BERTScore F1 against the best reference.

    Args:
        model: a repository of the Hub, or a folder with a model and its tokenizer; SciBERT by default.
        device: ``auto`` (cuda, else mps, else cpu), or the name of a torch device.
        batch_size: maximum number of texts to embed together; they are texts of the same example.
    """

    name = "bertscore"
    model: str = DEFAULT_BERTSCORE_MODEL
    device: str = "auto"
    batch_size: int = 64

    def __post_init__(self) -> None:
        """Raise a MedtasksError if bert-score is not installed, before anything is downloaded."""
        if find_spec("bert_score") is None:
            raise MedtasksError(f"bertscore needs bert-score, which is not installed: {install('bertscore')}")

    @property
    def signature(self) -> str:
        """The model, its layer, and the settings that bert-score's own hash includes."""
        layer = _load(self.model).num_layers
        return f"bertscore|{self.model}|layer:{layer}|measure:f1|no-idf|no-rescaling|refs:best"

    def prepare(self) -> None:
        """Load the model; download it first if necessary.

        The model stays in CPU memory until explanations are scored, since the evaluated model may need the device.

        Raises:
            MedtasksError: if bert-score or the model is not available.
        """
        _load(self.model)

    def score(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
        """Score each explanation against its references on the device; if the device fails, score on the CPU."""
        import torch

        best = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
        device = best if self.device == "auto" else self.device
        try:
            self._move(device)
            return super().score(candidates, references)
        except (RuntimeError, AssertionError) as error:  # no such device, or the evaluated model fills its memory
            logger.warning("bertscore: scoring on the CPU, since %s failed (%s)", device, reason_of(error))
            self._move("cpu")
            return super().score(candidates, references)

    def of_one(self, candidate: str, references: Sequence[str]) -> float:
        """Return F1 against the best reference, 0–1."""
        _, _, f1 = _load(self.model).score([candidate], [list(references)], batch_size=self.batch_size)
        return float(f1.item())

    def _move(self, device: str) -> None:
        scorer = _load(self.model)
        scorer.device = device
        scorer._model.to(device)


@lru_cache(maxsize=1)
def _load(model: str) -> Any:
    """Load bert-score's scorer on the CPU; the last model's scorer is cached and shared by all callers.

    Raises:
        MedtasksError: if bert-score is not installed, or the model is missing or unusable.
    """
    try:
        from bert_score import BERTScorer
        from bert_score.utils import model2layers
        from transformers import AutoConfig

        folder = str(_folder(model))
        config = AutoConfig.from_pretrained(folder)
        layers = model2layers.get(model) or round(config.num_hidden_layers * 2 / 3)
        scorer = BERTScorer(model_type=folder, num_layers=layers, device="cpu")
        tokenizer = scorer._tokenizer
        if len(tokenizer) <= len(tokenizer.all_special_ids):  # transformers creates this if files are missing
            raise OSError("its tokenizer has no vocabulary")
        # SciBERT's tokenizer states no maximum length. transformers then assumes 1e30, which overflows in bert-score.
        tokenizer.model_max_length = min(tokenizer.model_max_length, config.max_position_embeddings)
    except Exception as error:  # a missing, damaged or unusual model fails in many ways, all for the user to fix
        raise MedtasksError(
            f"bertscore needs the model {model}, which cannot be loaded ({reason_of(error)}); set bertscore_model "
            "to load another"
        ) from None
    return scorer


def _folder(model: str) -> Path:
    """Return ``model`` if it is a folder, else the folder of the Hub's model in the cache; download it if necessary."""
    return Path(model if Path(model).is_dir() else snapshot_download(model, allow_patterns=_MODEL_FILES))


SCIBERT = Resource("scibert", DEFAULT_BERTSCORE_MODEL, lambda: _folder(DEFAULT_BERTSCORE_MODEL))
