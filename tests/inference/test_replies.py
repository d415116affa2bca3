"""Responses of endpoints: each form gives replies or an error, and never an empty reply without a remark."""

import json
import pickle
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pytest
from given import each_row
from hypothesis import given
from hypothesis import strategies as st

from medtasks_utils.harness.in_process import replies_of_transformers
from medtasks_utils.inference.replies import NoReplyError, Reply, read_completion
from medtasks_utils.inference.reply_checks import Exchange, failure_of, remarks_on
from medtasks_utils.inference.responses import ServerError, parse_response

LIMIT = 16


@each_row("replies")
def test_a_body_in_any_form_gives_replies_or_an_error(form, body, verdict):
    """A row has a form's name, a body (a text is sent as it is), and the expected replies or words of the error."""
    sent = body if isinstance(body, str) else json.dumps(body)
    if "error" in verdict:
        with pytest.raises(NoReplyError) as raised:
            read_completion(sent, LIMIT)
        assert str(raised.value).strip().startswith(verdict["error"])
        assert raised.value.status == verdict.get("status")
        return
    (reply,) = read_completion(sent, LIMIT).replies
    read = {name: getattr(reply, name) for name in verdict if name != "text"}
    assert {"text": str(reply), **read} == verdict


def test_a_reply_passes_through_caches_as_it_is():
    reply = Reply("A", "length", 3, "Hm.")
    again = pickle.loads(pickle.dumps(reply))
    assert (again, again.attributes) == ("A", {"ended": "length", "tokens": 3, "reasoning": "Hm.", "refusal": None})


@each_row("reply_checks")
def test_replies_that_are_not_as_requested_cause_remarks(name, replies, says):
    exchanges = []
    for place, facts_of_reply in enumerate(replies):
        facts = {"example": place, "prompt": "Q", "text": "ANSWER", **facts_of_reply}
        example, prompt, requested = facts.pop("example"), facts.pop("prompt"), facts.pop("requested", "")
        settings = {"max_gen_toks": 16, "temperature": facts.pop("temperature", 0.8)}
        exchanges.append(Exchange(example, prompt, prompt, settings, Reply(**facts), requested))
    said = [*remarks_on(exchanges), *filter(None, [failure_of(exchanges)])]
    assert len(said) == len(says) and all(part in remark for part, remark in zip(says, said, strict=True))


@each_row("responses")
def test_a_response_without_a_reply_is_an_error_of_a_type(name, status, body, kind):
    """Of a server that is away, one that refuses requests, or one that refuses the prompt, by providers' words."""
    text = body if isinstance(body, str) else json.dumps(body)
    with pytest.raises(ServerError) as raised:
        parse_response(status, text, "http://a", "my-moderation-model", {}, retry_after="7")
    waits = {"ServerUnavailable": 7, "ServerBusy": 7, "NoCompletion": 0}
    assert (type(raised.value).__name__, getattr(raised.value, "retry_after", None)) == (kind, waits.get(kind))


# ---- models in this process


@each_row("ends_of_tokens")
def test_the_end_of_a_reply_is_read_from_its_tokens(backend, ends, tokens, facts):
    """A prompt has two tokens, a reply up to four; tokens 0 and 9, and the full stop (5), end a text."""
    config = SimpleNamespace(eos_token_id=ends)
    model = SimpleNamespace(
        backend=backend, eot_token_id=0, model=SimpleNamespace(generation_config=config),
        tok_decode=lambda tokens: "".join("." if token == 5 else "a" for token in tokens),
    )  # fmt: skip
    settings = {"context": np.zeros((1, 2)), "max_length": 6, "stop": ["."]}
    (found,) = replies_of_transformers(model, np.array([tokens]), settings)
    assert [fact for fact in (found.ended, found.tokens) if fact is not None] == facts


# ---- properties


ANSWER = "\\boxed{A}"
WORDS = """choices message text content delta error finish_reason stop_reason usage completion_tokens index type status
code reasoning reasoning_content tool_calls function_call refusal response value object detail stop length"""
NAMES = st.sampled_from(WORDS.split())
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.just(ANSWER), NAMES, st.text(max_size=4),
)  # fmt: skip
BODIES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5))
CHOICES = st.builds(
    lambda choice, body: {**body, "choices": [choice]}, BODIES, st.dictionaries(NAMES, BODIES, max_size=3)
)


@given(status=st.sampled_from([200, 400, 403, 422, 429, 500]), body=BODIES, asked=st.text() | st.none())
def test_any_error_response_raises_a_typed_error(status, body, asked):
    with suppress(ServerError):
        parse_response(status, json.dumps(body), "http://a", "m", {"seed": 1}, asked)


@given(body=BODIES | CHOICES, limit=st.none() | st.integers(1, 9))
def test_any_body_gives_replies_or_an_error(body, limit):
    """A reply without text was cut or filtered, or is marked as empty."""
    try:
        found = read_completion(json.dumps(body), limit)
    except NoReplyError:
        return
    assert found.replies
    for reply in found.replies:
        assert reply.ended in ("stop", "length", "filter", "unknown")
        assert reply.tokens is None or reply.tokens >= 0
        assert reply.strip() or reply.is_empty or reply.ended in ("length", "filter")
