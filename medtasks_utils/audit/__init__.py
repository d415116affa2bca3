"""Estimate how often filters misread responses, by having an LLM read some of them, and rank doubtful labels."""
