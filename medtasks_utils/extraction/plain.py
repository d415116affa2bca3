"""Text as a reader sees it: without formatting, in one script of letters and digits, without the next question."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from textwrap import dedent

from medtasks_utils.extraction import cues
from medtasks_utils.extraction.ends import both_ends
from medtasks_utils.extraction.think import TAG, final_text
from medtasks_utils.extraction.weighing import bounded

_SPACES = "\u00a0\u2009\u202f\u3000\t"
_CHARACTERS: dict[int, str] = {
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    **{first + digit: str(digit) for first in (0x0660, 0x06F0, 0x0966) for digit in range(10)},
    **{ord(space): " " for space in _SPACES},
    **dict.fromkeys((*map(ord, "\ufeff\ufe0f"), *range(0x1F600, 0x1F650), *range(0x1F90C, 0x1F93B)), ""),
    **dict.fromkeys(map(ord, "➔➙➜➝➞➡⇨⇒⟹⟶➤"), "→"),
    **dict.fromkeys(map(ord, "‘’"), "'"),
    ord("−"): "-",
    **{ord(mark): end for mark, end in zip("、،।؟؛", ",,.?;", strict=True)},
}

# What other markup, bullets, headings and quotations are written as, in this order.
_WRITTEN = tuple(
    (re.compile(pattern, re.MULTILINE | re.IGNORECASE), written)
    for pattern, written in (
        (r"[ \t]{0,200}(?:\r\n?|\n|<br\s?/?>\n?)", "\n"),
        (r"</?(?:b|strong)>|\*{3}|(?<!\w)__(?=[^\W_])|(?<=[\w.:!?)%])(?<!_)__(?!\w)", "**"),
        (r"\A[\s#*]{0,8}(?:<[|｜]assistant[|｜]>|(?:assistant|response|chatbot|ai)[ *]{0,3}:\*{0,2})\s{0,8}(?=\S)", ""),
        (r"^(#{1,6} )(?:[^\w\s\\$*(\[<~|-]{1,4} |\d{1,2}[.)] ){1,2}", r"\1"),
        (r"^ {0,3}> (?=[^\s\d.>])", ""),
        (r"^( {0,12})[*•‣◦▪●·] (?=\S)", r"\1- "),
        (r"(?<=\S) {2,}(?=\S)", " "),
        (r"\A\s*```\w{0,12}\n([^`]*)\n```\s*\Z", r"\1"),
        (r"(\\f?boxed\s?\{)\s?\\(?:text|math)\w{0,2}\s?\{([^{}\n]{1,80})\}\s?\}", r"\1\2}"),
        (r"【\s?([^\W\d][^【】\n]{1,7}?)\s?】:? ?", r"\1: "),
        (r"(?<=[^\W\d]) :(?=\s)", ":"),
    )
)
# A polite line to begin with, polite lines and references to end with: they hold no answer.
_COURTESY = re.compile(
    rf"\A(?![^\n]{{0,200}}(?i:halluc|factual|correct|wrong|true|false|not\b|n['’]t\b|\bis\s(?!my|how"
    rf"|the\s)))[\W_]{{0,4}}(?:{cues.either(cues.COURTESY)}\s?[!.,，！。:]?\s{{0,2}}){{0,2}}"
    rf"(?:{cues.either(cues.ANNOUNCING)}[^\n:：\\<]{{0,120}})?[:.!…。：！*_]{{0,4}}\s*\n+(?=\s*\S)"
)
_CLOSING = re.compile(
    rf"\n[\W_]{{0,6}}(?:{cues.either(cues.CLOSING)}[^\n\\<{{}}]{{0,200}}|(?i:references?|sources?|quellen?|références?"
    rf"|fuentes?|referencias?"
    r"|referências?|fonti?|источники?|参考文献)[*_]{0,3}\s?:[^\n\\<{}]{0,200}(?:\n\s?(?:\d{1,2}[.)]"
    r"|[-*•\[])[^\n\\<{}]{1,200}){0,9})$"
)
_TOKEN = re.compile(r"(?<![\w.])(?:[A-D](?![\w'’])|[0-2](?![\w.]))(?!\.\s)|(?i:answer\sis|actually|correction|wait\b)")
_TAIL = re.compile(r"(?:\n[-–—*_=~ ]{3,80}|<[|｜][^<>|｜\n]{1,30}[|｜]>|</s>|<(?:eos|end_of_turn)>)$")
_MAX_TAILS = 8
_STRUCK = re.compile(r"~~[^~\n]{1,200}~~|<(del|s|strike)>[^<>\n]{1,200}</\1>")
_SPACE = re.compile(r"\\[,;:! ]|(?<![~])~(?![~])|</?(?!think|answer)[a-z][a-z0-9]{0,11}(?:\s[^<>\n]{0,120})?/?>")
_FORMATTING = re.compile(
    r"\*{1,3}|__|[`${}\"“”„«»「」『』]|\\(?:text|textbf|textit|mathrm|mathbf|boldsymbol|rm|bf)\b|\\(?=%)|\\[()\[\]]"
)
_AFTER_HEADING = re.compile(
    r"((?:[:：]|(?i:answer|choice|conclusion|verdict|result|value"
    r"|judge?ment)[*_]{0,3})[*_]{0,3})[ \t]{0,8}\n\s{0,8}(?![#|])"
)
_NEXT_QUESTION = re.compile(
    r"^(?:[\s>#*_]{0,6}(?:(?:Question|Q|Patient\sNote|Frage|Pregunta|Pergunta|Domanda|Вопрос)\s?\d{0,3}\s?[*_]{0,2}:"
    r"|(?:问题|質問|問題)\s?\d{0,3}\s?[:：]|The\sfollowing\sis\sa\smultiple-choice\squestion)|[#*\s]{0,6}(?:Next"
    r"|New)\s(?:patient|case|question)\s?\d{0,3}[:*_]{0,3}\s?$| {0,8}#{1,4}\s(?:(?:Follow-?\s?up|Next|Additional"
    r"|Practice|Bonus|Related|Similar|Further)\s)?(?:Question|Instruction|Input|Patient(?:\sNote)?|Example|Problem|Human"
    r"|User)\s?\d{0,3}\s?:?\s?$|[#*\s]{0,6}(?:User|Human)\s?:[*]{0,2}\s| {0,8}#{1,4}\sInstruction\s?:\s"
    r"|(?:</?s>){0,2}\[INST\]|<\|?(?:im_start\|>\s?|\|)?(?:user|start_header_id)\b)|(?<!\S)Exercise\s[2-9]:",
    re.MULTILINE | re.IGNORECASE,
)
# What a speaker asks of the answer before it, which the answer after it may change.
_OBJECTION = re.compile(r"(?:are|is)\s\w+\s(?:sure|right|correct)\b|really\b|but\b|why\b", re.IGNORECASE)
# A question in bold or in a list is restated for an analysis; one that is answered line by line is another.
_INVENTED = re.compile(
    r"(?![\s>_-]{0,3}\*)[\s\S]{0,4000}?"
    r"(?:<think>|^[#\s<|]{0,6}(?:im_start\|>)?(?:answer|A:|response|reply|assistant|antwort|r[eé]p|choices))",
    re.MULTILINE | re.IGNORECASE,
)
_PREAMBLE = re.compile(
    rf"\W{{0,3}}(?:{cues.either(cues.COURTESY)}|(?i:let|first|here|i(?:\swill|'ll)|based\son|in\sorder\sto"
    rf"|to\s(?:answer|evaluate|determine|assess|decide)))(?!\w)[^\n\\<]{{0,160}}"
    r"|\s{0,8}(?:#{1,4} |\*\*|__|<(?:b|strong)>)\*?(?:[^\W\d_]{2,}[\s*:_]{0,4}){2,8}(?:</\w{1,6}>)?"
)
_FORM = re.compile(r"\\f?box(?:ed)?\s?\{[^{}\n]{0,80}\}|<answer>[^<]{0,200}</answer>", re.IGNORECASE)


def _forms(tokens: str) -> str:
    """Boxes with these tokens one after the other, in a sentence or line by line: what may be answered."""
    gap = r"(?:(?!box|\bnot\b)[^.!?]){0,80}?"
    return gap.join(rf"\\f?box(?:ed)?\s?\{{\W{{0,3}}(?:text\w{{0,2}}\{{)?{token}\W{{0,3}}\}}" for token in tokens)


_ALL_FORMS = re.compile(rf"(?:{'|'.join(map(_forms, ('ABCD', 'ABC', '012')))})[^.!?\n\\]{{0,80}}")
_INSTRUCTED_BEFORE = re.compile(
    r"(?:\b(?:for\s(?:example|instance)|e\.\s?g\.|such\sas|looks?\slike|(?:[,;]|\bor|\band)\slike|like\sthis"
    r"|in\sthe\sform(?:at)?(?:\sof)?|as\sin|z\.\s?B\."
    r"|zum\sBeispiel|par\sexemple|p\.\s?ej\.|por\se(?:jemplo|xemplo)|ad\sesempio|например)|例如|例えば|예를\s들어|مثلا"
    r"|उदाहरण)[\s,:：]{0,3}$|\b(?:one|you|we|line)\swould\s(?:then\s)?(?:write|read|put|look\slike)\s?:?\s?$|(?:^"
    r"|[.!?\n]\s*|please\s|\b(?:and|then)\s)(?:reply|respond|answer|put|write|give|place"
    r"|enclose|return|output|provide|state|present|end|finish)\s(?:with\b|only\b|in\b|using\b|your\b|it\s(?:in|as)\b"
    r"|\s?$)[^.!?\n:]{0,80}$|\b(?:your|Ihre|deine|votre|tu|su|sua|tua|ваш)\s(?:final\s|endgültige\s)?(?:answer|choice"
    r"|value|verdict|response|Antwort|réponse|respuesta|resposta|risposta|ответ)\b[^.!?\n:]{0,40}$",
    re.IGNORECASE,
)
_INSTRUCTED_AFTER = re.compile(
    r"[^\w\n.!?]{0,3}\s(?:is\show\b|if|when|where|or\s\\{1,2}boxed|for\san?\b|wenn|falls|si\b|se\b|если|für\s|cuando"
    r"|lorsque)"
    r"|\s?(?:如果|表示|の場合|이면)",
    re.IGNORECASE,
)


def one_script(text: str) -> str:
    """Full-width letters and Arabic or Devanagari digits as ASCII, struck-out text gone; the two ends of a long text.

    >>> one_script("答案：Ｃ"), one_script("~~D~~ A"), one_script("٢٤٫٥")
    ('答案:C', '  A', '24٫5')
    """
    return _STRUCK.sub(" ", both_ends(text).translate(_CHARACTERS))


def _tidy(text: str) -> str:
    """One markup and one space between words; no speaker's name before, no ruler or end-of-text token after them."""
    for pattern, written in _WRITTEN:
        text = pattern.sub(written, text)
    text = dedent(text).strip()
    for _ in range(_MAX_TAILS):
        text, cut = _TAIL.subn("", text)
        closing = _CLOSING.search(text, max(0, len(text) - 1500))
        if closing and text[: closing.start()].strip() and not _TOKEN.search(closing[0]):
            text, cut = text[: closing.start()], 1
        if not cut:
            break
        text = text.rstrip()
    return _COURTESY.sub("", text)


