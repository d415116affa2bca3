"""Runs are found and read whatever happened to their files; nothing but missing paths is an error."""

import gzip
import json
import re
import shutil
from pathlib import Path

import pytest
from given import GENERATION_TASKS, TASK_OF, each_row, error_line, write_rows
from hypothesis import given
from hypothesis import strategies as st
from places import as_its_row_says, at
from saved_runs import right_in, sample_file, save_run

from medtasks_utils.errors import MedtasksError
from medtasks_utils.filters import FILTERS, STRICT
from medtasks_utils.report.summary import problems
from medtasks_utils.results import Sample, TaskRun, as_run, merged, read_runs
from medtasks_utils.results.budgets import budget_curve
from medtasks_utils.results.runs import name_apart
from medtasks_utils.results.samples import SampleLog, read_samples


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The results file of a run of all four benchmarks."""
    return save_run(tmp_path_factory.mktemp("saved"), right_in(0.7), tasks=["medtasks"])


@pytest.fixture
def results(saved, tmp_path):
    """A copy of it, to damage."""
    shutil.copytree(saved.parent, tmp_path / "run")
    return tmp_path / "run" / saved.name


# ---- what a run holds


test_a_function_of_saved_runs_returns_what_its_row_says = as_its_row_says("functions_of_results")


@each_row("odd_logs")
def test_a_log_of_odd_lines_is_read_as_its_row_says(name, encoding, text, numbers, problems, tmp_path):
    (path := tmp_path / "samples_t.jsonl").write_text(text, encoding)
    log = read_samples(path)
    assert ([sample.doc_id for sample in log.samples], log.problems) == (numbers, problems)


def test_a_run_of_all_benchmarks_is_read_once(saved):
    (run,) = read_runs([saved, saved.parent, saved.parent.parent])
    assert (run.name, run.model) == ("model", "org/model")
    assert not any("reported as" in problem for problem in problems([run])), "samples say what the harness reported"
    assert run.date and run.date in saved.name
    assert {name: group.tasks for name, group in run.groups.items()} == {"medtasks": list(GENERATION_TASKS)}
    for task in run.tasks.values():
        assert task.filters == ["strict-match", "flexible-extract"] and not task.problems
        assert len(task.samples) == task.asked == task.available
        assert not any(metric.endswith("_stderr") for metric, _ in task.metrics)


@each_row("log_lines")
def test_a_line_of_a_log_is_read_as_its_row_says(name, line, read, tmp_path):
    (sample,) = read_samples(write_rows([line], tmp_path / "samples_t.jsonl")).samples
    assert json.loads(json.dumps({field: getattr(sample, field) for field in read})) == read


@each_row("budgets")
def test_a_budget_has_the_accuracy_of_a_run_whose_longer_replies_are_cut(name, tokens, scores, curve):
    """Of each example, the number of tokens of the reply and its score."""
    task = TaskRun("medhallu", "medhallu", {}, {})
    samples = [Sample(place, "", {}, [], [""], "") for place in range(len(tokens))]
    for sample, count, score in zip(samples, tokens, scores, strict=True):
        sample.metrics, sample.details = {STRICT: {"acc": score}}, {STRICT: {"tokens": [count]}}
    task._log = SampleLog(samples, [])
    assert at([[task]], curve, budget_curve) == curve


# ---- finding runs


@each_row("apart")
def test_runs_of_one_name_are_told_apart_by_what_differs(case, runs, names):
    """Each run: its folder, what its results say beside its model, and the signature of its task."""
    made = []
    for folder, results, signature in runs:
        config = {"metadata": {"signature": {"strict-match": signature}}}
        content = {"results": {"t": {}}, "configs": {"t": config}, "model_name": "org/m", **results}
        made.append(as_run(content, Path(folder, "results.json"), "2026-11-28T09-05-01"))
    name_apart(made)
    assert [run.name for run in made] == names, case


def saved_as(folder, date, task, asked=1, **results):
    counts = {"effective": asked, "original": 99}
    content = {"results": {task: {"acc,f": 1}}, "configs": {task: {}}, "n-samples": {task: counts}}
    return as_run({"model_name": "m", **content, **results}, Path(folder) / f"results_{date}.json", date)


@each_row("set_ups")
def test_runs_over_different_tasks_are_one_unless_their_set_ups_differ(case, first, second, number):
    """Each run: what its results say, and its configuration."""
    runs = [saved_as("a", "1", task, **{"config": of, **of}) for task, of in (("x", first), ("y", second))]
    assert len(merged(runs)) == number, case


SPENT = {"medtasks": {"tokens": {"prompt": 3}, "cost": {"joules": 2}}, "total_evaluation_time_seconds": "1.5"}


@given(st.permutations([("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"), ("b", "z")]))
def test_runs_of_a_folder_are_one_before_those_of_others_in_any_order(order):
    """With what they spent together."""
    found = {run.name: run for run in merged([saved_as(f"{folder}/m", task, task, **SPENT) for folder, task in order])}
    assert {name: sorted(run.tasks) for name, run in found.items()} == {"m a": ["x", "y"], "m b": ["x", "y", "z"]}
    both = {"medtasks": {"tokens": {"prompt": 6}, "cost": {"joules": 4}}, "total_evaluation_time_seconds": 3}
    assert found["m a"].results.items() >= both.items()
    assert found["m a"].path == Path(f"a/m/results_{next(task for folder, task in order if folder == 'a')}.json")


@each_row("copies")
def test_a_copy_of_a_run_is_left_out_and_a_repeat_is_not(case, pattern, change, number, results, tmp_path, caplog):
    shutil.copytree(results.parent, tmp_path / "copy")
    for path in (tmp_path / ("run" if "other" in change.split() else "copy")).glob(pattern):
        if change == "dated otherwise":
            path.rename(path.with_name(path.name.replace("_2", "_3")))
        elif change == "longer":
            path.write_bytes(path.read_bytes() + b"\n")
        else:
            path.unlink()
    runs = read_runs(tmp_path)
    assert len(runs) == number
    assert caplog.text.count("is left out: it is a copy of the run in") == 2 - number
    assert all(len(run.files) == 5 for run in runs), "of two copies, the one with all files is read"


@each_row("grown")
def test_a_task_that_a_later_run_has_grown_counts_once(case, first, second, number, tmp_path):
    """Each run: its folder, tasks, asked examples, settings of its tasks, and the replies that it took over."""
    runs = []
    dates = "2026-11-28T09-05-01", "2026-11-28T14-26-01"
    for date, (folder, tasks, asked, settings, taken) in zip(dates, (first, second), strict=True):
        content = {
            "model_name": "m",
            "results": {task: {"acc,strict-match": 0.5} for task in tasks},
            "configs": dict.fromkeys(tasks, settings),
            "groups": {date: {}},
            "group_subtasks": {date: tasks},
            "n-samples": {task: {"original": 100, "effective": asked} for task in tasks},
            "medtasks": {"answers_taken_over": taken},
            "config": {"gen_kwargs": settings.get("generation_kwargs", {}), "model_args": {"num_concurrent": asked}},
        }
        runs.append(as_run(content, tmp_path / folder / f"results_{date}.json", date))
    found = merged(runs)
    assert (len(found), found[-1].tasks["t"].asked) == (number, second[2]), case
    assert [*found[-1].groups] == [dates[1]] and found[0].groups.keys() == {dates[number == 1]}
    if case == "more examples":
        assert found[0].growth == "grew from 10 to 20 questions, 2026-11-28 14:26"


def test_a_results_file_without_a_date_is_a_run_of_its_own(results):
    results.with_name("results.json").write_text("{}")
    assert [len(run.date) > 9 for run in read_runs(results.parent)] == [False, True]
    assert len(read_runs(results)) == 1


def test_an_unfinished_run_is_named(tmp_path):
    (tmp_path / "replies_1f2e_3d4c.jsonl").touch()
    with pytest.raises(MedtasksError, match="replies of an unfinished run: run its command again"):
        read_runs(tmp_path)


def test_a_path_without_results_is_one_error(tmp_path):
    (tmp_path / "notes.json").write_text("{}")
    assert re.search("no results in .*--output_path", error_line(MedtasksError, read_runs, tmp_path))


# ---- what was written is read

SHORT = st.text("ab \n\u2028é", max_size=5)
NUMBER = st.floats(0, 1) | st.none()
FIELDS = {"ended": st.sampled_from(["stop", "length"]), "tokens": st.integers(1, 9), "confidence": NUMBER}


@st.composite
def logged(draw, number):
    """An example: the sample that is read of it, and its lines in a log."""
    several = {"min_size": (times := draw(st.integers(1, 3))), "max_size": times}
    texts = st.lists(SHORT, **several)
    alike = {name: draw(SHORT) for name in ("doc_hash", "target", "cluster", "stratum", "prompt_hash")}
    sample = Sample(number, doc={"q": draw(SHORT)}, messages=[], responses=draw(texts), **alike)
    role = draw(st.sampled_from(["prompt", "user"]))
    sample.messages = [{"role": role, "content": draw(SHORT)}]
    prompt = sample.prompt if role == "prompt" else [json.dumps(sample.messages)]
    details = {name: draw(st.lists(kind, **several)) for name, kind in FIELDS.items()}
    of_both = {"doc_id": number, "doc": sample.doc, "arguments": {"a": {"p": prompt, "k": {}}}, **alike, **details}
    lines = []
    for name in FILTERS:
        sample.answers[name], sample.found_by[name] = draw(texts), draw(texts)
        sample.metrics[name], sample.details[name] = {"acc": draw(NUMBER), "pass@k": draw(NUMBER)}, details
        sample.scores[name] = {"f1": draw(st.lists(NUMBER | st.tuples(st.floats(0, 1), st.just(2.0)), **several))}
        of_filter = {"filter": name, "filtered_resps": sample.answers[name], "found_by": sample.found_by[name]}
        metrics = sample.metrics[name]
        logged = {"metrics": [*metrics], "scores": sample.scores[name], "resps": [sample.responses], "target_hash": "h"}
        lines.append({**of_both, **of_filter, **metrics, **logged})
    return sample, lines


JUNK = st.binary(max_size=60).map(lambda junk: junk.replace(b"\n", b"").lstrip(b"\xff\xfe"))  # or all is UTF-16
JUNK |= st.sampled_from([b"null", b"[]", b"{}", b'{"doc_id": 1}', b"[" * 5000])


@given(st.data(), st.integers(2, 4), JUNK)
def test_a_log_is_read_as_it_was_written_but_for_a_damaged_line(tmp_path_factory, data, number, junk):
    """In any order of its lines. Without its texts, a sample keeps the rest."""
    pairs = [data.draw(logged(place)) for place in range(number)]
    lines = data.draw(st.permutations([(place, line) for place, (_, lines) in enumerate(pairs) for line in lines]))
    pack, name = data.draw(st.sampled_from([(bytes, "samples_t.jsonl"), (gzip.compress, "samples_t.jsonl.gz")]))
    path = tmp_path_factory.getbasetemp() / name
    rows = [json.dumps(line).encode() for _, line in lines]
    path.write_bytes(pack(b"\n\n".join(rows)))
    log = read_samples(path)
    samples = {sample.doc_id: sample for sample in log.samples}
    assert samples == {sample.doc_id: sample for sample, _ in pairs} and log.problems == []
    for sample in log.samples:
        details = sample.details[STRICT]
        assert (sample.ended, sample.tokens, sample.reasoning) == (details["ended"], details["tokens"], [])
        short = {"messages": [], "found_by": {}, "responses": [text.strip()[:1] for text in sample.responses]}
        assert vars(sample.without_texts()) == {**vars(sample), **short}

    at = data.draw(st.integers(0, len(lines) - 1))
    place, line = lines[at]
    path.write_bytes(pack(b"\n\n".join([*rows[:at], junk, *rows[at + 1 :], b""])))
    log = read_samples(path)
    assert all(samples[sample.doc_id] == sample for sample in log.samples if sample.doc_id != place)
    assert len(log.samples) == number
    lost = f"lines left out because they are truncated or unreadable: 1 (first: line {2 * at + 1})"
    said = [lost, f"1 of {number} examples lack the filter {line['filter']}"][not junk.strip() :]
    assert log.problems == [f"{path.name}: {problem}" for problem in said]


# ---- damage


@pytest.mark.parametrize("content", [b'{"other": 1}', b"\xff\xfe", b"[" * 300_000 + b"]" * 300_000])
def test_an_unreadable_results_file_is_one_clear_error(results, content):
    results.write_bytes(content)
    with pytest.raises(MedtasksError, match=rf"^{re.escape(str(results))} cannot be read: .*") as error:
        read_runs(results.parent)
    assert "\n" not in str(error.value) and error.value.__cause__ is None


def test_samples_without_a_results_file_are_read(results):
    results.unlink()
    sample_file(results, "medexqa_all").unlink()
    (run,) = read_runs(results.parent)
    (problem,) = run.problems
    assert run.model == "run"
    assert problem.startswith(f"{results.parent}: the samples have no results file (date: {run.date})")
    named = {str(task.benchmark_name): name for name, task in run.tasks.items()}
    assert len(named) == 3 and {**named, "medexqa": "medexqa_all"} == TASK_OF
    assert all(task.samples for task in run.tasks.values()) and [*run.tasks] == sorted(run.tasks)
