"""Programs of clinical calculation as models write them: each formula in several ways of writing, and Python at length."""

# ruff: noqa: E501

from __future__ import annotations

from typing import Final

_FORMULAS: Final = """
bmi: weight / (height / 100) ** 2 | weight=82.5 height=178
bsa_mosteller: math.sqrt(height * weight / 3600) | height=164 weight=59.2
bsa_dubois: 0.007184 * weight ** 0.425 * height ** 0.725 | weight=71 height=169
ideal_weight: (50 if male else 45.5) + 2.3 * (height / 2.54 - 60) | male=1 height=181
adjusted_weight: ideal + 0.4 * (weight - ideal) | ideal=66.2 weight=104
cockcroft_gault: (140 - age) * weight / (72 * creatinine) * (0.85 if female else 1) | age=67 weight=72 creatinine=1.4 female=1
mdrd: 175 * creatinine ** -1.154 * age ** -0.203 * (0.742 if female else 1) | creatinine=1.1 age=58 female=0
ckd_epi: 142 * min(creatinine / 0.9, 1) ** -0.302 * max(creatinine / 0.9, 1) ** -1.2 * 0.9938 ** age | creatinine=1.31 age=49
mean_pressure: (systolic + 2 * diastolic) / 3 | systolic=132 diastolic=84
pulse_pressure: systolic - diastolic | systolic=141 diastolic=88
anion_gap: sodium - chloride - bicarbonate | sodium=138 chloride=101 bicarbonate=17
corrected_gap: sodium - chloride - bicarbonate + 2.5 * (4 - albumin) | sodium=136 chloride=98 bicarbonate=14 albumin=2.6
delta_ratio: (gap - 12) / (24 - bicarbonate) | gap=21 bicarbonate=15
osmolality: 2 * sodium + glucose / 18 + urea / 2.8 | sodium=141 glucose=196 urea=31
osmolal_gap: measured - (2 * sodium + glucose / 18 + urea / 2.8) | measured=318 sodium=139 glucose=104 urea=17
corrected_sodium: sodium + 0.024 * (glucose - 100) | sodium=127 glucose=612
corrected_calcium: calcium + 0.8 * (4 - albumin) | calcium=7.9 albumin=2.3
free_water: 0.6 * weight * (sodium / 140 - 1) | weight=63 sodium=157
fractional_sodium: 100 * (urine_sodium * creatinine) / (sodium * urine_creatinine) | urine_sodium=22 creatinine=2.3 sodium=137 urine_creatinine=84
winters: 1.5 * bicarbonate + 8 | bicarbonate=11
aa_gradient: fio2 * (760 - 47) - co2 / 0.8 - o2 | fio2=0.21 co2=33 o2=71
oxygen_content: 1.34 * hemoglobin * saturation + 0.0031 * o2 | hemoglobin=9.8 saturation=0.93 o2=68
ldl_friedewald: cholesterol - hdl - triglycerides / 5 | cholesterol=221 hdl=47 triglycerides=163
non_hdl: cholesterol - hdl | cholesterol=243 hdl=39
homa_ir: glucose * insulin / 405 | glucose=109 insulin=17.5
quicki: 1 / (math.log10(insulin) + math.log10(glucose)) | insulin=12 glucose=97
egfr_schwartz: 0.413 * height / creatinine | height=121 creatinine=0.6
fib4: age * ast / (platelets * math.sqrt(alt)) | age=61 ast=74 platelets=131 alt=55
apri: 100 * (ast / 40) / platelets | ast=96 platelets=118
meld: 3.78 * math.log(bilirubin) + 11.2 * math.log(inr) + 9.57 * math.log(creatinine) + 6.43 | bilirubin=3.4 inr=1.9 creatinine=1.7
maddrey: 4.6 * (pt - 12.5) + bilirubin | pt=21 bilirubin=9.6
qt_bazett: qt / math.sqrt(60 / rate) | qt=402 rate=91
qt_fridericia: qt / (60 / rate) ** (1 / 3) | qt=388 rate=77
qt_framingham: qt + 154 * (1 - 60 / rate) | qt=376 rate=104
maximal_rate: 220 - age | age=44
harris_benedict: 88.362 + 13.397 * weight + 4.799 * height - 5.677 * age | weight=77 height=174 age=52
mifflin: 10 * weight + 6.25 * height - 5 * age + (5 if male else -161) | weight=68 height=160 age=39 male=0
parkland: 4 * weight * burned | weight=70 burned=32
maintenance: (min(weight, 10) * 4 + max(0, min(weight - 10, 10)) * 2 + max(0, weight - 20)) | weight=34
dose_rate: dose * weight * 60 / concentration / 1000 | dose=7.5 weight=81 concentration=1.6
loading_dose: volume * weight * target / bioavailability | volume=0.7 weight=64 target=15 bioavailability=0.8
half_life: math.log(2) * volume / clearance | volume=41 clearance=5.2
steady_state: dose * bioavailability / (clearance * interval) | dose=500 bioavailability=0.9 clearance=4.1 interval=8
decay: dose / volume * math.exp(-clearance / volume * hours) | dose=900 volume=38 clearance=3.9 hours=6
steroid: dose * 5 / 20 | dose=80
morphine: dose * factor | dose=30 factor=1.5
transtubular: (urine_k * osmolality) / (potassium * urine_osmolality) | urine_k=41 osmolality=291 potassium=3.1 urine_osmolality=612
urea_reduction: 100 * (1 - after / before) | after=19 before=71
shock_index: rate / systolic | rate=118 systolic=92
rox: (saturation * 100 / fio2) / breaths | saturation=0.94 fio2=0.5 breaths=27
egfr_cystatin: 133 * min(cystatin / 0.8, 1) ** -0.499 * max(cystatin / 0.8, 1) ** -1.328 * 0.996 ** age | cystatin=1.2 age=55
fahrenheit: celsius * 9 / 5 + 32 | celsius=38.6
stroke_volume: 1000 * output / rate | output=5.4 rate=72
vascular_resistance: 80 * (pressure - venous) / output | pressure=78 venous=8 output=4.6
likelihood: sensitivity / (1 - specificity) | sensitivity=0.87 specificity=0.91
posterior: prior * ratio / (1 - prior + prior * ratio) | prior=0.12 ratio=9.7
"""

