"""Connect benchmarks to lm_eval: tasks, options, rows, signatures, and the run itself."""
