"""Where rows come from: every format and layout loads the same documents; what cannot be read ends in one line."""

from __future__ import annotations

import codecs
import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub
import pytest
from conftest import Row, documents, load, medmcqa_rows, sample_rows, write_rows
from huggingface_hub.errors import LocalEntryNotFoundError, RepositoryNotFoundError

from medtasks_utils.benchmarks.medexqa.options import SPECIALTIES
from medtasks_utils.errors import DataError
from medtasks_utils.harness.sources import SAMPLE

FORMATS = ("parquet", "jsonl", "json", "csv", "tsv")


def reads(task: str, data: Path, **metadata: Any) -> list[Row]:
    return documents(load(task, data, **metadata))


def message_of(task: str, data: Path, **metadata: Any) -> str:
    with pytest.raises(DataError) as caught:
        load(task, data, **metadata)
    message = str(caught.value)
    assert "\n" not in message
    return message


# ---- formats


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_of_medmcqa_loads_the_same_documents(data: Path, suffix: str) -> None:
    write_rows(sample_rows("medmcqa/validation.jsonl"), data / "medmcqa" / f"validation.{suffix}")
    assert reads("medmcqa_openmed", data) == documents(load("medmcqa_openmed"))


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_of_medhallu_loads_the_same_documents(data: Path, suffix: str) -> None:
    write_rows(sample_rows("medhallu/pqa_labeled.jsonl"), data / "medhallu" / f"pqa_labeled.{suffix}")
    assert reads("medhallu", data) == documents(load("medhallu"))


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("typed", [False, True], ids=["text", "numbers"])
def test_every_format_of_medcalc_bench_loads_the_same_documents(data: Path, suffix: str, typed: bool) -> None:
    rows = sample_rows("medcalc_bench/test.csv")
    if typed:
        rows = [
            {**row, "Row Number": int(row["Row Number"]), "Calculator ID": int(row["Calculator ID"])} for row in rows
        ]
    write_rows(rows, data / "medcalc_bench" / f"test.{suffix}")
    assert reads("medcalc_bench", data) == documents(load("medcalc_bench"))


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("folder", ["test", ""], ids=["in test/", "in the folder itself"])
def test_every_format_of_medexqa_loads_the_same_documents(data: Path, suffix: str, folder: str) -> None:
    for specialty in SPECIALTIES:
        rows = sample_rows(f"medexqa/test/{specialty.stem}_test.tsv")
        path = data / "medexqa" / folder / f"{specialty.stem}_test.{suffix}"
        write_rows(rows, path, header=suffix not in ("csv", "tsv"))
    assert reads("medexqa_all", data) == documents(load("medexqa_all"))


def test_a_header_in_a_medexqa_file_is_no_question(data: Path) -> None:
    write_rows(
        sample_rows("medexqa/test/biomedical_engineer_test.tsv"),
        data / "medexqa" / "test" / "biomedical_engineer_test.tsv",
    )
    name = "medexqa_biomedical_engineering"
    assert reads(name, data) == documents(load(name))


# ---- layouts


@pytest.mark.parametrize(
    "layout",
    [
        ["validation.parquet"],
        ["data/validation-00000-of-00001.parquet"],
        ["data/validation-00000-of-00001-0123456789abcdef.parquet"],
        ["data/validation-00000-of-00002.parquet", "data/validation-00001-of-00002.parquet"],
        ["validation/0000.parquet"],
        ["validation/0000.parquet", "validation/0001.parquet", "validation/0002.parquet"],
        ["validation_data.csv"],
        ["Validation.jsonl"],
        ["dev.jsonl"],
    ],
    ids=" ".join,
)
def test_layouts_of_medmcqa(data: Path, layout: list[str]) -> None:
    rows = medmcqa_rows(12)
    share = len(rows) // len(layout)
    for number, name in enumerate(layout):
        write_rows(rows[number * share : (number + 1) * share], data / "medmcqa" / name)
    # Neighbours that must not be taken for it.
    write_rows(
        medmcqa_rows(3, cop=-1),
        data / "medmcqa" / Path(layout[0]).parent.name.replace("validation", "test") / "test.parquet",
    )
    assert [doc["id"] for doc in reads("medmcqa_openmed", data)] == [row["id"] for row in rows]


