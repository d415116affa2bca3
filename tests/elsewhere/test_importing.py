"""Runs of other harnesses: imported as the harness's files, and then reported, judged and compared.

The runs are written as ``vf-eval -s`` writes them, over the bundled sample's rows; the tables ``*_environment`` have
what each environment makes of a row: its prompt, right answer and info.
"""

import gzip
import json
import os
import re
import shutil
import zipfile
from collections.abc import Callable, Sequence
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from commanding import exit_code, succeed
from given import TASK_OF, Row, each_row, error_line, table, write_rows
from places import at
from running import documents_of, right_answer
from saved_runs import save_run

from medtasks_utils.audit.auditor import Item
from medtasks_utils.elsewhere.other_runs import Fields, read_other_run
from medtasks_utils.elsewhere.saving import Imported, Values, agreement_of, import_runs
from medtasks_utils.errors import MedtasksError, UsageError
from medtasks_utils.filters import FILTERS
from medtasks_utils.harness.aggregates import ExampleScore
from medtasks_utils.results import Run, read_runs

STRICT = "strict-match"
ENVIRONMENTS = {
    # benchmark: the environment, its reward function
    "medmcqa": ("med-mcqa", "accuracy"),
    "medexqa": ("medexqa", "combined_reward"),
    "medcalc_bench": ("medcalc-bench", "check_correctness"),
    "medhallu": ("medhallu", "medhallu_reward"),
}


@cache
def rows(benchmark: str) -> list[Row]:
    """Return the sample's documents in the harness's form."""
    return documents_of(TASK_OF[benchmark])


def lines(benchmark: str, answer: Callable[[Row], str], rollouts: int = 1) -> list[Row]:
    """Return a line for each response."""
    environment, function = ENVIRONMENTS[benchmark]
    found = []
    for index, (doc, row) in enumerate(zip(rows(benchmark), table(f"{benchmark}_environment"), strict=True)):
        prompt = [{"role": "system", "content": "Be careful."}, {"role": "user", "content": row["prompt"]}]
        for rollout in range(rollouts):
            reply = {"role": "assistant", "content": answer({**doc, "rollout": rollout})}
            score = float((index + rollout) % 3 > 0)
            own = {"example_id": index, "task": environment, "prompt": prompt, "completion": [reply]}
            own |= {"reward": score, "metrics": {function: score}, "total_ms": 13.0, "is_truncated": False}
            found.append({**row, **own})
    return found


def write(folder: Path, benchmark: str, written: Sequence[Row], metadata: dict[str, Any] | None = None) -> Path:
    """Write the file in a folder named as vf-eval does, and return its path."""
    environment = ENVIRONMENTS[benchmark][0]
    path = write_rows(written, folder / f"outputs/evals/ours-{benchmark[3:]}--org--model-7b/0a1b2c3d/results.jsonl")
    about = {"env_id": environment, "env_args": {}, "model": "org/model-7b", "date": "2026-03-04 05:06:07"}
    path.with_name("metadata.json").write_text(json.dumps({**about, **(metadata or {})}))
    return path


def mostly_right(doc: Row) -> str:
    """Return a right answer unless the length of the question is a multiple of four."""
    return right_answer(doc) if len(str(doc["question"])) % 4 else "<think>hm</think> I cannot say."


def imported(path: Path, folder: Path, **settings: Any) -> tuple[Run, list[str]]:
    (result,) = import_runs(path, folder, data="sample", **settings)
    assert isinstance(result, Imported)
    (run,) = read_runs(result.path)
    return run, result.problems


@pytest.fixture(scope="module")
def run_of_four(tmp_path_factory):
    """Import runs of all environments, of one model and date, with one command."""
    folder = tmp_path_factory.mktemp("four")
    for benchmark in ENVIRONMENTS:
        write(folder / "theirs", benchmark, lines(benchmark, mostly_right))
    succeed("import", folder / "theirs", "-o", folder / "out", "--data", "sample")
    with pytest.raises(MedtasksError, match="medtasks import"):
        read_runs(folder / "theirs")
    (run,) = read_runs(folder / "out")
    return run


