"""Sources of rows: every format and layout gives the same documents, or one error."""

import hashlib
import json
import re
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import huggingface_hub
import pytest
from fake_hub import Hub
from given import FILE, ROW, TASK, TASKS, each_row, error_line, medmcqa_rows, sample_rows, write_rows
from huggingface_hub.utils import filter_repo_objects
from lm_eval.tasks import TaskManager
from pinned_sample import CONTENT, REAL, REPOSITORY, SERVED
from running import documents, documents_of, evaluate, load

from medtasks_utils.benchmarks.medcalc_bench.benchmark import BENCHMARK as CARD
from medtasks_utils.errors import DataError, MedtasksError
from medtasks_utils.harness import sources
from medtasks_utils.harness.sources import SAMPLE

FORMATS = ("parquet", "jsonl", "csv", "tsv")


message_of = partial(error_line, DataError, load)


# ---- formats and layouts

ODD = 'He said "5\t%",\nthen:\r\n\u2028- Größe, 血糖 < 5; "quoted" ' + "x " * 70_000


@pytest.mark.parametrize("suffix", FORMATS)
@each_row("files_of_tasks")
def test_every_format_of_every_benchmark_loads_the_same_documents(task, files, data, suffix):
    for source in files:
        rows = sample_rows(source)
        if suffix == "parquet" and "Calculator ID" in rows[0]:
            rows = [{**row, "Calculator ID": int(row["Calculator ID"])} for row in rows]
        path = (data / source).with_suffix(f".{suffix}")
        write_rows(rows, path, header=task != "medexqa_all" or suffix not in ("csv", "tsv"))
    assert documents_of(task, data) == documents_of(task)


@pytest.mark.parametrize("suffix", FORMATS)
def test_quotes_tabs_newlines_other_scripts_and_long_cells_survive(data, suffix):
    write_rows(medmcqa_rows(4, question=ODD), data / "medmcqa" / f"validation.{suffix}")
    assert documents_of("medmcqa_openmed", data)[0]["question"] == ODD
    texts = {**dict(zip("ABCD", ["None", "NA", "", "nan"], strict=True)), "question": "null", "explanation_2": "N/A"}
    path = (data / FILE["medexqa"]).with_suffix(f".{suffix}")
    write_rows([{**ROW["medexqa"], **texts}], path, header=suffix not in ("csv", "tsv"))
    (doc,) = documents_of(TASK["medexqa"], data)
    assert [doc["question"], doc["explanation_2"], *doc["options"]] == ["null", "N/A", "None", "NA", "", "nan"]


