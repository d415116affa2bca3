"""Provide a tokenizer with a token for each character, in the place of those of transformers."""

import sys
from types import SimpleNamespace

import pytest


class Characters:
    """A tokenizer whose texts begin with the token 0 if ``begins`` is set."""

    bos_token_id = eos_token_id = 0
    pad_token = "."
    chat_template = None
    begins = False

    def __call__(self, texts, add_special_tokens=True, **settings):
        if isinstance(texts, str):
            return SimpleNamespace(input_ids=[0] * (self.begins and add_special_tokens) + [*map(ord, texts)])
        return SimpleNamespace(input_ids=[self(text, add_special_tokens).input_ids for text in texts])


@pytest.fixture
def characters(monkeypatch: pytest.MonkeyPatch) -> Characters:
    tokenizer = Characters()
    loading = SimpleNamespace(from_pretrained=lambda name, **settings: tokenizer)
    monkeypatch.setitem(sys.modules, "transformers", SimpleNamespace(AutoTokenizer=loading))
    return tokenizer
