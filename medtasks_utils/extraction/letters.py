"""Letters of multiple-choice options: alone, stated in a sentence, or named by the option's text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from medtasks_utils.extraction.boxes import unwrap
from medtasks_utils.extraction.ends import both_ends

LETTERS = "ABCD"

# A letter that stands for an option: a capital alone (but not the article in "A patient with …", nor "B-cell", "A's"),
# or a small letter that something closes ("answer: c." but not "the answer is a drug").
_ARTICLE = r"\s(?!(?:because|since|as|is|for|due|given|which|so|but|not|in|with|and|or|rather)\b)[a-z0-9]"
LETTER = (
    rf"(?<![A-Za-z0-9])(?:[A-D](?![A-Za-z0-9+]|['’][a-z]|-[A-Za-z0-9])(?<!A(?={_ARTICLE}))"
    r"|[a-d](?=\s?(?:[).:,;\]]|because\b|since\b|$)))"
)
# What follows is no second letter, as in "A or B", "A, B and C", "A/B", "C (or D)".
ONE_ONLY = (
    r"(?!\s?[)\]]?\s?(?:\(?(?:and/)?or\b|(?:\(?and\s|[/&]\s?)[(\[]?[A-D]\b)"
    r"|[)\]]?,\s?[(\[]?[A-D]\b[)\]]?\s?(?:[,.]|and\b|or\b|$))"
)
# What may stand between "answer is" and its letter, as in "answer is therefore most likely option (C)".
_FILLER = (
    r"(?i:[\s:,(\[<'=\-–—]|\b(?:the|would|be|is|therefore|thus|then|clearly|most|likely|probably|indeed|definitely|simply|"
    r"correct|best|option|choice|answer|letter|number)\b){0,12}?"
)
_CUE = (
    r"(?i:(?<![A-Za-z])(?:answer|ans\b\.?|choice|option|solution|conclusion|(?:correct|final)(?=:))"
    r"|\b(?:correct|right|best|appropriate|likely|final)\s(?:one|response|letter|match|diagnosis)\b"
    r"|答案)"
)
_QUALIFIER = r"(?:(?:the|therefore|thus|clearly|also|most|single|likely|appropriate|suitable)\s){0,4}"

# In order of weight. Of several statements of one kind the last counts.
_STATEMENTS = tuple(
    re.compile(statement, re.MULTILINE)
    for statement in (
        # "The answer is (C)", "Correct option: C", "The answer to this question would be C".
        rf"{_CUE}(?P<between>[^\n.?!;]{{0,60}}?)(?:\b(?:is|be|was)\b|[:：=\-–—>→是为]){_FILLER}(?P<letter>{LETTER}){ONE_ONLY}",
        # "Answer C", "Final answer (C)".
        rf"\b(?i:answer|ans\.?)\s?[(\[]?(?P<letter>{LETTER}){ONE_ONLY}(?!\s(?:is|was|would|seems)\b)",
        # "I choose C", "I would go with option C".
        rf"\b(?i:choose|select|pick|think|believe|say|go(?:ing)?\swith|opt(?:ing)?\sfor)\b{_FILLER}(?P<letter>{LETTER}){ONE_ONLY}",
        # "C is correct", "C (long thoracic nerve) is the most appropriate answer".
        rf"(?P<letter>{LETTER})[)\].]?(?:\s\([^()\n]{{0,80}}\)|\s[A-D])?\s"
        rf"(?:(?:is|(?:seems|appears)(?:\sto\sbe)?|(?:must|would|should)\sbe)\s{_QUALIFIER}(?:correct|right|answer"
        r"|best\s(?:answer|choice|option|fit|match)|only\s(?:answer|choice|option))|(?:best\s)?fits|(?:best\s)?matches)\b",
        # "Therefore, C.", "So it must be C", "This leaves C", "not A but C".
        r"\b(?i:therefore|thus|hence|so|leav(?:es?|ing)(?:\sus\swith)?|but|it(?:'s|\s(?:is|(?:must|should|would)\sbe)))[,:]?\s"
        rf"(?:(?:it\sis|it\smust\sbe|the|option|choice|rather)\s){{0,3}}[(\[]?(?P<letter>{LETTER}){ONE_ONLY}"
        r"(?=[)\]]?\s?(?:[,;:!]|\.(?!\s?[a-z])|$))",
    )
)
_DENIAL = re.compile(r"(?i:\b(?:not|never|whether|if|cannot|choices|options)\b|n['’]t\b)|(?<![A-Za-z0-9])[A-D]\b")
_DENIED = re.compile(
    r"(?:\b(?:not|never|cannot|neither|nor|unlike|excludes?|wrong|incorrect|than|if|whether)|n['’]t)\s(?:\w{2,12}\s){0,2}$",
    re.IGNORECASE,
)
_PAIRED = re.compile(r"(?:\b(?:n?or|and|n?either)\s|[A-D]\s?[,/]\s?)$", re.IGNORECASE)
_REACH = 40  # characters before a statement in which it may be denied

_OPTION = re.compile(rf"\b(?i:option|choice)\s[(\[]?(?P<letter>{LETTER}){ONE_ONLY}", re.MULTILINE)
_BOLD = re.compile(r"(?:\*\*|__)\s?[(\[]?(?P<letter>[A-D])(?:[)\].:]{0,2}\s?(?:\*\*|__)|[)\].:]{1,2}\s|\s[\-–—:]\s)")
_REJECTED = re.compile(
    r"[^\n.;,]{0,80}?(?:(?:\b(?:is|are|was|be|seems)|[:–—-])\s?(?:\w{1,12}ly\s|also\s|therefore\s)?"
    r"(?:incorrect|wrong|false|not|unlikely|ruled\sout|excluded)\b|isn['’]t\b|❌)",
    re.IGNORECASE,
)
_APPROVED = re.compile(r"\b(?:correct|right|best)\b|[✓✔✅]", re.IGNORECASE)

_LINE = re.compile(
    rf"[\s>#*_\-•]{{0,8}}(?:\d{{1,2}}[.)]\s)?[(\[]?(?P<letter>[A-D]){ONE_ONLY}"
    r"(?:[)\].:]{1,2}(?:[\s*_]|$)|,\s|\s(?:because|since|as)\s|\s[\-–—]\s|[\s*_)\]]*$)"
)
_MAX_LINE = 300  # characters of a line that are looked at for its letter

_AFTER_HEADING = re.compile(r"(?<=[:：])[ \t]{0,8}\n\s{0,8}|(?i:(?<=answer))[ \t]{0,8}\n\s{0,8}")
_SPACE = re.compile(r"\\[,;:! ]|~|\t")
_FORMATTING = re.compile(r"\*{1,3}|__|[`${}\"“”]|\\(?:text|textbf|mathrm|mathbf|rm|bf)\b|\\[()\[\]]")


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
    lines, listed = _split_listings(both_ends(text))
    kept = "\n".join(lines)
    plain = _AFTER_HEADING.sub(" ", _FORMATTING.sub("", _SPACE.sub(" ", kept)))
    readings = list(dict.fromkeys((_with_letters(plain, options)[0], plain)))
    for reading in readings:
        alone = letter_of(unwrap(reading))
        if alone:
            return alone
    for reading in readings:
        for statement in _STATEMENTS:
            found = [match["letter"] for match in statement.finditer(reading) if not _is_denied(match)]
            if found:
                return found[-1].upper()
    return _only(_BOLD, kept) or _only(_OPTION, plain) or _line_letter(lines) or _approved("\n".join(listed), options)


def named_option(text: str, options: Sequence[str]) -> str | None:
    """The letter of the only option whose text stands in ``text`` as whole words, in any case, or None.

    An option inside a longer one that stands there ("iron" in "iron deficiency") does not count, nor one that is denied
    ("not the axillary nerve").
    """
    named = _with_letters(text, options)[1]
    return LETTERS[named[0]] if len(named) == 1 else None


def _with_letters(text: str, options: Sequence[str]) -> tuple[str, list[int]]:
    """The text with options replaced by their letters, the longest first, and the indices of those not denied."""
    named = []
    folded = text.lower()
    for index in sorted(range(len(options)), key=lambda i: len(options[i]), reverse=True):
        words = options[index].strip().rstrip(".").split()
        if not words or (len(words) == 1 and len(words[0]) == 1 and words[0].isalpha()):
            continue  # an option "a" or "B" would be found in any text
        if not all(word.lower() in folded for word in words):
            continue  # far cheaper than compiling a search for it
        phrase = r"\s{1,4}".join(map(re.escape, words))
        option = re.compile(rf"(?<!\w)(?<!\d[.,]){phrase}(?!\w)(?![.,]\d)", re.IGNORECASE)
        if any(
            not (_DENIED.search(_before(match)) or _REJECTED.match(text, match.end()))
            for match in option.finditer(text)
        ):
            named.append(index)
        text = option.sub(LETTERS[index], text)
    return text, named


def _is_denied(match: re.Match[str]) -> bool:
    """Whether a statement of a letter is denied by what stands before it, in it or after it, or states two letters."""
    return bool(
        _DENIAL.search(match.groupdict().get("between") or "")
        or _DENIED.search(_before(match))
        or _PAIRED.search(match.string[max(0, match.start("letter") - 10) : match.start("letter")])
        or _REJECTED.match(match.string, match.end())
    )


def _before(match: re.Match[str]) -> str:
    return match.string[max(0, match.start() - _REACH) : match.start()]


def _split_listings(text: str) -> tuple[list[str], list[str]]:
    """The lines of a text without listings of the options, and the lines of those listings.

    A listing is two or more lines in a row, blank ones aside, that begin with different letters.
    """
    kept: list[str] = []
    listed: list[str] = []
    run: list[str] = []
    letters: set[str] = set()

    def end_run() -> None:
        (listed if len(letters) > 1 else kept).extend(run)
        run.clear()
        letters.clear()

    for line in text.split("\n"):
        match = _LINE.match(line[:_MAX_LINE])
        if match is None and line.strip():
            end_run()
            kept.append(line)
            continue
        if match and match["letter"] in letters:
            end_run()
        run.append(line)
        letters.update(match["letter"] if match else ())
    end_run()
    return kept, listed


def _only(pattern: re.Pattern[str], text: str) -> str | None:
    """The only letter that a pattern finds undenied, or None."""
    letters = {match["letter"].upper() for match in pattern.finditer(text) if not _is_denied(match)}
    return letters.pop() if len(letters) == 1 else None


def _line_letter(lines: Sequence[str]) -> str | None:
    """The letter that the last line, else the first, begins with."""
    written = [line for line in lines if line.strip()]
    for line in (written[-1], written[0]) if written else ():
        match = _LINE.match(line[:_MAX_LINE])
        if match and not _is_denied(match):
            return match["letter"]
    return None


def _approved(listing: str, options: Sequence[str]) -> str | None:
    """The letter of the only line in a listing that is called correct; the options' own words call nothing correct."""
    approved = {
        match["letter"]
        for line in _with_letters(listing, options)[0].split("\n")
        if (match := _LINE.match(line)) and _APPROVED.search(line) and not _REJECTED.search(line)
    }
    return approved.pop() if len(approved) == 1 else None
