"""Read answers out of responses: a small library that knows no benchmark and no harness.

Every function takes time linear in the length of its text, raises nothing on any text, and never evaluates text as
Python.
"""
