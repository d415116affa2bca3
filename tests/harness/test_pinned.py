"""Files of a GitHub repository at one commit: downloaded once, checked and cached, or one error."""

import hashlib

import pytest
from fake_hub import Hub
from given import sample_rows, write_rows
from pinned_sample import CONTENT, REAL, REPOSITORY, SERVED
from running import documents_of, evaluate, load

from medtasks_utils.benchmarks.medcalc_bench.benchmark import BENCHMARK as CARD
from medtasks_utils.errors import DataError, MedtasksError
from medtasks_utils.harness import sources as pinned


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Serve the sample's rows in place of the pinned repository, with an empty cache."""
    monkeypatch.setitem(CARD.data.repositories, "corrected", REPOSITORY)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    with Hub(raw=SERVED) as hub:
        monkeypatch.setenv(pinned.ADDRESS_VARIABLE, hub.base + "/")
        yield hub


def numbers() -> list[str]:
    return [doc["row_number"] for doc in documents_of("medcalc_bench_corrected", "hub")]


def test_a_pinned_file_is_downloaded_once_and_then_read_offline(server, monkeypatch):
    assert numbers() == [row["Unique ID"] for row in sample_rows("medcalc_bench/corrected.csv")]
    assert [path for _, path in server.asked] == list(server.raw)
    assert {path.name for path in pinned.cached_folder(REPOSITORY).iterdir()} == {f.name for f in REPOSITORY.files}
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
    assert not list(pinned.cached_folder(REPOSITORY).glob("*"))


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
    pinned.download_pinned(REPOSITORY)
    server.asked.clear()
    found = evaluate("medcalc_bench", data="hub")
    assert sum(sample["doc"]["other_label"] is not None for sample in found["samples"]["medcalc_bench"]) == 2 * 5
    task = load("medcalc_bench_corrected", "hub", medcalc_bench={"one_shot": True})
    assert server.asked == [] and all(doc["example_note"] for doc in task.eval_docs)
    assert task.files.commit == REPOSITORY.revision


def test_the_pinned_checksum_is_that_of_the_real_file(shared):
    content = (shared / "data" / "medcalc_bench" / "corrected.csv").read_bytes()
    assert hashlib.sha256(content).hexdigest() == CARD.data.repositories["corrected"].files[0].sha256
