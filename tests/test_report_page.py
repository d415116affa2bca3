"""The page before a browser sees it: the harness's numbers, data as data, and one clear error for the rest."""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from saved_runs import edit_lines, right_in, sample_file, save_run

from medtasks_utils.__main__ import main
from medtasks_utils.benchmarks import metric_of
from medtasks_utils.report import build_page
from medtasks_utils.report.findings import findings
from medtasks_utils.report.outcomes import (
    FORM,
    OUTCOMES,
    RIGHT,
    UNANSWERED,
    UNSURE,
    WRONG,
    outcome_block,
    outcomes,
)
from medtasks_utils.report.pairs import Comparer, Paired
from medtasks_utils.report.units import Unit, arrange
from medtasks_utils.results import Run, read_runs

LEXICAL = {"medexqa": {"use_explanations": True, "explanation_metrics": ["rougeL", "bleu"]}}
BOTH = ("strict-match", "flexible-extract")
EVERYTHING = ("medmcqa_openmed", "medexqa", "medcalc_bench", "medhallu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of all benchmarks, the group ``medexqa`` with explanation metrics among them."""
    folder = tmp_path_factory.mktemp("runs")
    save_run(folder / "a", right_in(0.7, "a"), tasks=EVERYTHING, model="org/first", metadata=LEXICAL)
    save_run(folder / "b", right_in(0.4, "b"), tasks=EVERYTHING, model="org/second", metadata=LEXICAL)
    return folder


@pytest.fixture(scope="module")
def runs(folder: Path) -> list[Run]:
    return read_runs([folder / "a", folder / "b"])


@pytest.fixture(scope="module")
def page(runs: list[Run]) -> Page:
    return Page(build_page(runs))


class Page(HTMLParser):
    """A page as its tables (rows of cells' texts, by caption), its text, its elements and its addresses."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source = source
        self.tables: dict[str, list[list[str]]] = {}
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._rows: list[list[str]] = []
        self._inside: list[str] = []
        self._caption = ""
        self.feed(source)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        if tag not in ("meta", "link", "input", "br"):
            self._inside.append(tag)
        if tag == "table":
            self._rows, self._caption = [], ""
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        while self._inside and self._inside.pop() != tag:
            pass
        if tag == "table":
            self.tables[self._caption] = self._rows

    def handle_data(self, data: str) -> None:
        if "script" in self._inside or "style" in self._inside:
            return
        self.text.append(data)
        if "caption" in self._inside:
            self._caption += data.strip()
        elif {"td", "th"} & set(self._inside):
            self._rows[-1][-1] += data.strip() + "\n" if data.strip() else ""

    def cell(self, caption: str, row: str, column: str) -> str:
        """The first line of a cell."""
        rows = self.tables[caption]
        place = [cell.strip() for cell in rows[0]].index(column)
        (found,) = (cells for cells in rows[1:] if cells[0].split("\n")[0] == row)
        return found[place].split("\n")[0]


def unit(runs: list[Run], name: str) -> Unit:
    (found,) = (unit for unit in arrange(runs) if unit.name == name)
    return found


# ---- numbers


def test_the_summary_has_the_harness_s_numbers(runs: list[Run], page: Page) -> None:
    columns = {
        "MedMCQA acc": ("medmcqa_openmed", "acc"),
        "MedExQA acc": ("medexqa", "acc"),
        "MedCalc-Bench acc": ("medcalc_bench", "acc"),
        "MedHallu f1": ("medhallu", "f1"),
        "MedHallu acc": ("medhallu", "acc"),
    }
    for filter_name in ("flexible-extract", "strict-match"):
        for run in runs:
            for column, (task, metric) in columns.items():
                value = run.results["results"][task][f"{metric},{filter_name}"]
                assert page.cell(f"Values in percent, {filter_name}", run.name, column) == f"{100 * value:.1f}"


def test_all_metrics_are_the_harness_s(runs: list[Run], page: Page) -> None:
    for task, title in (("medexqa", "MedExQA"), ("medhallu", "MedHallu"), ("medcalc_bench", "MedCalc-Bench")):
        for run in runs:
            reported = run.results["results"][task]
            for key, value in reported.items():
                metric, _, filter_name = key.partition(",")
                if not filter_name or metric.endswith("_stderr") or value == "N/A":
                    continue
                assert page.cell(f"{title}: all metrics, {filter_name}", metric, run.name) == metric_of(
                    metric, task
                ).shown(value)
    assert page.cell("MedExQA: all metrics, strict-match", "rougeL", "first") != "0.0"


def test_groups_take_the_place_of_their_tasks(runs: list[Run]) -> None:
    names = [unit.name for unit in arrange(runs)]
    assert names == ["medcalc_bench", "medexqa", "medhallu", "medmcqa_openmed"]
    medexqa = unit(runs, "medexqa")
    assert len(medexqa.results["first"].tasks) == 5 and medexqa.note == "the unweighted means over 5 tasks"


def test_breakdowns_add_up(runs: list[Run], page: Page) -> None:
    for title, name, task in (
        ("MedMCQA, acc (%) by subject", "Subject", "medmcqa_openmed"),
        ("MedCalc-Bench, acc (%) by category", "Category", "medcalc_bench"),
        ("MedCalc-Bench, acc (%) by calculator", "Calculator", "medcalc_bench"),
    ):
        rows = page.tables[f"{title}, strict-match"]
        assert [cell.strip() for cell in rows[0]] == [name, "n", "MDE", "first", "second"]
        counts = [int(row[1]) for row in rows[1:]]
        values = [float(row[3].split("\n")[0]) for row in rows[1:]]
        right = sum(n * value / 100 for n, value in zip(counts, values, strict=True))
        assert sum(counts) == len(runs[0].tasks[task].samples)
        assert right / sum(counts) == pytest.approx(runs[0].tasks[task].metrics["acc", "strict-match"].value, abs=1e-3)
    rows = page.tables["MedHallu by difficulty (%), flexible-extract"]
    assert [row[0].strip() for row in rows[1::2]] == ["easy", "medium", "hard"]
    assert page.tables["MedHallu by kind (%), flexible-extract"]


def test_specialties_end_in_the_macro_average(runs: list[Run], page: Page, tmp_path: Path) -> None:
    rows = page.tables["MedExQA by specialty (%), strict-match"]
    assert [cell.strip() for cell in rows[0]] == ["Specialty", "Run", "n", "MDE", "acc", "combined", "explanation"]
    assert len(rows) == 1 + 2 * (5 + 1)
    for run, row in zip(runs, rows[-2:], strict=True):
        reported = run.results["results"]["medexqa"]
        values = [cell.split("\n")[0] for cell in row[4:]]
        assert values == [
            metric_of(name, "medexqa").shown(reported[f"{name},strict-match"])
            for name in ("acc", "combined", "explanation")
        ]
    save_run(tmp_path, right_in(0.6), tasks="medexqa_all")
    (run,) = read_runs(tmp_path)
    macro = run.results["results"]["medexqa_all"]["macro_acc,strict-match"]
    whole = Page(build_page([run]))
    assert whole.cell("MedExQA, acc (%) by specialty, strict-match", "macro average", "model") == f"{100 * macro:.1f}"


def test_the_confusion_matrix_counts_every_example(runs: list[Run], page: Page) -> None:
    rows = page.tables["MedHallu: answers given (columns) where each was right (rows), flexible-extract"]
    assert [cell.strip() for cell in rows[0]][2:] == ["factual", "hallucinated", "unsure", "no answer"]
    counts = [int(cell.split("\n")[0]) for row in rows[1:] for cell in row[2:]]
    assert sum(counts) == 2 * len(runs[0].tasks["medhallu"].samples)


def test_outcomes_tell_format_from_knowledge(tmp_path: Path) -> None:
    answers = iter(["\\boxed{0}", "\\boxed{1}", "The answer is factual.", "\\boxed{0}", "\\boxed{2}", ""])
    save_run(tmp_path, lambda doc: next(answers), tasks="medhallu", limit=6)
    runs = read_runs(tmp_path)
    targets = [sample.target for sample in runs[0].tasks["medhallu"].samples]
    assert targets == ["0", "1"] * 3
    assert outcomes(runs[0].tasks["medhallu"].samples) == {RIGHT: 2, FORM: 1, WRONG: 1, UNSURE: 1, UNANSWERED: 1}
    (block,) = outcome_block(arrange(runs))
    (table,) = block.tables
    assert table.head[3:] == [name for name in OUTCOMES if name != "right for the strict rule alone"]
    assert [cell.text for cell in table.rows[0][2:]] == ["6", "33.3", "16.7", "16.7", "16.7", "16.7"]


def test_findings_say_who_leads_by_how_much_and_what_format_costs(tmp_path: Path) -> None:
    def unboxed(doc: dict[str, str]) -> str:
        return "The answer is factual." if doc["target"] == "0" else "The answer is hallucinated."

    save_run(tmp_path / "c", right_in(0.2), tasks="medhallu", model="weak")
    save_run(tmp_path / "b", unboxed, tasks="medhallu", model="unboxed")
    save_run(tmp_path / "a", tasks="medhallu", model="right")
    runs = read_runs([tmp_path / name for name in "cba"])
    said = [(finding.about, finding.text) for finding in findings(runs, arrange(runs), Comparer(runs, BOTH))]
    answered = [run.tasks["medhallu"].metrics["answered", "strict-match"].value for run in runs]
    assert said == [
        (
            "MedHallu, f1, strict-match",
            "No clear lead: weak 100.0, right 100.0. +0.0 points (too few) on the same examples.",
        ),
        (
            "Largest losses to the form of answers (strict-match)",
            "unboxed loses 100.0 points on MedHallu; " + lost(runs),
        ),
        (
            "Most without an answer, strict-match",
            f"unboxed leaves {100 * (1 - answered[1]):.1f} % of MedHallu; "
            f"weak leaves {100 * (1 - answered[0]):.1f} % of MedHallu.",
        ),
    ]
    (first, *_) = findings(runs, arrange(runs), Comparer(runs, BOTH), "flexible-extract")
    assert first.about == "MedHallu, f1, flexible-extract" and first.text.startswith("No clear lead: unboxed 100.0")


class Uncorrected(Comparer):
    """What corrected p-values say is set by hand; all else is found."""

    p_adjusted = 0.2

    def between(self, a: str, b: str, filter_name: str) -> Paired:
        found = super().between(a, b, filter_name)
        return replace(found, lines=[replace(line, p_adjusted=self.p_adjusted) for line in found.lines])


def test_an_interval_without_zero_that_is_not_significant_is_explained(runs: list[Run]) -> None:
    """The intervals are for each pair alone, the p-values corrected over the page."""
    comparer = Uncorrected(runs, BOTH)
    said = {finding.about: finding.text for finding in findings(runs, arrange(runs), comparer)}
    above_zero = {about: text for about, text in said.items() if re.search(r"\(\+\d[\d.]+ to \+", text)}
    about, text = next(iter(above_zero.items()))
    assert text.startswith("No clear lead once all comparisons of this page are counted: first ")
    assert text.endswith(" on the same examples, by an interval for this pair alone.")
    comparer.p_adjusted = 0.01
    said = {finding.about: finding.text for finding in findings(runs, arrange(runs), comparer)}
    assert said[about].startswith("first leads: ")


def lost(runs: list[Run]) -> str:
    """What the sentence says of the run ``weak``."""
    metrics = runs[0].tasks["medhallu"].metrics
    loss = 100 * (metrics["acc", "flexible-extract"].value - metrics["acc", "strict-match"].value)
    return f"weak loses {loss:.1f} points on MedHallu."


def test_runs_are_compared_with_the_first(runs: list[Run], page: Page) -> None:
    rows = page.tables["Differences from first by task, strict-match"]
    by_task = {tuple(row[0].split()): row for row in rows[1:]}
    row = by_task["medcalc_bench", "acc"]
    first, second = (run.tasks["medcalc_bench"].metrics["acc", "strict-match"].value for run in runs)
    assert (row[3].strip(), row[4].strip()) == (f"{100 * first:.1f}", f"{100 * second:.1f}")
    assert row[5].split("\n")[0] == f"{100 * (second - first):+.1f}".replace("-", "−")
    flips = {row[0].strip(): row for row in page.tables["Examples that changed sides, strict-match"][1:]}
    counts = [int(cell) for cell in flips["medhallu"][2:]]
    assert sum(counts) == len(runs[0].tasks["medhallu"].samples)


def test_every_result_carries_its_signature(runs: list[Run], page: Page) -> None:
    rows = page.tables["Signatures: everything that two numbers must share to be comparable"][1:]
    signatures = runs[0].tasks["medhallu"].signatures
    assert signatures
    for signature in signatures.values():
        (row,) = (row for row in rows if row[2].strip() == signature)
        summary = "".join(cell for rows in page.tables.values() for row in rows for cell in row)
        assert summary.count(row[0].strip()) >= 3, "in the table of signatures, and in both runs' results"


def test_one_run_alone_has_no_comparison(runs: list[Run]) -> None:
    page = Page(build_page(runs[:1]))
    assert not any(caption.startswith("Differences") for caption in page.tables)
    assert page.cell("Values in percent, flexible-extract", "first", "MedHallu f1")


def test_letters_scored_by_likelihood_have_a_page(tmp_path: Path) -> None:
    save_run(tmp_path, lambda doc: -len(doc["question"]) % 7, tasks="medexqa_logits")
    page = Page(build_page(read_runs(tmp_path)))
    assert page.tables["MedExQA: all metrics, none"]


# ---- one file, and data is data


def test_the_page_names_no_other_resource(page: Page) -> None:
    for tag, attributes in page.elements:
        for name in ("src", "href", "action", "srcset", "data", "poster", "xlink:href"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:,")), (tag, value)
        assert tag not in ("iframe", "object", "embed", "base", "img")
    assert "@import" not in page.source and "url(" not in page.source.split("<script", 1)[0]


def test_the_policy_allows_the_page_s_own_code_and_nothing_else(page: Page) -> None:
    (policy,) = (a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy and policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy and "*" not in policy and "http" not in policy
    for directive, pattern in (("script-src", r"<script>(.*?)</script>"), ("style-src", r"<style>(.*?)</style>")):
        (text,) = re.findall(pattern, page.source, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert not any(name.startswith("on") or name == "style" for _, attributes in page.elements for name in attributes)


def test_names_from_data_are_text(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u202e\x00\"'&"
    save_run(tmp_path / "a", right_in(0.5), tasks="medhallu", model="other")
    save_run(tmp_path / "b", right_in(0.5, "b"), tasks="medhallu", model="plain")
    runs = read_runs(tmp_path)
    plain = Page(build_page(runs))
    runs[0].name = runs[0].model = evil
    runs[0].problems.append(evil)
    for sample in runs[0].tasks["medhallu"].samples:
        sample.doc["difficulty"] = evil
    page = Page(build_page(runs))
    assert {tag for tag, _ in page.elements} == {tag for tag, _ in plain.elements} | {"summary", "details"}
    assert [tag for tag, _ in page.elements].count("script") == [tag for tag, _ in plain.elements].count("script")
    assert "\x00" not in page.source and "\u202e" not in page.source
    assert any("‹U+202E›‹U+0000›" in text for text in page.text)


# ---- files in any state


def test_damaged_runs_have_a_page_that_says_so(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "runs")
    (first,) = (tmp_path / "runs" / "a").glob("**/results_*.json")
    edit_lines(sample_file(first, "medhallu"), lambda lines: [*lines[:9], lines[9][:50]])
    sample_file(first, "medcalc_bench").unlink()
    (second,) = (tmp_path / "runs" / "b").glob("**/results_*.json")
    second.write_text("{", encoding="utf-8")
    text = "".join(Page(build_page(read_runs(tmp_path / "runs"))).text)
    assert "first: samples_medhallu" in text and "left out 1 line" in text
    assert "medcalc_bench: no samples" in text
    assert re.search(r"medhallu: \d of 28 samples", text)
    assert "cannot be read" in text


def test_results_without_samples_have_a_summary(folder: Path, tmp_path: Path) -> None:
    (path,) = (folder / "a").glob("**/results_*.json")
    shutil.copy(path, tmp_path)
    page = Page(build_page(read_runs(tmp_path)))
    value = read_runs(path)[0].results["results"]["medhallu"]["acc,strict-match"]
    assert page.cell("Values in percent, strict-match", "first", "MedHallu acc") == f"{100 * value:.1f}"
    assert 'data-store="samples"' not in page.source


# ---- the command


def test_the_command_writes_the_page(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "r.html"
    assert main(["report", str(folder / "a"), str(folder / "b"), "-o", str(output)]) == 0
    assert re.fullmatch(rf"{re.escape(str(output))}: 2 runs, [\d.]+ MB, [\d.]+ s\n", capsys.readouterr().out)
    assert output.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "no file or folder nowhere"),
        (["empty"], "no results in empty"),
        (["run", "-o", "empty"], "is a folder; name a file"),
        (["run", "-o", "no/such/report.html"], "there is no folder"),
    ],
)
def test_one_clear_error(
    arguments: list[str],
    words: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "run").symlink_to(folder / "a")
    assert main(["report", *arguments]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("medtasks: error: ") and words in line


def test_repeated_generations_are_partly_right(tmp_path: Path) -> None:
    answers = itertools.cycle(["\\boxed{0}", "\\boxed{1}"])
    save_run(tmp_path, lambda doc: next(answers), tasks="medhallu", metadata={"medhallu": {"repeats": 2}}, limit=2)
    page = Page(build_page(read_runs(tmp_path)))
    assert page.cell("Values in percent, strict-match", "model", "MedHallu acc") == "50.0"


def test_all_comparisons_of_a_page_are_corrected_together(runs: list[Run]) -> None:
    found = Comparer(runs, BOTH)
    pairs = [found.between("first", "second", name) for name in BOTH]
    for is_part in (False, True):
        lines = [line for pair in pairs for line in pair.lines if (line.breakdown is not None) == is_part]
        tested = [line for line in lines if line.contrast.p is not None]
        assert {line.filter for line in tested} == set(BOTH)
        smallest = min(tested, key=lambda line: line.contrast.p or 0)
        assert smallest.p_adjusted == pytest.approx(min(1, len(tested) * (smallest.contrast.p or 0)))


def test_a_mean_over_benchmarks_rests_on_their_examples(tmp_path: Path) -> None:
    """All right: the interval is as wide as the tasks' own say, and marked."""
    save_run(tmp_path, tasks="medtasks")
    (whole, *parts) = arrange(read_runs(tmp_path))
    found = whole.estimate("model", "strict-match", "acc")
    each = [part.estimate("model", "strict-match", "acc") for part in parts]
    assert whole.is_overall and found.n == sum(part.n for part in each) and found.few
    assert found.low is not None and found.low > max(part.low or 0 for part in each) and found.high == 1


def test_a_value_that_the_samples_do_not_give_is_said(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "a", tmp_path / "a")
    (path,) = (tmp_path / "a").glob("**/results_*.json")
    edit_lines(
        sample_file(path, "medhallu"), lambda lines: [line.replace(b'"acc": 0.0', b'"acc": NaN') for line in lines]
    )
    text = "".join(Page(build_page(read_runs(tmp_path))).text)
    assert re.search(r"values of acc \(strict-match\) are no numbers", text)
    assert re.search(r"acc \(strict-match\) is [\d.]+ as reported, but 100.0 by the samples", text)
