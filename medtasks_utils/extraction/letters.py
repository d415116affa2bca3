"""Read the letter A to D that a text gives as its answer."""

import re
from collections.abc import Sequence
from operator import attrgetter

from . import nothing
from .boxes import unwrap
from .containers import Container, candidates_in, first_reading, upheld
from .letter_options import LETTERS as LETTERS
from .letter_options import latin_letters, mentions_of, named_in_short, similar_text
from .patterns import later
from .plain import JOINED, line_start, unformatted
from .weighing import MARGIN, NOTHING, OUTRIGHT, Candidate, Reading, certainty, choose, rows, weighed
from .words import Symbols, symbols_of, words_of

# The choices of the examples are the axillary, musculocutaneous, long thoracic and spinal accessory nerve.
LETTER_ROWS = rows(
    r"""
lead = [the fill option open]*
words = [the fill option open right so because colon comma]*
marks = [the fill option open dash head digits stop op bar]*
70 answer: (?<![other wrong])(answer|right option) ~8 [is colon eq arrow dash]+ {words} (digits stop)? <any>
    B: 答案为（B），而不是A。
68 answer: (?<![other wrong open])answer [open colon fill option dash arrow]* <cand weak> {end}
    D: Answer d, since it innervates the trapezius.
end = (?=[stop line close dash comma because colon is]|$)
60 correct: <any> close* (comma ~5 comma|comma? because)? (?=(is|so|colon)+ [the fill so comma]* {chosen})
    D: While A is tempting, D is correct.
60 correct: <cand text> (?=dash right)
    C: A – false, C – true, D.
56 most: fill [fill right] ~12 (is|colon) [the fill option open right to]* <any>
    C: The most likely injury is the long thoracic nerve, which leaves the axillary nerve.
56 choose: choose [the fill option open colon answer is]* <any>
    B: 根据题干的描述，应选B。Retinol（选项A）多见于儿童，故排除。
58 ticked: (^|line) ({some} [cand text] {others} cross)* {some}? <cand text> {others} tick {only}
    C: A ❌ B ❌ C ✅ D ❌
58 ticked: (^|line) {others} (cross {some})* tick {lead} <cand text> {only}
    D: ✗ A\n✗ B\n✗ C\n✓ D
chosen = (right|answer|choose (stop|$))
verdict = [stop open dash comma] [so is the fill]* (right|answer)
some = [^ line cross tick]*
others = [^ line cand text cross tick]*
only = (?![^ line]* tick)
58 ticked: <cand text> (?=[dash colon eq arrow stop close]+ yes (stop|line|comma|dash|$)|[eq arrow] right)
    B: A) no\nB) yes\nC) no\nD) no
58 ticked: <cand text> (?={cell} ({cell})* [the fill tick]* (right|yes) [^ line bar]{0,3} {over})
    B: | A | wrong |\n| B | correct |\n| C | wrong |\n| D | wrong |
58 ticked: (^|line|colon) [dash digits stop open option]* <cand text> (?=[^ line]* {verdict} [close stop]* (line|$))
    B: A – it is whole. Incorrect.\nB – it is cut. Correct.\nC – it is whole. Incorrect.
54 left: (^|stop|line|so|comma) so? fill <cand text> (?=[is so]+ (stop|line|because|$))
    C: Only C remains. The axillary nerve is whole.
56 choose: <any> (?=is word choose (stop|line|comma|because|$))
    C: The axillary nerve is whole; the long thoracic nerve is what I would choose.
52 fits: <cand> (?=right{2} (stop|line|comma|$))
    C: The findings suggest D. C fits better.
52 fits: <text> (?=fill* right+ (stop|line|$))
    C: The axillary nerve is whole. Given the findings, the long thoracic nerve fits best.
54 more: <any> (?=close* is range (fill|right) (stop|line|comma|because|$))
    C: The axillary nerve is possible, but C is more likely.
54 colon: (?<!options )is [^ stop line comma cand text not colon]{0,3} colon {marks} <any>
    D: In this case the position would be:\n\n**D) Face down**
46 colon: (?<!options )[word the because] colon {lead} <cand text> (?=[stop close]* (line|$))
    C: A winged scapula is a sign of damage known as:\n\n**Long thoracic nerve**\n\nThe axillary nerve is whole.
66 false: {wrong one} [^ stop line comma cand text not versus]{0,6}? is {lead} <cand> (?=close|stop|line|comma|text|$)
    C: The incorrect statement is C.
cell = [^ line bar]* bar
over = ([bar line dash colon comma]|$)
begun = (^|stop|line|so) [the fill comma]*
wrong one = wrong option|{begun} wrong word|(option|fill) {to it} (wrong|not [word right fill]{1,2})
to it = [because the is so fill]{0,3}
60 odd: <any> (?=close* is the? odd)
    D: The axillary nerve, which is a branch of the cord, is fine. D is the odd one out.
62 odd: (^|stop|line) fill [^ stop line comma cand text]{0,8} odd {lead} <any> (?=close* (stop|line|is|word|$))
    C: All of these are features except (C).
22 only: (stop|line|so) fill option? <cand text> (?=[^ stop line cand text not wrong]* stop? $)
    C: A: arm.\nB: elbow.\nC: scapula.\nD: neck.\n\nOnly C makes it wing.
46 ends: [open comma] option {lead} <cand text> (?=close* stop* line* $)
    B: The best step would be to test flexion (option B).
54 most: fill [fill right] ~12 is to [word calc] the? <text>
    C: The most appropriate step would be to test the long thoracic nerve.
54 so: (?<!or )so {lead} (colon|answer|is|choose|comma)* {lead} <cand weak> (?=stop|line|close|$|because|comma|is right)
    D: Ruled out: A, B, C.\n\nRemaining: D\n\nGrade: B
64 alone: ^ line* <cand weak> line+
    B: B\n\nThe most common cause of this is A, but here the pulse is slow.
52 alone: (^|line) [the fill option open tick dash arrow answer]* <any> (?=[stop close bar tick]* (line|$))
    B: b
44 said to be: (the|other) ~12 is [the fill option open right]* <cand weak> (?=stop|line|close|$|colon|comma)
    C: The injured nerve is c; the axillary nerve is whole.
50 leads: ^ {lead} <cand text> (?=[stop close colon comma dash line]|open)
    B: B: flexion is weak. So the long thoracic nerve is whole.
62 corrected: [wait hesitate] (comma? not comma)? [the fill option open colon dash is answer so]* <any> (?={ended})
    D: Answer: C\n\nCorrection: D
72 corrected: [cand text] close* (stop+|dash|comma) not comma [the fill option open]* <any> (?={ended})
    D: The answer is C... no, D.
ended = close* (stop (?!not|yes)|line|$)
40 leads: ^ the <cand text> (?=is the fill [^ stop line but though]* (stop|line|$))
    C: The long thoracic nerve is the one cut here. The axillary nerve abducts.
44 the one: (^|stop|line) the? <cand> (?=is the fill (the|because) (?!not))
    B: I considered A. C is higher. B is the one that bends the elbow. D is whole.
40 leads: ^ <cand text> (?=is|because|$)
    B: B is more likely than A, and A is more likely than C or D.
48 concluded: so {words} <text> (?=is)
    C: The axillary nerve is spared. Thus, the long thoracic nerve is cut.
48 concluded: so ~14 [is colon]? [fill the]* <text> (?=close* (stop|line|comma|because|$))
    C: The axillary nerve is spared. This points therefore at damage of the long thoracic nerve.
40 concluded: (^|stop|line) so [^ stop line cand text not versus wrong reject]{1,14}? <cand> (?=close* stop* line* $)
    B: A) arm\nB) elbow\nC) scapula\n\nHence it is felt in B.
42 is: is {lead} <text> (?=close* because)
    C: What is cut is the long thoracic nerve because its root is torn; the axillary nerve is whole.
34 ends: (is|colon|arrow|right|so) {lead} <cand text> (?=close* stop* line* $)
    C: The axillary nerve is spared, so what is cut is C
24 first: ^ [^ stop line cand text not if]{0,8} <cand text> (?=[stop close colon comma dash line]|open)
    C: Thoracic: C. Then the axillary nerve, which is whole.
20 named: <cand text>
    D: 👉 **D**
-100 announced: {heading} options [^ stop line is cand text choose answer]{0,8} (colon|line) {marks} <any>
    none: Let us look at each of the options:\n\n**A) Axillary nerve:** it goes to the deltoid.
-100 announced: (^|line|stop) {purpose} options [^ stop line is cand text]{0,8} (colon|line) {marks} <any>
    none: To determine the correct answer, let's analyze each option:\n\nA) Axillary nerve: it goes to the deltoid.
-100 announced: {heading} options [word about fill]{0,4}? {purpose} (colon|line) {marks} <any>
    none: Let's analyze each option to find the correct answer:\n\nA) Axillary nerve: it goes to the deltoid.
purpose = to [calc gives word choose answer] [^ stop line is cand text]{0,20}?
heading = (^|line|stop) [^ stop line cand text choose right]{0,20}?
-100 announced: (^|line|stop) [^ stop line cand text choose right not]{0,4}? options is colon {marks} <any>
    none: The options are:\n\nA) Axillary nerve
-100 not chosen: not [^ stop line comma cand text]{0,6}? (choose|answer) [the fill option colon is answer choose]* <any>
    none: I would not choose A.
-100 not chosen: answer [^ stop line comma cand text]{0,3}? (not is|is not) {lead} <any>
    none: The answer cannot be A. It cannot be C either.
-60 denied: [versus odd] {lead} <any>
    C: Rather than the axillary nerve, the findings indicate the long thoracic nerve.
-40 described: ^ the? <text> (?={of it} text {of it} text {of it} text [^ answer so choose right any]* $)
    none: Axillary nerve is C5, musculocutaneous nerve C6, long thoracic nerve C7, and spinal accessory nerve C1.
of it = [^ answer so choose right any]* [stop comma] [or the]*
-40 conceded: (^|stop|line|comma) though [^ stop line comma cand text]{0,4}? <any>
    C: Although option A is exposed, the long thoracic nerve is cut.
-60 denied: not [the fill option open is right so answer to]* <cand text>
    B: It is not A but B.
-60 denied: <any> (?=close* {said} (wrong|not [the fill so]* [right answer choose stop line comma]))
    none: A is wrong.
-60 not so: <any> (?=close* {said} not (?![the fill so]* [right answer choose stop line comma]))
    none: The axillary nerve does not supply it.
said = {apart}? (is|colon|dash|arrow|bar)* word? [the fill so]*
apart = word|comma (?!not to? {lead} [cand text])
-100 denied: <any> (?=is? rather)
    B: 正解はAではなくBです。
-60 denied: (slip|reject|wrong|other (?!is word)) [answer is colon to the word option]{0,4} <any>
    none: Incorrect: A
-100 shown: example digits? colon line* [^ stop line cand text]{0,4} <any>
    none: Write only the letter.\n\nExample:\nA: B
-100 shown: example digits? colon line* [cand weak] colon <any>
    none: Write only the letter.\n\nExample:\nA: B
-60 formula: <cand weak> (?=op (digits|open)|eq (word|digits))
    none: A = 213, so the anion gap is high
-60 formula: (word|digits) op <cand weak>
    none: The heat is Q = h * A
-40 supposed: if [^ stop line but answer choose]* if [^ stop line but answer choose]* <any>
    D: It is weak, option D. If the wrist had been weak, it would have been the nerve of the arm, option C.
-30 supposed: if ([^ stop line but]|but the){0,8}? <any>
    D: Some say the answer is A. My answer: D.
-60 supposed: if fill* choose [the fill option]* <any>
    C: Many choose A, but the long thoracic nerve is cut.
-40 supposed: <cand text> (?=close* fill? if (?!is the (fill|right|[word heading name] about answer)))
    A: Axillary nerve palsy. Long thoracic nerve would be a winged scapula
-30 example: such [^ stop line cand text]{0,8}? <text>
    none: Nerves of the plexus, such as the axillary nerve, are injured in falls.
-70 name: name <cand text>
    none: Vitamin A, hepatitis B, hepatitis C and vitamin D.
-70 name: <cand text> (?=named)
    none: B antigen and D-galactose are not relevant.
    """
)
_SEVERAL = (
    "[cand text] close*"
    " ([comma or dash fill range op]+ [the option open or]*|open? or [the option open close fill if]*) (?=[cand text])"
)
_ANSWER_IS_SEVERAL = f"(answer|right option) is [^ stop line comma cand text not]{{0,4}} {_SEVERAL}"
# Statements that a choice is not so, and that a choice is false.
_NOT_SO = "not (?![the fill so]* [right answer choose any])"
_FALSE = "wrong|cross|not [the fill so]* right"
_ASKS_WHICH_NOT = later(
    r"\b(?:not|except|exclud\w+|least|false|incorrect|untrue|wrong)\b|n't\b|不|除|عدا|ليس|않|아닌|틀린", re.IGNORECASE
)
_ASKS_WHICH_FALSE = later(
    r"\b(?:(?:not|except)\b.*\b(?:true|correct)|(?:true|correct)\b.*\bexcept|false|incorrect\w*|untrue|wrong|contraindicated"
    r"|inappropriate|unlikely|unsuitable)\b",
    re.IGNORECASE,
)
_ASKING = later(r"\b(?:which|what|who|all|following)\b.*|[^,]*\Z", re.IGNORECASE | re.DOTALL)
_LACKS = 45.0  # support of a choice that lacks what is asked for
_CHOSEN = ("answer", "choose")  # cues of a choice that may lack something
_OPEN = ("named", "said to be", "lacking", "written out")
_PARTS = "^ line* open [cand weak] close .*? (stop|line) line* open [cand weak] close"  # "(a) …", parts of a question
_BY_NUMBER = str.maketrans("0123", LETTERS)
_KEYS = ("answer", "choice", "letter", "option")
_BEFORE_ITEM = later(  # a list marker, "Option" or a number
    r"\W{0,8}(?:(?P<word>[^\W\d_]{1,14})\W{1,3}|\d{1,2}\W{1,3})?"
)
_CLAUSE = later(r"[^\n]{0,300}?(?=[.;!?]\s|[.;!?]?\s*(?:\n|$))")
_TRUE_FALSE = later(r"(?<=[:.(\[–—→-] |[^\W\d_][:(\[]| [(\[])[TF](?=[)\]]?\s*(?:[,;]|$))", re.MULTILINE)
_FEWEST = 3  # letters of a list within a line
_OF_AN_ITEM = ("answer", "correct", "ticked", "lacking")  # cues by which a list item is the answer
_MOST_OF_CUE = {"ticked": 1, "correct": 2}  # if a cue marks more choices than that, it chooses none


