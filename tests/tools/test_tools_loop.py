"""Further turns: every form of call, in one batch a round, and in whatever way the harness is run."""

import itertools
import json
import re
from collections import defaultdict
from unittest.mock import Mock

import pytest
from given import each_row
from running import Scripted, evaluate, samples
from tool_caller import tagged, turn

from medtasks_utils.tools import TOOLS
from medtasks_utils.tools.loop import LAST_TURN, Conversation, Dialogue
from medtasks_utils.tools.tool import CallResult


class Caller(Scripted):
    """A model in this process whose reply is a function of the chat."""

    def reply(self, request):
        self.first = getattr(request, "first", request.args)
        return self.answer(json.loads(request.args[0]))


def calculating(chat):
    """Calls the calculator once, then gives its result as the answer."""
    if turn(chat) == 1:
        return tagged("calculator", "6 * 7")
    return "<answer>42</answer>" if "\n42\n" in chat[-1]["content"] else "No."


# ---- what happens in a run


def test_a_round_is_one_batch_over_the_examples_still_going(monkeypatch):
    forgotten = []
    monkeypatch.setattr(TOOLS["calculator"], "forget", lambda self, key: forgotten.append(key))
    prompts: dict[str, int] = {}

    def script(chat):
        """As many calls as there were examples before this one."""
        rounds = prompts.setdefault(chat[1]["content"], len(prompts))
        return tagged("calculator", "1") if turn(chat) <= rounds else "<answer>1</answer>"

    model = Caller(script)
    result = evaluate("medcalc_bench_calculator", model, limit=4)
    assert [len(batch) for batch in model.batches] == [4, 3, 2, 1]
    assert [(sample["turns"], sample["tool_calls"]) for sample in samples(result)] == [(n + 1, n) for n in range(4)]
    assert len(set(forgotten)) == 4, "each session once it is over"


def test_the_model_sees_the_prompt_its_reply_and_the_result():
    model = Caller(calculating)
    result = evaluate("medcalc_bench_calculator", model, limit=2)
    first, second = (list(map(json.loads, batch)) for batch in model.batches)
    assert model.first[0] == model.batches[0][1], "by which a conversation is kept whole"
    for before, after in zip(first, second, strict=True):
        assert after == [
            *before,
            {"role": "assistant", "content": tagged("calculator", "6 * 7")},
            {"role": "user", "content": "<tool_response>\n42\n</tool_response>"},
        ]
    for sample, chat in zip(samples(result), second, strict=True):
        assert sample["resps"] == [["<answer>42</answer>"]]
        calls = [{"name": "calculator", "argument": "6 * 7", "failed": False}]
        final = {"role": "assistant", "content": "<answer>42</answer>"}
        assert sample["transcript"] == [*chat[:-1], {**chat[-1], "calls": calls}, final]
        assert json.loads(sample["arguments"][0][0]) == chat[:2]


def test_an_endless_caller_ends_after_max_turns_unanswered():
    model = Caller(lambda chat: tagged("calculator", f"{turn(chat)} / 0"))
    result = evaluate("medcalc_bench_calculator", model, limit=3, metadata={"medcalc_bench": {"max_turns": 5}})
    assert [len(batch) for batch in model.batches] == [3] * 5
    assert [json.loads(batch[0])[-1]["content"].count(LAST_TURN) for batch in model.batches] == [0, 0, 0, 0, 1]
    (scores,) = result["results"].values()
    assert scores["turns,strict-match"] == 5
    assert scores["tool_calls,strict-match"] == scores["tool_errors,strict-match"] == 4, "the last call is not run"
    assert [sample["resps"] for sample in samples(result)] == [[[tagged("calculator", "5 / 0")]]] * 3
    assert scores["answered,strict-match"] == scores["answered,flexible-extract"] == 0, (
        "no number is read out of a call"
    )


@each_row("final_answers")
def test_a_final_answer_ends_an_example_whatever_stands_beside_it(answer_format, text, is_answer):
    options = {"medcalc_bench": {"answer_format": answer_format, "max_turns": 2}}
    model = Caller(lambda chat: f"{text}\n{tagged('calculator', '2')}")
    (sample,) = samples(evaluate("medcalc_bench_calculator", model, limit=1, metadata=options))
    assert (sample["turns"], sample["tool_calls"] > 0) == ((1, False) if is_answer else (2, True))


@each_row("room_of_results")
def test_long_results_are_cut_to_what_all_of_them_may_take(name, calls, limit):
    head, tail = limit * 2 // 3, limit // 3
    cut = f"{'a' * head}\n[{limit + 1 - head - tail} characters left out]\n{'a' * tail}"
    for text, shown in ("", "(no output)"), ("a" * limit, "a" * limit), ("a" * (limit + 1), cut):
        results = [CallResult(text, failed=False)] * calls
        assert Dialogue({}, bool, 5, 0).messages_of(results) == [shown] * calls


def test_the_python_tool_forgets_a_session_with_its_sandbox():
    tool = TOOLS["python"]()
    tool._sandbox = Mock()
    tool.forget("a")
    tool._sandbox.forget.assert_called_once_with("a")


def test_calls_without_ids_are_numbered_through_a_conversation():
    conversation = Conversation("a", [])
    for _ in range(2):
        Dialogue({"calculator": TOOLS["calculator"]()}, bool, 5, 1).go_on([conversation], [tagged("calculator", "1")])
    assert [message["tool_call_id"] for message in conversation.transcript[1::2]] == ["call00001", "call00002"]


# ---- the ways in which the harness is run


def test_repeats_are_conversations_of_their_own_and_share_no_variables():
    numbers = itertools.count(1000)
    own = tagged("python", "try:\n    mine\nexcept NameError:\n    mine = NUMBER")
    left: dict[str, list[str]] = defaultdict(["No.", own, own].copy)

    def script(chat):
        if turn(chat) == 1:
            return left[chat[1]["content"]].pop(0).replace("NUMBER", str(next(numbers)))
        return tagged("python", "mine") if turn(chat) == 2 else "<answer>1</answer>"

    result = evaluate("medcalc_bench_python", Caller(script), limit=4, metadata={"medcalc_bench": {"repeats": 3}})
    for sample in samples(result):
        assert sample["resps"] == [["No."], ["<answer>1</answer>"], ["<answer>1</answer>"]]
        assert (sample["turns"], sample["tool_calls"]) == pytest.approx((7 / 3, 4 / 3))
        assert [len(transcript) for transcript in sample["transcript"]] == [3, 7, 7]
        for transcript in sample["transcript"][1:]:
            (number,) = re.findall(r"mine = (\d+)", transcript[2]["content"])
            assert f"\n{number}\n" in transcript[5]["content"]
            assert all(not call["failed"] for message in transcript for call in message.get("calls", []))


# ---- several processes


def test_every_process_sends_as_many_requests_as_the_one_that_has_most(monkeypatch):
    """Processes generate in step: each with a request in every round, though its own conversations are over."""
    of_another = iter([3, 2, 1, 0])
    monkeypatch.setattr(
        "medtasks_utils.harness.tool_turns.most_in_any_process", lambda model, count: max(count, next(of_another))
    )
    model = Caller(calculating)
    result = evaluate("medcalc_bench_calculator", model, limit=2)
    assert [len(batch) for batch in model.batches] == [2, 2, 1, 1]
    assert [sample["turns"] for sample in samples(result)] == [2, 2]
