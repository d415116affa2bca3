"""Run many models on many tasks: ``medtasks sweep plan.yaml``.

======================  ===========================================================================================
:mod:`.plan`            the plan, validated
:mod:`.job`             the plan's jobs; each is one ``medtasks eval`` in a folder of its own
:mod:`.job_size`        counts a job's requests, and validates its model, flags, tasks and data
:mod:`.contents`        hashes of the files that settings name
:mod:`.records`         the records in a job's folder
:mod:`.child_process`   processes that end with the sweep
:mod:`.job_process`     the process of a job
:mod:`.balancer`        distributes the requests of jobs among replicas of a server
:mod:`.allocation`      runs jobs of one model in one place, with the model's servers, and measures the cost
:mod:`.local_executor`  runs allocations on this machine, as many at once as its processors and GPUs allow
:mod:`.ray_executor`    runs allocations on a Ray cluster
:mod:`.slurm_executor`  runs allocations under Slurm
:mod:`.scheduler`       submits allocations to an executor, and restarts lost ones
:mod:`.report`          writes the report, with one row per model
:mod:`.status`          reports the progress of the jobs
======================  ===========================================================================================
"""