@pytest.mark.parametrize("benchmark", ENVIRONMENTS)
def test_an_import_writes_the_same_files_as_the_harness(benchmark, run_of_four, tmp_path):
    function, name, run = ENVIRONMENTS[benchmark][1], TASK_OF[benchmark], run_of_four
    assert (run.model, run.date, len(run.tasks)) == ("org/model-7b", "2026-03-04T05-06-07", 4)
    task = run.tasks[name]
    assert (task.benchmark.name, task.problems, run.problems) == (benchmark, [], [])
    metadata = {"medexqa": {"use_explanations": False}}
    (theirs,) = read_runs(save_run(tmp_path / "ours", mostly_right, tasks=name, metadata=metadata))
    harness = theirs.tasks[name]
    assert (task.asked, task.available) == (harness.asked, harness.available)
    ours = {key for key in task.metrics if not key[0].startswith("env_")}
    assert ours == harness.metrics.keys(), "no costly metrics of explanations"
    for key, value in harness.metrics.items():
        assert task.metrics[key].value == pytest.approx(value.value), key
        assert task.metrics[key].stderr == (value.stderr and pytest.approx(value.stderr)), key
    compared = attrgetter("doc_hash", "target", "answers", "cluster", "stratum", "scores")
    for ours, other in zip(task.samples, harness.samples, strict=True):
        assert compared(ours) == compared(other)
        for filter_name, metrics in other.metrics.items():
            assert metrics.items() <= ours.metrics[filter_name].items()
        scores = ours.details[STRICT]["other_scores"]
        assert scores.keys() == {"env_reward", f"env_{function}"} and len({*scores.values()}) == 1


@each_row("names_of_runs")
def test_names_in_a_run_never_lead_out_of_the_folder(name, names, tmp_path):
    path = write(tmp_path / "theirs", "medmcqa", lines("medmcqa", mostly_right), names)
    run, _ = imported(path, tmp_path / "deep" / "out")
    assert run.model == names.get("model", "org/model-7b")
    new = [file for file in tmp_path.rglob("*") if file.is_file() and "theirs" not in file.parts]
    assert len(new) == 2 and {file.parents[1] for file in new} == {tmp_path / "deep" / "out"}


def test_rollouts_of_an_example_are_its_generations(tmp_path):
    def second_wrong(doc):
        return right_answer(doc) if doc["rollout"] != 1 else "No."

    written = lines("medhallu", second_wrong, 4)
    written[0]["seen"] = 1  # which the others of its example lack
    path = write(tmp_path, "medhallu", written[::-1])
    run, problems = imported(path, tmp_path / "out")
    task, samples = run.tasks["medhallu"], run.tasks["medhallu"].samples
    assert [sample.doc_id for sample in samples] == [*range(len(rows("medhallu")))] and problems == []
    assert (task.asked, task.source) == (len(samples), str(path))
    assert task.remarks == [f"imported from {path}"]
    for sample in samples:
        assert len(sample.responses) == len(sample.answers[STRICT]) == len(sample.scores[STRICT]["acc"]) == 4
        assert sample.metrics[STRICT]["acc"] == 0.75
        assert sample.metrics[STRICT]["env_reward"] in (pytest.approx(0.5), pytest.approx(0.75))


def test_responses_to_unknown_rows_or_tasks_are_one_error(tmp_path):
    path = write_rows([{"prompt": "2 + 2?", "completion": "4"}], tmp_path / "gsm8k--m" / "1" / "results.jsonl")
    with pytest.raises(MedtasksError, match="left out those whose prompt shows no document of medhallu: 1"):
        imported(path, tmp_path, task="medhallu")
    for name, said in {"medhalu": "did you mean medhallu", "medexqa": "is not a single .*; use medexqa_all,"}.items():
        with pytest.raises(UsageError, match=said):
            imported(path, tmp_path, task=name)


def test_turns_with_tools_end_in_the_last_reply(tmp_path):
    (line, *_) = lines("medcalc_bench", right_answer)
    final = line["completion"][-1]
    call = {"role": "assistant", "content": None, "tool_calls": ['{"name": "calculator"}']}
    line["completion"] = [call, {"role": "tool", "content": "<answer>1</answer>"}, final]
    run, _ = imported(write(tmp_path, "medcalc_bench", [line]), tmp_path / "out", task="medcalc_bench_calculator")
    (sample,) = run.tasks["medcalc_bench_calculator"].samples
    assert sample.responses == [final["content"]] and sample.metrics[STRICT]["acc"] == 1.0


