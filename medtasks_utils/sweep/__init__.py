"""Run many models on many tasks: ``medtasks sweep plan.yaml``.

======================  ===========================================================================================
:mod:`.plan`            the plan, validated, and its jobs; a job is one ``medtasks eval``
:mod:`.job_size`        how many requests a job makes, and whether it can run
:mod:`.job_process`     the process of a job
:mod:`.local_executor`  runs jobs on this machine, as many at once as its processors and GPUs allow
:mod:`.ray_executor`    runs jobs on a Ray cluster
:mod:`.scheduler`       gives jobs to an executor, retries failures, and writes the report
======================  ===========================================================================================
"""
