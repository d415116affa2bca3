"""MedHallu (Pandit et al., arXiv:2502.14302)."""

FACTUAL, HALLUCINATED, UNSURE = "0", "1", "2"
"""The verdicts that are asked for."""
DIFFICULTIES = ("easy", "medium", "hard")
"""Of its rows."""
