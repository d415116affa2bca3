"""``medtasks fetch``: downloads from a local stand-in of the Hub, and runs that use them without internet."""

import json
import re
import shutil
from pathlib import Path

import pinned_sample
import pytest
from commanding import medtasks
from fake_hub import Hub
from given import NLTK, sample_rows, table, write_rows
from local_server import LocalServer
from running import saved_results

from medtasks_utils.harness.sources import SAMPLE

UNUSED = b"no run reads this"

# NLTK takes the address of its index from nowhere but the code, and the newer ones refuse addresses on this machine.
_FIRST = """
import json, os
import nltk
nltk.downloader._downloader._url = os.environ["NLTK_INDEX"]
if hasattr(nltk, "pathsec"):
    nltk.pathsec.ENFORCE = False
from medtasks_utils.benchmarks.medcalc_bench.benchmark import BENCHMARK as CARD
made, sums = CARD.data.repositories["corrected"], json.loads(os.environ["CHECKSUMS"])
CARD.data.repositories["corrected"] = made._replace(files=tuple(f._replace(sha256=sums[f.name]) for f in made.files))
"""


def repositories(folder):
    """Return the Hub's repositories, made from the bundled sample, with a few bytes for SciBERT."""
    bert = {name: name.encode() for name in ("config.json", "vocab.txt", "pytorch_model.bin")}
    medexqa = SAMPLE / "medexqa"
    tables = {str(path.relative_to(medexqa)): path.read_bytes() for path in medexqa.rglob("*.*")}
    made = {
        ("models", "allenai/scibert_scivocab_uncased"): {**bert, "flax_model.msgpack": UNUSED},
        ("datasets", "bluesky333/MedExQA"): {**tables, "README.md": UNUSED},
    }
    for name, path, file in table("hub_rows"):
        rows = sample_rows(file)[:: -1 if "train" in path else 1]  # equal files are fetched once
        files = made.setdefault(("datasets", name), {"README.md": UNUSED})
        files[path] = write_rows(rows, folder / path).read_bytes()
    return made


@pytest.mark.slow
def test_after_fetch_runs_need_no_internet(tmp_path):
    """The commands have caches of their own, and reach only the local Hub."""
    packages = {
        f"{place}/{name}": Path(shutil.make_archive(str(tmp_path / name), "zip", NLTK / place, name)).read_bytes()
        for name, place in (("wordnet", "corpora"), ("punkt_tab", "tokenizers"))
    }
    nltk_data = tmp_path / "nltk_data"
    nltk_data.mkdir()

    def said(words, offline="0"):
        checksums = {file.name: file.sha256 for file in pinned_sample.REPOSITORY.files}
        (done,) = medtasks(
            words, cwd=tmp_path, first=_FIRST, HF_HUB_OFFLINE=offline, CHECKSUMS=json.dumps(checksums),
            HOME=str(tmp_path), HF_HOME=str(tmp_path / "hf"), XDG_CACHE_HOME=str(tmp_path / "cache"),
            NLTK_DATA=str(nltk_data), NLTK_INDEX=f"{hub.base}/nltk/index.xml",
            HF_ENDPOINT=hub.base, HF_HUB_DISABLE_XET="1", MEDTASKS_GITHUB=hub.base,
        )  # fmt: skip
        return done

    with Hub(repositories(tmp_path / "rows"), packages=packages, raw=pinned_sample.SERVED) as hub:
        fetched = said(["fetch"])
        assert fetched.code == 0, fetched
        assert fetched.out.splitlines()[-1] == "9 of 9 are complete", "MedCalc-Bench has three"
        wanted = {
            f"{'' if kind == 'models' else 'datasets/'}{name}/{file}"
            for (kind, name), files in hub.repositories.items()
            for file, data in files.items()
            if data != UNUSED
        }
        assert {re.sub(r"^/|resolve/[^/]+/", "", path) for path in hub.downloads()} == wanted
        hub.asked.clear()
        lost = nltk_data.rename(tmp_path / "elsewhere")
        checked = said(["fetch", "--check"])
        lost.rename(nltk_data)
        missing = {line.split()[0] for line in checked.out.splitlines() if "MISSING" in line}
        assert missing == {"wordnet", "punkt_tab"}
        assert checked.code == 1
        tasks = "medtasks,medcalc_bench_v1_2,medcalc_bench_corrected,medhallu_artificial"
        with LocalServer(lambda body: "The answer is A. The heart pumps. \\boxed{0}") as server:
            done = said([*server.run_of(tasks, "hub"), "--limit", "2", "--output_path", "results"], offline="1")
        assert done.code == 0, done
        assert {*tasks.split(",")} <= saved_results(tmp_path / "results")["results"].keys() and hub.asked == []
