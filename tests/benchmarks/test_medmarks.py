"""Medmarks' protocols: prompts, orders, verdicts equal to what its own code gave, and a run of each task."""

import json
from collections import defaultdict
from itertools import chain, count, groupby
from statistics import fmean
from typing import Any

import pytest
from given import BY_CALCULATOR, each_row, json_lines, table
from local_server import Fault, LocalServer, completion
from running import Scripted, documents_of, evaluate, load, samples
from scripts import whole
from tool_caller import run, turn

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.medcalc_bench.medmarks_tools import CodeInterpreter, MedmarksCalculator, MedmarksDialogue
from medtasks_utils.benchmarks.medexqa.medmarks import case_of_tag
from medtasks_utils.judging.rubric import read_points
from medtasks_utils.judging.templates import load as load_template
from medtasks_utils.statistics.win_rate import win_rates
from medtasks_utils.tools.loop import Conversation
from medtasks_utils.tools.native import as_one_text

RUNS = {
    "medmcqa": {"base": "medmcqa", "shuffle_seed-1618": "medmcqa_1618", "shuffle_seed-9331": "medmcqa_9331"},
    "medexqa": {"base": "medexqa"},
    "medhallu": {level: f"medhallu_{level}" for level in ("easy", "medium", "hard")},
    "medcalc_bench": {"version-1.2": "medcalc_v1_2", "tools": "medcalc_tools"},
}
TASKS = [f"medmarks_{name}" for runs in RUNS.values() for name in runs.values() if name != "medcalc_tools"]


@pytest.fixture
def reference(shared):
    """The lines of a file of what Medmarks' code gave."""
    return lambda name: json_lines(shared / "reference" / "medmarks" / f"ref_dev_{name}.jsonl")


@pytest.fixture(scope="module")
def converse():
    """A function that hears a reply with calls, and returns the messages of a new conversation."""
    tools: Any = {tool.name: tool() for tool in (MedmarksCalculator, CodeInterpreter)}
    names = map(str, count())

    def messages(*calls):
        entries = [{"function": {"name": name, "arguments": written}} for name, written in calls]
        conversation = Conversation(next(names), [])
        MedmarksDialogue(tools, bool, 20, 0).go_on([conversation], [as_one_text("", entries)])
        return conversation.chat

    yield messages
    for tool in tools.values():
        tool.close()


# ---- equal to Medmarks


def test_every_prompt_is_that_of_medmarks(reference, shared):
    lines = reference("prompts")
    for (bench, name), group in groupby(lines, key=lambda line: (line["bench"], line["run"])):
        task = load(f"medmarks_{RUNS[bench][name]}", shared / "data")
        task.has_chat_template = True
        for line in group:
            doc = task.eval_docs[line["example_id"]]
            messages = [task.resolve_field(doc, task.config.description), task.doc_to_text(doc)]
            assert messages == [message["content"] for message in line["messages"]]
            label = doc["ground_truth"] if bench == "medcalc_bench" else doc[task.benchmark.data.truth]
            assert label == line["answer"]
            schemas = [tool.schema()["function"] for tool in getattr(task.options, "tools", ())]
            assert [{**schema, "strict": None} for schema in schemas] == (line["tools"] or [])


def example_of(line):
    """A line with the fields of an example that a verdict depends on."""
    if "calc_id" not in line:
        return {**line, "answer_letter": line["answer"], "answer_idx": "ABCD".index(line["answer"])}
    return {**line, "judgement": BY_CALCULATOR[line["calc_id"]].name, "limits": [line["lower"], line["upper"]]}


VERDICTS = {"medmcqa_verdicts": "reward", "medexqa_letter": "letter_right", "medcalc_verdicts": "reward"}


@pytest.mark.parametrize(("name", "verdict"), VERDICTS.items())
def test_every_verdict_on_a_letter_or_a_value_is_that_of_medmarks(name, verdict, reference):
    for line in reference(name):
        benchmark, example = benchmarks()[f"medmarks_{line['bench']}"](), example_of(line)
        answer = benchmark.strict(line["content"] or "", example)
        assert benchmark.is_right(answer.value, example) == bool(line[verdict]), line


