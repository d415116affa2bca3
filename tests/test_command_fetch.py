"""``medtasks fetch``: from a local stand-in for the hub into private caches, and runs without internet from there."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pinned_sample
import pytest
from conftest import clean_environment, sample_rows, saved_results, write_rows
from explanations_nltk import write_nltk_data
from fake_hub import Hub, serving
from local_server import LocalServer

from medtasks_utils import __main__ as cli
from medtasks_utils.benchmarks.medcalc_bench.benchmark import BENCHMARK as MEDCALC_BENCH
from medtasks_utils.commands.fetch import NAMES
from medtasks_utils.harness import fetch
from medtasks_utils.harness.sources import SAMPLE

MEDMCQA = ("datasets", "openlifescienceai/medmcqa")
MEDEXQA = ("datasets", "bluesky333/MedExQA")
MEDHALLU = ("datasets", "UTAustin-AIHealth/MedHallu")
VERIFIED, V1_2 = (("datasets", MEDCALC_BENCH.repositories[version].name) for version in ("verified", "1.2"))
SCIBERT = ("models", "allenai/scibert_scivocab_uncased")
UNUSED = b"no run reads this"

# NLTK takes the address of its index from nowhere but the code, and the newer ones refuse addresses on this machine.
_PROGRAM = """
import os, sys
if os.environ.get("NLTK_INDEX"):
    import nltk
    nltk.downloader._downloader._url = os.environ["NLTK_INDEX"]
    if hasattr(nltk, "pathsec"):
        nltk.pathsec.ENFORCE = False
if os.environ.get("CHECKSUMS"):
    import json
    from dataclasses import replace
    from medtasks_utils.benchmarks.medcalc_bench.benchmark import BENCHMARK as CARD
    made, sums = CARD.repositories["corrected"], json.loads(os.environ["CHECKSUMS"])
    CARD.repositories["corrected"] = replace(made, files=tuple(replace(f, sha256=sums[f.name]) for f in made.files))
from medtasks_utils.__main__ import main
sys.exit(main())
"""


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def scibert_files(folder: Path) -> dict[str, bytes]:
    """A model of SciBERT's depth if bert-score is there to load it, else bytes in its place."""
    if find_spec("bert_score"):
        from explanations_model import save_model
        from transformers import BertConfig, BertModel

        save_model(folder)
        BertModel(BertConfig.from_pretrained(folder, num_hidden_layers=8)).save_pretrained(folder)
    else:
        folder.mkdir()
        for name in ("config.json", "vocab.txt", "pytorch_model.bin"):
            (folder / name).write_bytes(name.encode())
    (folder / "flax_model.msgpack").write_bytes(UNUSED)
    return files_in(folder)


def repositories(folder: Path) -> dict[tuple[str, str], dict[str, bytes]]:
    """The hub's repositories, made of the bundled sample."""
    medcalc = folder / "medcalc"
    rows = sample_rows("medcalc_bench/test.csv")
    write_rows(rows, medcalc / "data" / "test-00000-of-00001.parquet")
    write_rows(rows[::-1], medcalc / "data" / "train-00000-of-00001.parquet")
    write_rows(sample_rows("medcalc_bench/one_shot.csv"), medcalc / "data" / "one_shot-00000-of-00001.parquet")
    medmcqa = folder / "medmcqa"
    write_rows(sample_rows("medmcqa/validation.jsonl"), medmcqa / "data" / "validation-00000-of-00001.parquet")
    write_rows(sample_rows("medmcqa/train.jsonl"), medmcqa / "data" / "train-00000-of-00001.parquet")
    medhallu = folder / "medhallu"
    for subset in ("pqa_labeled", "pqa_artificial"):
        write_rows(sample_rows(f"medhallu/{subset}.jsonl"), medhallu / subset / "train-00000-of-00001.parquet")
    shutil.copytree(SAMPLE / "medexqa", folder / "medexqa")
    for name in ("medcalc", "medmcqa", "medhallu", "medexqa"):
        (folder / name / "README.md").write_bytes(UNUSED)
    return {
        MEDMCQA: files_in(medmcqa),
        MEDEXQA: files_in(folder / "medexqa"),
        VERIFIED: files_in(medcalc),
        V1_2: files_in(medcalc),
        MEDHALLU: files_in(medhallu),
        SCIBERT: scibert_files(folder / "scibert"),
    }


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    folder = tmp_path_factory.mktemp("hub")
    write_nltk_data(folder / "nltk")
    packages = {
        f"{place}/{name}": Path(
            shutil.make_archive(str(folder / name), "zip", folder / "nltk" / place, name)
        ).read_bytes()
        for name, place in (("wordnet", "corpora"), ("punkt_tab", "tokenizers"))
    }
    with serving(Hub(repositories(folder), packages=packages, raw=pinned_sample.served())) as served:
        yield served


