"""Words that take a statement back or make it a supposition. Regular expressions for text in any case, by language."""

from __future__ import annotations

Cues = dict[str, str]

RETRACTED: Cues = {
    "en": r"\bwait\b|\bhmm+\b|\bscratch\sthat|\bon\s(?:second\sthought|reflection|closer\sinspection)"
    r"|\blet\sme\s(?:re-?consider|correct)"
    r"|\bi\smade\san?\s(?:\w+\s)?(?:mistake|error|slip)|\bthat\s(?:was|is"
    r"|would\sbe)\s(?:an?\s)?(?:\w+\s)?(?:mistake|wrong|error|slip|typo|miscalculation)\b"
    r"|(?<![\w\s])\s?no,\s(?!not\b)"
    r"|\?\s?no\b|\bactually,|\bcorrection:|\bredoing|\bi\s(?:take\sthat\sback|forgot|misread)|\bbut\sthat\swas"
    r"|\bchange\smy\s(?:answer|mind)",
    "de": r"\bmoment\b|\bhalt,|\bstopp\b|\bkorrektur:|\bdoch\snicht\b|\bnein,",
    "fr": r"\battendez?\b|\bcorrection\s?:|\bnon,|\ben\sfait,",
    "es": r"\bespera\b|\bcorrección:|\bmejor\sdicho",
    "pt": r"\bespere?\b|\bcorreção:|\bmelhor\sdizendo",
    "it": r"\baspetta\b|\bcorrezione:|\banzi,",
    "ru": r"\bподождите?\b|\bстоп\b|\bисправление:|\bхотя\sнет",
    "ar": r"انتظر|تصحيح",
    "hi": r"रुकिए|रुको|सुधार:",
    "zh": r"等等|等一下|更正",
    "ja": r"待って|訂正",
    "ko": r"잠깐|잠시만|정정",
}
"""What takes back the statements before it."""

TENTATIVE: Cues = {
    "en": r"\b(?:if|whether|unless|suppose|tempt(?:ed|ing)|at\sfirst|first\s(?:glance|sight|thought|choice|instinct"
    r"|idea"
    r"|guess)|initial(?:ly)?|(?:first|originally)\s(?:\w+\s)?(?:lean|thought|chose|pick|said|guess|went|consider"
    r"|suspect|answer)\w*"
    r"|(?:one|you|someone|some|many)\s(?:\w+\s){0,2}(?:might|may|could|would|say|think|claim|pick|choose)"
    r"|common\s(?:error|mistake)"
    r"|could\s(?:be|also)|might\sbe|may\s(?:also\s)?be|undecided|torn|often\sconfused|had\sasked)\b",
    "de": r"\b(?:auf\sden\sersten\sblick|wenn|falls|ob|zunächst|zuerst|könnte|vielleicht)\b",
    "fr": r"\b(?:à\spremière\svue|si|peut-être|pourrait|d['’]abord)\b",
    "es": r"\b(?:a\sprimera\svista|empecé|si|quizás|podría|al\sprincipio)\b",
    "pt": r"\b(?:à\sprimeira\svista|se|talvez|poderia|a\sprincípio)\b",
    "it": r"\b(?:a\sprima\svista|se|forse|potrebbe|inizialmente)\b",
    "ru": r"\b(?:если|может\sбыть|возможно|сначала|на\sпервый\sвзгляд)\b",
    "ar": r"(?<!\w)(?:إذا|ربما|لو)(?!\w)",
    "hi": r"(?:यदि|अगर|शायद)",
    "zh": r"(?:一开始|本来|原以为|如果|若是?|也许|可能是|起初)",
    "ja": r"(?:もし|かもしれ|最初は)",
    "ko": r"(?:만약|아마|처음에는)",
}
"""What makes a sentence a supposition, an earlier thought or someone else's."""

BUT: Cues = {
    "en": r"but(?:\srather)?",
    "de": r"sondern",
    "fr": r"mais(?:\splutôt)?",
    "es": r"sino",
    "pt": r"mas(?:\ssim)?",
    "it": r"ma|bensì",
    "ru": r"а",
    "ar": r"بل",
    "hi": r"बल्कि",
    "zh": r"而是",
    "ja": r"ではなく",
    "ko": r"아니라",
}
"""What joins a denial and what is the case."""
