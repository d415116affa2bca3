"""Variants: every field of the harness's task form works as in a stock task, or is one clear error before the run."""

import json
import re
from typing import Any

import pytest
from given import ROOT, TASK_OF, TASKS, each_row, error_line, table
from lm_eval.config.task import TaskConfig
from lm_eval.tasks import TaskManager
from places import at
from running import load

from medtasks_utils.errors import DataError, MedtasksError
from medtasks_utils.harness.catalog import manager_for
from medtasks_utils.report.score_table import lines_of
from medtasks_utils.results import read_runs

FUNCTIONS = """
def prompt(doc): return "Q: " + doc["question"]
def first_two(dataset): return dataset.select(range(2))
def no_row(dataset): return dataset.select([])
def solved(): return [{"question": "One?", "choices": "A. 1", "answer_letter": "D", "explanation": ""}]
def lengths(doc, results): return {"length": len(results[0])}
"""

BASES = {benchmark: TASKS / benchmark / f"{task}.yaml" for benchmark, task in TASK_OF.items()}
FILTERS = ("strict-match", "flexible-extract")


def made(folder, benchmark, fields, base=""):
    """Return the task of a variant on the sample; ``base`` names another file of the benchmark to include."""
    file = BASES[benchmark].with_name(base) if base else BASES[benchmark]
    (folder / "functions.py").write_text(FUNCTIONS)
    (folder / "variant.yaml").write_text(f"include: {file}\ntask: variant\n{fields}\n")
    metadata = {"medtasks_data": "sample", "medexqa": {"use_explanations": False}}
    manager = TaskManager(include_path=str(folder), include_defaults=False, metadata=metadata)
    return manager.load(["variant"])["tasks"]["variant"]


@pytest.mark.parametrize("benchmark", BASES)
@each_row("variants_refused")
def test_a_field_that_cannot_work_is_one_error_that_names_it(fields, said, tmp_path, benchmark):
    if fields.startswith("validation_split") and benchmark != "medmcqa":
        fields = fields.replace("validation_split", "test_split")
    line = error_line(MedtasksError, made, tmp_path, benchmark, fields)
    assert [text for text in said if text not in line] == []


def test_a_field_of_an_included_file_is_named_by_its_line(tmp_path):
    (tmp_path / "other.yaml").write_text(f"include: {BASES['medmcqa']}\n\nuse_prompt: x\n")
    with pytest.raises(MedtasksError, match=r"other\.yaml:3\)$"):
        made(tmp_path, "medmcqa", "include: other.yaml")


@each_row("variants_unreadable")
def test_a_file_that_cannot_be_read_is_one_error_that_names_its_line(text, says, tmp_path):
    (tmp_path / "functions.py").write_text(FUNCTIONS)
    (tmp_path / "variant.yaml").write_text(text.replace("BASE", str(TASKS / "medmcqa")) + "\n")
    line = error_line(MedtasksError, manager_for, ["varian*"], str(tmp_path))
    assert line.startswith(str(tmp_path / "variant.yaml"))
    assert [text for text in says if text not in line] == []


def test_a_variant_of_a_task_with_a_tag_leaves_our_tags_alone(tmp_path, caplog):
    file = TASKS / "medexqa" / "medexqa_biomedical_engineering.yaml"
    (tmp_path / "variant.yaml").write_text(f"include: {file}\ntask: variant\ntag: mine")
    index = manager_for(["mine"], str(tmp_path)).task_index
    assert (index["mine"].tags, index["medexqa_be"].tags) == ({"variant"}, {"medexqa_biomedical_engineering"})
    assert "from None" not in caplog.text


FIELDS = [
    (field, benchmark, yaml, outcome)
    for field, names, yaml, outcome in table("variant_fields")
    for benchmark in (BASES if names == "*" else names.split())
]


