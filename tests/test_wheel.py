"""What ``pip install`` brings: modules, tasks with their READMEs, and the bundled sample, in their places."""

import re
import subprocess
import sys
import zipfile

import pytest
from given import ROOT, TASKS

pytestmark = pytest.mark.slow


UNREACHED = "No matching distribution found for hatchling|Could not fetch|ConnectionError"


def test_the_wheel_holds_every_module_task_and_sample_file_and_nothing_else(tmp_path):
    pytest.importorskip("build", reason="building a wheel needs the package build")
    words = [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path), str(ROOT)]
    built = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if built.returncode and re.search(UNREACHED, built.stdout):
        pytest.skip("the package index cannot be reached for the build's own requirements")
    assert built.returncode == 0, built.stdout
    (wheel,) = tmp_path.glob("*.whl")
    places = ((ROOT / "medtasks_utils", "medtasks_utils"), (TASKS, "medtasks_utils/tasks"))
    expected = {
        f"{name}/{path.relative_to(folder)}"
        for folder, name in places
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path != folder / "tasks"
    }
    with zipfile.ZipFile(wheel) as archive:
        packed = {name: archive.read(name) for name in archive.namelist()}
    about = {name.rpartition("/")[2]: text for name, text in packed.items() if ".dist-info/" in name}
    assert {name for name in packed if ".dist-info/" not in name} == expected
    assert b"medtasks = medtasks_utils.__main__:main" in about["entry_points.txt"]
    core = re.findall("^Requires-Dist: ((?:(?!extra ==).)*)$", about["METADATA"].decode(), re.MULTILINE)
    assert core and not re.search("torch|transformers|bert|vllm|accelerate", " ".join(core))
