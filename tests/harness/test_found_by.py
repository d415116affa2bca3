"""Samples say how an answer was found, so that a wrong form can be told from a wrong answer."""

from given import each_row
from running import reader


@each_row("found_by")
def test_samples_say_how_an_answer_was_found(task, filter_name, response, details):
    loaded = reader(task)
    doc = next(doc for doc in loaded.eval_docs if doc.get("judgement", "decimal") == "decimal")
    text = response.replace("{option}", doc["options"][0] if "options" in doc else "")
    assert loaded.extract(filter_name, text, doc).details == details
