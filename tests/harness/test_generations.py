"""Repeats: their seeds, their orders of choices, their common metrics, and requests that are not repeated."""

import itertools
import json
from statistics import fmean, multimode
from typing import Any

import pytest
from commanding import succeed
from given import each_row
from hypothesis import given
from hypothesis import strategies as st
from lm_eval.api.instance import Instance
from lm_eval.models.openai_completions import LocalChatCompletion, LocalCompletionsAPI
from local_server import LocalServer, completion
from running import Scripted, documents_of, evaluate, model_of, right_answer, samples
from scripts import in_turn, refusal, together

from medtasks_utils.benchmarks.choices import order_of
from medtasks_utils.benchmarks.facts import UNANSWERED
from medtasks_utils.harness.generations import make_independent, scores_together
from medtasks_utils.harness.server_model import can_be_asked_singly, spent

# ---- seeds


@each_row("first_seeds")
def test_a_server_that_honours_seeds_gives_different_texts(model_args, gen_kwargs, base):
    """The server has one text per seed; if the seed is odd, the text has reasoning and is cut."""

    def of_seed(body):
        text, is_odd = f"\\boxed{{A}} {body['seed']}", body["seed"] % 2
        return completion(text, "length" if is_odd else "stop", reasoning_content="Hm." * is_odd)

    with LocalServer(together(4, of_seed)) as server:
        model = model_of(server, num_concurrent=4, **model_args)
        result = evaluate(
            "medmcqa_openmed", model, metadata={"medmcqa": {"repeats": 4}}, gen_kwargs=gen_kwargs, limit=5
        )
    assert len(server.requests) == 4 * 5
    seeds = [base + j for j in range(4)]
    for sample in samples(result):
        assert sample["resps"] == [[f"\\boxed{{A}} {seed}"] for seed in seeds]
        assert sample["ended"] == ["length" if seed % 2 else "stop" for seed in seeds]
        assert sample["reasoning"] == ["Hm." if seed % 2 else None for seed in seeds]
        assert [arguments[1]["seed"] for arguments in sample["arguments"]] == seeds
        assert sample["acc_finished"] == sample["acc"]
    assert result["results"]["medmcqa_openmed"]["cut,strict-match"] == 0.5
    assert server.most_at_once == 4, "not one group of equal settings after the other"


@each_row("seeds_of_runs")
def test_a_server_is_sent_the_seed_of_the_command_line(flags, of_model, base):
    with LocalServer() as server:
        succeed(*server.run_of("medhallu", seed=of_model), "--limit", 1, "--set", "medhallu.repeats=2", *flags)
    assert sorted(body["seed"] for body in server.requests) == [base, base + 1]


def test_vllm_gets_the_seed_in_its_sampling_parameters():
    derived = type("Derived", (type("VLLM", (Scripted,), {"model_args": {"seed": 77}}),), {})
    given = {"do_sample": True, "temperature": 0.7}
    instances = [Instance("generate_until", {}, ("p", given), j) for j in range(3)]
    make_independent("t", instances, derived(), have_prompts=True)
    assert [i.args[1] for i in instances] == [{"temperature": 0.7, "seed": 77 + j} for j in range(3)]
    assert given == {"do_sample": True, "temperature": 0.7}


@pytest.mark.parametrize("name", ["generate_until", "parse_generations", "amodel_call", ""])
def test_api_models_with_lm_eval_s_own_methods_get_single_requests(name):
    for kind in (LocalCompletionsAPI, LocalChatCompletion):
        derived: Any = type("Derived", (kind,), {name: lambda self: None})
        assert can_be_asked_singly(derived.__new__(derived)) == (name == "")
    assert not can_be_asked_singly(Scripted())


# ---- orders


def test_orders_are_all_different_and_balanced():
    for first in itertools.permutations("ABCD"):
        orders = [order_of(generation, "".join(first)) for generation in range(24)]
        assert orders[0] == "".join(first)
        assert len(set(orders)) == 24
        for start in range(0, 24, 4):
            for letters in zip(*orders[start : start + 4], strict=True):
                assert {*letters} == {*"ABCD"}
        assert order_of(24, "".join(first)) == orders[0]


