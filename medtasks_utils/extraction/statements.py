"""Statements that choose an option's letter: their patterns, by kind and weight."""

from __future__ import annotations

import re

from medtasks_utils.extraction import cues
from medtasks_utils.extraction.options import MARKS
from medtasks_utils.extraction.tokens import LETTER, ONE_ONLY

_ANSWER, _LINK, _FILLER, _CHOOSE, _CORRECT, _THEREFORE, _SHOWN = map(
    cues.either,
    (cues.ANSWER, cues.LINK, cues.FILLER, cues.CHOOSE, cues.CORRECT, cues.THEREFORE, cues.SHOWN),
)
_FILLERS = rf"(?:{_FILLER}){{0,12}}?"
_LABEL = (
    r"(?<![A-Za-z])(?i:answer|ans\.?|sol\.?|antwort|réponse|respuesta|resposta|gabarito|risposta|ответ|الإجابة|الجواب"
    r"|الخيار\sالصحيح|उत्तर|सही\sविकल्प|答案|正确选项|正解|정답)\s?[(\[]?"
)
_OPTION = (
    r"(?i:letter|opt\.?|buchstabe|lettre|letra|lettera|option|choice|choix|opción|opção|opzione|alternativa|вариант"
    r"|букв\w{1,2}|الخيار|विकल्प|选项)"
)
_REASON = (
    r"(?:because|since|as|for|due|given|which\sis|with|weil|da|denn|car|puisque|porque|ya\sque|pois|perché|poiché"
    r"|так\sкак|потому|है|ही|सही|क्योंकि|هي|هو|صحيح|لأن)"
)
_NOT_A_SUBJECT = (
    rf"(?![)\]]?(?:\s\([^()\n]{{0,60}}\))?,?\s(?!{_REASON}(?![^\W_]))[a-zà-ÿа-я\u0620-\u064a\u0904-\u0939])"
)
_ENDED = (
    r"(?=[)\]]?\s?(?:,(?!\swhich\s[^,.\n]{1,60},\s(?:can|could|will|would|does|do|has)(?:not)?\b)|[;:!?。…]"
    r"|\.(?!\s?[a-z])|-\s|\(|(?:one|option|choice|rather|instead|that|to|zu|qu[ei]|quella|che|la\sque|die|but|though"
    r"|although)\b|qu['’]|because\b|since\b|です|である|だ|है|입니다|이다|$))"
)

