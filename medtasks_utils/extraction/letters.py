"""Letters of multiple-choice options: alone, stated in a sentence, or named by the option's text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from medtasks_utils.extraction.boxes import unwrap

LETTERS = "ABCD"

# A letter that stands for an option: a capital alone (but not the article in "A patient with …", nor "B-cell", "A's"),
# or a small letter that something closes ("answer: c." but not "the answer is a drug").
_ARTICLE = r"\s(?!(?:because|since|as|is|for|due|given|which|so|but|not|in|with|and|or|rather)\b)[a-z0-9]"
LETTER = (
    rf"(?<![A-Za-z0-9])(?:[A-D](?![A-Za-z0-9'’+]|-[A-Za-z0-9])(?<!A(?={_ARTICLE}))"
    r"|[a-d](?=\s?(?:[).:,;\]]|because\b|since\b|$)))"
)
# What follows is no second letter, as in "A or B", "A, B and C", "A/B", "C (or D)".
ONE_ONLY = (
    r"(?!\s?[)\]]?\s?(?:\(?(?:and/or|or|and)\s|[/&]\s?)[(\[]?[A-D]\b|[)\]]?,\s?[(\[]?[A-D]\b[)\]]?\s?(?:[,.]|and\b|or\b|$))"
)
# What may stand between "answer is" and its letter, as in "answer is therefore most likely option (C)".
_FILLER = (
    r"(?i:[\s:(\[<'=\-–—]|\b(?:the|would|be|is|therefore|thus|then|clearly|most|likely|probably|indeed|definitely|simply|"
    r"correct|best|option|choice|answer|letter|number)\b){0,16}?"
)
_CUE = (
    r"(?i:\b(?:answer|ans|choice|solution|conclusion)\b"
    r"|\b(?:correct|right|best|appropriate|likely|final|selected|chosen)\s(?:option|one|response|letter|match|diagnosis)\b"
    r"|答案)"
)
_QUALIFIER = r"(?:(?:the|therefore|thus|clearly|also|most|single|only|likely|appropriate|suitable)\s){0,4}"

# In order of weight. Of several statements of one kind the last counts.
_STATEMENTS = tuple(
    re.compile(statement, re.MULTILINE)
    for statement in (
        # "The answer is (C)", "Correct option: C", "The answer to this question would be C".
        rf"{_CUE}(?P<between>[^\n.?!;]{{0,80}}?)(?:\b(?:is|be|was)\b|[:：=\-–—>是为]){_FILLER}(?P<letter>{LETTER}){ONE_ONLY}",
        # "Answer C", "Final answer (C)".
        rf"\b(?i:answer)\s?[(\[]?(?P<letter>{LETTER}){ONE_ONLY}(?!\s(?:is|was|would|seems)\b)",
        # "I choose C", "I would go with option C".
        rf"\b(?i:choose|select|pick|go(?:ing)?\swith|opt(?:ing)?\sfor)\b{_FILLER}(?P<letter>{LETTER}){ONE_ONLY}",
        # "C is correct", "C (long thoracic nerve) is the most appropriate answer".
        rf"(?P<letter>{LETTER})[)\].]?(?:\s\([^()\n]{{0,80}}\)|\s[A-D])?\s(?:is|seems|appears|(?:must|would|should)\sbe)\s"
        rf"{_QUALIFIER}(?:correct|right|answer|best\s(?:answer|choice|option|fit|match))\b",
        # "Therefore, C.", "So it must be C", "This leaves C", "not A but C".
        r"\b(?i:therefore|thus|hence|so|leav(?:es?|ing)(?:\sus\swith)?|but|it(?:'s|\s(?:is|(?:must|should|would)\sbe)))[,:]?\s"
        rf"(?:(?:it\sis|it\smust\sbe|the|option|choice|rather)\s){{0,3}}(?P<letter>{LETTER}){ONE_ONLY}"
        r"(?=[)\]]?\s?(?:[,;:!]|\.(?!\s?[a-z])|$))",
    )
)
_DENIAL = re.compile(r"\b(?:not|never|whether|if|cannot|choices|options)\b|n['’]t\b|(?<![A-Za-z0-9])[A-D]\b")
_DENIED = re.compile(r"(?:\b(?:not|never|cannot|wrong|incorrect|than|if|whether)|n['’]t)\s(?:\w{1,12}\s){0,2}$")
_PAIRED = re.compile(r"(?:\b(?:n?or|and|n?either)\s|[A-D]\s?[,/]\s?)$", re.IGNORECASE)
_REACH = 40  # characters before a statement in which it may be denied

_OPTION = re.compile(rf"\b(?i:option|choice)\s[(\[]?(?P<letter>{LETTER}){ONE_ONLY}", re.MULTILINE)
_BOLD = re.compile(r"(?:\*\*|__)\s?[(\[]?(?P<letter>[A-D])(?:[)\].:]{0,2}\s?(?:\*\*|__)|[)\].:]{1,2}\s|\s[\-–—:]\s)")
_REJECTED = re.compile(
    r"[^\n.;]{0,60}?\b(?:incorrect|wrong|false|not|unlikely|ruled|excluded|isn't|doesn't|[Nn]o)\b|.{0,20}❌"
)
_APPROVED = re.compile(r"\b(?:[Cc]orrect|right|best)\b|[✓✔✅]")

_LINE = re.compile(r"[\s>#*_\-•]{0,8}[(\[]?(?P<letter>[A-D])(?:[)\].:]{1,2}(?:[\s*_]|$)|\s[\-–—]\s|[\s*_)\]]*$)")
_MAX_LINE = 300  # characters of a line that are looked at for its letter

_AFTER_HEADING = re.compile(r"(?<=[:：])[ \t]{0,8}\n\s{0,8}|(?i:(?<=answer))[ \t]{0,8}\n\s{0,8}")
_FORMATTING = re.compile(r"\*{1,3}|__|[`${}\"“”]|\\(?:boxed|text|textbf|mathrm|mathbf|rm|bf)\b|\\[()\[\],;! ]")


def letter_of(token: str, *, digits: bool = False) -> str | None:
    """The letter A–D that a token is, in any case; with ``digits`` also 0–3, which mean A–D.

    >>> letter_of("c"), letter_of("2", digits=True), letter_of("E")
    ('C', 'C', None)
    """
    if len(token) != 1:
        return None
    if token in "ABCDabcd":
        return token.upper()
    return LETTERS[int(token)] if digits and token in "0123" else None


def stated_letter(text: str, options: Sequence[str] = ()) -> str | None:
    """The letter that a text clearly states as its answer, or None.

    An option's text stands for its letter. Looked for in this order: the letter alone; "the answer is (C)" and its kin,
    "I choose C", "C is correct", "therefore, C"; the only letter in bold, the only one after "option"; a last or first
    line of the form "C" or "C. …". "A or B" and "not A" state nothing, and neither does a listing of the options.

    >>> stated_letter("The correct answer is (C)."), stated_letter("A or B"), stated_letter("Not A.")
    ('C', None, None)
    """
    alone = letter_of(unwrap(text))
    if alone:
        return alone
    lines, listed = _split_listings(text)
    kept = "\n".join(lines)
    plain = _AFTER_HEADING.sub(" ", _FORMATTING.sub("", kept))
    for prose in dict.fromkeys((_with_letters(plain, options)[0], plain)):
        for statement in _STATEMENTS:
            found = [match["letter"] for match in statement.finditer(prose) if not _is_denied(match)]
            if found:
                return found[-1].upper()
    return _only(_BOLD, kept) or _only(_OPTION, plain) or _line_letter(lines) or _approved(listed)


def named_option(text: str, options: Sequence[str]) -> int | None:
    """Index of the only option whose text stands in ``text`` as whole words, in any case; None for none or several.

    An option inside a longer one that stands there ("iron" in "iron deficiency") does not count, nor one that is denied
    ("not the axillary nerve").
    """
    named = _with_letters(text, options)[1]
    return named[0] if len(named) == 1 else None


_REFUSAL = r"(?P<no>\b(?:not|never|than|unlike|excludes?|rules?\sout|instead\sof)\s(?:(?:the|an?|be|due|to)\s){0,3})?"


def _with_letters(text: str, options: Sequence[str]) -> tuple[str, list[int]]:
    """The text with options replaced by their letters, the longest first, and the indices of those found undenied."""
    named = []
    for index in sorted(range(len(options)), key=lambda i: len(options[i]), reverse=True):
        words = options[index].rstrip(". ").split()
        if not words or (len(words) == 1 and letter_of(words[0])):
            continue
        ...
    return text, named
