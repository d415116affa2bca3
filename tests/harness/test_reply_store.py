"""Runs that end early and are restarted: no kept reply is requested again, and scores are those of one run."""

import _thread
import json
import random
import re
import resource
import signal
import subprocess
import sys
from collections import Counter
from operator import attrgetter
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from commanding import clean_environment, exit_code, succeed
from given import each_row, json_lines
from hypothesis import given
from hypothesis import strategies as st
from local_server import LocalServer, completion
from places import at
from scripts import Held, draw, prompt_of, refusal
from tool_caller import tagged, turn

from medtasks_utils import load_runs
from medtasks_utils.errors import MedtasksError
from medtasks_utils.harness.run_model import RunModel
from medtasks_utils.inference.replies import Reply
from medtasks_utils.inference.reply_store import ReplyStore

MODEL = {"kind": "hf", "pretrained": "a"}
TASKS = {"plain": "medhallu,medmcqa_openmed", "tools": "medcalc_bench_calculator"}


def command(served, folder, ask, connections=4):
    words = served.run_of(TASKS[ask], num_concurrent=connections)
    return [*words, "--limit", "12", "--json", "--log_samples", "--output_path", folder]


def run(words, capsys, code=0):
    """Run the command in this process, and return its output and its errors."""
    assert exit_code(words) == code
    told, errors = capsys.readouterr()
    return json.loads(told or "{}"), errors


def answer(body):
    """Return two tool calls if there is a tool, or an answer that depends on the prompt and the seed."""
    if "calculator" in json.dumps(body["messages"][:2]) and turn(body["messages"]) < 3:
        return tagged("calculator", f"{turn(body['messages'])} + 1")
    letter = "ABCD"[sum(prompt_of(body).encode()) % 4]
    return f"\\boxed{{{letter}}} <answer>{letter}</answer>"


@pytest.mark.parametrize("ask", ["plain", pytest.param("tools", marks=pytest.mark.slow)])
def test_an_interrupted_run_requests_nothing_twice_when_restarted(ask, tmp_path, capsys):
    """A run in this process is ended by Ctrl-C, and one in another process is killed, while replies are held back."""
    with LocalServer(answer) as whole:
        expected, _ = run(command(whole, tmp_path / "whole", ask), capsys)
    with LocalServer(held := Held(7, answer)) as served:
        words = command(served, tmp_path / "killed", ask)
        if ask == "plain":
            held.then = _thread.interrupt_main
            told, errors = run(words, capsys, code=130)
            assert told == {} and "run the same command again" in errors.splitlines()[-2]
        else:
            process = subprocess.Popen([sys.executable, "-m", "medtasks_utils", *words], env=clean_environment())
            assert held.reached.wait(300)
            process.kill()
            assert process.wait() == -signal.SIGKILL
        held.release.set()
        served.answer = answer
        found, errors = run(words, capsys)
    assert "reusing" in errors and "--fresh" in errors
    assert 0 < found["answers_taken_over"] <= len(whole.answered) and isinstance(found["seconds"], float)
    assert found["scores"] == expected["scores"]
    asked = Counter(map(prompt_of, served.answered))
    assert asked.keys() == Counter(map(prompt_of, whole.answered)).keys()
    # A reply that was under way when the run was killed may have been sent, and never read.
    assert asked.total() - len(whole.answered) <= 2 * 4
    assert not list((tmp_path / "killed").glob("**/replies_*.jsonl")), "a run that ended is ended"


def test_after_a_finished_run_and_with_fresh_everything_is_requested_again(tmp_path, capsys):
    def breathless(body):
        return refusal(503, "out of breath") if len(served.requests) > 10 else answer(body)

    with LocalServer(breathless) as served:
        words = command(served, tmp_path, "plain", connections=1)
        _, errors = run(words, capsys, code=1)
        says = r"error: .*503.*out of breath.*; replies kept in .*: 10; .*to continue where it stopped\n$"
        assert re.search(says, errors) and "Traceback" not in errors
        served.answer = answer
        fresh, _ = run([*words, "--fresh"], capsys)
        served.requests.clear()
        again, errors = run([*words, "--no_keep"], capsys)
    assert (fresh["answers_taken_over"], len(served.requests), "reusing" in errors) == (0, 24, False)
    assert again["scores"] == fresh["scores"]


# ---- the files


