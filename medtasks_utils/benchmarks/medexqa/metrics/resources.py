"""What the metrics need besides packages, each fetched into the cache where a run finds it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import nltk
from huggingface_hub import snapshot_download

from medtasks_utils.benchmarks.base import Resource
from medtasks_utils.benchmarks.medexqa.metrics import DEFAULT_BERTSCORE_MODEL
from medtasks_utils.benchmarks.medexqa.metrics.bertscore import MODEL_FILES, BertScore
from medtasks_utils.benchmarks.medexqa.metrics.nltk_data import PUNKT, WORDNET, Package, load


def _nltk_data(package: Package) -> Path:
    load(package)
    for place in package.places:
        try:
            return Path(str(nltk.data.find(place)))
        except LookupError:
            continue
    raise AssertionError(f"{package.name} was loaded")


def _scibert() -> Path:
    """BERTScore's default model; without bert-score, its files alone."""
    folder = Path(snapshot_download(DEFAULT_BERTSCORE_MODEL, allow_patterns=list(MODEL_FILES)))
    if importlib.util.find_spec("bert_score"):
        BertScore().prepare()
    return folder


RESOURCES = (
    Resource("wordnet", "NLTK's wordnet", lambda: _nltk_data(WORDNET)),
    Resource("punkt_tab", "NLTK's punkt_tab", lambda: _nltk_data(PUNKT)),
    Resource("scibert", DEFAULT_BERTSCORE_MODEL, _scibert),
)
