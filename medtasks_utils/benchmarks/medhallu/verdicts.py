"""The verdicts that MedHallu asks for, and the difficulties of its rows."""

FACTUAL, HALLUCINATED, UNSURE = "0", "1", "2"
DIFFICULTIES = ("easy", "medium", "hard")