def letter_of(token: str, digits: bool = False) -> str | None:
    """Return the letter A to D that a single token denotes, in upper case; None if it denotes none.

    With ``digits``, 0 to 3 mean A to D.

    >>> letter_of("b"), letter_of("2", digits=True), letter_of("BC")
    ('B', 'C', None)
    """
    letter = token.strip().upper()
    if digits:
        letter = letter.translate(_BY_NUMBER)
    return letter if len(letter) == 1 and letter in LETTERS else None


def read_letter(text: str, options: Sequence[str] = (), question: str = "") -> Reading:
    """Read the letter that a text chooses.

    Quoting the text of a choice chooses its letter. No answer is read from "A or B", "not A" or a list of the choices.
    If the question asks which choice is *not* true, "A is not true" gives the answer A.

    >>> read_letter("The correct answer is (C).").value, read_letter("A or B").value, read_letter("Not A.").value
    ('C', None, None)
    """
    asked_for = _asked_for(question)
    return first_reading(text, lambda part: _read_part(latin_letters(part), options, asked_for))


def _asked_for(question: str) -> str:
    """Return a pattern for statements such as "is not true" if the question asks which choice is not; else ""."""
    asking = _ASKING.search(question, question.rstrip().rfind(". ") + 1)
    forms = ((_ASKS_WHICH_NOT, _NOT_SO), (_ASKS_WHICH_FALSE, _FALSE))
    return "|".join(statement for form, statement in forms if asking and form.search(asking[0]))


