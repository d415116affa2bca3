"""The page before a browser sees it: the harness's numbers, fair comparisons, data as data, and one clear error."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from importlib import resources

import lxml.etree
import lxml.html
import pytest
from page_numbers import Page
from saved_runs import right_in, sample_file, save_run, save_two

from medtasks_utils.__main__ import main
from medtasks_utils.benchmarks import benchmarks, metric_of
from medtasks_utils.benchmarks.base import UNANSWERED, Abstention, AbstentionRow
from medtasks_utils.compare.pairing import comparability
from medtasks_utils.errors import MedtasksError
from medtasks_utils.report.answer_tables import found_by_table
from medtasks_utils.report.comparison import comparison_data
from medtasks_utils.report.outcomes import outcomes
from medtasks_utils.report.page import build_page, leaderboard_figure
from medtasks_utils.report.ranking import ranks
from medtasks_utils.report.run_settings import settings_table
from medtasks_utils.report.text import as_tex
from medtasks_utils.report.topics import topics_of
from medtasks_utils.results import Run, read_runs
from medtasks_utils.results.budgets import budget_curve
from medtasks_utils.results.samples import read_samples

LEXICAL = {"medexqa": {"use_explanations": True, "explanation_metrics": ["rougeL", "bleu"]}}
EVERYTHING = ("medmcqa_openmed", "medexqa", "medcalc_bench", "medhallu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two runs of all benchmarks, the group ``medexqa`` with explanation metrics among them, and one without scores."""
    folder = save_two(tmp_path_factory.mktemp("runs"), tasks=EVERYTHING, metadata=LEXICAL)
    save_run(folder / "c", tasks="medhallu", model="org/third", predict_only=True)
    return folder


@pytest.fixture
def runs(folder):
    return read_runs([folder / "a", folder / "b"])


@pytest.fixture(scope="module")
def page(folder):
    return Page(build_page(read_runs(folder)))


# ---- numbers


def test_numbers_are_the_harness_s(runs, page):
    for number, run in enumerate(runs):
        for task in ("medexqa", "medhallu", "medcalc_bench"):
            for key, value in run.results["results"][task].items():
                metric, _, filter_name = key.partition(",")
                if filter_name and not metric.endswith("_stderr") and value != "N/A":
                    shown = value * metric_of(metric, task).scale
                    found = page.value(task, "All metrics", metric, run.name, filter_name)
                    assert found == pytest.approx(shown, abs=1e-4)
        f1 = run.results["results"]["medhallu"]["f1,strict-match"]
        assert page.column("medhallu")["values"][number][0] == pytest.approx(100 * f1, abs=1e-4)
    assert page.value("medexqa", "All metrics", "rougeL", "first") > 0
    assert any("third: left out, since it has no scores" in text for text in page.text)


def test_parts_add_up(runs, page):
    rows = page.blocks("medcalc_bench")["acc by calculator"]["rows"]
    task, values = runs[0].tasks["medcalc_bench"], [row["values"][0] for row in rows]
    right = sum(value * n / 100 for value, _, _, n, *_ in values)
    assert sum(n for _, _, _, n, *_ in values) == len(task.samples)
    assert right / len(task.samples) == pytest.approx(task.metrics["acc", "strict-match"].value, abs=1e-3)


def test_outcomes_tell_format_from_knowledge(tmp_path):
    answers = iter(["\\boxed{0}", "\\boxed{1}", "The answer is factual.", "\\boxed{0}", "\\boxed{2}", ""])
    save_run(tmp_path, lambda doc: next(answers), tasks="medhallu", limit=6)
    runs = read_runs(tmp_path)
    assert outcomes(topics_of(runs)[0].results["model"]) == {
        "right": 2,
        "right, but in the wrong form": 1,
        "wrong": 1,
        "unsure": 1,
        "no answer found": 1,
    }
    page = Page(build_page(runs))
    (ends,) = page.numbers["board"]["ends"]["medhallu"]
    assert ends["percent"] == [0, 33.33, 16.67, 16.67, 16.67, 16.67, 0] and ends["n"] == 6
    assert ends["look"] == {"never": 4, "format": 1, "cut": 0} and ends["cut"] is None


