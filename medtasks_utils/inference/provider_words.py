"""Classify a server's error by its wording, for which there is no standard.

The error bodies of thirty providers in ``tests/inference/tables/responses.jsonl`` show the purpose of each pattern;
``docs/engines.md`` describes the reaction of a run.
"""

import json
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from email.utils import mktime_tz, parsedate_tz
from typing import Any


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.I | re.X)


_LENGTH = _words(r"""
    context[ _-]?(len|size|window|limit|shift) | \bn_(ctx|tokens|positions)\b | kv[ ]cache
    | max_?(seq|sequence|model|input|total|num|prompt)_?(len|tokens)
    | string_above_max
    | \b(prompt|inputs?|text|messages?|sequence|requested|request|conversation)\b .{0,40}
      \b(tokens?|length|characters)\b
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
    queue | worker | per[ ](min|day|hour) | throttl | please[ ]wait | out[ ]?of[ ]?memory | exhausted | \bdied
    | \A (?! (.|\n)* ( \b(prompt|inputs?|messages|context|total)\b | max_seq ) ) (.|\n)*
      (max_(completion_|output_|new_)?tokens | maximum[ ]tokens[ ]you[ ]requested)
""")
"""Words for excessive lengths or numbers other than the prompt's, such as the reply's."""
_LARGER_THAN_A_RATE = _words(r"request[ ]too[ ]large")
"""Words for a request that alone exceeds the rate limit for tokens, so that waiting does not help."""

NO_CREDIT = _words(r"""
    (insufficient|not[ ]enough|exhausted|no|out[ ]of)[ _]([a-z]+[ _])?(quota|balance|funds|credits?\b) | hard[ _]limit
    | (balance|credits?)[ ]((is|are)[ ])?(too[ ]low|exhausted|insufficient|negative) | 余额不足 | 欠费
""")
"""Words for an account without credit, for which waiting does not help."""

_POLICY = _words(r"""
    content[ _-]?(filter|policy|moderation|management|safety|violat|exists[ ]risk) | responsible_?ai
    | \binvalid_prompt\b | data_?inspection | inappropriate[ _]content | prohibited_?content | block_?reason
    | \bflagged | moderation | guardrail | \bsafety\b | safety_check | \bunsafe\b | high[ ]risk
    | (?<!case[- ])sensitive | (disallowed|illegal)[ ]content | \bharm(ful|[ _]cat) | jailbreak | llama[ -]guard
    | (violat|against) .{0,60} (polic|guideline|terms) | (policy|guideline)s?[ _]violation
    | (blocked|restricted)[ ](by|under|due|terms) | (content|prompt|response)[ _]blocked | model[ ]armor | not[ ]approv
    | 敏感 | 违规 | 违反 | 不安全 | 审核 | 风险 | ポリシー.{0,6}(違反|反し) | 정책.{0,6}(위반|위배)
    | (наруш|запрещ|противореч) .{0,60} (политик|правил) | inhaltsrichtlinie | (verst(ö|oe)|verletz) .{0,60} richtlinie
    | (enfrei|viol|contrair|contrev) .{0,60} (politique|r[èe]gles) | (viol|infring|incumpl|contra) .{0,60} pol[ií]tica
""")
_NOT_THE_PROMPT = _words(r"""
    \b(account|organi[sz]ation|subscription|project|key)\b (?!'s) .{0,60}
    \b(suspended|terminated|deactivated|disabled|banned|flagged|restricted|locked|blocked)\b
    | (?<!to[ ])\b(model|deployment)\b ([ ]\S+)? [ ]is[ ] (blocked|not[ ]allowed|disabled|restricted)\b
    | access .{0,20} terminated | \bIP\b | network
    | \b(konto|compte|cuenta|conta)\b | аккаунт | уч[её]тн | アカウント | 계정 | [账帐][户号]
""")
"""Words for an account or model without access, rather than a forbidden prompt."""
_FAULT = _words(r"""
    unavailable(?![ ]for[ ]legal) | timed?[ -]?out | again[ ]later | please[ ]retry(?![ ]with) | overloaded
    | internal[ ]error | crash | not[ ](be[ ])?found | does[ ]not[ ]exist | not[ ]installed
    | (unsupported|unknown)[ ](param|setting|content[ ]type) | undefined | invalid[ ](safety|setting|param) | \btools?\b
""")
"""Words for other failures. On the same line as a policy's word, or with a status of 500 or more, they rule out a
policy."""

