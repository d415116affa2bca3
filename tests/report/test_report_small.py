"""What is made of runs: the page's numbers and samples, tables, figures, published files, frames; and its parts alone.

``small/`` has three runs, of which ``larger_runs`` makes four with several times as many questions. The samples of a
page are held to their logs, and the rest to facts, one in each row of ``facts_of_small_runs`` and
``facts_of_larger_runs``, and of the tables of functions: its name, where it is found, and what stands there.
"""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from given import TASK_OF, each_row, json_lines, table
from page_numbers import Page, sections_of, stores_of, unpacked
from places import as_its_row_says, at

from medtasks_utils.__main__ import main
from medtasks_utils.filters import FILTERS, FLEXIBLE, STRICT
from medtasks_utils.report import eval_results, every_eval_ever
from medtasks_utils.report.about import endings_of_replies, runs_by_signatures, settings
from medtasks_utils.report.audits import audits_of
from medtasks_utils.report.board import board_of, ratios
from medtasks_utils.report.calibration import calibrations
from medtasks_utils.report.page import FIGURES, build_page, in_order, leaderboard_figure, shown_metrics
from medtasks_utils.report.score_table import cautions, lines_of, score_data, score_table
from medtasks_utils.report.summary import problems
from medtasks_utils.report.topics import topics_of
from medtasks_utils.report.view import View
from medtasks_utils.report.where import by_number_right
from medtasks_utils.report.win_rates import win_rates_of
from medtasks_utils.results import read_runs
from medtasks_utils.results.frames import load_runs

SMALL = Path(__file__).with_name("small")
MCQA = TASK_OF["medmcqa"]


@pytest.fixture(scope="module")
def runs():
    return load_runs(SMALL)


@pytest.fixture(scope="module")
def small(runs):
    """What stands at a place in what is made of the runs; lines of the table by their first cell."""
    lines = lines_of(runs[0])
    files = {**eval_results.contents(runs[0], True), **every_eval_ever.contents(runs[0], "lab/first", True)}
    page = Page(build_page(runs))
    cells = (re.split(r"\s{2,}", line.strip()) for line in score_table(lines).split("\n"))
    made = {
        "page": {"leads": page.leads, "chips": page.chips, "rows": page.rows, "facts": page.facts, "texts": page.text},
        "table": {first: " | ".join(rest) for first, *rest in cells},
        "cautions": "\n".join(cautions(lines)),
        "json": score_data(lines),
        "metrics": [line.metric.name for line in lines_of(runs[2])],
        "figures": {form: leaderboard_figure(runs, form) for form in FIGURES},
        "published": {
            name: [json.loads(line) for line in text.split("\n") if line]
            if name.endswith("jsonl")
            else yaml.safe_load(text)
            for name, text in files.items()
        },
        "frames": [json.loads(frame.to_json(orient="records")) for frame in runs.to_pandas()],
        "problems": problems(runs),
        **stores_of(runs),
    }
    return lambda place, expected=None: at(place, expected, made)


def views(runs):
    """What a page shows of runs, by filter."""
    names = [run.name for run in runs]
    runs = in_order(runs, board_of(topics_of(runs), names, STRICT))
    by_name = {run.name: run for run in runs}
    return {name: View(name, board_of(topics_of(runs), [*by_name], name), by_name) for name in FILTERS}


def again_in(line, place):
    """A line of a log once more, as another question's; where it is, at the first place."""
    doc = {
        name: f"{text} {place}" if place and name in ("question", "q") else text for name, text in line["doc"].items()
    }
    again = {name: f"{line[name]} {place}" for name in ("doc_hash", "cluster") if line.get(name) and place}
    return {**line, **again, "doc": doc, "doc_id": line["doc_id"] + 1000 * place}


def renamed(run, name):
    return replace(run, name=name, model=name)


def of_one(runs):
    """The runs of a single benchmark."""
    return [replace(run, tasks={MCQA: run.tasks[MCQA]}) for run in runs]


