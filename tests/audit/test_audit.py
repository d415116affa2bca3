"""The audit of the reading: what the LLM is asked, how its line is read, and whether the estimates cover the truth."""

import asyncio
import json
import random
import re
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from given import GENERATION_TASKS, ROOT, table
from judging_cases import no_keys_and_no_waits
from local_server import HANG_UP, Answer, Fault, LocalServer
from saved_runs import right_in, sample_file, save_run
from scripts import draw, whole

from medtasks_utils.__main__ import main
from medtasks_utils.audit.audit_summary import _percent
from medtasks_utils.audit.auditing import Item
from medtasks_utils.audit.auditor import AuditCase, Auditor, right, same
from medtasks_utils.audit.estimate import Counts, EstimatedShare, changed, share
from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.judging.judge_replies import UnreadableError
from medtasks_utils.results import Sample, read_runs
from medtasks_utils.results.runs import audit_file

__all__ = ["no_keys_and_no_waits"]
Command = Callable[..., int]


# ---- the estimate


@pytest.mark.parametrize(("doubtful", "others", "drawn", "sample"), [(0.5, 0.02, 300, 200), (0.05, 0.0, 100, 100)])
def test_intervals_cover_a_known_share_at_the_stated_rate(doubtful, others, drawn, sample):
    """A scripted auditor: of 300 doubtful and 1,200 other responses known shares are misread; a sample is drawn."""
    rng = np.random.default_rng(7)
    sizes, hits = (300, 1200), (round(300 * doubtful), round(1200 * others))
    truth, covered = sum(hits) / 1500, 0
    for _ in range(2000):
        counts = [Counts(int(rng.hypergeometric(own, size - own, read)), read, size)
                  for own, size, read in zip(hits, sizes, (drawn, sample), strict=True)]  # fmt: skip
        found = share(counts)
        assert found is not None and 0 <= found["low"] <= found["value"] <= found["high"] <= 1
        covered += found["low"] - 1e-12 <= truth <= found["high"] + 1e-12
    assert covered / 2000 >= 0.93


def test_what_is_wholly_known_has_no_width_and_what_nobody_read_may_be_anything():
    assert share([Counts(3, 10, 10), Counts(0, 90, 90)]) == EstimatedShare(value=0.03, low=0.03, high=0.03)
    assert share([Counts(0, 0, 0), Counts(9, 90, 90)]) == EstimatedShare(value=0.1, low=0.1, high=0.1)
    found = share([Counts(0, 0, 50), Counts(5, 50, 50)])
    assert found and found["value"] == pytest.approx(0.1) and found["low"] < 0.06 and found["high"] > 0.54
    assert share([Counts(0, 0, 10), Counts(0, 0, 0)]) is None


# ---- the line


