"""Provide lm_eval's vLLM class with a fake engine, whose outputs have vLLM's form."""

import importlib.metadata
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from lm_eval.api.model import LM
from lm_eval.api.registry import get_model

Generated = tuple[str, int, str | None]
"""A text, its number of tokens, and why it ended (stop, length, abort, error or repetition; None if it did not)."""


class LLM:
    """A fake engine, which answers by a function of the prompt's text and the sampling parameters."""

    def __init__(self, tokenizer: Any, answer: Callable[[str, Any], Generated]) -> None:
        self._tokenizer, self._answer = tokenizer, answer
        self.prompts: list[list[int]] = []

    def generate(self, prompts: list[dict[str, list[int]]], sampling_params: list[Any], **_: Any) -> list[Any]:
        """Return outputs like those of ``vllm/outputs.py``, as far as they are read."""
        outputs = []
        for prompt, parameters in zip(prompts, sampling_params, strict=True):
            tokens = prompt["prompt_token_ids"]
            self.prompts.append(tokens)
            text, count, reason = self._answer(self._tokenizer.decode(tokens), parameters)
            generated = SimpleNamespace(text=text, token_ids=[0] * count, finish_reason=reason)
            logprobs = [None, *({token: -1.0 - token} for token in tokens[1:])]
            outputs.append(SimpleNamespace(outputs=[generated], prompt_token_ids=tokens, prompt_logprobs=logprobs))
        return outputs


def vllm_model(
    monkeypatch: pytest.MonkeyPatch, folder: str, answer: Callable[[str, Any], Generated], max_length: int
) -> Any:
    """Return lm_eval's ``vllm`` model with the tokenizer of a folder."""
    modules: dict[str, dict[str, Any]] = {
        "vllm": {"LLM": LLM, "SamplingParams": SimpleNamespace, "TokensPrompt": dict},
        "vllm.lora.request": {"LoRARequest": object},
        "vllm.renderers.hf": {"resolve_chat_template": None},
        "vllm.tokenizers": {"get_tokenizer": None},
    }
    for name, contents in modules.items():
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(**contents))
    from transformers import AutoTokenizer

    version = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.32.0" if name == "vllm" else version(name))
    kind = get_model("vllm")  # which imports it once
    monkeypatch.delitem(sys.modules, "lm_eval.models.vllm_causallms", raising=False)
    model = kind.__new__(kind)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    LM.__init__(model)
    vars(model).update(
        tokenizer=tokenizer, model=LLM(tokenizer, answer), batch_size="auto", data_parallel_size=1, lora_request=None,
        think_end_token=None, add_bos_token=False, truncation_side="left", _max_length=max_length, _max_gen_toks=256,
        custom_prefix_token_id=None, hf_chat_template=None, enable_thinking=True, chat_template_args={}, model_args={},
    )  # fmt: skip
    return model
