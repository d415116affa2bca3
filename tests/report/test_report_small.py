"""What is made of three small runs: the page's numbers and samples, tables, figures, published files, frames.

``small/`` has the runs. The samples of a page are held to their logs, and the rest to facts, one in each row of
``made_of_small_runs``: its name, where it is found, and what stands there. A new metric changes none.
"""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from given import each_row, json_lines
from page_numbers import Page, unpacked

from medtasks_utils.__main__ import main
from medtasks_utils.report import eval_results, every_eval_ever
from medtasks_utils.report.packed_samples import SamplePacker
from medtasks_utils.report.page import FIGURES, build_page, leaderboard_figure
from medtasks_utils.report.score_table import cautions, lines_of, score_data, score_table
from medtasks_utils.report.summary import problems
from medtasks_utils.results.frames import Runs, load_runs

SMALL = Path(__file__).with_name("small")
WORDS = {"0": "factual", "1": "hallucinated", "2": "unsure"}


@pytest.fixture(scope="module")
def runs():
    return load_runs(SMALL)


def packed(runs: Runs) -> Mapping[str, Iterable[str]]:
    """The stores of a page, by name."""
    packer = SamplePacker()
    return packer.parts([packer.add(run).name for run in runs])


def published(name: str, text: str) -> Any:
    """A file's records."""
    return [json.loads(line) for line in text.split("\n") if line] if name.endswith("jsonl") else yaml.safe_load(text)


@pytest.fixture(scope="module")
def made(runs):
    """What is made of the runs, by name; lines of the table by their first cell."""
    lines = lines_of(runs[0])
    files = {**eval_results.contents(runs[0], True), **every_eval_ever.contents(runs[0], "org/first", True)}
    page = Page(build_page(runs))
    cells = (re.split(r"\s{2,}", line.strip()) for line in score_table(lines).split("\n"))
    return {
        "page": {"leads": page.leads, "chips": page.chips, "rows": page.rows},
        "table": {first: " | ".join(rest) for first, *rest in cells},
        "cautions": "\n".join(cautions(lines)),
        "json": score_data(lines),
        "figures": {form: leaderboard_figure(runs, form) for form in FIGURES},
        "published": {name: published(name, text) for name, text in files.items()},
        "frames": [json.loads(frame.to_json(orient="records")) for frame in runs.to_pandas()],
        "problems": problems(runs),
    }


@each_row("made_of_small_runs")
def test_each_fact_of_the_small_runs_is_where_users_look(name, place, expected, made):
    """A step of a place is a key, a number, or the fields of a record; a text is held to contain what is expected."""
    for step in place:
        if isinstance(step, dict):
            (made,) = (record for record in made if step.items() <= record.items())
        else:
            made = made[step]
    if isinstance(made, Mapping):
        made = {key: made[key] for key in expected}
    assert expected in made if isinstance(made, str) else rounded(made) == rounded(expected), name


def rounded(value: Any) -> Any:
    return json.loads(json.dumps(value), parse_float=lambda number: round(float(number), 6))


def logged(run: str) -> dict[tuple[str, int, str], Any]:
    """The lines of a run's logs, by task, example and filter."""
    lines: dict[tuple[str, int, str], Any] = {}
    for path in (SMALL / run).glob("*/samples_*"):
        task = path.name.removeprefix("samples_").rpartition("_")[0]
        lines |= {(task, line["doc_id"], line["filter"]): line for line in json_lines(path)}
    return lines


def test_the_samples_of_a_page_are_those_of_the_logs(runs):
    index, documents, samples = (unpacked(*chunks) for chunks in packed(runs).values())
    lines = [logged(folder) for folder in "abc"]
    tasks = [task["name"] for task in index["tasks"]]
    keys = [*zip((tasks[task] for task in index["documents"]["task"]), index["documents"]["id"], strict=True)]
    places = [*zip(index["samples"]["document"], index["samples"]["run"], strict=True)]
    assert {(run, *keys[document]) for document, run in places} == {
        (run, *key[:2]) for run, of_run in enumerate(lines) for key in of_run
    }
    for number, ((document, run), sample) in enumerate(zip(places, samples, strict=True)):
        for rule in sample["metrics"]:
            task, example = keys[document]
            line = lines[run][task, example, rule]
            assert sample["metrics"][rule] == {name: line[name] for name in line["metrics"]}
            words = {"[invalid]": "no answer", **(WORDS if task == "medhallu" else {})}
            answers = [words.get(answer, answer) for answer in line["filtered_resps"]]
            assert sample["answers"][rule] == answers or rule == "none"
            assert sample["found_by"].get(rule, []) == line.get("found_by", [])
            assert index["samples"]["read"][rule]["acc"][number] == line["acc"]
        responses = [response for generations in line["resps"] for response in generations]
        assert sample["responses"] == responses and index["samples"]["length"][number] == sum(map(len, responses))
        assert sample["details"].get("tokens") == line.get("tokens")
        assert documents[document]["doc"] == line["doc"] or run > 0


AXIS = r'font-size="8"[^>]*>([\d.]+)</text><text x="80"[^>]*>([\d.]+)</text>'
DOT = r'(?:<path d="M([\d.]+) \d+H([\d.]+)"[^>]*>)?<circle cx="([\d.]+)"[^>]*><text[^>]*>([\d.]+)'


def test_dots_and_bars_of_the_figure_stand_at_the_numbers_of_the_table(made):
    texts = made["figures"]
    ends = {tuple(map(float, cell)) for cell in re.findall(r"([\d.]+) \(([\d.]+)–([\d.]+)\)", texts[".md"])}
    found = set()
    for column in texts[".svg"].split("<g ")[1:]:
        (axis,) = re.findall(AXIS, column)
        first, last = map(float, axis)
        for *places, value in re.findall(DOT, column):
            low, high, dot = (first + float(place or 0) / 80 * (last - first) for place in places)
            assert dot == pytest.approx(float(value), abs=0.2)
            found |= {(float(value), round(low, 1), round(high, 1))} if places[0] else set()
    assert len(found) == len(ends)
    assert sorted(found) == [pytest.approx(cell, abs=0.2) for cell in sorted(ends)]


def test_prompts_and_responses_lie_beside_the_page(runs, tmp_path, capsys):
    page, beside = tmp_path / "r.html", tmp_path / "r_files"
    beside.mkdir()
    (beside / "samples-9.js").touch()  # of an earlier page
    assert main(["report", str(SMALL), "-o", str(page), "--split", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["token_budgets"].keys() == {run.name for run in runs}
    assert sorted(path.name for path in beside.iterdir()) == ["documents-0.js", "samples-0.js"]
    for name, chunks in packed(runs).items():
        if name != "index":
            script = re.fullmatch(rf'part\("{name}",0,"([^"]*)"\)\n', (beside / f"{name}-0.js").read_text())
            assert script and all(record in unpacked(script[1]) for record in unpacked(*chunks)[::7])
    stores = [
        attributes["data-store"] for _, attributes in Page(page.read_text()).elements if "data-store" in attributes
    ]
    assert stores == ["index"]
