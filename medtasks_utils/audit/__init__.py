"""Estimate how often filters misread a run's responses, by having an LLM read some of them (``docs/audit.md``)."""
