"""Benchmarks of another distribution that cannot be used."""
