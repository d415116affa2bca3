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
from functools import cache
from operator import attrgetter
from pathlib import Path

import pyarrow
import pytest
from commanding import exit_code, succeed
from given import TASK_OF, each_row, table, write_rows
from places import as_its_row_says, at
from running import documents_of, right_answer
from saved_runs import save_run

from medtasks_utils.audit.auditor import Item
from medtasks_utils.elsewhere.other_runs import Fields, read_other_run
from medtasks_utils.elsewhere.saving import Imported, import_runs
from medtasks_utils.errors import MedtasksError
from medtasks_utils.results import read_runs

STRICT = "strict-match"
ENVIRONMENTS = {
    # benchmark: the environment, its reward function
    "medmcqa": ("med-mcqa", "accuracy"),
    "medexqa": ("medexqa", "combined_reward"),
    "medcalc_bench": ("medcalc-bench", "check_correctness"),
    "medhallu": ("medhallu", "medhallu_reward"),
}


@cache
def rows(benchmark):
    """Return the sample's documents in the harness's form."""
    return documents_of(TASK_OF[benchmark])


def lines(benchmark, answer, rollouts=1):
    """Return a line for each response."""
    environment, function = ENVIRONMENTS[benchmark]
    found = []
    for index, (doc, row) in enumerate(zip(rows(benchmark), table(f"{benchmark}_environment"), strict=True)):
        prompt = [{"role": "system", "content": "Be careful."}, {"role": "user", "content": row["prompt"]}]
        for rollout in range(rollouts):
            reply = {"role": "assistant", "content": answer({**doc, "rollout": rollout})}
            score = float((index + rollout) % 3 > 0)
            own = {"example_id": index, "task": environment, "prompt": prompt, "completion": [reply]}
            found.append({**row, **own, "reward": score, "metrics": {function: score}, "is_truncated": False})
    return found


def write(folder, benchmark, written, **metadata):
    """Write the file in a folder named as vf-eval does, and return its path."""
    path = write_rows(written, folder / f"outputs/evals/ours-{benchmark[3:]}--org--model-7b/0a1b2c3d/results.jsonl")
    about = {"env_id": ENVIRONMENTS[benchmark][0], "model": "org/model-7b", "date": "2026-03-04 05:06:07", **metadata}
    path.with_name("metadata.json").write_text(json.dumps(about))
    return path


def mostly_right(doc):
    """Return a right answer unless the length of the question is a multiple of four."""
    return right_answer(doc) if len(str(doc["question"])) % 4 else "<think>hm</think> I cannot say."


def imported(path, folder, **settings):
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
    assert (run.model, run.date, len(run.tasks), run.problems) == ("org/model-7b", "2026-03-04T05-06-07", 4, [])
    metadata = {"medexqa": {"use_explanations": False}}
    (theirs,) = read_runs(save_run(tmp_path, mostly_right, tasks=name, metadata=metadata))
    task, harness = run.tasks[name], theirs.tasks[name]
    about = attrgetter("benchmark.name", "problems", "asked", "available")
    assert about(task) == about(harness)
    ours = {key: metric for key, metric in task.metrics.items() if not key[0].startswith("env_")}
    for field in map(attrgetter, ("value", "stderr")):
        expected = {key: field(metric) for key, metric in harness.metrics.items()}
        assert {key: field(metric) for key, metric in ours.items()} == pytest.approx(expected)
    compared = attrgetter("doc_hash", "target", "answers", "cluster", "stratum", "scores")
    for sample, other in zip(task.samples, harness.samples, strict=True):
        assert compared(sample) == compared(other)
        for filter_name, metrics in other.metrics.items():
            assert metrics.items() <= sample.metrics[filter_name].items()
        scores = sample.details[STRICT]["other_scores"]
        assert scores.keys() == {"env_reward", f"env_{function}"} and len({*scores.values()}) == 1