def test_prompts_that_were_refused_are_unanswered(tmp_path):
    name = "medexqa_clinical_psychology_logits"
    path = save_run(tmp_path, lambda doc: "1", tasks=name)
    log = sample_file(path, name)
    first, *others = map(json.loads, log.read_text().splitlines())
    first.update(acc=0.0, resps=[[""]] * 5, filtered_resps=[""] * 5, refusal=["too long"])
    log.write_text("".join(json.dumps(line) + "\n" for line in (first, *others)))
    (topic,) = topics_of(read_runs(tmp_path))
    assert outcomes(topic.results["model"])["no answer found"] == 1
    refused, answered, *_ = topic.results["model"].samples
    assert (refused.answers, refused.responses) == ({"none": [UNANSWERED]}, [""])
    assert refused.target in "ABCD" and answered.target in "ABCD", "not an index"
    log.write_text(json.dumps({**first, "target": "B"}) + "\n")
    assert [sample.target for sample in read_samples(log).samples] == ["B"]


def test_f1_says_that_its_examples_are_decided(runs, page):
    """It leaves out the unsure and the unanswered; the difference that it detects lies within its range."""
    column = page.column("medhallu")
    n = sum(sample.answers["strict-match"][0] in "01" for sample in runs[0].tasks["medhallu"].samples)
    assert (column["values"][0][3], column["counted"]) == (n, " decided")
    lines = page.numbers["compared"]["pairs"][0]["lines"]
    assert {line["counted"] for line in lines if line["metric"] == "f1"} == {" decided"}
    abstaining = {row["label"]: row["counted"] for row in page.blocks("medhallu")["The cost of abstaining"]["rows"]}
    assert (abstaining["F1 of the decided"], abstaining["F1 of all"]) == (" decided", "")
    figures = (block for block in page.blocks("medhallu").values() if block["kind"] == "figure")
    shown = [value for block in figures for row in block["rows"] for value in row["values"] if value and row["drawn"]]
    assert all(value[5] is None or 0.01 < value[5] <= 100 for value in shown)


def test_names_are_escaped_for_latex():
    assert as_tex(r"a_b~c^d\e{50%}") == r"a\_b\textasciitilde{}c\textasciicircum{}d\textbackslash{}e\{50\%\}"


def test_the_cost_of_abstaining_is_what_the_benchmark_declares(runs, monkeypatch):
    """A row shows a metric as it was reported, or counts the answers anew; without rows there is no figure."""
    title = "The cost of abstaining"
    silent = AbstentionRow("silent", "acc", lambda answer, doc: float(answer == UNANSWERED))
    declared = Abstention("2", "unsure_rate", (silent, AbstentionRow("in all", "acc")), "Read this.")
    for abstention, shown in ((declared, True), (Abstention("2", "unsure_rate"), False), (None, False)):
        monkeypatch.setattr(type(benchmarks()["medhallu"]), "abstention", abstention)
        page = Page(build_page(runs))
        assert (title in page.blocks("medhallu")) == shown
        if shown:
            samples = runs[0].tasks["medhallu"].samples
            share = sum(sample.answers["strict-match"] == [UNANSWERED] for sample in samples) / len(samples)
            figure = page.blocks("medhallu")[title]
            assert figure["lead"] == "Read this." and [row["label"] for row in figure["rows"]] == ["silent", "in all"]
            assert 0 < share < 1 and page.value("medhallu", title, "silent", "first") == pytest.approx(
                100 * share, abs=1e-4
            )
            in_all = page.value("medhallu", title, "in all", "first")
            assert in_all == page.value("medhallu", "All metrics", "acc", "first")


def test_accuracy_against_a_budget_is_what_budgets_says(runs):
    task = runs[1].tasks["medcalc_bench"]
    for number, sample in enumerate(task.samples):
        next(iter(sample.details.values())).update(ended=["stop"], tokens=[10 * number + 1])
    page = Page(build_page(runs))
    (topic,) = (each for each in page.numbers["topics"] if each["id"] == "unit-medcalc_bench")
    assert topic["tasks"] == ["medcalc_bench"] and topic["curves"]["strict-match"].keys() == {"1"}
    for name in ("strict-match", "flexible-extract"):
        assert topic["curves"][name]["1"] == budget_curve(task, name)
    ends = page.numbers["board"]["ends"]["medcalc_bench"]
    n = len(task.samples)
    assert ends[0]["tokens"] is None and ends[1]["tokens"] == pytest.approx(1 + 10 * (n - 1) / 2, abs=0.05)


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
def test_results_are_compared_if_they_measure_the_same(runs, fields, words):
    a, b = runs
    signed(b, "medhallu", **fields)
    found = comparability(a.tasks["medhallu"], b.tasks["medhallu"], "strict-match")
    assert found.reason.startswith(words) and bool(found.reason) == bool(words)
    page = Page(build_page(runs))
    paired = page.numbers["compared"]["pairs"][0]
    assert paired["runs"] == [0, 1] and paired["refused"] == ({"medhallu": found.reason} if words else {})
    assert any(line["task"] == "medhallu" for line in paired["lines"]) != bool(words)
    assert page.column("medhallu")["reasons"] == ({"1": words} if words else {})
    sentences = " ".join(page.numbers["board"]["sentences"]["strict-match"])
    assert ("second is not comparable in MedHallu: " in sentences) == bool(words)


