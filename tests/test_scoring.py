"""From Python: ``score`` for one response and ``load_runs`` for saved ones, as in a run; rewards, as TRL takes them."""

import itertools
import re
from typing import Any

import pytest
from given import FILE, ROOT, TASK, each_row, error_line, sample_rows, table
from running import evaluate, load, right_answer

from medtasks_utils import Scorer, errors, load_runs, reward, score
from medtasks_utils.errors import DataError, UsageError
from medtasks_utils.results.frames import Frames

ODD = table("odd_responses")


@pytest.mark.parametrize("benchmark", TASK)
def test_a_response_is_scored_as_in_a_run(benchmark):
    """Every metric of every sample that the real harness logs, for right answers and for odd ones."""
    name, rows = TASK[benchmark], sample_rows(FILE[benchmark])
    odd = itertools.cycle(ODD)
    is_right = itertools.cycle([False, True])

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
def test_a_response_to_the_first_row_has_these_strict_scores(task, response, options, expected):
    (benchmark,) = [name for name in FILE if name in task]
    found = score(task, sample_rows(FILE[benchmark])[0], response, **options)["strict-match"]
    values = {"answer": found.answer, "found_by": found.found_by, **found.metrics}
    assert {name: values.get(name) for name in expected} == expected


def test_explanations_are_scored_if_asked_for():
    row = sample_rows(FILE["medexqa"])[0]
    text = f"The answer is A. {row['explanation_1']}"
    assert "rougeL" not in score("medexqa", row, text)["strict-match"].metrics
    asked = Scorer("medexqa", explanation_metrics=["rougeL", "bleu"])
    metrics = [each["strict-match"].metrics for each in asked.many([row, row], [text, "The answer is B."])]
    assert [(score[name] or 0) > 50 for score in metrics for name in ("rougeL", "bleu")] == [True, True, False, False]
    with pytest.raises(UsageError, match=r"one response for each row \(rows: 2, responses: 1\)"):
        asked.many([row, row], ["A"])


@each_row("scored_refused")
def test_a_mistake_in_scoring_is_an_error_of_its_type(task, row, response, options, kind, message):
    """A row is one of a file of the sample where the table names the file."""
    given = sample_rows(row)[0] if isinstance(row, str) else row
    with pytest.raises(getattr(errors, kind), match=message):
        Scorer(task, **options).many([given, given], ["", response])


def test_a_row_of_medhallu_with_one_answer_needs_no_name_for_it():
    row = {**sample_rows(FILE["medhallu"])[0], "Ground Truth": ""}
    assert score("medhallu", row, "\\boxed{1}")["strict-match"].metrics["acc"] == 1


@each_row("explained")
def test_a_reading_is_explained_by_its_candidates_each_with_its_evidence_and_place(name, task, fields, text, lines):
    scorer = Scorer(task)
    assert [*scorer.lines_of_readings(text, {**scorer.blank_example(), **fields}, explain=True)] == lines


@each_row("kinds_refused")
def test_a_kind_of_answer_that_a_benchmark_lacks_is_an_error_with_those_that_it_has(task, kind, says):
    assert error_line(UsageError, Scorer(task).blank_example, kind) == says


@each_row("labels_of_one_row")
def test_the_label_of_one_row_of_medmcqa_counts_from_0_as_on_the_hub(label):
    """In a file of its own, 4 would mean that all count from 1, and 3 not."""
    row = sample_rows(FILE["medmcqa"])[0] | {"cop": label}
    if label == 3:
        assert [score("medmcqa", row, f"\\boxed{{{x}}}")["strict-match"].metrics["acc"] for x in "CD"] == [0.0, 1.0]
    else:
        with pytest.raises(DataError, match=r"cop is -?\d.*, but must be a letter A-D, an integer, or a choice"):
            score("medmcqa", row, "\\boxed{D}")


def test_saved_runs_are_frames_with_the_columns_that_are_documented():
    runs = load_runs(ROOT / "tests" / "report" / "small")
    values, examples = runs.to_pandas()
    documented = [re.findall(r"``(\w+)``", text) for text in str(Frames.__doc__).split("samples:")]
    assert [*values] == documented[0] and [*examples][: len(documented[1])] == documented[1]


# ---- rewards for training

ROWS = sample_rows("medmcqa/train.jsonl")


def columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_texts_and_messages_are_rewarded_alike():
    rewards = reward("medmcqa")
    texts = [f"So: \\boxed{{{'ABCD'[row['cop']]}}}" for row in ROWS[:-1]] + [""]
    expected = [float(bool(text)) for text in texts]
    assert rewards(texts, **columns(ROWS)) == expected
    messages = [[{"role": "user", "content": "?"}, {"role": "assistant", "content": text or None}] for text in texts]
    as_tuples = {name: tuple(column) for name, column in columns(ROWS).items()}
    assert rewards(completions=messages, prompts=["?"] * len(ROWS), **as_tuples, trainer_state=None) == expected


@each_row("batches_of_cops")
def test_the_first_batch_or_an_option_decides_whether_labels_count_from_0(options, batches, rewarded, warns, caplog):
    rewards = reward("medmcqa", **options)
    rows = [{**{name: [value] * len(cops) for name, value in ROWS[0].items()}, "cop": cops} for cops in batches]
    assert [rewards(["\\boxed{B}"] * len(row["cop"]), **row) for row in rows] == rewarded
    assert caplog.text.count("0 was read as A") == warns
    with pytest.raises(DataError, match="cop is 5"):
        rewards(["\\boxed{B}"], **columns([{**ROWS[0], "cop": 5}]))


def test_the_reward_is_the_metric_that_is_named_or_the_benchmarks():
    rows = columns(sample_rows("medhallu/pqa_labeled.jsonl")[:3])
    answers, shown = [f"\\boxed{{{digit}}}" for digit in (1, 1, 2)], ["hallucinated", "ground_truth", "hallucinated"]
    rewards = reward("medhallu", unsure_reward=0.2)
    assert rewards.__name__ == "medhallu_reward" and rewards(answers, **rows, shown=shown) == [1.0, 0.0, 0.2]
    assert reward("medhallu", metric="acc")(answers, **rows, shown=shown) == [1.0, 0.0, 0.0]
    said = ["It is hallucinated.", "It is hallucinated.", "I am unsure."]
    flexible = reward("medhallu", filter_name="flexible-extract")
    assert flexible(said, **rows, shown=shown) == [1.0, 0.0, 0.01] and rewards(said, **rows, shown=shown) == [0.0] * 3


def test_the_documented_reward_asks_for_both_answers_of_a_row():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "training.md").read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(blocks[1], names)
    row, other = sample_rows("medhallu/pqa_labeled.jsonl")[:2]
    true, false = "ground_truth", "hallucinated"
    answers = [f"\\boxed{{{number}}}" for number in "011111"]
    given = {**columns([row] * 4 + [other] * 2), "shown": [true, true, false, false, true, false]}
    assert names["both_answers"](answers, **given) == [1.0, 0.0, 0.5, 0.5, 0.0, 0.0]
    with pytest.raises(ValueError, match="the batch has one answer to"):
        names["both_answers"](answers[:2], **{name: column[:2] for name, column in given.items()})


@each_row("reward_mistakes")
def test_a_mistake_in_a_reward_is_one_error(task, settings, columns, kind, says):
    with pytest.raises(getattr(errors, kind), match=says):
        reward(task, **settings)(["\\boxed{A}"], **columns)
