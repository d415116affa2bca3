"""What one response scores on every metric, and where readings that need similarity begin and end."""

import json

from given import each_row, table

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.medexqa.authors import misspelt_option, only_letter

EXAMPLES = {benchmark: examples for benchmark, change, examples in table("examples") if not change}


@each_row("scores")
def test_a_response_scores_what_its_row_says_by_the_strict_reading(
    name, number, options, response, metrics, cluster, stratum
):
    """A row states the metrics that it is about; others may be added."""
    kind, example = benchmarks()[name], EXAMPLES[name][number]
    benchmark = kind(kind.options_class(**options))
    scores = benchmark.scores(benchmark.strict(response, example), example)
    found = {metric: scores.get(metric, "not given") for metric in metrics}
    assert json.loads(json.dumps(found)) == metrics
    assert (benchmark.data.cluster_of(example), benchmark.data.stratum_of(example)) == (cluster, stratum)


@each_row("almost_quoted")
def test_an_option_that_is_almost_quoted(text, options, letter):
    assert misspelt_option(text, options) == letter


@each_row("only_letters")
def test_a_letter_counts_if_no_other_is_mentioned(text, letter):
    assert only_letter(text, ["one", "two.", "three", ""]) == letter
