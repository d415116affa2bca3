"""What makes the embedding model fast changes neither its vectors nor what it leaves behind."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from explanations_model import LENGTH, save_model

torch: Any = pytest.importorskip("torch", reason="the embedding model needs torch")
pytest.importorskip("transformers", reason="the embedding model needs transformers")

from medtasks_utils.explanations.encoder import Encoder, map_over_cores  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return Encoder(str(save_model(tmp_path_factory.mktemp("model"))))


def texts(encoder: Encoder, count: int = 40) -> list[list[int]]:
    """Token ids of random texts of 3 to as many tokens as the model reads."""
    rng = random.Random(0)
    ordinary = [i for i in range(len(encoder.tokenizer)) if i not in encoder.tokenizer.all_special_ids]
    cls, sep = encoder.tokenizer.cls_token_id, encoder.tokenizer.sep_token_id
    return [[cls, *rng.choices(ordinary, k=rng.randint(1, LENGTH - 2)), sep] for _ in range(count)]


def alone(encoder: Encoder, ids: list[int]) -> Any:
    """The vectors of one text by transformers alone."""
    with torch.inference_mode():
        states = encoder.model(torch.tensor([ids])).last_hidden_state[0]
    return torch.nn.functional.normalize(states, dim=-1)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_vectors_are_those_of_each_text_alone(encoder: Encoder, threads: int) -> None:
    torch.set_num_threads(threads)
    ids = texts(encoder)
    found = encoder.embed(ids, batch_size=8)
    assert torch.get_num_threads() == threads
    for vectors, text in zip(found, ids, strict=True):
        torch.testing.assert_close(vectors, alone(encoder, text), atol=1e-5, rtol=0)


def test_a_map_keeps_the_order_on_threads_of_one_core_each() -> None:
    torch.set_num_threads(3)
    together = threading.Barrier(3)

    def watched(value: int) -> tuple[int, int]:
        together.wait(timeout=60)
        return value, torch.get_num_threads()

    assert map_over_cores(watched, range(6)) == [(value, 1) for value in range(6)]
    assert torch.get_num_threads() == 3
    assert map_over_cores(watched, []) == []


def test_an_error_in_a_map_comes_out_and_the_threads_are_as_before() -> None:
    torch.set_num_threads(2)
    with pytest.raises(ZeroDivisionError):
        map_over_cores(lambda value: 1 // value, [1, 0, 2])
    assert torch.get_num_threads() == 2
    seen: list[int] = []
    thread = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
    thread.start()
    thread.join()
    assert seen == [2]
