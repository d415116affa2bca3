"""What makes the embedding model fast on a CPU changes neither its vectors nor what it leaves behind."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from explanations_model import LENGTH, save_model

torch: Any = pytest.importorskip("torch", reason="the embedding model needs torch")
pytest.importorskip("transformers", reason="the embedding model needs transformers")

from medtasks_utils.explanations import cpu  # noqa: E402
from medtasks_utils.explanations.encoder import Encoder  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)
    cpu.onednn_works.cache_clear()


@pytest.fixture(params=[True, False], ids=["avx512", "avx2"])
def avx512(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether AVX-512 is taken to be there; oneDNN computes the same without it."""
    monkeypatch.setattr(cpu, "has_avx512", lambda: request.param)
    return bool(request.param)


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


def without_onednn(monkeypatch: pytest.MonkeyPatch, instead: Any) -> None:
    monkeypatch.setattr(cpu, "_linear", instead)
    cpu.onednn_works.cache_clear()


def missing(*arguments: Any, **named: Any) -> Any:
    raise AttributeError("no such operator")


def refusing(*arguments: Any, **named: Any) -> Any:
    raise NotImplementedError("not on this processor")


def wrong(values: Any, weight: Any, bias: Any) -> Any:
    return values.new_zeros(*values.shape[:-1], weight.shape[0])


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("instead", [None, missing, refusing, wrong])
def test_vectors_are_those_of_each_text_alone(
    encoder: Encoder, avx512: bool, monkeypatch: pytest.MonkeyPatch, threads: int, instead: Any
) -> None:
    if instead:
        without_onednn(monkeypatch, instead)
        assert not cpu.onednn_works()
    torch.set_num_threads(threads)
    ids = texts(encoder)
    found = encoder.embed(ids, batch_size=8)
    assert torch.get_num_threads() == threads
    for vectors, text in zip(found, ids, strict=True):
        torch.testing.assert_close(vectors, alone(encoder, text), atol=1e-5, rtol=0)


def test_onednn_is_used_with_avx512_alone(encoder: Encoder, avx512: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not torch.backends.mkldnn.is_available():
        pytest.skip("torch is built without oneDNN")
    assert cpu.onednn_works()
    calls: list[int] = []
    linear = cpu._linear

    def watched(values: Any, weight: Any, bias: Any) -> Any:
        calls.append(1)
        return linear(values, weight=weight, bias=bias)

    monkeypatch.setattr(cpu, "_linear", watched)
    encoder.embed(texts(encoder, 1), batch_size=8)
    assert len(calls) >= 6 * encoder.num_layers if avx512 else not calls


@pytest.mark.parametrize("bias", [True, False])
def test_layers_are_laid_out_within_only_whatever_happens(bias: bool, avx512: bool) -> None:
    class Odd(torch.nn.Linear):  # type: ignore[misc]
        def forward(self, values: Any) -> Any:
            return -super().forward(values)

    plain, odd = torch.nn.Linear(24, 40, bias=bias), Odd(40, 8)
    model = torch.nn.Sequential(plain, odd)
    values = torch.randn(2, 3, 24)
    expected = model(values)
    with suppress(KeyError), torch.inference_mode(), cpu.onednn_linear_layers(model):
        assert ("forward" in vars(plain)) == (avx512 and cpu.onednn_works())
        assert "forward" not in vars(odd)
        torch.testing.assert_close(model(values), expected.detach(), atol=1e-5, rtol=0)
        raise KeyError
    assert "forward" not in vars(plain)
    assert torch.equal(model(values), expected)


def test_the_instructions_are_those_that_torch_names(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, expected in {"AVX512": True, "AVX512_VNNI": True, "AVX2": False, "DEFAULT": False}.items():
        monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda name=name: name)
        assert cpu.has_avx512() == expected


def test_a_map_keeps_the_order_on_threads_of_one_core_each() -> None:
    torch.set_num_threads(3)
    together = threading.Barrier(3)

    def watched(value: int) -> tuple[int, int]:
        together.wait(timeout=60)
        return value, torch.get_num_threads()

    assert cpu.map_over_cores(watched, range(6)) == [(value, 1) for value in range(6)]
    assert torch.get_num_threads() == 3
    assert cpu.map_over_cores(watched, []) == []


def test_an_error_in_a_map_comes_out_and_the_threads_are_as_before() -> None:
    torch.set_num_threads(2)
    with pytest.raises(ZeroDivisionError):
        cpu.map_over_cores(lambda value: 1 // value, [1, 0, 2])
    assert torch.get_num_threads() == 2
    seen: list[int] = []
    thread = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
    thread.start()
    thread.join()
    assert seen == [2]
