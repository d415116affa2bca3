"""Find reasons to doubt labels by rules that look only at the rows.

The benchmarks' READMEs name published lists of doubtful rows; none of them is copied here.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

from medtasks_utils.writing import one_line

CONTRADICTED = "asked twice with different keys"
ALIKE = "two options alike"
NO_IMAGE = "refers to a missing image"

_IMAGES = r"(?:image|picture|fig(?:ure)?|photo(?:graph)?|diagram|radiograph|x ?- ?ray|ct|mri|scan|ecg|graph|curve)s?"
_REFERS_TO_IMAGE = re.compile(
    rf"\b(?:shown|depicted|marked|labell?ed) (?:below|(?:in|on) (?:the |this )?{_IMAGES})\b"
    rf"|\b{_IMAGES}\b[^.?]{{0,40}}\b(?:given|provided) below\b"
    rf"|\bgiven below (?:device|instrument|{_IMAGES})\b",
    re.IGNORECASE,
)


def refers_to_image(question: str) -> bool:
    """Return whether a question refers to an image. None of the data sets contains images.

    >>> [refers_to_image(text) for text in ("What does the CT scan given below show?", "The data are given below.")]
    [True, False]
    """
    return _REFERS_TO_IMAGE.search(question) is not None


def has_options_alike(options: Sequence[str]) -> bool:
    """Return whether two choices are equal, ignoring repeated spaces, and full stops and spaces at the ends.

    Case and signs matter: they distinguish some choices, such as antigens and numbers.

    >>> [has_options_alike(options) for options in (("12 h", "12  h.", "24 h"), ("Le", "le", "-5", "5"))]
    [True, False]
    """
    return len({one_line(option).strip(" .") for option in options}) < len(options)


def contradicted(asked: Iterable[tuple[Hashable, str]]) -> list[bool]:
    """Return, for each pair of a question and its right answer, whether another pair contradicts it.

    Two pairs contradict each other if they have the same question and different answers.

    >>> contradicted([("1 + 1", "2"), ("1 + 2", "3"), ("1 + 1", "3")])
    [True, False, True]
    """
    pairs = list(asked)
    answers = Counter(question for question, _ in set(pairs))
    return [answers[question] > 1 for question, _ in pairs]


def words_of(text: str) -> str:
    """Normalise case, punctuation and spaces of a text, so that copies of a question become equal."""
    return " ".join(re.findall(r"\w+", text.casefold()))
