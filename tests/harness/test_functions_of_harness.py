"""What functions of a run make of texts and settings: signatures, flags, templates, reasoning, readings."""

from given import each_row
from places import as_its_row_says
from running import reader

test_a_function_of_a_run_returns_what_its_row_says = as_its_row_says("functions_of_harness")


@each_row("found_by")
def test_samples_say_how_an_answer_was_found(task, filter_name, response, details):
    """A wrong form can be told from a wrong answer."""
    loaded = reader(task)
    doc = next(doc for doc in loaded.eval_docs if doc.get("judgement", "decimal") == "decimal")
    text = response.replace("{option}", doc["options"][0] if "options" in doc else "")
    assert loaded.extract(filter_name, text, doc).details == details
