"""A small random Llama with a byte-level tokenizer and a chat template, saved as the hub has its models."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any


def new_llama(folder: Path, texts: Iterable[str], vocabulary: int = 300, **configuration: Any) -> tuple[Any, Any]:
    """The tokenizer, which has seen the texts and is saved, and the model, which is not."""
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    special = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
    learning = ByteLevelBPETokenizer()
    learning.train_from_iterator(texts, vocabulary, special_tokens=[*special.values()], show_progress=False)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=learning._tokenizer, **special)
    turns = "{% for m in messages %}<{{m.role}}>{{m.content}}{% endfor %}"
    tokenizer.chat_template = turns + "{% if add_generation_prompt %}<assistant>{% endif %}"
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    shape = LlamaConfig(
        vocab_size=len(tokenizer), num_attention_heads=4, eos_token_id=tokenizer.eos_token_id, **configuration
    )
    return tokenizer, LlamaForCausalLM(shape)