class Machine:
    """A machine with caches of its own that reaches the local hub."""

    def __init__(self, folder: Path, hub: Hub) -> None:
        self.home, self.nltk_data = folder / "hf", folder / "nltk_data"
        self.home.mkdir()
        self.nltk_data.mkdir()
        self.folder = folder
        self.environment = {
            "HF_HOME": str(self.home),
            "NLTK_DATA": str(self.nltk_data),
            "HOME": str(folder),
            "HF_ENDPOINT": hub.address,
            "NLTK_INDEX": f"{hub.address}/nltk/index.xml",
            "HF_HUB_DISABLE_XET": "1",
            "MEDTASKS_GITHUB": hub.address,
            "XDG_CACHE_HOME": str(folder / "cache"),
            "CHECKSUMS": json.dumps({file.name: file.sha256 for file in pinned_sample.repository().files}),
        }

    def medtasks(self, *arguments: str, offline: bool = False) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", _PROGRAM, *arguments],
            env=clean_environment({**self.environment, "HF_HUB_OFFLINE": "1" if offline else "0"}),
            cwd=self.folder, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip


def states(printed: str) -> dict[str, list[str]]:
    """What the table says of each item: ``there`` or why not."""
    found: dict[str, list[str]] = {}
    for line in printed.splitlines()[:-1]:
        name, _, rest = line.partition(" ")
        found.setdefault(name, []).append(rest.partition("MISSING")[2].strip() or "there")
    return found


ALL_THERE = {name: ["there"] * (3 if name == "medcalc_bench" else 1) for name in NAMES}


@pytest.fixture(scope="module")
def prepared(hub: Hub, tmp_path_factory: pytest.TempPathFactory) -> tuple[Machine, subprocess.CompletedProcess[str]]:
    """A machine after ``medtasks fetch``."""
    machine = Machine(tmp_path_factory.mktemp("machine"), hub)
    hub.requests.clear()
    return machine, machine.medtasks("fetch")


def test_fetch_gets_all_that_runs_read_and_no_more(
    hub: Hub, prepared: tuple[Machine, subprocess.CompletedProcess[str]]
) -> None:
    machine, done = prepared
    assert done.returncode == 0, done.stdout + done.stderr
    assert states(done.stdout) == ALL_THERE
    wanted = {
        f"{'' if kind == 'models' else 'datasets/'}{name}/{file}"
        for (kind, name), files in hub.repositories.items()
        for file, data in files.items()
        if data != UNUSED
    }
    got = {
        path.split("/resolve/")[0][1:] + "/" + path.split("/resolve/")[1].split("/", 1)[1] for path in hub.downloads()
    }
    assert got == wanted
    size = sum(len(data) for data in hub.repositories[MEDEXQA].values() if data != UNUSED)
    assert f"medexqa: bluesky333/MedExQA at 3a9f80d, 10 files, {size / 1000:.1f} kB" in done.stderr
    assert done.stdout.splitlines()[-1].startswith("9 of 9 there, ")
    assert list(machine.nltk_data.glob("corpora/wordnet*"))
    assert list(machine.nltk_data.glob("tokenizers/punkt_tab/english/*"))


def test_check_finds_all_there_without_a_request(
    hub: Hub, prepared: tuple[Machine, subprocess.CompletedProcess[str]]
) -> None:
    machine, fetched = prepared
    hub.requests.clear()
    done = machine.medtasks("fetch", "--check")
    assert done.returncode == 0, done.stdout + done.stderr
    assert states(done.stdout) == ALL_THERE
    assert hub.requests == []
    sizes = [line.split()[-2:] for line in fetched.stdout.splitlines()]
    assert [line.split()[-2:] for line in done.stdout.splitlines()] == sizes


