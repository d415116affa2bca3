"""The page before a browser sees it: the harness's numbers, fair comparisons, data as data, and one clear error."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from importlib import resources

import pytest
from page_numbers import Page
from saved_runs import sample_file, save_run, save_two

from medtasks_utils.__main__ import main
from medtasks_utils.benchmarks import metric_of
from medtasks_utils.benchmarks.base import UNANSWERED
from medtasks_utils.compare.pairing import comparability
from medtasks_utils.errors import MedtasksError
from medtasks_utils.report.comparison import comparison_data
from medtasks_utils.report.outcomes import outcomes
from medtasks_utils.report.page import build_page, leaderboard_figure
from medtasks_utils.report.ranking import ranks
from medtasks_utils.report.text import as_tex
from medtasks_utils.report.topics import topics_of
from medtasks_utils.results import Run, read_runs
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


def test_names_are_escaped_for_latex():
    assert as_tex(r"a_b~c^d\e{50%}") == r"a\_b\textasciitilde{}c\textasciicircum{}d\textbackslash{}e\{50\%\}"


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


def test_names_from_data_are_text(runs):
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u202e\x00\"'&"
    runs[0].name = runs[0].model = evil
    for sample in runs[0].tasks["medhallu"].samples:
        sample.doc["difficulty"] = evil
    page = Page(build_page(runs))
    tags = [tag for tag, attributes in page.elements if attributes.get("type") != "text/plain"]
    assert tags.count("script") == 2 and "img" not in tags
    assert "\x00" not in page.source and "\u202e" not in page.source
    assert any("‹U+202E›‹U+0000›" in text for text in page.text)
    assert page.numbers["runs"][0] == evil, "scripts write it as text nodes"


# ---- the command


def test_the_command(folder, tmp_path, capsys):
    output, figure = tmp_path / "r.html", tmp_path / "board.md"
    command = ["report", str(folder), "-o", str(output)]
    assert main([*command, "--baseline", "second", "--figure", str(figure)]) == 0
    assert capsys.readouterr().out == f"{output}: 3 runs\n"
    assert Page(output.read_text()).numbers["runs"][0] == "second"
    assert figure.read_text().startswith("| Model |")
    for flags in (
        ["--compare", "second"],
        ["--compare", "second", "first"],
        ["--compare", "first", "--baseline", "second"],
    ):
        assert main([*command, *flags]) == 0 and capsys.readouterr()
        assert Page(output.read_text()).numbers["runs"] == ["second", "first"]
    assert main([*command, "--figure", "board.png"]) == 2 and capsys.readouterr()
    with pytest.raises(MedtasksError, match="cannot draw the figure: no run has a score"):
        leaderboard_figure(read_runs(folder / "c"))
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
