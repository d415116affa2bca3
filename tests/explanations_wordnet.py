"""A WordNet of a few words, written for these tests in WordNet's own format (wndb(5WN)), for NLTK's reader."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

SYNSETS = {
    "noun": [
        ["doctor", "physician", "medico"],
        ["heart", "ticker", "pump"],
        ["illness", "sickness", "malady"],
        ["drug", "medication", "medicine"],
        ["man", "adult_male"],
        ["pump"],
    ],
    "verb": [["treat", "care_for", "cure"], ["beat", "pound", "pulse"], ["go", "travel", "move"]],
    "adj": [["sick", "ill"], ["quick", "fast"]],
    "adv": [["quickly", "rapidly"]],
}
EXCEPTIONS = {"noun": ["men man"], "verb": ["went go"]}
_LETTERS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
_HEADER = "  1 WordNet 0.1 Copyright none: a handful of words for tests\n"


def write_wordnet(folder: Path) -> None:
    """Write the database into an existing folder."""
    senses: list[str] = []
    for number, (name, synsets) in enumerate(SYNSETS.items()):
        letter, data, index = _LETTERS[name], _HEADER, defaultdict[str, list[int]](list)
        for words in synsets:
            offset = len(data.encode())
            lemmas = " ".join(f"{word} 0" for word in words)
            data += f"{offset:08d} {number:02d} {letter} {len(words):02x} {lemmas} 000 | a gloss\n"
            for word in words:
                index[word].append(offset)
                senses.append(f"{word}%{number + 1}:{number:02d}:00:: {offset:08d} {len(index[word])} 0\n")
        (folder / f"data.{name}").write_text(data)
        lines = [
            f"{word} {letter} {len(offsets)} 0 {len(offsets)} 0 {' '.join(f'{offset:08d}' for offset in offsets)}\n"
            for word, offsets in sorted(index.items())
        ]
        (folder / f"index.{name}").write_text(_HEADER + "".join(lines))
        (folder / f"{name}.exc").write_text("".join(f"{line}\n" for line in EXCEPTIONS.get(name, [])))
    (folder / "index.sense").write_text("".join(sorted(senses)))
    (folder / "lexnames").write_text("".join(f"{i:02d}\t{name}.all\t{i + 1}\n" for i, name in enumerate(SYNSETS)))
    (folder / "cntlist.rev").write_text("")
