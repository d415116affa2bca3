"""Options under ``--metadata``: what is accepted, and the one line that a wrong one ends in."""

from functools import partial

import pytest
from given import GENERATION_TASKS, TASK_OF, each_row, error_line, table
from running import documents, load

from medtasks_utils.benchmarks.medexqa.benchmark import MedExQA
from medtasks_utils.benchmarks.medexqa.options import MedExQAOptions
from medtasks_utils.errors import UsageError

error = partial(error_line, UsageError, load)


@each_row("options")
def test_an_option_accepts_valid_values_and_rejects_others(benchmark, option, valid, wrong):
    for value in valid:
        taken = load(TASK_OF[benchmark], **{benchmark: {option: value}}).options
        if option not in ("specialty", "explanation_metrics"):  # written in many ways
            assert getattr(taken, option) == value
    for value in wrong:
        problem = error(TASK_OF[benchmark], **{benchmark: {option: value}})
        assert option in problem and benchmark in problem and "Valid options" not in problem, value
    _, _, listed = error(TASK_OF[benchmark], **{benchmark: {"no_option": 1}}).partition("Valid options of")
    assert f"{option} " in listed
    if option != "seed":  # a model argument, too: at the top level it says nothing
        assert f'{{"{benchmark}": {{"{option}": ...}}}}' in error(TASK_OF[benchmark], **{option: valid[-1]})


@pytest.mark.parametrize("benchmark", TASK_OF)
def test_null_is_the_default_of_every_option_and_only_an_object_holds_options(benchmark):
    plain = load(TASK_OF[benchmark], **{benchmark: {}})
    names = {*type(plain.options).model_fields} - {"use_explanations"}  # which these tests switch off
    nulls = load(TASK_OF[benchmark], **{benchmark: dict.fromkeys(names)})
    assert nulls.options == plain.options
    assert nulls.options.model_fields_set == plain.options.model_fields_set
    two = error(TASK_OF[benchmark], **{benchmark: {"repeats": 0, "ask_confidence": 1}})
    assert two == f"{benchmark}: repeats must be greater than 0; ask_confidence must be true or false, not 1"
    for value in ("repeats=2", ["repeats"], 3, True):
        assert f"{benchmark} takes a JSON object" in error(TASK_OF[benchmark], **{benchmark: value})


@each_row("weights")
def test_one_weight_determines_the_other_and_two_are_used_as_given(name, given, weights, warnings_of_harness):
    options = load("medexqa_all", medexqa=given).options
    assert [options.mcq_weight, options.explanation_weight] == weights
    assert len([line for line in warnings_of_harness() if "combined" in line]) == (sum(weights) != 1)


@each_row("without_effect")
def test_an_option_without_what_it_needs_is_warned_of_with_what_it_needs(
    name, benchmark, given, says, warnings_of_harness
):
    load(TASK_OF[benchmark], **{benchmark: given})
    warned = [line for line in warnings_of_harness() if "has no effect" in line]
    assert warned == [] if says is None else says in "".join(warned)


@each_row("explanation_scores_of_options")
def test_explanations_are_scored_by_these_metrics_and_by_a_judge_if_it_is_asked_for(name, given, metrics, judged):
    options = MedExQAOptions(**given)
    assert ([*options.lexical_metrics], options.judges) == (metrics, judged)
    reported = {metric.name for metric in MedExQA(options).reported() if metric.is_of_explanations}
    assert reported.issuperset([*metrics, "explanation", "combined"] if metrics or judged else [])
    assert ("explanation" in reported) == bool(metrics or judged)


@each_row("misspelt_options")
def test_a_misspelt_option_is_an_error_that_suggests_the_right_name(name, metadata, says):
    (name,) = metadata
    for task in [TASK_OF[name]] if name in TASK_OF else GENERATION_TASKS:
        message = error(task, **metadata)
        assert says in message
        assert all(option in message for option in metadata[name])


def test_a_task_ignores_metadata_for_the_model_or_another_benchmark():
    (for_model,) = table("meant_for_the_model")
    for benchmark, name in TASK_OF.items():
        others = {other: {"repeats": 3} for other in TASK_OF if other not in (benchmark, "medexqa")}
        plain, given = load(name), load(name, **for_model, **others)
        assert given.options == plain.options and documents(given) == documents(plain)


def test_options_are_checked_before_the_rows_are_looked_for():
    with pytest.raises(UsageError, match="difficulty"):
        load("medhallu", "/nonexistent", medhallu={"difficulty": "none"})
