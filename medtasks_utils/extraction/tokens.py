"""What a letter of an option looks like within a sentence."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from medtasks_utils.extraction import cues
from medtasks_utils.extraction.spelling import Spelling

# A capital alone (but not the article in "A patient with …", nor "B-cell", "A's"), or a small letter that something
# closes ("answer: c." but not "the answer is a drug").
_SMALL_WORDS = (
    "because|since|as|is|for|due|given|which|so|but|not|in|with|and|or|rather|ist|est|es|no|ne|weil|car|porque"
    r"|perch\w{0,2}|den|"
    "wählen|nehmen|ankreuzen|entscheiden|fest|zurück|und|ni|né|nem|noch|nor|quella|aus|fällt|passt|scheidet|makes|best|fits|matches|correctly|would|seems|must|should"
    r"|appears|only|an|remains|it|instead|over|here|then"
)
ARTICLE = rf" (?!(?:{_SMALL_WORDS})\b)[a-z0-9]"
LETTER = (
    rf"(?<![A-Za-z0-9À-ÿ抗])(?<!(?i:anti|анти)-)(?:[A-D](?![A-Za-z0-9+À-ÿ]|['’][a-z]|-[A-Za-z0-9])(?<!A(?={ARTICLE}))"
    r"|(?<=['‘])[a-d](?=['’])|[a-d](?=\s?(?:[).:,;!\]]|because\b|since\b|$)))"
)
# What follows is no second letter, as in "A or B", "A, B and C", "A/B", "C (or D)", "AとB".
ONE_ONLY = (
    rf"(?!\s?[)\]]?\s?(?:\(?(?i:(?:and/)?or|oder|или|أو|या)(?!\w)|(?:\(?{cues.either(cues.OR)}\s?"
    r"|[/&]\s?)[(\[]?[A-D](?![A-Za-z])|\s?(?:and|und|et|y|e)\s(?:(?:the|die|la|le)\s)?(?:option|choice|[A-D])\b)"
    r"|[)\]]?,\s?[(\[]?[A-D](?![A-Za-z])[)\]]?\s?(?:[,.]|and\b|or\b|und\b|oder\b|et\b|y\b|o\b|ou\b|e\b|और|и\b|$))"
)

_STYLED = {
    code: unicodedata.normalize("NFKC", chr(code))
    for first, last in ((0x24B6, 0x24EA), (0x1D400, 0x1D7CC), (0x1F110, 0x1F12A))
    for code in range(first, last)
}
_STYLED |= {first + n: "ABCD"[n] for first in (0x1F130, 0x1F150, 0x1F170, 0x2460) for n in range(4)} | {0xFE0F: ""}
_ALIKE = str.maketrans("АВСΑΒ", "ABCAB")
_RUSSIAN_ORDER = str.maketrans("АБВГ", "ABCD")
_CYRILLIC = re.compile(
    r"(?<![^\W_])[АБВГСΑΒ](?![^\W_])(?=\s?(?:[).,;:!»\"*\]—–]|$)|\s[(—–-])|(?i:(?<=ответ\s)|(?<=вариант\s)"
    r"|(?<=выбираю\s)|(?<=буква\s)|(?<=буквой\s))[АБВГС](?![^\W_])",
    re.MULTILINE,
)


def latin_letters(text: str) -> str:
    """The text with letters of options in other guises as A–D: circled, bold, Cyrillic and Greek ones that look alike.

    Cyrillic letters in their own order (А, Б, В, Г) mean the first to the fourth.

    >>> latin_letters("Ⓑ"), latin_letters("Ответ: В"), latin_letters("Не Б, а В.")
    ('B', 'Ответ: B', 'Не B, а C.')
    """
    text = text.translate(_STYLED)
    found = {match[0] for match in _CYRILLIC.finditer(text)}
    table = _RUSSIAN_ORDER if found & {"Б", "Г"} else _ALIKE
    return _CYRILLIC.sub(lambda match: match[0].translate(table), text) if found else text


_NOT_FINAL = (  # "my last answer" is no fourth option
    r"(?!(?:last|letzte|dernière|última|ultima|последний|अंतिम)\s(?:answer|antwort|réponse|respuesta|resposta|risposta"
    r"|ответ|उत्तर)|(?:second|third)\schoice(?!\sis\s(?:the\s)?(?:correct|right|best|answer)))"
)


def _ordinal(language: str) -> re.Pattern[str]:
    ranks = cues.ORDINALS[language].split()
    groups = [_counted(ranks, mark) for mark in "_xyz"]
    noun = cues.ORDERED[language]
    if language in ("zh", "ja", "ko"):
        return re.compile(rf"(?:{groups[0]})(?:{noun}){'' if language == 'zh' else '?'}")
    verb = (
        rf"{cues.CHOOSE.get(language, cues.CHOOSE['en'])}|{cues.REMAINS[language]}|(?:richtig|korrekt)\sist"
        r"|(?<![^.:;,\n]\s)(?:it\sis|it['’]s|es\sist|c['’]est|è|es|é|это|هو|هي)"
    )
    placed = cues.PLACED[language].replace("{}", f"(?:{groups[2]})", 1).replace("{}", f"(?:{groups[3]})")
    link = (
        rf"(?:[—–:=-]\s?|(?:[^\W\d_]{{1,12}}\s)?{cues.either(cues.LINK)}[\s:]\s?(?:{cues.either(cues.FILLER)}){{0,4}})?"
    )
    return re.compile(
        rf"(?<![^\W_]){_NOT_FINAL}(?:{placed}|(?<!\bmy\s)(?<!\bmi\s)(?<!minha\s)(?<!\bma\s)(?:{groups[0]})\s{noun}"
        rf"|(?P<noun>{noun}(?:\s|(?=:)){link}|(?:{verb})\s(?:{cues.either(cues.FILLER)}){{0,4}})(?:{groups[1]})(?:\s(?:{noun})"
        r"|(?=[*_]{0,3}(?:\s?[.,;:!?()—–\n]|\s-|$)|\s(?:because\b|since\b|weil\b|है)"
        rf"|\s?{cues.either(cues.CORRECT)})))(?![^\W_])",
        re.IGNORECASE,
    )


def _counted(ranks: Sequence[str], mark: str = "x") -> str:
    return "|".join(f"(?P<{mark}{letter}>{rank})" for letter, rank in zip("ABCD", ranks, strict=True))


def _cardinal(language: str) -> re.Pattern[str]:
    counted = _counted(cues.CARDINALS[language].split())
    return re.compile(
        rf"(?<![^\W_])(?P<noun>{cues.ORDERED[language]}\s)(?:n[uú]m+(?:be|e)ro?\s|numéro\s"
        rf"|номер\s)?(?:{counted})(?!,?\s(?:and\s)?\d)(?=\s?(?:[.,;:!?()—–\n]|$)|\s?{cues.either(cues.CORRECT)})",
        re.IGNORECASE,
    )


def _spoken(language: str) -> re.Pattern[str]:
    counted = _counted(cues.SPOKEN[language].split())
    return re.compile(
        rf"(?P<noun>{cues.either(cues.ANSWER)}(?:[^\n.?!;。،]{{0,20}}?{cues.either(cues.LINK)}\s?"
        rf"|\s)[「(]?)(?:{counted})(?=\s?[.,;:!?()」。،।]|\s?$|\s?(?:です|입니다|번|ही?\s|है|सही|नहीं))",
        re.IGNORECASE | re.MULTILINE,
    )


def _literals(spelled: str) -> tuple[str, ...]:
    """For each alternative of a cue a stretch of letters without which it is not there.

    >>> _literals("première?|1re deuxième")
    ('premièr', '1re', 'deuxième')
    """
    runs = (re.findall(r"[^\W_]+(?![?*{])", each) for each in re.split(r"[ |]", re.sub(r"\[[^]]*\]", " ", spelled)))
    return tuple(max(run, key=len) for run in runs if run)


_RANKED = tuple(
    (_literals(spelled), pattern(language))
    for table, pattern in ((cues.ORDINALS, _ordinal), (cues.CARDINALS, _cardinal), (cues.SPOKEN, _spoken))
    for language, spelled in table.items()
)


def ordinals_as_letters(text: str) -> str:
    """The text with "the third option" as "option C", in any language.

    >>> ordinals_as_letters("Take the third option."), ordinals_as_letters("应为第二项")
    ('Take the option C.', '应为 option B ')
    """
    lowered = text.lower()
    for literals, pattern in _RANKED:
        if any(literal in lowered for literal in literals):  # far cheaper than the search
            text = pattern.sub(_as_letter, text)
    return text


_SPEAKER = re.compile(
    r"\b(Dr|Prof|Mrs?|Ms|(?i:doctor|student|expert|reviewer|rater|speaker|examiner|colleague|panell?ist"
    r"|resident))\.?\s[A-D]\b(?!\.\s[A-Z])"
)
_MAPPED = re.compile(r"(?i:answers?)[\"']?\s?[:=]\s?\{(?=\s*[\"']?A[\"']?\s?:)")  # {"answer": {"A": 0.1, …}}
_JUDGED = re.compile(  # {"option": "C", "verdict": "accepted"}, <option_c>true</option_c>
    r"\{[^{}\n]{0,80}(?i:option|choice|letter|label|id)[\"']\s?:\s?[\"'](?P<letter>[A-D])[\"')].[^{}]{0,400}?[\"'_]"
    r"(?i:verdict|status|correct|judg\w+|selected|evaluation|assessment)[\"']\s?:\s?[\"']?(?P<said>\w+)[^{}]{0,400}\}"
    r"|<\w{3,9}\s[^<>\n]{0,60}?(?:letter|id|label|key|name)=[\"'](?P<attribute>[A-D])[\"'][^<>\n]{0,60}?(?:selected"
    r"|correct|chosen"
    r"|answer|checked)=[\"'](?P<set>\w+)[\"'][^<>\n]{0,60}>"
    r"|<(?i:option_?)(?P<tag>[A-Da-d])>\s?(?P<held>\w+)\s?</[^<>]{1,9}>"
)
_SMALL = re.compile(
    r"(?<![A-Za-z])((?i:(?:answer|choice|option|opt|ans)\.?(?:\sis)?:?|it'?s|is)\s\(?)([a-d])(?=\s(?:b[ceaou]{3,4}s?e"
    r"|cause|coz|cuz|bcoz"
    r"|bc|since)\b)|((?i:opt|ans)\.?:?\s)([a-d])(?=\s[A-Z])"
)
_INDEXED = re.compile(r"\b(?:options|choices)\[([0-3])\]")
_IS = re.compile(r"(?<=answer |choice )si(?= )")
_SPELLING = Spelling(["answer", "choice", "option"], ["answers", "choices", "options", "chose", "chosen"])
_MARK = rf"[{cues.TICKS}{cues.CROSSES}☒]|\[[ xX]?\]"
_MARKED = re.compile(  # "✅ D  ❌ A  ❌ B", "(A) ☐ (B) ☑ (C) ☐"
    rf"^[\s*>-]{{0,4}}(?:(?:{_MARK})\s?\(?[A-D]\)?[\s,;|]{{1,3}}){{2,3}}(?:{_MARK})\s?\(?[A-D]\)?\s*$"
    rf"|^[\s*>-]{{0,4}}(?:\(?[A-D][):]?\s?(?:{_MARK})[\s,;|]{{1,3}}){{2,3}}\(?[A-D][):]?\s?(?:{_MARK})\s*$",
    re.MULTILINE,
)


def _line_by_line(row: re.Match[str]) -> str:
    letters, marks = re.findall("[A-D]", row[0]), re.findall(_MARK, row[0])
    ticks = ["☐" if mark in ("[ ]", "[]") else "☑" if mark in "[x][X]☒" else mark for mark in marks]
    return "\n".join(f"{letter}: {tick}" for letter, tick in zip(letters, ticks, strict=True))


def plain_letters(text: str) -> str:
    """The text with its options as letters, and the nouns that announce an answer well spelt.

    >>> plain_letters("Ⓑ"), plain_letters("anwser: the third option")
    ('B', 'answer: the C')
    """
    text = _INDEXED.sub(
        lambda one: f"option {'ABCD'[int(one[1])]}",
        _JUDGED.sub(r"\n\g<letter>\g<tag>\g<attribute>: \g<said>\g<held>\g<set>\n", text),
    )
    text = _IS.sub("is", _SPELLING.corrected(_SPEAKER.sub(r"\1", _MAPPED.sub("{", text))))
    text = _SMALL.sub(lambda one: (one[1] or one[3]) + (one[2] or one[4]).upper(), text)
    return ordinals_as_letters(latin_letters(_MARKED.sub(_line_by_line, text)))


def _as_letter(match: re.Match[str]) -> str:
    found = match.groupdict()
    noun = found.pop("noun", None)
    letter = next(name[-1] for name, rank in found.items() if rank)
    edge = "" if match[0].isascii() else " "
    return f"{noun}{letter}" if noun else f"{edge}option {letter}{edge}"
