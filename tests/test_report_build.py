"""How the page is built: the baseline, what is compared, colours that people can tell apart, progress."""

from __future__ import annotations

import io
import itertools
import math
import re
from importlib.resources import files
from pathlib import Path

import pytest
from saved_runs import right_in, save_run

from medtasks_utils.__main__ import main
from medtasks_utils.compare.pairing import comparability
from medtasks_utils.report import with_baseline_first
from medtasks_utils.report.charts import Point, dot_plot
from medtasks_utils.report.pairs import Comparer
from medtasks_utils.report.progress import progress
from medtasks_utils.report.runs import runs_section
from medtasks_utils.report.tables import estimate_cells
from medtasks_utils.report.units import arrange
from medtasks_utils.results import ResultsError, Run, read_runs
from medtasks_utils.statistics.intervals import Estimate
from medtasks_utils.statistics.metrics import Metric


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name, share in (("a", 0.8), ("b", 0.4), ("c", 0.5)):
        save_run(folder / name, right_in(share, name), tasks=("medhallu", "medmcqa_openmed"), model=f"org/{name}")
    return folder


@pytest.fixture
def runs(folder: Path) -> list[Run]:
    return read_runs(folder)


# ---- the baseline


def test_the_baseline_goes_by_name_model_or_folder(runs: list[Run], folder: Path) -> None:
    assert [run.name for run in with_baseline_first(runs, None)] == ["a", "b", "c"]
    for name in ("b", "org/b", str(folder / "b"), str(runs[1].path)):
        assert [run.name for run in with_baseline_first(runs, name)] == ["b", "a", "c"]
    runs[2].date = "1999"
    assert [run.name for run in with_baseline_first(runs, None, oldest=True)] == ["c", "a", "b"]
    for name, words in (("d", "no run is named 'd'"), (str(folder), "3 runs are named")):
        with pytest.raises(ResultsError, match=re.escape(words)):
            with_baseline_first(runs, name)


def test_the_command_takes_a_baseline(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "r.html"
    assert main(["report", str(folder), "-o", str(output), "--baseline", "c"]) == 0
    assert 'data-baseline="c"' in output.read_text(encoding="utf-8")
    assert main(["report", str(folder), "-o", str(output), "--baseline", "x"]) == 1
    assert "--baseline takes one of a, b, c" in capsys.readouterr().err


def test_a_file_that_holds_no_run_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "results_x.json").write_text('{"a": ')
    assert main(["report", str(tmp_path / "results_x.json"), "-o", str(tmp_path / "r.html")]) == 1
    assert "nothing to report: " in (error := capsys.readouterr().err) and "results_x.json cannot be read" in error
    assert not (tmp_path / "r.html").exists()


# ---- what may be compared


def signed(run: Run, task: str, **fields: str) -> None:
    """Change fields of a task's signatures."""
    own = run.tasks[task]
    for name, text in own.signatures.items():
        for key, value in fields.items():
            text = re.sub(rf"\|{key}:[^|]*", f"|{key}:{value}", text)
        own.signatures[name] = text


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, ""),
        ({"data": "hub@123", "select": "difficulty=hard"}, ""),
        ({"n": "7", "rows": "abc"}, ""),  # the examples themselves decide
        ({"prompt": "abc"}, "the prompts differ"),
        ({"opts": "x=1"}, "the options differ"),
        ({"repeats": "4"}, ""),
        ({"gen": "temperature=1"}, ""),
        ({"v": "9"}, "the task's versions differ"),
        ({"lm_eval": "9"}, ""),
        ({"scorers": "x#1"}, ""),
    ],
)
def test_results_are_compared_if_their_signatures_are_equal(
    runs: list[Run], fields: dict[str, str], words: str
) -> None:
    a, b, _ = runs
    signed(b, "medhallu", **fields)
    found = comparability(a.tasks["medhallu"], b.tasks["medhallu"], "strict-match")
    assert found.why_not.startswith(words) and bool(found.why_not) == bool(words)
    assert bool(found.warned) == bool({"repeats", "gen", "lm_eval"} & set(fields))
    unit = next(unit for unit in arrange(runs) if unit.name == "medhallu")
    assert set(unit.odd_ones("strict-match", "f1")) == ({"b"} if words else set())
    paired = Comparer(runs, ["strict-match"]).between("a", "b", "strict-match")
    assert ("medhallu" in paired.refused) == bool(words)
    assert any(line.task == "medhallu" for line in paired.lines) != bool(words)
    assert any(line.task == "medmcqa_openmed" for line in paired.lines)


def test_explanations_need_equal_scorers(runs: list[Run]) -> None:
    a, b, _ = runs
    signed(b, "medhallu", scorers="x#1")
    found = comparability(a.tasks["medhallu"], b.tasks["medhallu"], "strict-match", of_explanations=True)
    assert found.why_not.startswith("the explanation metrics")


@pytest.mark.parametrize("which", ["ab", "a", "b"])
def test_without_a_signature_the_examples_decide(runs: list[Run], which: str) -> None:
    a, b, _ = (run.tasks["medhallu"] for run in runs)
    for task in (a if name == "a" else b for name in which):
        task.signatures.clear()
    found = comparability(a, b, "strict-match")
    assert not found.why_not and "a signature" in found.warned[0]
    b.samples[0].doc_hash = "another"
    b.__dict__.pop("examples", None)
    assert "27 in both, 1 only in A, 1 only in B" in comparability(a, b, "strict-match").why_not