_STYLES: Final = {
    "script": '{assignments}\n{name} = {formula}\nprint(f"{name} = {{{name}:.2f}}")\nround({name}, 3)',
    "function": 'def {name}({parameters}) -> float:\n    """One patient\'s value."""\n    return {formula}\n\nresult = {name}({arguments})\nprint("%.4f" % result, "{name}".title().rjust(24, "."))\nresult',
    "dataclass": "from dataclasses import dataclass, asdict, field\nfrom typing import ClassVar\n\n@dataclass(order=True)\nclass Patient:\n    unit: ClassVar[str] = 'SI'\n{fields}\n    log: list[str] = field(default_factory=list)\n\n    def {name}(self) -> float:\n        {unpack} = {selves}\n        return {formula}\n\np = Patient({arguments})\nprint(asdict(p), Patient.unit, [*Patient.__dataclass_fields__])\np, p.{name}()",
    "vectorised": "import numpy as np\nrng = np.random.default_rng(7)\n{arrays}\nvalues = np.array([(lambda {parameters}: {formula})(*row) for row in zip({parameters})])\nprint(values.round(3))\nprint(np.percentile(values, [25, 50, 75]).round(3), values.mean().round(4), values.std(ddof=1).round(4))\nvalues.argmax()",
    "table": "import pandas as pd\nrows = pd.DataFrame([dict({arguments})] * 3).astype(float)\nrows.iloc[1] *= 1.01\nrows['{name}'] = [(lambda {parameters}: {formula})(**row) for row in rows.to_dict('records')]\nprint(rows.describe().round(3).to_string())\nrows['{name}'].round(4).tolist()",
    "exact": "from decimal import Decimal, getcontext\nfrom fractions import Fraction\ngetcontext().prec = 12\n{assignments}\nvalue = {formula}\nprint(Decimal(value).quantize(Decimal('0.001')), Fraction(value).limit_denominator(1000), f'{{value:.3e}}', format(value, '012.4f'))\nmatch value:\n    case float() if value < 0: print('negative')\n    case float(x) | int(x): print('value', round(x, 1))\nlocals()['value'] == value",
}


