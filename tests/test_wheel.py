"""What ``pip install`` brings: modules, tasks with their READMEs, and the bundled sample, in their places."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT, TASKS, clean_environment

pytestmark = pytest.mark.slow

PROGRAM = """
import json
from lm_eval.tasks import TaskManager
from medtasks_utils.harness import sources
from medtasks_utils.benchmarks.yaml_tasks import tasks_path
tasks = TaskManager(include_path=str(tasks_path()), include_defaults=False, metadata={"medtasks_data": "sample"})
loaded = tasks.load(["medmcqa_openmed", "medexqa", "medcalc_bench_one_shot", "medhallu_artificial"])["tasks"]
counts = {name: len(task.eval_docs) for name, task in loaded.items()}
print(json.dumps([str(tasks_path()), str(sources.SAMPLE), counts]))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pytest.importorskip("build", reason="building a wheel needs the package build")
    built = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)],
        capture_output=True,
        text=True,
        check=False,
    )
    output = built.stdout + built.stderr
    if built.returncode and re.search(
        "No matching distribution found for hatchling|Could not fetch|ConnectionError", output
    ):
        pytest.skip("the package index cannot be reached for the build's own requirements")
    assert built.returncode == 0, output
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_holds_every_module_task_and_sample_file_and_nothing_else(wheel: Path) -> None:
    places = ((ROOT / "medtasks_utils", "medtasks_utils"), (TASKS, "medtasks_utils/tasks"))
    expected = {
        f"{name}/{path.relative_to(folder)}"
        for folder, name in places
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        packed = {name: archive.read(name) for name in archive.namelist()}
    about = {name.rpartition("/")[2]: text for name, text in packed.items() if ".dist-info/" in name}
    assert {name for name in packed if ".dist-info/" not in name} == expected
    assert b"medtasks = medtasks_utils.__main__:main" in about["entry_points.txt"]
    core = [line for line in about["METADATA"].decode().splitlines() if line.startswith("Requires-Dist")]
    core = [line for line in core if "extra ==" not in line]
    assert core and not [line for line in core if re.search("torch|transformers|bert|vllm|accelerate", line)]


def test_the_installed_package_finds_its_tasks_and_its_sample(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env=clean_environment({"PYTHONPATH": str(tmp_path / "site")}),
        capture_output=True,
        text=True,
        check=True,
    )
    tasks, sample, counts = json.loads(done.stdout.strip().split("\n")[-1])
    assert tasks == str(tmp_path / "site" / "medtasks_utils" / "tasks")
    assert sample == str(tmp_path / "site" / "medtasks_utils" / "sample")
    assert len(counts) == 8 and all(counts.values())


def test_a_harness_that_looks_for_tasks_of_installed_packages_finds_ours(wheel: Path, tmp_path: Path) -> None:
    """As the harness's pull request 4015 looks: the folder of the package that the entry point names, not imported."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    program = (
        "import importlib.metadata, importlib.util, sys\n"
        f"(found,) = importlib.metadata.distributions(name='medtasks', path=[{str(tmp_path)!r}])\n"
        "(entry,) = found.entry_points.select(group='lm_eval.tasks')\n"
        "print(importlib.util.find_spec(entry.value.partition(':')[0]).submodule_search_locations[0])"
    )
    environment = clean_environment({"PYTHONPATH": str(tmp_path)})
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    folder = Path(done.stdout.strip())
    assert folder == tmp_path / "medtasks_utils" / "tasks" and (folder / "medtasks.yaml").exists()