def unformatted(text: str, *, headings: bool = True) -> str:
    r"""Without Markdown and LaTeX around words; with ``headings``, what follows one is on the heading's line.

    >>> unformatted("### Final answer\n\n**C**"), unformatted(r"\text{C}")
    ('### Final answer C', 'C')
    """
    if not headings:
        return _FORMATTING.sub("", _SPACE.sub(" ", text))
    return _AFTER_HEADING.sub(r"\1 ", _FORMATTING.sub("", _AFTER_HEADING.sub(r"\1 ", _SPACE.sub(" ", text))))


@lru_cache(maxsize=2)
def without_instructions(text: str) -> str:
    r"""The text without boxes and answer tags that only show what an answer is to look like.

    >>> without_instructions(r"Reply with \boxed{0} if it is factual."), without_instructions(r"So \boxed{0}.")
    ('Reply with  if it is factual.', 'So \\boxed{0}.')
    """
    text = _ALL_FORMS.sub("", text)
    looked_at = {form.start() for form in bounded(_FORM.finditer(text))}

    def stated(form: re.Match[str]) -> str:
        if form.start() not in looked_at:
            return form[0]
        before, after = text[max(0, form.start() - 120) : form.start()], text[form.end() : form.end() + 20]
        return "" if _INSTRUCTED_BEFORE.search(before) or _INSTRUCTED_AFTER.match(after) else form[0]

    return _FORM.sub(stated, text)


