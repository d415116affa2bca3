"""Further turns: every form of call, in one batch a round, and in whatever way the harness is run."""

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from commanding import clean_environment
from given import ROOT
from launching import ON_PROCESSORS, free_port, launch
from running import Chat, Scripted, documents, evaluate, load, samples
from tool_caller import tagged, turn

from medtasks_utils.tools import TOOLS
from medtasks_utils.tools.loop import LAST_TURN

Script = Callable[[Chat], str]


class Caller(Scripted):
    """A model in this process whose reply is a function of the chat; it remembers the batches."""

    def __init__(self, script: Script) -> None:
        super().__init__()
        self.script = script
        self.batches: list[list[Chat]] = []

    def generate_until(self, requests: list[Any]) -> list[str]:
        chats = [json.loads(request.args[0]) for request in requests]
        self.batches.append(chats)
        return [self.script(chat) for chat in chats]


def run(task: str, script: Script | Caller, **settings: Any) -> dict[str, Any]:
    model = script if isinstance(script, Caller) else Caller(script)
    return evaluate(task, model, confirm_run_unsafe_code=True, **settings)


def value(result: dict[str, Any], metric: str, filter_name: str = "strict-match") -> Any:
    (scores,) = result["results"].values()
    return scores[f"{metric},{filter_name}"]


def calculating(chat: Chat) -> str:
    """Calls the calculator once, then gives its result as the answer."""
    if turn(chat) == 1:
        return tagged("calculator", "6 * 7")
    return "<answer>42</answer>" if "\n42\n" in chat[-1]["content"] else "No."


# ---- what happens in a run


def test_a_round_is_one_batch_over_the_examples_still_going(monkeypatch):
    forgotten = []
    monkeypatch.setattr(TOOLS["calculator"], "forget", lambda self, key: forgotten.append(key))
    docs = documents(load("medcalc_bench"))
    lengths = {doc["note"]: index % 4 for index, doc in enumerate(docs)}

    def script(chat):
        rounds = next(rounds for note, rounds in lengths.items() if note in chat[1]["content"])
        return tagged("calculator", "1") if turn(chat) <= rounds else "<answer>1</answer>"

    model = Caller(script)
    result = run("medcalc_bench_calculator", model)
    assert [len(batch) for batch in model.batches] == [
        sum(rounds >= least for rounds in lengths.values()) for least in range(4)
    ]
    for sample, rounds in zip(samples(result), lengths.values(), strict=True):
        assert (sample["turns"], sample["tool_calls"]) == (rounds + 1, rounds)
    assert len(set(forgotten)) == len(docs), "each session once it is over"


def test_the_model_sees_the_prompt_its_reply_and_the_result():
    model = Caller(calculating)
    result = run("medcalc_bench_calculator", model, limit=2)
    first, second = model.batches
    for before, after in zip(first, second, strict=True):
        assert [message["role"] for message in before] == ["system", "user"]
        assert after == [
            *before,
            {"role": "assistant", "content": tagged("calculator", "6 * 7")},
            {"role": "user", "content": "<tool_response>\n42\n</tool_response>"},
        ]
    for sample, chat in zip(samples(result), second, strict=True):
        assert sample["resps"] == [["<answer>42</answer>"]]
        assert sample["filtered_resps"] == ["42"] or sample["doc"]["judgement"] in ("date", "weeks_days")
        calls = [{"name": "calculator", "argument": "6 * 7", "failed": False}]
        final = {"role": "assistant", "content": "<answer>42</answer>"}
        assert sample["transcript"] == [*chat[:-1], {**chat[-1], "calls": calls}, final]
        assert json.loads(sample["arguments"][0][0]) == chat[:2]


