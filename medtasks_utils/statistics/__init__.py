"""Metrics, how scores are aggregated, and their uncertainty: the same for runs, the report and comparisons."""