@pytest.mark.parametrize(
    "name",
    [
        "pqa_labeled/train-00000-of-00001.parquet",
        "pqa_labeled/train.csv",
        "pqa_labeled/0000.parquet",
        "pqa_labeled.tsv",
    ],
)
def test_layouts_of_medhallu(data: Path, name: str) -> None:
    write_rows(sample_rows("medhallu/pqa_labeled.jsonl"), data / "medhallu" / name)
    write_rows(sample_rows("medhallu/pqa_artificial.jsonl"), data / "medhallu" / name.replace("labeled", "artificial"))
    assert reads("medhallu", data) == documents(load("medhallu"))
    assert reads("medhallu_artificial", data) == documents(load("medhallu_artificial"))


@pytest.mark.parametrize(
    ("test", "one_shot"),
    [
        ("test_data.csv", "one_shot_data.csv"),
        ("data/test-00000-of-00001.parquet", "data/one_shot-00000-of-00001.parquet"),
        ("test/0000.parquet", "one_shot/0000.parquet"),
        ("1.2/test.csv", "1.2/one_shot.csv"),
    ],
)
def test_layouts_of_medcalc_bench(data: Path, test: str, one_shot: str) -> None:
    write_rows(sample_rows("medcalc_bench/test.csv"), data / "medcalc_bench" / test)
    write_rows(sample_rows("medcalc_bench/one_shot.csv"), data / "medcalc_bench" / one_shot)
    version = {"dataset_version": "1.2"} if test.startswith("1.2") else {}
    assert reads("medcalc_bench_one_shot", data, medcalc_bench=version) == documents(load("medcalc_bench_one_shot"))


def test_a_folder_for_one_version_is_not_read_for_the_other(data: Path) -> None:
    rows = sample_rows("medcalc_bench/test.csv")
    write_rows(rows[:3], data / "medcalc_bench" / "verified" / "test.csv")
    write_rows(rows[3:8], data / "medcalc_bench" / "1.2" / "test.csv")
    assert [doc["row_number"] for doc in reads("medcalc_bench", data)] == [row["Row Number"] for row in rows[:3]]
    assert [doc["row_number"] for doc in reads("medcalc_bench_v1_2", data)] == [row["Row Number"] for row in rows[3:8]]


def test_of_one_split_in_two_formats_one_is_read(data: Path) -> None:
    write_rows(medmcqa_rows(4), data / "medmcqa" / "validation.jsonl")
    write_rows(medmcqa_rows(4), data / "medmcqa" / "validation.csv")
    assert len(reads("medmcqa_openmed", data)) == 4


def test_files_that_begin_with_a_dot_are_no_data(data: Path) -> None:
    write_rows(medmcqa_rows(4), data / "medmcqa" / "validation" / "0000.jsonl")
    (data / "medmcqa" / "validation" / "._0000.jsonl").write_bytes(b"\x00\x05\x16\x07")
    assert len(reads("medmcqa_openmed", data)) == 4


# ---- how text is written