def test_an_endless_caller_ends_after_max_turns_unanswered():
    model = Caller(lambda chat: tagged("calculator", f"{turn(chat)} / 0"))
    result = run("medcalc_bench_calculator", model, limit=3, metadata={"medcalc_bench": {"max_turns": 5}})
    assert [len(batch) for batch in model.batches] == [3] * 5
    assert LAST_TURN in model.batches[4][0][-1]["content"]
    assert not any(LAST_TURN in message["content"] for batch in model.batches[:4] for chat in batch for message in chat)
    assert value(result, "turns") == 5
    assert value(result, "tool_calls") == value(result, "tool_errors") == 4, "the last reply's call is not run"
    for filter_name in ("strict-match", "flexible-extract"):
        assert value(result, "answered", filter_name) == 0, "no number is read out of a call"


@pytest.mark.parametrize(
    ("answer_format", "text", "is_answer"),
    [
        ("xml", "<answer>4</answer>", True),
        ("boxed", r"\boxed{4}", True),
        ("xml", r"A step: \boxed{4}.", False),
        ("xml", "<think><answer>4</answer></think>", False),
        ("boxed", "A step: <answer>4</answer>.", False),
    ],
)
def test_a_final_answer_ends_an_example_whatever_stands_beside_it(answer_format, text, is_answer):
    options = {"medcalc_bench": {"answer_format": answer_format, "max_turns": 2}}
    result = run(
        "medcalc_bench_calculator", lambda chat: f"{text}\n{tagged('calculator', '2')}", limit=1, metadata=options
    )
    assert (value(result, "turns"), value(result, "tool_calls")) == ((1, 0) if is_answer else (2, 1))


@pytest.mark.usefixtures("undescribed")
def test_variables_last_within_an_example_and_are_shared_with_no_other():
    def owning(chat):
        if turn(chat) == 1:
            return tagged("python", f"try:\n    mine\nexcept NameError:\n    mine = {len(chat[1]['content'])}")
        return tagged("python", "mine") if turn(chat) < 3 else "<answer>1</answer>"

    result = run("medcalc_bench_python", owning, metadata={"medcalc_bench": {"repeats": 2}}, limit=4)
    for sample in samples(result):
        for transcript in sample["transcript"]:
            assert f"\n{len(transcript[1]['content'])}\n" in transcript[5]["content"]
            assert all(not call["failed"] for message in transcript for call in message.get("calls", []))


# ---- the ways in which the harness is run


def test_repeats_are_conversations_of_their_own():
    asked: dict[str, int] = {}

    def script(chat):
        if turn(chat) > 1:
            return calculating(chat)
        key = chat[1]["content"]
        asked[key] = asked.get(key, 0) + 1
        return ["<answer>1</answer>", "No.", calculating(chat)][asked[key] - 1]

    result = run("medcalc_bench_calculator", script, limit=2, metadata={"medcalc_bench": {"repeats": 3}})
    for sample in samples(result):
        assert sample["resps"] == [["<answer>1</answer>"], ["No."], ["<answer>42</answer>"]]
        assert [len(transcript) for transcript in sample["transcript"]] == [3, 3, 5]
        assert sample["turns"] == pytest.approx(4 / 3)
        assert sample["tool_calls"] == pytest.approx(1 / 3)
        assert sample["answered"] == pytest.approx(2 / 3) or sample["doc"]["judgement"] in ("date", "weeks_days")


# ---- several processes


@pytest.mark.torch
def test_two_processes_have_rounds_of_their_own_in_step(tiny_model, tmp_path):
    pytest.importorskip("accelerate", reason="several processes are accelerate's")
    program = ROOT / "tests" / "support" / "uneven_ranks.py"
    out = tmp_path / "out.json"
    done = subprocess.run(
        [*launch(free_port()), str(program), str(tiny_model), str(out)],
        cwd=tmp_path, env=clean_environment(ON_PROCESSORS), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text("utf-8"))
    assert len(found) == 7
    for sample in found:
        row = int(sample["doc"]["row_number"])
        turns = 1 + row % 2 * row // 2
        assert (sample["turns"], sample["tool_calls"]) == (turns, turns - 1)
        assert {len(transcript) for transcript in sample["transcript"]} == {2 * turns + 1}
