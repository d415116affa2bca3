"""Tools that a model may call while it answers, and conversations with such calls.

==================  =======================================================================================
:mod:`.tool`        the base class of tools
:mod:`.calculator`  arithmetic expressions, evaluated by simpleeval
:mod:`.python`      Python code, in the sandbox
:mod:`.calls`       calls that a reply contains as text
:mod:`.native`      native calls, in a separate field of a message
:mod:`.loop`        conversations of replies, calls and results
==================  =======================================================================================
"""

from medtasks_utils.registry import Registry

TOOLS = Registry(
    "medtasks.tools",
    {
        "python": "medtasks_utils.tools.python:PythonTool",
        "calculator": "medtasks_utils.tools.calculator:CalculatorTool",
    },
)
"""The tools by name, including those of other distributions: classes derived from :class:`.tool.Tool`."""
