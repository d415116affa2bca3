"""``medtasks eval --against RUN``: asks until it is decided, keeps what was asked, and its results are a run's."""

import json
import math
import re
from functools import partial
from unittest.mock import Mock

import numpy as np
import pytest
from given import FILE, each_row, medmcqa_rows, table, write_rows
from local_server import LocalServer, completion
from running import saved_results, saved_samples
from scripts import draw, prompt_of

from medtasks_utils import __main__ as cli
from medtasks_utils.compare.against import SavedRun
from medtasks_utils.filters import STRICT
from medtasks_utils.statistics.sequential import (
    _paths,
    levels,
    look_sizes,
    random_order,
)

ROWS = 160
TASK = "medmcqa_openmed"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Rows whose right answer is always A."""
    folder = tmp_path_factory.mktemp("data")
    write_rows(medmcqa_rows(ROWS, cop=0), folder / FILE["medmcqa"])
    return folder


def right_in(share):
    """A model that is right by the published rule in this share; a better one is right wherever a worse one is."""
    wrong = completion("The answer is A.", "content_filter")
    return lambda body: "\\boxed{A}" if draw(prompt_of(body)).random() < share else wrong


def words_of(served, data, out):
    words = ["eval", "--data", str(data), "--tasks", TASK, *served.flags(), "--output_path", str(out), "--log_samples"]
    return [*words, "--json"]


@pytest.fixture(scope="module")
def saved(data, tmp_path_factory):
    """The folder of a run of a model that is right in 70 % of the rows."""
    folder = tmp_path_factory.mktemp("saved")
    with LocalServer(right_in(0.7)) as served:
        assert cli.main(words_of(served, data, folder)) == 0
    return str(folder)


def run(served, data, out, capsys, *more, code=0):
    """The command in this process: what it prints, and its errors."""
    assert cli.main([*words_of(served, data, out), *more]) == code
    printed, errors = capsys.readouterr()
    return json.loads(printed or "{}"), errors


@each_row("stops")
def test_a_run_stops_when_it_is_decided(name, share, expected, saved, data, tmp_path, capsys, monkeypatch):
    scorer = Mock(return_value=None)
    monkeypatch.setattr("medtasks_utils.benchmarks.base.Benchmark.batch_scorer", scorer)
    with LocalServer(right_in(share)) as served:
        new = partial(run, served, data, tmp_path / "new", capsys)
        result, errors = new("--against", saved)
        asked = len(served.requests)
        assert scorer.call_count == 2, "a run is checked, and explanations are scored at its end"
        found = result["against"][TASK]
        assert (found["decision"], found["asked"], found["of"]) == (expected, asked, ROWS)
        assert result["answers_taken_over"] == 0 and found["low"] <= found["difference"] <= found["high"]
        points = r"acc [-+]\d+\.\d points against the saved run \[[-+][\d.]+, [-+][\d.]+\]"
        assert re.search(rf"{asked} of {ROWS} examples evaluated, {points}: {expected}$", errors, re.MULTILINE)
        looks = re.findall(r"(\d+) of 160 .*: undecided, at most (\d+) left", errors)
        assert {int(done) + int(left) for done, left in looks} == ({ROWS} if looks or expected == "within" else set())
        samples = [sample for sample in saved_samples(tmp_path / "new", TASK) if sample["filter"] == STRICT]
        assert [each["doc"]["id"] for each in samples] == [f"id-{each['doc_id']}" for each in samples]
        results = saved_results(tmp_path / "new")
        assert len(samples) == results["n-samples"][TASK]["effective"] == asked
        assert results["results"][TASK]["acc,strict-match"] == pytest.approx(np.mean([each["acc"] for each in samples]))
        metadata = results["configs"][TASK]["metadata"]
        stopped, *others = metadata["remarks"]
        assert "stopped early" in stopped and len(others) <= 1, "of all replies, not of each batch"
        assert metadata["against"] == found
        compared = ["compare", saved, str(tmp_path / "new"), "--common"]
        assert cli.main(compared) == 0 and cli.main([*compared, "--json"]) == 0
        printed = " ".join(capsys.readouterr().out.split())
        assert printed.count(f"stopped early: {asked} of {ROWS} examples evaluated") == 2
        assert bool([*tmp_path.glob("new/**/replies_*.gz")]) == (asked == ROWS), "or it can go on"
        whole, _ = new()
        assert (len(served.requests), whole["answers_taken_over"]) == (ROWS, asked), "what was asked is kept"


def test_against_a_run_that_cannot_be_compared_is_an_error(data, tmp_path, capsys, monkeypatch):
    with LocalServer(right_in(0.5)) as served:
        run(served, data, tmp_path / "saved", capsys, "--samples", json.dumps({TASK: [*range(10, 40)]}))
        new = partial(run, served, data, tmp_path / "new", capsys)
        before = len(served.requests)
        against = ["--against", str(tmp_path / "saved")]
        assert [SavedRun(against[1], [TASK], within)._within for within in (None, 0)] == [2, 0], "0 is no default"
        for flags, message in table("refused"):
            assert message in new(*against, *flags, code=2)[1]
        with monkeypatch.context() as patch:
            patch.setattr("lm_eval.api.model.LM.world_size", 2)
            assert "in one process" in new(*against, code=2)[1]
        others = json.dumps({TASK: [*range(10)]})
        _, errors = new(*against, "--samples", others, code=1)
        assert "none of the 10 examples" in errors and len(served.requests) == before
        some = json.dumps({TASK: [*range(20)]})
        _, errors = new(*against, "--samples", some)
        assert "only 10 of the saved run's 30 examples are selected" in errors and "stopped early" not in errors
        assert len(served.requests) == before + 10 and [*tmp_path.glob("new/**/replies_*.gz")], "the run is over"
        assert new(*against, "--limit", "22")[0]["against"][TASK]["of"] == 12
        _, errors = new(*against, "--system_instruction", "Be brief.", code=1)
        assert "not comparable with the saved run" in errors
        assert len(served.requests) == before + 10 + 12 + 24, "only the first batch was asked"
        for all_in_it in (["--limit", "50"], ["--samples", json.dumps({TASK: [15]})]):
            assert "are selected" not in new(*against, *all_in_it)[1], "the saved run has no more, or all of them"


def test_a_group_is_decided_as_a_whole_and_its_tasks_say_so(tmp_path, capsys):
    tasks = ["--tasks", f"medexqa,{TASK}", "--set", "medexqa.explanation_metrics=rougeL"]
    saving = ["--output_path", str(tmp_path), "--log_samples", "--json"]
    with LocalServer(lambda body: "\\boxed{A}") as served:
        words = ["eval", "--data", "sample", *tasks, *served.flags(), *saving]
        assert cli.main(words) == 0 and capsys.readouterr().out
        assert cli.main([*words, "--against", str(tmp_path)]) == 0
    against = json.loads(capsys.readouterr().out)["against"]
    of_group = against["medexqa"]
    assert {name: standing["of"] for name, standing in against.items() if standing != of_group} == {TASK: 16}
    assert len(against) == 1 + 1 + 5 and (of_group["decision"], of_group["difference"]) == ("within", 0)


# ---- the rule


@each_row("looks")
def test_interim_looks_grow_and_spend_five_per_cent_together(name, clusters, strata, expected):
    sizes = look_sizes(clusters, strata)
    assert [*sizes] == expected
    *of_looks, last = levels(sizes)
    assert (len(of_looks), last) == (len(sizes) - 1, 1)
    if of_looks:
        assert max(of_looks) <= 0.05 <= sum(of_looks) < 0.2, "5 % in all, as looks are correlated"
        assert of_looks[0] == pytest.approx(0.05 * sizes[0] / sizes[-2], rel=0.2), "the first spends its share"
    z = np.corrcoef(_paths((30, 60, 90, 120)).T)
    assert [z[0, 1], z[1, 2]] == pytest.approx([(1 / 3) ** 0.5] * 2, abs=0.01), "by the information at each look"
    assert levels((24, 100)) == pytest.approx([0.05, 1.0], rel=0.02), "all before the last spend 5 %"


def test_every_beginning_has_clusters_whole_and_strata_in_proportion():
    clusters, strata = np.arange(300) // 2, np.repeat([0, 1, 1], 100)
    order = random_order(clusters, strata)
    assert all(second == first + 1 for first, second in order)
    assert sorted(place for places in order for place in places) == list(range(300))
    for size in range(1, 151):
        in_first = sum(places[0] < 100 for places in order[:size])
        assert math.floor(size / 3) - 1 <= in_first <= math.ceil(size / 3) + 1
