"""Run many models on many tasks: ``medtasks sweep plan.yaml``.

======================  ===========================================================================================
:mod:`.plan`            the plan, validated
:mod:`.job`             the plan's jobs, each of them one ``medtasks eval``, and what their folders record
:mod:`.job_size`        the number of requests of a job, and whether it can run
:mod:`.child_process`   a process that ends with the sweep
:mod:`.allocation`      runs jobs of one model in one place, with the model's servers, and measures the cost
:mod:`.local_executor`  runs allocations on this machine, as many at once as its processors and GPUs allow
:mod:`.ray_executor`    runs allocations on a Ray cluster
:mod:`.slurm_executor`  runs allocations under Slurm
:mod:`.scheduler`       gives allocations to an executor, restarts lost ones, and writes the report
======================  ===========================================================================================
"""
