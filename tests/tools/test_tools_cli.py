"""The tools by hand: ``medtasks tool``."""

import io
import json

import pytest

from medtasks_utils import __main__ as cli


@pytest.fixture
def tool(monkeypatch, capsys):
    """Run the command on a text; gives exit code, output and errors."""

    def run(given, *arguments):
        data = given.encode() if isinstance(given, str) else given
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        code = cli.main(["tool", *arguments])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


def test_the_calculator(tool):
    assert tool("70 / 1.75^2\n", "calculator") == (0, "22.857142857142858\n", "")
    assert tool("1 / 0", "calculator") == (1, "", "Error: division by zero\n")
    assert tool("", "calculator") == (1, "", "Error: the expression is empty\n")


def test_python(tool):
    code, out, error = tool("print('due \x9b31m µ')\n(2, 1)", "python", "--json")
    assert (code, json.loads(out), error) == (0, {"text": "due \x9b31m µ\n(2, 1)", "failed": False}, "")
    assert out.isascii(), "no control characters"


def test_a_tool_that_there_is_not_is_exit_code_2(tool):
    code, _, error = tool("", "abacus")
    assert code == 2 and "calculator" in error


@pytest.mark.parametrize("arguments", [[], ["python", "--timeout", "nan"], ["calculator", "1 + 1"]])
def test_wrong_usage_is_exit_code_2(arguments):
    with pytest.raises(SystemExit) as caught:
        cli.main(["tool", *arguments])
    assert caught.value.code == 2


def test_the_layers_of_the_sandbox_are_named(tool):
    code, out, _ = tool("", "python", "--layers", "--json")
    shown = json.loads(out)
    assert [*shown["layers"]] == ["namespaces", "landlock", "seccomp", "limits"] and bool(code) == bool(
        shown["missing"]
    )
