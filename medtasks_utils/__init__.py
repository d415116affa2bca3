"""Four medical benchmarks for EleutherAI's lm-evaluation-harness."""
