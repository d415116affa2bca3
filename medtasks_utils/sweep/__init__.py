"""Models × runs: ``medtasks sweep plan.yaml``.

===============  ======================================================================================
:mod:`.plan`     the plan, checked, and the jobs that it stands for; a job is one ``medtasks eval``
:mod:`.job`      a job's folder: what is done, and its process
:mod:`.local`    jobs on this machine, as many at once as its processors and GPUs allow
:mod:`.cluster`  jobs on a Ray cluster; results and answered requests come back through Ray
:mod:`.watch`    what is going on, in a line a job
===============  ======================================================================================
"""
