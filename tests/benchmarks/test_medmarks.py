"""Medmarks' protocols: prompts, orders, verdicts equal to what its own code gave, and a run of each task."""

import json
from itertools import groupby
from typing import Any

import pytest
from given import BY_CALCULATOR, each_row, error_line, json_lines
from running import Scripted, documents_of, evaluate, load

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.medmarks_letters import medmarks_letter, tagged
from medtasks_utils.benchmarks.option_order import shuffled_order
from medtasks_utils.errors import UsageError

RUNS = {
    "medmcqa": {"base": "medmcqa", "shuffle_seed-1618": "medmcqa_1618", "shuffle_seed-9331": "medmcqa_9331"},
    "medexqa": {"base": "medexqa"},
    "medhallu": {level: f"medhallu_{level}" for level in ("easy", "medium", "hard")},
    "medcalc_bench": {"version-1.2": "medcalc_v1_2"},
}
TASKS = [f"medmarks_{name}" for runs in RUNS.values() for name in runs.values()]


@pytest.fixture
def reference(shared):
    """The lines of a file of what Medmarks' code gave."""
    return lambda name: json_lines(shared / "reference" / "medmarks" / f"ref_dev_{name}.jsonl")


# ---- equal to Medmarks


def test_every_prompt_is_equal(reference, shared):
    lines = [line for line in reference("prompts") if line["run"] in RUNS[line["bench"]]]
    assert len(lines) > 600
    for (bench, run), group in groupby(lines, key=lambda line: (line["bench"], line["run"])):
        task = load(f"medmarks_{RUNS[bench][run]}", shared / "data")
        task._has_chat_template = True
        for line in group:
            doc = task.eval_docs[line["example_id"]]
            messages = [task.resolve_field(doc, task.config.description), task.doc_to_text(doc)]
            assert messages == [message["content"] for message in line["messages"]]
            label = doc["ground_truth"] if bench == "medcalc_bench" else doc[task.benchmark.data.truth]
            assert label == line["answer"]


def test_every_order_is_equal(reference, shared):
    lines = reference("medmcqa_shuffle")
    for seed in ("1618", "9331"):
        docs = documents_of(f"medmarks_medmcqa_{seed}", shared / "data")
        found = [
            (docs[line["example_id"]]["option_order"], docs[line["example_id"]]["answer_letter"]) for line in lines
        ]
        assert found == [(line[seed]["order"], line[seed]["answer"]) for line in lines]


def test_every_letter_is_equal(reference):
    for name, place, verdict in (("medmcqa_verdicts", 0, "reward"), ("medexqa_letter", -1, "letter_right")):
        for line in reference(name):
            content = (tagged(line["content"] or "") or [""])[place]
            letter = medmarks_letter(content, line["answer"], line["answer_text"])
            assert (letter == line["answer"]) == bool(line[verdict]), line


def test_every_value_is_equal(reference):
    benchmark = benchmarks()["medmarks_medcalc_bench"]()
    for line in reference("medcalc_verdicts"):
        limits = [line["lower"], line["upper"]]
        doc = {"judgement": BY_CALCULATOR[line["calc_id"]].name, "ground_truth": line["ground_truth"], "limits": limits}
        answer = benchmark.strict(line["content"] or "", doc)
        assert benchmark.is_right(answer.value, doc) == bool(line["reward"]), line


def test_every_verdict_and_its_f1_are_equal(reference):
    benchmark = benchmarks()["medmarks_medhallu"]()
    scores: dict[int, Any] = {}
    for line in reference("medhallu_verdicts"):
        doc = {"target": line["answer"], "difficulty": line["difficulty"]}
        answer = benchmark.strict(line["content"], doc)
        scores[line["n"]] = {**benchmark.scores(answer, doc), **answer.scores}
        kept = scores[line["n"]]["f1"] is not None
        assert (scores[line["n"]]["reward"], kept) == (line["reward"], line["postprocess"] == "kept"), line
    for line in reference("medhallu_f1"):
        for ours, theirs in (("f1", "f1"), ("precision", "precision"), ("accuracy_answered", "accuracy")):
            pairs = [pair for n in line["ns"] if (pair := scores[n][ours]) is not None]
            of = sum(weight for _, weight in pairs)
            assert (sum(value for value, _ in pairs) / of if of else 0.0) == pytest.approx(line[theirs])


