"""Files of a GitHub repository at one commit: downloaded once, checked, cached, and one line where that fails."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pinned_sample
import pytest
from conftest import documents, evaluate, load, sample_rows
from fake_hub import Hub, serving

from medtasks_utils.benchmarks.base import Repository
from medtasks_utils.benchmarks.medcalc_bench.benchmark import BENCHMARK as CARD
from medtasks_utils.errors import DataError
from medtasks_utils.harness import pinned
from medtasks_utils.harness.sources import SAMPLE, BenchmarkFiles

CORRECTED = pinned_sample.contents()["corrected.csv"]
COMMIT = str(pinned_sample.REAL.revision)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository with the sample's rows in the card's place, and an empty cache."""
    made = pinned_sample.repository()
    monkeypatch.setitem(CARD.repositories, "corrected", made)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    return made


@pytest.fixture
def server(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with serving(Hub({}, raw=pinned_sample.served())) as hub:
        monkeypatch.setenv(pinned.ADDRESS_VARIABLE, hub.address + "/")
        yield hub


def corrected_task() -> list[str]:
    return [doc["row_number"] for doc in documents(load("medcalc_bench_corrected", "hub"))]


def test_it_is_downloaded_once_and_then_read_without_a_request(server: Hub, repository: Repository) -> None:
    assert not pinned.is_cached(repository)
    assert corrected_task() == [row["Unique ID"] for row in sample_rows("medcalc_bench/corrected.csv")]
    assert [path for _, path, _ in server.requests] == list(server.raw)
    assert pinned.is_cached(repository)
    server.requests.clear()
    assert len(corrected_task()) == 15
    assert server.requests == []


def test_what_was_downloaded_serves_offline(
    server: Hub, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    corrected_task()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setenv(pinned.ADDRESS_VARIABLE, "http://127.0.0.1:9")
    assert len(corrected_task()) == 15


def test_the_signature_names_the_commit_and_the_other_label_is_there(server: Hub) -> None:
    found = evaluate("medcalc_bench_corrected", data="hub")
    assert (
        f"data:hub@{COMMIT[:8]}" in found["configs"]["medcalc_bench_corrected"]["metadata"]["signature"]["strict-match"]
    )
    logged = [sample["other_label"] for sample in found["samples"]["medcalc_bench_corrected"]]
    assert sum(each is not None for each in logged) == 2 * 5


@pytest.mark.parametrize("damage", [b"", CORRECTED[:-100], CORRECTED + b"\n", b"<html>login</html>"])
def test_another_file_is_refused_and_not_kept(server: Hub, repository: Repository, damage: bytes) -> None:
    server.raw[next(iter(server.raw))] = damage
    with pytest.raises(DataError, match="is not the file that is meant: its SHA-256 is") as error:
        corrected_task()
    assert "\n" not in str(error.value)
    assert not list(pinned.cached_folder(repository).glob("*"))


def test_a_file_that_is_not_there(server: Hub, repository: Repository) -> None:
    server.raw.clear()
    with pytest.raises(
        DataError, match=r"cannot download http://.*/data/medcalc_v1_corrected\.csv \(.*404.*\); run medtasks fetch"
    ):
        corrected_task()


# ---- the benchmark's own rows from the hub


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub's Verified rows are the sample's."""
    folder = BenchmarkFiles.folder

    def without_hub(self: BenchmarkFiles, repository: Repository) -> Path:
        return folder(self, repository) if repository.files else SAMPLE / "medcalc_bench"

    monkeypatch.setattr(BenchmarkFiles, "folder", without_hub)


def test_a_plain_run_downloads_nothing(server: Hub, verified: None) -> None:
    evaluate("medcalc_bench", data="hub")
    assert server.requests == []


# ---- the card


def test_the_pinned_file_is_the_one_at_hand(shared: Path) -> None:
    file = CARD.repositories["corrected"].files[0]
    content = (shared / "data" / "medcalc_bench" / "corrected.csv").read_bytes()
    assert hashlib.sha256(content).hexdigest() == file.sha256
    assert file.name == "corrected.csv"
