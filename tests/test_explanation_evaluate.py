"""The metrics against Hugging Face ``evaluate``, from which the score was defined, one example at a time.

``evaluate`` fetches the code of its metrics when they are loaded, so this runs in CI alone (``-m online``).
``EVALUATE_METRICS`` names a folder with that code (``metrics/`` of its repository) for a machine without internet.
"""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from explanations_model import save_model
from test_explanation_metrics import PAIRS, split

from medtasks_utils.benchmarks.medexqa.metrics import make_metrics
from medtasks_utils.benchmarks.tables import read_rows
from medtasks_utils.harness.sources import SAMPLE

pytestmark = pytest.mark.online
FOLDER = os.environ.get("EVALUATE_METRICS", "")
COLUMNS = ("question", "a", "b", "c", "d", "explanation_1", "explanation_2", "answer")


def defined(name: str, candidates: list[str], references: list[Any], **settings: Any) -> list[float]:
    import evaluate

    metric = evaluate.load(os.path.join(FOLDER, name.lower()))
    key = {"bertscore": "f1", "rouge": "rougeL"}.get(name, name)
    found = []
    for text, texts in zip(candidates, references, strict=True):
        value = metric.compute(predictions=[text], references=[list(texts)], **settings)[key]
        found.append(100 * (value[0] if isinstance(value, list) else value))
    return found


@pytest.mark.parametrize("name", ["rougeL", "bleu", "meteor", "bertscore"])
def test_a_metric_equals_evaluates(name: str, tmp_path: Path) -> None:
    rows = [row for path in SAMPLE.glob("medexqa/test/*.tsv") for row in read_rows(path, COLUMNS)]
    texts = [(row["explanation_1"], (row["explanation_2"],)) for row in rows]
    mixed = [(f"{one['explanation_1']} {two['question']}", (one["explanation_1"], one["explanation_2"]))
             for one, two in pairwise(rows)]  # fmt: skip
    # evaluate fails on a text without any word in METEOR and BERTScore, which the environment scored 0.
    candidates, references = split([*texts, *mixed, *(pair for pair in PAIRS if len(pair[0]) < 9_000)])
    settings: dict[str, Any] = {}
    if name == "bertscore":  # the layers of SciBERT are for SciBERT; padding in a batch is for a batch
        model = str(save_model(tmp_path / "model", model_max_length=64))
        settings = {"model_type": model, "num_layers": 2}
    (metric,) = make_metrics([name], bertscore_model=settings.get("model_type", "none"))
    metric.prepare()
    expected = defined(name.removesuffix("L"), candidates, references, **settings)
    assert metric.score(candidates, references) == pytest.approx(expected, abs=1e-6)
    assert max(expected) - min(expected) > 10