@each_row("names_of_runs")
def test_names_in_a_run_never_lead_out_of_the_folder(name, names, tmp_path):
    path = write(tmp_path / "theirs", "medmcqa", lines("medmcqa", mostly_right), **names)
    run, _ = imported(path, tmp_path / "deep" / "out")
    assert run.model == names.get("model", "org/model-7b")
    new = [file for file in tmp_path.rglob("*") if file.is_file() and "theirs" not in file.parts]
    assert [file.parents[1] for file in new] == [tmp_path / "deep" / "out"] * 2


def test_rollouts_of_an_example_are_its_generations(tmp_path):
    written = lines("medhallu", lambda doc: right_answer(doc) if doc["rollout"] != 1 else "", 4)
    written[0]["seen"] = 1  # which the others of its example lack
    path = write(tmp_path, "medhallu", written[::-1])
    run, problems = imported(path, tmp_path / "out")
    task = run.tasks["medhallu"]
    about = problems, task.asked, task.source
    assert about == ([], len(rows("medhallu")), str(path))
    empty = "empty replies that were neither cut nor filtered: 28 of 112"
    assert task.remarks == [f"imported from {path}", empty]
    for place, sample in enumerate(task.samples):
        assert (sample.doc_id, sample.metrics[STRICT]["acc"]) == (place, 0.75)
        assert sample.metrics[STRICT]["env_reward"] in (pytest.approx(0.5), pytest.approx(0.75))
        assert len(sample.responses) == len(sample.answers[STRICT]) == len(sample.scores[STRICT]["acc"]) == 4


def test_answers_in_boxes_are_read_where_the_environment_asked_for_them(tmp_path):
    written = lines("medcalc_bench", lambda doc: f"\\boxed{{{doc['shown_truth']}}} <answer>none</answer>")
    run, _ = imported(write(tmp_path, "medcalc_bench", written, env_args={"answer_format": "boxed"}), tmp_path)
    assert run.tasks["medcalc_bench"].metrics["acc", STRICT].value == 1


# ---- other harnesses


@each_row("files_of_others")
def test_a_file_of_another_harness_is_read_as_its_row_says(name, files, path, fields, facts, tmp_path):
    """A fact is what stands at a place of the run, or an error; in texts, FILE is the path."""
    for file, content in files.items():
        place = tmp_path / file
        place.parent.mkdir(parents=True, exist_ok=True)
        lines = content if isinstance(content, list) and place.suffix == ".jsonl" else [content]
        place.write_text(content if isinstance(content, str) else "\n".join(map(json.dumps, lines)))
    for where, expected in facts:
        found = at([[], *where], expected, lambda: read_other_run(tmp_path / path, Fields(**fields)))
        assert json.loads(json.dumps(found).replace(str(tmp_path / path), "FILE")) == expected


@each_row("encodings")
def test_a_file_in_another_encoding_is_read(name, encoding, text, tmp_path):
    content = text.encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(content, mtime=0) if name.endswith("gz") else content)
    (response,) = read_other_run(tmp_path / name, Fields(["k"], "said")).responses
    assert (response.id, response.reply) == (("1",), "A")


test_a_function_of_imports_returns_what_its_row_says = as_its_row_says("functions_of_elsewhere")


def pack(folder):
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


# ---- what a record says about its row


SHOWN = (2, 0, 3, 1)  # the choices in the order in which a record shows them as A to D


def recorded(template, known):
    """Return a field of a record, whose texts may name what is known of its row."""
    if isinstance(template, dict):
        return {name: recorded(value, known) for name, value in template.items()}
    if isinstance(template, list):
        return [recorded(value, known) for value in template]
    return template.format(**known) if isinstance(template, str) else template


def known_of(task):
    """Return what records may say: a document, another, a right reply, the choices as shown, and letters."""
    docs = documents_of(task)
    known = [{**doc, "other": docs[place - 2], "right": right_answer(doc)} for place, doc in enumerate(docs)]
    for doc in known:
        if "options" in doc:
            doc["seen"] = [doc["options"][place] for place in SHOWN]
            doc["seen_letter"] = "ABCD"[SHOWN.index(doc["answer_idx"])]
            doc["wrong_letter"] = "BCDA"[doc["answer_idx"]]
    return known


