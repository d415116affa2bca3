"""Estimate how often the filters misread responses, by having an LLM read a sample, and rank doubtful labels."""