def test_answers_in_boxes_are_read_where_the_environment_asked_for_them(tmp_path):
    written = lines("medcalc_bench", lambda doc: f"\\boxed{{{doc['shown_truth']}}} <answer>none</answer>")
    about = {"env_args": {"answer_format": "boxed"}}
    run, _ = imported(write(tmp_path, "medcalc_bench", written, about), tmp_path / "out")
    assert run.tasks["medcalc_bench"].metrics["acc", STRICT].value == 1


# ---- other harnesses


@each_row("files_of_others")
def test_a_file_of_another_harness_is_read_as_its_row_says(name, files, path, fields, expected, tmp_path):
    """Its run, and each response, of which the row says a part; an error is a text, in which FILE is the path."""
    for file, content in files.items():
        place = tmp_path / file
        place.parent.mkdir(parents=True, exist_ok=True)
        lines = content if isinstance(content, list) and place.suffix == ".jsonl" else [content]
        place.write_text(content if isinstance(content, str) else "\n".join(map(json.dumps, lines)))
    given = tmp_path / path, Fields(**fields)
    if isinstance(expected, str):
        assert error_line(MedtasksError, read_other_run, *given).replace(str(given[0]), "FILE") == expected
        return
    run = read_other_run(*given)
    responses = [{**vars(each.reply), **each._asdict()} for each in run.responses]
    found = {key: getattr(run, key) for key in expected} | {
        "problems": [problem.replace(str(run.path), "FILE") for problem in run.problems],
        "responses": [
            {key: each[key] for key in of_row}
            for each, of_row in zip(responses, expected.get("responses", responses), strict=True)
        ],
    }
    assert {key: json.loads(json.dumps(found[key])) for key in expected} == expected
    assert not run.problems or "problems" in expected


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.csv", "k,said\n1,A\n".encode("utf-16")), ("a.tsv.gz", gzip.compress(b"k\tsaid\n1\tA\n", mtime=0))],
)
def test_a_table_in_another_encoding_is_read(name, content, tmp_path):
    (tmp_path / name).write_bytes(content)
    (response,) = read_other_run(tmp_path / name, Fields(["k"], "said")).responses
    assert (response.id, response.reply, response.place) == (("1",), "A", "row 1")


@each_row("functions_of_elsewhere")
def test_a_function_of_imports_returns_what_its_row_says(name, place, expected):
    assert at(place, expected) == expected


def pack(folder: Path) -> None:
    """Write a log in inspect_ai's default form, an archive with Zstandard, which Python 3.14 can write."""
    log = json.loads((folder / "log.json").read_text())
    with zipfile.ZipFile(folder / "log.eval", "w") as archive:
        archive.writestr("header.json", json.dumps({"eval": log["eval"]}))
        for sample in log["samples"]:
            name = f"samples/{sample['id']}_epoch_1.json"
            archive.writestr(name, pyarrow.compress(json.dumps(sample).encode(), codec="zstd", asbytes=True))
            archive.getinfo(name).compress_type = 93


@each_row("logs_of_others")
def test_runs_of_other_harnesses_keep_their_scores_and_ends(name, by, tmp_path, capsys):
    path = Path(shutil.copytree(Path(__file__).parent / "other_harnesses", tmp_path / "of-MedCalc-Bench")) / name
    pack(path.parent)
    run, (problem,) = imported(path, tmp_path)
    assert run.model == "org/m" and "left out records without a text response: 1 (" in problem
    task = run.tasks["medcalc_bench"]
    assert [task.metrics[metric, STRICT].value for metric in ("acc", "cut", f"{by}_note")] == [1, 1, 0.25]
    scores = [sample.details[STRICT]["other_scores"] for sample in task.samples]
    assert scores == [{f"{by}_match": 0}, {f"{by}_match": 1, f"{by}_note": 0.5}, {f"{by}_match": 1, f"{by}_note": 0}]
    succeed("compare", run.path)
    text = capsys.readouterr().out
    assert "66.7 % of 3 verdicts agree" in text and "only ours right  tag" in text
    succeed("import", path.parent, "--data", "sample", "-o", tmp_path)
    assert capsys.readouterr().out.count("results_") == 2


