"""The code inside the boundary, linked into the sandbox's own folder and run by a fresh interpreter.

======================  ============================================================================================
:mod:`.zygote`          imports the libraries, confines itself, and forks workers; never sees code or output
:mod:`.worker`          a session's process: runs code and keeps its variables
:mod:`.weak`            RestrictedPython in place of plain Python, where the kernel cannot confine a process
:mod:`.confine`         the layers that confine a worker, each tested before it counts as on
:mod:`.root`            namespaces, and a root directory that holds only the libraries
:mod:`.kernel_filters`  Landlock and seccomp
:mod:`.system`          calls of the C library
======================  ============================================================================================

Nothing here imports the package around it.
"""
