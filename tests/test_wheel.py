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


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_wheel_holds_every_module_task_and_sample_file(wheel: Path) -> None:
    package = ROOT / "medtasks_utils"
    expected = {
        f"medtasks_utils/{path.relative_to(package)}"
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    expected |= {f"medtasks_utils/tasks/{path.relative_to(TASKS)}" for path in TASKS.rglob("*") if path.is_file()}
    packed = {name for name in names(wheel) if ".dist-info/" not in name}
    assert packed == expected
    for kind in ("tasks/medtasks.yaml", "tasks/medexqa/medexqa.yaml", "sample/medhallu/pqa_labeled.jsonl", "py.typed"):
        if kind != "py.typed" or (package / "py.typed").exists():
            assert f"medtasks_utils/{kind}" in packed


@pytest.mark.parametrize("benchmark", ["medmcqa", "medexqa", "medcalc_bench", "medhallu"])
def test_each_benchmark_has_its_readme_and_its_sample(wheel: Path, benchmark: str) -> None:
    packed = names(wheel)
    assert f"medtasks_utils/tasks/{benchmark}/README.md" in packed
    assert any(name.startswith(f"medtasks_utils/sample/{benchmark}/") for name in packed)


def test_neither_tests_nor_benchmarks_nor_rubbish_is_packed(wheel: Path) -> None:
    for name in names(wheel):
        assert name.split("/")[0] in ("medtasks_utils", "medtasks-0.1.0.dist-info") or name.endswith(".dist-info")
        assert "__pycache__" not in name
        assert not name.endswith((".pyc", ".parquet", ".db"))


def test_the_console_script_and_the_licence_are_declared(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        entry_points = next(name for name in archive.namelist() if name.endswith("entry_points.txt"))
        metadata = archive.read(next(name for name in archive.namelist() if name.endswith("/METADATA"))).decode()
        assert "medtasks = medtasks_utils.__main__:main" in archive.read(entry_points).decode()
    required = re.findall(r"^Requires-Dist: ([\w.-]+)(?!.*extra ==)", metadata, re.MULTILINE)
    core = {line for line in re.findall(r"^Requires-Dist: (.*)$", metadata, re.MULTILINE) if "extra ==" not in line}
    assert required
    assert not any(re.match(r"torch|transformers|bert|vllm|accelerate", line) for line in core), (
        "core goes without torch"
    )
    assert "License-Expression: Apache-2.0" in metadata


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
    assert len(counts) == 8
    assert all(counts.values())


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
