"""Letters of multiple-choice options: stated in a sentence, alone, marked, or named by the option's text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from medtasks_utils.extraction import cues, doubts, elimination
from medtasks_utils.extraction.boxes import unwrap
from medtasks_utils.extraction.ends import cut_off
from medtasks_utils.extraction.holders import Holder, held
from medtasks_utils.extraction.listings import CALLED, LINE, MAX_LINE, lists_options, split_listings
from medtasks_utils.extraction.options import LETTERS, MARKS, letter_of, named_options, short_names, with_letters
from medtasks_utils.extraction.plain import own_parts, unformatted
from medtasks_utils.extraction.statements import BOLD, LEADING, OPENING, PREDICATE, STATEMENTS
from medtasks_utils.extraction.tokens import LETTER, plain_letters
from medtasks_utils.extraction.weighing import NOTHING, Candidate, Reading, bounded, choose, weigh
from medtasks_utils.extraction.wordings import as_in_options

_LONE_LETTER = re.compile(LETTER)
_NO_PART_OF_A_NAME = re.compile(rf"(?<!(?i:vitamin)\s)(?<!(?i:hepatitis)\s)(?<!(?i:group)\s)(?<!(?i:type)\s){LETTER}")
_ROW_BEFORE = re.compile(rf"(?:(?<![^\W_])[A-D](?:,?\s{cues.either(cues.OR)}\s|,\s))*$")
_MENTIONS = ("box", "bold", "colon", "option", "leading", "named", "mark", "predicate", "only", "shown", "concluding")
_ALL_OPTIONS = re.compile(
    r"\([A-D](?:\s?[-–,/]\s?[A-D]){1,3}\)|(?<!\w)[A-D](?:,\s[A-D]){2}(?:,|\s\w{1,3})\s[A-D](?!\w)"
)
_BETWEEN = re.compile(r"(?i:\b(?:choices|options|depends|varies)\b)|(?<![A-Za-z0-9])[A-D]\b")
_UNDECIDED = re.compile(r"(?i)\b(?:whether|ob)\b")
_DIALOGUE = re.compile(r"^\W{0,4}Q(?:uestion)?\W{0,3}:", re.MULTILINE)
_TICKED = re.compile(r"^[ \t]*[-*+•‣◦▪●·] ?\[[xX✓✔]\][ \t](?=\w)", re.MULTILINE)
_REPLY = re.compile(r"^A:(?=\s)", re.MULTILINE)
_REFUSED = re.compile(
    r"\b(?:rather\snot|declin\w+\sto|refus\w+\sto|(?:will|do|would)(?:\snot|n['’]t)|(?:not|un)\s?able\sto)\s(?:choose"
    r"|pick|select|mark|commit\sto)\b(?!\s(?!any\b|one\b|either|between|among|from)\w)|\bnone\sof\s(?:the"
    r"|these)\s(?!other|remaining|rest\b)(?:\w+\s){1,3}(?:is|are)\s(?:really\s|quite\s)?(?:correct|right|suitable"
    r"|true)\b",
    re.IGNORECASE,
)
_SUBJECT = re.compile(r"(?:^|[.!?]\s)(?:(?i:an?|the)\s)?([A-D])'?\s(?:is|are|has)\b", re.MULTILINE)
_OPTION = re.compile(rf"{LETTER}|[{MARKS}]")
_STATEMENT_BEFORE, _STATEMENT_AFTER = 200, 100  # characters of a statement on either side of its letter
_ASIDE = re.compile(rf"\W{{0,6}}\((?!\w{{1,2}}\))|\W{{0,6}}{cues.any_word(cues.ASIDE)}")
_SENTENCE = re.compile(r"(?<=[.!?。])(?<!\b[A-Z]\.)\s+(?=\W{0,3}[^\W_a-zà-ÿа-я])|\n+|(?<=[。！？])")
_IN_BRACKETS = re.compile(r"\(([A-D])\)")
_AT_THE_END = re.compile(
    rf"(?P<letter>{LETTER})(?=[^\w\n]*$|\s?[^\sA-Za-z0-9]{{1,8}}(?:\s[^\sA-Za-z0-9]{{1,6}})?[.。]?\s*$)"
)
_ANNOUNCED = re.compile(
    rf"({cues.either(cues.ANSWER)}[^\n]{{0,20}}:[*_]{{0,3}})\s*\n\s*(?=[*_(\[]{{0,4}}[A-D][*_)\].:!]{{0,5}} ?$)",
    re.MULTILINE,
)
# "Why not the others?" and what follows it, "The other options are incorrect." at the end.
_CODA = re.compile(
    rf"\n[\W_]{{0,6}}{cues.any_word(cues.THE_OTHERS)}[^\n.]{{0,60}}\n(?![\s\S]*(?i:boxed|answer\sis|therefore|actually"
    rf"|wait\b))[\s\S]*\Z"
    rf"|\s[*_]{{0,3}}{cues.any_word(cues.THE_OTHERS)}[^\n.]{{0,120}}\.?[*_]{{0,3}}\s*\Z"
)
_BY_NAME = re.compile(r"\b(?i:option|choice)\s([A-D])\b")
_HEADING = re.compile(r"\W{0,6}(?:(?i:option|choice)\s\W?)?([A-Da-d])\W{0,6}")


def read_letter(text: str, options: Sequence[str] = ()) -> Reading:
    """The letter that a text chooses, or none.

    An option's text stands for its letter. "A or B" and "not A" choose nothing, and neither does a list of the options.

    >>> read_letter("The correct answer is (C).").value, read_letter("A or B").value, read_letter("Not A.").value
    ('C', None, None)
    """
    reading = NOTHING
    text = _TICKED.sub("✅ ", text)
    if _DIALOGUE.search(text):
        text = _REPLY.sub("Answer:", text)
    for part in own_parts(as_in_options(text, options)):
        text = _ANNOUNCED.sub(r"\1 ", plain_letters(part))
        text = _restated(tuple(options)).sub("", text) if options else text
        for own in dict.fromkeys((_CODA.sub("", text), text)):
            reading = _read_part(own, options)
            if reading.value is not None:
                return reading
    return reading


@lru_cache(maxsize=256)
def _restated(options: tuple[str, ...]) -> re.Pattern[str]:
    """The options line by line, as the prompt lists them."""
    lines = r"\n+".join(
        rf"[*_>•\-\s]{{0,6}}\(?{letter}[.):\]*]{{1,3}}\s?{re.escape(option.strip())}[.*_ ]{{0,4}}"
        for letter, option in zip(LETTERS, options, strict=True)
    )
    return re.compile(rf"^(?:(?!.*\b[A-D]\b).{{0,80}}:[*_ ]{{0,4}}\n+)?{lines}$", re.MULTILINE)


def _read_part(text: str, options: Sequence[str]) -> Reading:
    holders, rest = held(text, ("answer", "choice"), "[A-D]")
    inside = [found for holder in holders if (found := _inside(holder, text, options))]
    outside = _unless_all_right(_candidates(rest, options))
    ruled_out = {one.value: one.start for one in outside if one.cue == "ruled_out"}
    refused = _REFUSED.search(rest) or cut_off(rest)  # what is merely spoken of is not chosen then
    for at, one in enumerate(outside):
        spoken_of = one.value in ruled_out and one.cue in ("option", "line", "predicate")
        if spoken_of or (refused and one.support <= doubts.WEAK):
            outside[at] = replace(one, support=0)
        elif one.end < ruled_out.get(one.value, -1):
            outside[at] = replace(one, evidence=(*one.evidence, ("denied_later", -6)))
    return choose([*outside, *inside], _MENTIONS)


def _unless_all_right(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Three options that are called right are each right in a sense, and the fourth is the exception asked for.

    As in "A is true. B is true. D is true (Crowe sign).", "A, B and C are correct".
    """
    every = list(candidates)
    called = {
        letter: one
        for one in every
        if one.cue == "correct"
        and one.support > doubts.WEAK
        and {name for name, _ in one.evidence} <= {"one_of_several"}
        for letter in (one.value, *re.findall("[A-D]", "".join(_ROW_BEFORE.findall(one.before))))
    }
    if len(called) < 3:
        return every
    last = replace(max(called.values(), key=lambda one: one.start), cue="remaining", support=24, evidence=())
    exception = [replace(last, value=letter) for letter in LETTERS if letter not in called]
    return [replace(one, support=0) if one.cue == "correct" else one for one in every] + exception


