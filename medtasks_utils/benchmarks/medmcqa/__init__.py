"""MedMCQA (Pal et al., CHIL 2022)."""
