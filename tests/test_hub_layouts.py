"""Every repository as it lies on the hub, from a local stand-in: its real file names, pinned or at another revision."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import TASKS, clean_environment, documents, load, sample_rows, write_rows
from fake_hub import Hub, serving

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.harness.signature import digest_of_rows
from medtasks_utils.harness.sources import SAMPLE

OTHER = "fedcba9876543210fedcba9876543210fedcba98"
REPOSITORIES = {
    (benchmark, version): repository
    for benchmark, card in benchmarks().items()
    for version, repository in card.repositories.items()
    if not repository.files
}
TASK_OF = {
    ("medmcqa", "hub"): "medmcqa_openmed",
    ("medexqa", "hub"): "medexqa_all",
    ("medcalc_bench", "verified"): "medcalc_bench_one_shot",
    ("medcalc_bench", "1.2"): "medcalc_bench_v1_2",
    ("medhallu", "hub"): "medhallu",
}

_PROGRAM = """
import json, sys
from lm_eval.tasks import TaskManager
from medtasks_utils.harness.signature import digest_of_rows
metadata, path, *names = json.loads(sys.argv[1])
manager = TaskManager(include_path=path, include_defaults=False, metadata=metadata)
tasks = manager.load(names)["tasks"]
print(json.dumps({name: digest_of_rows(task.eval_docs) for name, task in tasks.items()}))
"""


def files_of(folder: Path, layout: dict[str, str]) -> dict[str, bytes]:
    """Files by their names on the hub, from files of the sample; beside them what every repository has."""
    found = {"README.md": b"# A data set\n", ".gitattributes": b"*.parquet filter=lfs\n"}
    for name, source in layout.items():
        if source.endswith(("_test.tsv", "_dev.tsv")):
            found[name] = (SAMPLE / source).read_bytes()
        else:
            found[name] = write_rows(sample_rows(source), folder / name).read_bytes()
    return found


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    calc, medexqa = "medcalc_bench", [path.relative_to(SAMPLE) for path in (SAMPLE / "medexqa").glob("*/*.tsv")]
    layouts = {
        ("medmcqa", "hub"): {
            "data/validation-00000-of-00001.parquet": "medmcqa/validation.jsonl",
            "data/train-00000-of-00001.parquet": "medmcqa/train.jsonl",
        },
        ("medexqa", "hub"): {str(path.relative_to("medexqa")): str(path) for path in medexqa},
        (calc, "verified"): {f"{split}_data.csv": f"{calc}/{split}.csv" for split in ("test", "one_shot")},
        (calc, "1.2"): {"data/test-00000-of-00001.parquet": f"{calc}/test.csv"},
        ("medhallu", "hub"): {
            f"{subset}/train-00000-of-00001.parquet": f"medhallu/{subset}.jsonl"
            for subset in ("pqa_labeled", "pqa_artificial")
        },
    }
    made = {
        ("datasets", REPOSITORIES[key].name): files_of(tmp_path_factory.mktemp("hub"), layout)
        for key, layout in layouts.items()
    }
    with serving(Hub(made)) as served:
        yield served


def loaded(hub: Hub, folder: Path, metadata: dict[str, object], *tasks: str) -> dict[str, str]:
    """Digests of the documents of tasks that another process loads from the stand-in."""
    hub.requests.clear()
    arguments = json.dumps([{"medtasks_data": "hub", "medexqa": {}, **metadata}, str(TASKS), *tasks])
    caches = {"HF_HOME": str(folder / "hf"), "XDG_CACHE_HOME": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, arguments],
        env=clean_environment(
            {**caches, "HF_ENDPOINT": hub.address, "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1"}
        ),
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


def asked(hub: Hub) -> set[tuple[str, str]]:
    """Repositories and revisions of the files that were sent."""
    places = (path.removeprefix("/datasets/").split("/resolve/") for path in hub.downloads())
    return {(name, rest.split("/")[0]) for name, rest in places}


def test_every_real_layout_gives_the_rows_at_the_pinned_revisions(hub: Hub, tmp_path: Path) -> None:
    tasks = [*TASK_OF.values(), "medhallu_artificial", "medexqa_clinical_psychology"]
    found = loaded(hub, tmp_path, {}, *tasks)
    assert found == {name: digest_of_rows(documents(load(name))) for name in tasks}
    assert asked(hub) == {(each.name, str(each.revision)) for each in REPOSITORIES.values()}
    assert not [path for path in hub.downloads() if path.endswith(("README.md", ".gitattributes"))]


def test_the_option_revision_overrides_every_pin(hub: Hub, tmp_path: Path) -> None:
    assert set(TASK_OF) == set(REPOSITORIES), "a repository has no test"
    given: dict[str, object] = {benchmark: {"revision": OTHER} for benchmark in benchmarks()}
    found = loaded(hub, tmp_path, given, *TASK_OF.values())
    assert found == {name: digest_of_rows(documents(load(name))) for name in TASK_OF.values()}
    assert asked(hub) == {(each.name, OTHER) for each in REPOSITORIES.values()}


def test_a_revision_that_is_not_there_is_one_line(hub: Hub, tmp_path: Path) -> None:
    hub.refusals = {REPOSITORIES["medhallu", "hub"].name: (404, "RevisionNotFound")}
    try:
        with pytest.raises(AssertionError, match="cannot download UTAustin-AIHealth/MedHallu at revision nowhere"):
            loaded(hub, tmp_path, {"medhallu": {"revision": "nowhere"}}, "medhallu")
    finally:
        hub.refusals = {}
