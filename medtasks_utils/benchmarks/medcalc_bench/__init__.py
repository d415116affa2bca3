"""MedCalc-Bench (Khandekar et al., arXiv:2406.12036)."""