def test_nothing_is_marked_as_best_over_unequal_numbers_of_examples() -> None:
    better, worse, fewer = Estimate(9, 0.8), Estimate(9, 0.7), Estimate(5, 0.9)
    cells = [Cell("80.0"), Cell("70.0"), Cell("90.0", "75.0 to 98.0")]
    assert [cell.best for cell in mark_best(cells[:2], [better, worse])] == [True, False]
    marked = mark_best(cells, [better, worse, fewer])
    assert not any(cell.best for cell in marked)
    assert [cell.small for cell in marked] == ["n 9", "n 9", "75.0 to 98.0\nn 5"]


def test_a_pair_the_other_way_round_is_its_mirror(runs: list[Run]) -> None:
    comparer = Comparer(runs, ["strict-match"])
    forth, back = (comparer.between(*names, "strict-match") for names in (("a", "b"), ("b", "a")))
    direct = Comparer(runs[::-1], ["strict-match"]).between("b", "a", "strict-match")
    assert back.mirrored() == forth
    for line, other in zip(back.lines, direct.lines, strict=True):
        assert (line.task, line.metric, line.group) == (other.task, other.metric, other.group)
        assert line.contrast.difference == pytest.approx(other.contrast.difference)
        assert line.contrast.low == pytest.approx(other.contrast.low) and line.contrast.n == other.contrast.n
    assert back.sides == direct.sides


# ---- runs


def test_keys_are_not_shown(runs: list[Run]) -> None:
    config = runs[0].results["config"]
    config["model_args"] = "model=x,base_url=http://h:1/v1,api_key=sk-123,auth_token=abc"
    config["gen_kwargs"] = {"temperature": 1, "password": "abc"}
    (table,) = runs_section(runs, arrange(runs)).blocks[0].tables
    row = dict(zip(table.head, table.rows[0], strict=True))
    assert row["Model arguments"].code == "model=x,base_url=http://h:1/v1,api_key=…,auth_token=…"
    assert row["Generation settings"].code == "temperature=1,password=…"


# ---- plots


def test_plots_hold_what_they_are_given() -> None:
    drawn = dot_plot([Point("<b>", "a", 50.0, 40.0, 60.0), Point("<b>", 'b"', 0.0, 0.0, 0.0)], ["a", 'b"'], 'x"<')
    assert "<bdi>&lt;b&gt;</bdi>" in drawn and 'aria-label="x&#34;&lt;"' in drawn
    assert 'x1="66.67%" x2="100.00%"' in drawn or 'x="83.33%"' in drawn
    assert dot_plot([], ["a"], "x") == ""


MACHADO = {  # severity 1.0 (Machado, Oliveira & Fernandes, IEEE TVCG 2009), on linear RGB
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def palette(name: str, theme: str) -> list[list[float]]:
    """Colours of the style sheet in linear RGB."""
    style = files("medtasks_utils.report").joinpath("assets/page.css").read_text(encoding="utf-8")
    found = re.findall(rf"--{name}-\d: light-dark\((#\w+), (#\w+)\);", style)
    codes = [pair[theme == "dark"] for pair in found]
    return [[(int(code[i : i + 2], 16) / 255) ** 2.2 for i in (1, 3, 5)] for code in codes]


def lab(linear: list[float]) -> list[float]:
    """CIE L*a*b* of linear RGB, D65."""
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    xyz = [sum(c * max(0.0, v) for c, v in zip(row, linear, strict=True)) for row in rows]
    x, y, z = (
        math.cbrt(v / w) if v / w > 0.008856 else 7.787 * v / w + 16 / 116
        for v, w in zip(xyz, (0.9505, 1, 1.089), strict=True)
    )
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]


def seen_by(linear: list[float], matrix: tuple[tuple[float, ...], ...]) -> list[float]:
    return [min(1.0, max(0.0, sum(c * v for c, v in zip(row, linear, strict=True)))) for row in matrix]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_runs_are_told_apart_by_colour_with_any_vision(theme: str) -> None:
    colours = palette("run", theme)
    assert len(colours) == 8
    for matrix in (((1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0)), *MACHADO.values()):
        for one, other in itertools.combinations(colours, 2):
            assert math.dist(lab(seen_by(one, matrix)), lab(seen_by(other, matrix))) > 10


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_outcomes_are_told_apart_in_grey(theme: str) -> None:
    levels = [lab(colour)[0] for colour in palette("outcome", theme)]
    steps = [b - a for a, b in itertools.pairwise(levels)]
    assert all(step > 5 for step in steps) or all(step < -5 for step in steps)


# ---- progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_silent_at_first() -> None:
    quiet, loud, log = io.StringIO(), Terminal(), io.StringIO()
    for stream, seconds in ((quiet, 60.0), (loud, 0.0), (log, 0.0)):
        with Progress(stream, seconds) as progress:
            progress("reading")
            progress("comparing")
    assert quiet.getvalue() == ""
    assert loud.getvalue() == "\r\033[K0 s: reading\r\033[K0 s: comparing\r\033[K"
    assert log.getvalue() == "0 s: reading\n0 s: comparing\n"


def test_a_difference_that_cannot_be_is_not_said_to_be_detectable() -> None:
    share, score = Metric("acc"), Metric("explanation", unit="points")
    assert [share.detectable(value) for value in (0.107, 1.0, 1.2, None)] == ["10.7", "100.0", "–", "–"]
    assert [score.detectable(value) for value in (10.7, 120.0)] == ["10.7", "–"]
