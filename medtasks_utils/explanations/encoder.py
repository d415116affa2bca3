"""A BERT-like model as BERTScore uses it: text in, a unit vector for each token out. Needs torch and transformers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import torch
import transformers
from huggingface_hub import constants, snapshot_download
from huggingface_hub.errors import HFValidationError
from torch import Tensor

from medtasks_utils.explanations import MODEL_FILES
from medtasks_utils.explanations.metric import MetricError

logger = logging.getLogger("lm_eval.medtasks")  # shown like the harness's own lines

TUNED_LAYERS = {
    "scibert_scivocab_uncased": 8,
    "scibert_scivocab_cased": 9,
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "roberta-base": 10,
    "roberta-large": 17,
    "deberta-xlarge-mnli": 40,
}
"""The layer whose vectors agree best with human judgement, where bert-score 0.3.13 names one."""

_USUAL_LENGTH = 512
_TOKENS_AT_ONCE_ON_CPU = 512
"""Few enough that a batch's activations stay in a core's cache, enough that its weights are read seldom."""


class Tokens(NamedTuple):
    """One text as the model reads it.

    Attributes:
        ids: token ids with the special ones, cut to the model's length.
        cut: whether the text is longer than that.
    """

    ids: list[int]
    cut: bool


def layers_of(model: str, depth: int) -> int:
    """The layer to use: the tuned one, else two thirds of the depth, which is 8 for any copy of SciBERT."""
    return TUNED_LAYERS.get(Path(model).name, round(depth * 2 / 3))


class Encoder:
    """A model cut off after the layer to use, on the CPU until it is moved.

    Args:
        model: a hub repository, or a folder with a model and its tokenizer.
        num_layers: how many layers to use; by default :func:`layers_of`.

    Attributes:
        limit: the most tokens of a text that are read.
        special: ids of the tokens that carry no weight in BERTScore.

    Raises:
        MetricError: if the model cannot be had, read or used.
    """

    def __init__(self, model: str, num_layers: int | None = None) -> None:
        try:
            config, self.tokenizer, self.model, report, depth = _load(model, num_layers)
        except Exception as error:  # a missing, damaged or odd model fails in many ways, all of them the user's to mend
            raise MetricError(
                f"bertscore: the model {model!r} cannot be loaded ({_first_line(error)}): fetch it once where there is "
                "internet (`medtasks fetch --only scibert`), name another or a folder with bertscore_model, or leave "
                "bertscore out of explanation_metrics"
            ) from None
        self.num_layers = int(config.num_hidden_layers)
        missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)
        if config.is_encoder_decoder or missing or not 0 < self.num_layers <= depth:
            raise MetricError(
                f"bertscore: the model {model!r} is no encoder with weights for {self.num_layers} of {depth} layers"
                + (f" (for instance {missing[0]} is missing)" if missing else "")
            )
        self.model.eval().float()
        self.special = {self.tokenizer.cls_token_id, self.tokenizer.sep_token_id}
        # SciBERT's tokenizer names no length, which transformers reads as 1e30.
        longest = getattr(config, "max_position_embeddings", _USUAL_LENGTH)
        stated = self.tokenizer.model_max_length
        self.limit = min(stated, longest) if stated < 1e9 else min(_USUAL_LENGTH, longest)

    def tokenize(self, text: str) -> Tokens:
        """The text's tokens; what a text cannot hold in UTF-8 is replaced."""
        text = text.strip().encode("utf-8", "replace").decode("utf-8")
        ids: list[int] = self.tokenizer.encode(text, verbose=False)
        if len(ids) <= self.limit:
            return Tokens(ids, cut=False)
        return Tokens(self.tokenizer.encode(text, truncation=True, max_length=self.limit), cut=True)

    def embed(self, texts: Sequence[Sequence[int]], batch_size: int) -> list[Tensor]:
        """Vectors of length 1 for each text's tokens.

        Args:
            texts: token ids.
            batch_size: the most texts at once. On a CPU there are fewer, as many as its caches like.

        Returns:
            For each text a tensor (tokens, dimensions) on the model's device.
        """
        lengths = [len(ids) for ids in texts]
        if self.model.device.type == "cpu":
            # Some batches for each core, so that all have work to the end.
            budget = min(_TOKENS_AT_ONCE_ON_CPU, sum(lengths) // (4 * torch.get_num_threads()))
            made = list(batches(lengths, batch_size, budget))
            vectors = map_over_cores(self._forward, [[texts[index] for index in batch] for batch in made])
        else:
            made = list(batches(lengths, batch_size))
            vectors = [self._forward([texts[index] for index in batch]) for batch in made]
        embedded = dict(zip(chain(*made), chain(*vectors), strict=True))
        return [embedded[index] for index in range(len(texts))]

    def _forward(self, texts: Sequence[Sequence[int]]) -> list[Tensor]:
        longest = max(map(len, texts))
        padding = self.tokenizer.pad_token_id or 0
        ids = torch.tensor([[*ids, *[padding] * (longest - len(ids))] for ids in texts])
        mask = torch.tensor([[1] * len(ids) + [0] * (longest - len(ids)) for ids in texts])
        device = self.model.device
        with torch.inference_mode():
            states = self.model(input_ids=ids.to(device), attention_mask=mask.to(device)).last_hidden_state
            states = states / torch.linalg.vector_norm(states, dim=-1, keepdim=True)
            # Copies, so that no text keeps its whole batch in memory.
            return [states[row, : len(ids)].clone() for row, ids in enumerate(texts)]


_In = TypeVar("_In")
_Out = TypeVar("_Out")


@lru_cache(maxsize=1)
def load_encoder(model: str, num_layers: int | None = None) -> Encoder:
    """The encoder, shared by all who ask for the same one; see :class:`Encoder`."""
    return Encoder(model, num_layers)


def batches(lengths: Sequence[int], batch_size: int, budget: int | None = None) -> Iterator[list[int]]:
    """Indices of texts in batches, longest first: of similar length, so that little is padding.

    Args:
        lengths: tokens of each text.
        batch_size: the most texts in a batch.
        budget: the most tokens in a batch, padding included, unless one text alone has more.
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True)
    start = 0
    while start < len(order):
        size = batch_size if budget is None else min(batch_size, max(budget // lengths[order[start]], 1))
        yield order[start : start + size]
        start += size


def map_over_cores(function: Callable[[_In], _Out], inputs: Iterable[_In]) -> list[_Out]:
    """The function's values, computed with as many of torch's threads as there are, each on inputs of its own.

    The threads of one operation wait for one another at its end, so for the slowest of them, which on a machine that
    has other work to do is slow. These wait once, at the end of all.
    """
    cores = torch.get_num_threads()
    try:
        with ThreadPoolExecutor(cores, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            return list(pool.map(function, inputs))
    finally:
        torch.set_num_threads(cores)  # the call above is for the calling thread, but also for those made after it


_Loaded = tuple[Any, Any, Any, dict[str, Any], int]
"""Configuration, tokenizer, model, what of it was missing, and how many layers it has in all."""


def _load(model: str, num_layers: int | None) -> _Loaded:
    """Load a folder, else what the hub's cache has, else from the hub."""

    def load(source: str) -> _Loaded:
        config = transformers.AutoConfig.from_pretrained(source)
        depth = int(config.num_hidden_layers)
        # The layers above are never built.
        config.num_hidden_layers = layers_of(model, depth) if num_layers is None else num_layers
        tokenizer = transformers.AutoTokenizer.from_pretrained(source)
        if len(tokenizer) <= len(tokenizer.all_special_ids):  # as transformers makes one where its files are missing
            raise OSError("its tokenizer has no vocabulary")
        encoder, report = transformers.AutoModel.from_pretrained(source, config=config, output_loading_info=True)
        return config, tokenizer, encoder, report, depth

    with _quiet():
        if Path(model).is_dir():
            return load(model)
        try:
            # By its folder, since by its name the hub is asked even so, and without internet takes minutes to fail.
            return load(snapshot_download(model, local_files_only=True, allow_patterns=list(MODEL_FILES)))
        except HFValidationError:
            raise
        except Exception:
            if constants.HF_HUB_OFFLINE:
                raise OSError("it is not in the hub's cache, and HF_HUB_OFFLINE forbids to fetch it") from None
        logger.warning("bertscore: fetching the model %s from the Hugging Face hub (SciBERT: 440 MB)", model)
        return load(model)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers from reporting the layers that are left out on purpose."""
    before = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity_error()
    try:
        yield
    finally:
        transformers.logging.set_verbosity(before)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
