"""Which of the options A to D a text chooses."""

from collections.abc import Collection, Iterable, Sequence

from . import nothing
from .boxes import unwrap
from .containers import Container, containers_of, first_reading
from .letter_options import LETTERS as LETTERS
from .letter_options import latin_letters, same_text, similar_text, spoken_of
from .patterns import later
from .plain import JOINED, unformatted
from .weighing import OUTRIGHT, Candidate, Reading, choose, rows, weighed
from .words import Symbols, pattern, symbols_of, words_of

LETTER_ROWS = rows(
    """
L = [the fill option open]*
W = [the fill option open right so because colon comma]*
O = [the option open]* [cand text weak]
I = [the fill option open dash head digits stop op bar cmp]*
70 answer: (?<![other wrong])(?:answer|right option) ~8 [is colon eq arrow dash]+ {W} @@
N = (?=[stop line close dash comma because colon is]|$)
68 answer: (?<![other wrong])answer [open colon fill option dash arrow]* # {N}
60 correct: @@ close* (?:comma ~5 comma)? (?=(?:is|so|colon)+ [the fill so comma]* (?:right|answer))
56 most: fill [fill right] ~12 (?:is|colon) [the fill option open right to]* @@
56 choose: choose [the fill option open colon answer is]* @@
58 ticked: (?<![cross tick]) @ [^ line cand text cross tick]* tick
58 ticked: tick {L} @
56 it is: @@ (?=close* so (?:stop|line|comma|$))
54 colon: (?<!options )is [^ stop line comma cand text not colon]{0,3} colon {I} @@
F = (?:wrong option|(?:option|fill) [because the is so fill]{0,3} (?:wrong|not [word right fill]{1,2}))
66 false: {F} is {L} <cand> (?=close|stop|line|comma|text|$)
60 odd: (?:^|stop|line) fill [^ stop line comma cand text]{0,8} versus {L} @@ (?=close* (?:stop|line|$))
46 ends: open option {L} @ (?=close+ stop* line* $)
54 most: fill [fill right] ~12 is to [word calc] the? <text>
54 so: so {L} (?:colon|answer|is|choose|comma)* {L} # (?=stop|line|close|$|because|comma|is right)
64 alone: ^ line* # line+
52 alone: (?:^|line) [the fill option open tick dash arrow answer]* @@ (?=[stop close bar tick]* (?:line|$))
44 said to be: (?:the|other) ~12 is [the fill option open right]* # (?=stop|line|close|$|colon|comma)
50 leads: ^ {L} @ (?=[stop close colon comma dash line]|open)
46 leads: ^ # (?=stop|colon)
40 leads: ^ @ (?=is|because|$)
48 concluded: so {W} <text> (?=is)
48 concluded: so ~14 [is colon]? [fill the]* <text> (?=close* (?:stop|line|comma|because|$))
46 ends: stop @ (?=stop? line* $)
34 ends: (?:is|colon|arrow|right|so) {L} @ (?=close* stop* line* $)
24 first: ^ [^ stop line cand text not if]{0,8} @ (?=[stop close colon comma dash line]|open)
20 named: @
H = [^ stop line cand text choose right]{0,20}?
-100 announced: (?:^|line|stop) {H} options [^ stop line is cand text choose answer]{0,8} (?:colon|line) {I} @@
-100 announced: (?:^|line|stop) [^ stop line cand text choose right not]{0,4}? options is colon {I} @@
-100 not chosen: not [^ stop line comma cand text]{0,6}? (?:choose|answer) [the fill option colon is answer choose]* @@
-60 denied: versus {L} @@
-60 denied: not [the fill option open is right so answer]* @
-60 denied: @@ (?=close* [comma word]? (?:is|colon|dash|arrow|bar)* word? [the fill so]* (?:wrong|not))
-60 denied: @@ (?=close* (?:comma {O} close*)* comma? or {O} close* word? [is colon the fill so other]* (?:wrong|not))
-60 denied: (?:slip|wrong|other) [answer is colon to the word option]{0,4} @@
-60 formula: # (?=op (?:digits|open)|eq (?:word|digits))
-60 formula: (?:word|digits) op #
-30 supposed: if [^ stop line]{0,8}? @@
-40 supposed: @ (?=close* fill? if)
-70 name: name @
-70 name: @ (?=named)
    """
)
_SEVERAL = "[cand text] close* (?:[comma or dash fill range]|op)+ [the option open or]* (?=[cand text])"
_OPEN = ("named", "said to be")
_PARTS = "line* open [cand weak] close .*? (?:stop|line) line* open [cand weak] close"  # of a question, not options
_BY_NUMBER = str.maketrans("0123", LETTERS)
_AGAINST = {"denied", "not chosen"}
_BEFORE_ITEM = later(
    r"[^\w\n\x02]{0,8}(?:(?P<word>[^\W\d_]{1,14})\W{1,3}|\d{1,2}\W{1,3})?"
)  # a marker, "Option", a number
_CLAUSE = later(r"[^\n]{0,300}?(?=[.;!?]\s|[.;!?]?\s*(?:\n|$))")
_AFTER_COLON, _LINE_END = later(rf":{JOINED}\W{{0,12}}$"), later(r"\W{0,4}?(?:\n|$)")
_OF_AN_ITEM = ("answer", "correct", "it is", "ticked")  # cues that make an item of a list the answer


