"""Reduce a response to plain text: remove formatting, reasoning and invented new questions, and normalise digits."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, pairwise, product

from .patterns import later, rewriter
from .reasoning_marks import AT_END, SIGNS, TOKENS_AT_START, WORDS_AT_START
from .think import TAG, final_text

BOLD = "\x01"
JOINED = "\x02"
"""The marks that :func:`unformatted` can leave: single characters that occur in no tidied text and in no word."""

_HEAD, _TAIL = 2_000, 10_000  # characters that are read at both ends of a long text
_STYLED = (*range(0x24B6, 0x24EA), *range(0xFF01, 0xFF5F), *range(0x1D400, 0x1D800))  # circled, full width, bold, …
_SIGNS = {
    **{code: unicodedata.normalize("NFKC", chr(code)) for code in _STYLED},
    **{first + digit: str(digit) for first, digit in product((0x0660, 0x06F0, 0x0966), range(10))},
    **dict.fromkeys(map(ord, "\u00a0\u2009\u202f\u3000\t"), " "),
    **dict.fromkeys(map(ord, f"{BOLD}{JOINED}\ufeff\ufe0f\u200b\u00ad"), ""),
    **dict.fromkeys((*range(0xE000, 0xF900), *range(0x1F600, 0x1F650)), ""),  # private use, faces
    **dict.fromkeys(map(ord, "➔➙➜➝➞➡⇨⟹⟶➤"), "→"),
    **dict.fromkeys(map(ord, "‘’ʼ"), "'"),
    **dict.fromkeys(map(ord, "−‑‐"), "-"),
    ord("İ"): "I",  # the only letter that becomes two in lower case
}
_SOLUTION = later(AT_END, re.IGNORECASE)
_REASONING = later(f"{TOKENS_AT_START}|{WORDS_AT_START}", re.IGNORECASE)
_unified = rewriter(
    {
        r"[ \t]{0,200}(?:\r\n?|\n|<br\s?/?>\n?)": ("\n", "\r| \n|<b|<B"),
        r"(?-i:<([A-D])>)(?![^<\n]{0,200}</)": (r"(\1)", "<"),
        # A whole text in <s> is not struck out, but between marks of its beginning and end.
        r"~~[^~\n]{1,200}~~|(?!\A<s>[^<]*</s>\s*(?:<[^<>\s]{1,30}>\s*)*\Z)<(del|s|strike)>[^<>\n]{1,200}</\1>": " ",
        r"</?(?:b|strong)>|(?<!\w)__(?=[^\s_])|(?<=[\w.:!?)%])(?<!_)__(?!\w)": ("**", "__|<"),
        r"\*{3}(?=[^\s*])|(?<![\n*])\*{3}": ("**", "***"),
        "^ {0,3}> ?": "",
        r"^( {0,12})[*•‣◦▪●·] (?=\S)": r"\1- ",
        r"\A\s*```\w{0,12}\n([^`]*)\n```\s*\Z": r"\1",
        r"^[ \t]*[-*+]?[ \t]?(?:\[ ?\]|☐)(?!.*(?:\[[xX✓✔]\]|☑|☒)).*$": "",
        r"^([ \t]*)[-*+]?[ \t]?(?:\[[xX✓✔]\]|☑|☒)[ \t]": r"\1✅ ",
        r"</?(?!think|answer|final|choice|result|verdict|score|value)[a-z][a-z0-9]{0,11}(?:\s[^<>\n]{0,120})?/?>": " ",
        r"\*(?:(?<=[\d)]\*)(?=[\d(])|(?<=[\w)] \*)(?= ?[\w(])|(?<=[\d)]\*) (?=[\d(]))": "×",
        r"\[/INST\]": ("\n", "[/"),
        r"\bi\.\s?e\.": ("that is", ".e.|. e.|.E.|. E."),
        r"\bapprox\.": ("about", "approx.|Approx.|APPROX."),
        r"\bans\.": ("answer:", "ans.|Ans.|ANS."),
        r"^[ \t]+": ("", "\n |\n\t"),
        r"(?<=\S)[ \t]{2,}(?=\S)": (" ", "  "),
    },
    re.MULTILINE | re.IGNORECASE,
)
_TAIL_MARK = later(r"(?:\n[-–—*_=~ ]{3,80}|<[|｜][^<>|｜\n]{1,30}[|｜]>|</s>|<(?:eos|end_of_turn)>)\s*\Z")
_LONGEST_MARK = 100  # characters
_FORMATTING = later(
    r"\*{1,3}|__|[`${}\"“”„«»]|\\(?:text|textbf|textit|mathrm|mathbf|boldsymbol|rm|bf|boxed|quad)\b|\\(?=%)"
    r"|\\[()\[\],;:! ]"
)
_UNCLOSED_BOX = later(r"\\boxed\s{0,8}\{(?:[^{}\n]|\{[^{}\n]{0,200}\}){0,200}$", re.MULTILINE)
CALL_FORMS = (
    r"<(tool_call|function_call|function|invoke)\b[\s\S]*?(?:</\1>|\Z)|(?:<\|python_tag\|>|\[TOOL_CALLS\])[^\n]*"
    r"|\{\s*\"(?:name|tool|function)\"\s*:\s*\"\w{1,40}\"\s*,\s*\"(?:arguments|parameters|args|input)\"[^`]{0,2000}?\}\s*\}?"
)
"""Patterns of tool calls, whose words and numbers are not an answer; the first group is the name of a tag."""
_CALL = later(CALL_FORMS, re.IGNORECASE)
_AFTER_HEADING = later(  # it begins with the line break, since a search for one character is fast
    rf"\n(?:(?<=[:：]\n)|(?<=[:：]{BOLD}\n)|(?<=value\n)|(?<=(?:answer|choice|result)\n)|(?<=verdict\n)"
    r"|(?<=judgment\n)|(?<=judgement\n)|(?<=conclusion\n))\s*(?![#|]|\d{1,2}[.)]\s)",
    re.IGNORECASE,
)
_HEADING = later(
    r"^(#{1,6} [^\n]{1,60}?|\*\*(?![A-J][.):])[^*\n\d:]{1,40}:?\*\*)[ \t]*\n\s*(?![#|\s-]|\*\*\d|\d{1,2}[.)] |\* )",
    re.MULTILINE,
)
# The token with which chat templates begin a turn of the user.
_TURN = (
    r"(?:</s>)?\[INST\]|<[|｜](?:user|human)[|｜]>|<\|im_start\|>\s?user\b|<\|start\|>user\b|<start_of_turn>\s?user\b"
    r"|<\|start_header_id\|>user\b"
)
_NEXT_QUESTION = later(
    r"\n(?:[\s>#*_]{0,6}(?:(?:(?:Next|New|Another|Multiple[-\s]Choice|Practice|Sample)\s)?(?:Question|Q|Patient\sNote|Frage|Pregunta|Pergunta|Domanda|Вопрос)\s?\d{0,3}\s?[*_]{0,2}:"
    r"|(?:问题|質問|問題)\s?\d{0,3}\s?[:：]|The\sfollowing\sis\sa\smultiple-choice\squestion)|[#*\s]{0,6}(?:Next"
    r"|New)\s(?:patient|case|question)\s?\d{0,3}[:*_]{0,3}\s?$| {0,8}#{1,4}\s(?:(?:Follow-?\s?up|Next|Additional"
    r"|Practice|Bonus|Related|Similar|Further)\s)?(?:Question|Instruction|Input|Patient(?:\sNote)?|Example|Problem|Human"
    r"|User)\s?\d{0,3}\s?:?\s?$|[#*\s]{0,6}(?:User|Human)\s?:[*]{0,2}\s| {0,8}#{1,4}\sInstruction\s?:\s"
    r"|Now,\slet's\s?(?:总结|(?:summarize|combine)\s[^\n]{0,20}answer)"
    r"|<user>)",
    re.MULTILINE | re.IGNORECASE,
)
_NEXT_TURN = later(
    rf"(?<!\S)Exercise\s[2-9]:|{_TURN}"
    r"|(?:<\|(?:endoftext|end|return|im_end|eot_id|endofutterance)\|>|</s>|<eos>|<end_of_turn>)(?=\s*[^\s<])",
    re.MULTILINE | re.IGNORECASE,
)
_USER_TURN = later(_TURN, re.IGNORECASE)
# A question with its answer on a separate line is a further question; in bold or in a list, it is only restated.
_INVENTED = later(
    r"(?![\s>_-]{0,3}\*)[\s\S]{0,4000}?"
    r"(?:<think>|^[#\s<|]{0,6}(?:im_start\|>)?(?:answer|A:|response|reply|assistant|antwort|r[eé]p|choices))",
    re.MULTILINE | re.IGNORECASE,
)
# A question with options: a line that ends in a question mark, or a heading that announces a case, then A and B.
_ASKS = later(
    r"^(?:[^\n]{0,2000}\?|[#*_ ]{1,8}(?:[^\W\d_]+\s){0,3}(?:question|case|vignette|scenario|problem|example|exercise"
    r"|quiz|patient|pregunta|pergunta|caso|frage|fall|cas)\b[^\n]{0,60}\n+(?:[^\n]{1,2000}\n+){1,4}?)[*_ ]{0,4}"
    r"\s*\W{0,6}(?:option\s)?A\s?[).:][^\n]{1,300}?[\n(]\W{0,8}(?:option\s)?B\s?[).:]",
    re.MULTILINE | re.IGNORECASE,
)
_PREAMBLE = later(
    r"\W{0,3}(?:certainly|sure|of\scourse|okay|ok|gerne?|bien\ssûr|claro|certo|конечно|好的|let|first|here"
    r"|i(?:\swill|'ll)|based\son|in\sorder\sto|to\s(?:answer|evaluate|determine|assess|decide))(?!\w)[^\n\\<]{0,160}"
    r"|\s{0,8}(?:#{1,4} |\*\*|__|<(?:b|strong)>)\*?(?:[^\W\d_]{2,}[\s*:_]{0,4}){2,8}(?:</\w{1,6}>)?",
    re.IGNORECASE,
)


def _further_questions(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each phrase or tag that begins a new question or turn in a text."""
    for match in _NEXT_QUESTION.finditer(f"\n{text}"):
        yield match.start(), match.end() - 1
    if any(sign in text for sign in ("<", "[INST]", "Exercise")):
        yield from (match.span() for match in _NEXT_TURN.finditer(text))


