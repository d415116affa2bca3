"""What ``pip install`` brings: modules, tasks with their READMEs, and the bundled sample, in their places."""

import re
import subprocess
import sys
import zipfile

import pytest
from given import ROOT, TASKS

pytestmark = pytest.mark.slow


def wheel(folder):
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


def test_the_wheel_holds_every_module_task_and_sample_file_and_nothing_else(tmp_path):
    places = ((ROOT / "medtasks_utils", "medtasks_utils"), (TASKS, "medtasks_utils/tasks"))
    expected = {
        f"{name}/{path.relative_to(folder)}"
        for folder, name in places
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path != folder / "tasks"
    }
    with zipfile.ZipFile(wheel(tmp_path)) as archive:
        packed = {name: archive.read(name) for name in archive.namelist()}
    about = {name.rpartition("/")[2]: text for name, text in packed.items() if ".dist-info/" in name}
    assert {name for name in packed if ".dist-info/" not in name} == expected
    assert b"medtasks = medtasks_utils.__main__:main" in about["entry_points.txt"]
    core = [line for line in about["METADATA"].decode().splitlines() if line.startswith("Requires-Dist")]
    core = [line for line in core if "extra ==" not in line]
    assert core and not [line for line in core if re.search("torch|transformers|bert|vllm|accelerate", line)]