def letter_of(token: str, digits: bool = False) -> str | None:
    """The letter that a bare token means: ``b`` is B, and with ``digits`` 0 to 3 are A to D; None for anything else.

    >>> letter_of("b"), letter_of("2", digits=True), letter_of("BC")
    ('B', 'C', None)
    """
    letter = token.strip().upper()
    if digits:
        letter = letter.translate(_BY_NUMBER)
    return letter if len(letter) == 1 and letter in LETTERS else None


def read_letter(text: str, options: Sequence[str] = ()) -> Reading:
    """The letter that a text chooses, or none.

    An option's text stands for its letter. "A or B" and "not A" choose nothing, and neither does a list of the options.

    >>> read_letter("The correct answer is (C).").value, read_letter("A or B").value, read_letter("Not A.").value
    ('C', None, None)
    """
    return first_reading(text, lambda part: _read_part(latin_letters(part), options))


def _read_part(text: str, options: Sequence[str]) -> Reading:
    """Return what a part of a response states: in a box, tag or key, or else in its text."""
    keys = ("answer", "choice", "letter", "option")
    inside = [one for each in containers_of(text, keys) if (one := _inside(each, text, options))]
    plain = unformatted(text, joined=JOINED)
    symbols, candidates = _candidates(plain, options)
    if inside and nothing.retracted_until(symbols_of(text[inside[-1].end :], ())) < 0:
        return choose(inside)._replace(candidates=(*inside, *candidates))
    whole = 0 if nothing.loops(plain) else nothing.whole_until(plain)
    last = max((one.end for one in candidates), default=0)
    breaks_off = whole < len(plain) or last < nothing.whole_until(plain, 0) < len(plain)
    odd = _odd_one(candidates)
    _discard_unfinished(candidates, symbols, whole, breaks_off)
    if any(one.cue == "answer" and {*one.evidence} == {"one of several"} for one in candidates):
        _discard(candidates, "the answer is several", {one.cue for one in candidates} - {"answer"})  # such as "A or B"
    _discard_walked(candidates, plain)
    _raise_after_colon(candidates, plain)
    _discard_listed(candidates, symbols)
    for cue, most in (("ticked", 1), ("correct", 2)):
        if len({one.value for one in candidates if one.cue == cue and not one.evidence}) > most:
            _discard(candidates, f"several are {cue}", (cue,))
    reading = choose(candidates, _OPEN)
    if not reading.value and whole == len(plain) and (left := odd or _left_over(candidates)):
        return Reading(left, "left over", reading.candidates, 0.9)
    if not reading.value and whole == len(plain) and (meant := _misspelt(plain, symbols, options)):
        return Reading(meant, "named", reading.candidates, 0.89)
    return reading if reading.value else Reading(None, "none", reading.candidates)


def _misspelt(plain: str, symbols: Symbols, options: Sequence[str]) -> str | None:
    """Return the letter of the option that the last "the answer is …" or the whole text all but quotes."""
    ends = [match.end() for match in pattern("(?:answer|right option) ~4 [is colon]+ the?").finditer(symbols.symbols)]
    places = [*symbols.places, len(plain)]
    start = places[ends[-1]] if ends else 0
    clause = _CLAUSE.match(plain, start)
    return similar_text(clause[0], options) if clause else None


def _discard(candidates: Iterable[Candidate], reason: str, cues: Collection[str]) -> None:
    """Discard the candidates that are found by one of the cues."""
    for one in candidates:
        if one.cue in cues:
            one.discard(reason)


