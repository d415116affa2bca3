"""Run many models on many tasks: ``medtasks sweep plan.yaml``.

======================  ===========================================================================================
:mod:`.plan`            the plan, validated
:mod:`.job`             the plan's jobs, each of them one ``medtasks eval`` in a folder that stays the same
:mod:`.job_size`        the number of requests of a job, and whether it can run
:mod:`.contents`        hashes of the files that settings name
:mod:`.records`         what the folder of a job records
:mod:`.child_process`   processes that end with the sweep
:mod:`.job_process`     the process of a job
:mod:`.balancer`        shares the requests of jobs among replicas of a server
:mod:`.allocation`      runs jobs of one model in one place, with the model's servers, and measures the cost
:mod:`.local_executor`  runs allocations on this machine, as many at once as its processors and GPUs allow
:mod:`.ray_executor`    runs allocations on a Ray cluster
:mod:`.slurm_executor`  runs allocations under Slurm
:mod:`.scheduler`       gives allocations to an executor, and restarts lost ones
:mod:`.report`          writes the report, in which a model is a row
:mod:`.status`          says how far the jobs are
======================  ===========================================================================================
"""
