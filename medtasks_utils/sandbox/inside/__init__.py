"""Code that runs inside the sandbox, in a fresh interpreter.

======================  ============================================================================================
:mod:`.zygote`          imports the libraries, confines itself, and forks workers; never sees code or output
:mod:`.worker`          a session's process: runs code and keeps its variables
:mod:`.weak`            runs RestrictedPython instead of plain Python if the kernel cannot confine a process
:mod:`.repl`            runs RestrictedPython by the rules of a REPL with three libraries
:mod:`.confine`         the layers that confine a worker, each tested before it is reported as active
:mod:`.root`            namespaces, and a root directory that contains only the libraries
:mod:`.kernel_filters`  Landlock and seccomp
:mod:`.system`          calls of the C library
======================  ============================================================================================

These modules are linked into the sandbox's folder, and import nothing else from medtasks_utils.
"""
