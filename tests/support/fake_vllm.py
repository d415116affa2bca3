"""lm_eval's own vLLM class over an engine that says what it is told, in the form of vLLM's outputs."""

import importlib
import importlib.metadata
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from lm_eval.api.model import LM


@dataclass
class CompletionOutput:
    """As vllm/outputs.py has it: ``finish_reason`` is stop, length, abort, error or repetition; None if unfinished."""

    index: int
    text: str
    token_ids: list[int]
    finish_reason: str | None
    stop_reason: int | str | None = None
    cumulative_logprob: float | None = None
    logprobs: Any = None


@dataclass
class RequestOutput:
    request_id: str
    prompt: str | None
    prompt_token_ids: list[int]
    outputs: list[CompletionOutput]
    prompt_logprobs: Any = None
    finished: bool = True
    metrics: Any = None


class SamplingParams(SimpleNamespace):
    pass


Generated = tuple[str, int, str | None]
"""The text, how many tokens it has, and the finish reason."""


class LLM:
    """Answers by a function of the prompt's text and the sampling parameters; log-likelihoods prefer what is short."""

    def __init__(self, tokenizer: Any, answer: Callable[[str, Any], Generated]) -> None:
        self._tokenizer, self._answer = tokenizer, answer
        self.prompts: list[list[int]] = []

    def generate(self, prompts: list[dict[str, list[int]]], sampling_params: list[Any], **_: Any) -> list[Any]:
        outputs = []
        for number, (prompt, parameters) in enumerate(zip(prompts, sampling_params, strict=True)):
            tokens = prompt["prompt_token_ids"]
            self.prompts.append(tokens)
            if getattr(parameters, "prompt_logprobs", None):
                ranks = [None, *({token: SimpleNamespace(logprob=-1.0, rank=1)} for token in tokens[1:])]
                generated = [CompletionOutput(0, "", [0], "length")]
                outputs.append(RequestOutput(str(number), None, tokens, generated, ranks))
                continue
            text, count, reason = self._answer(self._tokenizer.decode(tokens), parameters)
            generated = [CompletionOutput(0, text, list(range(count)), reason)]
            outputs.append(RequestOutput(str(number), None, tokens, generated))
        return outputs


def vllm_model(
    monkeypatch: pytest.MonkeyPatch, folder: str, answer: Callable[[str, Any], Generated], max_length: int
) -> Any:
    """lm_eval's ``vllm`` model with the tokenizer of a folder."""
    modules: dict[str, dict[str, Any]] = {
        "vllm": {"LLM": LLM, "SamplingParams": SamplingParams, "TokensPrompt": dict},
        "vllm.lora.request": {"LoRARequest": object},
        "vllm.renderers.hf": {"resolve_chat_template": None},
        "vllm.tokenizers": {"get_tokenizer": None},
    }
    for name, contents in modules.items():
        module = ModuleType(name)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, name, module)
    from transformers import AutoTokenizer

    version = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.32.0" if name == "vllm" else version(name))
    kind = importlib.import_module("lm_eval.models.vllm_causallms").VLLM
    monkeypatch.delitem(sys.modules, "lm_eval.models.vllm_causallms")
    model = kind.__new__(kind)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    LM.__init__(model)
    vars(model).update(
        tokenizer=tokenizer, model=LLM(tokenizer, answer), batch_size="auto", data_parallel_size=1, lora_request=None,
        think_end_token=None, add_bos_token=False, truncation_side="left", _max_length=max_length, _max_gen_toks=256,
        custom_prefix_token_id=None, hf_chat_template=None, enable_thinking=True, chat_template_args={}, model_args={},
    )  # fmt: skip
    return model
