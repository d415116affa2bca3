"""Verdicts on an answer, in words or as a digit: 0 factual, 1 hallucinated, 2 unsure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from medtasks_utils.extraction import cues
from medtasks_utils.extraction.boxes import unwrap
from medtasks_utils.extraction.ends import cut_off
from medtasks_utils.extraction.holders import Holder, held
from medtasks_utils.extraction.plain import own_parts
from medtasks_utils.extraction.spelling import Spelling
from medtasks_utils.extraction.tokens import ordinals_as_letters
from medtasks_utils.extraction.verdict_forms import FACTUAL, HALLUCINATED, UNSURE, statements, unformatted
from medtasks_utils.extraction.verdict_languages import stated
from medtasks_utils.extraction.verdict_marks import marked
from medtasks_utils.extraction.weighing import NOTHING, Candidate, Reading, bounded, choose, taken_back_until

# All patterns are for text in lower case. Misspelt, "hallucinated" is still no other word.
_VERDICT = (
    r"(?:(?<!\w)(?:(?P<hallucinated>hall?uc[a-z]{3,14}(?!\s(?:answers|responses|texts|ones)\b)"
    r"|(?:(?:methodological\sand\s)?evidence\s(?=fabrication:))?fabricat(?:ed|ions?)|ficti(?:on(?:al)?|tious)|nonsense"
    r"|bogus|confabulat\w+|(?:non-?|un)fact(?:ual|aul)|made\sup|invent(?:ed|s|ions?))|(?P<wrong>incorrect|inaccurate"
    r"|wrong|false(?![\s-](?:negative|positive|alarm|premise))|untrue|opposite\sof(?!\s(?:an?\s)?(?:hall|fact|fabr|inv"
    r"|made))|erroneous|(?<!standard\s)(?<!be\san\s)(?:error|inaccurac|falsehood)(?:s|y|ies)?|misleading|un(?:supported"
    r"|grounded|substantiated|founded))|(?P<factual>fact(?:ual|aul|ula)(?!\sas\san?\b))|(?P<right>(?:(?<=ally\s)"
    r"|(?<=['’]s\s)|(?<=is\s)|(?<=be\s))sound(?!\s[a-z])|accurate|correct|true(?!\s(?:first|second|sentence|statement"
    r"|part|premise|fact))|truthful|supported|grounded|substantiated|right|valid|borne\sout|stands(?:\sup)?(?=\W*(?:$"
    r"|[.,;]))|holds\sup|checks\sout)|(?P<unsure>unsure|uncertain|undecided|undetermined|not\ssure))(?!\w)"
    r"|(?<![\w.,/-])(?<!statement\s)(?<!claim\s)(?<!sentence\s)(?P<digit>[012]|zero|one|two)(?!\w|%|\s?[.,/]\s?\d"
    r"|\)\s(?!hal|fact|uns|because|since|as\b|if\b|when|for\b)[a-z]|\.\s\w|\s(?:or|and)\b|:\s(?:no|none"
    r"|false)\b)(?=\s?(?:[^\w\s]|$)|\s(?:because|since|as|on\s(?:the|this|your)|here|from\sme|for\sme|in\sthe\sbox"
    r"|rather|instead|it\sis)\b))"
)
_KINDS = ("hallucinated", "wrong", "factual", "right", "unsure", "digit")  # the groups of _VERDICT
_DIGITS = {"zero": "0", "one": "1", "two": "2"}
_NOUN = (
    r"\b(?:answer|response|reply|verdict|label|class(?:ification)?|judg(?:e?ment)|conclusion|output|result|rating"
    r"|decision|statement|assessment|analysis|evaluation|score|choice|prediction|mine)\b"
)
_COPULA = (
    r"(?:\b(?:is|was|are|be|been|does|do|contains?|includes?|has|shows?|seems?|appears?|looks?|as)(?:n['’]?t)?\b"
    r"|\b(?:find|found|detect(?:ed)?|spot(?:ted)?)\b|[:=→\-–])"
)
_RIGHT_VERB = (
    r"\b(?P<right>holds?\s(?:up|water)|withstands?|checks?\sout|stands?\sup|pass(?:es)?(?=\W*$|\s(?:my|the|as\sfactual"
    r"|every|muster))|tall(?:y|ies)\swith|(?:none|not\sone)\sof\sth\w+\s(?:\w+\s){0,5}?(?:appl(?:y|ies)|present|found"
    r"|fits?|met)|match(?:es)?|agrees?\swith|reflects?|consistent\swith|in\sline\swith|c[ao]me\s(?:back|up"
    r"|away)\sempty(?:-handed)?|trust(?:ed|worthy)?|reliable|relied\son|faithful(?:ly)?)\b"
)
_WRONG_VERB = (
    r"\b(?P<wrong>no\ssuch\s(?:\w+\s){1,2}exists?|there\s(?:is|are|was|were)\sno\ssuch|(?:the\s)?(?:source|abstract"
    r"|text|passage|knowledge)\s\w+\s(?:\w+\s)?the\s(?:\w+\s)?(?:opposite|contrary)|fails?(?!\sto)|flunks?|(?:gets"
    r"|got)\s(?:\w+\s){1,4}?wrong|goes\sastray|contradicts?|misstates?|misrepresents?|distorts?|falls\s(?:apart|flat)"
    r"|collapses|at\sodds\swith|conflicts?\swith|invents|fabricates|makes?\s(?:it|things|this|that|anything"
    r"|something)\sup)\b"
)
_WORDS = r"(?P<words>(?:[\w'’-]{1,16}[\s,]\s?|[^\w\s]{1,4}\s?|\s){0,6}?)"
_DEGREE = (
    r"zero|clean|clear|plain|far\sfrom|free\s(?:of|from)|(?:any|every)thing\sbut|neither|all|nothing|everything"
    r"|textbook|(?:example|instance|opposite)\sof|not|no|non|a|an|the|entirely|fully|factually|completely|likely|most"
    r"|very|highly|probably|clearly|almost|certainly|classic|pure|definitely|obviously|surely|total|signs?\sof"
    r"|evidence\sof|clear\scase\sof|case\sof|is"
)

# "Fabrication: no such trial is mentioned": a reason, not a reply.
_NOT_FOUND = (
    r"(?!\s[^.;]{0,60}?\b(?:exist(?:s|ed)?|mention(?:ed|s)|described?|given|gives|reported|stated|named?|took\splace"
    r"|says|supports?|appears?)\b)"
)
_KIND = (
    r"\b(?:(?:belongs?\sto|falls?\s(?:under|into)|suffers?\sfrom|case\sof)\s(?:the\s)?(?:category\sof\s)?(?=(?:first"
    r"|second|third|fourth)\s(?:type|kind|category)|misint|incomplete\sinf|mechanism|methodolog"
    r"|evidence\sfab))?(?P<hallucinated>(?:type|kind|category)(?:\sof\shallucination)?(?=(?::|(?::"
    r"|\s)\s?\W?[1-4]\W{1,3}?)\s?(?:misint|incompl|mechan|method|evidence|fabric))(?!.*(?:category|type|kind)\b)"
    r"|(?:(?<=to\sthe\s)|(?<=under\sthe\s)|(?<=into\sthe\s))(?:first|second|third|fourth)\s(?:type|kind|category)"
    r"|(?:(?<=case\sof\s)|(?<=suffers\sfrom\s)|(?<=category\sof\s))(?![^.\n]{0,60}[:?])(?:misint|incomplete|mechanism"
    r"|methodolog|evidence)\w*)"
)
_STATEMENTS = tuple(
    (cue.split()[0], re.compile(statement), float(cue.split()[1]))
    for cue, statement in {
        # "Hallucinated: yes", "Is the answer factual? No", "hallucinated = false".
        "reply 62": rf"{_VERDICT}(?::?\s(?:{_NOUN}|details?|facts?|claims?|statements?|errors?|figures?|numbers?"
        rf"|mechanisms?|data|content|information|by\sthe\s\w+|detected|found|present|identified|status"
        rf"|check|flag))?(?:\s(?:here|at\sall|in\s(?:it|here|this)))?[^\w\n]{{0,4}}[:?=→][^\w\n]{{0,4}}"
        rf"(?P<reply>yes|no{_NOT_FOUND}|none|true|false)\b",
        # "hallucinated: 0" alone.
        "reply 61.5": rf"^\W{{0,12}}{_VERDICT}\s?[:=]\s?(?P<reply>[01])\W*$",
        # "Hallucinated.", "Final verdict: factual", "Therefore: 1 (hallucinated)", "Not factual: it misses the point".
        "alone 60": rf"^\W{{0,12}}(?:(?:the|my|yes|no|nope|nah|yep|yeah|well|honestly|(?:no|without\sa)\s(?:doubt"
        rf"|hesitation|question)|okay|ok|sadly|happily|(?:un)?fortunately|frankly|to\sme|as\s(?:things|it)\sstands?"
        rf"|on\sbalance|all\stold|final|overall|correct|return|judged|marked|labell?ed|classified|rated|deemed|option"
        rf"|correction|category|code|revised|updated|corrected|given\s(?:all\s)?\w+|as|so|therefore|thus|hence|is"
        rf"|{_NOUN})\W{{1,6}}){{0,5}}(?P<words>(?:(?:{_DEGREE})[\s-]){{0,5}}){_VERDICT}(?:\s(?:{_NOUN}|claims?|figures?"
        rf"|content|information|(?:(?:was|were|is|are|has|have|can|could|been|be)\s){{0,2}}(?:detected|found|seen)"
        rf"|present|found|to\sreport|at\sall|here|whatsoever|in\smy\s\w+|to\sme|overall|for\ssure|imo|all\sround|enough"
        rf"|fine|it\sis))?(?=\s?(?:[^\w\s,]|$)|,?\s(?:nor|because|since|as)\b|,\s(?:no|not|zero|nothing|none|and|i"
        rf"|in\smy|unfortunately|sadly|obviously|clearly|definitely|of\scourse|then|though|however|even)\b)",
        # "The answer shown is (not) factual", "I would label it as hallucinated", "I'd say 1".
        "answer 60": rf"(?:{_NOUN}(?P<between>[^:]{{0,80}}?){_COPULA}|\b(?:(?:judg|consider|deem|rat|call|mark"
        rf"|find)(?:e|ing)?|label(?:l?(?:ed|ing))?|(?:charge|suspicion|accusation)\s(?:of|that)|correct(?:ed)?\s(?:it"
        rf"|this|that)\sto|i\smean|classify(?:ing)?|say|choose|pick|take|select|put|lean(?:ing)?(?:\s(?:towards?|to))?"
        rf"|namely|what\s(?:remains|is\sleft)\sis|(?:evidence|everything|all)\spoints\sto|go\s(?:with|for)|settl(?:ed?"
        rf"|ing)\s(?:on|for)|leaves|(?:withhold|deny|refuse)\s(?:it\s)?the\slabel|(?:belongs?|falls?"
        rf"|fits?)\s(?:in(?:to)?|to|under)\s(?:the\s)?(?:category|class|label|(?=hall|fact|uns|non))|(?:bet"
        rf"|vote)\s(?:on|for)|(?:chang|revis|switch|correct)\w{{1,3}}\s(?:it\s|this\s|(?:my"
        rf"|the)\s\w+\s)?(?:from\s[^.;]{{1,40}}?\s)?to|makes?\s(?:it|this|the\s\w+)|(?:earn|get|deserve|merit"
        rf"|receive)s?\s(?:an?|the)|(?:would|will|['’]d|['’]ll|i)\sanswer)\b){_WORDS}{_VERDICT}",
        # "Hallucinated is my verdict", "factual is what I say".
        "answer 58": rf"{_VERDICT}\s(?:it\s)?(?:is|would\sbe)\s(?:what\si|my|the\s(?:\w+\s)?{_NOUN})\b",
        # "…, so 0.", "Hallucinated, hence 1."
        "answer 56": rf"\b(?:so|hence|thus|therefore|then),?\s(?P<words>){_VERDICT}(?=(?:\sit\sis)?\W*$)",
        # "In one word: hallucinated".
        "answer 36": rf"(?::|→|[=-]>)\s(?P<words>(?:(?:{_DEGREE})[\s-]){{0,3}})(?=hal|fab|fac|mad|[012]"
        rf"|inv){_VERDICT}(?=\W*$)",
        # "Category: mechanism and pathway misattribution".
        "answer 44": _KIND,
        # "It is factual", "This isn't a hallucination", "There is no hallucination", "I am unsure".
        "of_it 40": r"\b(?:(?<!with\s)it|(?:it|that)s(?=\s(?:not\s|an?\s)?\w+\s?(?:[,.;]|$))|this|that|there|i"
        r"|information|claims?|nothing|none|what\s(?:we|i|you))\b(?P<between>[^:]{0,60}?)"
        rf"(?:{_COPULA}|['’][sm]\b|(?:(?<=\bits)|(?<=\bthats))\b|\bam\b|\bsee\b){_WORDS}{_VERDICT}",
        # "The answer holds up", "It contradicts the abstract", "Passes my check", "Would I trust it? No".
        "does 38": rf"(?:^\W{{0,12}}|\bbut\s|(?:{_NOUN}|\b(?:model|it|this|that|everything|all"
        rf"|i)\b)\s(?:[\w'’]{{1,12}}\s){{0,5}}?)(?:{_RIGHT_VERB}|{_WRONG_VERB})"
        r"(?:\s(?P<nothing>nothing|no\s|none)|(?:[^.:]{0,60}:\s(?P<reply>yes|no)\b)?)",
    }.items()
)
_ANY_VERDICT = re.compile(_VERDICT)
_ANY = re.compile(re.sub(r"\?P<\w+>", "?:", f"{_VERDICT}|{_RIGHT_VERB}|{_WRONG_VERB}|{_KIND}"))
# A sentence that names all three classes states the task.
_CLASSES = tuple(map(re.compile, (r"\bfactual", r"\bhall?ucinat", r"\b(?:unsure|uncertain)\b|\b2\s?[=:)]|\b2\s\(")))
_ON_THE_SCALE = re.compile(r"\b(?:option|the) ([A-D])\b(?:\sof\sthe\s\w+)?")
_OPTION = re.compile(r"(?i:option)\s(?=[012]\b)")
_RANKS = {"A": FACTUAL, "B": HALLUCINATED, "C": UNSURE, "D": UNSURE}
_IN_CASE = re.compile(
    r"\b(?:if(?!\s(?:you\sask|i\s(?:must|ha[vd]|am\shonest)))|when|where|in\scase|should|unless|(?:would|do)(?:n't"
    r"|\snot)\s(?:say|think|claim))\b[^.;]{0,60}$"
)
# What somebody is unsure of that is not the answer.
_ELSE = (
    r"\s(?:why|what|how(?!\sto\s(?:judge|label|rate|class|decide))|where|who|that)\b|\s(?:whether|if)\s(?:i|an?"
    r"|the\sauthors?)\b|\sthe\s(?!answer|response|verdict|claim)|\sabout\sthe\s(?!(?:\w+\s)?(?:answer|response"
    r"|verdict))|\s?[:=]\s?no\b"
)
_NO_VERDICT = re.compile(
    r"\bcan(?<!that\scan)(?<!which\scan)(?:not|['’]t|\snot)\s(?:be\s)?(?:determine|judge|decide|tell|say|know|commit"
    r"|settle|be\s(?:sure|certain))d?\b(?!\s(?:that|what|why|how|where|who|an?|from\sthe\s(?:style|tone))\b)|\b(?:goes"
    r"|cuts|points)\sboth\sways|\bon\sthe\sfence\b|\b50\s?/\s?50\b|\bfifty-fifty\b|\babstain\b|\bneither\sverdict\b"
    r"|\bno\sverdict\sis\b|\bremains?\sopen\b|\b(?:should|must)\sbe\s(?:\w+ed\s)?unsure\b|\bbut\sunsure\b"
    r"|\bcould\sbe\seither\b|\bnot\sdecidable\b|\bjury\sis\s(?:still\s)?out\b|\binsufficient\sinformation\W*$"
    r"|\bi\spass\son\b|\bnot\sallow\sa\s(?:decision|verdict|judg)|\bhalf\sof\sme\ssays\b|\bbefore\si\scould\s(?:say"
    r"|decide|judge|tell)\b|\bundecidable\b|\bindeterminate\b|\bi\s(?:really\s|just\s)?do(?:n['’]t"
    r"|\snot)\sknow(?!\s(?:of|any|that|what|how|why|who|where))|\bneed\s[^.;]{1,40}\sto\s(?:decide|judge|tell|know)\b"
    r"|\bimpossible\sto\s\w+\s(?:from|whether|if)\b|\b(?:rather|prefer)\snot\s(?:to\s)?(?:decide|say|judge|commit)\b"
    r"|\b(?:insufficient|not\senough|too\slittle)\s(?:\w+\s){0,2}?to\s(?:determine|decide|judge|tell|say|know|settle"
    r"|go\son)\b|\btoss-?up\b|\bno\sway\s(?:to|of)\s(?:tell|know|say)|(?:\bi\s(?:am|stay|remain)|i['’]m|^)\s?(?:unsure"
    r"|uncertain|not\s(?:entirely"
    rf"\s|completely\s)?(?:sure|certain))\b(?!{_ELSE})",
)
_OF_ELSE = re.compile(_ELSE)
# A refusal, or a request for what is to be judged.
_NOT_JUDGED = re.compile(
    r"\b(?:sorry|apologi[sz]e)\b.*\bcan(?:not|['’]t)\s(?:judge|determine|label|provide|evaluate|assess|assist|help)\b"
    r"|\b(?:please|could\syou)\s(?:provide|share|send|paste)\b|\bno\sanswer\swas\s\w+|^\W*(?:an|any|many"
    r"|most)\s(?:\w+\s)?answers?\s(?:can|may|might|could|would|are)\b"
)

_NEGATION = re.compile(
    r"\b(?:fail(?:s|ed)?\sto|not|neither|nor|nobody|cannot|no|non|zero|never|without|free|nothing|none|hardly|far\sfrom"
    r"|(?:any|every)thing\sbut|opposite\sof|withhold|deny|refuse|(?:wrong|incorrect|mistake|mistaken|error|stretch"
    r"|exaggeration|overstatement|generous|unfair|inaccurate|naive|rash|foolish|premature|hard|difficult|impossible"
    r"|misguided)\sto)\b|(?:n['’]|\b(?:is|are|was|does)n)t\b"
)
_CLAUSE = re.compile(r"[,;:]\s|\s[—–]\s|→|[=-]>|\(|(?=\b(?:nor|whose)\b)|\b(?:and|(?<!thing\s)but|so|therefore|thus)\b")
_OPEN = re.compile(
    r"\b(?:whether|if|unless|(?:claim|idea|notion|objection|charge|view|accusation)\s(?:that\s)?['‘]?(?:the\s"
    r"|this\s)?(?:answer|response|it|this)|according\sto|reviewers?|(?:those|people|some|others|users?)\swho"
    r"|(?:colleagues|authors|many|most|people|others|some(?:one|body))\s(?:would|can|could)|(?:glad|happy)\sto|their"
    r"|much\sin|other|earlier|preceding|prior"
    r"|previous|(?:love|like|want(?:ed)?)\sto|defined|definition|tempt\w*|claims\s(?=that|to|the|an?\b|it|this)|states"
    r"|says|insists|believes|argues|maintains|asserts|suspects|thinks|(?:prepared|expect(?:ed|ing))\s(?:to|a)|until"
    r"|said|might|may|could|mix(?:ture)?|evidence\sthat|pass\sfor|mistaken\sfor|speaks?\sfor|argues?\sfor|much\sas"
    r"|although|even\s(?:if|though)|rest|initial|original|half\s(?:of|the)|(?:most|much|bulk)\sof|parts?|portions?"
    r"|remainder|some|first|at\sfirst|initially|to\sdecide|to\sjudge|was\s(?:going|about)\sto|(?:lay|casual|strict"
    r"|lenient|hasty|superficial|generous|careless)\s(?:reader|judge|grader))\b|\b(?:cannot|can['’]t"
    r"|unable\sto)\s(?:\w{1,12}\s(?:that|the)|verify|confirm|establish|exclude)\b|^\W*(?:an|any)\s(?:answer"
    r"|response)\s(?:that|which|is|would)\b|\botherwise\b|\beither\s(?:it|the|this|that|fact|hall)"
    r"|^\W*(?:(?:in\sorder\s|for\s\w+(?:\s\w+)?\s)?to\s(?:be|count|qualify|call|label|mark|deem|judge|say)|(?:had"
    r"|were)\s(?:it|this))\b|\b(?:must|between)\s$|\bnot\sthat\sthe\b|\bwhat\s(?:an?\s|the\s)?(?!i\b)\w+\s(?:would"
    r"|might|could)\b|\b(?:look|go|check|assess|examin|consider|evaluat|analy[sz]|against|through|definition|search"
    r"|test)\w*\b[^.;:]{0,40}\b(?:types|kinds|categories|forms|signs)\sof\s$|^\W*reading\s(?:it|this)\b",
)
_COUNTERFACTUAL = re.compile(
    cues.COUNTERFACTUAL["en"] + r"|\b(?:hall?ucinated|factual)\W*(?:only\s)?(?:if|when)\b|\b(?:if|had)\s(?:the|it|this"
    r"|that|so|not)\b[^;:]{0,200}?,\s(?:then\s)?(?:it|this|that|the\s\w+)\s(?:would\sbe|is)\b"
)
_MISTAKEN = re.compile(
    r"\s(?:\([^()]{1,40}\)\s)?(?:[\w-]+\s){0,3}?(?:would\sbe\s(?:an?\s)?(?:\w+\s)?(?:mistake|error|wrong|incorrect"
    r"|false|untrue|unfair|unjust(?:ified)?|harsh|stretch|generous|naive|dishonest|premature|exaggeration|misleading"
    r"|hallucination|indefensible|absurd|(?:too\s)?far|too\smuch|excessive)|(?:does|did)\snot\shold"
    r"|was\snot\s(?:confirmed|justified)|(?:is|was|proved|proves|turned\sout)\s(?:to\sbe\s)?(?:unfounded|baseless"
    r"|groundless))\b"
)
_HALF = re.compile(r"\b(?:part(?:ial)?ly|mostly|largely|somewhat|mainly|nearly|almost|generally)\b")
# "…, which is factual", "statement 2 is true": said of a part.
_PART = re.compile(
    r"^which\s(?:is|was|are|were)\b|(?<!\bcan\s)\bonly\b|\b(?:statement|sentence)\s(?:\w+\s){4,}|\b(?:statement"
    r"|sentence|claim|point|item|paragraph|half)s?\s(?:\d|one|two|three)\b[\w\s,)]{0,30}$|\b(?:first|second|third"
    r"|last)\s(?:statement|sentence|claim|point|item|half)\b"
)
_SAYS = re.compile(r"\b(?:says|states|mentions)\b")
_ITEM = re.compile(r"\W*(?:statement|claim|sentence|part|point|step)?\s?\d\s?[:.)–-]")
_CONTINUED = re.compile(
    r"\s(?:or|and\s[012]\sfor|that|about(?!\s(?:it|this)\b)|regarding|to|only|as\sfar\sas\sit\sgoes|if\s(?:it|there))\b"
    r"|\s(?:was|is|would\sbe)\s(?:\w+\s)?tempting\b|\s(?:except|save\sfor|apart\sfrom|aside\sfrom)\b|\sin\s(?:that"
    r"|stating|saying|its|part|tone|style|form)\b|,\si\s(?:\w+\s)?thought\b"
)
_CONCLUDED = re.compile(
    r"\b(?:final|overall|verdict|label|judge?ment|conclu(?:sion|des?|s|yo|o|do)|classification|therefore|thus|hence"
    r"|donc|daher|somit|also|demnach|por\s(?:lo\s)?tanto|portanto|quindi|dunque|следовательно|поэтому)\b|因此|所以"
    r"|したがって|よって|따라서"
)

_SPELT = "hallucinated hallucination factual fabricated supported answer incorrect inaccurate verdict because"
_OTHERS = "actual hallucinate fabricate support answered answers inaccuracy unsupported accurate"
_SPELLING = Spelling(_SPELT.split(), _OTHERS.split())
_SENTENCE = re.compile(r"(?:(?<![^\n])\d\.(?=\s\w)|[^\n.?!;。？！]|[.?!;](?!\s|$))+[.?!;。？！]*")
_BEFORE_DIGIT = re.compile(
    r"(?:^|[^\w\s]\s*|\b(?:an?|is|be|as|say|answer|label|verdict|class\w*|category|scored?|rat(?:e|ing)|mark|with|for"
    r"|to|on|pick|choos\w+|select|choice|option|number|value|code|digit|mean|result|judge?ment|decision|conclusion"
    r"|output|prediction|so|hence|thus|therefore|then|clean|clear|plain|definite|solid|firm|the|it|leaves|give|put"
    r"|response|final|namely|leaning|likely|probably|but|rather|not|still|just|simply|i|it['’]s|assessment|find)\s)$"
)
_ENGLISH = re.compile(r"\b(?:the|is|this|to|of|or|if|are|there|n?either|nor|not|its?|my|with|that|for|has|from|and)\b")
_MAX_SENTENCE = 600  # characters

_YES, _NO = (re.compile(f"{digit}|{cues.any_word(words)}") for digit, words in (("1", cues.TRUE), ("0", cues.FALSE)))
_KEYS = (
    "hallucinat",
    "factual",
    "answer",
    "verdict",
    "label",
    "judg",
    "predict",
    "class",
    "decision",
    "choice",
    "result",
)


def read_verdict(text: str) -> Reading:
    """``"0"``, ``"1"`` or ``"2"`` that a text clearly states, or none.

    >>> read_verdict("The answer is not factual.").value, read_verdict("1").value, read_verdict("Who knows?").value
    ('1', '1', None)
    """
    reading = NOTHING
    for part in own_parts(text):
        if all(scale.search(part.lower()) for scale in _CLASSES):
            part = _ON_THE_SCALE.sub(lambda match: _RANKS[match[1]], ordinals_as_letters(_OPTION.sub("label ", part)))
        holders, rest = held(part, _KEYS, "[012]")
        inside = [found for holder in holders if (found := _inside(holder, part))]
        reading = choose([*_candidates(rest), *inside], ("box",))
        if reading.value is not None:
            break
    return reading


def _inside(holder: Holder, text: str) -> Candidate | None:
    """The verdict that a box, tag or key holds: ``{"hallucinated": false}``, ``{"label": 1}``."""
    content = unwrap(holder.content).lower()
    value: str | None = content if content in (FACTUAL, HALLUCINATED, UNSURE) else None
    if re.search(r"\bif\b|_if_", holder.key):
        return None
    if "hallucinat" in holder.key or "factual" in holder.key:
        yes = _YES.fullmatch(content) is not None
        says = yes if yes or _NO.fullmatch(content) else None
        value = None if says is None else (HALLUCINATED if says == ("hallucinat" in holder.key) else FACTUAL)
    if value is None:
        value = choose(_candidates(content)).value
    if value is None:
        return None
    less = (("taken_back", -45.0),) if taken_back_until(text) >= holder.end else ()
    return Candidate(value, holder.start, holder.end, text, holder.cue, holder.support, less)


def _candidates(text: str) -> Iterator[Candidate]:
    yield from (Candidate(value, 0, 0, text, "marks", support) for value, support in marked(unformatted(text)))
    plain = statements(text)
    for sentence in bounded(_SENTENCE.finditer(plain)):
        stripped = sentence[0].strip()[:_MAX_SENTENCE]
        start = sentence.start() + len(sentence[0]) - len(sentence[0].lstrip())
        if _NOT_JUDGED.search(stripped):
            continue
        unsure = _NO_VERDICT.search(stripped)
        if unsure and not _IN_CASE.search(stripped, 0, unsure.start()):
            yield _weighed(UNSURE, plain, start, start + len(stripped), "unsure", 60)
        elif unsure or all(name.search(stripped) for name in _CLASSES[: 2 if "neither" in stripped else 3]):
            continue
        elif not stripped.endswith(("?", "？")):
            spelled = _SPELLING.corrected(stripped) if _ENGLISH.search(stripped) else stripped
            english = list(_english(spelled, plain, start))
            yield from english
            if not english and not _ENGLISH.search(stripped):
                found = stated(stripped, english=_ANY_VERDICT.search(stripped) is not None)
                if found:
                    yield _weighed(found.value, plain, start + found.start, start + found.end, "answer", found.support)


def _english(sentence: str, text: str, offset: int) -> Iterator[Candidate]:
    if not _ANY.search(sentence):
        return
    for cue, statement, support in _STATEMENTS:
        if cue == "reply" and not {*":?=→"} & {*sentence}:
            continue
        matches = list(statement.finditer(sentence))
        read = [(value, match) for match in matches if (value := _read(match))]
        if len({value for value, _ in read}) > 1 and re.search(r"\bnor\b", sentence):
            read = [(UNSURE, match) for _, match in read[-1:]]
        for value, match in read:
            kind = next(name for name in _KINDS if match.groupdict().get(name))
            less = 6 if kind in ("right", "wrong") else 0
            less += 24 if _SAYS.search(match.groupdict().get("between") or "") else 0
            yield _weighed(value, text, offset + match.start(kind), offset + match.end(kind), cue, support - less)
        if read or (matches and cue == "reply"):
            return


def _weighed(value: str, text: str, start: int, end: int, cue: str, support: float) -> Candidate:
    evidence = []
    sentence = text[max(0, start - 60) : start].rsplit("\n", 1)[-1]
    if _CONCLUDED.search(sentence):
        evidence.append(("concluded", 10.0))
    if value == FACTUAL and cue == "of_it" and _ITEM.match(text, text.rfind("\n", 0, start) + 1):
        evidence.append(("of_an_item", -15.0))
    if cue in ("of_it", "does") and cut_off(text):
        evidence.append(("unfinished", -60.0))
    if taken_back_until(text) >= end:
        evidence.append(("taken_back", -25.0))
    return Candidate(value, start, end, text, cue, support, tuple(evidence))


def _read(match: re.Match[str]) -> str | None:
    """The verdict that a statement gives, negations counted; None where it leaves the verdict open."""
    groups = match.groupdict()
    kind = next(name for name in _KINDS if groups.get(name))
    sentence = match.string[: match.start(kind)]
    before = _CLAUSE.split(sentence)[-1]
    says_factual = kind in ("factual", "right")
    supposed = _COUNTERFACTUAL.search(re.split(r"[;:]\s|\bbut\b", sentence)[-1])
    if supposed:
        return None
    continued = None if groups.get("reply") else _CONTINUED.match(match.string, match.end())
    mistaken = _MISTAKEN.match(match.string, match.end(kind))  # "To call it factual would be wrong" is no task
    opened = _OPEN.search(before.replace(" could ", " ") if _NEGATION.search(before) else before)
    if (opened and not mistaken) or (continued and not (kind == "wrong" and "about" in continued[0])):
        return None
    said_no = groups.get("reply") in ("no", "none", "false", "0")
    if kind == "unsure":
        return None if said_no or _NEGATION.search(before) or _OF_ELSE.match(match.string, match.end()) else UNSURE
    negations = len(_NEGATION.findall(before))
    # "None of the kinds of hallucination: no misreading, no …" denies it once.
    negations += said_no and not (negations and match.string[match.end() :].startswith(" "))
    negations += bool(groups.get("nothing")) + bool(mistaken)
    if kind == "digit":
        if not _BEFORE_DIGIT.search(sentence) or re.search(
            r"\d\s?(?:,|or|and|/)\s?$", match.string[: match.start(kind)]
        ):
            return None
        return None if negations else _DIGITS.get(groups["digit"], groups["digit"])
    if (
        says_factual
        and not negations
        and (_HALF.search(before) or _PART.search(before) or _PART.search(sentence[-40:]))
    ):
        return None
    return FACTUAL if says_factual == (negations % 2 == 0) else HALLUCINATED
