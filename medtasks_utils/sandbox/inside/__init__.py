"""The far side of the sandbox, linked into a folder of its own and run by a fresh interpreter.

====================  ==============================================================================================
:mod:`.zygote`        imports the libraries, confines itself, forks; holds no example's code or output, ever
:mod:`.worker`        a session's process: runs code, keeps variables
:mod:`.weak`          RestrictedPython in place of plain Python, where the kernel has no boundary to offer
:mod:`.confine`       what keeps a worker in, and the attempts that show whether it does
:mod:`.root`          namespaces, and a root of nothing but the libraries
:mod:`.filters`       Landlock and seccomp
:mod:`.system`        calls of the C library
====================  ==============================================================================================

Nothing here imports the package around it.
"""
