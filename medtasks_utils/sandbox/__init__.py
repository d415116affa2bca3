"""Python for models: code runs in processes that can do nothing but compute; ``docs/sandbox.md`` has the whole story.

========================  ==========================================================================================
:mod:`.client`            the interface: :class:`Sandbox`, :class:`Result`
:mod:`.supervisor`        the process that forks a confined process per session, and holds the clock
:mod:`.worker`            a session's process: runs code, keeps variables
:mod:`.policy`            which syntax runs
:mod:`.guards`            what attribute access, class statements and ``str.format`` do for it
:mod:`.namespace`         which builtins it gets, and what ``import`` does
:mod:`.facades`           which names of which modules it gets
:mod:`.objects`           which attributes of which types it may read or set
:mod:`.confine`           resource limits, namespaces, Landlock, seccomp
:mod:`.wire`              messages between them
========================  ==========================================================================================
"""

from medtasks_utils.sandbox.client import Result, Sandbox, SandboxError

__all__ = ["Result", "Sandbox", "SandboxError"]
