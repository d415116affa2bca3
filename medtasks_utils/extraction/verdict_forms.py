"""What verdicts are read from: a text in lower case, its forms, tables and questions as plain statements."""

from __future__ import annotations

import re

from medtasks_utils.extraction import cues

FACTUAL, HALLUCINATED, UNSURE = "0", "1", "2"

_ONLY_SEEMS = re.compile(
    r"\b(?:(?:sounds|looks|seems|appears|reads)(?:\slike|\sas)?|(?:suggests|insists|says|claims|thinks|believes"
    r"|said)\s(?:that\s)?(?:it|this|the\s\w+)\s(?:is|was))((?:\s\w+){1,4}?)[.,;]\s{1,2}(?:but\s)?(?:(?:it|this"
    r"|that)\s(?:isn['’]t|is\snot|doesn['’]t)\s?(?:[.!;]|$)|i\s(?:\w+ly\s)?(?:disagree|do(?:n['’]t|\snot)\s(?:agree"
    r"|share)))"
)
_ANSWERED_QUESTION = re.compile(
    r"(?:\?|(?<=か)。)\s{0,4}(?:a(?:nswer)?:\s|[^?!\n]{0,60}\b(?:the\sanswer\sis|(?:have\sto|must)\ssay)\s(?=yes"
    r"|no))?(?:(?P<said>(?<=\s)(?:yes|no|true|false))\b|(?P<no>(?<=\s)(?:no(?:thing|ne|pe)|nah|hardly|never"
    r"|far\sfrom\sit|not\s(?:a\sthing|any\s?more)|in\sno\s\w+|i\s(?:find|found|see|saw)\snothing|i['’]m\safraid\snot"
    r"|i\sdo(?:n['’]t|\snot)\sthink\sso|(?:let\sme\s\w+|here\sis|this\sis)\swhy\s(?:it\s\w+\s)?not"
    r"|(?:\w+ly,\s)?it\s(?:is|does|was)\snot(?=\W*(?:$|[.;!])))\b|(?<=\s)(?:absolutely\s|certainly\s)?not\b(?=\W*(?:$"
    r"|[.,;!])|\s(?:at\sall|really|quite|in|by|that|with|for|if)\b)"
    rf"|[✘✗❌]|(?:i|it)\s(?:would|do|does|did|is)(?:\snot|n['’]t)\b(?!\sknow)|{cues.any_word(cues.REPLY_NO)})"
    rf"|(?P<yes>[✔✓✅]|(?<=\s)(?:(?:i['’]m\safraid|i\s(?:\w+\s)?(?:think|say|believe))\s(?:so|it\s(?:is|does))"
    rf"|in\sall\s\w+\sit\s(?:is|was|does)|everything\spoints\sto\sit|indeed|absolutely|certainly|definitely|it\s(?:is"
    rf"|does)(?=\W*(?:$|[.,;]))|i\swould(?=\W*(?:$|[.,;])))|{cues.any_word(cues.REPLY_YES)}(?=\W*(?:$|[.,;!]|\s(?:the"
    rf"|la|die|el|o|ответ)\b))))"
)
_QUOTED_QUESTION = re.compile(r"(?<!\w)['\"‘“«][^'\"\n]{1,80}\?['\"’”»]")
_BOLD_DIGIT = re.compile(r"^\s{0,4}(?:\*\*|__)([012])(?:\*\*|__)[.:]?\s", re.MULTILINE)
_FORMATTING = re.compile(r"[*`${}\"“”„«»「」『』#]|\\(?:text|textbf|mathrm|mathbf)\b|\\[()\[\],;! ]|</?\w{1,12}>")
# "0 – factual", "1 – hallucinated", "2 – unsure" on a line each.
_SCALE = re.compile(r"(?:(?:^|\n)[ \t>(•-]{0,8}[012]\s?[-–—:=.)→][^\n]{1,80}){2,3}")
# "(0 = factual, 1 = hallucinated, 2 = can't tell)".
_INLINE_SCALE = re.compile(
    r"\(?\b0\s?[=:–-]\s?[^\n()]{1,120}?[,;·]\s?1\s?[=:–-]\s?[^\n()]{1,120}?[,;·](?:\sand"
    r"|\sor)?\s?2\s?[=:–-]\s?[^\n(),.;]{1,80}\)?"
)
# What a template leaves to be filled in: "<true|false>", "0|1|2".
_BLANK = re.compile(
    r"(?:[\"']?\b\w{1,24}[\"']?\s?[:=]\s?[\"']?)?(?:<[^<>\n]{0,40}(?:\||\bor\b)[^<>\n]{0,40}>|\b(?:true\s?[|/]\s?false"
    r"|yes\s?[|/]\s?no|0\s?[|/]\s?1(?:\s?[|/]\s?2)?|factual\s?[|/]\s?hallucinated\w*)\b)",
    re.IGNORECASE,
)
# "Halluziniert: falsch", "<factual>falso</factual>", a line or key for a class.
_OF_CLASS = re.compile(
    rf"(?:^|[\n{{,;.?!]\s?)[^\w\n]{{0,8}}(?:\w{{1,3}}[ _])?(?:(?P<hallucinated>hall?ucinat\w{{1,3}}"
    rf"|{cues.either(cues.HALLUCINATED)})|(?P<factual>{cues.either(cues.FACTUAL)})|(?:uns(?:ure|icher)|uncertain"
    rf"|dudos[oa]|duvidos[oa]|inciert[oa]|{cues.either(cues.UNSURE)}))[\"'*]{{0,3}}\s?[:=?][\s\"'*]{{0,4}}"
    rf"(?:(?P<yes>{cues.any_word(cues.TRUE)})|{cues.any_word(cues.FALSE)}|(?P<open>un(?:sure|certain|clear|known)))"
    r"(?=[\"'*]{0,3}[.;,}]?\s{0,3}(?:\n|$|[}\"'])|[\"']?,\s)",
    re.IGNORECASE,
)
# {"0": 0.41, "1": 0.38}: no label, though one class stands first.
_BY_CODE = re.compile(r"\{\W{0,4}[012]\W{1,4}[^{}\n]{1,60}?,\W{0,4}[012]\W{0,3}:[^{}]{1,90}\}")
_REFERENCES = re.compile(r"(?im)^\W{0,6}(?:references|sources|citations|literatur\w?|参考文献)\s?:.*")
_ELEMENT = re.compile(r"<(?P<name>[a-z_]{3,24})>\s{0,4}([^<>\n]{1,40}?)\s{0,4}</(?P=name)>", re.IGNORECASE)
# "Halluzination: nein"; "number of hallucinated claims: 2", "hallucination score: 0/10".
_KEYED = re.compile(
    rf"(?<=\w)\s?[:=→]\s?(?:({cues.any_word(cues.REPLY_YES)}|✅)|{cues.any_word(cues.REPLY_NO)}|❌)(?=\W*(?:\n|$))"
)
_COUNTED = re.compile(
    r"\b((?:hallucinat|fabricat|invent|unsupport|factual)\w*)\s(?:claims?|statements?|sentences?|facts?|figures?"
    r"|details?|errors?|elements?|parts?|score)(?:\sfound)?\s?[:=]\s?(?:(0\b(?![.,]\d)|none\b|n/a|\(none\)"
    r"|[-–—]+(?=\W*$))|\d+\b(?![.,]\d))(?:\s?(?:/|out\sof)\s?\d+)?",
    re.MULTILINE,
)
# "0 of the 4 are hallucinated", "0 are invented".
_NONE_OF = re.compile(r"(?<![\w.,/])0(?=\s(?:out\s)?of\s(?:the|them|these|all|\d)|\s(?:are|were)\b)")
# What denies the sentence that follows it: "it cannot be said that", "nobody would call".
_NOT_TO_SAY = re.compile(
    r"(?:\bcan(?:not|['’]t|\snot|\shardly)\sbe\s(?:said|claimed|maintained|argued)\sthat|\b(?:(?:one|you"
    r"|we)\scan(?:not|['’]t|\snot|\shardly)|no(?:body|\sone)\s(?:can|could|would))\s(?:say|claim|argue|maintain)\sthat"
    r"|\bfar\sbe\sit\sfrom\sme\sto|(?:n['’]t|not)\s(?:go\s)?so\sfar\sas\sto)\s"
)
_CONTRACTED = re.compile(r"\b(would|is|does|ca|do|was|are|were|did|could|should|has|have|wo)nt\b|\bain'?t\b")
_I_AM = re.compile(r"\bim(?=\s(?:not|un\w+|sure|pretty|fairly|quite|very|really|certain|confident|going|afraid)\b)")
# "With the non-hallucinated answers"; "rather than factual", "as opposed to hallucinated".
_AMONG = re.compile(
    r"\b(?:belongs|goes|falls|fits)\s\w+\s(?:the\s)?((?:non-)?hallucinated|factual)\s(?:answers|ones)\b"
)
_SET_OFF = re.compile(
    r",?\s(?:rather\sthan|as\sopposed\sto|instead\sof|in\splace\sof)\s(?:(?:as|an?|being)\s)?(?:factual|hallucinat\w+"
    r"|unsure|[012])\b(?:\sor\s(?:unsure|[012])\b)?(?!\s(?:one|answer))"
)
# A kind of hallucination with its meaning, or with what was found of it.
_KIND = r"(?:misinterpret\w*|incomplete|mechanism|methodological|evidence\sfabricat|fabricat\w+\sof)"
_KINDS = tuple(
    re.compile(rf"{start}(?:\d[.)]\s?)?[^\w\n]{{0,4}}{_KIND}[^\n:–|—]{{0,50}}(?:[:–|—]|\s-\s){rest}", re.MULTILINE)
    for start, rest in ((r"^[^\w\n]{0,8}", r"[^\n]*$"), (r"(?:^|(?<=[.;]\s))", r"[^\n.;]*[.;]?"))
)


