"""From Python: ``score`` for one response, ``load_runs`` for saved ones; both as in a run."""

import json
import re

import pytest
from given import FILE, TASK, sample_rows
from running import evaluate, load, right_answer
from saved_runs import save_run

from medtasks_utils import Scorer, load_runs, score
from medtasks_utils.errors import DataError, UsageError
from medtasks_utils.results.frames import Frames

RESPONSES = ["\\boxed{B}", "\\boxed{1}", "<answer>7</answer>", "The answer is A.", "I would say (C).", "", "<think>so"]


@pytest.mark.parametrize("benchmark", TASK)
def test_a_response_is_scored_as_in_a_run(benchmark):
    """Every metric of every sample that the real harness logs, for right answers and for odd ones."""
    name, rows = TASK[benchmark], sample_rows(FILE[benchmark])
    number = iter(range(10_000))

    def answer(doc):
        index = next(number)
        return right_answer(doc) if index % 2 else RESPONSES[index % len(RESPONSES)]

    samples = evaluate(name, answer, limit=6)["samples"][name]
    documents = list(load(name).eval_docs)
    per_row = len(documents) // len(rows)
    for sample in samples:
        row = rows[sample["doc_id"] // per_row]
        shown = sample["doc"].get("shown")
        found = score(name, row, sample["resps"][0][0], shown=shown)[sample["filter"]]
        assert found.answer == (None if sample["filtered_resps"][0] == "[invalid]" else sample["filtered_resps"][0])
        assert found.found_by == sample["found_by"]
        of_reply = {"cut", "acc_finished"}  # of which the text alone tells nothing
        assert found.metrics == {metric: sample[metric] for metric in sample["metrics"] if metric not in of_reply}


def test_a_benchmark_is_its_default_task_and_options_apply():
    (row, *_) = sample_rows(FILE["medmcqa"])
    assert score("medmcqa", row, "\\boxed{A}") == score("medmcqa_openmed", row, "\\boxed{A}")
    (row, *_) = sample_rows(FILE["medcalc_bench"])
    both = f"\\boxed{{1}} <answer>{row['Ground Truth Answer']}</answer>"
    assert score("medcalc_bench", row, both)["strict-match"].metrics["acc"] == 1.0
    assert score("medcalc_bench", row, both, answer_format="boxed")["strict-match"].metrics["acc"] == 0.0
    for unpaired in (f"<think>{both}", f"{both}</think>", f"{both}</think><think>"):
        assert score("medcalc_bench", row, unpaired)["strict-match"].metrics["acc"] == 1.0, "as its authors read it"
    (row, *_), unsure = sample_rows(FILE["medhallu"]), r"\boxed{2}"
    assert score("medhallu", row, unsure, shown="hallucinated")["strict-match"].answer == "2"
    assert score("medhallu", row, unsure, shown="hallucinated", allow_unsure=False)["strict-match"].answer is None
    (row, *_) = sample_rows(FILE["medcalc_bench"])
    assert score("medcalc_bench_python", row, both)["strict-match"].metrics["acc"] == 1.0, "the last reply alone"


def test_the_format_of_medmcqa_asks_for_a_think_block_and_no_box():
    row = sample_rows(FILE["medmcqa"])[0]
    for boxes in range(3):
        scores = score("medmcqa", row, "<think>x</think>\nThe answer is B." + r" \boxed{B}" * boxes)[
            "strict-match"
        ].metrics
        assert (scores["format"], scores["one_box"], scores["answered"]) == (1, boxes == 1, boxes > 0)


def test_explanations_are_scored_if_asked_for():
    (row, *_) = sample_rows(FILE["medexqa"])
    response = f"The answer is {row['answer']}. {row['explanation_1']}"
    assert "rougeL" not in score("medexqa", row, response)["strict-match"].metrics
    found = score("medexqa", row, response, explanation_metrics=["rougeL", "bleu"])["strict-match"].metrics
    assert found["rougeL"] is not None and found["rougeL"] > 80


@pytest.mark.parametrize(
    ("arguments", "options", "kind", "message"),
    [
        (("nothing", {}, ""), {}, UsageError, "there is no task 'nothing'"),
        (("medhallu", sample_rows(FILE["medhallu"])[0], ""), {}, UsageError, "shown='ground_truth' or"),
        (("medmcqa", {"id": 1}, ""), {}, DataError, "the row: missing column"),
        (("medmcqa", {"id": 1}, None), {}, UsageError, "a response must be a text, not None"),
        (("medcalc_bench", {}, ""), {"answer_fromat": "xml"}, UsageError, "score: unknown option 'answer_fromat'"),
        (("medtasks", {}, ""), {}, UsageError, "a group of several benchmarks; name the row's benchmark: .*medmcqa"),
        (("medexqa_logits", {}, ""), {}, UsageError, "scores log-likelihoods, not text; use medexqa_biomedical"),
    ],
)
def test_mistakes_are_errors(arguments, options, kind, message):
    with pytest.raises(kind, match=message):
        score(*arguments, **options)


def test_each_row_needs_a_response_and_explanations_are_scored_on_request():
    row = sample_rows(FILE["medexqa"])[0]
    with pytest.raises(UsageError, match=r"one response for each row \(rows: 2, responses: 1\)"):
        Scorer("medexqa").many([row, row], ["A"])
    assert "rougeL" not in score("medexqa", row, "A")["strict-match"].metrics
    assert "rougeL" in score("medexqa", row, "A", explanation_metrics="rougeL")["strict-match"].metrics


@pytest.mark.parametrize("label", [0, "0", 0.0, "A", "a", "choice a"])
def test_one_row_of_medmcqa_is_read_as_on_the_hub(label):
    row = {"id": "x", "question": "?", **{f"op{letter}": f"choice {letter}" for letter in "abcd"}, "cop": label}
    assert [score("medmcqa", row, f"\\boxed{{{x}}}")["strict-match"].metrics["acc"] for x in "AB"] == [1.0, 0.0]


@pytest.mark.parametrize("label", [4, "4", 4.0, -1])
def test_one_row_of_medmcqa_with_a_label_that_is_not_the_hubs(label):
    """In a file of its own, 4 would mean that all count from 1, and 3 not."""
    row = {"id": "x", "question": "?", **dict.fromkeys(("opa", "opb", "opc"), "text"), "opd": "text", "cop": label}
    with pytest.raises(DataError, match=r"cop is -?\d.*, but must be a letter A-D, 0-3, 1-4 \(in a whole file\)"):
        score("medmcqa", row, "\\boxed{D}")


def test_a_row_of_a_task_over_several_files():
    (row, *_) = sample_rows(FILE["medexqa"])
    found = score("medexqa_all", row, f"The answer is {row['answer']}.", repeats=None)
    assert found["strict-match"].metrics["acc"] == 1.0


def test_saved_runs_as_frames(tmp_path):
    tasks = ["medmcqa_openmed", "medhallu"]
    path = save_run(tmp_path, tasks=tasks, model="org/mine", metadata={"medhallu": {"repeats": 2}}, limit=4)
    result = json.loads(path.read_text())
    runs = load_runs(path, tmp_path)
    assert [run.model for run in runs] == ["org/mine"]
    values, examples = runs.to_pandas()
    acc = values[(values["task"] == "medmcqa_openmed") & (values["metric"] == "acc")]
    assert set(acc["filter"]) == {"strict-match", "flexible-extract"}
    assert (acc["value"] == result["results"]["medmcqa_openmed"]["acc,strict-match"]).all()
    assert acc["signature"].str.startswith("medmcqa_openmed|").all()
    assert len(examples) == 2 * (4 + 4)
    one = examples[(examples["task"] == "medmcqa_openmed") & (examples["filter"] == "strict-match")].iloc[0]
    assert one["answer"] == one["target"] and one["acc"] == 1.0 and "\\boxed" in one["response"]
    many = examples[examples["task"] == "medhallu"].iloc[0]
    assert len(many["response"]) == len(many["answer"]) == 2
    documented = [re.findall(r"``(\w+)``", text) for text in str(Frames.__doc__).split("samples:")]
    assert [*values] == documented[0] and [*examples][: len(documented[1])] == documented[1]


@pytest.mark.parametrize("shown", ["ground_truth", "hallucinated"])
def test_a_row_that_is_scored_is_chosen_already(shown):
    for row in sample_rows(FILE["medhallu"])[:6]:
        found = score("medhallu", row, r"\boxed{0}", shown=shown, pairing="sampled", difficulty="hard")
        assert found["strict-match"].metrics["acc"] == float(shown == "ground_truth")
