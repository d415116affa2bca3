"""The command lines: the stock ``lm_eval`` with our tasks on real backends, and ``medtasks`` itself."""

import io
import json
import logging
import os
import re
import sys
from unittest.mock import Mock

from commanding import exit_code, medtasks, one_line, succeed
from given import ROOT, each_row
from running import manager

from medtasks_utils import __main__ as cli
from medtasks_utils.errors import UsageError, reason_of, show_errors_as_one_line

# ---- names


@each_row("names")
def test_a_name_stands_for_the_documented_tasks(name, tasks):
    """The row without a name has all tasks."""
    assert {"medexqa", "medexqa_logits"} <= {*manager().all_groups}
    if name:
        assert sorted(manager().load([name])["tasks"]) == tasks
    else:
        assert {*tasks} <= {*manager().all_subtasks}


# ---- errors


def test_an_error_of_ours_is_shown_as_one_line(monkeypatch, capsys):
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    show_errors_as_one_line()
    logging.getLogger("lm_eval").setLevel(logging.INFO)
    sys.excepthook(UsageError, UsageError("what is wrong and the way out"), None)
    assert one_line(capsys.readouterr().err) == "what is wrong and the way out"
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert capsys.readouterr().err == "medtasks: interrupted\n"
    unexpected, debugged = UsageError("a bug"), UsageError("in detail")
    unexpected.__cause__ = KeyError()
    sys.excepthook(UsageError, unexpected, None)
    monkeypatch.setattr(logging.getLogger("lm_eval"), "level", logging.DEBUG)
    sys.excepthook(UsageError, debugged, None)
    assert "medtasks: error" not in capsys.readouterr().err, "a traceback as Python prints it"


@each_row("reasons")
def test_the_reason_of_an_error_is_its_first_line_or_what_stands_under_a_heading(text, reason):
    assert reason_of(ValueError(text)) == reason


# ---- medtasks


@each_row("wrong_usage")
def test_wrong_usage_is_exit_code_2_and_one_line(arguments, message, capsys):
    assert exit_code(arguments) == 2
    output, errors = capsys.readouterr()
    assert (output, errors.count("\n")) == ("", 1)
    assert message in one_line(errors)


@each_row("passed_on")
def test_the_arguments_of_a_command_reach_the_function_that_does_the_work(
    words, function, given, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small").symlink_to(ROOT / "tests" / "report" / "small")
    called = Mock(side_effect=UsageError)
    monkeypatch.setattr(f"medtasks_utils.{function}", called)
    assert exit_code(words) == 2
    found = json.dumps([*called.call_args], default=lambda value: getattr(value, "model", str(value)))
    assert json.loads(found) == given


def test_a_default_is_the_one_that_help_says():
    for command in cli.COMMANDS.values():
        for name, argument in command.__pydantic_fields__.items():
            default, said = argument.default, re.search(r"default: (\S+)$", argument.description or "")
            if said and default is not None:
                shown = f"{default:.10g}" if isinstance(default, int | float) else str(default)
                assert shown == said[1].replace(",", ""), f"{command.__name__} {name}"


def test_medtasks_lists_its_commands_without_arguments_and_with_help(capsys):
    for words in ([], ["--help"]):
        succeed(*words)
        assert set(cli.COMMANDS) <= set(capsys.readouterr().out.split())
    succeed("--version")


def test_help_works_in_a_python_without_docstrings(tmp_path, capsys):
    for name in ("report", "rescore"):
        succeed(name, "--help")
        (told,) = medtasks([name, "--help"], cwd=tmp_path, PYTHONOPTIMIZE="2")
        assert told == (0, capsys.readouterr().out, "")


def test_characters_that_a_terminal_lacks_are_replaced_and_a_closed_output_is_no_error(monkeypatch):
    printed = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stdin", io.StringIO("–1 is \\boxed{B} 是"))
    monkeypatch.setattr(sys, "stdout", printed)
    succeed("extract", "--task", "medmcqa", "--explain")
    assert rb".-1 is \boxed{[B]} ?." in printed.buffer.getvalue()
    monkeypatch.setattr(sys, "stdout", None)
    succeed("path")


def test_no_line_of_help_is_wider_than_80_columns(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "200")
    for name in cli.COMMANDS:
        succeed(name, "--help")
        assert max(map(len, capsys.readouterr().out.splitlines())) <= 80, name


def test_a_closed_pipe_is_no_error(monkeypatch, capsys):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", closed)
        succeed("path")
    assert capsys.readouterr().err == ""