# Each kind of statement, its pattern and its weight.
STATEMENTS = tuple(
    (cue, re.compile(pattern, re.MULTILINE), weight)
    for cue, pattern, weight in (
        # "The answer is (C)", "Correct option: C", "正解はC".
        (
            "answer",
            rf"(?<![A-Za-z])(?<!(?i:second)[\s_])(?<!(?i:each"
            rf"|more)\s)(?<!(?i:every)\s)(?<!wrong_){_ANSWER}(?!s\b)(?P<between>[^\n.?!;。]{{0,100}}?){_LINK}{_FILLERS}(?P<letter>{LETTER}){ONE_ONLY}",
            60,
        ),
        # "I choose C", "C を選びます".
        ("choose", rf"(?<![A-Za-z]){_CHOOSE}(?![a-z]){_FILLERS}(?P<letter>{LETTER}){ONE_ONLY}", 57),
        ("choose", rf"(?P<letter>{LETTER})[)\]]?{cues.either(cues.CHOSEN_BEFORE)}", 57),
        # "C is correct", "C (long thoracic nerve) is the best answer", "C ist richtig", "Cが正解".
        (
            "correct",
            rf"(?P<letter>{LETTER})[)\].']?(?:\s\([^()\n]{{0,80}}\)|,\s(?![A-D]\b|not\b|unlike\b|but\b|and\b|or\b"
            rf"|so\b)[^,.;\n]{{1,40}},|(?<!A)\s[A-D])?,?\s?{_CORRECT}(?![A-Za-z])",
            55,
        ),
        # "Edit: C → D", "I change it from C to D".
        (
            "revised",
            rf"(?i:\b(?:edit\w*|chang\w*|correct(?:ed|ion|ing)|revis\w+|updat\w+|switch\w*|amend\w*)\b)[^\n.;]{{0,40}}?"
            rf"(?<![A-Za-z])[A-D]\s?(?:→|[-=]>|(?i:in)?to)\s?(?:{_FILLER})*?(?P<letter>{LETTER}){ONE_ONLY}",
            61,
        ),
        # "Therefore, C.", "It's C", "sondern C", "所以C".
        (
            "therefore",
            rf"(?:{_THEREFORE}|{cues.any_word(cues.BUT)})[,:]?(?:(?i:it\sis|it\smust\sbe|rather|to)"
            rf"|{_FILLER}){{0,12}}?[(\['<]?(?P<letter>{LETTER}){ONE_ONLY}{_ENDED}",
            50,
        ),
        # "Given the short QT: C.", "Which option? D."
        (
            "colon",
            r"(?:[:?;→—–]|--|\b(?:is|be|ist|est|es|é|è)|[a-zà-ÿа-я)]{2}[.!])\s\(?(?P<letter>[A-D])(?=\)?\s?(?:[.!]?\s*$"
            r"|\.\s[(—–]))",
            32,
        ),
        ("colon", r"(?:^|[.!?:;]\s)(?i:la|el|le|die|il|a|o)\s(?P<letter>[A-D])(?=[.!]?\s*$|,\s)", 32),
        ("option", rf"(?<![A-Za-z])(?:{_OPTION}|{_LABEL})\s?[(\[]?(?P<letter>{LETTER}){ONE_ONLY}{_NOT_A_SUBJECT}", 30),
        ("option", rf"(?<![A-Za-z])(?:{_OPTION}|{_LABEL})\s?[(\[]?(?P<letter>{LETTER}){ONE_ONLY}", 23),
        # "Only C fits", "Somit passt nur C", "seul C".
        (
            "only",
            rf"(?:^|[.:;,]\s)(?:[^\W\d][\w'’]{{0,12}}\s){{0,4}}?{cues.either(cues.ONLY)}\s?(?:{_FILLER}|der\s|das\s"
            rf"|les?\s)*?(?P<letter>{LETTER}){ONE_ONLY}(?!\s(?i:in|when|if)\b)",
            34,
        ),
        # "✅ C", "👉 C" on a line.
        ("mark", rf"^[\s>#*_•-]{{0,8}}[✅✔✓👉☑➡▶★⭐⇒]\W{{0,6}}(?P<letter>{LETTER})(?=\W{{0,4}}$|\s?[:(–—-])", 40),
        # "A no, B no, C yes"
        ("mark", rf"(?P<letter>{LETTER})[)\]:]?\s(?:[–—:-]\s)?{cues.any_word(cues.YES)}(?=\s?(?:[.,;!]|$))", 40),
        # "C": {"text": …, "correct": true}
        (
            "mark",
            r"(?<![A-Za-z])(?P<letter>[A-D]):\s(?:(?:(?![A-D]:)[^\n]){0,200}?(?i:correct|right|answer"
            r"|true):\s)?(?i:true|yes)\b",
            40,
        ),
        # "This points to C".
        ("shown", rf"{_SHOWN}(?:{_FILLER}){{0,5}}?(?P<letter>{LETTER}){ONE_ONLY}{_ENDED}", 33),
        # "What is left is D", "Bleibt C", "剩下D".
        ("remaining", rf"(?<![^\W_]){cues.either(cues.REMAINS)}[,:]?\s?{_FILLERS}(?P<letter>{LETTER}){ONE_ONLY}", 56),
    )
)
# Of the options that a text names, the one that it puts first.
LEADING = re.compile(
    rf"(?P<opening>\A\W{{0,4}})?(?P<letter>{LETTER}),?\s(?i:(?:is|are)\s(?:the\s)?(?:single\s)?(?:most\s(?:likely"
    r"|common(?:ly)?|appropriate|suitable|frequent(?:ly)?|probable|effective|important|typical|characteristic|specific)"
    r"|[a-z]{4,14}\sof\schoice|gold\sstandard|first-line|hallmark))(?(opening)|(?!\s(?i:in|among|cause\sof\sdeath)\b))"
)
BOLD = re.compile(r"(?:\*\*|__)\s?[(\[]?(?P<letter>[A-D])(?:[)\].:]{0,2}\s?(?:\*\*|__)|[)\].:]{1,2}\s|\s[\-–—:]\s)")
# "Such blood is collected in B. Sodium citrate." to begin with.
OPENING = re.compile(rf"\A[^\n.!?;:{MARKS}]{{10,200}}\s\(?[A-D][).:]{{1,2}}\s(?P<letter>[{MARKS}])\)?(?=[.!])")
# "The drug of choice is (B) …", "… ist daher B." at the end of a sentence.
PREDICATE = re.compile(
    rf"(?:{_LINK}|['’]s|\?|{_SHOWN})\s?(?:{_FILLER}|(?i:an?|eine?[rnms]?|un[aeo]?"
    rf"|uma?)\s){{0,6}}(?:(?:[^\W\d_]{{4,16}}\s){{1,3}}(?:of|de|di"
    rf"|von)\s)?(?:\([A-D]\)\s|[A-D][.:)]\s)?(?P<letter>(?<=\()[A-D](?=\))"
    rf"|[{MARKS}])(?:['’]s)?(?:\s?\((?:\w+\s)?[A-D])?\)?(?:\s\([^()\n]{{0,80}}\))?(?=[*_\s]{{0,3}}(?:(?:\s[a-z]{{3,12}})?[.!;](?:\s|$)"
    rf"|,\s(?:whereas|while|but|not|rather|of\scourse)\b|$))",
    re.MULTILINE,
)
