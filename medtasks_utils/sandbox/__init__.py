"""A sandbox for Python code that models write; ``docs/sandbox.md`` describes it in full.

=========================  ===========================================================================================
:mod:`.sandbox`            the interface, :class:`Sandbox`; decides which sessions have a process
:mod:`.capacity`           how many processes and how much memory the machine can spare
:mod:`.workers`            the forking process and a session's worker process, as seen from outside; timeouts
:mod:`.execution_result`   a process's output as text of bounded length
:mod:`.layout`             the files that code may read, linked under neutral paths
:mod:`.inside`             the code that runs inside the boundary
=========================  ===========================================================================================
"""

from .execution_result import ExecutionResult
from .sandbox import Sandbox

__all__ = ["ExecutionResult", "Sandbox"]