def rewrite(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


@pytest.mark.parametrize(
    "change",
    [
        lambda content: codecs.BOM_UTF8 + content,
        lambda content: content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
        lambda content: content.rstrip(),
        lambda content: content + b"\n\n",
    ],
    ids=["byte order mark", "CRLF", "no final newline", "blank lines at the end"],
)
def test_byte_order_marks_and_line_ends_make_no_difference(data: Path, change: Callable[[bytes], bytes]) -> None:
    shutil.copytree(SAMPLE, data, dirs_exist_ok=True)
    for path in data.rglob("*.[jct]s*"):
        if path.name != "test.csv":  # its notes hold line ends of their own
            rewrite(path, change)
    for task in ("medmcqa_openmed", "medexqa_all", "medhallu"):
        assert reads(task, data) == documents(load(task))


def test_quotes_tabs_newlines_and_other_scripts_in_cells_survive(data: Path) -> None:
    question = 'He said "5\t%",\nthen:\r\n\u2028- Größe, 血糖 < 5; "quoted"'
    rows = medmcqa_rows(4, question=question)
    found = []
    for suffix in FORMATS:
        write_rows(rows, data / "medmcqa" / f"validation.{suffix}")
        found.append(reads("medmcqa_openmed", data)[0]["question"])
        (data / "medmcqa" / f"validation.{suffix}").unlink()
    assert found == [question] * len(FORMATS)

    note = "First line.\nSecond, with \"quotes\" and 'more'.\n\nFourth."
    write_rows(
        [{**row, "Patient Note": note} for row in sample_rows("medcalc_bench/test.csv")],
        data / "medcalc_bench" / "test.csv",
    )
    assert {doc["note"] for doc in reads("medcalc_bench", data)} == {note}


def test_a_cell_may_be_longer_than_the_csv_modules_limit(data: Path) -> None:
    note = "x " * 150_000
    write_rows(
        [{**row, "Patient Note": note} for row in sample_rows("medcalc_bench/test.csv")[:1]],
        data / "medcalc_bench" / "test.csv",
    )
    assert reads("medcalc_bench", data)[0]["note"] == note.strip()


# ---- what is missing or cannot be read


@pytest.mark.parametrize("task", ["medmcqa_openmed", "medexqa_all", "medcalc_bench", "medhallu"])
def test_a_directory_that_does_not_exist(tmp_path: Path, task: str) -> None:
    message = message_of(task, tmp_path / "nowhere")
    assert str(tmp_path / "nowhere") in message
    for way_out in ("MEDTASKS_DATA", "medtasks_data", '"hub"', '"sample"'):
        assert way_out in message


@pytest.mark.parametrize(
    ("task", "benchmark"),
    [
        ("medmcqa_openmed", "medmcqa"),
        ("medexqa_all", "medexqa"),
        ("medcalc_bench", "medcalc_bench"),
        ("medhallu", "medhallu"),
    ],
)
def test_a_directory_without_the_folder_or_the_files(data: Path, task: str, benchmark: str) -> None:
    (data / benchmark / "README.md").write_text("nothing")
    empty = message_of(task, data)
    assert str(data / benchmark) in empty
    assert "it has README.md" in empty
    shutil.rmtree(data / benchmark)
    missing = message_of(task, data)
    assert f"has no folder {benchmark}/" in missing
    assert str(data) in missing
    assert '"sample"' in missing


def test_the_variable_names_the_source_and_the_metadata_overrides_it(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from conftest import TASKS
    from lm_eval.tasks import TaskManager

    def ids(metadata: dict[str, Any]) -> list[str]:
        tasks = TaskManager(include_path=str(TASKS), include_defaults=False, metadata=metadata)
        return [doc["id"] for doc in documents(tasks.load(["medmcqa_openmed"])["tasks"]["medmcqa_openmed"])]

    write_rows(medmcqa_rows(2), data / "medmcqa" / "validation.jsonl")
    monkeypatch.setenv("MEDTASKS_DATA", str(data))
    assert ids({}) == ["id-0", "id-1"]
    assert len(ids({"medtasks_data": "sample"})) == 16
    monkeypatch.setenv("MEDTASKS_DATA", "sample")
    assert len(ids({})) == 16
    assert ids({"medtasks_data": str(data)}) == ["id-0", "id-1"]
    monkeypatch.chdir(data.parent)
    assert ids({"medtasks_data": "data"}) == ["id-0", "id-1"]
    with pytest.raises(DataError, match="medtasks_data must be"):
        ids({"medtasks_data": 5})


@pytest.mark.parametrize(
    ("task", "name", "column"),
    [
        ("medmcqa_openmed", "medmcqa/validation.jsonl", "cop"),
        ("medmcqa_openmed", "medmcqa/validation.jsonl", "opc"),
        ("medcalc_bench", "medcalc_bench/test.csv", "Lower Limit"),
        ("medcalc_bench", "medcalc_bench/test.csv", "Calculator ID"),
        ("medhallu", "medhallu/pqa_labeled.jsonl", "Hallucinated Answer"),
        ("medhallu", "medhallu/pqa_labeled.jsonl", "Difficulty Level"),
    ],
)
def test_missing_columns_are_named_with_those_there_are(data: Path, task: str, name: str, column: str) -> None:
    rows = sample_rows(name)
    for row in rows:
        del row[column]
    write_rows(rows, data / name)
    message = message_of(task, data)
    assert f"{data / name}, row 1: missing column {column};" in message
    assert ", ".join(rows[0]) in message


def test_a_column_missing_in_one_row_only_is_found(data: Path) -> None:
    rows = medmcqa_rows(9)
    del rows[6]["opb"], rows[6]["opd"]
    path = write_rows(rows, data / "medmcqa" / "validation.jsonl")
    assert f"{path}, row 7: missing columns opb, opd" in message_of("medmcqa_openmed", data)


def test_a_medexqa_row_with_seven_columns(data: Path) -> None:
    rows = [list(row.values()) for row in sample_rows("medexqa/test/biomedical_engineer_test.tsv")]
    del rows[2][6]
    path = data / "medexqa" / "test" / "biomedical_engineer_test.tsv"
    write_rows([{str(column): cell for column, cell in enumerate(row)} for row in rows], path, header=False)
    assert f"{path}: line 3: 7 cells where 8 are expected" in message_of("medexqa_biomedical_engineering", data)


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_a_row_with_a_cell_too_many(data: Path, suffix: str) -> None:
    path = write_rows(medmcqa_rows(3), data / "medmcqa" / f"validation.{suffix}")
    separator = {"csv": ",", "tsv": "\t"}[suffix]
    lines = path.read_text().splitlines()
    lines[2] += f"{separator}extra"
    path.write_text("\n".join(lines))
    message = message_of("medmcqa_openmed", data)
    assert str(path) in message and "line 3: 9 cells where 8 are expected" in message


def test_a_line_that_is_not_json(data: Path) -> None:
    path = write_rows(medmcqa_rows(5), data / "medmcqa" / "validation.jsonl")
    lines = path.read_text().splitlines()
    lines[3] = lines[3][:-10]
    path.write_text("\n".join(lines))
    assert f"{path}, row 4: Expecting" in message_of("medmcqa_openmed", data)


@pytest.mark.parametrize("content", ['["a", "b"]', "{", '{"id": 1}\n[2]'])
def test_json_that_is_no_table(data: Path, content: str) -> None:
    path = data / "medmcqa" / "validation.json"
    path.write_text(content)
    assert str(path) in message_of("medmcqa_openmed", data)


@pytest.mark.parametrize(
    "damage", [lambda content: b"PAR1 not parquet", lambda content: content[: len(content) // 2], lambda content: b""]
)
def test_a_parquet_file_that_is_none(data: Path, damage: Callable[[bytes], bytes]) -> None:
    path = write_rows(medmcqa_rows(50), data / "medmcqa" / "validation.parquet")
    rewrite(path, damage)
    assert f"cannot read {path}" in message_of("medmcqa_openmed", data)


@pytest.mark.parametrize("name", ["validation.jsonl", "validation.csv"])
def test_a_file_in_another_encoding(data: Path, name: str) -> None:
    path = write_rows(medmcqa_rows(3, question="Größe?"), data / "medmcqa" / name)
    path.write_text(path.read_text(encoding="utf-8"), encoding="latin-1")
    assert f"cannot read {path}" in message_of("medmcqa_openmed", data)


@pytest.mark.parametrize("name", ["validation.jsonl", "validation.csv", "validation.json"])
def test_a_file_without_rows(data: Path, name: str) -> None:
    path = data / "medmcqa" / name
    path.write_text("[]" if name.endswith("json") else "")
    assert f"{path} has no rows" in message_of("medmcqa_openmed", data)


def test_a_medexqa_file_without_rows(data: Path) -> None:
    path = data / "medexqa" / "test" / "biomedical_engineer_test.tsv"
    path.parent.mkdir()
    path.write_text("")
    assert "no rows" in message_of("medexqa_biomedical_engineering", data)


def test_a_bad_row_of_a_second_shard_is_named_by_its_number(data: Path) -> None:
    rows = sample_rows("medhallu/pqa_labeled.jsonl")
    rows[9]["Difficulty Level"] = "extreme"
    write_rows(rows[:7], data / "medhallu" / "pqa_labeled" / "train-00000-of-00002.parquet")
    second = write_rows(rows[7:], data / "medhallu" / "pqa_labeled" / "train-00001-of-00002.parquet")
    assert f"{second.parent}, row 10: Difficulty Level is 'extreme'" in message_of("medhallu", data)


# ---- the hub


class Hub:
    """Stands in for the hub: remembers what was asked for, and answers with the bundled sample."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None]] = []
        self.patterns: list[list[str]] = []

    def __call__(self, repository: str, *, repo_type: str, revision: str | None, allow_patterns: list[str]) -> str:
        assert repo_type == "dataset"
        self.asked.append((repository, revision))
        self.patterns.append(allow_patterns)
        owner_and_name = {"openlifescienceai/medmcqa": "medmcqa", "bluesky333/MedExQA": "medexqa"}
        folder = owner_and_name.get(repository) or ("medhallu" if "MedHallu" in repository else "medcalc_bench")
        return str(SAMPLE / folder)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Hub:
    stand_in = Hub()
    monkeypatch.setattr(huggingface_hub, "snapshot_download", stand_in)
    return stand_in


PINNED = "515060458a945c633debc6fd5baac7764416b724"
MEDMCQA, MEDEXQA = "91c6572c454088bf71b679ad90aa8dffcd0d5868", "3a9f80d6de2c354956d7e86d323214b92d547d6e"
VERIFIED, V1_2 = "591157b3343b4dda247294f9d929da4c75026fa8", "acb17912657c084f5bf08b8fd029812f84630497"


@pytest.mark.parametrize(
    ("task", "repository", "revision"),
    [
        ("medmcqa_openmed", "openlifescienceai/medmcqa", MEDMCQA),
        ("medexqa_all", "bluesky333/MedExQA", MEDEXQA),
        ("medexqa_clinical_psychology_logits", "bluesky333/MedExQA", MEDEXQA),
        ("medcalc_bench", "nsk7153/MedCalc-Bench-Verified", VERIFIED),
        ("medcalc_bench_lite", "nsk7153/MedCalc-Bench-Verified", VERIFIED),
        ("medcalc_bench_one_shot", "nsk7153/MedCalc-Bench-Verified", VERIFIED),
        ("medcalc_bench_v1_2", "ncbi/MedCalc-Bench-v1.2", V1_2),
        ("medhallu", "UTAustin-AIHealth/MedHallu", PINNED),
        ("medhallu_artificial", "UTAustin-AIHealth/MedHallu", PINNED),
        ("medhallu_knowledge", "UTAustin-AIHealth/MedHallu", PINNED),
    ],
)
def test_the_repository_and_the_revision_of_each_task(hub: Hub, task: str, repository: str, revision: str) -> None:
    assert documents(load(task, "hub")) == documents(load(task))
    assert set(hub.asked) == {(repository, revision)}


def test_the_option_revision_overrides_the_pinned_one(hub: Hub) -> None:
    load("medhallu", "hub", medhallu={"revision": "main"})
    load("medhallu_knowledge", "hub", medhallu={"revision": "v2"})
    load("medmcqa_openmed", "hub", medmcqa={"revision": "0123abc"})
    load("medcalc_bench", "hub", medcalc_bench={"dataset_version": "1.2", "revision": "r"})
    assert [asked[1] for asked in hub.asked] == ["main", "v2", "0123abc", "r"]
    assert hub.asked[-1][0] == "ncbi/MedCalc-Bench-v1.2"


def test_a_models_revision_is_not_the_data_sets(hub: Hub) -> None:
    load("medhallu", "hub", revision="step1000", pretrained="org/model")
    assert hub.asked == [("UTAustin-AIHealth/MedHallu", PINNED)]


def test_what_is_downloaded_covers_the_hubs_layouts(hub: Hub) -> None:
    from huggingface_hub.utils import filter_repo_objects

    needed = {
        "medmcqa_openmed": ["data/validation-00000-of-00001.parquet", "data/train-00000-of-00001.parquet"],
        "medexqa_all": ["test/biomedical_engineer_test.tsv", "dev/speech_pathologist_dev.tsv"],
        "medcalc_bench": ["data/test-00000-of-00001.parquet", "test_data.csv", "data/one_shot-00000-of-00001.parquet"],
        "medhallu": ["pqa_labeled/train-00000-of-00001.parquet", "pqa_artificial/train-00000-of-00001.parquet"],
    }
    for task, files in needed.items():
        load(task, "hub")
        assert list(filter_repo_objects(files, allow_patterns=hub.patterns[-1])) == files


def test_the_hub_is_the_default_source(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    from conftest import TASKS
    from lm_eval.tasks import TaskManager

    for value in (None, "", "hub"):
        if value is None:
            monkeypatch.delenv("MEDTASKS_DATA", raising=False)
        else:
            monkeypatch.setenv("MEDTASKS_DATA", value)
        TaskManager(include_path=str(TASKS), include_defaults=False, metadata={}).load(["medhallu"])
    assert len(hub.asked) == 3


def test_without_internet_and_without_a_cached_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(*arguments: Any, **settings: Any) -> str:
        raise LocalEntryNotFoundError("Cannot find an appropriate cached snapshot folder\nfor the specified revision")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", offline)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    for task, repository in (
        ("medmcqa_openmed", "openlifescienceai/medmcqa"),
        ("medcalc_bench_v1_2", "ncbi/MedCalc-Bench-v1.2"),
    ):
        message = message_of(task, Path("hub"))
        assert f"cannot reach the hub for {repository}" in message
        assert "MEDTASKS_DATA" in message
        assert '"sample"' in message
    assert f"UTAustin-AIHealth/MedHallu at revision {PINNED}" in message_of("medhallu", Path("hub"))


def test_the_hubs_own_offline_error_is_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    message = message_of("medmcqa_openmed", Path("hub"))
    assert "HF_HUB_OFFLINE is set, which forbids to download openlifescienceai/medmcqa at revision" in message
    assert "unset it, run once on a machine with internet" in message


def test_a_repository_that_the_hub_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(repository: str, **settings: Any) -> str:
        response: Any = SimpleNamespace(headers={}, request=None, status_code=404, text="", url=repository)
        raise RepositoryNotFoundError("404 Client Error. (Request ID: 1)\n\nNot found.", response=response)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", missing)
    message = message_of("medexqa_all", Path("hub"))
    assert f"cannot download bluesky333/MedExQA at revision {MEDEXQA} from the hub (404 Client Error" in message
    assert "MEDTASKS_DATA" in message


@pytest.mark.parametrize("error", [OSError("disk full"), PermissionError("denied"), OSError()])
def test_a_download_that_fails_on_this_machine(monkeypatch: pytest.MonkeyPatch, error: OSError) -> None:
    def fail(*arguments: Any, **settings: Any) -> str:
        raise error

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fail)
    assert f"({str(error) or 'OSError'})" in message_of("medhallu", Path("hub"))


# ---- real rows


def test_the_real_rows_load(shared: Path) -> None:
    counts = {"medmcqa_openmed": 2816, "medexqa_all": 935, "medcalc_bench": 1047, "medhallu": 2000}
    assert {task: len(reads(task, shared / "data")) for task in counts} == counts
    calculators = Counter(doc["calculator_id"] for doc in reads("medcalc_bench", shared / "data"))
    lite = Counter(doc["calculator_id"] for doc in reads("medcalc_bench_lite", shared / "data"))
    assert len(calculators) == 55
    assert lite == {calculator: min(count, 4) for calculator, count in calculators.items()}
    assert all(doc["example_note"] for doc in reads("medcalc_bench_one_shot", shared / "data"))


def test_the_sample_is_valid_json_lines() -> None:
    for path in SAMPLE.rglob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            json.loads(line)
