"""NLTK data for these tests: the small WordNet, and a Punkt model trained on a few sentences of this project."""

from __future__ import annotations

from pathlib import Path

from explanations_wordnet import write_wordnet
from nltk.tokenize.punkt import PunktTrainer

TEXT = """
Dr. Ames gave 2.5 mg. of the drug to Mr. Brown. He felt better. The heart, e.g. its left chamber, pumps blood.
It beats fast. Dr. Cole saw Mr. Brown again. Mr. Brown was well. She wrote to Dr. Ames. The drug was stopped at 5 p.m.
on the third day. It had done its work. Dr. Ames agreed. Blood was drawn by Dr. Cole at 7 p.m. and sent away.
"""


def write_punkt(folder: Path) -> None:
    """Write the files of a model into an existing folder, as NLTK's own ``punkt_tab`` has them."""
    trained = PunktTrainer(TEXT * 3).get_params()
    (folder / "abbrev_types.txt").write_text("\n".join(sorted(trained.abbrev_types)))
    (folder / "sent_starters.txt").write_text("\n".join(sorted(trained.sent_starters)))
    (folder / "collocations.tab").write_text("\n".join("\t".join(pair) for pair in sorted(trained.collocations)))
    (folder / "ortho_context.tab").write_text(
        "\n".join(f"{word}\t{flags}" for word, flags in sorted(trained.ortho_context.items()))
    )


def write_nltk_data(folder: Path) -> Path:
    """Write both into a folder, laid out as NLTK's data path."""
    for place, write in (("corpora/wordnet", write_wordnet), ("tokenizers/punkt_tab/english", write_punkt)):
        (folder / place).mkdir(parents=True)
        write(folder / place)
    return folder