def stated(text: str) -> str:
    r"""Return a response without tool calls, and without reasoning in marks other than ``<think>``.

    >>> stated("<reasoning>A or B?</reasoning>\nC"), stated("[THINK]A?"), stated("<|begin_of_thought|>So 3.")
    ('\nC', '', ' So 3.')
    """
    text = _CALL.sub(" ", text)
    lower = text.lower()
    if not any(sign in lower for sign in SIGNS):
        return text
    ends = list(_SOLUTION.finditer(text))
    last = ends[-1] if ends else None
    if last and re.search(r"\w", _SOLUTION.sub("", text[last.end() :])):
        return text[last.end() :]
    opened = _REASONING.search(text)
    if opened and last is None and opened[0].lower() != "<|begin_of_thought|>":
        return text[: opened.start()]
    return _SOLUTION.sub(" ", _REASONING.sub(" ", text))


def tidied(text: str) -> str:
    r"""Normalise characters and markup; strip trailing horizontal rules and end tokens.

    Of more than 12,000 characters, keep only the first 2,000 and the last 10,000, where answers are stated.

    >>> tidied("答案：Ｃ\r\n\r\n---"), tidied("<b>A</b><|im_end|>")
    ('答案:C', '**A**')
    """
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]}\n\n{text[-_TAIL:]}"
    text = _unified(text.translate(_SIGNS)).strip()
    for _ in range(3):  # such as a horizontal rule and two end tokens
        text = (text[:-_LONGEST_MARK] + _TAIL_MARK.sub("", text[-_LONGEST_MARK:])).rstrip()
    return text