def _inside(holder: Holder, text: str, options: Sequence[str]) -> Candidate | None:
    """The letter that a box, tag or key holds."""
    content = unwrap(holder.content)
    letter = letter_of(content, digits=holder.cue in ("box", "key"))
    letter = letter or choose(_candidates(content, options), _MENTIONS).value
    one = Candidate(letter, holder.start, holder.end, text, holder.cue, holder.support)
    return weigh(one, ((doubts.taken_back, -50),)) if letter else None


def _candidates(text: str, options: Sequence[str]) -> Iterator[Candidate]:
    """Every letter that the text may choose, with the evidence for and against it."""
    kept, listed = split_listings(text, with_letters(text, options))
    plain = unformatted("\n".join(kept))
    substituted = with_letters(plain, options)
    alone = letter_of(unwrap(substituted.strip(" \n'<>[].:!")))
    if alone and "<" not in substituted:
        yield Candidate(alone, 0, len(substituted), substituted, "alone", 85)
    yield from _stated(substituted, 0)
    shortened = with_letters(substituted, short_names(options))
    if shortened != substituted:
        yield from _stated(shortened, 10)
        yield from _found(PREDICATE, with_letters(plain, short_names(options), MARKS), "predicate", 20)
        if not LINE.match(plain):
            yield from (replace(one, support=32) for one in _on_a_line(shortened.split("\n", 1)[0]))
    if len({match[1] for match in _SUBJECT.finditer(substituted)}) < 4:  # no survey of them all
        yield from _found(LEADING, substituted, "leading", 28)
    named = with_letters(plain, options, MARKS)
    yield from _found(PREDICATE, named, "predicate", 30)
    yield from _found(OPENING, named, "leading", 22)
    yield from _on_a_line(with_letters(unformatted("\n".join(kept), headings=False), options))
    yield from _found(BOLD, with_letters("\n".join(kept), options), "bold", 35)
    lines = with_letters(unformatted("\n".join(listed)), options)
    yield from elimination.marked(lines)
    yield from elimination.ranked(plain)
    yield from elimination.rated(f"{plain}\n{lines}")
    yield from _named(plain, options, len(listed) > 2)
    yield from _left_over(substituted, lines)


