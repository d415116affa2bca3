"""The benchmarks: a package each, whose ``card`` says what the others need to know of it."""
