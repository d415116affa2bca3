"""The harness's side: tasks, options, rows, signatures, and how ``lm_eval`` is started and helped along."""