@pytest.fixture(scope="module")
def larger(tmp_path_factory):
    """What stands at a place in what is made of the larger runs: of all, the one called first, and first and second."""
    folder = tmp_path_factory.mktemp("larger")
    for name, of, times, texts in table("larger_runs"):
        for path in (SMALL / of / "m").iterdir():
            text = path.read_text()
            for old, new in texts.items():
                text = text.replace(old, new)
            lines = [json.loads(line) for line in text.split("\n") if line] if path.suffix == ".jsonl" else []
            again = [again_in(line, place) for place in range(times) for line in lines]
            if path.name.startswith("results"):
                content = json.loads(text)
                for sizes in content["n-samples"].values():
                    sizes |= {name: n * times for name, n in sizes.items()}
                text = json.dumps(content)
            text = "".join(json.dumps(line) + "\n" for line in again) or text
            (folder / name).mkdir(exist_ok=True)
            (folder / name / path.name).write_text(text)
    runs = read_runs([folder / name for name, *_ in table("larger_runs")])
    topics, shown = topics_of(runs), views(runs)
    many = [renamed(run, f"{run.name}_{part}") for part in "wxyz" for run in runs]
    three = [*runs[1:3], renamed(runs[1], "again")]
    view = shown[STRICT]
    made = {
        "all": shown,
        "one": views(runs[1:2]),
        "two": views(runs[1:3]),
        "pages": {
            "one": sections_of(runs[1:2]),
            "two": sections_of([replace(runs[1], growth="longer"), runs[2]]),
            "all": sections_of(runs),
            "many": sections_of(of_one(many)),
            "mean": sections_of(three),
            "medmcqa": sections_of(of_one(three), "first"),
        },
        "by_number_right": {column.label: by_number_right(column, [*view.runs]) for column in view.board.columns},
        "win_rates": win_rates_of(runs),
        "calibrations": calibrations(runs),
        "settings": [*map(settings, runs)],
        "endings": [*endings_of_replies(topics)],
        "signatures": runs_by_signatures(topics),
        "audits": [*audits_of(runs)],
        "metrics": shown_metrics(topics).split("\n"),
        "topics": {topic.name: topic for topic in topics},
        "f1": ratios(topics[3], ["first", "second", "third"], STRICT, topics[3].in_runs(STRICT, "f1").metric),
    }
    return lambda place, expected: at(place, expected, made)


@each_row("facts_of_small_runs")
def test_a_fact_of_three_small_runs_is_where_users_look(name, place, expected, small):
    assert small(place, expected) == expected


@each_row("facts_of_larger_runs")
def test_a_fact_of_four_larger_runs_is_where_users_look(name, place, expected, larger):
    assert larger(place, expected) == expected


test_a_function_of_the_report_returns_what_its_row_says = as_its_row_says("functions_of_report")
test_a_sentence_of_the_first_screen_is_what_its_row_says = as_its_row_says("functions_of_the_lead")


def test_no_sentence_claims_more_than_is_shown():
    said = [row[-1] for name in ("functions_of_the_lead", "who_leads") for row in table(name)]
    words = r"leads? clearly|share the first place|significant|\bequal|outperform|provisional"
    assert said and not re.search(words, json.dumps(said), re.IGNORECASE)


def logged(run):
    """The lines of a run's logs, by task, example and filter."""
    return {
        (path.name.removeprefix("samples_").rpartition("_")[0], line["doc_id"], line["filter"]): line
        for path in (SMALL / run).glob("*/samples_*")
        for line in json_lines(path)
    }