def put(store, prompt, reply, **settings):
    store.put("generate_until", (prompt, settings), [reply])


def take(store, prompt, **settings):
    replies = store.take("generate_until", (prompt, settings))
    return replies and replies[0]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.text(max_size=3)), max_size=12), st.integers(0, 12))
def test_each_of_several_equal_requests_gets_a_kept_reply_of_its_own(tmp_path_factory, replies, cut):
    folder = tmp_path_factory.mktemp("kept")
    first = ReplyStore(folder, MODEL)
    for prompt, reply in replies[:cut]:
        put(first, prompt, reply, seed=1)
    first.close()
    second = ReplyStore(folder, MODEL)
    assert take(ReplyStore(folder, MODEL, fresh=True), "a", seed=1) is None
    taken = [(prompt, take(second, prompt, seed=1)) for prompt, _ in replies]
    assert Counter(pair for pair in taken if pair[1] is not None) == Counter(replies[:cut])
    second.end()
    assert [path.suffix for path in folder.iterdir()] == [".gz"]
    third = ReplyStore(folder, MODEL, extend=True)
    for _ in range(2):
        assert [take(third, prompt, seed=1) for prompt, _ in replies[:cut]] == [reply for _, reply in replies[:cut]]
        third.rewind()
    assert third.kept == len(replies[:cut])


@each_row("arguments_of_models")
def test_kept_replies_are_reused_unless_an_argument_that_changes_replies_differs(argument, is_same, tmp_path):
    put(store := ReplyStore(tmp_path, MODEL), "p", "reply")
    store.close()
    assert take(ReplyStore(tmp_path, {**MODEL, argument: "other"}), "p") == ("reply" if is_same else None)


def test_replies_are_kept_as_they_come_and_without_locks_too(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("medtasks_utils.inference.reply_files.fcntl.flock", Mock(side_effect=OSError))
    store = ReplyStore(tmp_path, MODEL)
    for reply in "xy":
        put(store, "p", reply)
    again = ReplyStore(tmp_path, MODEL)
    assert (take(again, "p"), again.reused, store.kept) == ("x", 1, 2)
    assert f"reusing the replies that earlier runs kept: 2 in {tmp_path}; use --fresh" in caplog.text
    again.end()
    assert take(ReplyStore(tmp_path, MODEL), "p") == "y", "what was not used stays"


@pytest.mark.parametrize(
    ("reply", "steps"), [("short", ["put", "close"]), (random.Random(0).randbytes(9000).hex(), ["end"])]
)
def test_a_full_disk_is_one_line_and_loses_no_replies(reply, steps, tmp_path):
    store = ReplyStore(tmp_path, MODEL)
    put(store, "p", reply)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, limit[1]))
    says = r"cannot store replies in .*File too large.*replies kept in .*: 1; run the same command"
    try:
        for step in steps:
            with pytest.raises(MedtasksError, match=says):
                put(store, "q", "long" * 999) if step == "put" else getattr(store, step)()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert take(ReplyStore(tmp_path, MODEL), "p") == reply


@pytest.mark.parametrize("is_archived", [False, True])
def test_damaged_files_of_replies_neither_end_a_run_nor_change_a_reply(is_archived, tmp_path, caplog, monkeypatch):
    """Bytes are changed, cut and added at random; lines that are JSON of another kind are damaged too."""
    monkeypatch.setattr("medtasks_utils.inference.reply_files._MEMBER_LINES", 4)
    kept = ReplyStore(tmp_path, MODEL)
    expected = {f"p{number}": Reply(f"reply {number}", "stop", number) for number in range(20)}
    for prompt, reply in expected.items():
        put(kept, prompt, reply, max_gen_toks=5)
    kept.put("loglikelihood", ("p", " A"), [(-1.5, True)])
    kept.end() if is_archived else kept.close()
    (file,) = tmp_path.iterdir()
    whole, chance, found = file.read_bytes(), random.Random(0), Counter[bool]()
    for _ in range(150):
        start = chance.randrange(len(whole))
        end = start + chance.choice([0, 1, 1, 40, len(whole)])
        file.write_bytes(whole[:start] + chance.choice([b"", b"5\n", b"\n{}\n", chance.randbytes(1)]) + whole[end:])
        again = ReplyStore(tmp_path, MODEL, extend=is_archived)
        for prompt, reply in expected.items():
            answer = take(again, prompt, max_gen_toks=5)
            assert answer is None or (answer, answer.attributes) == (reply, reply.attributes)
            found[answer is not None] += 1
        assert again.take("loglikelihood", ("p", " A")) in ([(-1.5, True)], None)
    assert found[True] > found[False] / 2
    file.write_bytes(b"5\n{}\nx\n")
    again = ReplyStore(tmp_path, MODEL, extend=is_archived)
    assert f"{file}: damaged lines are ignored (3); their requests are sent again" in caplog.text
    put(again, "later", "reply")
    again.end()
    assert take(ReplyStore(tmp_path, MODEL, extend=True), "later") == "reply"


