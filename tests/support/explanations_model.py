"""A BERT of a few thousand random weights with a WordPiece tokenizer, saved as the hub has its models."""

import json
import string
from pathlib import Path

TEXT = "the heart pumps blood and drug treats a sick man his doctor was quick rapid pulse artery ill ness s ed ing"
LENGTH = 64


def save_model(folder: Path, *, model_max_length: int | None = None, positions: int = LENGTH) -> Path:
    """Save it; without ``model_max_length`` its tokenizer names none, as SciBERT's."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    letters = string.ascii_lowercase + string.digits + string.punctuation + "éüß心脏сердце"
    words = TEXT.split()
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *words]
    pieces += [f"##{piece}" for piece in (*letters, *words)]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    BertTokenizerFast(tokenizer_object=BertWordPieceTokenizer(vocabulary)._tokenizer).save_pretrained(folder)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    settings.pop("model_max_length", None)
    if model_max_length is not None:
        settings["model_max_length"] = model_max_length
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=positions,
        initializer_range=0.3,  # so that tokens differ as much as in a trained model
    )
    BertModel(config).save_pretrained(folder)
    return folder
