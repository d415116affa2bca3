"""Verdicts in other languages than English: a word for one in a sentence, the negations of its clause counted."""

from __future__ import annotations

import re
from typing import NamedTuple

from medtasks_utils.extraction import cues
from medtasks_utils.extraction.verdict_forms import FACTUAL, HALLUCINATED, UNSURE


class Stated(NamedTuple):
    """A verdict, where its word stands in the sentence, and the weight of the statement."""

    value: str
    start: int
    end: int
    support: float


_Language = dict[str, re.Pattern[str]]
_WORDS_FOR = {
    "unsure": cues.UNSURE,
    "wrong": cues.WRONG,
    "hallucinated": cues.HALLUCINATED,
    "factual": cues.FACTUAL,
    "right": cues.RIGHT,
    "digit": dict.fromkeys(
        cues.JUDGED,
        rf"(?:(?<=[:是はは은는])\s?|(?<=ではなく)|(?<=ではなく,)|(?<=아니라)\s?|(?<=判为)"
        rf"|{cues.LABEL}\s)[012](?![\d.,]\d)|\b(?:also|daher|somit|donc|quindi|portanto|por\stanto),?\s[012](?=\W*$)"
        rf"|(?:(?<=lautet\s)|(?<=urteil\sist\s)|(?<=antwort\sist\s)|(?<=['’\s]est\s)|(?<=\ses\s)"
        rf"|(?<=\s[èé]\s))[012](?![.,]\d)(?=\s?(?:[.,;!]|$|(?:et|und|y|e)\sn))",
    ),
}
# What joins a verdict and the word by which it is called a mistake: "… zu nennen, wäre falsch".
_CALLED_SO = r"(?:,?\s(?:wäre|serait|ser[ií]a|sarebbe|было|будет)(?:\sбы)?\s|と[^。]{1,6}[のこ]と?は|것은|कहना\s)"


def _language(name: str) -> _Language:
    def cue(table: cues.Cues) -> str:
        return table.get(name, "(?!)")

    wrong = rf"(?:{cue(cues.WRONG)}|{cues.MISTAKE})"
    mistaken = rf"{wrong}(?:{cue(cues.TO_SAY)})"
    groups = (
        rf"(?P<{kind}>(?<![a-zà-ÿа-я])(?!{mistaken})(?:{cue(table)})(?![a-zà-ÿа-я]))"
        for kind, table in _WORDS_FOR.items()
    )
    patterns = {
        "verdict": "|".join(groups),
        "judged": cue(cues.JUDGED),
        "no": cue(cues.NO),
        "no_after": cue(cues.NO_AFTER),
        "mistaken": mistaken,
        "mistaken_after": rf"[^.,;:，。]{{0,40}}?{_CALLED_SO}\s?(?:[^\W\d]{{1,12}}\s){{0,3}}?{wrong}",
        "if": cue(cues.IF),
        "own": cue(cues.COMMON),
    }
    return {name: re.compile(pattern) for name, pattern in patterns.items()}


