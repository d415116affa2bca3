"""``medtasks extract``: answers read by hand, and the evidence for them."""

import io
import re

from commanding import exit_code, succeed
from given import each_row
from running import documents_of
from saved_runs import edit_lines, in_order, sample_file, save_run


@each_row("extracts")
def test_extract_shows_what_each_filter_reads_and_how(arguments, text, code, said, monkeypatch, capsys):
    """If a benchmark has several kinds of answer, the default is a decimal."""
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert exit_code(["extract", "--task", *arguments]) == code
    assert capsys.readouterr().out == said


def test_extract_reads_an_incomplete_log_with_a_warning(tmp_path, capsys):
    metadata = {"medhallu": {"repeats": 2}}
    log = sample_file(save_run(tmp_path, tasks="medhallu", limit=4, metadata=metadata), "medhallu")
    edit_lines(log, lambda lines: [*lines[:2], lines[2][:200]])
    succeed("extract", "--task", "medhallu", "--explain", tmp_path)
    output, errors = capsys.readouterr()
    lines = output.splitlines()
    assert len(lines) == 24 and lines[0].endswith("medhallu 0, right: 0")
    assert f"warning: model: {log.name}" in errors
    assert "warning: model: medhallu: its log has only 2 of 4 samples" in errors
    assert exit_code(["extract", "--task", "medmcqa_openmed", tmp_path]) == 2


def test_extract_reads_the_text_of_a_choice_at_the_letter_where_it_was_shown(tmp_path, capsys):
    def text_of_the_right_choice(doc):
        return f"The answer is {doc['options']['ABCD'.index(doc['answer_letter'])]}."

    log = sample_file(save_run(tmp_path, text_of_the_right_choice, "medmcqa_openmed", limit=3), "medmcqa_openmed")
    edit_lines(log, in_order("DCBA"))
    succeed("extract", "--task", "medmcqa_openmed", tmp_path)
    letters = ["DCBA"["ABCD".index(doc["answer_letter"])] for doc in documents_of("medmcqa_openmed")[:3]]
    shown = re.findall(r"right: (.)\n.*\n  flexible-extract: (.) ", capsys.readouterr().out)
    assert shown == [(letter, letter) for letter in letters]
