"""Honest code of one kind each, separated by lines of ``###``; plain Python runs it too."""

# ruff: noqa: E501

from __future__ import annotations

from typing import Final

_TEXT: Final = r'''
def ckd_epi_2021(scr, age, female):
    kappa = 0.7 if female else 0.9
    alpha = -0.241 if female else -0.302
    gfr = 142 * min(scr / kappa, 1) ** alpha * max(scr / kappa, 1) ** -1.200 * 0.9938 ** age
    return gfr * 1.012 if female else gfr

print(round(ckd_epi_2021(1.1, 54, True), 3))
ckd_epi_2021(0.8, 30, female=False)
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
import re
note = "Na 138 mmol/L, K 4.1 mmol/L, Cr 1.2 mg/dL"
found = dict(re.findall(r"([A-Z][a-z]?) ([\d.]+)", note))
{k: float(v) for k, v in found.items()}
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
getattr("abc", "upper")(), hasattr([], "append"), hasattr(5, "nothing"), isinstance(True, int), issubclass(bool, int), callable(len), type(3.0) == float, type("a").__name__
###
from typing import NamedTuple, TypedDict, Literal, Protocol, Generic, TypeVar, get_type_hints, runtime_checkable
T = TypeVar("T")
class Vitals(NamedTuple):
    sbp: int
    dbp: int = 80
    @property
    def map(self) -> float:
        return (self.sbp + 2 * self.dbp) / 3
class Row(TypedDict, total=False):
    id: int
    sex: Literal["M", "F"]
@runtime_checkable
class Scored(Protocol):
    def score(self) -> int: ...
class Box(Generic[T]):
    def __init__(self, x: T): self.x = x
    def score(self): return 3
print(Vitals(120), Vitals(130, 70).map, Vitals(1, 2)._asdict(), Vitals._fields, Vitals._field_defaults)
print(get_type_hints(Row), isinstance(Box(1), Scored), Box[int], Row(id=1))
###
import functools, time
def logged(level="INFO"):
    def deco(f):
        @functools.wraps(f)
        def inner(*args, **kwargs):
            print(f"[{level}] {f.__name__}{args} {kwargs}")
            return f(*args, **kwargs)
        return inner
    return deco
@logged("DEBUG")
@functools.lru_cache(maxsize=None)
def fact(n):
    "n!"
    return 1 if n < 2 else n * fact(n - 1)
print(fact(5), fact.__name__, fact.__doc__, fact.__wrapped__.cache_info() if hasattr(fact.__wrapped__, "cache_info") else None)
###
x, name, w = 3.14159265, "dose", 12
print(f"{x:>{w}.3f}|{x:<10.1e}|{name!r:^10}|{x=:.2f}|{1234567.891:,.2f}|{0.256:.1%}|{255:#x}|{-5:+d}|{name.upper()=}")
print(f"{'nested ' + f'{x:.1f}'}", f"{{}}", "%5.2f%%|%-8s|%08.3f" % (x, name, x), "{0:{1}}|{a[k]}|{b.real}".format(x, 8, a={"k": 1}, b=2))
import string
print(string.Template("$who takes ${n}mg").substitute(who="he", n=5), str(x).zfill(12), "ab".center(9, "*"))
###
from scipy import stats
import numpy as np
rng = np.random.default_rng(0)
a, b = rng.normal(0, 1, 40), rng.normal(.5, 1.2, 35)
for f in (stats.ttest_ind, stats.mannwhitneyu, stats.ks_2samp, stats.levene, stats.brunnermunzel, stats.ansari):
    print(f.__name__, f(a, b))
print(stats.shapiro(a), stats.normaltest(a), stats.anderson(a).statistic)
print(stats.wilcoxon(a[:35] - b), stats.pearsonr(a[:35], b), stats.spearmanr(a[:35], b), stats.kendalltau(a[:35], b))
print(stats.bootstrap((a,), np.mean, random_state=1, n_resamples=200).confidence_interval)
print(stats.permutation_test((a, b), lambda x, y: x.mean() - y.mean(), n_resamples=200, random_state=1).pvalue)
###
from scipy import stats
import numpy as np
u = stats.CensoredData.right_censored([3, 5, 8, 10, 12], [False, True, False, False, True])
s = stats.ecdf(u)
print(s.sf.quantiles, s.sf.probabilities)
print(stats.logrank(stats.CensoredData.right_censored([3, 5, 8], [0, 1, 0]), stats.CensoredData([1, 2, 2])).pvalue)
print(stats.weibull_min.fit(stats.weibull_min.rvs(2, size=50, random_state=3), floc=0))
k = stats.gaussian_kde([1, 2, 2.5, 4])
print(k(2.2), k.integrate_box_1d(0, 3))
print(stats.qmc.Sobol(2, seed=1).random(4), stats.qmc.LatinHypercube(2, seed=1).random(2), stats.qmc.Halton(2, seed=2).random(2))
###
from scipy.integrate import solve_ivp, odeint, quad, dblquad, nquad, simpson, trapezoid, cumulative_trapezoid, solve_bvp, quad_vec
import numpy as np
ka, ke = 1.1, .18
def pk(t, y): return [-ka * y[0], ka * y[0] - ke * y[1]]
for m in ("RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA"):
    s = solve_ivp(pk, (0, 24), [500, 0], method=m, t_eval=[1, 6, 24], rtol=1e-8)
    print(m, s.y[1])
print(odeint(lambda y, t: -ke * y, 100, [0, 1, 2]).ravel())
print(quad(np.exp, -np.inf, 0), dblquad(lambda y, x: x * y, 0, 1, 0, 2), nquad(lambda x, y: x + y, [[0, 1], [0, 1]]))
t = np.linspace(0, 8, 9); c = np.exp(-t / 3)
print(trapezoid(c, t), simpson(c, x=t), cumulative_trapezoid(c, t)[-1], quad_vec(lambda x: np.array([x, x * x]), 0, 1)[0])
###
from scipy import linalg, sparse, special, fft, signal, spatial, cluster, ndimage, constants
import numpy as np
a = np.array([[4, 1, 0], [1, 3, 1], [0, 1, 2.]])
print(linalg.eigh(a)[0], linalg.det(a), linalg.inv(a).round(4), linalg.expm(a * .1), linalg.cholesky(a), linalg.lu(a)[2], linalg.qr(a)[1].round(6), linalg.svdvals(a), linalg.norm(a))
print(sparse.csr_matrix(a) @ np.ones(3), sparse.linalg.spsolve(sparse.csc_matrix(a), np.ones(3)), sparse.linalg.eigsh(sparse.csr_matrix(a), k=1, v0=np.ones(3))[0])
print(special.gamma(4.5), special.erf(.3), special.expit(.2), special.logit(.7), special.betainc(2, 3, .4), special.ndtri(.975), special.jv(1, 2.), special.comb(5, 2), special.lambertw(1), special.gammaincinv(2, .3))
print(fft.fft([1, 2, 3, 4]), signal.find_peaks([0, 1, 0, 2, 0])[0], signal.savgol_filter([1, 2, 4, 3, 5, 6, 8], 5, 2), signal.butter(2, .2))
print(spatial.distance.cdist([[0, 0]], [[3, 4]]), spatial.KDTree([[0, 0], [1, 1]]).query([.2, .2]), spatial.ConvexHull([[0, 0], [1, 0], [0, 1], [.2, .2]]).volume)
print(cluster.hierarchy.linkage([[0], [1], [5], [6]]), ndimage.gaussian_filter([0, 0, 1., 0, 0], 1), constants.R, constants.convert_temperature(37, "C", "F"), constants.physical_constants["Avogadro constant"])
###
import pandas as pd
d = pd.date_range("2024-01-29", periods=4, freq="W-MON")
s = pd.Series(range(4), index=d)
print(s, s.rolling(2).mean(), s.shift(1), s.diff().fillna(0), sep="\n")
print(pd.Timestamp("2024-03-10 01:30", tz="US/Eastern") + pd.Timedelta(hours=1), pd.Timestamp("2024-02-29") + pd.DateOffset(years=1), pd.to_datetime("05/06/2024", dayfirst=True), (pd.Timestamp("2024-05-01") - pd.Timestamp("2024-01-15")).days)
print(pd.Period("2024-02").days_in_month, pd.to_timedelta("3 days 04:05:06").total_seconds(), pd.Timestamp(2024, 1, 1).isocalendar())
m = pd.merge(pd.DataFrame({"k": [1, 2], "a": [3, 4]}), pd.DataFrame({"k": [2, 3], "b": [5, 6]}), how="outer", on="k", indicator=True)
print(m, m.to_dict("records"), m.to_csv(index=False), m.to_json(), m.T, sep="\n")
print(m.to_html(), m.to_latex() if False else "", m.melt("k"), pd.get_dummies(["a", "b", "a"]), sep="\n")
###
from dateutil import parser, tz, rrule
from dateutil.relativedelta import relativedelta, MO
from dateutil.easter import easter
from datetime import datetime, date
print(parser.parse("March 5th, 2024 3pm"), parser.parse("5/3/24", dayfirst=True), parser.isoparse("2024-W10-1"))
r = relativedelta(date(2024, 3, 1), date(1957, 12, 30))
print(r, r.years, date(2024, 1, 31) + relativedelta(months=1), date(2024, 5, 8) + relativedelta(weekday=MO(-1)))
print(list(rrule.rrule(rrule.MONTHLY, count=3, dtstart=datetime(2024, 1, 31))), easter(2024))
print(datetime(2024, 7, 1, tzinfo=tz.gettz("Europe/Berlin")).utcoffset(), tz.UTC, tz.tzlocal().utcoffset(datetime(2024, 1, 1)))
###
from decimal import Decimal, getcontext, localcontext, ROUND_HALF_EVEN, ROUND_UP, InvalidOperation, DivisionByZero, Inexact
from fractions import Fraction
getcontext().prec = 30
print(Decimal(2).sqrt(), Decimal("1.10") + Decimal("2.205"), Decimal("1e3").normalize(), Decimal("2.5").quantize(Decimal(1), ROUND_HALF_EVEN), Decimal("12345.678").__format__(",.1f"))
with localcontext(prec=4) as c:
    print(Decimal(1) / 3, c.flags[Inexact])
for bad in ("x", ):
    try: Decimal(bad)
    except InvalidOperation as e: print("bad", e)
try: Decimal(1) / 0
except DivisionByZero as e: print(repr(e))
print(Fraction(3.3).limit_denominator(100), Fraction("22/7") ** 2, Fraction(7, 3).__floor__(), round(Fraction(7, 3), 2), f"{float(Fraction(1, 3)):.4f}", Decimal(0.1))
###
import json, csv, io, pprint, textwrap
data = {"id": 1, "labs": [{"na": 139, "k": 4.1}, None, True], "µ": "ü", "nan": float("nan")}
print(json.dumps(data), json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False), json.loads('{"a": [1, 2.5e3, null]}'))
try: json.loads('{"a": }')
except json.JSONDecodeError as e: print(e, e.pos)
w = io.StringIO()
c = csv.DictWriter(w, ["a", "b"]); c.writeheader(); c.writerows([{"a": 1, "b": 'x,"y"'}, {"a": 2}])
print(repr(w.getvalue()), list(csv.DictReader(io.StringIO(w.getvalue()))))
pprint.pprint({"k" * 20: list(range(30)), "z": {"a" * 30: "b" * 60}}, width=60)
print(textwrap.fill("The patient was given a loading dose of the drug and then a maintenance dose. " * 3, 50, initial_indent="* ", subsequent_indent="  "))
print(textwrap.dedent("""
    a
      b
"""), textwrap.shorten("a b c d e f g", 8), textwrap.indent("a\nb", "> "))
###
import logging
print("before")
logging.warning("shown on stderr")
logging.info("not")
print("after")
###
from contextlib import contextmanager, ExitStack, suppress, redirect_stdout, redirect_stderr, closing, nullcontext, AbstractContextManager
import io, sys
@contextmanager
def section(name):
    print("<", name)
    try: yield name.upper()
    except KeyError as e: print("swallowed", e)
    finally: print(name, ">")
with section("a") as s, section("b"): print(s); raise KeyError("k")
b = io.StringIO()
with redirect_stdout(b), redirect_stderr(b): print("hidden"); print("err", file=sys.stderr)
with ExitStack() as st: [st.callback(print, i) for i in range(3)]; st.enter_context(section("c"))
with suppress(ValueError): int("x")
print(repr(b.getvalue()))
###
from enum import Enum, IntEnum, Flag, auto, unique, StrEnum
class Stage(IntEnum):
    G1 = 1; G2 = 2; G3a = 3
    @classmethod
    def of(cls, gfr): return cls.G1 if gfr >= 90 else cls.G2 if gfr >= 60 else cls.G3a
class Sym(Flag):
    FEVER = auto(); COUGH = auto(); RASH = auto()
class Sex(str, Enum):
    M = "male"; F = "female"
    def __str__(self): return self.value
class U(StrEnum):
    MG = auto()
print(Stage.of(72), repr(Stage.G1), Stage(2) + 1, list(Stage), Sym.FEVER | Sym.RASH, Sym.COUGH in (Sym.FEVER | Sym.COUGH), Sex("male"), repr(Sex.F), f"{Sex.M}", U.MG, Stage["G2"].name)
try: Stage(9)
except ValueError as e: print(e)
###
class Range:
    def __set_name__(self, owner, name): self.name = "_" + name
    def __get__(self, o, t=None): return self if o is None else getattr(o, self.name)
    def __set__(self, o, v):
        if not 0 <= v <= 15: raise ValueError(f"{self.name[1:]} must be 0-15, got {v}")
        setattr(o, self.name, v)
class GCS:
    total = Range()
    def __init__(self, t): self.total = t
    def __getitem__(self, i): return [1, 2, 3][i]
    def __contains__(self, x): return x == 7
    def __iter__(self): yield from "abc"
    def __enter__(self): return self
    def __exit__(self, *a): print("exit", a[0]); return True
    def __del__(self): print("deleted")
g = GCS(13); print(g.total, g[-1], 7 in g, list(g), vars(g))
with g: GCS(20)
del g
print("end")
###
ns = {}
exec("def f(x):\n    return x ** 2\ny = f(4)", ns)
print(ns["y"], eval("a + b", {"a": 1, "b": 2}), eval(compile("3*4", "<calc>", "eval")))
code = compile("for i in range(2): print(i)", "<s>", "exec"); exec(code)
import ast
print(ast.literal_eval("{'a': [1, 2, (3,)]}"), ast.dump(ast.parse("x + 1", mode="eval")), ast.unparse(ast.parse("x=1;y  =  2")))
exec("z = 5"); print(z, "z" in globals(), sorted(k for k in locals() if k in ("z", "ns")))
def g():
    q = 1; exec("q = 2"); return q, sorted(locals())
print(g(), callable(g), g.__code__.co_varnames)
###
"""Module docstring."""
import sys
def main(argv=None) -> int:
    print("main", __doc__, argv or sys.argv[1:])
    return 0
if __name__ == "__main__":
    main()
###
import random
random.seed(42)
print(random.random(), random.randint(1, 6), random.choice("abc"), random.sample(range(10), 3), random.gauss(0, 1), random.shuffle([1]), random.uniform(1, 2), random.choices("ab", weights=[1, 3], k=4), random.betavariate(1, 2))
import numpy as np
np.random.seed(1); print(np.random.rand(2), np.random.normal(size=2), np.random.randint(0, 9, 3), np.random.choice([1, 2, 3], 2))
import secrets, uuid, hashlib, base64, zlib, binascii
print(len(secrets.token_hex(4)), uuid.uuid5(uuid.NAMESPACE_DNS, "x"), hashlib.sha256(b"x").hexdigest()[:8], base64.b64encode(b"abc"), zlib.crc32(b"x"), hashlib.md5(b"").hexdigest())
###
import numpy as np
a = np.arange(12).reshape(3, 4); m = np.ma.masked_greater(a, 8)
print(a[::2, [0, -1]], a.T @ a, np.einsum("ij,ij->i", a, a), m.mean(), m, np.where(a > 5), a.dtype, a.strides, np.vstack([a, a]).shape, np.unique([3, 1, 3], return_counts=True), np.array([1, "a", None], dtype=object), np.datetime64("2024-02-28") + np.timedelta64(2, "D"), np.busday_count("2024-01-01", "2024-02-01"))
print(np.array2string(np.pi * np.eye(2), precision=2), np.array([1e10, 1e-10]), np.array([True]), np.float32(.1), np.int8(127), np.polyval([1, 2, 3], 2), np.roots([1, -3, 2]), np.convolve([1, 2], [1, 1]), np.cov([1, 2, 3], [1, 2, 4]), np.gradient([1, 4, 9.]), np.nanmean([1, np.nan]), np.cumsum([1, 2]), np.argsort([3, 1]), np.searchsorted([1, 3], 2), np.clip(5, 0, 3), np.outer([1], [2]), np.meshgrid([1, 2], [3]))
np.set_printoptions(precision=3, suppress=True); print(np.random.default_rng(5).random(3), np.zeros((2, 0)), np.arange(2000))
r = np.rec.array([(1, "x")], dtype=[("a", int), ("b", "U1")]); print(r.a, r[0], np.genfromtxt(["1,2", "3,4"], delimiter=","), np.loadtxt(["1 2", "3 4"]))
try: np.zeros(2) + np.zeros(3)
except ValueError as e: print(e)
import io; s = io.StringIO(); np.savetxt(s, a, fmt="%d"); print(s.getvalue()); b = io.BytesIO(); np.save(b, a); b.seek(0); print(np.load(b).sum())
###
import numpy as np, locale
from numpy.polynomial import Polynomial
p = Polynomial.fit([0, 1, 2, 3], [1, 3, 7, 13], 2); print(p.convert(), p(1.5), p.roots(), Polynomial([1, 2]) * Polynomial([0, 1]), np.poly1d([1, -3, 2]))
print(locale.format_string("%.2f", 1234.5, grouping=True), f"{1234567:n}", locale.localeconv()["decimal_point"], sorted(["b", "A", "a"], key=locale.strxfrm), locale.str(1.5))
###
from __future__ import annotations
from dataclasses import dataclass, field, KW_ONLY, InitVar
@dataclass(slots=True, kw_only=True)
class A:
    x: int
    y: list[Unknown] = field(default_factory=list)
    z: InitVar[int] = 3
    def __post_init__(self, z): self.x += z
@dataclass
class B:
    a: A
    _: KW_ONLY
    b: B | None = None
print(A(x=1), B(A(x=2), b=B(A(x=3))), A.__slots__, A.__annotations__, B.__match_args__)
match B(A(x=5)):
    case B(A(x=n), b=None): print("matched", n)
###
from collections import defaultdict, Counter
from itertools import groupby
events = [("2024-01-03", "A", 4), ("2024-01-01", "B", 2), ("2024-01-02", "A", 1)]
by = defaultdict(lambda: {"n": 0, "sum": 0})
for d, k, v in events: by[k]["n"] += 1; by[k]["sum"] += v
print(dict(by)); print({k: v["sum"] / v["n"] for k, v in sorted(by.items())})
print(f"{'Drug':<8}|{'n':>3}|{'mean':>6}"); print("-" * 19)
for k, v in by.items(): print(f"{k:<8}|{v['n']:>3}|{v['sum'] / v['n']:>6.2f}")
###
import os, contextlib
with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
    print("not shown")
open(os.devnull).read()
###
import signal, time
signal.signal(signal.SIGALRM, lambda *_: print("rang"))
signal.setitimer(signal.ITIMER_REAL, 0.01)
time.sleep(0.05)
time.process_time() > 0, time.perf_counter() > 0
'''

SNIPPETS: Final = [snippet.strip("\n") for snippet in _TEXT.split("###\n")]
