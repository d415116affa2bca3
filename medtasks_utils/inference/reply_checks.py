"""Check a task's replies for signs that the server did not fulfil the requests.

Each check takes the task's exchanges, and yields remarks with counts for readers of the results. A task whose
replies are all empty has failed (:func:`failure_of`).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple

from medtasks_utils.writing import Settings, one_line

from .replies import Reply

_SHORTEST_QUESTION = 40  # characters; an answer may contain anything shorter
_SMALLEST_CONTEXT = 64  # tokens; a server that counts fewer tokens in every prompt does not count them
_CUT_PROMPTS = 3  # minimum number of different prompts with the same number of tokens
_ALIAS = re.compile(r"-latest$|:(latest|free)$")
_VERSION = re.compile(r"(-\d{3,4}|-\d{4}-?\d\d-?\d\d|:latest|\.gguf)$")
_LONGER = 1.25  # minimum ratio of the longest to the shortest prompt with the same number of tokens, in characters


class Exchange(NamedTuple):
    """A request of a task, and its reply.

    Attributes:
        example: a key that identifies the example.
        prompt: the whole prompt as text; empty for later turns of a conversation.
        question: the user's last message or, without a chat, the prompt.
        settings: the generation settings.
        reply: the reply.
        model: the requested model's name; empty if it is unknown.
    """

    example: Hashable
    prompt: str
    question: str
    settings: Settings
    reply: Reply
    model: str = ""


Check = Callable[[Sequence[Exchange]], Iterator[str]]


def remarks_on(exchanges: Sequence[Exchange]) -> Iterator[str]:
    """Yield the remarks of all checks; prompts without a reply are left out."""
    replies = [exchange for exchange in exchanges if exchange.reply.refusal is None]
    for check in CHECKS:
        yield from check(replies)


def failure_of(exchanges: Sequence[Exchange]) -> str | None:
    """Return why a task failed if all of its replies are empty; None if any reply has text, or if there are none.

    Prompts without a reply are left out.
    """
    replies = [exchange.reply for exchange in exchanges if exchange.reply.refusal is None]
    if not replies or any(reply.strip() for reply in replies):
        return None
    ends = Counter(reply.ended for reply in replies)
    if ends.keys() == {"length"}:
        hint = "; increase max_gen_toks"
    else:
        hint = _place_of_text(replies) or "; see the server's log"
    return f"every reply is empty (finish reasons: {', '.join(f'{count} {end}' for end, count in ends.items())}){hint}"


def _place_of_text(replies: Sequence[Reply]) -> str:
    """Return a clause on where the text of empty replies went: another field, or the reasoning; empty if unknown."""
    fields = Counter(reply.reasoning_field for reply in replies if reply.reasoning_field)
    if not fields:
        return "; they end inside their reasoning" if any(reply.reasoning for reply in replies) else ""
    named = " and ".join(f"{name} ({count})" for name, count in fields.items())
    return f"; their text is in the field {named}: start the server without a reasoning parser, or with this model's"


# ---- checks


def empty(exchanges: Sequence[Exchange]) -> Iterator[str]:
    """Yield a remark on replies without text that were neither cut nor filtered.

    If all replies are empty, :func:`failure_of` says so instead.
    """
    replies = [exchange.reply for exchange in exchanges if exchange.reply.is_empty]
    if replies and failure_of(exchanges) is None:
        place = _place_of_text(replies)
        yield f"empty replies that were neither cut nor filtered: {len(replies)} of {len(exchanges)}{place}"


def of_another_model(exchanges: Sequence[Exchange]) -> Iterator[str]:
    """Yield a remark if the server names a model other than the requested one, or more than one model."""
    models = Counter(exchange.reply.model for exchange in exchanges if exchange.reply.model)
    changed = bool(models) and models.most_common(1)[0][1] < len(exchanges)
    if changed or not all(_is_version(name, exchanges[0].model) for name in models):
        named = ", ".join(f"{name} in {count}" for name, count in models.most_common())
        changes = "; the model changed during the run" if changed else ""
        yield f"the server names a model other than the requested one: {named} of {len(exchanges)} replies{changes}"


def _is_version(name: str, requested: str) -> bool:
    """Return whether a server's name for a model is the requested one plus an owner, version, date or file.

    >>> [_is_version(name, "gpt-4o") for name in ("openai/gpt-4o", "gpt-4o-2024-08-06", "gpt-4o-mini")]
    [True, True, False]
    """
    names = [name.lower(), _ALIAS.sub("", requested.lower())]
    if sum("/" in name for name in names) == 1:
        names = [name.rpartition("/")[2] for name in names]
    return names[1] in (names[0], _VERSION.sub("", names[0]))


def to_cut_prompts(exchanges: Sequence[Exchange]) -> Iterator[str]:
    """Yield a remark if prompts of different lengths all have the largest token count reported, and so seem cut."""
    lengths: dict[int, set[int]] = defaultdict(set)
    for exchange in exchanges:
        if exchange.prompt and exchange.reply.prompt_tokens:
            lengths[exchange.reply.prompt_tokens].add(len(exchange.prompt))
    tokens = max(lengths, default=0)
    longest = lengths[tokens]
    is_same = len(longest) >= _CUT_PROMPTS and max(longest) > _LONGER * min(longest)
    if tokens >= _SMALLEST_CONTEXT and is_same:
        yield (
            f"prompts of {min(longest):,} to {max(longest):,} characters all have {tokens:,} tokens by the server's "
            "count (prompt_tokens), so it seems to cut them: increase its context (Ollama: num_ctx)"
        )


def equal_generations(exchanges: Sequence[Exchange]) -> Iterator[str]:
    """Yield a remark if all generations are equal in most of the examples that have several sampled generations."""
    generations: dict[Hashable, list[tuple[str, str | None]]] = defaultdict(list)
    for exchange in exchanges:
        if exchange.prompt and exchange.settings.get("temperature"):
            generations[exchange.example, exchange.prompt].append((str(exchange.reply), exchange.reply.reasoning))
    repeated = [texts for texts in generations.values() if len(texts) > 1]
    equal = sum(len({*texts}) == 1 for texts in repeated)
    if 2 * equal > len(repeated):
        temperature = exchanges[0].settings["temperature"]
        yield (
            f"all generations of {equal} of {len(repeated)} examples are equal at temperature {temperature:g}; the "
            "server may ignore the temperature or the seed, or cache replies; short replies may also be equal by chance"
        )


def _is_too_long(exchange: Exchange) -> bool:
    limit = exchange.settings.get("max_gen_toks")
    return limit is not None and (exchange.reply.tokens or 0) > limit


def _repeats_its_question(exchange: Exchange) -> bool:
    question = one_line(exchange.question)
    return len(question) >= _SHORTEST_QUESTION and question in one_line(exchange.reply)


_FAULTS: dict[str, tuple[Callable[[Exchange], bool], str]] = {
    "replies that the server's content filter stopped": (lambda exchange: exchange.reply.ended == "filter", ""),
    "replies with more tokens than max_gen_toks": (_is_too_long, "; the server does not respect the limit"),
    "replies that repeat the whole prompt": (
        _repeats_its_question,
        "; the filters read it too, so let the server return only new text",
    ),
}
"""For each fault, the beginning of the remark, a function that detects it in an exchange, and the end of the remark."""


def with_faults(exchanges: Sequence[Exchange]) -> Iterator[str]:
    """Yield a remark for each kind of fault, as listed in :data:`_FAULTS`, that occurs in the replies."""
    for fault, (has_fault, consequence) in _FAULTS.items():
        if number := sum(map(has_fault, exchanges)):
            yield f"{fault}: {number} of {len(exchanges)}{consequence}"


CHECKS: Sequence[Check] = (empty, of_another_model, to_cut_prompts, equal_generations, with_faults)
