"""The page before a browser sees it: the harness's numbers, fair comparisons, data as data, and one clear error."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import lxml.html
import pytest
from saved_runs import right_in, save_run, save_two

from medtasks_utils.__main__ import main
from medtasks_utils.benchmarks import benchmarks, metric_of
from medtasks_utils.benchmarks.base import UNANSWERED, Abstention, AbstentionRow
from medtasks_utils.compare.pairing import comparability
from medtasks_utils.report.answer_tables import found_by_block
from medtasks_utils.report.charts import dot_plot
from medtasks_utils.report.findings import findings
from medtasks_utils.report.outcomes import outcome_block, outcomes
from medtasks_utils.report.page import build_page
from medtasks_utils.report.pairs import all_pairs
from medtasks_utils.report.report_tables import estimate_cells
from medtasks_utils.report.run_settings import runs_section
from medtasks_utils.report.topics import topics_of
from medtasks_utils.results import Run, read_runs
from medtasks_utils.statistics.intervals import Estimate
from medtasks_utils.statistics.metrics import Metric
from medtasks_utils.statistics.ratio import Interval

LEXICAL = {"medexqa": {"use_explanations": True, "explanation_metrics": ["rougeL", "bleu"]}}
EVERYTHING = ("medmcqa_openmed", "medexqa", "medcalc_bench", "medhallu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of all benchmarks, the group ``medexqa`` with explanation metrics among them, and one without scores."""
    folder = save_two(tmp_path_factory.mktemp("runs"), tasks=EVERYTHING, metadata=LEXICAL)
    save_run(folder / "c", tasks="medhallu", model="org/third", predict_only=True)
    return folder


@pytest.fixture
def runs(folder: Path) -> list[Run]:
    return read_runs([folder / "a", folder / "b"])


@pytest.fixture(scope="module")
def page(folder: Path) -> Page:
    return Page(build_page(read_runs(folder)))


def texts(elements: Iterable[Any]) -> list[str]:
    return [text.strip() for each in elements for text in each.itertext() if text.strip()]


class Page:
    """A page as its tables (rows of cells' texts, by caption), its text and its elements."""

    def __init__(self, source: str) -> None:
        self.source = source
        root = lxml.html.document_fromstring(source.encode(), lxml.html.HTMLParser(encoding="utf-8"))
        self.elements = [(str(each.tag), dict(each.attrib)) for each in root.iter() if isinstance(each.tag, str)]
        self.tables = {
            "".join(texts(table.iter("caption"))): [
                ["\n".join(texts([cell])) for cell in row] for row in table.iter("tr")
            ]
            for table in root.iter("table")
        }
        self.text = texts([root])

    def cell(self, caption: str, row: str, column: str) -> str:
        """The first line of a cell."""
        head, *rows = ([cell.strip().split("\n")[0] for cell in each] for each in self.tables[caption])
        (found,) = (cells for cells in rows if cells[0] == row)
        return found[head.index(column)]


# ---- numbers


def test_numbers_are_the_harness_s(runs: list[Run], page: Page) -> None:
    titles = {"medexqa": "MedExQA", "medhallu": "MedHallu", "medcalc_bench": "MedCalc-Bench"}
    for run in runs:
        for task, title in titles.items():
            for key, value in run.results["results"][task].items():
                metric, _, filter_name = key.partition(",")
                if filter_name and not metric.endswith("_stderr") and value != "N/A":
                    shown = metric_of(metric, task).shown(value)
                    assert page.cell(f"{title}: all metrics, {filter_name}", metric, run.name) == shown
        of_summary = run.results["results"]["medhallu"]["f1,strict-match"]
        assert (
            page.cell("Shares in percent, other values as they are, strict-match", run.name, "MedHallu f1")
            == f"{100 * of_summary:.1f}"
        )
        macro = run.results["results"]["medexqa"]["acc,strict-match"]
        table = "MedExQA, acc (%) by specialty, strict-match"
        assert page.cell(table, "macro average", run.name) == f"{100 * macro:.1f}"
    assert page.cell("MedExQA: all metrics, strict-match", "rougeL", "first") != "0.0"
    assert any("third: left out, because it has no scores" in text for text in page.text)