def _stated(text: str, less: float) -> Iterator[Candidate]:
    for cue, pattern, support in STATEMENTS:
        yield from _found(pattern, text, cue, support - less)


@lru_cache(maxsize=4)
def _spans(text: str) -> list[tuple[int, int]]:
    """Where a text may state a letter: around those in it, which is far less to search than the whole."""
    spans: list[tuple[int, int]] = []
    for option in bounded(_OPTION.finditer(text)):
        start, end = max(0, option.start() - _STATEMENT_BEFORE), option.end() + _STATEMENT_AFTER
        if spans and start <= spans[-1][1]:
            start = spans.pop()[0]
        spans.append((start, end))
    return spans


def _named(plain: str, options: Sequence[str], discussed: bool) -> Iterator[Candidate]:
    """The options that a text names, and the one that it names alone in its conclusion."""
    sentences = [sentence for sentence in _SENTENCE.split(plain) if sentence.strip() and not _ASIDE.match(sentence)]
    plain = "\n".join(sentences)
    named = named_options(plain, options, doubts.is_denied)
    support = 25 if len(named) == 1 and _is_alone(*named[0], plain, options) else 0
    if discussed and named and len(sentences[0]) < named[0][1] < plain.rfind(sentences[-1]):
        support = 0  # beside a list of them all, only the first sentence and the last conclude
    yield from (Candidate(letter, at, at, plain, "named", support) for letter, at in named)
    if len(sentences) > 1:
        first, last = (dict(named_options(sentences[at], options, doubts.is_denied)) for at in (0, -1))
        in_brackets = set(_IN_BRACKETS.findall(sentences[-1]))
        if len(last) == 1 and in_brackets <= last.keys() and (len(first) != 1 or first.keys() == last.keys()):
            at = plain.rfind(sentences[-1])
            if _alike(sentences, options) or elimination.called_unlike(_after_option(sentences[-1], options)):
                return
            yield weigh(Candidate(next(iter(last)), at, at, plain, "concluding", 27), ((doubts.asked, -100),))
        yield from _ending(sentences[-1])


def _after_option(sentence: str, options: Sequence[str]) -> str:
    return re.split(f"[{MARKS}]", with_letters(sentence, options, MARKS))[-1]


def _alike(sentences: Sequence[str], options: Sequence[str]) -> bool:
    """Whether the last sentence says of an option what the one before says of another: "The ohm is …"."""
    one, other = (" ".join(with_letters(each, options, MARKS).split()[:4]) for each in sentences[-2:])
    return one != other and re.sub(f"[{MARKS}]", "", one) == re.sub(f"[{MARKS}]", "", other)


def _ending(sentence: str) -> Iterator[Candidate]:
    """The only letter that the last sentence speaks of, at its end: "…, B.", "подходит В.", "D를 씁니다."."""
    spans = ((one[0].upper(), *one.span()) for one in bounded(_LONE_LETTER.finditer(sentence)))
    letters = (weigh(Candidate(*one, sentence, "ending", 10), doubts.WEAK_RULES) for one in spans)
    weighed = [one for one in letters if one.weight > 0]
    if len({one.value for one in weighed}) == 1 and _AT_THE_END.match(sentence, weighed[-1].start):
        yield weighed[-1]


