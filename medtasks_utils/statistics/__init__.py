"""Define metrics, aggregate scores, and estimate uncertainty, in the same way for runs, reports and comparisons."""
