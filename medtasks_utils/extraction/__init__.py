"""Read answers in responses. This library is independent of benchmarks and of the harness.

Every function takes time linear in the length of the text, accepts any text without raising, and never evaluates text
as Python code.
"""