_MOST_READ = 10_000  # maximum number of characters of a body that are searched
_ECHOES = {"input", "flagged_input", "prompt", "messages", "ctx"}
"""Fields in which servers echo parts of the request."""
_OF_EVERY_REQUEST = (401, 402, 404)
"""Statuses that are unrelated to the prompt."""
OF_THE_TIME = (408, 425, 429, 498, 503, 529)
"""Statuses of busy servers."""


def texts_in(body: str) -> str:
    """Return the names of a body's fields and the strings in them, one per line; a body that is not JSON is unchanged.

    Empty fields and echoes of the request are left out, and an HTML page gives an empty string. At most 10,000
    characters are returned.
    """
    try:
        return "\n".join(_texts_of(json.loads(body)))[:_MOST_READ]
    except (ValueError, RecursionError):
        return "" if re.match(r"\s*<", body) else body[:_MOST_READ]


def _texts_of(value: Any) -> Iterator[str]:
    """Yield the strings in a JSON value, except echoes of the request, and the names of fields that are not empty."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if inner:
                yield name
            if name not in _ECHOES:
                yield from _texts_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts_of(inner)
    elif isinstance(value, str):
        yield value


def is_about_length(status: int, words: str) -> bool:
    """Return whether an error, by its status and text, is about the length of the prompt.

    An error with status 429 counts only if the request alone exceeds the rate limit for tokens.
    """
    if status == 429:
        return bool(_LARGER_THAN_A_RATE.search(words))
    if status in (*_OF_EVERY_REQUEST, 403) or _OTHER_LENGTH.search(words):
        return False
    return any(_LENGTH.search(line) and _EXCESS.search(line) for line in words.splitlines())


def is_about_policy(status: int, words: str) -> bool:
    """Return whether an error is about a policy that forbids the content of the prompt."""
    if status in (*_OF_EVERY_REQUEST, *OF_THE_TIME) or _NOT_THE_PROMPT.search(words):
        return False
    parts = words.splitlines() if status < 500 else [words]
    return status == 451 or any(_POLICY.search(part) and not _FAULT.search(part) for part in parts)


# ---- pauses

_UNITS = {"ms": 0.001, "m": 60.0, "mi": 60.0, "h": 3600.0, "ho": 3600.0}
"""The seconds in a unit, by the first two letters of its name; any other unit is a second."""
_NUMBER = r"[0-9]*\.?[0-9]+"
_DURATION = rf"{_NUMBER}(?:[ ]*[a-z]+[ ]*{_NUMBER})*[ ]*[a-z]*"
_PAUSE_IN_WORDS = re.compile(rf"(?:again|retry|wait|retrydelay)\s+(?:in\s+|after\s+|for\s+)?({_DURATION})")


def asked_pause(retry_after: str, words: str) -> float:
    """Return the seconds that a server asks clients to wait; 0 if it asks for no pause.

    Args:
        retry_after: the header ``Retry-After``: a number, a duration such as ``1m30s``, or a date.
        words: the text of the error, which is searched for a duration if the header is empty or has a different form.
    """
    asked = retry_after.strip().lower().partition(",")[0]
    if not re.fullmatch(_DURATION, asked):
        with suppress(ValueError, OverflowError, TypeError, IndexError):  # for years that no calendar has
            if date := parsedate_tz(retry_after):
                return max(mktime_tz(date) - time.time(), 0.0)
        in_words = _PAUSE_IN_WORDS.search(words.lower())
        asked = in_words[1] if in_words else ""
    return sum(
        float(number) * _UNITS.get(unit[:2], 1.0) for number, unit in re.findall(rf"({_NUMBER})[ ]*([a-z]*)", asked)
    )