def _read_part(text: str, options: Sequence[str], asked_for: str) -> Reading:
    """Read a part of a response: its boxes, tags and keys or, if these contain no answer, its text."""
    inside, rest = upheld(candidates_in(text, _KEYS, lambda container: _inside(container, options)), text)
    plain = _TRUE_FALSE.sub(lambda mark: "true" if mark[0] == "T" else "false", unformatted(rest, keep=JOINED))
    symbols, candidates = _candidates(plain, options, asked_for)
    if inside and nothing.retracted_until(symbols_of(text[inside[-1].end :])) < 0:
        reading = choose(list(filter(attrgetter("value"), inside)) or inside)._replace(
            candidates=(*inside, *candidates)
        )
        return reading if reading.value else NOTHING._replace(candidates=reading.candidates)
    whole = 0 if nothing.loops(plain) else nothing.whole_until(plain)
    _discard_unfinished(candidates, plain, whole)
    _discard_several(candidates, symbols)
    _discard_listed(candidates, symbols, plain)
    reading = choose(candidates, _OPEN)
    if reading.value:
        return reading
    is_whole = whole == len(plain) and nothing.retracted_until(symbols) < 0
    quoted = _misspelt(plain, symbols, options) if is_whole else None
    if quoted:
        return reading._replace(value=quoted, cue="named", certainty=certainty(0.0, MARGIN))
    return NOTHING._replace(candidates=reading.candidates)  # also if the best candidate says that there is no answer


