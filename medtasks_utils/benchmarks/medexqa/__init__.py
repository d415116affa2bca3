"""MedExQA (Kim et al., arXiv:2406.06331)."""
