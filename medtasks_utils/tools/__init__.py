"""Tools that a model may call while it answers, and the turns that this takes; no benchmark is known here.

==================  =======================================================================================
:mod:`.tool`        what a tool is
:mod:`.calculator`  arithmetic, by simpleeval
:mod:`.python`      Python code, in the sandbox
:mod:`.calls`       calls read out of a reply
:mod:`.loop`        replies, calls and results in turn, as one batch over all examples
==================  =======================================================================================
"""

from __future__ import annotations

from medtasks_utils.tools.calculator import Calculator
from medtasks_utils.tools.python import Python
from medtasks_utils.tools.tool import Tool

KINDS: dict[str, type[Tool]] = {kind.name: kind for kind in (Python, Calculator)}


def make_tool(name: str, timeout: float, *, weak_sandbox: bool = False) -> Tool:
    """A tool ready for calls; the rest is for the Python tool, see :class:`Python`."""
    return Python(timeout, weak=weak_sandbox) if name == Python.name else KINDS[name]()
