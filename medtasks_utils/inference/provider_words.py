"""Recognise what a server's error is about by its words, for which there is no standard.

The bodies of some thirty providers in ``tests/inference/tables/refusals.jsonl`` show what each pattern is for; a row of
``docs/engines.md`` says what follows.
"""

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from email.utils import mktime_tz, parsedate_tz
from typing import Any


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.I | re.X)


_LENGTH = _words(r"""
    context[ _-]?(len|size|window|limit|shift) | \bn_(ctx|tokens)\b | kv[ ]cache
    | max_?(seq|sequence|model|input|total|num|prompt)_?(len|tokens)
    | string_above_max
    | \b(prompt|inputs?|messages?|sequence|requested|request|conversation)\b .{0,40} \b(tokens?|length|characters)\b
    | \b(tokens?|length|characters)\b .{0,40} \b(prompt|inputs?|messages?|dimension|token[ ]limit)\b
    | \b(prompt|inputs?|messages?|request|string|text|content|too[ ]many[ ]tokens)\b (.length)? ([ ](is|are|was))?
      [ ]too[ ](long|large)
    | too[ ]many[ ](input[ ]|prompt[ ])?tokens
    | (上下文|输入|提示词?).{0,6}长 | 超长 | tokens?超 | 超过.{0,12}长度
""")
_EXCESS = _words(r"""
    exceed | too[ ](long|large|many) | (longer|greater|larger|more|less|fewer|higher)[ ]than | must[ ](be|have)
    | should[ ](be|not) | max | limit | at[ ]most | overflow | reduce | disabled | only | fit | supports | > | 超 | 过长
""")
_OTHER_LENGTH = _words(r"""
    queue | worker | per[ ](min|day|hour)
    | \A (?! (.|\n)* \b(prompt|inputs?|messages|context|total)\b ) (.|\n)*
      (max_(completion_|output_|new_)?tokens | maximum[ ]tokens[ ]you[ ]requested)
""")
"""What says that something else is too long or too many, such as the reply."""
_LARGER_THAN_A_RATE = _words(r"request[ ]too[ ]large")
"""What says that a request exceeds the tokens per minute by itself, so that waiting does not help."""

_POLICY = _words(r"""
    content[ _-]?(filter|policy|moderation|management|safety|violat|exists[ ]risk) | responsible_?ai
    | \binvalid_prompt\b | data_?inspection | inappropriate[ _]content | prohibited_?content | block_?reason
    | \bflagged | moderation | guardrail | \bsafety\b | safety_check | \bunsafe\b | high[ ]risk
    | (?<!case[- ])sensitive | (disallowed|illegal)[ ]content | \bharm(ful|[ _]cat) | jailbreak | llama[ -]guard
    | (violat|against) .{0,60} (polic|guideline|terms) | (policy|guideline)s?[ ]violation | blocked[ ](by|terms)
    | 敏感 | 违规 | 违反 | 不安全 | 审核 | 风险
""")
_NOT_THE_PROMPT = _words(r"""
    \b(account|organi[sz]ation|subscription|project|key)\b .{0,60}
    \b(suspended|terminated|deactivated|disabled|banned|flagged|restricted|locked|blocked)\b
    | \bmodel\b .{0,40} \b(blocked|not[ ]allowed|disabled|restricted)\b | access .{0,20} terminated
    | unavailable(?![ ]for[ ]legal) | timed?[ -]?out | again[ ]later | please[ ]retry | overloaded | internal[ ]error
    | crash | not[ ](be[ ])?found | does[ ]not[ ]exist | not[ ]installed | unsupported | unknown
    | invalid[ ](safety|setting|param)
""")
_KEY = _words(r"""
    key | credential | token | auth | permission | account | organi[sz] | subscri | billing | credit | quota | balance
    | country | region | territory | access | denied | not[ ](allowed|permitted|entitled) | licen[cs]e | gated
""")