def _discard_unfinished(candidates: Sequence[Candidate], symbols: Symbols, whole: int, breaks_off: bool) -> None:
    """Discard what is not stated outright where the text breaks off, or in its last, broken sentence."""
    for found, one in zip(symbols.found.values(), candidates, strict=True):
        cut = one.end == len(symbols.text) and found.notion == "weak" and one.cue in ("most", "so", "named")
        open_cue = one.cue in ("named", "first") or (one.cue == "leads" and found.notion == "text")
        if cut or (one.support < OUTRIGHT and (one.end > whole or (breaks_off and open_cue))):
            one.discard("the text breaks off")


def _discard_walked(candidates: Sequence[Candidate], plain: str) -> None:
    """Discard the items of a walk through the options, and with it what is merely named."""
    walked = _walked(plain, candidates)
    for one in candidates:
        if (one in walked and one.cue not in _OF_AN_ITEM) or (walked and one.cue in ("named", "first")):
            one.discard("the options are listed")


def _raise_after_colon(candidates: Sequence[Candidate], plain: str) -> None:
    """Take what is the whole line after one that ends in a colon for stated."""
    for one in candidates:
        led = _AFTER_COLON.search(plain, max(0, one.start - 20), one.start) and _LINE_END.match(plain, one.end)
        if led and 0 < one.support < 46 and not one.evidence:
            one.cue, one.support = "colon", 46.0


def _walked(plain: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the items of lists of the options: lines that begin with A, then B, and so on, however long each is."""
    items: list[Candidate] = []
    run: list[Candidate] = []
    for one in candidates:
        line = max(plain.rfind("\n", 0, one.start), plain.rfind(JOINED, 0, one.start)) + 1
        before = _BEFORE_ITEM.fullmatch(plain, line, one.start)
        leads = before and (not before["word"] or before["word"].lower() in words_of("option"))
        if one.value and plain[one.start].upper() == one.value and leads:
            expected = LETTERS[len(run) % len(LETTERS)]
            if one.value == expected or one.value == "A":
                run = [*run, one] if one.value == expected and run else [one] * (one.value == "A")
                items += run if len(run) == 2 else run[2:][-1:]
    return items


def _left_over(candidates: list[Candidate]) -> str | None:
    """The option that is left where the other three are denied."""
    left = {*LETTERS} - {one.value for one in candidates if one.evidence.keys() & _AGAINST}
    several = any(not one.value or "one of several" in one.evidence for one in candidates if one.value in {*left, ""})
    return left.pop() if len(left) == 1 and not several else None


def _odd_one(candidates: Sequence[Candidate]) -> str | None:
    """Return the option that alone is called false where the three others are called true."""
    called_true = {one.value for one in candidates if one.cue == "correct" and not one.evidence}
    called_false = {one.value for one in candidates if "denied" in one.evidence}
    odd = {*LETTERS} - called_true
    return odd.pop() if len(called_true) == 3 and odd == called_false else None


def _candidates(plain: str, options: Sequence[str]) -> tuple[Symbols, list[Candidate]]:
    found = sorted([*spoken_of(plain, options), *nothing.gives_up(plain)], key=lambda one: one.start)
    symbols = symbols_of(plain, found)
    candidates = weighed(LETTER_ROWS, symbols)
    at = dict(zip(symbols.found, candidates, strict=True))
    for match in pattern(_SEVERAL).finditer(symbols.symbols):  # "B, the bone flap" names one option twice
        one, other = at[match.start()], at[match.end()]
        if one.value != other.value and one.value and other.value:
            one.evidence["one of several"] = other.evidence["one of several"] = -200
    for one in candidates:
        if one.cue in ("false", "odd"):
            one.evidence.pop("denied", None)
    return symbols, candidates


def _discard_listed(candidates: Sequence[Candidate], symbols: Symbols) -> None:
    """Discard what begins lines of a list of the options, which restates them; what stands after the list does not."""
    reason, weak = "the options are listed", ("leads", "first")
    if pattern(_PARTS).match(symbols.symbols):
        _discard(candidates, reason, weak)
    if len({one.value for one in candidates if one.cue == "alone"}) >= 3:
        _discard(candidates, reason, ("alone", *weak))


def _inside(container: Container, text: str, options: Sequence[str]) -> Candidate | None:
    """The letter that a box, tag or key holds."""
    content = unwrap(container.content)
    letter = letter_of(content.strip("'\"().[] "), digits=container.cue != "tag") or same_text(content, options)
    if letter is None:
        _, found = _candidates(unformatted(content), options)
        letter = choose(found, _OPEN).value
    return container.candidate(letter, text)