@pytest.mark.parametrize("form", ["jsonl", "csv"])
@each_row("ids")
def test_lines_of_any_form_are_matched_by_an_id(benchmark, fields, form, tmp_path, capsys):
    names = fields if len(fields) > 1 else ["key"]
    docs = rows(benchmark)
    written = [
        {**{name: f" {doc[field]}" for name, field in zip(names, fields, strict=True)}, "said": right_answer(doc)}
        for doc in docs
    ]
    written += [written[0], {**written[1], names[0]: "nowhere"}]
    assert import_records(benchmark, written, tmp_path, ids=",".join(names), form=form) == 0
    errors = capsys.readouterr().err
    assert "responses, left out those whose id matches no document" in errors
    second = f"{'line' if form == 'jsonl' else 'row'} {len(docs) + 1}"
    assert f"documents with several responses, used as generations: 1 ({second})" in errors
    (run,) = read_runs(tmp_path)
    (task,) = run.tasks.values()
    assert (run.model, task.metrics["acc", STRICT].value, len(task.samples)) == ("x", 1, len(docs))
    assert not any("other_scores" in sample.details[STRICT] for sample in task.samples)


# ---- what a record says about its row


SHOWN = (2, 0, 3, 1)  # the choices in the order in which a record shows them as A to D


def recorded(template: Any, doc: Row, other: Row) -> Any:
    """Return a field of a record: a text with fields of its row or of another (``other``), or its choices in order."""
    if isinstance(template, dict):
        return {name: recorded(value, doc, other) for name, value in template.items()}
    if isinstance(template, list):
        return [recorded(value, doc, other) for value in template]
    seen = [doc["options"][place] for place in SHOWN] if "options" in doc else []
    return template.format(seen=seen, other=other, **doc) if isinstance(template, str) else template


def import_records(
    benchmark: str, written: Sequence[Row], folder: Path, *words: str | Path, ids: str = "key", form: str = "jsonl"
) -> int:
    path = folder / f"x.{form}"
    write_rows(written, path) if form != "json" else path.write_text(json.dumps(written))
    flags = ("--task", TASK_OF[benchmark], "--id", ids, "--response", "said", "--data", "sample", "-o", folder / "out")
    return exit_code(["import", path, *flags, *words])


@each_row("choices_shown")
def test_letters_mean_the_choices_that_the_record_shows(name, benchmark, fields, letters, tmp_path, capsys):
    written, said = [], []
    for doc in rows(benchmark):
        letter = "ABCD"[SHOWN.index(doc["answer_idx"])] if letters == "shown" else doc["answer_letter"]
        record = recorded(fields, doc, doc)
        written.append({"key": doc["question"], **record, "said": f"The answer is ({letter})."})
        said.append(letter)
    assert import_records(benchmark, written, tmp_path) == 0
    (run,) = read_runs(tmp_path)
    (task,) = run.tasks.values()
    assert task.metrics["acc", "flexible-extract"].value == 1
    letters_of = [sample.answers["flexible-extract"] for sample in task.samples]
    assert letters_of == [[doc["answer_letter"]] for doc in rows(benchmark)]
    assert task.benchmark
    # What else reads the responses sees the choices as the model saw them.
    for sample, letter in zip(task.samples, said, strict=True):
        item = Item(task.benchmark, sample, 0)
        assert item.answer_of("flexible-extract") == letter and item.is_right(letter)
        assert item.example["options"]["ABCD".index(letter)] == sample.doc["options"][sample.doc["answer_idx"]]
        assert f"A. {sample.doc['options'][SHOWN[0] if letters == 'shown' else 0]}\n" in sample.prompt
    capsys.readouterr()
    succeed("extract", run.path, "--task", task.task)
    shown = capsys.readouterr().out
    right, read = (re.findall(f"{what}: ([A-D])", shown) for what in ("right", "flexible-extract"))
    assert right == read == said


@each_row("records_and_rows")
def test_a_record_of_another_row_is_left_out_and_a_copy_of_the_row_is_not(
    name, benchmark, fields, differs, tmp_path, capsys
):
    docs = rows(benchmark)
    pairs = zip(docs, [*docs[2:], *docs[:2]], strict=True)
    key = {"medhallu": "answer", "medcalc_bench": "row_number"}.get(benchmark, "question")
    written = [{"key": doc[key], **recorded(fields, doc, other), "said": "\\boxed{A}"} for doc, other in pairs]
    code, said = import_records(benchmark, written, tmp_path), capsys.readouterr().err
    assert f"left out those {differs}: " in said if differs else (code, "left out" in said) == (0, False)