@each_row("stores_in_a_folder")
def test_what_stores_in_a_folder_keep_and_take_is_what_their_row_says(name, steps, tmp_path, caplog):
    """A step is a place and what stands there: what a store's method returns, the files, or what was logged."""
    known: dict[str, Any] = {
        "open": lambda name, settings, place="": known.update({name: ReplyStore(tmp_path / place, MODEL, **settings)}),
        "files": lambda: sorted(path.suffix for path in tmp_path.iterdir()),
        "logged": lambda: caplog.text,
    }
    for place, expected in steps:
        assert at(place, expected, known) == expected


# ---- extending


def long_answer(body):
    """Return the same as :func:`answer`, but a third of the replies need more than 100 tokens."""
    needed = 130 if is_long(prompt_of(body)) else 40
    if needed > body["max_tokens"]:
        return {**completion("I think", "length"), "usage": {"completion_tokens": body["max_tokens"]}}
    return {**completion(answer(body)), "usage": {"completion_tokens": needed}}


def is_long(prompt):
    return draw(prompt).randrange(3) == 0


@each_row("extended_runs")
def test_an_extended_run_is_the_whole_run_and_asks_only_what_is_new(name, task, old, new, reason, tmp_path, capsys):
    def evaluate_in(folder, served, *words):
        flags = ["--limit", "6", *words, "--json", "--log_samples", "--output_path", tmp_path / folder]
        found, errors = run([*served.run_of(task), *flags], capsys)
        *_, ended = sorted(load_runs(tmp_path / folder), key=attrgetter("date"))
        signatures = {name: of_task.signatures for name, of_task in ended.tasks.items()}
        return errors, found["answers_taken_over"], (found["scores"], signatures)

    with LocalServer(long_answer) as whole:
        *_, expected = evaluate_in("whole", whole, *new)
    with LocalServer(long_answer) as served:
        assert "--extend" not in evaluate_in("grown", served, *old)[0]
        before = Counter(map(prompt_of, served.requests))
        served.requests.clear()
        errors, taken_over, found = evaluate_in("grown", served, *new, "--extend")
    anew = Counter(map(prompt_of, whole.requests))
    if "max_gen_toks" in reason:
        anew = Counter(filter(is_long, anew.elements()))
    elif name in ("more examples", "further tasks", "more repeats", "tools"):
        anew -= before
    assert found == expected and Counter(map(prompt_of, served.requests)) == anew
    assert reason.replace("N ", f"{anew.total()} ") in errors and errors.count("--extend: ") == 1
    assert taken_over == len(whole.requests) - anew.total()


def test_replies_of_models_of_openai_are_reused_too(tmp_path):
    """lm_eval adds a stop string to the settings while it builds the request of such a model."""
    with LocalServer(lambda body: "\\boxed{A}") as served:
        words = [*served.run_of("medmcqa_openmed"), "--model", "openai-chat-completions", "--limit", "2"]
        for more in ([], ["--extend"]):
            succeed(*words, *more, "--output_path", tmp_path)
    assert [body["max_completion_tokens"] > 1 for body in served.requests].count(True) == 2


def test_responses_are_scored_later_without_the_server(tmp_path, capsys):
    with LocalServer(answer) as served:
        words = command(served, tmp_path, "plain")
        words.remove("--json")
        succeed(*words, "--predict_only")
        assert "the same command with --extend instead of --predict_only" in capsys.readouterr().out
        expected, _ = run(command(served, tmp_path / "whole", "plain"), capsys)
    scored, errors = run([*words, "--json", "--extend"], capsys)
    assert "the run continues with kept replies only" in errors
    assert scored["scores"] == expected["scores"] and scored["answers_taken_over"] == 24


