"""What a letter of an option looks like within a sentence."""

from __future__ import annotations

from medtasks_utils.extraction import cues

# A capital alone (but not the article in "A patient with …", nor "B-cell", "A's"), or a small letter that something
# closes ("answer: c." but not "the answer is a drug").
_SMALL_WORDS = (
    "because|since|as|is|for|due|given|which|so|but|not|in|with|and|or|rather|ist|est|es|no|ne|weil|car|porque"
    r"|perch\w{0,2}|den|"
    "und|makes|best|fits|matches|correctly|would|seems|must|should|appears|only|remains|it"
)
_ARTICLE = rf"\s(?!(?:{_SMALL_WORDS})\b)[a-z0-9]"
LETTER = (
    rf"(?<![A-Za-z0-9À-ÿ])(?:[A-D](?![A-Za-z0-9+À-ÿ]|['’][a-z]|-[A-Za-z0-9])(?<!A(?={_ARTICLE}))"
    r"|[a-d](?=\s?(?:[).:,;\]]|because\b|since\b|$)))"
)
# What follows is no second letter, as in "A or B", "A, B and C", "A/B", "C (or D)", "AとB".
ONE_ONLY = (
    rf"(?!\s?[)\]]?\s?(?:\(?(?i:(?:and/)?or|oder|или|أو|या)(?!\w)|(?:\(?{cues.either(cues.OR)}\s?"
    rf"|[/&]\s?)[(\[]?[A-D](?![A-Za-z])"
    r"|\s?(?:and|und|et|y|e)\s(?:option|choice|[A-D])\b)"
    r"|[)\]]?,\s?[(\[]?[A-D](?![A-Za-z])[)\]]?\s?(?:[,.]|and\b|or\b|und\b|oder\b|et\b|y\b|o\b|ou\b|$))"
)
