"""Metrics, their values and what is uncertain about them: one engine for runs, pages and comparisons."""
