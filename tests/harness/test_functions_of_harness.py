"""What a run's functions make of texts and settings: signatures, flags, generation settings, templates, reasoning."""

from given import each_row, result_of


@each_row("functions_of_harness")
def test_a_function_of_a_run_returns_what_its_row_says(name, function, given, expected):
    assert result_of(function, given) == expected