# ---- our own rows


@each_row("medmarks_letters")
def test_a_letter_by_medmarks(name, text, gold, truth, letter):
    assert medmarks_letter(text, gold, truth) == letter


@each_row("option_orders")
def test_a_shuffled_order(name, question, options, seed, order):
    assert shuffled_order(question, options, seed) == order


@each_row("medmarks_scored")
def test_a_response_by_medmarks_and_by_us(name, benchmark, doc, response, strict, flexible):
    bound = benchmarks()[benchmark]()
    found = []
    for read in (bound.strict, bound.flexible):
        answer = read(response, doc)
        found.append([str(answer), bound.is_right(answer.value, doc)])
    assert found == [strict, flexible]


@each_row("medmarks_refused")
def test_options_that_medmarks_fixes_and_seeds_that_are_none(task, options, message):
    assert message in error_line(UsageError, load, task, "sample", **options)


# ---- runs


@pytest.mark.parametrize("task", TASKS)
def test_a_run_of_each_task(task):
    def answer(doc):
        if "judgement" in doc:
            return f"<answer>{doc['shown_truth']}</answer>"
        if "target" in doc:
            return f"\\boxed{{{doc['target']}}}"
        return f"<explanation>So.</explanation> <answer>{doc['options'][doc['answer_idx']]}</answer>"

    model = Scripted(answer)
    results = evaluate(task, model, apply_chat_template=True)["results"][task]
    decimals = [doc["limits"] for doc in documents_of(task) if doc.get("judgement") == "decimal"]
    swapped = sum(float(lower) > float(upper) for lower, upper in decimals)
    assert results["acc,flexible-extract"] == 1.0
    assert results["acc,strict-match"] == 1 - swapped / len(documents_of(task)), "limits count as they are"
    assert {name: value for name, value in model.generation_kwargs[0].items() if value is not None} == {"until": []}


def test_the_group_is_the_mean_per_question_over_three_orders():
    """A model that always says A is right where an order has the right choice first."""
    results = evaluate("medmarks_medmcqa_all", lambda doc: "<answer>A</answer>")["results"]
    names = ["medmarks_medmcqa", "medmarks_medmcqa_1618", "medmarks_medmcqa_9331"]
    docs = zip(*map(documents_of, names), strict=True)
    means = [sum(doc["answer_letter"] == "A" for doc in of_question) / 3 for of_question in docs]
    assert results["medmarks_medmcqa_all"]["acc,strict-match"] == pytest.approx(sum(means) / len(means))


@pytest.mark.parametrize("task", ["medmcqa_openmed", "medexqa_all"])
def test_any_seed_shuffles_choices_with_new_letters(task):
    benchmark = benchmarks()["medmcqa" if "mcqa" in task else "medexqa"].name
    before, after = documents_of(task), documents_of(task, **{benchmark: {"order_seed": 7}})
    assert [doc["options"] for doc in before] != [doc["options"] for doc in after]
    for one, other in zip(before, after, strict=True):
        assert one["options"][one["answer_idx"]] == other["options"][other["answer_idx"]]
        assert [one["options"]["ABCD".index(letter)] for letter in other["option_order"]] == other["options"]
        assert other["answer_letter"] == "ABCD"[other["answer_idx"]]
        for line in json.dumps(other.get("choices", "")).split("\\n"):
            assert not line.strip('"') or line.strip('"')[3:] in json.dumps(other["options"])
