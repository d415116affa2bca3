"""Honest code as models write it for medical calculators, separated by lines of ``###``; plain Python runs it too."""

# ruff: noqa: E501

from __future__ import annotations

from typing import Final

_TEXT: Final = r'''
weight = 70
height = 1.75
bmi = weight / height ** 2
bmi
###
weight_kg, height_cm = 82.5, 178
bmi = weight_kg / (height_cm / 100) ** 2
print(f"BMI: {bmi:.2f} kg/m^2")
###
# Cockcroft-Gault
age, weight, creatinine, sex = 67, 72.0, 1.4, "female"
crcl = (140 - age) * weight / (72 * creatinine)
if sex == "female":
    crcl *= 0.85
print("CrCl =", round(crcl, 2), "mL/min")
###
def ckd_epi_2021(scr, age, female):
    kappa = 0.7 if female else 0.9
    alpha = -0.241 if female else -0.302
    gfr = 142 * min(scr / kappa, 1) ** alpha * max(scr / kappa, 1) ** -1.200 * 0.9938 ** age
    return gfr * 1.012 if female else gfr

print(round(ckd_epi_2021(1.1, 54, True), 3))
ckd_epi_2021(0.8, 30, female=False)
###
import math
creatinine = 1.2
mdrd = 175 * math.pow(creatinine, -1.154) * math.pow(60, -0.203)
print("%.3f mL/min/1.73m2" % mdrd)
###
# CHA2DS2-VASc
def cha2ds2_vasc(age, female, chf, hypertension, stroke, vascular, diabetes):
    score = 0
    if chf:
        score += 1
    if hypertension:
        score += 1
    if age >= 75:
        score += 2
    elif 65 <= age <= 74:
        score += 1
    if diabetes:
        score += 1
    if stroke:
        score += 2
    if vascular:
        score += 1
    if female:
        score += 1
    return score

cha2ds2_vasc(age=72, female=True, chf=False, hypertension=True, stroke=False, vascular=True, diabetes=False)
###
# CURB-65
criteria = {"confusion": True, "bun > 19": True, "rr >= 30": False, "sbp < 90 or dbp <= 60": False, "age >= 65": True}
score = sum(criteria.values())
for name, met in criteria.items():
    print(f"{name:<24}{'yes' if met else 'no':>4}")
print("Total:", score)
###
eye, verbal, motor = 3, 4, 6
gcs = eye + verbal + motor
severity = "mild" if gcs >= 13 else "moderate" if gcs >= 9 else "severe"
print(f"GCS {gcs} ({severity})")
###
from datetime import datetime, timedelta
lmp = datetime(2024, 1, 15)
due = lmp + timedelta(days=280)
print(due.strftime("%m/%d/%Y"))
###
from datetime import date
lmp = date(2023, 11, 20)
today = date(2024, 3, 2)
days = (today - lmp).days
weeks, rest = divmod(days, 7)
print(f"({weeks} weeks, {rest} days)")
###
import datetime
d = datetime.datetime.strptime("02/29/2024", "%m/%d/%Y")
cycle = 32
edd = d + datetime.timedelta(days=280 + (cycle - 28))
edd.date()
###
from datetime import datetime, timedelta
conception = datetime.strptime("2024-05-10", "%Y-%m-%d")
print((conception + timedelta(days=266)).strftime("%B %d, %Y"), conception.isoformat(), conception.weekday())
###
import calendar
def add_months(y, m, d, n):
    m = m - 1 + n
    y, m = y + m // 12, m % 12 + 1
    return y, m, min(d, calendar.monthrange(y, m)[1])
add_months(2023, 11, 30, 3)
###
# creatinine from umol/L to mg/dL
umol = 115
mg_dl = umol / 88.4
print(round(mg_dl, 3))
f_to_c = lambda f: (f - 32) * 5 / 9
f_to_c(101.3)
###
conversions = {"kg": 1.0, "lb": 0.45359237, "oz": 0.028349523125}
def to_kg(value: float, unit: str) -> float:
    return value * conversions[unit.lower()]
[round(to_kg(v, u), 4) for v, u in [(154, "lb"), (70, "kg"), (2500, "OZ")]]
###
def anion_gap(na, cl, hco3, albumin=None):
    gap = na - (cl + hco3)
    if albumin is not None:
        gap += 2.5 * (4.0 - albumin)
    return gap
print(anion_gap(140, 104, 20), anion_gap(140, 104, 20, albumin=2.5))
delta_ratio = (anion_gap(140, 104, 18) - 12) / (24 - 18)
delta_ratio
###
osm = 2 * 138 + 180 / 18 + 28 / 2.8
measured = 310
print("Osmolal gap:", measured - osm)
###
corrected_na = lambda na, glucose: na + 0.024 * (glucose - 100)
corrected_ca = lambda ca, alb: ca + 0.8 * (4 - alb)
corrected_na(128, 600), corrected_ca(7.8, 2.1)
###
import math
qt, rr = 400, 60 / 85
bazett = qt / math.sqrt(rr)
fridericia = qt / rr ** (1 / 3)
framingham = qt + 154 * (1 - rr)
hodges = qt + 1.75 * (85 - 60)
for name, v in zip(["Bazett", "Fridericia", "Framingham", "Hodges"], [bazett, fridericia, framingham, hodges]):
    print(f"{name}: {v:.1f} ms")
###
ldl = (total := 210) - (hdl := 45) - (tg := 150) / 5
print(total, hdl, tg, ldl)
###
def map_pressure(sbp, dbp):
    """Mean arterial pressure."""
    return (sbp + 2 * dbp) / 3
assert abs(map_pressure(120, 80) - 93.333) < 0.01
round(map_pressure(118, 76), 2)
###
import math
bsa = math.sqrt(172 * 68 / 3600)
dose = 75 * bsa
print(f"BSA = {bsa:.3f} m2, dose = {dose:,.1f} mg")
###
def ibw(height_in, male=True):
    base = 50 if male else 45.5
    return base + 2.3 * (height_in - 60)
actual = 95
ideal = ibw(70)
adjusted = ideal + 0.4 * (actual - ideal)
print("IBW {:.1f} kg; ABW {:.2f} kg".format(ideal, adjusted))
###
weight = 23.5
fluid = 0
for kg_step, rate in ((10, 100), (10, 50), (float("inf"), 20)):
    part = min(weight, kg_step)
    fluid += part * rate
    weight -= part
    if weight <= 0:
        break
print(fluid, "mL/day")
###
def meld(bili, inr, cr, na):
    from math import log
    bili, inr, cr = (max(x, 1.0) for x in (bili, inr, cr))
    score = 0.957 * log(min(cr, 4)) + 0.378 * log(bili) + 1.120 * log(inr) + 0.643
    score = round(score * 10)
    na = min(max(na, 125), 137)
    if score > 11:
        score = score + 1.32 * (137 - na) - 0.033 * score * (137 - na)
    return round(score)
meld(3.2, 1.8, 1.9, 131)
###
class Patient:
    def __init__(self, age, weight, height):
        self.age = age
        self.weight = weight
        self.height = height

    @property
    def bmi(self):
        return self.weight / (self.height / 100) ** 2

    def __repr__(self):
        return f"Patient(age={self.age}, bmi={self.bmi:.1f})"

p = Patient(45, 80, 180)
p.weight += 5
p
###
from dataclasses import dataclass, field

@dataclass
class Labs:
    sodium: float
    chloride: float
    bicarb: float = 24.0
    notes: list = field(default_factory=list)

    def gap(self) -> float:
        return self.sodium - self.chloride - self.bicarb

labs = Labs(140, 100)
labs.notes.append("fasting")
print(labs.gap())
labs
###
class Score:
    def __init__(self):
        self._points = 0
        self.items = {}
    def add(self, name, points):
        self._points += points
        self.items[name] = self.items.get(name, 0) + points
        return self
    @staticmethod
    def risk(total):
        return "high" if total >= 4 else "low"
    @classmethod
    def empty(cls):
        return cls()
    def __len__(self):
        return len(self.items)
    def __str__(self):
        return f"{self._points} points"
s = Score.empty().add("age", 1).add("dvt", 3).add("age", 1)
print(s, len(s), Score.risk(s._points), s.items)
###
class Base:
    unit = "mg"
    def __init__(self, value):
        self.value = value
    def show(self):
        return f"{self.value} {self.unit}"
class Derived(Base):
    unit = "mcg"
    def __init__(self, value):
        super().__init__(value * 1000)
    def show(self):
        return "~" + super().show()
Derived(0.25).show()
###
class DoseError(ValueError):
    def __init__(self, dose):
        super().__init__(f"dose {dose} too high")
        self.dose = dose
try:
    raise DoseError(900)
except DoseError as e:
    print("caught:", e, e.dose, type(e).__name__)
finally:
    print("done")
###
def safe_divide(a, b):
    try:
        return a / b
    except ZeroDivisionError as e:
        print("Error:", e)
        return None
    else:
        print("never")
print(safe_divide(1, 0), safe_divide(6, 4))
###
values = []
for raw in ["12.5", "abc", "", "7"]:
    try:
        values.append(float(raw))
    except (ValueError, TypeError):
        values.append(None)
values
###
numbers = [7.35, 7.42, 7.28]
print(min(numbers), max(numbers), sum(numbers) / len(numbers), sorted(numbers, reverse=True))
###
import statistics
hr = [72, 88, 95, 60, 72]
print(statistics.mean(hr), statistics.median(hr), statistics.mode(hr), round(statistics.stdev(hr), 4))
###
import numpy as np
x = np.array([1.0, 2.5, 4.0])
print(x.mean(), x.std(ddof=1), np.median(x))
np.round(x * 2.20462, 2)
###
import numpy as np
a = np.array([[2.0, 1.0], [1.0, 3.0]])
b = np.array([3.0, 5.0])
np.linalg.solve(a, b)
###
import numpy as np
t = np.array([0, 1, 2, 4, 8])
c = np.array([10, 7.4, 5.5, 3.0, 0.9])
slope, intercept = np.polyfit(t, np.log(c), 1)
print("k = %.4f, half-life = %.2f h" % (-slope, np.log(2) / -slope))
###
import numpy as np
m = np.zeros((2, 3))
m[0] = 1
m[1, 2] += 5
m[:, 1] *= 2
print(m)
m.shape, m.sum(axis=0).tolist(), m.T[2]
###
import numpy as np
ages = np.array([34, 67, 81, 52])
mask = ages >= 65
print(ages[mask], np.where(mask, "old", "young"), mask.sum(), np.percentile(ages, [25, 75]))
###
from scipy import stats
z = (62 - 50) / 10
print(round(stats.norm.cdf(z), 4), round(stats.norm.ppf(0.975), 4))
###
from scipy import stats
a = [5.1, 4.9, 6.2, 5.8]
b = [6.5, 7.1, 6.8, 7.4]
t, p = stats.ttest_ind(a, b)
print(f"t = {t:.3f}, p = {p:.4f}")
###
import scipy.stats as st
result = st.linregress([1, 2, 3, 4], [2.1, 3.9, 6.2, 7.8])
round(result.slope, 3), round(result.rvalue ** 2, 4)
###
from scipy.stats import chi2_contingency
chi2, p, dof, expected = chi2_contingency([[20, 30], [25, 25]])
print(round(chi2, 4), dof, expected)
###
from scipy.optimize import brentq
root = brentq(lambda dose: dose / (dose + 3.2) - 0.9, 0, 100)
round(root, 6)
###
from scipy.integrate import quad
area, error = quad(lambda t: 20 * 2.718281828 ** (-0.3 * t), 0, 10)
round(area, 5)
###
from scipy.special import comb
comb(10, 3), int(comb(5, 2, exact=True))
###
from fractions import Fraction
Fraction(3, 4) + Fraction(1, 6), float(Fraction(1, 3)), Fraction("0.125").denominator
###
from decimal import Decimal, ROUND_HALF_UP, getcontext
getcontext().prec = 10
x = Decimal("2.675").quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
print(x, Decimal(1) / Decimal(3))
###
from decimal import Decimal, localcontext
with localcontext() as ctx:
    ctx.prec = 5
    print(Decimal(2).sqrt())
###
def fibonacci():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b
gen = fibonacci()
print([next(gen) for _ in range(10)])
###
def running(values):
    total = 0
    for n, v in enumerate(values, start=1):
        total += v
        yield total / n
list(running([98.6, 99.1, 100.4]))
###
def counter():
    count = 0
    def step(by=1):
        nonlocal count
        count += by
        return count
    return step
c = counter()
c(); c(5)
c()
###
total = 0
def add(points):
    global total
    total += points
add(2)
add(3)
print(total)
###
n, steps = 27, 0
while n != 1:
    n = n // 2 if n % 2 == 0 else 3 * n + 1
    steps += 1
else:
    print("finished")
print(steps)
###
meds = [("aspirin", 81), ("metformin", 1000), ("lisinopril", 20)]
for i, (name, dose) in enumerate(sorted(meds, key=lambda m: m[1])):
    print(i, name.title().ljust(12, "."), str(dose).rjust(5), sep=" | ")
###
text = "  BP: 142/91 mmHg, HR: 88 bpm "
parts = [p.strip() for p in text.split(",")]
bp = parts[0].split(":")[1].replace("mmHg", "").strip()
sbp, dbp = map(int, bp.split("/"))
print(parts, sbp, dbp, text.strip().upper().startswith("BP"))
###
import re
note = "Na 138 mmol/L, K 4.1 mmol/L, Cr 1.2 mg/dL"
found = dict(re.findall(r"([A-Z][a-z]?) ([\d.]+)", note))
{k: float(v) for k, v in found.items()}
###
a = {"fever", "cough", "dyspnea"}
b = {"cough", "rash"}
print(sorted(a & b), sorted(a | b), sorted(a - b), a.isdisjoint({"x"}))
###
d = {}
d["x"] = 1
d.setdefault("y", []).append(2)
d["x"] += 4
del d["y"][0]
d.update(z=3)
print(d, d.pop("z"), "x" in d, d.get("q", 0), list(d.keys()))
###
first, *middle, last = [1, 2, 3, 4, 5]
(a, b), c = (1, 2), 3
print(first, middle, last, a + b + c)
###
nested = {"labs": {"na": [135, 138], "k": [4.0]}, "age": 50}
nested["labs"]["na"][1] -= 2
nested["labs"]["cl"] = tuple(x for x in range(100, 103))
nested
###
matrix = [[i * j for j in range(1, 4)] for i in range(1, 4)]
flat = [x for row in matrix for x in row if x % 2]
squares = {x: x ** 2 for x in flat}
print(matrix, flat, squares, {x % 3 for x in flat} == {0, 1})
###
print(1, 2.0, "three", [4], sep=", ", end=".\n")
print()
print("a", "b", sep="")
###
x: float = 3
y: int
def area(r: float, *, pi: float = 3.14159) -> float:
    return pi * r ** 2
print(f"{area(x):.4f}")
###
from typing import Dict, List, Optional, Tuple
def classify(values: List[float], limit: Optional[float] = None) -> Dict[str, Tuple[float, ...]]:
    limit = limit if limit is not None else 1.0
    return {"high": tuple(v for v in values if v > limit), "low": tuple(v for v in values if v <= limit)}
classify([0.5, 1.5, 2.5])
###
def main():
    score = 3
    print("Wells score:", score)

if __name__ == "__main__":
    main()
###
def f(*args, scale=1, **kwargs):
    return sum(args) * scale, sorted(kwargs.items())
values = [1, 2, 3]
options = {"scale": 2, "b": 1}
f(*values, **options), f(*values, 4, **{"a": 0})
###
18.5 <= 24.2 < 25, 1 < 2 > 1, not (3 == 3.0), 5 in [1, 5], None is None
###
int("12"), float("1e-3"), round(2.5), round(3.14159, 2), abs(-3), pow(2, 10), divmod(17, 5), bool([]), str(1.0), 7 // 2, -7 // 2, 7 % -3
###
any(x > 3 for x in [1, 5]), all([True, 1]), list(map(str, [1, 2])), list(filter(None, [0, 1, 2])), list(zip("ab", [1, 2])), list(reversed([1, 2]))
###
f"{1234567.891:,.2f}", f"{0.0456:.1%}", f"{42:05d}", f"{3.7!r:>6}", f"{'x':*^5}", f"{1e-7:.3e}", f"{12=}", f"{255:#x}"
###
"{} {name} {0[0]} {1:.1f}".replace("{} ", "").format([9], 2.25, name="n"), "{:>8}|{:<5}|{:^7}".format("a", "b", "c"), "%s=%d (%5.2f%%)" % ("n", 3, 12.5)
###
from functools import reduce, lru_cache
@lru_cache(maxsize=None)
def fact(n):
    return 1 if n < 2 else n * fact(n - 1)
print(fact(20), reduce(lambda a, b: a * b, range(1, 6)), fact.cache_info().misses)
###
from collections import Counter, defaultdict, namedtuple
Vital = namedtuple("Vital", "name value")
groups = defaultdict(list)
for v in [Vital("hr", 80), Vital("rr", 18), Vital("hr", 90)]:
    groups[v.name].append(v.value)
print(dict(groups), Counter("aab").most_common(1), Vital("t", 37)._asdict())
###
from enum import Enum
class Severity(Enum):
    MILD = 1
    SEVERE = 3
print(Severity.MILD, Severity(3).name, [s.value for s in Severity], Severity["MILD"] is Severity.MILD)
###
import itertools
print(list(itertools.accumulate([1, 2, 3])), list(itertools.combinations("abc", 2)), list(itertools.chain([1], [2])))
###
import json
print(json.dumps({"score": 4, "risk": "high", "items": [1, 2.5, None]}, indent=2))
json.loads('{"a": [1, 2]}')["a"][1]
###
def grade(x):
    match x:
        case 0:
            return "none"
        case 1 | 2:
            return "low"
        case [a, b]:
            return a + b
        case {"score": s}:
            return s
        case _:
            return "high"
print([grade(x) for x in (0, 2, 9, [1, 2], {"score": 5})])
###
def decorate(function):
    def inner(*args):
        return f"<{function(*args)}>"
    return inner
@decorate
def label(x):
    return x.upper()
print(label("sofa"))
###
points = [(60, 0), (70, 1), (80, 2)]
age = 74
score = next((p for limit, p in reversed(points) if age >= limit), 0)
print(score)
###
lst = [5, 3, 8]
lst.append(1); lst.sort(); lst.insert(0, 9)
lst[1:3] = [7]
lst += [2]
print(lst, lst.index(8), lst[::-1], lst[-2:], len(lst), lst.count(7))
###
with_units = {"glucose": (5.5, "mmol/L"), "urea": (7.1, "mmol/L")}
factors = dict(glucose=18.0182, urea=2.8)
for k, (v, unit) in with_units.items():
    print(f"{k}: {v} {unit} = {v * factors[k]:.1f} mg/dL")
###
def bisect(f, lo, hi, tol=1e-9):
    while hi - lo > tol:
        mid = (lo + hi) / 2
        if f(lo) * f(mid) <= 0:
            hi = mid
        else:
            lo = mid
    return (lo + hi) / 2
round(bisect(lambda x: x ** 3 - 2, 0, 2), 6)
###
import math
math.log10(1000), math.exp(-0.5), math.floor(2.7), math.ceil(2.1), math.isclose(0.1 + 0.2, 0.3), math.pi, math.hypot(3, 4), math.factorial(5), math.comb(5, 2)
###
result = {}
for i in range(20):
    if i % 2:
        continue
    if i > 10:
        break
    result[i] = "even"
else:
    result["end"] = True
result
###
x = 5
if x > 3: print("more")
elif x == 3: pass
else: print("less")
"""a string at the end is a value too"""
###
from math import *
round(sqrt(2) * log(10) + e - pi, 10)
###
infusion = 8  # mL/h
concentration = 400 / 250  # mg/mL
weight = 80
print(round(infusion * concentration * 1000 / 60 / weight, 3), "mcg/kg/min")
None
###
class Vector:
    def __init__(self, x, y): self.x, self.y = x, y
    def __add__(self, o): return Vector(self.x + o.x, self.y + o.y)
    def __mul__(self, k): return Vector(self.x * k, self.y * k)
    __rmul__ = lambda self, k: self * k
    def __eq__(self, o): return (self.x, self.y) == (o.x, o.y)
    def __getitem__(self, i): return (self.x, self.y)[i]
    def __iter__(self): return iter((self.x, self.y))
    def __call__(self): return self.x ** 2 + self.y ** 2
    def __lt__(self, o): return self() < o()
v = Vector(1, 2) + Vector(2, 2) * 2
print(v == Vector(5, 6), v[1], list(v), v(), sorted([v, Vector(0, 1)])[0].y)
###
class Stack:
    def __init__(self):
        self.items = []
    def __enter__(self):
        self.items.append("in")
        return self
    def __exit__(self, kind, error, trace):
        self.items.append(kind.__name__ if kind else "out")
        return True
s = Stack()
with s as inside:
    inside.items.append(1)
with s:
    1 / 0
s.items
###
getattr("abc", "upper")(), hasattr([], "append"), hasattr(5, "nothing"), isinstance(True, int), issubclass(bool, int), callable(len), type(3.0) == float, type("a").__name__
'''

SNIPPETS: Final = [snippet.strip("\n") for snippet in _TEXT.split("###\n")]