_LANGUAGES = {name: _language(name) for name in cues.JUDGED}
_LATIN = {name: _LANGUAGES[name] for name in ("de", "fr", "es", "pt", "it")}
_REPLIED = re.compile(r"[^:.]{0,80}:\s?(yes|no)(?=\W*(?:;|$))")
_ALONE = re.compile(r"\W*(?:\w{1,3}\W+)?\W*")
_DROPPED = re.compile(r"отпада|исключ|scart|descart|descartad|écart|entfällt|scheidet|排除|नहीं")
_WHEN = re.compile(r",?\s(?:wenn(?!\sauch)|falls|sofern|si(?!\sbien)|s['’]il|lorsqu|cuando|quando|se|если|когда)\b")
# "1 steht für halluziniert, 2 für unsicher".
_LEGEND = re.compile(
    r"(?<![a-z\d])([012])\s?(?:(?:steht\sfür|bedeutet|désigne|signifie|correspond\sà|significa|indica|corris?ponde?\sa"
    r"|означает|значит|обозначает|يعني|تعني)\s|का\s(?:अर्थ|मतलब)|代表|表示|意味着|指|は"
    r"|[은는])[^.。]{1,60}?(?<![a-z\d])(?!\1)[012]\s?[^\W\d]"
)
_SCALED = re.compile(r"(?<!\w)0(?!\w).{1,60}(?<!\w)1(?!\w)")
_ALL_THREE = re.compile(_SCALED.pattern + r".{1,60}(?<!\d)2(?!\d)")
_KANA = re.compile("[ぁ-ヿ]")
# "Man kann nicht sagen, dass …" and "À première vue, …" are one clause with what follows.
_JOINED = (
    "nichts|nicht zu|сказать|утверждать|sagen|behaupten|vue|lecture|vista|lectura|leitura|lettura|взгляд|之下|一看"
)
_NOT_AFTER = "".join(f"(?<!{word})" for word in _JOINED.split("|"))
_CLAUSE = re.compile(
    rf"(?:{_NOT_AFTER}[,，]|[;:،؛。]|\s[—–]\s)\s?|からといって|\sو(?!اقع|اضح|همي)|\sبل\s|बल्कि|लेकिन|परंतु|किंतु"
    rf"|\b(?:und|aber|sondern|mais|et|pero|sino|mas|ma|но|а)\b"
)
_CONCEDED = re.compile(cues.either(cues.CONCEDED))
# "It could be called factual, but it is not": what follows counts.
_OBJECTED = re.compile(r",\s(?:aber|doch|mais|pero|mas|ma|но)\b|但|(?:が|지만),")
_MIGHT = re.compile(
    r"\b(?:könnte|wollte|pourrait|allais|podría|iba\sa|poderia|ia\s|potrebbe|stavo|можно|хотел)|本想|可以"
)
_ANOTHER, _RATHER, _AT_FIRST = map(re.compile, (cues.ANOTHER, cues.RATHER, cues.FIRST_SIGHT))
_BUT = re.compile(
    r"(?<!pensé)(?<!pensei)(?<!pensato)(?<!dachte ich)[:;]\s|\b(?:aber|doch|mais|pero|mas|ma|но)\b|但|不过"
    r"|しかし|が,|지만|لكن|लेकिन"
)
_OPEN = re.compile(
    r"(?<![\w\u0900-\u0963])(?:oder|ou|oppure|или|या|أم|أو)\s|还是|或|是否|かどうか|または|인지|또는|请判断|teils"
    r"|en\spartie"
)


def stated(sentence: str, *, english: bool) -> Stated | None:
    """The verdict of a sentence in its language: the one with the most words of it, where several have its verdicts.

    Args:
        sentence: in lower case.
        english: whether it has an English word for a verdict, so that it needs a further word of its language.
    """
    languages = _LATIN if sentence.isascii() else _LANGUAGES
    for but in _OBJECTED.finditer(sentence):
        if _MIGHT.search(sentence, 0, but.start()):
            sentence = " " * but.end() + sentence[but.end() :]
    named = {name: one for name, one in languages.items() if one["verdict"].search(sentence)}
    if "zh" in named:
        named.pop("zh" if _KANA.search(sentence) else "ja", None)
    spoken = list(named.values())
    if len(spoken) > 1:
        words = [len(one["own"].findall(sentence)) + 2 * len(one["judged"].findall(sentence)) for one in spoken]
        spoken = [one for one, count in zip(spoken, words, strict=True) if count == max(words)]
        if len(spoken) > 1 and any(_supposed(one, sentence, [*one["verdict"].finditer(sentence)]) for one in spoken):
            return None
    found = [one for language in spoken if (one := _in_language(language, sentence, english))]
    return max(found, key=lambda one: one.support, default=None)


