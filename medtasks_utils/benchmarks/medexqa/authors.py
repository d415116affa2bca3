"""Read answers to MedExQA by the authors' rules and two additional ones."""

import re
from collections.abc import Sequence

from medtasks_utils.extraction.letters import LETTERS

# The authors' rules, restated from github.com/knowlab/MedExQA at 9a5b34a, evaluate_pipe_MedExQA.py. ``_NEAR`` excludes
# the capitals A-D, so that the matched letter is the first capital A-D after the cue. Bounds and word
# boundaries are those of the authors, since published numbers depend on them.

_NEAR = "[^ABCD]"
_NO = r"n(?:'|o)t"
_LONE = r"\b([ABCD])\b"
_RULES = tuple(
    re.compile(rule)
    for rule in (
        # 1: "choose C", "the answer is C", "choice: C", unless "not" or "n't" follows soon.
        rf"(?:[Cc]hoose|(?:[Aa]nswer|[Cc]hoice)(?!{_NEAR}{{0,20}}{_NO}){_NEAR}{{0,10}}\b(?:is\b|be\b"
        rf"|:\b)?){_NEAR}{{0,20}}{_LONE}",
        # 2: "C is correct", "C seems right", unless negated.
        rf"{_LONE}(?!{_NEAR}{{0,8}}{_NO}{_NEAR}{{0,5}}(?:correct|right)){_NEAR}{{0,10}}\b(?:correct|right)\b",
        # 3: the response begins with "C.", "C," or "C:".
        r"^([ABCD])(?:[.,:]|$)",
        # 4: the first letter that is not part of a word or an equation.
        r"(?<![a-zA-Z])([ABCD])(?![a-zA-Z=])",
    )
)


_ARTICLE = re.compile(r"\bA (?=[a-z])")


def letters_for_options(text: str, options: Sequence[str]) -> str:
    """Replace the text of each choice with the choice's letter, the longest text first, ignoring case.

    Empty choices, and full stops at the ends of choices, are ignored.
    """
    for index in sorted(range(len(options)), key=lambda i: len(options[i]), reverse=True):
        option = options[index].rstrip(".")
        if option and option.casefold() in text.casefold():  # a search is much faster than compiling a pattern
            text = re.sub(re.escape(option), LETTERS[index], text, flags=re.IGNORECASE)
    return text


def ruled_letter(text: str) -> str | None:
    """Return the letter found by the first matching one of the authors' four rules; None if no rule matches."""
    return next((match[1] for rule in _RULES if (match := rule.search(text))), None)


def only_letter(text: str, options: Sequence[str]) -> str | None:
    """Return the letter that the authors' rules find, if the text mentions no other letter; else None."""
    substituted = letters_for_options(_ARTICLE.sub("", text), options)
    letter = ruled_letter(substituted)
    return letter if letter and set(_RULES[-1].findall(substituted)) == {letter} else None


def misspelt_option(text: str, options: Sequence[str]) -> str | None:
    """Return the letter of the choice that the text almost quotes; None if there is none, or more than one.

    Choices of fewer than :data:`_SHORTEST_MISSPELT` characters are ignored.
    """
    from thefuzz import fuzz, utils  # imported late: it loads numpy, which --help does not need

    text = utils.full_process(text)
    similar = []
    for letter, option in zip(LETTERS, map(utils.full_process, options), strict=True):
        similarity = fuzz.partial_ratio if len(text) >= len(option) else fuzz.ratio
        if len(option) >= _SHORTEST_MISSPELT and similarity(option, text) >= _REALLY_SIMILAR:
            similar.append(letter)
    return similar[0] if len(similar) == 1 else None


def authors_answer(text: str, options: Sequence[str]) -> tuple[str, str]:
    """Return the letter that the authors' code finds, and ``letter`` if a rule matched, else ``fuzzy``.

    If no rule matches, the letter is that of the most similar choice, or A for a text without a letter or digit.
    """
    from thefuzz import process, utils

    substituted = letters_for_options(text, options)
    letter = ruled_letter(substituted)
    if letter:
        return letter, "letter"
    if not utils.full_process(substituted):
        return LETTERS[0], "fuzzy"  # thefuzz would score every option 0, and log a warning
    best, _ = process.extractOne(substituted, list(options))
    return LETTERS[list(options).index(best)], "fuzzy"


_REALLY_SIMILAR = 85  # of 100
_SHORTEST_MISSPELT = 5  # characters
