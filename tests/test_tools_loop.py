"""Further turns: every form of call, in one batch a round, and in whatever way the harness is run."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Chat, Row, Scripted, clean_environment, documents, evaluate, load, manager
from launching import ON_PROCESSORS, free_port, launch
from lm_eval.evaluator import simple_evaluate
from tool_caller import Replies, check, reply, tagged

from medtasks_utils.errors import OptionError
from medtasks_utils.sandbox import SandboxError
from medtasks_utils.selfcheck import serving
from medtasks_utils.tools.calculator import Calculator
from medtasks_utils.tools.loop import LAST_TURN, MAX_RESULT, MAX_RESULTS

Script = Callable[[Chat], str]

FIVE_TURNS = {"medcalc_bench": {"max_turns": 5}}  # enough for all but the endless


class Caller(Scripted):
    """A model in this process whose reply is a function of the chat; it remembers the batches."""

    def __init__(self, script: Script) -> None:
        super().__init__()
        self.script = script
        self.batches: list[list[Chat]] = []

    def generate_until(self, requests: list[Any]) -> list[str]:
        chats = [json.loads(request.args[0]) for request in requests]
        self.batches.append(chats)
        replies = []
        for request, chat in zip(requests, chats, strict=True):
            replies.append(self.script(chat))
            self.cache_hook.add_partial("generate_until", request.args, replies[-1])
        return replies


def run(task: str, script: Script | Caller, confirm: bool = True, **settings: Any) -> dict[str, Any]:
    model = script if isinstance(script, Caller) else Caller(script)
    return evaluate(task, model, confirm_run_unsafe_code=confirm, **settings)


def samples(result: dict[str, Any], filter_name: str = "strict-match") -> list[Row]:
    (logged,) = result["samples"].values()
    return [sample for sample in logged if sample["filter"] == filter_name]


def value(result: dict[str, Any], metric: str, filter_name: str = "strict-match") -> Any:
    (scores,) = result["results"].values()
    return scores[f"{metric},{filter_name}"]


def turn(chat: Chat) -> int:
    """Which reply is asked for, from 1."""
    return 1 + sum(message["role"] == "assistant" for message in chat)


def calculating(chat: Chat) -> str:
    """Calls the calculator once, then gives its result as the answer."""
    if turn(chat) == 1:
        return tagged("calculator", "6 * 7")
    return "<answer>42</answer>" if "\n42\n" in chat[-1]["content"] else "No."


def saying(text: str) -> Script:
    return lambda chat: text


def forever(chat: Chat) -> str:
    return tagged("calculator", f"{turn(chat)} + 0.5")


# ---- what happens in a run


@pytest.mark.slow
def test_every_form_well_and_badly() -> None:
    """The conversations of a model that does everything there is, over all rows and several prompts."""
    seen: set[str] = set()
    for system in ("Be brief.", "Be exact.", "Be quick."):
        result = run("medcalc_bench_tools", reply, system_instruction=system, metadata=FIVE_TURNS)
        for filter_name in ("strict-match", "flexible-extract"):
            chosen = samples(result, filter_name)
            assert len(chosen) == len(load("medcalc_bench").eval_docs)
            seen |= {check(sample, max_turns=5) for sample in chosen}
            for name in ("tool_calls", "turns", "tool_errors"):
                mean = sum(sample[name] for sample in chosen) / len(chosen)
                assert value(result, name, filter_name) == pytest.approx(mean)
    assert len(seen) > 20


def test_a_round_is_one_batch_over_the_examples_still_going() -> None:
    docs = documents(load("medcalc_bench"))
    lengths = {doc["note"]: index % 4 for index, doc in enumerate(docs)}

    def script(chat: Chat) -> str:
        rounds = next(rounds for note, rounds in lengths.items() if note in chat[1]["content"])
        return tagged("calculator", "1") if turn(chat) <= rounds else "<answer>1</answer>"

    model = Caller(script)
    result = run("medcalc_bench_calculator", model)
    assert [len(batch) for batch in model.batches] == [
        sum(rounds >= least for rounds in lengths.values()) for least in range(4)
    ]
    for sample, rounds in zip(samples(result), lengths.values(), strict=True):
        assert (sample["turns"], sample["tool_calls"]) == (rounds + 1, rounds)


def test_the_model_sees_the_prompt_its_reply_and_the_result() -> None:
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


def test_an_endless_caller_ends_after_max_turns_unanswered() -> None:
    model = Caller(forever)
    result = run("medcalc_bench_calculator", model, limit=3, metadata={"medcalc_bench": {"max_turns": 5}})
    assert [len(batch) for batch in model.batches] == [3] * 5
    assert LAST_TURN in model.batches[4][0][-1]["content"]
    assert not any(LAST_TURN in message["content"] for batch in model.batches[:4] for chat in batch for message in chat)
    assert value(result, "turns") == 5
    assert value(result, "tool_calls") == 4, "the last reply's call is not run"
    for filter_name in ("strict-match", "flexible-extract"):
        assert value(result, "answered", filter_name) == 0, "no number is read out of a call"


def test_by_default_there_are_twenty_turns() -> None:
    assert value(run("medcalc_bench_calculator", forever, limit=1), "turns") == 20


def test_with_a_single_turn_no_call_is_run() -> None:
    result = run("medcalc_bench_calculator", forever, limit=2, metadata={"medcalc_bench": {"max_turns": 1}})
    assert (value(result, "turns"), value(result, "tool_calls")) == (1, 0)


@pytest.mark.parametrize(("answer_format", "answer"), [("xml", "<answer>4</answer>"), ("boxed", r"\boxed{4}")])
def test_a_final_answer_ends_an_example_whatever_stands_beside_it(answer_format: str, answer: str) -> None:
    for text in (f"{tagged('calculator', '2')} {answer}", f"{answer}\n{tagged('calculator', '2')}"):
        options = {"answer_format": answer_format}
        result = run("medcalc_bench_calculator", saying(text), limit=1, metadata={"medcalc_bench": options})
        assert (value(result, "turns"), value(result, "tool_calls"), value(result, "answered")) == (1, 0, 1)


@pytest.mark.parametrize(
    ("answer_format", "text"),
    [
        ("xml", "I will write <answer>value</answer> at the end."),
        ("xml", r"A step: \boxed{4}."),
        ("xml", "<think><answer>4</answer></think>"),
        ("boxed", r"I will write \boxed{} at the end."),
        ("boxed", "A step: <answer>4</answer>."),
    ],
)
def test_what_is_not_the_final_answer_does_not(answer_format: str, text: str) -> None:
    def script(chat: Chat) -> str:
        return f"{text}\n{tagged('calculator', '2')}" if turn(chat) == 1 else "Done."

    options = {"answer_format": answer_format}
    result = run("medcalc_bench_calculator", script, limit=1, metadata={"medcalc_bench": options})
    assert (value(result, "turns"), value(result, "tool_calls")) == (2, 1)


def test_code_that_prints_an_answer_tag_is_a_call_and_no_answer() -> None:
    def script(chat: Chat) -> str:
        return "```python\nprint('<answer>7</answer>')\n```" if turn(chat) == 1 else "<answer>8</answer>"

    result = run("medcalc_bench_python", script, limit=1)
    assert (value(result, "turns"), value(result, "tool_calls"), value(result, "answered")) == (2, 1, 1)
    assert samples(result)[0]["resps"] == [["<answer>8</answer>"]]


def test_variables_last_within_an_example_and_are_shared_with_no_other() -> None:
    def owning(chat: Chat) -> str:
        if turn(chat) == 1:
            return tagged("python", f"try:\n    mine\nexcept NameError:\n    mine = {len(chat[1]['content'])}")
        return tagged("python", "mine") if turn(chat) < 3 else "<answer>1</answer>"

    result = run("medcalc_bench_python", owning, metadata={"medcalc_bench": {"repeats": 2}}, limit=4)
    for sample in samples(result):
        for transcript in sample["transcript"]:
            assert f"\n{len(transcript[1]['content'])}\n" in transcript[5]["content"]
            assert all(not call["failed"] for message in transcript for call in message.get("calls", []))


def test_a_killed_call_is_an_error_and_the_run_goes_on() -> None:
    def script(chat: Chat) -> str:
        return tagged("python", "while True:\n    pass") if turn(chat) == 1 else "<answer>1</answer>"

    result = run("medcalc_bench_python", script, limit=2, metadata={"medcalc_bench": {"tool_timeout": 0.5}})
    assert (value(result, "tool_errors"), value(result, "answered")) == (1, 1)
    assert "timed out after 0.5 s" in samples(result)[0]["transcript"][3]["content"]


def test_long_results_are_cut_and_say_so() -> None:
    def script(chat: Chat) -> str:
        one = tagged("python", "print('a' * 5000 + 'b' * 4000)")
        return one if turn(chat) == 1 else one * 8 if turn(chat) == 2 else "<answer>1</answer>"

    (sample,) = samples(run("medcalc_bench_python", script, limit=1))
    one, eight = sample["transcript"][3]["content"], sample["transcript"][5]["content"]
    assert len(one) < MAX_RESULT + 100
    assert re.search(r"a\n\[6,\d{3} characters left out\]\nb", one)
    assert len(eight) < MAX_RESULTS + 8 * 100
    assert eight.count("characters left out") == 8


def test_lone_surrogates_in_replies_and_calls_are_replaced(tmp_path: Path) -> None:
    def script(chat: Chat) -> str:
        return '\ud800 <tool_call>{"name": "\\ud800"}</tool_call>' if turn(chat) == 1 else "\udfff <answer>1</answer>"

    (sample,) = samples(run("medcalc_bench_calculator", script, limit=1))
    json.dumps(sample["transcript"], ensure_ascii=False).encode()
    assert sample["resps"] == [["\ufffd <answer>1</answer>"]]


def test_a_reply_that_never_came_ends_its_example() -> None:
    def script(chat: Chat) -> Any:
        return tagged("calculator", "1") if turn(chat) == 1 else None

    (sample,) = samples(run("medcalc_bench_calculator", script, limit=1))
    assert (sample["resps"], sample["turns"]) == ([[""]], 2)


# ---- the ways in which the harness is run


def test_repeats_are_conversations_of_their_own() -> None:
    asked: dict[str, int] = {}

    def script(chat: Chat) -> str:
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


def test_predict_only_calls_tools_and_scores_nothing() -> None:
    result = run("medcalc_bench_calculator", calculating, limit=2, predict_only=True)
    for sample in samples(result):
        assert sample["resps"] == [["<answer>42</answer>"]]
        assert len(sample["transcript"]) == 5
        assert "acc" not in sample
        assert "turns" not in sample


def test_few_shot_examples_and_a_system_instruction_stay_in_the_chat(data: Path) -> None:
    from conftest import sample_rows, write_rows

    rows = sample_rows("medcalc_bench/test.csv")
    write_rows(rows[:3], data / "medcalc_bench" / "test.csv")
    write_rows(rows[3:], data / "medcalc_bench" / "train.csv")
    for multiturn in (True, False):
        model = Caller(lambda chat: forever(chat) if len(chat) < 7 else "<answer>1</answer>")
        result = run(
            "medcalc_bench_calculator",
            model,
            data=data,
            num_fewshot=1,
            fewshot_as_multiturn=multiturn,
            system_instruction="Be brief.",
        )
        for before, after in zip(*model.batches[:2], strict=True):
            assert before[0]["content"].startswith("Be brief.")
            assert len(before) == (4 if multiturn else 2)
            assert after[: len(before)] == before
        for sample in samples(result):
            assert sample["turns"] == (3 if multiturn else 4), "examples in the prompt are no turns"


def test_use_cache_answers_a_second_run_without_the_model(tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    first, second = Caller(reply), Caller(lambda chat: pytest.fail("asked again"))
    before = run("medcalc_bench_calculator", first, use_cache=cache, metadata=FIVE_TURNS)
    after = run("medcalc_bench_calculator", second, use_cache=cache, metadata=FIVE_TURNS)
    assert len(first.batches) == 5
    assert second.batches == []
    assert after["results"] == before["results"]
    assert [s["transcript"] for s in samples(after)] == [s["transcript"] for s in samples(before)]


def test_a_run_that_died_is_resumed_without_repeating_an_answered_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked: list[str] = []

    def dying(chat: Chat) -> str:
        if len(asked) == 40:
            raise ConnectionError("the server is gone")
        asked.append(json.dumps(chat))
        return reply(chat)

    with pytest.raises(ConnectionError, match="the server is gone"):
        run("medcalc_bench_calculator", dying, use_cache="cache", metadata=FIVE_TURNS)
    model = Caller(reply)
    result = run("medcalc_bench_calculator", model, use_cache="cache", metadata=FIVE_TURNS)
    again = [json.dumps(chat) for batch in model.batches for chat in batch]
    assert not set(asked) & set(again)
    whole = Caller(reply)
    assert run("medcalc_bench_calculator", whole, metadata=FIVE_TURNS)["results"] == result["results"]
    assert {*asked, *again} == {json.dumps(chat) for batch in whole.batches for chat in batch}


def test_sampled_turns_are_not_cached(tmp_path: Path) -> None:
    for _ in range(2):
        model = Caller(calculating)
        run("medcalc_bench_calculator", model, limit=2, use_cache=str(tmp_path / "c"), gen_kwargs="do_sample=true")
        assert [len(batch) for batch in model.batches] == [2, 2]


def test_further_turns_have_the_generation_settings_of_the_first() -> None:
    seen: list[Any] = []

    class Watching(Caller):
        def generate_until(self, requests: list[Any]) -> list[str]:
            seen.extend(request.args[1] for request in requests)
            return super().generate_until(requests)

    run("medcalc_bench_calculator", Watching(calculating), limit=1, gen_kwargs="temperature=0.3,max_gen_toks=77")
    assert len(seen) == 2
    assert seen[0] == seen[1]
    assert (seen[1]["temperature"], seen[1]["max_gen_toks"]) == (0.3, 77)


def test_cached_requests_know_their_chats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lm_eval.caching.cache.PATH", str(tmp_path / "requests"))
    expected = Caller(reply)
    result = run("medcalc_bench_calculator", expected, limit=4)
    for _ in range(2):  # once filling the cache, once reading it
        model = Caller(reply)
        assert run("medcalc_bench_calculator", model, limit=4, cache_requests=True)["results"] == result["results"]
        assert model.batches == expected.batches
    monkeypatch.setattr(Calculator, "description", "is another tool now.")
    model = Caller(reply)
    run("medcalc_bench_calculator", model, limit=4, cache_requests=True)
    assert "is another tool now." in model.batches[0][0][0]["content"]


def test_a_chat_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same conversations through the harness's own client, whose prompts are no plain strings."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with serving({"caller": Replies()}) as address:
        for _ in range(2):  # the second run from the cache
            result = simple_evaluate(
                model="local-chat-completions",
                model_args={"model": "caller", "base_url": address, "num_concurrent": 8, "max_retries": 1},
                tasks=["medcalc_bench_tools"],
                task_manager=manager({"medcalc_bench": {"max_turns": 5, "tool_format": "text"}}),
                apply_chat_template=True,
                confirm_run_unsafe_code=True,
                use_cache=str(tmp_path / "cache"),
            )
            assert len({check(sample, max_turns=5) for sample in samples(result)}) > 10
            monkeypatch.setattr(Replies, "get", lambda *arguments: pytest.fail("asked again"))


HOSTILE = [
    *("<tool_call>", tagged("calculator", "1"), "{", "\n```", '\n{"name": "', '{"arguments": ', "```python\n"),
    *("<think>", "</think><answer>", r"\boxed{", "\ud800", "\x00"),
]


def test_hostile_replies_end_their_examples() -> None:
    replies = itertools.cycle(unit * (50_000 // len(unit)) for unit in HOSTILE)
    result = run("medcalc_bench_calculator", lambda chat: next(replies), metadata={"medcalc_bench": {"max_turns": 3}})
    assert value(result, "acc") == 0
    assert 1 < value(result, "turns") <= 3
    for sample in samples(result):
        results = [message["content"] for message in sample["transcript"] if "calls" in message]
        assert all(len(content) < 2 * MAX_RESULTS for content in results)


# ---- options


def test_an_option_does_what_a_variant_does() -> None:
    for variant, options in (
        ("medcalc_bench_calculator", {"add_calculator_tool": True}),
        ("medcalc_bench_tools", {"add_python_tool": True, "add_calculator_tool": True}),
    ):
        by_name, by_option = Caller(calculating), Caller(calculating)
        named = run(variant, by_name, limit=2)
        asked_for = run("medcalc_bench", by_option, limit=2, metadata={"medcalc_bench": options})
        assert by_name.batches == by_option.batches
        assert numbers(named) == numbers(asked_for)


def numbers(result: dict[str, Any]) -> dict[str, Any]:
    (scores,) = result["results"].values()
    return {key: number for key, number in scores.items() if "," in key}


def test_tools_that_are_switched_off_leave_a_plain_task() -> None:
    plain, off = Caller(calculating), Caller(calculating)
    run("medcalc_bench", plain, limit=2)
    options = {"add_python_tool": False, "add_calculator_tool": False}
    result = run("medcalc_bench_tools", off, confirm=False, limit=2, metadata={"medcalc_bench": options})
    assert off.batches == plain.batches
    assert "transcript" not in samples(result)[0]
    assert "turns,strict-match" not in result["results"]["medcalc_bench_tools"]


@pytest.mark.parametrize("task", ["medcalc_bench_python", "medcalc_bench_calculator", "medcalc_bench_tools"])
def test_without_a_chat_template_there_is_one_error_before_the_model_runs(task: str) -> None:
    model = Caller(calculating)
    with pytest.raises(OptionError, match=f"{task}: .*add --apply_chat_template") as caught:
        run(task, model, apply_chat_template=False)
    assert "\n" not in str(caught.value)
    assert model.batches == []


@pytest.mark.parametrize(
    ("task", "options"),
    [("medcalc_bench_python", {}), ("medcalc_bench_tools", {}), ("medcalc_bench_lite", {"add_python_tool": True})],
)
def test_the_python_tool_has_to_be_confirmed(
    task: str, options: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    model = Caller(calculating)
    with pytest.raises(ValueError, match=f"{task} which is marked as unsafe"):
        run(task, model, confirm=False, metadata={"medcalc_bench": options})
    assert model.batches == []
    assert f"{task}: code that the model writes will be run" in caplog.text
    assert "--confirm_run_unsafe_code" in caplog.text


def test_the_calculator_has_not(warnings_of_harness: Callable[[], list[str]]) -> None:
    run("medcalc_bench_calculator", calculating, confirm=False, limit=1)
    options = {"add_python_tool": False}
    run("medcalc_bench_tools", calculating, confirm=False, limit=1, metadata={"medcalc_bench": options})
    assert warnings_of_harness() == []


# ---- when something breaks


def test_a_sandbox_that_cannot_start_says_so_before_the_model_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Any, calls: Any, progress: Any = None) -> Any:
        raise SandboxError("the sandbox cannot start here")

    monkeypatch.setattr("medtasks_utils.sandbox.Sandbox.run", refuse)
    model = Caller(calculating)
    with pytest.raises(SandboxError, match="cannot start here"):
        run("medcalc_bench_python", model)
    assert model.batches == []


# ---- several processes


@pytest.mark.torch
def test_two_processes_with_uneven_rounds_give_what_one_gives(tiny_model: Path, tmp_path: Path) -> None:
    pytest.importorskip("accelerate", reason="several processes are accelerate's")
    program = Path(__file__).with_name("uneven_ranks.py")
    found = []
    for number, launcher in enumerate(([sys.executable], launch(free_port()))):
        out = tmp_path / f"{number}.json"
        done = subprocess.run(
            [*launcher, str(program), str(tiny_model), str(out), str(number + 1)],
            cwd=tmp_path,
            env=clean_environment(ON_PROCESSORS),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found.append(json.loads(out.read_text("utf-8")))
    one, two = found
    by_example = [{(s["doc_id"], s["filter"]): s["transcript"] for s in run["samples"]} for run in found]
    assert by_example[0] == by_example[1]
    assert len(by_example[0]) == 14
    turns = {int(s["doc"]["row_number"]): s["turns"] for s in two["samples"]}
    assert turns == {1: 1, 2: 1, 3: 2, 4: 1, 5: 3, 6: 1, 7: 4}
    for key, number in one["results"]["medcalc_bench_calculator"].items():
        assert two["results"]["medcalc_bench_calculator"][key] == (pytest.approx(number) if "," in key else number)
