"""The tools by hand: ``medtasks tool``."""

import io
import json

import pytest
from commanding import exit_code
from given import table


@pytest.fixture
def tool(monkeypatch, capsys):
    """Run the command on a text; gives exit code, output and errors."""

    def run(given, *words):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8"))
        return exit_code(["tool", *words]), *capsys.readouterr()

    return run


@pytest.mark.parametrize(("given", "words", "code", "out", "errors"), table("tool_by_hand"))
def test_a_result_is_printed_and_an_error_is_exit_code_1(tool, given, words, code, out, errors):
    assert tool(given, *words) == (code, out, errors)


@pytest.mark.parametrize(("words", "said"), table("tool_usage"))
def test_wrong_usage_is_exit_code_2(tool, words, said):
    code, _, errors = tool("", *words)
    assert code == 2 and said in errors


def test_the_layers_of_the_sandbox_are_named(tool):
    code, out, _ = tool("", "python", "--layers", "--json")
    shown = json.loads(out)
    assert [*shown["layers"]] == ["namespaces", "landlock", "seccomp", "limits"] and code == bool(shown["missing"])
