"""Models × runs: ``medtasks sweep plan.yaml``.

===============  ======================================================================================
:mod:`.plan`     the plan, checked, and the jobs that it stands for; a job is one ``medtasks eval``
:mod:`.size`     how large a job is, and whether it can run
:mod:`.job`      a job's folder, and how it ended
:mod:`.process`  a job's process
:mod:`.local`    this machine: as many jobs at once as its processors and GPUs allow
:mod:`.cluster`  a Ray cluster
:mod:`.run`      the course of all jobs, wherever they run, and the report
===============  ======================================================================================
"""
