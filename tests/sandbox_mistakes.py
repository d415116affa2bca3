"""Programs that fail, separated by lines of ``###``; what they print is compared with what CPython prints for a file."""

# ruff: noqa: E501

from __future__ import annotations

from typing import Final

_TEXT: Final = r'''
x = 1
return x
###
def f():
    print(z)
    global z
###
x = """abc
###
a = 1 = 2
###
f"{x!z}"
###
from math import nothing
###
{"a": 1}["b"]
###
def f(a): return a
f(1, 2)
###
try:
    int("x")
except ValueError:
    raise RuntimeError("hidden") from None
###
import json
json.loads("{bad}")
###
from scipy.optimize import brentq
brentq(lambda x: x ** 2 + 1, 0, 1)
###
import traceback
def f(): 1 / 0
try: f()
except Exception: traceback.print_exc()
###
x: int = "a"
print(x.nope)
###
exec("def f():\n    return 1 / 0\nf()")
###
import statistics
statistics.stdev([1])
###
import copy, threading
copy.deepcopy(threading.Lock())
###
for x in 5: pass
###
round("3")
###
raise ValueError('\ud800')
'''

MISTAKES: Final = [program.strip("\n") for program in _TEXT.split("\n###\n")]