def _candidates(plain: str, options: Sequence[str], asked_for: str = "") -> tuple[Symbols, list[Candidate]]:
    """Return a text as symbols, and its weighted candidates; ``asked_for`` is the pattern from :func:`_asked_for`."""
    symbols = symbols_of(plain, [*mentions_of(plain, options), *nothing.gives_up(plain)])
    candidates = weighed(LETTER_ROWS, symbols)
    at = dict(zip(symbols.mentions, candidates, strict=True))
    for match in symbols.matches(_SEVERAL):
        first, second = at[match.start()], at[match.end()]
        if first.value and second.value and first.value != second.value:  # "B, the bone flap" is one choice
            first.evidence["one of several"] = second.evidence["one of several"] = -200
    lacks = f"[any] close* [comma word]? (is|colon|dash)* word? [the fill so]* ({asked_for})"
    for match in symbols.matches(lacks) if asked_for else ():
        lacking = at[match.start()]
        for reason in ("denied", "not so", "conceded"):
            lacking.evidence.pop(reason, None)
        if lacking.support < _LACKS:
            lacking.cue, lacking.support = "lacking", _LACKS
    rejected = {candidate.value for candidate in candidates if "not chosen" in candidate.evidence}
    for candidate in candidates:
        if candidate.cue in ("false", "odd"):
            candidate.evidence.pop("denied", None)
        if candidate.cue in _CHOSEN:
            candidate.evidence.pop("not so", None)
        if candidate.cue == "ticked":
            candidate.evidence.pop("announced", None)
        if candidate.cue == "named" and candidate.value in rejected:
            candidate.discard("not chosen elsewhere")
    written_out = [candidate for candidate in candidates if _is_written_out(candidate, plain)]
    if len({candidate.value for candidate in written_out}) == 1:
        first = written_out[0]
        if first.support < OUTRIGHT and not plain[: first.start].strip("\n ([#-"):
            first.cue, first.support = "written out", OUTRIGHT
    return symbols, candidates