@each_row("imports")
def test_what_an_import_prints_of_records_is_what_their_row_says(name, words, blocks, lines, tmp_path, capsys, caplog):
    """A block of records is a slice of the task's documents and a template.

    The lines are those of all outputs, but for metrics that the row leaves out.
    """
    file, _, task, *flags = words.split()
    known, path = known_of(task), tmp_path / file
    write_rows([recorded(template, doc) for place, template in blocks for doc in known[slice(*place)]], path)
    exit_code(["import", path, "--task", task, *flags, "--data", "sample", "-o", tmp_path])
    said = "\n".join([*capsys.readouterr(), *caplog.messages]).replace(str(path), "FILE")
    said = re.sub(rf"{tmp_path}/(\w+)/results_\S*", r"\1:", said)
    printed = (" ".join(line.split()) for line in said.splitlines() if line)
    assert [line for line in printed if line in lines or not re.fullmatch(r"\w+( [\d.–]+)+", line)] == lines


def test_what_reads_samples_sees_the_choices_as_the_model_saw_them(tmp_path, capsys):
    known = known_of("medmcqa_openmed")
    record = {"key": "{question}", "options": [f"{{seen[{place}]}}" for place in range(4)], "said": "({seen_letter})"}
    path = write_rows([recorded(record, doc) for doc in known], tmp_path / "x.jsonl")
    run, _ = imported(path, tmp_path, task="medmcqa_openmed", fields=Fields(["key"], "said"))
    task, letters = run.tasks["medmcqa_openmed"], [doc["seen_letter"] for doc in known]
    assert task.benchmark
    for sample, letter in zip(task.samples, letters, strict=True):
        item = Item(task.benchmark, sample, 0)
        assert item.answer_of("flexible-extract") == letter and item.is_right(letter)
        assert item.example["options"]["ABCD".index(letter)] == sample.doc["options"][sample.doc["answer_idx"]]
        assert f"A. {sample.doc['options'][SHOWN[0]]}\n" in sample.prompt
    succeed("extract", run.path, "--task", task.task)
    shown = capsys.readouterr().out
    for what in ("right", "flexible-extract"):
        assert re.findall(f"{what}: ([A-D])", shown) == letters


KEYED = ("--task", TASK_OF["medmcqa"], "--id", "key", "--data", "sample")


def test_files_of_one_name_are_runs_of_their_own_and_a_file_imported_again_is_one(tmp_path, capsys):
    written = [{"key": doc["question"], "said": "\\boxed{A}"} for doc in rows("medmcqa")]
    paths = [write_rows(written[part::2], tmp_path / name / "x.jsonl") for part, name in enumerate("ab")]
    for path in paths:
        os.utime(path, (1, 1))
    for _ in range(2):
        succeed("import", *paths, *KEYED, "--response", "said", "-o", tmp_path, "--model", "m", "--json")
        found = json.loads(capsys.readouterr().out)
        one, other = (task for run in read_runs(tmp_path / "m") for task in run.tasks.values())
        assert len(one.samples) == len(other.samples) == 8 and one.available == 16
        assert found[1]["written"].endswith(".000001.json")
    assert found[0]["rows"] == {"with_response": 8, "of": 16, "missing": [*range(1, 16, 2)]}


def test_two_columns_of_one_file_are_two_runs(tmp_path):
    written = [{"key": doc["question"], "first": "\\boxed{A}", "second": "\\boxed{B}"} for doc in rows("medmcqa")]
    path = write_rows(written, tmp_path / "x.csv")
    for column in ("first", "second", "second"):
        succeed("import", path, *KEYED, "--response", column, "-o", tmp_path / "runs")
    assert [run.model for run in read_runs(tmp_path / "runs")] == ["x", "x"]


def test_a_folder_with_traces_of_episodes_is_imported(tmp_path, capsys):
    shutil.copytree(Path(__file__).parent / "verifiers", tmp_path / "medhallu--x--null--1")
    succeed("import", tmp_path, "--data", "sample", "-o", tmp_path / "out")
    (run,) = read_runs(tmp_path / "out")
    assert "records without a text response: 1 (line 3)" in capsys.readouterr().err
    assert run.model == "org/m" and run.tasks["medhallu"].samples[0].tokens == [7]