@pytest.mark.parametrize(("task", "shots"), [("medmcqa_openmed", 2), ("medexqa_all", 0)])
def test_generations_see_the_choices_in_orders_of_their_own(task, shots, warnings_of_harness):
    benchmark, _ = task.split("_")
    once, varied = Scripted(right_answer), Scripted(right_answer)
    evaluate(task, once, num_fewshot=shots)
    options = {benchmark: {"repeats": 5, "vary_order": True}}
    result = evaluate(task, varied, num_fewshot=shots, metadata=options)
    logged, (name,) = samples(result), result["samples"]
    assert "greedy" not in str(warnings_of_harness())
    assert varied.prompts[::5] == once.prompts, "order 0 is that of a single generation"
    for number, doc in enumerate(documents_of(name)):
        chats = [json.loads(prompt) for prompt in varied.prompts[5 * number : 5 * number + 5]]
        assert len(set(logged[number]["order"])) == 5
        lines = {f"{letter}. {option}" for letter, option in zip("ABCD", doc["options"], strict=True)}
        for chat, order in zip(chats, logged[number]["order"], strict=True):
            assert chat[:-1] == chats[0][:-1], "system message and examples stay"
            shown = [line for line in chat[-1]["content"].rsplit("\n\n", 1)[-1].split("\n") if line in lines]
            assert "".join(line[0] for line in shown) == order
            assert set(shown) == lines
    assert result["results"][name]["acc,strict-match"] == 1


# ---- what they tell


ANSWERS = st.lists(st.sampled_from(["A", "B", "C", None]), min_size=1, max_size=7)


@given(answers=ANSWERS, target=st.sampled_from("ABCD"))
def test_metrics_over_generations_follow_from_counts(answers, target):
    right = [answer == target for answer in answers]
    same = [a is not None and a == b for a, b in itertools.combinations(answers, 2)]
    best = multimode(filter(None, answers))
    fewer = [j for j in (2, 4) if j < len(answers)]
    assert scores_together(answers, right) == {
        "pass^k": all(right),
        "pass@k": any(right),
        **{f"pass@{j}": pytest.approx(fmean(map(any, itertools.combinations(right, j)))) for j in fewer},
        **{f"pass^{j}": pytest.approx(fmean(map(all, itertools.combinations(right, j)))) for j in fewer},
        "agreement": pytest.approx(fmean(same) if same else 1),
        "maj@k": pytest.approx((target in best) / len(best) if best else 0),
    }


# ---- in one request


SAMPLED = "temperature=0.7,max_gen_toks=64"
AT_ONCE = {"medmcqa": {"repeats": 4, "repeats_in_one_request": True}}


def choices(body):
    """Return as many choices as are requested, each with a different letter."""
    letters = ["ABCD"[place % 4] for place in range(body.get("n", 1))]
    return {"choices": [{"message": {"content": f"\\boxed{{{letter}}}"}} for letter in letters], "usage": USAGE}


def one_empty(body):
    found = choices(body)
    found["choices"][0]["message"]["content"] = ""
    return found


USAGE = {"prompt_tokens": 7, "completion_tokens": 12}


def test_all_generations_are_requested_at_once_and_not_read_from_a_cache_of_one_reply(tmp_path):
    """One that the server refuses is not requested again, and one with an empty reply once."""
    for _ in range(2):
        spent.clear()
        with LocalServer(in_turn(refusal(413, "no"), one_empty, choices)) as server:
            settings: Any = {"limit": 5, "gen_kwargs": SAMPLED, "use_cache": str(tmp_path / "cache")}
            result = evaluate("medmcqa_openmed", model_of(server), metadata=AT_ONCE, **settings)
        assert [(body["n"], body["seed"], body.get("stop")) for body in server.requests] == [(4, 1234, None)] * 6
        answers = sorted(sample["filtered_resps"] for sample in samples(result))
        assert answers == [list("ABCD")] * 4 + [[UNANSWERED] * 4]
        assert {end for sample in samples(result) for end in sample["ended"]} == {"unknown"}
        assert spent == {"prompt": 5 * 7, "completion": 5 * 12, "replies": 5 * 4}
    metadata = result["configs"]["medmcqa_openmed"]["metadata"]
    (remark,) = (line for line in metadata["remarks"] if "no reply" in line)
    assert remark.startswith("4 of 20 requests got no reply; first reason: http") and remark.endswith("(no)")
    (signature, *_) = metadata["signature"].values()
    assert "|repeats:4+in_one_request|" in signature


def test_generations_of_one_request_are_kept_and_taken_over_together(tmp_path, capsys):
    def asked(*words):
        before = len(server.requests)
        flags = ["--gen_kwargs", SAMPLED, "--set", "medhallu.repeats=4", *words, "--output_path", tmp_path]
        succeed(*server.run_of("medmcqa_openmed,medhallu"), "--extend", *flags)
        return len(server.requests) - before

    at_once = [f"--set={benchmark}.repeats_in_one_request=true" for benchmark in ("medmcqa", "medhallu")] + ["--set"]
    with LocalServer(choices) as server:
        assert asked(*at_once, "medmcqa.repeats=4", "--limit", "3") == 2 * 3
        assert asked(*at_once, "medmcqa.repeats=4", "--limit", "5") == 2 * 2
        assert "24 replies reused" in capsys.readouterr().err
        assert asked(*at_once, "medmcqa.repeats=5", "--limit", "5") == 5
        assert "5 with a different value of n" in capsys.readouterr().err