def test_files_of_one_name_are_runs_of_their_own_and_a_file_imported_again_is_one(tmp_path, capsys):
    written = [{"key": doc["question"], "said": "\\boxed{A}"} for doc in rows("medmcqa")]
    paths = [write_rows(written[part::2], tmp_path / name / "x.jsonl") for part, name in enumerate("ab")]
    for path in paths:
        os.utime(path, (1, 1))
    words = ("--task", TASK_OF["medmcqa"], "--id", "key", "--response", "said", "--data", "sample", "-o", tmp_path)
    for _ in range(2):
        succeed("import", *paths, *words, "--model", "m", "--json")
        first, second = json.loads(capsys.readouterr().out)
        assert first["written"] != second["written"]
        runs = read_runs(tmp_path / "m")
        assert [run.model for run in runs] == ["m", "m"]
        assert sum(len(task.samples) for run in runs for task in run.tasks.values()) == len(written)
    missing = [*range(1, len(written), 2)]
    assert first["rows"] == {"with_response": len(written[::2]), "of": len(written), "missing": missing}


def test_two_columns_of_one_file_are_two_runs(tmp_path):
    written = [{"key": doc["question"], "first": "\\boxed{A}", "second": "\\boxed{B}"} for doc in rows("medmcqa")]
    path = write_rows(written, tmp_path / "x.csv")
    words = ("--task", TASK_OF["medmcqa"], "--id", "key", "--data", "sample", "-o", tmp_path / "runs")
    for column in ("first", "second", "second"):
        succeed("import", path, *words, "--response", column)
    assert [run.model for run in read_runs(tmp_path / "runs")] == ["x", "x"]


@each_row("verdicts_of_others")
def test_the_other_harness_s_verdict_is_kept_and_compared(form, right, wrong, tmp_path, capsys):
    docs = rows("medmcqa")
    written = [{"key": doc["question"], "said": right_answer(doc), "Result": wrong} for doc in docs]
    written[0]["Result"] = right
    assert import_records("medmcqa", written, tmp_path, "--score", "Result", "--json", form=form) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["agreement"] == {"their_Result": {name: pytest.approx(1 / len(docs)) for name in FILTERS}}
    assert found["scores"]["acc"][STRICT]["value"] == 1 and found["filter"] == STRICT
    assert import_records("medmcqa", written, tmp_path, "--score", "Result", form=form) == 0
    assert re.search(rf"their_Result agrees +{100 / len(docs):.1f} +{100 / len(docs):.1f}\n", capsys.readouterr().out)
    assert import_records("medmcqa", written, tmp_path, "--score", "said", form=form) == 1
    assert "no record has a number, true or false, or right or wrong in --score said" in capsys.readouterr().err


def test_models_in_one_file_are_never_pooled(tmp_path, capsys):
    docs = rows("medmcqa")
    of_right = [{"key": doc["question"], "said": right_answer(doc), "model": "right", "of": "x"} for doc in docs]
    written = [*of_right, *({**record, "said": "no", "model": "wrong"} for record in of_right)]
    written += [{"key": "unknown", "said": "A", "model": "astray"}, {"key": "unknown", "said": "A", "of": "x"}]
    assert import_records("medmcqa", written, tmp_path) == 1
    assert "--split_by model" in capsys.readouterr().err
    for form in ("jsonl", "csv"):
        assert import_records("medmcqa", written, tmp_path, "--split_by", "model", "--json", form=form) == 0
        output = capsys.readouterr()
        assert [run["scores"]["acc"][STRICT]["value"] for run in json.loads(output.out)] == [1, 0]
        assert "astray" in output.err
        assert re.search(r"records without the field model: 1 \((line|row) \d+\)", output.err)
        assert {run.model for run in read_runs(tmp_path / "out")} == {"right", "wrong"}
    elsewhere = tmp_path / "elsewhere.jsonl"  # of a model of the same name as the last
    write_rows([{"key": "unknown", "said": "A", "model": "astray"}], elsewhere)
    flags = ["--task", "medmcqa_openmed", "--id", "key", "--response", "said", "--split_by", "model"]
    for paths, code in ([elsewhere, tmp_path / "x.jsonl"], 0), ([elsewhere], 1):
        assert exit_code(["import", *paths, *flags, "--data", "sample", "-o", tmp_path / "out"]) == code
    for settings in (["--split_by", "nothing"], ["--split_by", "model", "--model", "m"]):
        assert import_records("medmcqa", written, tmp_path, *settings) > 0


