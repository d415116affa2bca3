"""Define metrics, aggregate scores, and estimate uncertainty, for runs, reports and comparisons alike."""