def unformatted(text: str) -> str:
    """The text in lower case without formatting."""
    return _FORMATTING.sub("", text.lower()).replace("_", " ")


def statements(text: str) -> str:
    """The text in lower case without formatting and scales; elements and answered questions are said.

    >>> statements("<hallucination>no</hallucination>"), statements("Is it factual? Yes.")
    ('.\\nhallucinated: no.\\n', 'is it factual: yes;.')
    """
    text = _ELEMENT.sub(
        r"\1: \2.\n", _BLANK.sub("", text) if re.search(r"<[^<>\n]*[|o]|(?i:0|true|yes|factual)\s?[|/]", text) else text
    )
    text = _OF_CLASS.sub(_of_class, _REFERENCES.sub("", _BY_CODE.sub("", text)))
    text = _INLINE_SCALE.sub("; the scale;", _BOLD_DIGIT.sub(r"\1: ", _QUOTED_QUESTION.sub("", text)))
    plain = _NONE_OF.sub("none", _SCALE.sub(_without_scale, unformatted(text)))
    plain = _NOT_TO_SAY.sub(" not ", _I_AM.sub("i'm", _CONTRACTED.sub(lambda match: f"{match[1] or 'is'}n't", plain)))
    plain = _SET_OFF.sub("", _AMONG.sub(r"is \1", plain))
    plain = _ANSWERED_QUESTION.sub(_answered, _ONLY_SEEMS.sub(r"it is not\1.", re.sub(r" {2,}", " ", plain)))
    plain = _KEYED.sub(lambda match: f": {'yes' if match[1] else 'no'}.", plain)
    plain = _COUNTED.sub(lambda match: f"{match[1]}: {'no' if match[2] else 'yes'}", plain)
    for kind in _KINDS:
        plain = kind.sub("", plain) if len(kind.findall(plain)) > 2 else plain
    return plain


def _of_class(match: re.Match[str]) -> str:
    """A class with a yes or no in any language as an English sentence; no word for one that is not unsure."""
    if not (match["hallucinated"] or match["factual"]) or match["open"]:
        return ".\nI am unsure" if match["yes"] or match["open"] else ".\n"
    return f".\n{'hallucinated' if match['hallucinated'] else 'factual'}: {'yes' if match['yes'] else 'no'}"


def _without_scale(lines: re.Match[str]) -> str:
    """Nothing for a scale that is restated, line by line from 0 on; the text of any other numbered list."""
    numbers = re.findall(r"(?:^|\n)[^\w\n]*(\d)", lines[0])
    return "\n" if "0" in numbers and len(set(numbers)) == len(numbers) else lines[0]


def _answered(match: re.Match[str]) -> str:
    return f": {match['said'] or ('no' if match['no'] else 'yes')};"