def test_responses_that_could_be_to_either_document_of_a_row_are_left_out(tmp_path, capsys):
    docs = [doc for doc in rows("medhallu") if doc["shown"] == "ground_truth"]
    written = [{"key": doc["answer"], "said": f"\\boxed{{{verdict}}}"} for doc in docs for verdict in "01"]
    assert import_records("medhallu", written, tmp_path) == 1
    assert "do not say which shown they are about" in capsys.readouterr().err
    told = [{**line, "target": line["said"][-2]} for line in written[::2]]
    assert import_records("medhallu", told, tmp_path) == 0
    twice = [{"row": doc["row"], "shown": doc["shown"], "said": "\\boxed{0}"} for doc in docs for _ in "ab"]
    assert import_records("medhallu", twice, tmp_path, ids="row,shown") == 0, "an id that says it"


def test_rollouts_of_one_answer_of_a_row_are_kept_where_their_prompts_show_it(tmp_path):
    for said, remark in ("", "every reply is empty (finish reasons: 2 unknown)"), ("I", "cut nor filtered: 1 of 2"):
        written = lines("medhallu", lambda doc: "", 2)[:2]
        written[1]["completion"][0]["content"] = said
        run, _ = imported(write(tmp_path, "medhallu", written), tmp_path)
        (task,) = run.tasks.values()
        assert [len(sample.responses) for sample in task.samples] == [2] and remark in "".join(task.remarks)


def test_verdicts_agree_if_both_or_neither_are_above_one_half():
    """Only verdicts from 0 to 1 on all examples are compared."""
    values: Values = {
        ("acc", "f"): [ExampleScore([share]) for share in (0.5, 0.51, 1.0)],
        ("x", "f"): [0.5, 0.51, 1.0],
        ("of_some", "f"): [1.0],
        ("points", "f"): [1.0, 2.0, 0.0],
    }
    assert agreement_of(values) == {"x": {"f": 1.0}}


def test_answers_of_all_examples_of_a_row_are_generations(tmp_path):
    written = [{"key": doc["answer"], "said": "\\boxed{1}"} for doc in rows("medhallu") for _ in "12"]
    assert import_records("medhallu", written, tmp_path) == 0
    (run,) = read_runs(tmp_path)
    assert {len(sample.responses) for sample in run.tasks["medhallu"].samples} == {2}


@pytest.mark.parametrize(("wrong", "of", "too_many"), [(2, 5, True), (1, 3, False)])
def test_if_a_third_of_the_records_has_another_answer_they_are_of_other_rows(wrong, of, too_many, tmp_path, capsys):
    written = []
    for number, doc in enumerate(rows("medmcqa")[:of]):
        letter = "ABCD"[(doc["answer_idx"] + (number < wrong)) % 4]
        written.append({"key": doc["question"], "answer_letter": letter, "said": "\\boxed{A}"})
    import_records("medmcqa", written, tmp_path)
    assert ("about different rows" in capsys.readouterr().err) == too_many


@pytest.mark.parametrize(("wrong", "stated", "too_many"), [(4, 4, False), (5, 14, True), (5, 16, False)])
def test_replies_whose_letters_stand_for_other_choices_were_shown_another_order(
    wrong, stated, too_many, tmp_path, capsys
):
    """Of 16 replies, some state a choice with its letter, and some of these with the letter of another choice."""
    written = []
    for number, doc in enumerate(rows("medmcqa")[:16]):
        letter, choice = "ABCD"[number < wrong], doc["options"][0]
        said = f"{letter}. {choice}" if number < stated else "\\boxed{A}"
        written.append({"key": doc["question"], "said": said})
    import_records("medmcqa", written, tmp_path)
    assert ("in an order that the file does not state" in capsys.readouterr().err) == too_many


def test_a_folder_with_traces_of_episodes_is_imported(tmp_path, capsys):
    shutil.copytree(Path(__file__).parent / "verifiers", tmp_path / "medhallu--x--null--1")
    succeed("import", tmp_path, "--data", "sample", "-o", tmp_path / "out", "--json")
    (run,) = read_runs(tmp_path / "out")
    output, errors = capsys.readouterr()
    assert "records without a text response: 1 (line 3)" in errors
    assert [*json.loads(output)[0]["scores"]] == ["acc", "unsure_rate", "answered"]
    assert run.model == "org/m" and run.tasks["medhallu"].samples[0].tokens == [7]
