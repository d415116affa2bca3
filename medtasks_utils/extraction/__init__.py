"""Extract answers from responses. This library is independent of benchmarks and of the harness.

Every function that reads a text takes time linear in its length, accepts any text without raising, and never evaluates
text as Python code.
"""
