"""What makes a model fast on a CPU: oneDNN's linear layers, and a batch for each core. Needs torch.

Linear layers take more than eight tenths of a BERT's time. With AVX-512, oneDNN does a tenth more per second than the
routine of MKL that torch picks for 32-bit floats, and adds the bias without a pass of its own; with AVX2 it does a
tenth less. torch has oneDNN's operators for its compiler and does not document them. So they are used with AVX-512
alone, and tried first; where one is missing or wrong, layers stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import TypeVar

import torch
from torch import Tensor, nn

_In = TypeVar("_In")
_Out = TypeVar("_Out")


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


@contextmanager
def onednn_linear_layers(model: nn.Module) -> Iterator[None]:
    """Within it, the linear layers of a 32-bit model use a copy of their weights, laid out for oneDNN, if that pays."""
    pays = has_avx512() and onednn_works()
    layers = [layer for layer in model.modules() if type(layer) is nn.Linear] if pays else []
    try:
        for layer in layers:
            layer.forward = partial(_linear, weight=_laid_out(layer.weight), bias=layer.bias)
        yield
    finally:
        for layer in layers:
            vars(layer).pop("forward", None)


def has_avx512() -> bool:
    """Whether torch computes with AVX-512."""
    return str(torch.backends.cpu.get_cpu_capability()).startswith("AVX512")


@lru_cache(maxsize=1)
def onednn_works() -> bool:
    """Whether torch's operators for oneDNN are there and agree with its linear layer."""
    values = torch.linspace(-1, 1, 5 * 64).view(5, 64)
    weight = torch.linspace(1, -1, 48 * 64).view(48, 64).sin()
    bias = torch.ones(48)
    try:
        with torch.inference_mode():
            found = _linear(values, _laid_out(weight), bias)
    except (AttributeError, RuntimeError):
        return False
    return bool(torch.allclose(found, nn.functional.linear(values, weight, bias), atol=1e-5))


def _laid_out(weight: Tensor) -> Tensor:
    return torch.ops.mkldnn._reorder_linear_weight(weight.detach(), None)


def _linear(values: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return torch.ops.mkldnn._linear_pointwise(values, weight, bias, "none", [], "")  # no activation after it