def converse(store, prompt, settings, turns):
    """Return the replies to the turns of a conversation; new replies name their settings, and end as the turns say."""
    replies = []
    first: dict[str, Any] = {}
    for place, end in enumerate(turns):
        request = SimpleNamespace(args=(f"{prompt} {place}", settings), task_name="t", **first)
        first = first or {"first": request.args}
        new = Mock(return_value=[Reply(f"{place} {settings}", *end)])
        model = SimpleNamespace(world_size=1, generate_until=new, cache_hook=None)
        replies += RunModel(model, store, {"t": "t"}).generate_until([request])
    return replies


@each_row("conversations_kept")
def test_a_conversation_is_taken_over_whole_or_not_at_all(turns, before, now, is_taken, tmp_path):
    for settings, is_kept in ((before, False), (now, is_taken)):
        store = ReplyStore(tmp_path, MODEL, extend=True)
        expected = [f"{turn} {before if is_kept else settings}" for turn in range(len(turns))]
        assert converse(store, "p", settings, turns) == expected
        assert store.reused == is_kept * len(turns)
        store.end()


@pytest.mark.parametrize(("prompt", "seed"), [("q", 0), ("p", 1)])
def test_how_one_conversation_ended_says_nothing_of_another(prompt, seed, tmp_path):
    store = ReplyStore(tmp_path, MODEL)
    converse(store, "p", {"max_gen_toks": 10, "seed": 0}, [["stop", 5], ["length", 10]])
    converse(store, prompt, {"max_gen_toks": 10, "seed": seed}, turns := [["stop", 5], ["stop", 5]])
    store.end()
    store = ReplyStore(tmp_path, MODEL, extend=True)
    converse(store, prompt, {"max_gen_toks": 20, "seed": seed}, turns)
    assert store.reused == 2


def test_a_first_prompt_is_kept_with_the_reply_of_its_conversation_alone(tmp_path):
    store = ReplyStore(tmp_path, MODEL)
    store.take("generate_until", ("later", {}), ("first", {}))
    for text in "xy":
        put(store, "later", text)
    (path,) = tmp_path.iterdir()
    assert ["first_prompt" in str(line) for line in json_lines(path)] == [True, False]


class InProcess:
    """A model that fails after some replies. It calls its cache hook for each; as vLLM, with other settings."""

    world_size, model_args, max_gen_toks, max_length = 1, MODEL, 1, 99
    _model_generate = None
    cache_hook: Any = SimpleNamespace(add_partial=lambda *reply: None)
    tok_encode: Any = staticmethod(list)

    def __init__(self, dies_after=None):
        self.asked = []
        self.dies_after = dies_after

    def set_cache_hook(self, hook):
        self.cache_hook = hook

    def generate_until(self, requests):
        for request in requests:
            if len(self.asked) == self.dies_after:
                raise KeyboardInterrupt
            prompt, settings = request.args
            self.asked.append(prompt)
            made_up = {"n": 1} if type(self).__name__ == "VLLM" else settings
            self.cache_hook.add_partial("generate_until", (prompt, made_up), prompt.upper())
        return [request.args[0].upper() for request in requests]


@pytest.mark.parametrize(("kind", "kept"), [("HFLM", 6), ("VLLM", 4)])
def test_replies_are_kept_one_by_one_or_batch_by_batch(kind, kept, tmp_path, monkeypatch):
    monkeypatch.setattr("medtasks_utils.harness.run_model._FIRST_PIECE", 4)
    prompts = ["", *"abcdefghi"]  # an empty prompt has an empty reply
    requests = [SimpleNamespace(args=(prompt, {"until": []}), task_name="t") for prompt in prompts]
    first, second = (type(kind, (InProcess,), {})(dies_after) for dies_after in (6, None))
    store = ReplyStore(tmp_path, MODEL)
    run = RunModel(first, store, {"t": "t"})
    with pytest.raises(KeyboardInterrupt), run.receiving():
        run.generate_until(requests)
    store.close()
    run = RunModel(second, ReplyStore(tmp_path, MODEL), {"t": "t"})
    with run.receiving():
        assert run.generate_until(requests) == ["", *"ABCDEFGHI"]
    assert (first.asked[:kept] + second.asked, len(first.asked)) == (prompts, 6)