def test_runs_then_need_no_internet(hub: Hub, prepared: tuple[Machine, subprocess.CompletedProcess[str]]) -> None:
    machine, _ = prepared
    hub.requests.clear()
    tasks = "medtasks,medcalc_bench_v1_2,medcalc_bench_corrected,medhallu_artificial"
    if find_spec("bert_score"):
        tasks += ",medexqa_be"  # its explanations are scored with WordNet and SciBERT
    with LocalServer(lambda body: "The answer is A. The heart pumps. \\boxed{0}") as server:
        done = machine.medtasks(
            "eval", "--data", "hub", "--tasks", tasks, "--limit", "2", "--apply_chat_template",
            "--model", "local-chat-completions", "--model_args", f"model=m,base_url={server.chat},max_retries=1",
            "--output_path", "results",
            offline=True,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    results = saved_results(machine.folder / "results")["results"]
    assert {
        "medmcqa_openmed",
        "medexqa_all",
        "medcalc_bench",
        "medcalc_bench_corrected",
        "medhallu",
        "medtasks",
    } <= results.keys()
    assert hub.requests == []


def test_check_on_a_bare_machine_names_all_that_is_missing(hub: Hub, tmp_path: Path) -> None:
    hub.requests.clear()
    machine = Machine(tmp_path, hub)
    done = machine.medtasks("fetch", "--check")
    assert done.returncode == 1
    missing = {name: ["not in the hub's cache"] * len(there) for name, there in ALL_THERE.items()}
    place = machine.folder / "cache" / "medtasks" / "data" / "junzeye--validate-medcalc-labels"
    missing["medcalc_bench"][2] = f"not in the cache {place / str(pinned_sample.REAL.revision)}"
    assert states(done.stdout) == {
        **missing, "wordnet": ["not in NLTK's data path"], "punkt_tab": ["not in NLTK's data path"]
    }  # fmt: skip
    assert done.stdout.splitlines()[-1] == "0 of 9 there, 0 B; 9 missing"
    assert hub.requests == []


@pytest.mark.slow
def test_check_finds_a_file_that_a_run_would_miss(hub: Hub, tmp_path: Path) -> None:
    machine = Machine(tmp_path, hub)
    assert machine.medtasks("fetch", "--only", "medexqa,medhallu").returncode == 0
    (lost,) = machine.home.glob("hub/*MedExQA/snapshots/*/dev/speech_pathologist_dev.tsv")
    lost.unlink()
    done = machine.medtasks("fetch", "--check", "--only", "medexqa,medhallu")
    assert done.returncode == 1
    found = states(done.stdout)
    assert found["medhallu"] == ["there"]
    assert found["medexqa"] != ["there"]


@pytest.mark.slow
def test_a_download_that_is_cut_off_goes_on_where_it_stopped(tmp_path: Path) -> None:
    train, validation = "data/train.parquet", "data/validation.jsonl"
    data = bytes(24_000_000)  # the client reads 10 MB at once, and goes on after the last whole piece
    files = {train: data, validation: (SAMPLE / "medmcqa" / "validation.jsonl").read_bytes()}
    with serving(Hub({MEDMCQA: files}, cut=train)) as hub:
        machine = Machine(tmp_path, hub)
        done = machine.medtasks("fetch", "--only", "medmcqa")
        if done.returncode:  # older clients of the hub go on when they are called again
            assert "Traceback" not in done.stderr
            assert states(done.stdout)["medmcqa"] != ["there"]
            done = machine.medtasks("fetch", "--only", "medmcqa")
        assert done.returncode == 0, done.stdout + done.stderr
        asked = [part for method, path, part in hub.requests if method == "GET" and path.endswith(train)]
    whole, rest = asked
    assert whole is None
    assert 0 < int(str(rest).removeprefix("bytes=").split("-")[0]) <= len(data) // 2
    (fetched,) = machine.home.glob(f"hub/*medmcqa/snapshots/*/{train}")
    assert fetched.read_bytes() == data


@pytest.mark.slow
def test_what_is_there_is_not_downloaded_again(hub: Hub, tmp_path: Path) -> None:
    machine = Machine(tmp_path, hub)
    file = "test/speech_pathologist_test.tsv"
    hub.requests.clear()
    hub.missing = {file}
    try:
        done = machine.medtasks("fetch", "--only", "medexqa")
    finally:
        hub.missing = set()
    assert done.returncode == 1
    assert states(done.stdout)["medexqa"] != ["there"]
    assert "Traceback" not in done.stderr
    there = {path for path in hub.downloads() if not path.endswith(file)}
    assert there
    hub.requests.clear()
    assert machine.medtasks("fetch", "--only", "medexqa").returncode == 0
    assert file in " ".join(hub.downloads())
    assert not there & set(hub.downloads())


@pytest.mark.slow
def test_what_fails_is_one_line_and_the_rest_is_fetched(hub: Hub, tmp_path: Path) -> None:
    machine = Machine(tmp_path, hub)
    hub.refusals = {MEDMCQA[1]: (403, "GatedRepo"), V1_2[1]: (404, "RepoNotFound"), MEDEXQA[1]: (500, "")}
    try:
        done = machine.medtasks("fetch", "--only", "medmcqa,medexqa,medcalc_bench,medhallu")
    finally:
        hub.refusals = {}
    assert done.returncode == 1
    found = states(done.stdout)
    assert "terms" in found["medmcqa"][0]
    assert "500" in found["medexqa"][0]
    assert found["medcalc_bench"] == [
        "there",
        "the hub has no repository ncbi/MedCalc-Bench-v1.2, or it is private",
        "there",
    ]
    assert found["medhallu"] == ["there"]
    assert done.stdout.splitlines()[-1].endswith("; 3 missing")
    assert "Traceback" not in done.stderr


def test_without_a_network_each_item_is_one_line(hub: Hub, tmp_path: Path) -> None:
    machine = Machine(tmp_path, hub)
    machine.environment |= {"HF_ENDPOINT": "http://127.0.0.1:9", "NLTK_INDEX": "http://127.0.0.1:9/index.xml"}
    done = machine.medtasks("fetch", "--only", "medhallu,scibert,wordnet,punkt_tab")
    assert done.returncode == 1
    found = states(done.stdout)
    assert found.keys() == {"medhallu", "scibert", "wordnet", "punkt_tab"}
    for name in ("medhallu", "scibert"):
        assert found[name][0].startswith("cannot reach the hub at http://127.0.0.1:9 (")
    for name in ("wordnet", "punkt_tab"):
        assert "could not be fetched" in found[name][0]
    assert "Traceback" not in done.stderr


# ---- in this process


def test_offline_mode_is_named_and_no_download_is_tried(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["fetch"]) == 1
    assert capsys.readouterr().err.startswith("medtasks: error: HF_HUB_OFFLINE is set")


@pytest.mark.parametrize("names", ["medqa", "medhallu,wordnets", ","])
def test_only_takes_known_names(names: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["fetch", "--only", names])
    assert caught.value.code == 2
    assert "scibert" in capsys.readouterr().err


def test_the_names_are_those_of_the_items() -> None:
    assert [item.name for item in fetch.items(NAMES)] == [name for name, there in ALL_THERE.items() for _ in there]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), fetch.FetchError("not there")])
def test_a_failure_does_not_keep_the_rest_from_being_fetched(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> int:
        raise error

    failing = fetch.Item("one", "here", fail, fail)
    working = fetch.Item("two", "there", lambda: 2_500_000, lambda: 2_500_000)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    assert fetch.fetch([failing, working]) == 1
    first, second, last = capsys.readouterr().out.splitlines()
    assert "MISSING" in first and str(error) in first
    assert second.split() == ["two", "there", "2.5", "MB"]
    assert last == "1 of 2 there, 2.5 MB; 1 missing"


def test_a_bug_is_not_reported_as_something_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> int:
        raise ZeroDivisionError

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    with pytest.raises(ZeroDivisionError):
        fetch.fetch([fetch.Item("one", "here", fail, fail)])
