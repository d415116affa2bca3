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
from datetime import datetime, timedelta
lmp = datetime(2024, 1, 15)
due = lmp + timedelta(days=280)
print(due.strftime("%m/%d/%Y"))
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
def fibonacci():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b
gen = fibonacci()
print([next(gen) for _ in range(10)])
###
import re
note = "Na 138 mmol/L, K 4.1 mmol/L, Cr 1.2 mg/dL"
found = dict(re.findall(r"([A-Z][a-z]?) ([\d.]+)", note))
{k: float(v) for k, v in found.items()}
###
from math import *
round(sqrt(2) * log(10) + e - pi, 10)
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
###
from dataclasses import dataclass, field, asdict, astuple, replace, fields
from typing import Optional, ClassVar
@dataclass(order=True, frozen=True)
class Lab:
    sort_index: float = field(init=False, repr=False)
    name: str
    value: float
    unit: str = "mg/dL"
    reference: ClassVar[dict] = {"Na": (135, 145)}
    note: Optional[str] = None
    def __post_init__(self):
        object.__setattr__(self, "sort_index", self.value)
labs = [Lab("Na", 139.5, "mmol/L"), Lab("Cr", 1.2), Lab("K", 4.4, "mmol/L", note="hemolyzed")]
print(sorted(labs)[0], max(labs).name)
print(asdict(labs[2]), astuple(labs[1]), [f.name for f in fields(Lab)])
print(replace(labs[1], value=2.0) > labs[1], hash(labs[0]) == hash(Lab("Na", 139.5, "mmol/L")))
try:
    labs[0].value = 3
except Exception as e:
    print(type(e).__name__, e)
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
def classify(patient):
    match patient:
        case {"age": int(a), "ckd": True} if a >= 65:
            return "elderly with CKD"
        case {"age": a, **rest} if rest:
            return f"age {a}, more {rest}"
        case {"age": a}:
            return f"age {a}"
        case [first, *others]:
            return f"{first} and {len(others)} others"
        case (1 | 2) as n:
            return f"small {n}"
        case str() as s if s.isdigit():
            return int(s)
        case None:
            return "nobody"
        case _:
            return repr(patient)
for p in ({"age": 70, "ckd": True}, {"age": 30, "x": 1}, {"age": 3}, [1, 2, 3], 2, "42", None, 3.5):
    print(classify(p))
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
import functools
class Curve:
    def __init__(self, ke): self.ke = ke; self.calls = 0
    @functools.cached_property
    def half_life(self):
        self.calls += 1
        return 0.693 / self.ke
    @functools.singledispatchmethod
    def at(self, t): raise TypeError(type(t).__name__)
    @at.register
    def _(self, t: int): return f"int {t}"
    @at.register(float)
    def _(self, t): return f"float {t:.1f}"
