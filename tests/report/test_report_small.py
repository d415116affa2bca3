"""All that is made of three small runs: the page's numbers and samples, tables, figures, published files, frames.

``small/`` has the runs, ``expected/`` what is made of them (every seventh sample). To write it anew after a change, and
read the difference: ``PYTHONPATH=tests/support python tests/report/test_report_small.py``.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from page_numbers import Page, unpacked

from medtasks_utils.__main__ import main
from medtasks_utils.report import eval_results, every_eval_ever
from medtasks_utils.report.packed_samples import SamplePacker
from medtasks_utils.report.page import FIGURES, build_page, leaderboard_figure
from medtasks_utils.report.score_table import cautions, lines_of, score_data, score_table
from medtasks_utils.report.summary import problems
from medtasks_utils.results.frames import load_runs

SMALL, EXPECTED = (Path(__file__).with_name(name) for name in ("small", "expected"))


def made(patch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What is made of the runs, by name, on a day long ago."""
    patch.setattr("time.time", lambda: 0.0)
    patch.setattr(every_eval_ever, "version", lambda name: "0")
    runs = load_runs(SMALL)
    lines = lines_of(runs[0])
    packer = SamplePacker()
    names = [packer.add(run).name for run in runs]
    index, documents, samples = (unpacked(*chunks) for chunks in packer.parts(names).values())
    published = {**eval_results.contents(runs[0], True), **every_eval_ever.contents(runs[0], "org/first", True)}
    page = Page(build_page(runs))
    return {
        "page": {"leads": page.leads, "chips": page.chips, "rows": page.rows},
        "index": index,
        "documents": documents[::7],
        "samples": samples[::7],
        "table": [[*score_table(lines).split("\n"), *cautions(lines)], score_data(lines)],
        "figures": {form: leaderboard_figure(runs, form).splitlines() for form in FIGURES},
        "published": {name: text.splitlines() for name, text in published.items()},
        "frames": [json.loads(frame.to_json(orient="records"))[::7] for frame in runs.to_pandas()],
        "said": problems(runs),
    }


@pytest.fixture(scope="module")
def found():
    with pytest.MonkeyPatch.context() as patch:
        return made(patch)


@pytest.mark.parametrize("name", sorted(path.stem for path in EXPECTED.iterdir()))
def test_page_tables_figures_and_files_of_small_runs_are_as_recorded(found, name):
    expected = (EXPECTED / f"{name}.json").read_text(encoding="utf-8")
    texts = json.dumps(found[name]), expected
    one, other = (json.loads(text, parse_float=lambda number: round(float(number), 6)) for text in texts)
    assert one == other


def test_prompts_and_responses_lie_beside_the_page(found, tmp_path):
    page, beside = tmp_path / "r.html", tmp_path / "r_files"
    beside.mkdir()
    (beside / "samples-9.js").touch()  # of an earlier page
    assert main(["report", str(SMALL), "-o", str(page), "--split"]) == 0
    assert sorted(path.name for path in beside.iterdir()) == ["documents-0.js", "samples-0.js"]
    for name in ("documents", "samples"):
        script = re.fullmatch(rf'part\("{name}",0,"([^"]*)"\)\n', (beside / f"{name}-0.js").read_text())
        assert script and all(record in unpacked(script[1]) for record in found[name])
    stores = [
        attributes["data-store"] for _, attributes in Page(page.read_text()).elements if "data-store" in attributes
    ]
    assert stores == ["index"]


if __name__ == "__main__":
    for name, value in made(pytest.MonkeyPatch()).items():
        text = json.dumps(value, indent=1, ensure_ascii=False)
        (EXPECTED / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
