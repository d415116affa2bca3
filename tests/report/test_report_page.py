"""The page before a browser sees it: the harness's numbers, fair comparisons, data as data, and one clear error."""

import base64
import hashlib
import re
from dataclasses import replace
from importlib import resources
from pathlib import Path
from unittest.mock import Mock

import pytest
from given import each_row
from page_numbers import Page, stores_of, unpacked
from saved_runs import drawn

from medtasks_utils.__main__ import main
from medtasks_utils.compare.pairing import comparability
from medtasks_utils.errors import MedtasksError
from medtasks_utils.report import pair
from medtasks_utils.report.page import build_page, page_of
from medtasks_utils.report.pair import compared
from medtasks_utils.results import read_runs

SMALL = Path(__file__).with_name("small")


@pytest.fixture
def runs():
    return read_runs([SMALL / "a", SMALL / "b"])


@pytest.fixture(scope="module")
def built():
    """The page of both."""
    return build_page(read_runs([SMALL / "a", SMALL / "b"]))


# ---- what may be compared, and what is said of it


@each_row("comparable")
def test_results_are_compared_if_they_measure_the_same(field, now, config, prompt, has_samples, words, runs):
    """Prompts are compared themselves if only one run has their hash, or if the rows differ."""
    a, b = (run.tasks["medhallu"] for run in runs)
    b.signatures["strict-match"] = re.sub(rf"\|({field}):[^|]*", rf"|{now}:9", b.signatures["strict-match"])
    b.config |= config
    b.samples[0].prompt_hash = prompt
    reason = comparability(a, b if has_samples else replace(b, samples_path=None), "strict-match").reason
    assert reason.startswith(words) and bool(reason) == bool(words)


def test_explanations_are_compared_if_the_same_judge_scored_them(runs):
    for other, is_compared in ((runs[1], False), (replace(runs[0], name="again"), True)):
        comparison, _ = compared(runs[0], other, "strict-match")
        assert any(difference.metric.is_of_explanations for difference in comparison.differences) is is_compared


def test_only_a_missing_score_is_said_to_be_one(runs, monkeypatch):
    """Any other cause of a comparison that fails is reported as such."""
    monkeypatch.setattr(pair, "compare_runs", Mock(side_effect=MedtasksError("cause")))
    with pytest.raises(MedtasksError, match="cause"):
        compared(runs[0], runs[1], "strict-match")


# ---- one file, and data is data


def test_libraries_are_as_published(built):
    """Files of libraries have the hashes that their table names, and a licence beside them."""
    folder = resources.files("medtasks_utils.report") / "assets" / "vendor"
    pattern = r"^\| `(\S+)` \| (\S+) \| [\d.]+ \| .+ `(\w{64})` \|$"
    rows = re.findall(pattern, (folder / "README.md").read_text(), re.MULTILINE)
    assert {name for name, *_ in rows} == {path.name for path in folder.iterdir() if path.name.endswith(".js")}
    for name, package, digest in rows:
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, name
        assert "Copyright" in (folder / f"{package}.LICENSE").read_text()
        assert (folder / name).read_text()[-200:].strip() in built, "two runs need them all"


def test_the_policy_allows_the_page_s_own_code_and_nothing_else(built):
    page = Page(built)
    assert page.text[0] == "first against second – medtasks report"
    (policy,) = (a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; ") and "is one file" in page.source
    assert "unsafe" not in policy and "*" not in policy and "http" not in policy
    for directive, pattern in (("script-src", r"<script>(.*?)</script>"), ("style-src", r"<style>(.*?)</style>")):
        texts = re.findall(pattern, page.source, re.DOTALL)
        digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts)
        allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
        assert texts and f"{directive} {allowed};" in policy
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


def test_a_page_holds_no_texts_of_its_runs_and_changes_none_of_them(runs):
    runs += [replace(runs[0], name="unscored", tasks={}, groups={})]
    runs[1].tasks["medhallu"].samples[0].doc["known_issues"] = ["of this run's rows"]
    made, again = page_of(runs), page_of(runs)
    assert made.warnings[-1].startswith("unscored: left out") and made.html.count("unscored: left out") == 1
    samples = [sample for run in made.runs for task in run.tasks.values() for sample in task.samples]
    assert samples and not any(sample.messages or max(map(len, sample.responses)) > 1 for sample in samples)
    assert [bool(run.tasks["medhallu"].samples[0].doc.get("known_issues")) for run in made.runs[:2]] == [False, True]
    assert made.html == again.html


def test_runs_whose_names_begin_alike_are_shown_by_the_rest():
    runs = read_runs(SMALL)
    for run in runs:
        run.name = f"models-{run.name[:5]}"
    page = build_page(runs, baseline="models-first")
    (index,) = re.findall(r'data-store="index">([^<]*)', page)
    assert unpacked(index)["runs"] == ["secon", "first", "third"]
    assert {*re.findall(r'data-reference="(\w+)">', page)} == {"first"} and "names begin with" in page


def test_samples_have_a_prompt_of_their_own_and_nothing_under_a_filter_of_other_runs(runs):
    first, second = (run.tasks["medhallu"].samples for run in runs)
    first[1].doc["question"], second[0].messages = "Asked so?", [{"role": "user", "content": "another"}]
    for sample in first:
        del sample.answers["flexible-extract"], sample.metrics["flexible-extract"]
    stores = stores_of([replace(runs[0], tasks={"medhallu": runs[0].tasks["medhallu"]}), runs[1]])
    assert [sample["prompt"][0]["content"] for sample in stores["samples"] if "prompt" in sample] == ["another"]
    assert stores["index"]["documents"]["snippet"][1] == "Asked so?"
    samples = stores["index"]["samples"]
    assert {len(column) for column in samples["read"]["flexible-extract"].values()} == {len(samples["run"])}


# ---- the command


def test_report_writes_a_page_and_a_figure_against_the_baseline(tmp_path, capsys):
    output, figure = tmp_path / "r.html", tmp_path / "board.md"
    command = ["report", str(SMALL), "-o", str(output)]
    assert main([*command, "--baseline", "first", "--figure", str(figure)]) == 0
    assert capsys.readouterr().out == f"{output}: 3 runs\n"
    assert "Difference from first, in points" in " ".join(drawn(output.read_text()).split())
    assert figure.read_text().startswith("| Model |")