def _is_written_out(candidate: Candidate, plain: str) -> bool:
    """Return whether a candidate is a letter with its choice's text, such as "(B) the nerve"."""
    after = plain[candidate.start + 1 : candidate.end]
    return plain[candidate.start] == candidate.value and after != "" and not after[0].isalnum()


def _inside(container: Container, options: Sequence[str]) -> str | None:
    """Return the letter in a box, tag or key; None if there is none, "" for more than one letter or "none of these"."""
    content = unwrap(container.content)
    are_digits_places = container.cue == "box" and content not in [option.strip() for option in options]
    letter = letter_of(content.strip("'\"().[] "), digits=are_digits_places)
    if letter:
        return letter
    candidates = _candidates(unformatted(content).replace(";", ","), options)[1]
    letter = choose(candidates, _OPEN).value or named_in_short(unformatted(content), options)
    are_several = any("one of several" in candidate.evidence for candidate in candidates)
    says_none = container.key and content and not candidates and similar_text(content, options) is None
    return "" if letter is None and (are_several or says_none) else letter


def _misspelt(plain: str, symbols: Symbols, options: Sequence[str]) -> str | None:
    """Return the letter of the choice that one clause of the text almost quotes; None if it quotes none.

    This clause is the one after the last "the answer is" or, without these words, the first one. In a clause after
    these words, or one that is the whole text, a part of the choice or its initials suffice.
    """
    ends = [match.end() for match in symbols.matches("(answer|right option) ~4 [is colon]+? the?")]
    clause = _CLAUSE.match(plain, symbols.places[ends[-1]] if ends else 0)
    if clause is None:
        return None
    is_whole = bool(ends) or clause[0] == plain.rstrip(".!")
    return (is_whole and named_in_short(clause[0], options)) or similar_text(clause[0], options)