def own_parts(text: str) -> Iterator[str]:
    """Yield up to three parts of a text that may contain its answer; a new question begins a new part.

    >>> list(own_parts("C\\nQuestion: …\\nAnswer: B")), list(own_parts("Question: … Answer: C"))
    (['C', 'Question: …\\nAnswer: B'], ['Question: … Answer: C'])
    """
    asked = _ASKS.search(text, 1)
    edges = {0, *(start for start, _ in _further_questions(text)), asked.start() if asked else 0, len(text)}
    for start, end in islice(pairwise(sorted(edges)), 3):
        part = text[start:end].strip()
        if part:
            yield part


def unformatted(text: str, keep: str = "") -> str:
    r"""Remove Markdown and LaTeX from around the words of a tidied text, and join each heading with the line after it.

    ``keep`` may be :data:`BOLD`, a mark left where bold text begins and ends, or :data:`JOINED`, left after a heading.

    >>> unformatted("### Final answer\n\n**C**"), unformatted(r"\text{C}")
    ('### Final answer C', 'C')
    """
    bold, joined = (mark if mark == keep else "" for mark in (BOLD, JOINED))
    if "\\boxed" in text:
        text = _UNCLOSED_BOX.sub("", text)
    text = _HEADING.sub(rf"\1:{joined} ", _AFTER_HEADING.sub(f"{joined} ", text))
    text = _FORMATTING.sub("", text.replace("**", bold))
    if " \n" in text:
        text = "\n".join(line.rstrip(" ") for line in text.split("\n"))
    return _AFTER_HEADING.sub(f"{joined} ", text)


def is_bold(text: str, start: int, end: int) -> bool:
    """Return whether a span is in bold: between two marks :data:`BOLD`, each at most 50 characters away."""
    is_between = text.rfind(BOLD, max(0, start - 50), start) >= 0 and text.find(BOLD, end, end + 50) >= 0
    return is_between and text.count(BOLD, 0, start) % 2 == 1


def line_start(text: str, at: int) -> int:
    """Return the start of the line at an index, or the end of a heading that :data:`JOINED` joins to the line."""
    return max(text.rfind("\n", 0, at), text.rfind(JOINED, 0, at)) + 1


_TOKENS = later(r"<(?!/?(?:b|strong)>)[^<>\s]{1,30}>")  # such as "<s>"


@lru_cache(maxsize=4)
def without_continuation(response: str) -> str:
    """Return a response, with its reasoning, up to the first question or user turn that it invents after its answer.

    The whole response is returned if there is none.

    >>> without_continuation("C\\n\\nQ: …?\\n<think>…</think>B"), without_continuation("So.\\nQuestion: …</think>B")
    ('C\\n', 'So.\\nQuestion: …</think>B')
    """
    for start, end in islice(sorted(_further_questions(response)), 20):
        answer, tag = _TOKENS.sub("", final_text(response[:start])).strip(), TAG.search(response, end)
        within_reasoning = tag and tag[1]
        if within_reasoning or not answer or _PREAMBLE.fullmatch(answer):
            continue
        if _USER_TURN.match(response, start) or _INVENTED.match(response, start):
            return response[:start]
    return response