def test_the_samples_of_a_page_are_those_of_the_logs(runs):
    """In the index and in their records; also what is shown of them in the list, but for long texts."""
    index, documents, samples = stores_of(runs).values()
    lines = [logged(folder) for folder in "abc"]
    of_index, read = index["samples"], index["samples"]["read"]
    tasks = [index["tasks"][task]["name"] for task in index["documents"]["task"]]
    keys = [*zip(tasks, index["documents"]["id"], strict=True)]
    places = [*zip(of_index["document"], of_index["run"], strict=True)]
    assert {(run, *keys[document]) for document, run in places} == {
        (run, *key[:2]) for run, of_run in enumerate(lines) for key in of_run
    }
    for number, ((document, run), sample) in enumerate(zip(places, samples, strict=True)):
        task, example = keys[document]
        verdicts = {"0": "factual", "1": "hallucinated", "2": "unsure"}
        words = {"[invalid]": "no answer", **(verdicts if task == "medhallu" else {})}
        for rule in sample["metrics"]:
            line = lines[run][task, example, rule]
            assert sample["metrics"][rule] == {name: line[name] for name in line["metrics"]}
            answers = [words.get(answer, answer) for answer in line["filtered_resps"]]
            counts = Counter(answers).most_common()
            summary = ", ".join(f"{answer} ×{n}" if len(answers) > 1 else answer for answer, n in counts)
            assert sample["answers"][rule] == answers
            assert read[rule]["answer"][number] == (None if {*answers} == {"no answer"} else summary)
            assert sample["found_by"].get(rule, []) == line.get("found_by", [])
            assert read[rule]["acc"][number] == line["acc"]
            assert read[rule]["found_by"][number] == next(iter(line.get("found_by", [])), None)
            assert index["documents"]["target"][document] == words.get(line["target"], line["target"])
        certainty = np.mean(lines[run].get((task, example, FLEXIBLE), line).get("certainty", np.nan))
        assert of_index["certainty"][number] == (None if np.isnan(certainty) else pytest.approx(certainty))
        responses = [response for generations in line["resps"] for response in generations]
        assert sample["responses"] == responses and of_index["length"][number] == sum(map(len, responses))
        assert sample["details"].get("tokens") == line.get("tokens")
        assert documents[document]["doc"] == line["doc"] or run > 0


AXIS = r'font-size="8"[^>]*>([\d.]+)</text><text x="80"[^>]*>([\d.]+)</text>'
DOT = r'(?:<path d="M([\d.]+) \d+H([\d.]+)"[^>]*>)?<circle cx="([\d.]+)"[^>]*><text[^>]*>([\d.]+)'


def test_dots_and_bars_of_the_figure_stand_at_the_numbers_of_the_table(small):
    texts = small(["figures"])
    ends = re.findall(r"([\d.]+) \(([\d.]+)–([\d.]+)\)", texts[".md"])
    dots = []
    for column in texts[".svg"].split("<g ")[1:]:
        first, last = map(float, re.findall(AXIS, column)[0])
        for *places, value in re.findall(DOT, column):
            low, high, dot = (first + float(place or 0) / 80 * (last - first) for place in places)
            assert dot == pytest.approx(float(value), abs=0.2)
            dots += [(float(value), low, high)] if places[0] else []
    assert sorted(dots) == [pytest.approx(cell, abs=0.2) for cell in sorted(tuple(map(float, cell)) for cell in ends)]


def test_prompts_and_responses_lie_beside_the_page(runs, tmp_path, capsys):
    page, beside = tmp_path / "r.html", tmp_path / "r_files"
    beside.mkdir()
    (beside / "samples-9.js").touch()  # of an earlier page
    assert main(["report", str(SMALL), "-o", str(page), "--split", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["token_budgets"].keys() == {run.name for run in runs}
    assert sorted(path.name for path in beside.iterdir()) == ["documents-0.js", "samples-0.js"]
    parts = re.findall(r'part\("(\w+)",0,"(.*)"\)', "".join(path.read_text() for path in beside.iterdir()))
    _, *stores = stores_of(runs).items()
    assert {name: len(unpacked(chunk)) for name, chunk in parts} == {name: len(records) for name, records in stores}
    stored = [attributes.get("data-store") for _, attributes in Page(page.read_text()).elements]
    assert [*filter(None, stored)] == ["index"]