def test_without_samples_other_rows_are_not_comparable(runs):
    a, b = (run.tasks["medhallu"] for run in runs)
    signed(runs[1], "medhallu", rows="abc")
    assert comparability(a, replace(b, samples_path=None), "strict-match").reason.startswith("the rows differ")


def test_ranks_are_corrected_for_all_that_are_read_together(runs, monkeypatch):
    families = []
    monkeypatch.setattr("medtasks_utils.report.ranking.ranking", lambda *_, family, **more: families.append(family))
    ranks(topics_of(runs))
    assert set(families) == {len(families)} != {1}


def test_a_task_without_samples_keeps_no_other_from_being_compared(runs):
    a, b = runs
    b = replace(b, tasks={**b.tasks, "medhallu": replace(b.tasks["medhallu"], samples_path=None)})
    (paired,) = comparison_data([a, b], ["strict-match"])
    assert paired["refused"] == {"medhallu": "no samples in one of the runs"}
    assert {line["task"] for line in paired["lines"]} >= {"medexqa", "medmcqa_openmed", "medcalc_bench"}


def test_the_first_screen_says_who_leads_and_how_surely(tmp_path):
    """A run leads if no other may have its rank; a better one that is not comparable is named with its value."""
    for name, share in (("weak", 0.0), ("strong", 1.0), ("like strong", 1.0)):
        save_run(tmp_path / name, right_in(share), tasks=("medmcqa_openmed", "medcalc_bench"), model=name)
    weak, strong, alike = (read_runs(tmp_path / name)[0] for name in ("weak", "strong", "like strong"))

    def sentences(*runs):
        return " ".join(Page(build_page(runs)).numbers["board"]["sentences"]["strict-match"])

    assert sentences(weak) == ""
    assert sentences(weak, strong) == "strong leads in MedCalc-Bench and MedMCQA."
    shared = sentences(weak, strong, alike)
    assert shared == "In MedCalc-Bench and MedMCQA, no run leads clearly; strong and like strong share the first place."
    (strong,) = read_runs(tmp_path / "strong")
    signed(strong, "medmcqa_openmed", prompt="abc")
    better = "strong is not comparable in MedMCQA (its 100.0 would be the best): the prompts differ"
    assert better in sentences(weak, strong)


def test_every_generation_counts_in_how_its_answer_was_found(tmp_path):
    """Of four generations, each is right or wrong by itself: none without an answer is right."""
    answers = iter(["\\boxed{0}", "", "\\boxed{1}", "The answer is factual."] * 100)
    save_run(tmp_path, lambda doc: next(answers), tasks="medhallu", metadata={"medhallu": {"repeats": 4}})
    (run,) = read_runs(tmp_path)
    (topic,) = topics_of([run])
    rows = {row[0].text: row for row in found_by_table(topic, "strict-match").rows}
    examples = len(run.tasks["medhallu"].samples)
    assert sum(int(row[1].text) for row in rows.values()) == 4 * examples
    assert rows["none"][1].small.endswith("acc 0.0") and not rows["box"][1].small.endswith("acc 0.0")


# ---- one file, and data is data


def test_libraries_are_as_published():
    """Files of libraries have the hashes that their table names, and a licence beside them."""
    folder = resources.files("medtasks_utils.report") / "assets" / "vendor"
    rows = re.findall(
        r"^\| `(\S+)` \| (\S+) \| [\d.]+ \| .+ `(\w{64})` \|$", (folder / "README.md").read_text(), re.MULTILINE
    )
    assert {name for name, *_ in rows} == {path.name for path in folder.iterdir() if path.name.endswith(".js")}
    for name, package, digest in rows:
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, name
        assert "Copyright" in (folder / f"{package}.LICENSE").read_text()


def test_the_policy_allows_the_page_s_own_code_and_nothing_else(page):
    (policy,) = (a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy and policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy and "*" not in policy and "http" not in policy
    for directive, pattern in (("script-src", r"<script>(.*?)</script>"), ("style-src", r"<style>(.*?)</style>")):
        texts = re.findall(pattern, page.source, re.DOTALL)
        digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts]
        allowed = " ".join(map("'sha256-{}'".format, digests))
        assert digests and f"{directive} {allowed};" in policy
    assert not any(name.startswith("on") or name == "style" for _, attributes in page.elements for name in attributes)


def test_names_from_data_are_text(tmp_path):
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
    assert page.numbers["runs"][0] == evil, "scripts write it as text nodes"