def test_parts_add_up(runs: list[Run], page: Page) -> None:
    rows = page.tables["MedCalc-Bench, acc (%) by calculator, strict-match"]
    assert [cell.strip() for cell in rows[0]] == ["Calculator", "n", "MDE", "first", "second"]
    task = runs[0].tasks["medcalc_bench"]
    right = sum(int(row[1]) * float(row[3].split("\n")[0]) / 100 for row in rows[1:])
    assert sum(int(row[1]) for row in rows[1:]) == len(task.samples)
    assert right / len(task.samples) == pytest.approx(task.metrics["acc", "strict-match"].value, abs=1e-3)


def test_outcomes_tell_format_from_knowledge(tmp_path: Path) -> None:
    answers = iter(["\\boxed{0}", "\\boxed{1}", "The answer is factual.", "\\boxed{0}", "\\boxed{2}", ""])
    save_run(tmp_path, lambda doc: next(answers), tasks="medhallu", limit=6)
    runs = read_runs(tmp_path)
    assert outcomes(topics_of(runs)[0].results["model"]) == {
        "right": 2,
        "right, lost to its form": 1,
        "wrong": 1,
        "unsure": 1,
        "no answer found": 1,
    }
    block = outcome_block(topics_of(runs), ["model"])
    assert [cell.text for cell in block.table.rows[0][2:]] == ["6", "33.3", "16.7", "16.7", "16.7", "16.7"]


