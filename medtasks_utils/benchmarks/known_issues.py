"""Find reasons to doubt labels, by rules that use only the rows.

The benchmarks' READMEs name published lists of doubtful rows; no such list is copied here.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from medtasks_utils.writing import one_line

CONTRADICTED = "asked twice with different keys"
ALIKE = "two options alike"
NO_IMAGE = "refers to a missing image"
OTHER_ROW = "label of another row"

_OFFSETS = range(-3, 4)
_FAR = 3.0  # standard errors

_IMAGES = r"(?:image|picture|fig(?:ure)?|photo(?:graph)?|diagram|radiograph|x ?- ?ray|ct|mri|scan|ecg|graph|curve)s?"
_REFERS_TO_IMAGE = re.compile(
    rf"\b(?:shown|depicted|marked|labell?ed) (?:below|(?:in|on) (?:the |this )?{_IMAGES})\b"
    rf"|\b{_IMAGES}\b[^.?]{{0,40}}\b(?:given|provided) below\b"
    rf"|\bgiven below (?:device|instrument|{_IMAGES})\b",
    re.IGNORECASE,
)


def refers_to_image(question: str) -> bool:
    """Return whether a question refers to an image, which is missing, since none of the data sets contains images.

    >>> [refers_to_image(text) for text in ("What does the CT scan given below show?", "The data are given below.")]
    [True, False]
    """
    return _REFERS_TO_IMAGE.search(question) is not None


def has_options_alike(options: Sequence[str]) -> bool:
    """Return whether two choices are equal, ignoring repeated spaces, and full stops and spaces at the ends.

    Case and signs are significant: they distinguish some choices, such as antigens and numbers.

    >>> [has_options_alike(options) for options in (("12 h", "12  h.", "24 h"), ("Le", "le", "-5", "5"))]
    [True, False]
    """
    return len({one_line(option).strip(" .") for option in options}) < len(options)


def contradicted(asked: Iterable[tuple[Hashable, str]]) -> list[bool]:
    """Return, for each pair of a question and its right answer, whether another pair contradicts it.

    Pairs contradict each other if they have the same question but different answers.

    >>> contradicted([("1 + 1", "2"), ("1 + 2", "3"), ("1 + 1", "3")])
    [True, False, True]
    """
    pairs = list(asked)
    answers = Counter(question for question, _ in set(pairs))
    return [answers[question] > 1 for question, _ in pairs]


def words_of(text: str) -> str:
    """Return the words of a text without case and punctuation, so that copies of a question are equal."""
    return " ".join(re.findall(r"\w+", text.casefold()))


class Shift(NamedTuple):
    """Labels that are misaligned with their questions by a fixed number of rows.

    Attributes:
        offset: the number of rows from a question's row to the row with its label; negative if that row is earlier.
        fit: the share of answers that equal the label at that offset, 0 to 1.
        own: the share of answers that equal the label of their own row.
        rows: the number of rows with an answer.
    """

    offset: int
    fit: float
    own: float
    rows: int

    def __str__(self) -> str:
        return (
            f"the label of another row (offset {self.offset:+d}) in {self.fit:.0%} of {self.rows:,} rows, and the "
            f"row's own in {self.own:.0%}"
        )


def shifts(rows: Iterable[tuple[str, str | None, str]]) -> dict[str, Shift]:
    """Return the shift of each part of a data set whose labels fit the answers far better at an offset of 1 to 3 rows.

    Far better means that more labels fit than at every other offset, including 0, by over three standard errors of the
    difference, as in McNemar's test. All other parts, such as those with aligned labels, are left out.

    Args:
        rows: for each row, in order: the name of the part to which it belongs, the answer that independent evidence
            supports (None if it supports none), and the row's label.

    >>> answers, labels = "AADB ADC BADC AABCDDBC", "BAADBCADCBBADCDAABCDDB"
    >>> str(shifts(("part", answer.strip(), label) for answer, label in zip(answers, labels))["part"])
    "the label of another row (offset +1) in 95% of 19 rows, and the row's own in 21%"
    """
    parts: dict[str, list[tuple[str | None, str]]] = defaultdict(list)
    for part, answer, label in rows:
        parts[part].append((answer, label))
    return {part: shift for part, pairs in parts.items() if (shift := _shift(pairs))}


def _shift(pairs: Sequence[tuple[str | None, str]]) -> Shift | None:
    """Return the shift of (answer, label) pairs; None if offset 0 fits best, or no offset fits far better."""
    label_at = {place: label for place, (_, label) in enumerate(pairs)}
    known = [(place, answer) for place, (answer, _) in enumerate(pairs) if answer]

    def hits_at(offset: int) -> set[int]:
        return {place for place, answer in known if label_at.get(place + offset) == answer}

    hits = {offset: hits_at(offset) for offset in _OFFSETS}
    best, *others = sorted(_OFFSETS, key=lambda offset: -len(hits[offset]))
    leads = [len(hits[best]) - len(hits[other]) > _FAR * math.sqrt(len(hits[best] ^ hits[other])) for other in others]
    if best == 0 or not all(leads):
        return None
    return Shift(best, len(hits[best]) / len(known), len(hits[0]) / len(known), len(known))