def _discard_unfinished(candidates: Sequence[Candidate], plain: str, whole: int) -> None:
    """If a text breaks off, discard the candidates in its unfinished part, and merely named ones elsewhere.

    Candidates stated outright are kept. The unfinished part begins at the index ``whole``.
    """
    last = max((candidate.end for candidate in candidates), default=0)
    breaks_off = whole < len(plain) or last < nothing.whole_until(plain, 0) < len(plain)
    for candidate in candidates:
        is_cut = candidate.end > whole or (breaks_off and candidate.cue in ("named", "first"))
        if is_cut and candidate.support < OUTRIGHT:
            candidate.discard("the text breaks off")


def _discard_several(candidates: Sequence[Candidate], symbols: Symbols) -> None:
    """Discard the candidates of a text that gives more than one answer, such as all up to "the answer is A or B"."""
    ends = {symbols.places[match.end()] for match in symbols.matches(_ANSWER_IS_SEVERAL)}
    several = [candidate for candidate in candidates if "one of several" in candidate.evidence]
    are_several = any(candidate.cue == "answer" and len(candidate.evidence) == 1 for candidate in several)
    stated = max(ends & {candidate.start for candidate in several}, default=-1)
    for candidate in candidates:
        if candidate.start <= stated:
            candidate.discard("the answer is several")
    for cue, most in _MOST_OF_CUE.items():
        chosen = {candidate.value for candidate in candidates if candidate.cue == cue and not candidate.evidence}
        for candidate in candidates:
            if candidate.cue == cue and len(chosen) > most:
                candidate.discard(f"several are {cue}")
    for candidate in candidates:
        if are_several and candidate.cue not in _CHOSEN:
            candidate.discard("the answer is several")


def _walked(plain: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that begin the lines of a list of the choices: A, then B, and so on."""
    items: list[Candidate] = []
    run: list[Candidate] = []
    is_bulleted = False
    for candidate in candidates:
        before = _BEFORE_ITEM.fullmatch(plain, line_start(plain, candidate.start), candidate.start)
        if before is None or not candidate.value or plain[candidate.start].upper() != candidate.value:
            continue
        if before["word"] and before["word"].lower() not in words_of("option"):
            continue
        if run and ("-" in before[0]) == is_bulleted and candidate.value == LETTERS[len(run) : len(run) + 1]:
            run.append(candidate)
            items += run if len(run) == 2 else run[2:][-1:]
        elif candidate.value == "A":
            run, is_bulleted = [candidate], "-" in before[0]
    return items


def _in_a_line(plain: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the letters of a list of the choices within a line, such as "A) … B) … C) …"; [] for fewer than three."""
    run: list[Candidate] = []
    for candidate in candidates:
        signs = {plain[letter.start + 1 : letter.start + 2] for letter in (*run, candidate)}
        is_denied = candidate.weight < candidate.support
        if plain[candidate.start] != candidate.value or is_denied or not signs <= {")", ".", ":"}:
            continue
        is_same_line = not run or "\n" not in plain[run[0].start : candidate.start]
        if is_same_line and candidate.value == LETTERS[len(run) : len(run) + 1]:
            run.append(candidate)
        elif len(run) < _FEWEST:
            run = [candidate] if candidate.value == "A" else []
    return run if len(run) >= _FEWEST else []


def _discard_listed(candidates: Sequence[Candidate], symbols: Symbols, plain: str) -> None:
    """If a list restates the choices, discard its items, and choices that are merely mentioned elsewhere."""
    items = _walked(plain, candidates)
    in_a_line = _in_a_line(plain, candidates)
    glossed = [symbols.mentions[match.start()].value for match in symbols.matches("[cand text] close* colon (?!line)")]
    are_glossed = len({*glossed}) > 1  # such as "The nerve: … The vein: …"
    cues = {"named", "first"} if items or in_a_line else set[str]()
    of_glossed = ("named", "first", "leads") if glossed[:1] == ["A"] else ("named", "first")
    if symbols.has(_PARTS):
        cues |= {"leads", "first"}
    for candidate in candidates:
        is_item = candidate in items and candidate.cue not in _OF_AN_ITEM
        is_item |= candidate in in_a_line and candidate.cue not in _OF_AN_ITEM[1:]
        is_glossed = are_glossed and candidate.value in glossed and candidate.cue in of_glossed
        if is_item or is_glossed or candidate.cue in cues:
            candidate.discard("the options are listed")