@each_row("layouts")
def test_rows_are_found_in_every_layout_of_folders_and_files(task, benchmark, layout, data):
    source = "medcalc_bench/corrected.csv" if task.endswith("corrected") else FILE[benchmark]
    rows = sample_rows(source)
    share = -(-len(rows) // len(layout))
    for number, name in enumerate(layout):
        write_rows(rows[number * share : (number + 1) * share], data / benchmark / name)
    # Neighbours that must not be taken for it.
    write_rows(medmcqa_rows(3, cop=-1), data / "medmcqa" / "test.parquet")
    write_rows(sample_rows("medhallu/pqa_artificial.jsonl"), data / "medhallu" / "pqa_artificial.csv")
    ((data / benchmark / layout[0]).parent / "._0000.jsonl").write_bytes(b"\x00\x05\x16\x07")
    other = "verified" if "1.2" in layout[0] else "1.2"
    write_rows([ROW["medcalc_bench"]], data / "medcalc_bench" / other / "test.tsv")
    assert documents_of(task, data) == documents_of(task)


@each_row("line_ends")
def test_byte_order_marks_and_line_ends_make_no_difference(pattern, written, data):
    for benchmark in ("medmcqa", "medexqa", "medhallu"):
        (data / FILE[benchmark]).parent.mkdir(exist_ok=True)
        content = (SAMPLE / FILE[benchmark]).read_bytes()
        (data / FILE[benchmark]).write_bytes(re.sub(pattern.encode(), written.encode(), content))
        assert documents_of(TASK[benchmark], data) == documents_of(TASK[benchmark])


# ---- what is missing or cannot be read


@each_row("files_with_mistakes")
def test_rows_that_cannot_be_read_are_one_error_that_says_where(name, task, files, says, tmp_path):
    """A file has rows or a text; DATA stands for the data directory."""
    data = tmp_path / "data"
    for file, content in files.items():
        if isinstance(content, list):
            write_rows(content, data / file)
        else:
            (data / file).parent.mkdir(parents=True, exist_ok=True)
            (data / file).write_text(content, "latin-1")
    message = message_of(task, data).replace(str(data), "DATA")
    assert [text for text in says if text not in message] == []


def test_a_json_array_has_a_row_per_element_and_bytes_become_text(data):
    rows = medmcqa_rows(4)
    (data / "medmcqa" / "validation.json").write_text(json.dumps(rows, indent=1))
    documents = documents_of("medmcqa_openmed", data)
    (data / "medmcqa" / "validation.json").unlink()
    write_rows([{**row, "question": row["question"].encode()} for row in rows], data / "medmcqa" / "validation.parquet")
    assert documents_of("medmcqa_openmed", data) == documents
    write_rows([{**row, "question": b"\xff"} for row in rows], data / "medmcqa" / "validation.parquet")
    assert "row 1: 'utf-8' codec" in message_of("medmcqa_openmed", data)


@pytest.mark.parametrize("end", [0, 9, -9])
def test_a_cut_parquet_file_is_one_error(end, data):
    path = write_rows(medmcqa_rows(4), data / "medmcqa" / "validation.parquet")
    path.write_bytes(path.read_bytes()[:end])
    assert "cannot read" in message_of("medmcqa_openmed", data)


# ---- which source


@pytest.fixture
def asked(monkeypatch):
    """Record the repository, revision and patterns of downloads from the Hub, which are the bundled sample."""
    asked = []

    def download(repository, *, repo_type, revision, allow_patterns, local_files_only):
        assert repo_type == "dataset" and local_files_only, "the tests' hub is out of reach"
        asked.append((repository, revision, allow_patterns))
        plain = repository.lower().replace("-", "_")
        return str(SAMPLE / next(name for name in TASK if name in plain))

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    return asked


def test_a_hub_out_of_reach_is_one_line_at_once(monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", Mock(side_effect=ConnectionError("no route")))
    monkeypatch.setattr("huggingface_hub.utils._http.http_backoff", Mock(side_effect=AssertionError("asked again")))
    assert re.search(r"cannot be downloaded \(no route\).*medtasks fetch", message_of("medcalc_bench", "hub"))


def test_the_variable_names_the_source_and_the_metadata_overrides_it(data, asked, monkeypatch):
    def count(metadata):
        tasks = TaskManager(include_path=str(TASKS), include_defaults=False, metadata=metadata)
        return len(documents(tasks.load(["medmcqa_openmed"])["tasks"]["medmcqa_openmed"]))

    write_rows(medmcqa_rows(2), data / "medmcqa" / "validation.jsonl")
    monkeypatch.setenv("HOME", str(data.parent))
    monkeypatch.setenv("MEDTASKS_DATA", f"~/{data.name}")
    assert (count({}), count({"medtasks_data": "sample"})) == (2, 16)
    with pytest.raises(DataError, match="no folder 5"):
        count({"medtasks_data": 5})
    assert asked == []
    monkeypatch.delenv("MEDTASKS_DATA")
    count({})
    assert len(asked) == 1


@each_row("repositories")
def test_each_task_downloads_its_files_at_its_revision(task, repository, revision, files, options, others, asked):
    assert documents_of(task, Path("hub"), revision="a model's own") == documents_of(task)
    for *of, patterns in asked:
        assert of == [repository, revision]
        assert list(filter_repo_objects(files, allow_patterns=patterns)) == files
    benchmark = next(name for name in TASK if task.startswith(name))
    asked.clear()
    load(task, "hub", **{benchmark: {"revision": "other", **options}})
    assert [of for *of, _ in asked] == [[repository, "other"], *others], "the pinned revision of solved examples stays"


# ---- real rows


@each_row("real_rows")
def test_the_real_data_sets_have_the_expected_numbers_of_rows(task, examples, shared):
    assert len(documents_of(task, shared / "data")) == examples


# ---- files of a GitHub repository at one commit: downloaded once, checked and cached, or one error


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Serve the sample's rows in place of the pinned repository, with an empty cache."""
    monkeypatch.setitem(CARD.data.repositories, "corrected", REPOSITORY)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    with Hub(raw=SERVED) as hub:
        monkeypatch.setenv(sources.ADDRESS_VARIABLE, hub.base + "/")
        yield hub


def numbers():
    return [doc["row_number"] for doc in documents_of("medcalc_bench_corrected", "hub")]


def test_a_pinned_file_is_downloaded_once_and_then_read_offline(server, monkeypatch):
    assert numbers() == [row["Unique ID"] for row in sample_rows("medcalc_bench/corrected.csv")]
    assert [path for _, path in server.asked] == list(server.raw)
    assert {path.name for path in sources.cached_folder(REPOSITORY).iterdir()} == {f.name for f in REPOSITORY.files}
    server.asked.clear()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    found = evaluate("medcalc_bench_corrected", data="hub")
    assert server.asked == []
    signature = found["configs"]["medcalc_bench_corrected"]["metadata"]["signature"]["strict-match"]
    assert f"data:hub@{str(REAL.revision)[:8]}" in signature


def test_a_download_with_another_checksum_is_an_error_and_is_not_kept(server):
    server.raw[next(iter(server.raw))] = CONTENT + b"\n"
    with pytest.raises(DataError, match="SHA256"):
        numbers()
    assert not list(sources.cached_folder(REPOSITORY).glob("*"))


@pytest.mark.parametrize(
    ("offline", "says"),
    [
        (False, r"corrected.csv of .* is neither in the cache .* nor available from .*404.*medtasks fetch"),
        (True, r"neither in the cache .*HF_HUB_OFFLINE"),
    ],
)
def test_a_pinned_file_that_cannot_be_downloaded_is_one_error(server, offline, says, monkeypatch):
    server.raw.clear()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", offline)
    with pytest.raises(MedtasksError, match=says):
        numbers()
    assert len(server.asked) == (not offline)


def test_a_plain_run_uses_the_other_labels_only_where_they_are_cached(server, data, monkeypatch):
    for name in ("test.csv", "one_shot.csv"):
        write_rows(sample_rows(f"medcalc_bench/{name}"), data / name)
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *given, **settings: str(data))
    found = evaluate("medcalc_bench", data="hub")
    assert server.asked == [] and "other_label" not in found["samples"]["medcalc_bench"][0]["doc"]
    sources.download_pinned(REPOSITORY)
    server.asked.clear()
    found = evaluate("medcalc_bench", data="hub")
    assert sum(sample["doc"]["other_label"] is not None for sample in found["samples"]["medcalc_bench"]) == 2 * 5
    task = load("medcalc_bench_corrected", "hub", medcalc_bench={"one_shot": True})
    assert server.asked == [] and all(doc["example_note"] for doc in task.eval_docs)
    assert task.files.commit == REPOSITORY.revision


def test_the_pinned_checksum_is_that_of_the_real_file(shared):
    content = (shared / "data" / "medcalc_bench" / "corrected.csv").read_bytes()
    assert hashlib.sha256(content).hexdigest() == CARD.data.repositories["corrected"].files[0].sha256
