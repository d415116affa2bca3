"""Programs that fail, separated by lines of ``###``; what they print is compared with what CPython prints for a file."""

# ruff: noqa: E501

from __future__ import annotations

from typing import Final

_TEXT: Final = r'''
x = 1
return x
###
def f(:
    pass
###
print("a"
###
x = 5
if x > 3
    print(x)
###
break
###
def f():
    x = 1
    nonlocal y
###
def f():
    print(z)
    global z
###
await foo()
###
yield 3
###
f(**{}, *[])
###
def f(a, a): pass
###
x = 'abc
###
x = """abc
###
  x = 1
###
if True:
    x = 1
  y = 2
###
if True:
	x = 1
        y = 2
###
1 +
###
print "hello"
###
a = 1 = 2
###
f() = 3
###
lambda: (yield)
x = [i := 0 for i in range(3)]
###
from __future__ import nonsense
###
x = 1
from __future__ import annotations
###
{1: 2, 3}
###
f"{x!z}"
###
f"{"
###
0777
###
x = 5 5
###
class A:
    return 1
###
import os.nothing
###
from math import nothing
###
import nonexistent_module
###
undefined_name
###
undefned = 1
print(undefined)
###
import math
math.sqr(4)
###
[1, 2][5]
###
{"a": 1}["b"]
###
int("12a")
###
"a" + 1
###
None.x
###
(1).foo()
###
def f(a, b=2, *, c): pass
f()
###
def f(a): return a
f(1, 2)
###
f = lambda x: 1 / x
list(map(f, [1, 0]))
###
def a(n): return b(n)
def b(n):
    return (n +
        n / 0)
a(3)
###
class E(Exception):
    def __init__(self, dose): self.dose = dose; super().__init__(f"dose {dose}")
raise E(5)
###
try:
    int("x")
except ValueError as e:
    raise RuntimeError("bad") from e
###
try:
    int("x")
except ValueError:
    {}["y"]
###
try:
    int("x")
except ValueError:
    raise RuntimeError("hidden") from None
###
e = ValueError("with notes")
e.add_note("first")
e.add_note("second\nline")
raise e
###
raise ExceptionGroup("several", [ValueError("a"), ExceptionGroup("inner", [TypeError("b")])])
###
assert 1 == 2, "must be equal"
###
assert False
###
import sys
print("x")
sys.exit("fatal: no data")
###
import json
json.loads("{bad}")
###
import re
re.compile("(abc")
###
from datetime import datetime
datetime.strptime("2024/13/01", "%Y/%m/%d")
###
import numpy as np
np.linalg.inv(np.zeros((2, 2)))
###
import numpy as np
np.array([1, 2]) + np.array([1, 2, 3])
###
import pandas as pd
pd.DataFrame({"a": [1]})["b"]
###
from scipy.optimize import brentq
brentq(lambda x: x ** 2 + 1, 0, 1)
###
from decimal import Decimal
Decimal("abc")
###
from dataclasses import dataclass
@dataclass
class A:
    x: list = []
###
from dataclasses import dataclass
@dataclass
class A:
    x: int
A()
###
from abc import ABC, abstractmethod
class A(ABC):
    @abstractmethod
    def f(self): ...
A()
###
from enum import Enum
class C(Enum): A = 1
C(3)
###
import traceback
def f(): 1 / 0
try: f()
except Exception: traceback.print_exc()
###
import logging
try: 1 / 0
except Exception: logging.exception("it failed")
logging.getLogger("x").error("no")
###
def g():
    yield 1
    raise ValueError("in generator")
list(g())
###
with open("/nonexistent/file.csv") as f:
    print(f.read())
###
raise KeyboardInterrupt
###
raise "text"
###
x: int = "a"
print(x.nope)
###
def f():
    try:
        return 1 / 0
    finally:
        print("finally")
f()
###
@undefined
def f(): pass
###
x = {"a": {"b": 1}}
print(x["a"]["c"]["d"])
###
a = [1, 2, 3]
print(a[0] + a[1] / (a[2] - 3) * a[0])
###
eval("1 +")
###
exec("def f():\n    return 1 / 0\nf()")
###
compile("a b", "<test>", "exec")
###
input("Enter weight: ")
###
print(f"{1/0:.2f}")
###
def très_long(été): return été / 0
très_long(1)
###
import warnings
warnings.filterwarnings("error")
warnings.warn("now an error")
###
import statistics
statistics.stdev([1])
###
from fractions import Fraction
Fraction(1, 0)
###
match 3:
    case int(x, y): pass
###
(lambda: undefined_thing)()
###
[1 / x for x in (1, 0)]
###
class A:
    x = 1 / 0
###
import copy, threading
copy.deepcopy(threading.Lock())
###
import csv, io
next(csv.DictReader(io.StringIO("a\n1")))["b"]
###
int("9" * 5000)
###
"%d" % "x"
###
"{} {}".format(1)
###
a, b = 1, 2, 3
###
for x in 5: pass
###
del nothing
###
del locals()["q"]
###
super().x
###
type("A", (object, object), {})
###
float("1,200")
###
round("3")
###
max([])
###
next(iter([]))
###
class A:
    def __init__(self): self.weight = 1
    def f(self): return weight
A().f()
###
class A:
    __getattr__ = None
try: A().x
except Exception as e: print(type(e))
a = "abc".uper()
###
e = NameError("name")
e.add_note("note")
raise e
###
raise ValueError('\ud800')
'''

MISTAKES: Final = [program.strip("\n") for program in _TEXT.split("\n###\n")]