def toy_benchmark() -> Any:
    """The benchmark of another distribution, of yes, no and maybe, without that distribution."""
    spec = spec_from_file_location("toy_benchmark", ROOT / "tests" / "toy" / "toybench" / "benchmark.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.BENCHMARK


def example_of(kind: str, **fields: Any) -> tuple[Benchmark, dict[str, Any]]:
    """A benchmark, and an example of it whose answers are of a kind."""
    names = {"letter": "medmcqa", "verdict": "medhallu"}
    labels = "physicians" if kind == "days" else ""
    example = {"question": "Q?", "options": list("abcd"), "answer": "So.", "judgement": kind, "labels": labels,
               "category": "lab_test", "note": "N.", "calculator_name": "C"} | fields  # fmt: skip
    return benchmarks()[names.get(kind, "medcalc_bench")], example


@pytest.mark.parametrize(("kind", "reply", "stated"), table("audit_lines"))
def test_a_line_of_a_fixed_form_is_read_and_nothing_else(kind, reply, stated):
    async def ask(messages, read, schema=None):
        return read(reply)

    case = AuditCase(*example_of(kind), "So.")
    if stated is None:
        with pytest.raises(UnreadableError):
            asyncio.run(Auditor().judge(case, ask))
    else:
        assert asyncio.run(Auditor().judge(case, ask)).output == {"stated": stated}


def test_readings_of_the_same_answer_and_right_ones():
    for one, other, kind in (("29.0", "29", "integer"), ("0.125", "12.5%", "decimal"), ("12.5", "12.5%", "decimal"),
                             ("4/3/2023", "04/03/2023", "date"), ("[invalid]", "none", "letter"),
                             ("N/A", "n/a", "days"), ("c", "C", "letter"),
                             ("(4 weeks, 3 days)", "(4 weeks, 3 days)", "weeks_days")):  # fmt: skip
        assert same(one, other, *example_of(kind))
    for one, other, kind in (("A", "B", "letter"), ("A", "none", "letter"), ("4.2", "4.3", "decimal"),
                             ("N/A", "3", "decimal")):  # fmt: skip
        assert not same(one, other, *example_of(kind))
    within = example_of("decimal", ground_truth="0.83", lower_limit=0.8, upper_limit=0.85)
    assert [reading for reading in ("83%", "83", "none", "0.81") if right(reading, *within)] == ["83%", "0.81"]


def test_of_any_other_benchmark_the_auditor_is_told_the_answers_or_reads_a_few_words():
    toy, example = toy_benchmark(), {"prompt": "Is snow white?", "answer": "yes"}
    question = toy.audit_question(example)
    assert (question.form, question.pattern) == ("one of: yes, no, maybe", "yes|no|maybe")
    assert same("yes", "yes", toy, example) and not same("yes", "no", toy, example)
    assert right("yes", toy, example) and not right("no", toy, example) and not right("none", toy, example)

    async def ask(messages, read, schema=None):
        return read("STATED: **YES**.")

    found = asyncio.run(Auditor().judge(AuditCase(toy, example, "So."), ask)).output["stated"]
    assert found == "YES" and same(found, "yes", toy, example) and right(found, toy, example)


def test_of_a_long_response_the_auditor_sees_the_end():
    async def ask(messages, read, schema=None):
        assert "The answer is B." in whole(messages) and len(whole(messages)) < 20_000
        return read("STATED: B")

    case = AuditCase(*example_of("letter"), "Hm. " * 9_000 + "The answer is B.")
    assert asyncio.run(Auditor().judge(case, ask)).output == {"stated": "B"}


def test_a_reading_of_less_than_even_certainty_is_doubtful():
    def is_doubtful(certainty):
        answers = {name: ["A", "A"] for name in ("strict-match", "flexible-extract")}
        details: Any = {"flexible-extract": {"certainty": certainty}}
        benchmark, example = example_of("letter")
        sample = Sample(0, "", example, [], ["", ""], "A", answers=answers, details=details)
        return Item(benchmark, sample, 1).is_doubtful

    assert [is_doubtful(each) for each in (0.49, [0.9, 0.4], 0.5, [0.4, 0.9], None)] == [
        True,
        True,
        False,
        False,
        False,
    ]


# ---- a run


def reads(request: dict[str, Any]) -> Answer:
    """A perfect reader of the responses below, which checks that it is told nothing that it must not know."""
    text = whole(request["messages"])
    if '"ready"' in text:
        return '{"ready": true}'
    said = re.findall(r"<response>\n(.*?)\n</response>", text, re.DOTALL)[-1]
    found = re.search(r"\\boxed\{(.)\}|answer is (.)\.|<answer>(.*)</answer>", said)
    return f"STATED: {next(group for group in found.groups() if group)}" if found else "STATED: none"


def many(folder: Path, count: int, wrong: float) -> Path:
    """A run of so many examples, which state letters; in a share of them the rules are wrong."""
    path = sample_file(save_run(folder, tasks="medmcqa_openmed"), "medmcqa_openmed")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    made = []
    for number in range(count):
        chance = draw(f"example {number}")
        answer, spoilt = chance.choice("ABCD"), number < wrong * count
        for name in ("strict-match", "flexible-extract"):
            line = next(line for line in lines if line["filter"] == name)
            read = "ABCD"[("ABCD".index(answer) + 1) % 4] if spoilt else answer
            line |= {"doc_id": number, "doc_hash": f"{number:064}", "filtered_resps": [read],
                     "resps": [[f"Number {number}: \\boxed{{{answer}}}"]], "doc": {**line["doc"], "answer_letter": "A"},
                     "acc": float(read == "A"), "found_by": "box"}  # fmt: skip
            made.append(json.dumps(line))
    path.write_text("\n".join(made) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def audit(tmp_path):
    def run(url, *arguments):
        return main(["audit", *map(str, arguments), "--model", "m", "--base", url, "--cache", str(tmp_path / "c")])

    return run


def test_rules_made_wrong_on_purpose_in_a_known_share_are_found_out(tmp_path, audit, capsys):
    wrong = 0.12
    path = many(tmp_path / "run", 600, wrong)
    with LocalServer(reads) as server:
        assert audit(server.url, tmp_path / "run", "--sample", "150") == 0
        asked = len(server.requests)
        assert asked == 1 + 150
        assert audit(server.url, tmp_path / "run", "--sample", "150") == 0
        assert len(server.requests) == asked, "nothing is asked twice"
        for request in server.requests:
            assert "answer_letter" not in whole(request["messages"])
    assert [run.model for run in read_runs([tmp_path / "run"])] == ["org/model"], "the audit's file is no run"
    found = json.loads(audit_file(path).read_text())
    for filter_ in found["filters"].values():
        assert filter_["misread"]["low"] <= wrong <= filter_["misread"]["high"] and filter_["missed"]["value"] == 0
        assert filter_["misread"]["high"] - filter_["misread"]["low"] < 0.12
    stated = sum(draw(f"example {number}").choice("ABCD") == "A" for number in range(600)) / 600
    assert found["accuracy_as_read"]["low"] <= stated <= found["accuracy_as_read"]["high"]
    readings = found["readings"]
    assert [row["differs"] for row in readings] == [row["doc_id"] < wrong * 600 for row in readings]
    assert len(found["readings"]) == 150 and found["readings"][0]["stratum"] == "others"
    assert "misread" in capsys.readouterr().out


def test_the_readings_of_a_person_stand_beside_the_llm_s(tmp_path, audit, capsys):
    path = many(tmp_path / "run", 4, 0)
    samples = read_runs([tmp_path / "run"])[0].tasks["medmcqa_openmed"].samples
    stated = draw("example 0").choice("ABCD")
    readings = [stated, "none", ""]
    rows = ["run,task,id,length,mark,states,note"]
    for sample, reading in zip(samples, readings, strict=False):
        rows.append(f"model,medmcqa_openmed,{sample.doc_id},{len(sample.responses[0])},reading wrong,{reading},")
    (tmp_path / "marks.csv").write_text("\ufeff" + "\r\n".join(rows))
    with LocalServer(reads) as server:
        assert audit(server.url, tmp_path / "run", "--marks", tmp_path / "marks.csv") == 0
        assert audit(server.url, tmp_path / "run", "--marks", path) == 2
    assert "a person's marks: the LLM read the same in 1 of 2" in capsys.readouterr().out
    found = {row["doc_id"]: row["person_agrees"] for row in json.loads(audit_file(path).read_text())["readings"]}
    assert found == {0: True, 1: False, 2: None, 3: None}


def test_all_benchmarks_with_every_response_read_and_some_replies_that_fail(tmp_path, audit, capsys):
    results = save_run(tmp_path / "run", right_in(0.6))

    def answer(request):
        text = whole(request["messages"])
        if '"ready"' not in text and draw(text.split("(An earlier")[0].strip()).random() < 0.1:
            answers: list[Answer] = ["The response states C.", Fault(400), Fault(401)]
            return draw(text).choice(answers)
        return reads(request)

    with LocalServer(answer) as server:
        assert audit(server.url, tmp_path / "run", "--json", "--max_retries", "0") == 0
    audits = {each["task"]: each for each in json.loads(capsys.readouterr().out)}
    assert set(audits) == set(GENERATION_TASKS)
    assert sum(sum(each["failures"].values()) for each in audits.values()) > 0
    for task, each in audits.items():
        counted = [row for row in each["readings"] if row["stated"] is not None]
        assert sum(stratum["read"] for stratum in each["strata"].values()) == len(counted)
        assert len(each["readings"]) == each["responses"] and (len(counted) < each["responses"] or not each["failures"])
        written = json.loads(audit_file(sample_file(results, task)).read_text())
        assert written == {key: each[key] for key in each if key != "path"}
        silent = [row for row in each["readings"] if not row["end"]]
        assert all(row["stated"] == "none" for row in silent), "nothing is asked of an empty response"


def test_wrong_use_is_one_line(tmp_path, audit, capsys):
    many(tmp_path / "run", 5, 0)
    with LocalServer(reads) as server:
        assert audit(server.url, tmp_path / "run", "--task", "medmcqa_openmd") == 1
    assert "medmcqa_openmd" in capsys.readouterr().err.splitlines()[-1]
    with LocalServer(lambda body: HANG_UP) as server:
        assert audit(server.url, tmp_path / "run") == 1
        assert len(server.requests) == 3
    assert "is the server running" in capsys.readouterr().err.splitlines()[-1]


def test_an_estimate_a_hair_below_zero_is_not_printed_as_minus_zero():
    assert _percent({"value": -1e-17, "low": 0.0, "high": -4e-4}) == "0.0% (0.0% to 0.0%)"


def test_the_interval_of_a_changed_share_holds_it_where_half_of_the_doubtful_change():
    """Gains and losses of one stratum exclude each other, so their difference varies more than if they did not."""
    generator, held, draws = random.Random(5), 0, 400
    for _ in range(draws):
        kinds = generator.choices(("gain", "loss", "same"), (0.25, 0.25, 0.5), k=120)
        gains, losses = Counts(kinds.count("gain"), 120, 3000), Counts(kinds.count("loss"), 120, 3000)
        found = changed(0.6, [gains], [losses])
        assert found is not None
        held += found["low"] <= 0.6 <= found["high"]
    assert held / draws > 0.93
    assert changed(0.6, [Counts(0, 0, 9)], [Counts(0, 0, 9)]) is None