def _in_language(language: _Language, sentence: str, english: bool) -> Stated | None:
    if _LEGEND.search(sentence) or _ANOTHER.search(sentence):
        return None
    about = language["judged"].search(sentence) is not None
    matches = [
        match
        for match in language["verdict"].finditer(sentence)
        if not match["digit"] or match["digit"][0].isalpha() or about
    ]
    open_ = next((match for match in matches if match["unsure"] and _leaves_open(language, sentence, match)), None)
    if open_:
        return Stated(UNSURE, open_.start(), open_.end(), 60)
    matches = [match for match in matches if not match["unsure"]]
    if not matches:
        return None
    replied = _REPLIED.search(sentence, matches[0].end())
    if not replied and _supposed(language, sentence, matches):
        return None
    found, both = None, set()
    for match in matches:
        kind = str(match.lastgroup)
        clause = _CLAUSE.split(sentence[: match.start()])[-1]
        if _aside(sentence, match, clause):
            continue
        denied = _denied(language, sentence, match, clause) != bool(replied and replied[1] == "no")
        foreign = kind == "digit" or not english or language["own"].search(sentence)
        if kind == "digit" and denied:
            continue
        alone = replied or _ALONE.fullmatch(sentence[: match.start()] + sentence[match.end() :])
        if not about and not alone and (kind in ("right", "wrong") or not foreign):
            continue
        both |= {kind} if denied and kind in ("factual", "hallucinated") else set()
        value = UNSURE if len(both) > 1 else _value(kind, match[0].strip(), denied)
        support = (60 if about or alone else 45) - (6 if kind in ("right", "wrong") else 0)
        if found is None or support >= found.support:
            found = Stated(value, match.start(), match.end(), support)
    return found


def _supposed(language: _Language, sentence: str, matches: list[re.Match[str]]) -> bool:
    """Whether a sentence leaves its verdict open: an "or", an "if", a scale."""
    first = matches[0]
    if _OPEN.search(sentence) or language["if"].search(sentence, 0, matches[-1].start()):
        return True
    scale = {match.lastgroup for match in matches} >= {"factual", "hallucinated"} and _SCALED.search(sentence)
    return bool(scale or _WHEN.match(sentence, first.end()))


def _aside(sentence: str, match: re.Match[str], clause: str) -> bool:
    """Whether a word is conceded, not the class that is meant, or a first impression: "exacte au premier abord"."""
    before, after = sentence[: match.start()], re.split("[,;:]", sentence[match.end() : match.end() + 40])[0]
    seen = _AT_FIRST.search(f"{_BUT.split(before)[-1]}|{after}")
    return bool(seen or _RATHER.search(before) or _CONCEDED.search(_BUT.split(clause)[-1]))


def _leaves_open(language: _Language, sentence: str, match: re.Match[str]) -> bool:
    """Whether a word for being unsure is meant so: not denied, not one of the three that a task names."""
    clause, after = _CLAUSE.split(sentence[: match.start()])[-1], sentence[match.end() : match.end() + 40]
    no, no_after = language["no"].search(clause), language["no_after"].match(sentence, match.end())
    return not (
        no or no_after or _DROPPED.search(after) or _ALL_THREE.search(sentence) or language["if"].search(clause)
    )


def _denied(language: _Language, sentence: str, match: re.Match[str], clause: str) -> bool:
    negations = bool(language["no"].search(clause) or language["no_after"].match(sentence, match.end()))
    mistaken = language["mistaken"].search(sentence, max(map(sentence[: match.start()].rfind, ":;：；")) + 1)
    before = mistaken is not None and mistaken.start() < match.start()
    return (negations + bool(before or language["mistaken_after"].match(sentence, match.end()))) % 2 == 1


def _value(kind: str, word: str, denied: bool) -> str:
    if kind == "digit":
        return word[-1]
    return FACTUAL if (kind in ("factual", "right")) != denied else HALLUCINATED