def _program(line: str, style: str) -> str:
    name, _, rest = line.partition(": ")
    formula, _, patient = rest.partition(" | ")
    values = dict(each.split("=") for each in patient.split())
    return _STYLES[style].format(
        name=name,
        formula=formula,
        assignments="; ".join(f"{key} = {value}" for key, value in values.items()),
        parameters=", ".join(values),
        arguments=", ".join(f"{key}={value}" for key, value in values.items()),
        fields="\n".join(f"    {key}: float = {value}" for key, value in values.items()),
        unpack=", ".join(values),
        selves=", ".join(f"self.{key}" for key in values),
        arrays="\n".join(f"{key} = {value} * rng.uniform(0.95, 1.0, 8)" for key, value in values.items()),
    )


_LANGUAGE: Final = r'''
from typing import ClassVar, get_type_hints
from dataclasses import dataclass, fields
@dataclass
class Lab:
    unit: ClassVar[str] = "mg/dL"
    value: float = 1.0
[f.name for f in fields(Lab)], get_type_hints(Lab)
###
class P:
    def __init__(self, **values): self.__dict__.update(values)
p = P(age=61, weight=80)
vars(p)["height"] = 170
"{.age} {0.height}".format(p) if False else "{.age}".format(p), vars(p), p.height
###
class Account:
    __slots__ = ("__x", "y")
    def __init__(self): self.__x, self.y = 3, 4
    def __getattr__(self, name): return f"no {name}"
    def total(self): return self.__x + self.y
Account().total(), Account().missing, Account.__slots__
###
class Point:
    def __new__(cls, x, y):
        self = super().__new__(cls)
        self.x, self.y = x, y
        return self
match Point(0, 5):
    case Point(x=0, y=y): print("axis", y)
###
import time, copy, sys, contextlib, collections.abc, textwrap, pprint, traceback, io
from functools import cached_property
from operator import attrgetter, itemgetter, methodcaller
class C:
    def __init__(self, v): self.v = v
    @cached_property
    def twice(self): return self.v * 2
c = C([1, 2]); d = copy.deepcopy(c); d.v.append(3)
out = io.StringIO()
with contextlib.redirect_stdout(out): print("captured")
pprint.pprint({"b": [1] * 30, "a": {"x": list(range(20))}}, width=40)
print(textwrap.fill("creatinine clearance by Cockcroft and Gault " * 3, 40), out.getvalue(), c.twice, c.v, d.v)
sorted([C(3), C(1)], key=attrgetter("v"))[0].v, isinstance([], collections.abc.Sequence), sys.version_info[0], time.time() > 1e9
###
import traceback
try:
    {}["albumin"]
except KeyError as error:
    print(traceback.format_exception_only(type(error), error), repr(error), error.args)
###
r = np.random.RandomState(4)
print(r.normal(5, 1, 3).round(3), np.matrix([[1, 2], [3, 4]]) * np.matrix([[1], [2]]))
np.linalg.solve([[2, 1], [1, 3]], [3, 5])
###
from scipy import stats
print(stats.barnard_exact([[7, 12], [8, 3]]).pvalue.round(6), stats.boschloo_exact([[7, 12], [8, 3]]).pvalue.round(6))
stats.fisher_exact([[8, 2], [1, 5]])[1].round(6)
###
from scipy.stats import qmc
sampler = qmc.Sobol(d=3, scramble=False)
sampler.random(4)
###
from scipy import stats, optimize, integrate, interpolate, special
a = [5.1, 4.9, 6.2, 5.7, 5.0]; b = [6.1, 6.4, 5.9, 7.0, 6.6]
print(stats.ttest_ind(a, b, equal_var=False), stats.mannwhitneyu(a, b), stats.pearsonr(a, b).statistic.round(6))
print(optimize.brentq(lambda x: x ** 3 - 2, 0, 2), integrate.quad(lambda t: math.exp(-t), 0, 3)[0], special.gamma(4.5))
float(interpolate.CubicSpline([0, 1, 2, 3], [0, 1, 4, 9])(1.5))
###
import pandas as pd
visits = pd.DataFrame({"patient": ["a", "b", "a", "c"], "date": pd.to_datetime(["2024-01-03", "2024-02-11", "2024-03-05", "2024-01-29"]), "sbp": [132, 118, 141, 126]})
print(visits.groupby("patient")["sbp"].agg(["mean", "max", "count"]))
print(visits.sort_values("date").set_index("date")["sbp"].diff().to_string())
visits.pivot_table(index="patient", values="sbp").round(1)
###
from dateutil import parser
from dateutil.relativedelta import relativedelta
lmp = parser.parse("March 3, 2024")
print((lmp + relativedelta(months=9, days=7)).date(), relativedelta(lmp, parser.parse("1962-11-30")))
###
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo
when = datetime(2024, 3, 31, 0, 30, tzinfo=timezone.utc)
print(when.astimezone(ZoneInfo("Europe/Berlin")), when.astimezone(ZoneInfo("America/New_York")).strftime("%a %d %b %H:%M"))
when - timedelta(weeks=40)
###
from abc import ABC, abstractmethod
class Score(ABC):
    registry: dict = {}
    def __init_subclass__(cls, points=1, **kw):
        super().__init_subclass__(**kw)
        Score.registry[cls.__name__] = points
    @abstractmethod
    def value(self): ...
class Curb(Score, points=5):
    def value(self): return 3
try: Score()
except TypeError as e: print(str(e)[:50])
Score.registry, Curb().value(), Curb.__mro__[1].__name__
###
class Meta(type):
    def __call__(cls, *a):
        made = super().__call__(*a)
        made.tag = cls.__name__.lower()
        return made
class Drug(metaclass=Meta):
    def __init__(self, dose): self.dose = dose
d = Drug(5)
type(d), d.tag, d.dose, Drug.__class__.__name__, repr(Drug)
###
import pickle, json, copy, enum
class Sex(enum.Enum): F = "female"; M = "male"
class Stage(enum.IntFlag): A = 1; B = 2
class Note:
    def __init__(self, text): self.text = text
    def __eq__(self, other): return self.text == other.text
same = pickle.loads(pickle.dumps(Note("x"))) == Note("x")
print(same, pickle.loads(pickle.dumps(Sex.F)), json.dumps({"s": Sex.M.value}, indent=1), Stage.A | Stage.B)
Note.__module__, Note.__qualname__, __name__
###
import asyncio, inspect
async def f():
    yield 1
async def g(): return [x async for x in f()]
c = g()
try: c.send(None)
except StopIteration as stop: print(stop.value)
inspect.signature(lambda a, *b, c=1, **d: 0), inspect.iscoroutinefunction(g)
###
def counter():
    n = 0
    def up(k=1):
        nonlocal n
        n += k
        return n
    return up
u = counter(); u(); u(4)
total = 0
def add(x):
    global total
    total += x
for i in range(5): add(i)
eval("total * 2"), exec("extra = 7"), globals()["total"], extra, u()
###
try:
    raise ExceptionGroup("labs", [ValueError("sodium"), TypeError("potassium")])
except* ValueError as group: print("values", [str(e) for e in group.exceptions])
except* TypeError as group: print("types", len(group.exceptions))
###
from __future__ import annotations
from dataclasses import dataclass
@dataclass(frozen=True, slots=True)
class Visit:
    day: int
    labs: dict[str, Unknown]
Visit.__annotations__, Visit(3, {})
###
from string import Template, Formatter
from collections import Counter, OrderedDict, ChainMap, namedtuple, deque, defaultdict
Lab = namedtuple("Lab", "name value", defaults=[0])
print(Template("$drug $$5").substitute(drug="heparin"), Formatter().format("{0:>6.2f}", 3.14159), Lab("na")._replace(value=138))
Counter("mississippi").most_common(2), ChainMap({"a": 1}, {"b": 2}).new_child({"c": 3})["b"], Counter.copy(Counter("ab"))
###
import re, unicodedata, difflib, hashlib, base64, uuid, zlib
print(re.sub(r"(?P<n>\d+) mg", lambda m: f"{int(m['n']) * 2} mg", "take 5 mg, then 10 mg"), unicodedata.normalize("NFKD", "naïve")[:3])
hashlib.sha256(b"x").hexdigest()[:8], base64.b64encode(b"dose"), uuid.uuid5(uuid.NAMESPACE_DNS, "a"), zlib.crc32(b"a"), difflib.get_close_matches("aspirn", ["aspirin", "heparin"])
###
"µg".encode("utf-16"), "é".encode("cp1252"), b"\x82".decode("cp437"), "日本".encode("shift_jis"), "ß".encode("iso8859-15"), "abc".encode("utf-7"), "x".encode("koi8-r")
###
import sys, warnings, logging
with warnings.catch_warnings(record=True) as caught:
    warnings.warn("careful")
    np.log(0)
print(len(caught), caught[0].category.__name__, sys.getrecursionlimit(), sys.maxsize, sys.byteorder)
logging.getLogger("x").info("unseen")
###
import statistics as s, random, itertools as it, functools as ft, bisect, heapq, operator
random.seed(3)
print([random.randint(1, 6) for _ in range(5)], random.sample(range(9), 3), s.quantiles([1, 5, 7, 9], n=4), s.NormalDist(5, 2).cdf(6))
list(it.pairwise([1, 3, 6])), ft.reduce(operator.mul, range(1, 6)), bisect.bisect([1, 3, 5], 4), heapq.nsmallest(2, [5, 1, 4])
###
x = np.arange(12.0).reshape(3, 4)
x[1:, ::2] *= -1
np.set_printoptions(precision=2, suppress=True)
print(x, x.T @ x, np.einsum("ij->j", x), np.where(x < 0, 0, x).sum(axis=0), sep="\n")
np.polyfit([1, 2, 3], [2, 4.1, 6.2], 1), np.char.upper(["na", "k"]), np.ma.masked_less(x, 0).mean()
###
from scipy.optimize import curve_fit, minimize
t = np.array([0, 1, 2, 4, 8.0]); c = 20 * np.exp(-0.3 * t)
best, _ = curve_fit(lambda t, a, k: a * np.exp(-k * t), t, c, p0=[10, 0.1])
print(best.round(6), minimize(lambda v: (v[0] - 3) ** 2, [0]).x.round(4))
from scipy.integrate import solve_ivp
solve_ivp(lambda t, y: -0.2 * y, (0, 10), [100], t_eval=[0, 5, 10]).y.round(2)
###
import sys
print("to the output", file=sys.stdout, end="|")
sys.stdout.write("more\n")
print(*range(3), sep=", ", flush=True)
print(f"{'x'!r:>5} {3.14159:+.2f} {255:#x} {1234567:,} {0.256:.1%}", sys.stdout.encoding, __file__)
###
if __name__ == "__main__":
    def main():
        yield from ("A", "B")
    print(list(main()), main.__module__)
###
5
6
###
x = 3;
x
###
""" only a docstring """
###
'''

PROGRAMS: Final = [
    *(_program(line, style) for line in _FORMULAS.strip().splitlines() for style in _STYLES),
    *(each.strip("\n") for each in _LANGUAGE.split("###\n")[:-1]),
]