def test_every_result_of_a_tool_is_that_of_medmarks(reference, converse):
    for line in reference("medcalc_tools"):
        reply, *results = converse(*line["calls"])
        assert [[result["role"], result["content"]] for result in results] == line["results"], line
        back = [[*call["function"].values()] for call in reply["tool_calls"]]
        assert back == line["calls_in_history_after"], line


def test_every_verdict_on_a_hallucination_is_that_of_medmarks(reference):
    benchmark = benchmarks()["medmarks_medhallu"]()
    for line in reference("medhallu_verdicts"):
        doc = {"target": line["answer"], "difficulty": line["difficulty"]}
        answer = benchmark.strict(line["content"], doc)
        scores = {**benchmark.scores(answer, doc), **answer.scores}
        is_kept = {scores[name] is not None for name in ("f1", "precision", "recall", "accuracy_answered")}
        assert (scores["reward"], is_kept) == (line["reward"], {line["postprocess"] == "kept"}), line


# ---- our own rows


@each_row("medmarks_tool_results")
def test_a_call_of_medmarks_tools_has_this_result(name, tool, arguments, result, converse):
    assert converse((tool, arguments))[-1]["content"] == result


@each_row("medmarks_scored")
def test_a_response_is_scored_as_medmarks_does_by_strict_and_as_we_do_by_flexible(
    name, benchmark, doc, response, strict, flexible
):
    bound = benchmarks()[benchmark]()
    found = []
    for read in (bound.strict, bound.flexible):
        answer = read(response, doc)
        found.append([str(answer), bound.is_right(answer.value, doc)])
    assert found == [strict, flexible]


# ---- runs


@pytest.mark.parametrize("task", TASKS)
def test_right_answers_score_1_in_every_task_of_medmarks(task):
    def answer(doc):
        if "judgement" in doc:
            return f"<answer>{doc['shown_truth']}</answer>"
        if "target" in doc:
            return f"\\boxed{{{doc['target']}}}"
        return f"<explanation>So.</explanation> <answer>{doc['options'][doc['answer_idx']]}</answer>"

    model = Scripted(answer)
    results = evaluate(task, model)["results"][task]
    decimals = [doc["limits"] for doc in documents_of(task) if doc.get("judgement") == "decimal"]
    swapped = sum(float(lower) > float(upper) for lower, upper in decimals)
    assert results["acc,flexible-extract"] == 1.0
    assert not any(name.startswith(("f1_easy", "f1_medium", "f1_hard")) for name in results), "a run has one difficulty"
    assert results["acc,strict-match"] == 1 - swapped / len(documents_of(task)), "limits count as they are"
    assert {name: value for name, value in model.generation_kwargs[0].items() if value is not None} == {"until": []}


@pytest.mark.parametrize("turns", [3, 21])
def test_a_run_with_tools_goes_on_until_a_reply_without_calls_and_for_twenty_replies(turns):
    """The answers that stand beside calls are read only if they are the last reply's."""

    def answer(request):
        number = turn(request["messages"])
        if number == turns:
            return "<answer>42</answer> <tool_call>no call</tool_call>"
        return completion(f"<answer>{number}</answer>", tool_calls=table("medmarks_calls"))

    with LocalServer(answer) as server:
        found = run(server, "medmarks_medcalc_tools", limit=1)
    first, last = server.requests[0], server.requests[-1]
    assert first.keys() == {"model", "messages", "tools"}
    assert [tool["function"]["name"] for tool in first["tools"]] == ["calculator", "code_interpreter"]
    results = [message for message in last["messages"] if message["role"] == "tool"]
    texts = ["42.0", "4\n", "Error: Invalid tool formatting for 'abacus'.", ""]
    assert [result["content"] for result in results[:4]] == texts
    numbers = range(1, len(results) + 1)
    assert [result["tool_call_id"] for result in results] == [f"call{number:05}" for number in numbers]
    (sample,) = samples(found)
    assert sample["turns"] == len(server.requests) == min(turns, 20)
    assert sample["resps"][0][0].startswith("<answer>42" if turns == 3 else "<answer>20")


