"""Tools that a model may call while it answers, and the turns that this takes; no benchmark is known here.

==================  =======================================================================================
:mod:`.tool`        what a tool is
:mod:`.calculator`  arithmetic, by simpleeval
:mod:`.python`      Python code, in the sandbox
:mod:`.calls`       calls read out of a reply
:mod:`.template`    calls in the form that a chat template writes, learned from it
:mod:`.native`      calls in fields beside the text
:mod:`.loop`        replies, calls and results in turn, as one batch over all examples
==================  =======================================================================================
"""

from medtasks_utils.registry import Registry

TOOLS = Registry(
    "medtasks.tools",
    {
        "python": "medtasks_utils.tools.python:Python",
        "calculator": "medtasks_utils.tools.calculator:Calculator",
    },
)
"""By name: classes of :class:`.Tool`."""