_ECHOES = {"input", "flagged_input", "prompt", "messages", "ctx"}
"""Fields in which servers repeat parts of the request."""
_OF_EVERY_REQUEST = (401, 402, 404)
"""Statuses that have nothing to do with the prompt."""
OF_THE_TIME = (408, 425, 429, 503, 529)
"""Statuses of servers that have too much to do at the time."""


def said(body: str) -> str:
    """Return what a body says: the fields that have a value, and their values, each on a line.

    What it repeats of the request is left out, and so is a page in HTML.
    """
    try:
        return "\n".join(_said(json.loads(body)))
    except (ValueError, RecursionError):
        return "" if re.match(r"\s*<", body) else body


def _said(value: Any) -> Iterator[str]:
    """Yield names and values in a JSON value."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if inner:
                yield name
            if name not in _ECHOES:
                yield from _said(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _said(inner)
    elif isinstance(value, str):
        yield value


def is_about_length(status: int, words: str) -> bool:
    """Return whether an error, by its status and what it says, is about the length of the prompt."""
    if status in OF_THE_TIME:
        return bool(_LARGER_THAN_A_RATE.search(words))
    if status in (*_OF_EVERY_REQUEST, 403) or _OTHER_LENGTH.search(words):
        return False
    return any(_LENGTH.search(line) and _EXCESS.search(line) for line in words.splitlines())


def is_about_policy(status: int, words: str) -> bool:
    """Return whether an error says that a policy forbids the content of the prompt."""
    if status in (*_OF_EVERY_REQUEST, *OF_THE_TIME) or _NOT_THE_PROMPT.search(words):
        return False
    return status == 451 or bool(_POLICY.search(words))


def is_about_the_key(words: str) -> bool:
    """Return whether an error of status 403 speaks of the key, or of what its owner may do."""
    return bool(_KEY.search(words))


# ---- pauses

_NUMBER, _UNIT = r"[0-9]+(?:\.[0-9]+)?", r"(?:ms|s|m|h)[a-z]*"
_DURATION = rf"{_NUMBER}\s*(?:{_UNIT}\s*{_NUMBER}\s*)*(?:{_UNIT})?"
_PAUSE_IN_WORDS = re.compile(rf"(?:again|retry|wait|retryDelay)\s+(?:in\s+|after\s+|for\s+)?({_DURATION})", re.I)
_EPOCH = 1e9  # seconds; a larger number is a time, not a duration


def asked_pause(headers: Mapping[str, str], words: str) -> float:
    """Return the seconds for which a server asks to wait, in its headers or else in its words; 0 if it does not.

    ``Retry-After`` may be a number, a duration such as ``1m30s``, or a time in any usual form.
    """
    if milliseconds := _duration(headers.get("retry-after-ms", "")):
        return milliseconds / 1000
    asked = headers.get("Retry-After", "").strip()
    in_words = _PAUSE_IN_WORDS.search(words)
    return _duration(asked) or _until(asked) or (_duration(in_words[1]) if in_words else 0.0)


def _duration(text: str) -> float:
    """Return the seconds in a duration, or until a time that is given in seconds; 0 for any other text."""
    text = text.lower().partition(",")[0]
    if not re.fullmatch(_DURATION, text):
        return 0.0
    seconds = 0.0
    for number, unit in re.findall(rf"({_NUMBER})\s*([a-z]*)", text):
        is_small = unit.startswith(("ms", "mil"))
        seconds += float(number) * (0.001 if is_small else {"m": 60.0, "h": 3600.0}.get(unit[:1], 1.0))
    return max(seconds - time.time(), 0.0) if seconds > _EPOCH else seconds


def _until(text: str) -> float:
    """Return the seconds until a date; 0 for a date that is over, and for any other text."""
    with suppress(ValueError, OverflowError, IndexError, TypeError):  # for years that no calendar has
        if date := parsedate_tz(text):
            return max(mktime_tz(date) - time.time(), 0.0)
    with suppress(ValueError, OverflowError):
        return max(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() - time.time(), 0.0)
    return 0.0