@pytest.mark.parametrize(("field", "benchmark", "yaml", "outcome"), FIELDS)
def test_each_field_of_a_variant_takes_effect_or_is_one_error(tmp_path, field, benchmark, yaml, outcome):
    """The expected outcome is a part of the error's message, or what stands at places of the task."""
    if isinstance(outcome, str):
        assert outcome in error_line(MedtasksError, lambda: made(tmp_path, benchmark, yaml).build_all_requests(limit=1))
        return
    task = made(tmp_path, benchmark, yaml)
    task.build_all_requests(limit=1)
    request = task.instances[0]
    prompt, settings = request.args
    known = {"task": task, "prompt": str(prompt), "settings": settings, "target": task.doc_to_target(request.doc)}
    for place, expected in outcome:
        assert at(place, expected, known) == expected


@pytest.mark.parametrize("is_chat", [False, True])
def test_no_prompt_is_sent_empty(is_chat, tmp_path):
    task = made(tmp_path, "medmcqa", "description: ''\ndoc_to_text: '{% if false %}{% endif %}'")
    with pytest.raises(DataError, match="the prompt of example 0 is empty"):
        task.build_all_requests(apply_chat_template=is_chat, chat_template=lambda messages, **_: json.dumps(messages))


@pytest.mark.parametrize("benchmark", BASES)
def test_every_field_of_the_harness_s_tasks_is_in_the_table(benchmark):
    assert {field for field, name, *_ in FIELDS if name == benchmark} >= set(TaskConfig.__dataclass_fields__)


NO_READERS = """[{name: none, filter: [{function: take_first_k, k: 1}, {function: remove_whitespace},
    {function: lowercase}, {function: uppercase}, {function: majority_vote}, {function: take_first}]}]"""


@each_row("whole_responses")
@pytest.mark.parametrize("filters", ["null", NO_READERS])
def test_a_filter_that_only_passes_responses_on_is_read_by_the_strict_reading(
    benchmark, response, answered, filters, tmp_path
):
    task = made(tmp_path, benchmark, f"filter_list: {filters}")
    task.build_all_requests(limit=1)
    (request,) = task.instances
    request.resps = [response]
    task.apply_filters()
    scores = task.process_results(request.doc, [request.filtered_resps["none"]])
    assert scores["answered"] == scores.get("one_box", answered) == answered


def test_tools_are_described_after_a_description_of_ones_own(tmp_path):
    task = made(tmp_path, "medcalc_bench", "description: Be brief.", "medcalc_bench_tools.yaml")
    text = task.resolve_field(task.eval_docs[0], task.config.description)
    assert text.startswith("Be brief.\n\nYou can use these tools:") and "<tool_call>" in text
    without = made(tmp_path, "medcalc_bench", "description: Be brief.")
    assert without.config.description == "Be brief."


def test_the_documented_use_from_python_applies_its_options():
    names: dict[str, Any] = {}
    exec(re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "variants.md").read_text(), re.DOTALL)[-1], names)
    samples = names["results"]["samples"]["medhallu"]
    assert {sample["doc"]["difficulty"] for sample in samples} == {"hard"}


def test_a_function_that_changes_its_document_changes_no_other():
    rows = load("medhallu").eval_docs
    for row in rows:
        row["question"] = "?"
    assert all(row["question"] != "?" for row in (*rows, *rows[:2]))


def test_the_short_table_of_a_group_of_tasks_of_ours_and_others(tmp_path):
    """The table has a variant's own metrics, the right units, and a group's filters and examples."""
    ((saved, *expected),) = table("group_of_ours_and_others")
    (tmp_path / "results_2026-01-01T00-00-00.000000.json").write_text(json.dumps(saved))
    (run,) = read_runs([tmp_path])
    shown = [
        [line.topic.name, line.metric.name, line.n, *(values.get(name, "–") for name in FILTERS)]
        for line in lines_of(run)
        for values in [{name: line.metric.shown(score.value) for name, score in line.scores.items()}]
    ]
    assert [line for line in expected if line not in shown] == []