_UNTICKED = re.compile(r"^[ \t]*[-*+]?[ \t]?(?:\[ ?\]|☐)(?!.*(?:\[[xX✓✔]\]|☑|☒)).*$", re.MULTILINE)
_TICKED = re.compile(r"^([ \t]*)[-*+]?[ \t]?(?:\[[xX✓✔]\]|☑|☒)[ \t]", re.MULTILINE)


def own_parts(text: str) -> tuple[str, ...]:
    """The parts of a response in which its answer may stand, in one script, without what it repeats of the prompt.

    A response that is one word over and over is that word; of boxes to tick, the ticked one counts.
    """
    text = _TICKED.sub(r"\1", _UNTICKED.sub("", _tidy(one_script(text))))
    words = set(text.split())
    if len(words) == 1:
        text = words.pop()
    return without_next_question(without_instructions(text))


def without_continuation(response: str) -> str:
    """The response, reasoning and all, up to a further question that it invents after its answer, and answers.

    >>> without_continuation("C\\n\\nQ: …?\\n<think>…</think>B"), without_continuation("So.\\nQuestion: …</think>B")
    ('C\\n', 'So.\\nQuestion: …</think>B')
    """
    for question in islice(_NEXT_QUESTION.finditer(response), 20):
        own, tag = final_text(response[: question.start()]), TAG.search(response, question.end())
        if not (tag and tag[1]) and own.strip() and _goes_on(own.strip(), response, question.start()):
            return response[: question.start()]
    return response


def _goes_on(own: str, response: str, at: int) -> bool:
    restates = _NEXT_QUESTION.match(own) or _PREAMBLE.fullmatch(own)
    return not restates and _INVENTED.match(response, at) is not None


def without_next_question(text: str) -> tuple[str, ...]:
    """The parts of a text in which its own answer may stand, in order: before a question that follows; else after it.

    >>> without_next_question("C\\nQuestion: …\\nAnswer: B"), without_next_question("Question: … Answer: C")
    (('C\\n', 'Question: …\\nAnswer: B'), ('Question: … Answer: C',))
    """
    starts = [one.start() for one in _NEXT_QUESTION.finditer(text) if not _OBJECTION.match(text, one.end())]
    if not starts:
        return (text,)
    before = text[: starts[0]]
    if text.startswith("Exercise", starts[0]) and before.strip():
        return (before,)
    headings = [text[start : start + 40].partition(":")[0].strip().lower() for start in starts]
    again = headings.index(headings[0], 1) if headings[0] in headings[1:] else None
    echoed = text[starts[0] : None if again is None else starts[again]]
    return (before, echoed) if before.strip() else (echoed,)
