"""Make a BERT of a few thousand random weights with a WordPiece tokenizer, in the format of the Hub."""

import string
from pathlib import Path

TEXT = "the heart pumps blood and drug treats a sick man his doctor was quick rapid pulse artery ill ness s ed ing"
LENGTH = 64


def save_model(folder: Path) -> Path:
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    letters = string.ascii_lowercase + string.digits + string.punctuation + "éüß心脏сердце"
    words = TEXT.split()
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *words]
    pieces += [f"##{piece}" for piece in (*letters, *words)]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = BertWordPieceTokenizer(vocabulary)._tokenizer
    BertTokenizerFast(tokenizer_object=tokenizer, model_max_length=LENGTH).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=LENGTH,
        initializer_range=0.3,  # so that tokens differ as much as in a trained model
    )
    BertModel(config).save_pretrained(folder)
    return folder
