"""MedHallu (Pandit et al., arXiv:2502.14302)."""