def test_the_group_is_the_mean_per_question_over_three_orders():
    """A model that always says A is right where an order has the right choice first."""
    results = evaluate("medmarks_medmcqa_all", lambda doc: "<answer>A</answer>")["results"]
    names = ["medmarks_medmcqa", "medmarks_medmcqa_1618", "medmarks_medmcqa_9331"]
    docs = zip(*map(documents_of, names), strict=True)
    means = [sum(doc["answer_letter"] == "A" for doc in of_question) / 3 for of_question in docs]
    assert results["medmarks_medmcqa_all"]["acc,strict-match"] == pytest.approx(sum(means) / len(means))


# ---- judges


def test_every_judge_s_prompt_and_points_are_those_of_medmarks(reference):
    for line in (line for line in reference("medexqa_judge") if line["judge_prompt"] is not None):
        info = line["info"]
        doc = {
            "specialty": "",
            "question": info["question"],
            "options": [info[letter] for letter in "ABCD"],
            "answer_letter": line["answer"],
            "explanation_1": info["exp0"],
            "explanation_2": info["exp1"],
        }
        (message,) = load_template("rubric").messages(**case_of_tag(doc, line["response"])._asdict())
        assert message == {"role": "user", "content": line["judge_prompt"]}
        for reply, judged in zip(line["replies"], line["per_judge"] or (), strict=bool(line["per_judge"])):
            assert sum(read_points(reply or "").values()) / 4 == judged["score"]


def rubric_reply(request):
    """One judge gives all points, one gives two of four, and one knows no explanation of occupational therapy."""
    text = whole(request["messages"])
    if "ready" in text:
        return "{}"
    if request["model"] == "unsteady" and "Because of B" in text:
        return Fault(400, b"no")
    right = request["model"] != "gemini"
    return (
        f"<core_logic_aligned>{right}</core_logic_aligned><key_steps_present>{right}</key_steps_present>"
        "<extraneous_reasoning>false</extraneous_reasoning><critical_error>false</critical_error>"
    )


@pytest.mark.parametrize(("models", "judged"), [("kind", 100), ("kind,gemini", 75), ("kind,unsteady", 100)])
def test_the_mean_of_several_judges_counts_and_a_failed_one_is_counted(models, judged, tmp_path):
    def answer(doc):
        return f"<explanation>Because of {doc['answer_letter']}.</explanation><answer>{doc['answer_letter']}</answer>"

    with LocalServer(rubric_reply) as server:
        judge = {"judge_model": models, "judge_base_url": server.url, "judge_cache": str(tmp_path / "cache.jsonl")}
        found = evaluate("medmarks_medexqa", answer, metadata={"medmarks_medexqa": {"use_judge": True, **judge}})
    results, docs = found["results"]["medmarks_medexqa"], documents_of("medmarks_medexqa")
    lost = sum(doc["answer_letter"] == "B" for doc in docs) * ("unsteady" in models)
    assert results["explanation,strict-match"] == pytest.approx(judged)
    assert results["judge_failures,strict-match"] == lost
    assert results["reward,strict-match"] == pytest.approx(judged / 100 * (1 - lost / len(docs)))
    sent = [request for request in server.requests if "ready" not in whole(request["messages"])]
    assert all(request["temperature"] == 1.0 and "max_tokens" not in request for request in sent)
    assert all(("top_k" in request) == (request["model"] == "gemini") for request in sent)


# ---- win rates


def test_every_win_rate_is_that_of_medmarks(shared):
    found = json.loads((shared / "reference" / "medmarks" / "ref_dev_winrate.json").read_bytes())
    scores: Any = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for name, rows in found["input"].items():
        for example, model, reward, _ in rows:
            scores[name][model][example] += [] if reward is None else [reward]
    for by_example in chain(*map(dict.values, scores.values())):
        by_example.update({example: fmean(rewards) if rewards else None for example, rewards in by_example.items()})
    expected = found["cases"][0]["models"]  # by the policies of the paper
    assert win_rates(scores) == {
        model: pytest.approx((rate["simple_mean"], rate["weighted_mean"])) for model, rate in expected.items()
    }
