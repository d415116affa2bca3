"""Estimate how often answers were misread in a run, by having an LLM read a sample of its responses
(``docs/audit.md``)."""
