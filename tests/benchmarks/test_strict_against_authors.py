"""Strict readings against the verdicts of the benchmarks' own scorers and their rules, and what one response scores."""

import json
import shutil

from given import BY_CALCULATOR, each_row, json_lines, table
from places import as_its_row_says
from running import documents, documents_of, reader

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.medcalc_bench.kinds import KINDS, is_right
from medtasks_utils.benchmarks.medexqa.options import SPECIALTIES

# ---- the authors' verdicts


def test_every_verdict_on_a_letter_is_that_of_medexqa_s_authors(shared):
    names = {specialty.stem: specialty.name for specialty in SPECIALTIES}
    task = reader("medexqa_all", shared / "data")
    docs = {doc["id"]: doc for doc in documents(task)}
    for item in json_lines(shared / "reference" / "medexqa_extractions.jsonl"):
        doc = docs[f"{names[item['specialty']]}/test/{item['row']}"]
        answer = task.strict(item["response"], doc)
        found = (doc["answer_letter"], answer.value, task.score(doc, answer)["acc"])
        assert found == (item["target"], item["prediction"], item["prediction"] == item["target"]), item


def test_every_verdict_on_a_value_is_that_of_medcalc_bench_s_authors(shared, data):
    """Strict; flexible loses only numbers without a first digit (".6" for 6), which mean another."""
    shutil.copy(shared / "data" / "medcalc_bench" / "one_shot.csv", data / "medcalc_bench" / "test.csv")
    task = reader("medcalc_bench", shared / "data")
    docs = {"test": documents(task), "one_shot": documents_of("medcalc_bench", data)}
    for item in json_lines(shared / "reference" / "medcalc_verdicts.jsonl"):
        doc, text = docs[item["split"]][item["row"]], f"<answer>{item['answer']}</answer>"
        assert doc["calculator_id"] == item["calculator_id"]
        strict, flexible = (task.score(doc, read(text, doc))["acc"] for read in (task.strict, task.flexible))
        assert strict == item["correct"], item
        assert flexible >= strict or item["split"] != "test" or item["answer"].startswith("."), item


# ---- rules, on our own examples


test_a_function_of_a_benchmark_returns_what_its_row_says = as_its_row_says("functions_of_benchmarks")


@each_row("judgements")
def test_a_value_is_right_by_its_kind_of_judgement(judgement, content, limits, truth, right):
    lower, upper = limits
    doc = {"judgement": judgement, "ground_truth": truth, "lower_limit": lower, "upper_limit": upper}
    value = KINDS[judgement].strict(content)
    assert (value is not None and is_right(value, doc)) == right


def test_every_calculator_has_this_kind_of_judgement():
    assert [[number, BY_CALCULATOR[number].name] for number in sorted(BY_CALCULATOR)] == table("calculators")


# ---- what one response scores


EXAMPLES = {benchmark: examples for benchmark, change, examples in table("examples") if not change}


@each_row("scores")
def test_a_response_has_the_expected_scores_by_the_strict_reading(
    name, number, options, response, metrics, cluster, stratum
):
    """A row states the metrics that it is about; others may be added."""
    kind, example = benchmarks()[name], EXAMPLES[name][number]
    benchmark = kind(kind.options_class(**options))
    scores = benchmark.scores(benchmark.strict(response, example), example)
    found = {metric: scores.get(metric, "not given") for metric in metrics}
    assert json.loads(json.dumps(found)) == metrics
    assert (benchmark.data.cluster_of(example), benchmark.data.stratum_of(example)) == (cluster, stratum)
