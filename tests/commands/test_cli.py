"""The command lines: the stock ``lm_eval`` with our tasks on real backends, and ``medtasks`` itself."""

import io
import json
import logging
import os
import re
import sys
from importlib.metadata import version
from platform import python_version
from unittest.mock import Mock

import pytest
from commanding import exit_code, medtasks, succeed
from given import ROOT, each_row
from places import alive, as_its_row_says
from running import manager

from medtasks_utils import __main__ as cli
from medtasks_utils.errors import UsageError, show_errors_as_one_line

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
    for error, said in (UsageError("the way out"), "error: the way out"), (KeyboardInterrupt(), "interrupted"):
        sys.excepthook(type(error), error, None)
        assert capsys.readouterr().err == f"medtasks: {said}\n"
    unexpected, debugged = UsageError("a bug"), UsageError("in detail")
    unexpected.__cause__ = KeyError()
    sys.excepthook(UsageError, unexpected, None)
    monkeypatch.setattr(logging.getLogger("lm_eval"), "level", logging.DEBUG)
    sys.excepthook(UsageError, debugged, None)
    assert "medtasks: error" not in capsys.readouterr().err, "a traceback as Python prints it"


# ---- medtasks


@each_row("wrong_usage")
def test_wrong_usage_is_one_line_with_the_way_out(words, code, message, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert exit_code(words) == code
    assert capsys.readouterr() == ("", f"medtasks: error: {message}\n")


def test_a_key_of_the_environment_is_in_no_error(monkeypatch, capsys):
    monkeypatch.setenv("JUDGE_API_KEY", "k-0123456789")
    assert exit_code(["report", "k-0123456789"])
    assert "0123" not in capsys.readouterr().err


@pytest.fixture
def _small(tmp_path, monkeypatch):
    """Work in a folder with the small runs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small").symlink_to(ROOT / "tests" / "report" / "small")


@pytest.mark.usefixtures("_small")
@each_row("passed_on")
def test_the_arguments_of_a_command_reach_the_function_that_does_the_work(words, function, given, monkeypatch):
    called = Mock(side_effect=UsageError)
    monkeypatch.setattr(f"medtasks_utils.{function}", called)
    assert exit_code(words) == 2
    arguments = json.dumps(
        [*called.call_args],
        default=lambda value: getattr(value, "model_args", 0) or getattr(value, "model", str(value)),
    )
    assert json.loads(arguments) == given


@pytest.mark.usefixtures("_small")
@each_row("returned")
def test_a_command_prints_what_the_function_that_does_the_work_returns(
    name, words, returned, code, says, monkeypatch, capsys
):
    for function, value in returned.items():
        monkeypatch.setattr(f"medtasks_utils.{function}", Mock(return_value=alive(value)))
    assert exit_code(words) == code
    printed = " ".join("".join(capsys.readouterr()).split())
    assert [text for text in says if text not in printed] == []


def test_a_default_is_the_one_that_help_says():
    for command in cli.COMMANDS.values():
        for name, argument in command.__pydantic_fields__.items():
            default, said = argument.default, re.search(r"default: (\S+)$", argument.description or "")
            if said and default is not None:
                shown = f"{default:.10g}" if isinstance(default, int | float) else str(default)
                assert shown == said[1].replace(",", ""), f"{command.__name__} {name}"


def test_medtasks_lists_its_commands_and_says_its_version(capsys):
    for words in ([], ["--help"]):
        succeed(*words)
        shown = capsys.readouterr().out
        listed = [f"{name} {command.about.strip().splitlines()[0]}" for name, command in cli.COMMANDS.items()]
        assert " ".join(shown.split()).endswith(" ".join(listed))
        assert re.findall(r"(?m)^(?=.{12}  \S)  (\w+) +", shown) == [*cli.COMMANDS], "beside their texts"
    succeed("--version")
    ours, harness = version("medtasks"), version("lm_eval")
    assert capsys.readouterr().out == f"medtasks {ours} (lm_eval {harness}, Python {python_version()})\n"


def test_help_works_in_a_python_without_docstrings(tmp_path, capsys):
    (told,) = medtasks(["rescore", "-h"], cwd=tmp_path, PYTHONOPTIMIZE="2")
    succeed("rescore", "-h")
    assert told == (0, capsys.readouterr().out, "")


def test_characters_that_a_terminal_lacks_are_replaced_and_a_closed_output_is_no_error(monkeypatch):
    printed = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stdin", io.StringIO("–1 is \\boxed{B} 是"))
    monkeypatch.setattr(sys, "stdout", printed)
    succeed("extract", "--task", "medmcqa", "--explain")
    assert rb".-1 is \boxed{[B]} ?." in printed.buffer.getvalue()
    printed.reconfigure(errors="strict")
    monkeypatch.setattr(sys, "stdout", None)
    succeed("eval", "--tasks", "medhallu", "--data", "sample", "--limit", "1", "--model", "dummy")
    monkeypatch.setattr(sys, "stderr", printed)
    exit_code(["audit–"])
    printed.flush()
    assert b"no command audit- (" in printed.buffer.getvalue()


test_a_function_of_the_commands_returns_what_its_row_says = as_its_row_says("functions_of_commands")


def test_help_says_what_each_flag_does_in_lines_of_80_columns(monkeypatch, capsys):
    """A flag that a command declares anew is told in the command's words."""
    monkeypatch.setenv("COLUMNS", "200")
    for name, command in cli.COMMANDS.items():
        succeed(name, "-h")
        shown = capsys.readouterr().out
        assert max(map(len, shown.splitlines())) <= 80, name
        for field in command.__pydantic_fields__.keys() - {"arguments"}:
            kinds = (vars(kind).get("__pydantic_fields__", {}).get(field) for kind in command.__mro__)
            text = next(filter(None, (kind and kind.description for kind in kinds)))
            assert "".join(text.split()) in "".join(shown.split()), f"{name} {field}"


def test_a_closed_pipe_is_no_error(monkeypatch, capsys):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", closed)
        succeed("path")
    assert capsys.readouterr().err == ""
