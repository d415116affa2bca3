"""The tools by hand: ``medtasks tool``."""

import io
import json

import pytest
from commanding import exit_code
from given import each_row


@pytest.fixture
def tool(monkeypatch, capsys):
    """Run the command on a text; gives exit code, output and errors."""

    def run(given, *words):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8"))
        return exit_code(["tool", *words]), *capsys.readouterr()

    return run


@each_row("tool_by_hand")
def test_a_result_is_printed_and_an_error_is_exit_code_1(given, words, code, out, errors, tool):
    assert tool(given, *words) == (code, out, errors)


def test_the_layers_of_the_sandbox_are_named(tool):
    code, out, _ = tool("", "python", "--layers", "--json")
    shown = json.loads(out)
    assert [*shown["layers"]] == ["namespaces", "landlock", "seccomp", "limits"] and code == bool(shown["missing"])