def _is_alone(letter: str, at: int, plain: str, options: Sequence[str]) -> bool:
    """Whether a text that names this option does not deny its letter, go on to another, or name another for short."""
    matches = bounded(_LONE_LETTER.finditer(plain))
    spoken_of = [Candidate(one[0].upper(), one.start(), one.end(), plain, "", 0) for one in matches]
    excluded = {one.value for one in spoken_of if doubts.denied(one)}
    end = at + len(options[LETTERS.index(letter)])
    later = {one.value for one in spoken_of if one.start >= end and not doubts.is_denied(plain, one.start, one.end)}
    named = {other for other, _ in named_options(plain, short_names(options), doubts.is_denied)}
    return letter not in excluded and (later - excluded) | named <= {letter}


def _left_over(text: str, lines: str) -> Iterator[Candidate]:
    """The option that is left where a text rules out the other three, one by one or together."""
    excluded, affirmed, last_word = elimination.wrong_lines(lines), set[str](), dict[str, Candidate]()
    for match in bounded(_NO_PART_OF_A_NAME.finditer(text)):
        one = Candidate(match[0].upper(), match.start(), match.end(), text, "option", 0)
        last_word.pop(one.value, None)
        ruled_out = (doubts.denied(one) or doubts.listed_as_wrong(one)) and not _UNDECIDED.search(one.before)
        if ruled_out or elimination.called_unlike(one.after):
            excluded[one.value] = one.start
            affirmed.discard(one.value)
            cue = "ruled_out" if ruled_out and "vs" not in one.before[-5:] else "option"
            last_word[one.value] = replace(one, cue=cue, evidence=(("denied", -100),))
        elif one.value not in excluded:
            affirmed.add(one.value)
    yield from last_word.values()
    yield from elimination.remaining(excluded, affirmed, text)
    yield from elimination.unmentioned(text, lines)


def _found(pattern: re.Pattern[str], text: str, cue: str, support: float) -> Iterator[Candidate]:
    for match in bounded(match for span in _spans(text) for match in _innermost(pattern, text, *span)):
        letter = LETTERS[MARKS.index(match["letter"])] if match["letter"] in MARKS else match["letter"].upper()
        start, end = match.span("letter")
        between = _ALL_OPTIONS.sub("", match.groupdict().get("between") or "")
        among_others = _BETWEEN.search(between)
        against = (("denied", -100),) if among_others else _against(letter, start, end, text, support <= doubts.WEAK)
        yield Candidate(letter, start, end, text, cue, support, against)


@lru_cache(maxsize=1024)
def _against(letter: str, start: int, end: int, text: str, is_weak: bool) -> tuple[tuple[str, float], ...]:
    """What speaks against a letter where it stands; several patterns find the same."""
    rules = doubts.WEAK_RULES if is_weak else doubts.STRONG_RULES
    return weigh(Candidate(letter, start, end, text, "", 0), rules).evidence


def _innermost(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """The matches in a stretch, and those that begin within one with an option before its letter."""
    while match := pattern.search(text, start, end):
        yield match
        between = _BETWEEN.search(match.groupdict().get("between") or "")
        start = match.start("between") + between.end() if between else max(match.end(), start + 1)


def _on_a_line(text: str) -> Iterator[Candidate]:
    """The letters that the first line and the last begin with: "C. Long thoracic nerve"."""
    written, position = [], 0
    for line in text.split("\n"):
        if line.strip():
            written.append((position, line))
        position += len(line) + 1
    lone = [(place, 51) for place in written[1:-1] if letter_of(place[1].strip(" .:()[]"))]
    heads = {match[1].upper() for _, line in written[:-1] if (match := _HEADING.fullmatch(line))}
    if len(heads) > 2:  # of the discussion of each
        return
    for (at, line), support in [(written[0], 52), *lone, (written[-1], 53)] if written else ():
        match = LINE.match(line[:MAX_LINE])
        surveyed = lists_options(line[:MAX_LINE]) or len(set(_BY_NAME.findall(line))) > 2
        if match and not surveyed and not re.match(CALLED, line[match.end("letter") :]):
            start, end = at + match.start("letter"), at + match.end("letter")
            yield weigh(Candidate(match["letter"].upper(), start, end, text, "line", support), doubts.STRONG_RULES)


def found_by(reading: Reading) -> str:
    """How a letter was found, in the words of the logged samples."""
    otherwise = "option_text" if reading.cue == "named" else "letter"
    return reading.cue if reading.cue in ("box", "tag", "key", "none") else otherwise


__all__ = ["LETTERS", "found_by", "letter_of", "read_letter"]
