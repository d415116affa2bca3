"""From Python: ``score`` for one response and ``load_runs`` for saved ones, as in a run; rewards, as TRL takes them."""

import itertools
import re
from typing import Any

import pytest
from given import FILE, ROOT, TASK, each_row, sample_rows, table
from places import as_its_row_says
from running import evaluate, load, right_answer

from medtasks_utils import Scorer, load_runs, reward, score
from medtasks_utils.results.frames import Frames


@pytest.mark.parametrize("benchmark", TASK)
def test_a_response_is_scored_as_in_a_run(benchmark):
    """Every metric of every sample that the real harness logs, for right answers and for odd ones."""
    name, rows = TASK[benchmark], sample_rows(FILE[benchmark])
    odd, is_right = itertools.cycle(table("odd_responses")), itertools.cycle([False, True])

    def answer(doc):
        return right_answer(doc) if next(is_right) else next(odd)

    samples = evaluate(name, answer, limit=6)["samples"][name]
    per_row = len(load(name).eval_docs) // len(rows)
    for sample in samples:
        row, shown = rows[sample["doc_id"] // per_row], sample["doc"].get("shown")
        found = score(name, row, sample["resps"][0][0], shown=shown)[sample["filter"]]
        assert [found.answer or "[invalid]"] == sample["filtered_resps"]
        assert found.found_by == sample["found_by"]
        of_reply = {"cut", "acc_finished"}  # of which the text alone tells nothing
        assert found.metrics == {metric: sample[metric] for metric in sample["metrics"] if metric not in of_reply}


@each_row("scored")
def test_a_response_to_the_first_row_has_these_strict_scores(task, changed, response, options, expected):
    (benchmark,) = [name for name in FILE if name in task]
    found = score(task, sample_rows(FILE[benchmark])[0] | changed, response, **options)["strict-match"]
    values = {"answer": found.answer, "found_by": found.found_by, **found.metrics}
    assert {name: values.get(name) for name in expected} == expected


def test_explanations_are_scored_if_asked_for():
    row = sample_rows(FILE["medexqa"])[0]
    text = f"The answer is A. {row['explanation_1']}"
    assert "rougeL" not in score("medexqa", row, text)["strict-match"].metrics
    asked = Scorer("medexqa", explanation_metrics=["rougeL", "bleu"])
    metrics = [each["strict-match"].metrics for each in asked.many([row, row], [text, "The answer is B."])]
    assert [(score[name] or 0) > 50 for score in metrics for name in ("rougeL", "bleu")] == [True, True, False, False]


test_a_function_of_scoring_returns_what_its_row_says = as_its_row_says("functions_of_scoring")


def test_saved_runs_are_frames_with_the_columns_that_are_documented():
    runs = load_runs(ROOT / "tests" / "report" / "small")
    values, examples = runs.to_pandas()
    documented = [re.findall(r"``(\w+)``", text) for text in str(Frames.__doc__).split("samples:")]
    assert [*values] == documented[0] and [*examples][: len(documented[1])] == documented[1]


# ---- rewards for training


@each_row("batches_of_cops")
def test_the_first_batch_or_an_option_decides_whether_labels_count_from_0(options, batches, rewarded, warns, caplog):
    rewards = reward("medmcqa", **options)
    row = sample_rows("medmcqa/train.jsonl")[0]
    rows = [{**{name: (value,) * len(cops) for name, value in row.items()}, "cop": cops} for cops in batches]
    assert [rewards(["\\boxed{B}"] * len(row["cop"]), **row) for row in rows] == rewarded
    assert caplog.text.count("0 was read as A") == warns


def test_the_documented_reward_asks_for_both_answers_of_a_row():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "training.md").read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(blocks[1], names)
    row, other = sample_rows(FILE["medhallu"])[:2]
    true, false = "ground_truth", "hallucinated"
    answers = [f"\\boxed{{{number}}}" for number in "011111"]
    columns = {name: [row[name]] * 4 + [other[name]] * 2 for name in row}
    given = {**columns, "shown": [true, true, false, false, true, false]}
    assert names["both_answers"](answers, **given) == [1.0, 0.0, 0.5, 0.5, 0.0, 0.0]
    with pytest.raises(ValueError, match="the batch has one answer to"):
        names["both_answers"](answers[:2], **{name: column[:2] for name, column in given.items()})