# ---- runs


def test_keys_are_not_shown(runs):
    config = runs[0].results["config"]
    config["model_args"] = "model=x,base_url=http://h:1/v1,api_key=sk-123,auth_token=abcdef"
    config["gen_kwargs"] = {"temperature": 1, "password": "abcdef"}
    cost = {"seconds": 4000, "gpu_seconds": 7200, "joules": 1.8e6}
    runs[0].results["medtasks"] = {"tokens": {"prompt": 4321, "completion": 765, "replies": 10}, "cost": cost}
    table = settings_table(runs)
    row = {head: cell.text for head, cell in zip(table.head, table.rows[0], strict=True)}
    assert row["Model arguments"] == "model=x,base_url=http://h:1/v1,api_key=[secret],auth_token=[secret]"
    assert row["Generation settings"] == "temperature=1,password=[secret]"
    assert row["Tokens"] == "4,321 in · 765 out" and "Limit" not in row
    assert re.fullmatch(r"2\.00 h · 0\.50 kWh · [\d.e+]+ s per right answer", row["GPUs"])
    assert re.fullmatch(r"20\d\d-\d\d-\d\d \d\d:\d\d UTC", row["Started"])


# ---- the command


def test_the_leaderboard_as_a_figure(folder, tmp_path):
    """A paper's figure has a row for each run with scores, and a dot for each of its values; names are text."""
    runs = read_runs(folder)
    runs[0].name = "<b>&"
    root = lxml.etree.fromstring(leaderboard_figure(runs).encode())
    texts = ["".join(text.itertext()) for text in root.iter("{*}text")]
    assert texts[:2] == ["<b>&", "second"] and "third" not in texts
    dots = [circle.get("fill") for circle in root.iter("{*}circle")]
    assert len(dots) == 2 * len({text for text in texts if text.startswith("Med")}) == 8
    run = runs[0].results["results"]["medhallu"]["f1,strict-match"]
    assert any(text.startswith(f"{100 * run:.1f}") for text in texts)
    signed(runs[0], "medhallu", prompt="abc")
    assert leaderboard_figure(read_runs(folder)[:1] + runs[:1]).count('fill="#fff"') == 1, "hollow: not comparable"
    with pytest.raises(MedtasksError, match="cannot draw the figure: no run has a score"):
        leaderboard_figure(runs[2:])
    for form, start in ((".svg", "<svg "), (".tex", "% needs"), (".md", "| Model |")):
        figure = tmp_path / f"board{form}"
        assert main(["report", str(folder), "-o", str(tmp_path / "r.html"), "--figure", str(figure)]) == 0
        assert figure.read_text().startswith(start)


def test_the_leaderboard_as_a_table(folder):
    """A paper's table has each value with its interval; names are text, and another set-up is marked."""
    runs = read_runs(folder)
    runs[0].name = "a_b|50%"
    signed(runs[0], "medhallu", prompt="abc")
    values = Page(build_page(runs)).column("medcalc_bench")["values"]
    for form, name, dash, mark in ((".tex", "a\\_b|50\\% &", "--", "n.c."), (".md", "a_b\\|50% |", "–", "≠")):
        lines = [line for line in leaderboard_figure(runs, form).splitlines() if "%" in line[:12] or "second" in line]
        first, second = (next(line for line in lines if text in line) for text in (name, "second"))
        for line, (value, low, high, *_) in zip((first, second), values, strict=False):
            assert f"{value:.1f}" in line and f"({low:.1f}{dash}{high:.1f})" in line
        assert mark in first + second


def test_the_command(folder, tmp_path, capsys):
    output = tmp_path / "r.html"
    assert main(["report", str(folder), "-o", str(output), "--baseline", "second"]) == 0
    assert re.fullmatch(rf"{re.escape(str(output))}: 3 runs, [\d.]+ MB, [\d.]+ s\n", capsys.readouterr().out)
    assert Page(output.read_text()).numbers["runs"][0] == "second"
    assert main(["report", str(folder), "-o", str(output), "--compare", "second"]) == 0
    assert Page(output.read_text()).numbers["runs"][0] == "second" and capsys.readouterr()
    (tmp_path / "results.json").write_text('{"a": ')
    for arguments, words in (
        ([folder, "-o", output, "--baseline", "x"], "--baseline must be one of first, second"),
        ([tmp_path / "nowhere"], "no file or folder"),
        ([tmp_path / "results.json", "-o", tmp_path / "n.html"], "results.json cannot be read"),
    ):
        assert main(["report", *map(str, arguments)]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("medtasks: error: ") and words in line
    assert not (tmp_path / "n.html").exists()