c = Curve(0.2)
print(c.half_life, c.half_life, c.calls, c.at(1), c.at(2.0))
try: c.at("x")
except TypeError as e: print("TypeError", e)
###
x, name, w = 3.14159265, "dose", 12
print(f"{x:>{w}.3f}|{x:<10.1e}|{name!r:^10}|{x=:.2f}|{1234567.891:,.2f}|{0.256:.1%}|{255:#x}|{-5:+d}|{name.upper()=}")
print(f"{'nested ' + f'{x:.1f}'}", f"{{}}", "%5.2f%%|%-8s|%08.3f" % (x, name, x), "{0:{1}}|{a[k]}|{b.real}".format(x, 8, a={"k": 1}, b=2))
import string
print(string.Template("$who takes ${n}mg").substitute(who="he", n=5), str(x).zfill(12), "ab".center(9, "*"))
###
import numpy as np
rng = np.random.default_rng(42)
x = rng.normal(120, 15, 200)
print(x.mean().round(4), x.std(ddof=1), np.percentile(x, [2.5, 50, 97.5]))
h, e = np.histogram(x, bins=5)
print(h, e)
print(rng.choice(["a", "b"], 5, p=[.3, .7]), rng.permutation(5), rng.integers(0, 10, (2, 3)))
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
print(stats.fisher_exact([[8, 2], [1, 5]]), stats.barnard_exact([[8, 2], [1, 5]]).pvalue, stats.boschloo_exact([[8, 2], [1, 5]]).pvalue)
print(stats.contingency.odds_ratio([[8, 2], [1, 5]]), stats.contingency.relative_risk(8, 10, 1, 6))
print(stats.binomtest(7, 20, .5).proportion_ci(), stats.chisquare([16, 18, 16, 14, 12, 12]), stats.kruskal([1, 2, 3], [2, 4, 6], [9, 8, 7]))
print(stats.f_oneway([1, 2, 3], [2, 4, 6], [9, 8, 7]), stats.tukey_hsd([1, 2, 3], [2, 4, 6], [9, 8, 7]))
print(stats.friedmanchisquare([1, 2, 3], [2, 4, 6], [9, 8, 7]), stats.mood([1, 2, 3, 4], [2, 5, 9, 1]))
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
from scipy.optimize import minimize, curve_fit, least_squares, linprog, root, fsolve, bisect, newton, differential_evolution, minimize_scalar, nnls, milp, LinearConstraint, Bounds, dual_annealing, linear_sum_assignment
import numpy as np
f = lambda x: (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
for m in ("Nelder-Mead", "BFGS", "L-BFGS-B", "Powell", "CG", "SLSQP", "TNC", "COBYLA", "trust-constr"):
    r = minimize(f, [-1, 2], method=m)
    print(m, r.x.round(3), r.success)
t = np.linspace(0, 10, 12)
y = 5 * np.exp(-.3 * t) + np.sin(t) * .01
p, c = curve_fit(lambda t, a, k: a * np.exp(-k * t), t, y, p0=(1, 1))
print(p, np.sqrt(np.diag(c)))
print(linprog([-1, -2], A_ub=[[1, 1]], b_ub=[4], bounds=[(0, None), (0, 3)]).x, root(lambda x: x ** 3 - 2, 1).x, fsolve(lambda x: np.cos(x) - x, 1))
print(bisect(lambda x: x * x - 2, 0, 2), newton(lambda x: x * x - 2, 1), minimize_scalar(lambda x: (x - 2) ** 2).x)
print(differential_evolution(lambda x: x[0] ** 2, [(-1, 1)], seed=1).x, nnls(np.eye(2), np.array([1, 2])), linear_sum_assignment([[4, 1], [2, 8]]))
print(milp([-1, -1], constraints=LinearConstraint([[2, 1]], ub=5), integrality=[1, 1], bounds=Bounds(0, 3)).x)
print(least_squares(lambda x: [x[0] - 1, x[1] * 2 - 3], [0, 0]).x)
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
from scipy.interpolate import interp1d, CubicSpline, PchipInterpolator, Akima1DInterpolator, UnivariateSpline, RegularGridInterpolator, griddata, make_interp_spline, BarycentricInterpolator, RBFInterpolator
import numpy as np
x = np.array([0, 1, 2, 4, 8.]); y = np.array([0, 3, 5, 4, 1.])
for k in ("linear", "nearest", "previous", "quadratic", "cubic"): print(k, interp1d(x, y, kind=k)(3))
print(CubicSpline(x, y)(3), PchipInterpolator(x, y)(3), Akima1DInterpolator(x, y)(3), UnivariateSpline(x, y, s=0)(3), make_interp_spline(x, y)(3), BarycentricInterpolator(x, y)(3))
print(RegularGridInterpolator((x, x), np.outer(x, y))([[1, 2]]), griddata(np.array([[0, 0], [0, 1], [1, 0], [1, 1.]]), [0, 1, 1, 2], [[.5, .5]]), RBFInterpolator(x[:, None], y)([[3.]]))
print(np.interp([3, 9], x, y, right=np.nan))
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
import pandas as pd, numpy as np, io
csv = """id,sex,age,cr,date
1,F,67,1.4,2024-01-05
2,M,54,,2024-02-11
3,F,81,2.2,2024-02-28
4,M,39,0.9,2024-03-31
"""
df = pd.read_csv(io.StringIO(csv), parse_dates=["date"])
df["crcl"] = (140 - df.age) * 70 / (72 * df.cr) * np.where(df.sex == "F", .85, 1)
print(df)
print(df.describe())
print(df.groupby("sex").agg({"age": ["mean", "max"], "cr": "sum"}))
print(df.dtypes, df.isna().sum(), df.set_index("date").resample("ME")["age"].mean(), sep="\n")
print(df.pivot_table(index="sex", values=["age", "crcl"], aggfunc="mean").round(2), pd.cut(df.age, [0, 50, 70, 100], labels=["a", "b", "c"]).tolist())
print(df.query("age > 50 and sex == 'F'"), df.eval("age * 2").tolist(), df.sort_values("cr", ascending=False).head(2), sep="\n")
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
import pandas as pd
df = pd.DataFrame({"drug": ["a", "a", "b"], "dose": [5, 10, 7.5]}).set_index("drug")
print(df.loc["a"], df.iloc[-1], df.xs("b"), df.dose.apply(lambda d: d * 2), df.groupby(level=0).cumsum(), sep="\n")
for name, g in df.groupby("drug"): print(name, g.dose.tolist())
print(pd.concat([df, df]).reset_index().drop_duplicates(), df.to_string(float_format="%.1f"), pd.json_normalize([{"a": {"b": 1}}]), sep="\n")
df["dose"].value_counts().to_frame()
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
from datetime import datetime, timedelta, timezone, date, time
from zoneinfo import ZoneInfo
d = datetime(2024, 3, 10, 1, 59, tzinfo=ZoneInfo("America/New_York"))
print(d, d + timedelta(minutes=2), (d.astimezone(timezone.utc) + timedelta(minutes=2)).astimezone(ZoneInfo("America/New_York")), d.tzname(), d.dst(), repr(d))
print(datetime.fromisoformat("2024-02-29T12:30:00+05:30"), date.fromisocalendar(2024, 9, 4), time(9, 5).isoformat(), datetime.strptime("Feb 29 2024 11:05 PM", "%b %d %Y %I:%M %p"))
print(f"{d:%A, %d %B %Y, week %V}", (date(2024, 12, 25) - date(2024, 3, 1)) // timedelta(weeks=1), timedelta(days=-1, hours=5), timedelta(seconds=98765).__repr__())
print(date.max - date.min, datetime.min.isoformat(), d.timetuple().tm_yday, datetime(2024, 1, 1).timestamp())
try: ZoneInfo("Mars/Olympus")
except Exception as e: print(type(e).__name__, e)
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
import statistics as st
x = [2.1, 3.4, 2.9, 3.3, 4.8, 2.2]
print(st.mean(x), st.fmean(x, weights=range(1, 7)), st.geometric_mean(x), st.harmonic_mean(x), st.median_low(x), st.quantiles(x, n=4), st.pvariance(x), st.multimode("aabb"), st.correlation(x, x[::-1]), st.linear_regression(range(6), x), st.NormalDist.from_samples(x).zscore(4), st.NormalDist(1, 2).overlap(st.NormalDist(2, 2)))
try: st.mean([])
except st.StatisticsError as e: print(e)
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
import re
note = "BP 142/91 (HR: 88), T 38.4 C; Na=138 mmol/L\nWeight: 82,5 kg; born 3/7/1957"
print(re.findall(r"(\d+)/(\d+)", note), re.sub(r"(\d),(\d)", r"\1.\2", note), re.split(r"[;,]\s*", note))
m = re.search(r"(?P<name>Na|K)\s*=\s*(?P<value>[\d.]+)", note)
print(m, m.groupdict(), m.span("value"), m["name"])
pat = re.compile(r"""(?ix) t \s* (\d+ (?:\.\d+)?) # temperature
""")
print(pat.search(note).group(1), pat.flags, pat, [x.start() for x in re.finditer("m", note)], re.sub(r"\d+", lambda m: str(int(m[0]) * 2), "1 22"), re.fullmatch(r"\w+", "äß"), re.escape("a.b"))
try: re.compile("(")
except re.error as e: print(e, e.pos)
###
import logging
print("before")
logging.warning("shown on stderr")
logging.info("not")
print("after")
###
import warnings
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always")
    warnings.warn("old", DeprecationWarning)
    warnings.warn("now")
print(len(w), [(x.category.__name__, str(x.message), x.lineno, x.filename) for x in w])
with warnings.catch_warnings():
    warnings.simplefilter("error")
    try: warnings.warn("boom", RuntimeWarning)
    except RuntimeWarning as e: print("raised", e)
import numpy as np
with np.errstate(divide="raise"):
    try: np.array([1.]) / 0
    except FloatingPointError as e: print(e)
print(np.array([1., -1, 0]) / 0, np.log(0), np.sqrt(-1))
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
import itertools as it, operator as op, collections as co, heapq, bisect
print(list(it.accumulate([1, 2, 3], op.mul)), list(it.pairwise("abc")), list(it.combinations("abc", 2)), [(k, list(g)) for k, g in it.groupby("aabbb")], list(it.islice(it.count(3, 2), 3)), list(it.zip_longest("ab", "c", fillvalue="-")), list(it.chain.from_iterable([[1], [2]])), list(it.takewhile(lambda x: x < 3, [1, 2, 3])), list(it.starmap(pow, [(2, 3)])), list(it.product("ab", repeat=2)))
c = co.Counter("mississippi"); d = co.defaultdict(list); d["a"].append(1)
print(c.most_common(2), c - co.Counter("miss"), d, co.OrderedDict(a=1), co.deque([1, 2, 3], maxlen=2), co.ChainMap({"a": 1}, {"b": 2})["b"], co.namedtuple("P", "x y", defaults=[3])(1))
h = [5, 1, 4]; heapq.heapify(h); print(heapq.heappop(h), heapq.nlargest(2, h), bisect.bisect([1, 3, 5], 3), op.itemgetter(1, 2)("abc"), op.attrgetter("real")(3))
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
class Meta(type):
    registry = {}
    def __new__(m, name, bases, ns, **kw):
        c = super().__new__(m, name, bases, ns); m.registry[name] = kw; return c
    def __call__(cls, *a): print("making", cls.__name__, a); return super().__call__(*a)
class Score(metaclass=Meta, points=0):
    __slots__ = ("n", "_m")
    def __init__(self, n): self.n = n
    def __eq__(self, o): return self.n == o.n
    def __lt__(self, o): return self.n < o.n
    def __hash__(self): return self.n
    def __getattr__(self, k): return f"no {k}"
    def __bool__(self): return self.n > 0
    def __call__(self, x): return x + self.n
    def __format__(self, s): return f"<{self.n}:{s}>"
    def __matmul__(self, o): return "mat"
    def __init_subclass__(cls, /, **kw): print("sub", cls.__name__, kw)
class Sub(Score, points=2): pass
s = Sub(3)
print(s(4), f"{s:abc}", s @ 1, s.missing, bool(s), sorted([Score(2), Score(1)])[0].n, Meta.registry, Sub.__mro__)
try: Score(1).zz = 1
except AttributeError as e: print(e)
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
from abc import ABC, abstractmethod
class Rule(ABC):
    @property
    @abstractmethod
    def name(self): ...
    @abstractmethod
    def score(self): ...
class R(Rule):
    name = "r"
    def score(self): return 1
try: Rule()
except TypeError as e: print(e)
print(R().score(), R.__abstractmethods__, Rule.__abstractmethods__ == {"name", "score"}, issubclass(R, Rule), R.__mro__[1].__name__)
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
try:
    age = int(input("Age: "))
except EOFError as e:
    print("no input:", e)
    age = 50
print(age)
###
"""Module docstring."""
import sys
def main(argv=None) -> int:
    print("main", __doc__, argv or sys.argv[1:])
    return 0
if __name__ == "__main__":
    main()
###
def gen():
    got = yield 1
    print("got", got)
    try: yield 2
    except ValueError as e: print("thrown", e); yield 3
    finally: print("closing")
    return 9
g = gen(); print(next(g), g.send("x"), g.throw(ValueError("v"))); g.close()
def outer():
    r = yield from inner(); print("r", r)
def inner():
    yield "i"; return 7
print(list(outer()), sum(x for x in range(5) if x % 2), {k: v for k, v in zip("ab", [1, 2])}, [y := 5, y ** 2])
async def co(): return 4
c = co()
try: c.send(None)
except StopIteration as e: print(e.value)
###
import random
random.seed(42)
print(random.random(), random.randint(1, 6), random.choice("abc"), random.sample(range(10), 3), random.gauss(0, 1), random.shuffle([1]), random.uniform(1, 2), random.choices("ab", weights=[1, 3], k=4), random.betavariate(1, 2))
import numpy as np
np.random.seed(1); print(np.random.rand(2), np.random.normal(size=2), np.random.randint(0, 9, 3), np.random.choice([1, 2, 3], 2))
import secrets, uuid, hashlib, base64, zlib, binascii
print(len(secrets.token_hex(4)), uuid.uuid5(uuid.NAMESPACE_DNS, "x"), hashlib.sha256(b"x").hexdigest()[:8], base64.b64encode(b"abc"), zlib.crc32(b"x"), hashlib.md5(b"").hexdigest())
###
import math, cmath, numbers
print(math.comb(5, 2), math.perm(5, 2), math.isclose(.1 + .2, .3), math.fsum([.1] * 10), math.gcd(12, 18), math.lcm(4, 6), math.dist((0, 0), (3, 4)), math.hypot(1, 2, 2), math.prod([1, 2, 3]), math.log1p(1e-9), math.erf(.5), math.inf, math.nan, math.tau, math.ulp(1), math.nextafter(1, 2), math.modf(3.7), math.frexp(8), math.copysign(1, -0.), math.remainder(7, 3), math.trunc(-2.7), math.isqrt(17), math.cbrt(27))
print(round(2.5), round(3.5), round(-0.5), round(1234.5, -2), 7 // -2, 7 % -2, divmod(-7, 3), 0.1 + 0.2, 1e16 + 1, 5e-324, 10 ** -3, 2 ** 0.5, (-8) ** (1 / 3), 1_000_000, 0b101, 0o17, int("ff", 16), complex(1, 2) * 1j, cmath.sqrt(-1), bool("False"), True + True, float("1e400"), isinstance(True, numbers.Integral))
for f in (lambda: math.sqrt(-1), lambda: math.log(0), lambda: math.factorial(-1), lambda: int("1.5"), lambda: 1 / 0, lambda: float("x"), lambda: math.exp(1000)):
    try: f()
    except Exception as e: print(type(e).__name__, e)
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
import unittest, doctest
def bmi(w, h):
    """
    >>> bmi(80, 2)
    20.0
    >>> bmi(1, 0)
    Traceback (most recent call last):
    ...
    ZeroDivisionError: division by zero
    """
    return w / h ** 2
print(doctest.testmod())
class T(unittest.TestCase):
    def test_a(self): self.assertAlmostEqual(bmi(80, 1.8), 24.69, 2)
r = unittest.TextTestRunner(verbosity=0, stream=__import__("io").StringIO()).run(unittest.defaultTestLoader.loadTestsFromTestCase(T)); print(r.wasSuccessful(), r)
###
import numpy as np, locale
from numpy.polynomial import Polynomial
p = Polynomial.fit([0, 1, 2, 3], [1, 3, 7, 13], 2); print(p.convert(), p(1.5), p.roots(), Polynomial([1, 2]) * Polynomial([0, 1]), np.poly1d([1, -3, 2]))
print(locale.format_string("%.2f", 1234.5, grouping=True), f"{1234567:n}", locale.localeconv()["decimal_point"], sorted(["b", "A", "a"], key=locale.strxfrm), locale.str(1.5))
###
from concurrent.futures import Future
import asyncio, contextvars, enum, typing, collections.abc, numbers
v = contextvars.ContextVar("v", default=1); t = v.set(5); print(v.get()); v.reset(t); print(v.get())
f = Future(); f.set_result(3); print(f.result(), asyncio.iscoroutinefunction(lambda: 1), isinstance([], collections.abc.Sequence), typing.Union[int, None], int | None, list[int], typing.get_args(dict[str, int]), typing.cast(int, "a"))
def overloaded(x: "int | str", /, *, y: typing.Annotated[float, "mg"] = 1.0) -> typing.Callable[[int], str]: ...
print(typing.get_type_hints(overloaded, include_extras=True))
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
total = 0
for i in range(10):
    if i == 3: continue
    if i == 7: break
    total += i
else:
    print("never")
while total > 10: total -= 4
else: print("done", total)
a, *b, c = range(5); (d, e), f = (1, 2), 3; x = y = []; x.append(1); print(a, b, c, d, e, f, y, [*b, *y], {**{"k": 1}, "k": 2}, (lambda *a, **k: (a, k))(1, z=2))
assert total, "zero"; del a; print("a" in dir(), "%s" % (1,), 1 < 2 < 3, not [], [] or "x", 0 and 1, "b" if x else "c", slice(1, 2), range(0, 9, 3)[-1], "abc"[::-1], [1, 2] * 2, {1} | {2}, {1: 2} | {3: 4}, bytes(3), bytearray(b"x"), memoryview(b"ab")[0], frozenset([1]), 3 .__add__(4), id(x) == id(y), sorted({3, 1, 2}, reverse=True), sum([[1], [2]], []), list(map(str, filter(None, [0, 1]))), any([]), all([]), max([], default=0), min("b", "a"), abs(-3), pow(3, -1, 7), hex(255), chr(955), ord("a"), next(iter([]), "none"), list(reversed([1, 2])), list(enumerate("ab", 1)), type(1) is int, int.from_bytes(b"\1\0", "big"), (5).bit_length(), "x".join(["a", "b"]), "a,b".partition(","), "Ab".swapcase(), "tEst".capitalize(), "%r" % "q", "abc".translate({97: "z"}), " x ".strip(), "a b".split(), "line\nline".splitlines(), "x".isidentifier(), "5".isnumeric(), "abc".find("z"), "aXbX".replace("X", "-", 1), "abc".encode().hex(), "tab\tx".expandtabs(4), "abc".endswith(("c", "d")), float.hex(1.5), (1.5).as_integer_ratio(), (2.0).is_integer())
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
import io, sys
sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8")
print("µg/L ≥ 3")
###
import os, contextlib
with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
    print("not shown")
open(os.devnull).read()
###
if True:
    def f(): return sp.stats.norm.cdf(1.96).round(4), scipy.special.comb(5, 2)
f()
###
import signal, time
signal.signal(signal.SIGALRM, lambda *_: print("rang"))
signal.setitimer(signal.ITIMER_REAL, 0.01)
time.sleep(0.05)
time.process_time() > 0, time.perf_counter() > 0
'''

SNIPPETS: Final = [snippet.strip("\n") for snippet in _TEXT.split("###\n")]
