"""Python for models: code runs in processes that can do nothing but compute; ``docs/sandbox.md`` has the whole story.

========================  ==========================================================================================
:mod:`.client`            the interface, :class:`Sandbox`; which session has a process
:mod:`.capacity`          how much there is room for
:mod:`.process`           the process that forks, and a session with its own, as seen from outside; the clock
:mod:`.output`            what a process wrote, as text of bounded length
:mod:`.layout`            the files that code may read, under a path of their own
:mod:`.inside`            what runs on the other side: it knows no example but the one that a process is for
========================  ==========================================================================================
"""

from .client import Sandbox
from .output import Result

__all__ = ["Result", "Sandbox"]
