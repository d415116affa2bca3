"""A sandbox for Python code that models write; ``docs/sandbox.md`` describes it in full.

=========================  ===========================================================================================
:mod:`.sandbox`            the interface, :class:`Sandbox`; decides which sessions have a process
:mod:`.workers`            starts, controls and ends the zygote and the workers; enforces timeouts
:mod:`.execution_result`   converts a process's output to text of limited length
:mod:`.layout`             the files that code may read, linked under neutral paths
:mod:`.inside`             the code that runs inside the boundary
=========================  ===========================================================================================
"""

from .execution_result import ExecutionResult
from .sandbox import Sandbox

__all__ = ["ExecutionResult", "Sandbox"]