def test_the_cost_of_abstaining_is_what_the_benchmark_declares(
    runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row shows a metric as it was reported, or counts the answers anew; without rows there is no table."""
    caption, title = "MedHallu: the cost of abstaining (%), strict-match", "The cost of abstaining"
    silent = AbstentionRow("silent", "acc", lambda answer, doc: float(answer == UNANSWERED))
    declared = Abstention("2", "unsure_rate", (silent, AbstentionRow("in all", "acc")), "Read this.")
    for abstention, shown in ((declared, True), (Abstention("2", "unsure_rate"), False), (None, False)):
        monkeypatch.setattr(type(benchmarks()["medhallu"]), "abstention", abstention)
        page = Page(build_page(runs))
        assert (caption in page.tables) == (title in page.text) == ("Read this." in page.text) == shown
        if shown:
            samples = runs[0].tasks["medhallu"].samples
            share = sum(sample.answers["strict-match"] == [UNANSWERED] for sample in samples) / len(samples)
            assert 0 < share < 1 and page.cell(caption, "silent", "first") == f"{100 * share:.1f}"
            assert page.cell(caption, "in all", "first") == page.cell(
                "MedHallu: all metrics, strict-match", "acc", "first"
            )
            assert [row[0] for row in page.tables[caption][1:]] == ["silent", "in all"]


# ---- what may be compared, and what is said of it


def signed(run: Run, task: str, **fields: str) -> None:
    """Change fields of a task's signatures."""
    for name, text in run.tasks[task].signatures.items():
        for key, value in fields.items():
            text = re.sub(rf"\|{key}:[^|]*", f"|{key}:{value}", text)
        run.tasks[task].signatures[name] = text


@pytest.mark.parametrize(
    ("fields", "words"),
    [({"data": "hub@123", "n": "7", "rows": "abc", "lm_eval": "9", "scorers": "x#1"}, ""),
     ({"prompt": "abc"}, "the prompts differ"), ({"v": "9"}, "the task's versions differ")],
)  # fmt: skip
def test_results_are_compared_if_they_measure_the_same(runs: list[Run], fields: dict[str, str], words: str) -> None:
    a, b = runs
    signed(b, "medhallu", **fields)
    found = comparability(a.tasks["medhallu"], b.tasks["medhallu"], "strict-match")
    assert found.reason.startswith(words) and bool(found.reason) == bool(words)
    units = topics_of(runs)
    pairs = all_pairs(runs, ["strict-match"])
    paired = pairs["first", "second", "strict-match"]
    assert ("medhallu" in paired.refused) == bool(words)
    assert any(line.task == "medhallu" for line in paired.differences) != bool(words)
    cards = dict(findings(units, pairs))
    assert ("Not comparable" in cards) == bool(words), "one line that counts them"
    assert ("second" in cards["MedHallu, f1, strict-match"]) != bool(words)


def test_a_task_without_samples_keeps_no_other_from_being_compared(runs: list[Run]) -> None:
    a, b = runs
    b = replace(b, tasks={**b.tasks, "medhallu": replace(b.tasks["medhallu"], samples_path=None)})
    paired = all_pairs([a, b], ["strict-match"])["first", "second", "strict-match"]
    assert set(paired.refused) == {"medhallu"}, paired.refused
    assert {line.task for line in paired.differences} >= {"medexqa", "medmcqa_openmed", "medcalc_bench"}


def test_nothing_is_marked_as_best_over_unequal_numbers_of_examples() -> None:
    acc = Metric("acc")
    ends = Interval(0.5, 0.9)
    better, worse = Estimate(19, 0.8, interval=ends), Estimate(19, 0.7, interval=ends)
    fewer = Estimate(15, 0.9, interval=Interval(0.75, 0.98))
    assert not any(cell.best for cell in estimate_cells([Estimate(1, 1.0), Estimate(1, 0.0)], acc, True)), "too few"
    assert [cell.best for cell in estimate_cells([better, worse], acc, True)] == [True, False]
    assert not any(cell.best for cell in estimate_cells([better, worse], acc, False))
    marked = estimate_cells([better, worse, fewer], acc, True)
    assert not any(cell.best for cell in marked)
    assert [cell.small for cell in marked] == ["50.0 to 90.0\nn 19", "50.0 to 90.0\nn 19", "75.0 to 98.0\nn 15"]


def test_every_generation_counts_in_how_its_answer_was_found(tmp_path: Path) -> None:
    """Of four generations, each is right or wrong by itself: none without an answer is right."""
    answers = iter(["\\boxed{0}", "", "\\boxed{1}", "The answer is factual."] * 100)
    save_run(tmp_path, lambda doc: next(answers), tasks="medhallu", metadata={"medhallu": {"repeats": 4}})
    (run,) = read_runs(tmp_path)
    (topic,) = topics_of([run])
    rows = {row[0].text: row for row in found_by_block(topic, "strict-match").table.rows}
    examples = len(run.tasks["medhallu"].samples)
    assert sum(int(row[1].text) for row in rows.values()) == 4 * examples
    assert rows["none"][2].text == "0.0" and float(rows["box"][2].text) > 0


def test_plots_say_which_runs_they_leave_out() -> None:
    runs = [f"run {number}" for number in range(12)]
    plot = dot_plot([("a", run, Estimate(20, 0.5), Metric("acc")) for run in runs], runs, "By a")
    assert plot and plot.caption == "By a; the first 8 of 12 runs" and list(plot.numbers) == runs[:8]


# ---- one file, and data is data


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


# ---- runs


def test_keys_are_not_shown(runs: list[Run]) -> None:
    config = runs[0].results["config"]
    config["model_args"] = "model=x,base_url=http://h:1/v1,api_key=sk-123,auth_token=abcdef"
    config["gen_kwargs"] = {"temperature": 1, "password": "abcdef"}
    runs[0].results["medtasks"] = {"tokens": {"prompt": 4321, "completion": 765, "replies": 10}}
    table = runs_section(runs).blocks[0].table
    row = dict(zip(table.head, table.rows[0], strict=True))
    assert row["Model arguments"].code == "model=x,base_url=http://h:1/v1,api_key=[secret],auth_token=[secret]"
    assert row["Generation settings"].code == "temperature=1,password=[secret]"
    assert row["Tokens"].text == "4,321 in · 765 out" and "Limit" not in row
    assert re.fullmatch(r"20\d\d-\d\d-\d\d \d\d:\d\d UTC", row["Started"].text)


# ---- the command


def test_the_command(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "r.html"
    assert main(["report", str(folder), "-o", str(output), "--baseline", "second"]) == 0
    assert re.fullmatch(rf"{re.escape(str(output))}: 3 runs, [\d.]+ MB, [\d.]+ s\n", capsys.readouterr().out)
    assert 'data-baseline="second"' in output.read_text(encoding="utf-8")
    (tmp_path / "results.json").write_text('{"a": ')
    for arguments, words in (
        ([folder, "-o", output, "--baseline", "x"], "--baseline takes one of first, second"),
        ([tmp_path / "nowhere"], "no file or folder"),
        ([tmp_path / "results.json", "-o", tmp_path / "n.html"], "results.json cannot be read"),
    ):
        assert main(["report", *map(str, arguments)]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("medtasks: error: ") and words in line
    assert not (tmp_path / "n.html").exists()
