"""What code can import, name by name.

Lists of what is allowed, never of what is forbidden: a name that a later version of a library adds is not here until
someone adds it. A name that the installed version lacks is left out.
"""

from __future__ import annotations

import abc
import bisect
import calendar
import cmath
import collections
import contextlib
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import heapq
import importlib
import itertools
import json
import math
import numbers
import operator
import random
import re
import statistics
import string
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

import numpy
import scipy.constants
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.optimize
import scipy.special
import scipy.stats

_LAZY = """
_strptime unicodedata encodings.ascii encodings.latin_1 encodings.utf_16 encodings.utf_8_sig encodings.cp1252
encodings.idna multiprocessing scipy._lib.cobyqa scipy._lib.pyprima scipy._lib.pyprima.common.infos
scipy._lib.pyprima.common.message scipy.linalg._matfuncs_inv_ssq scipy.optimize.elementwise scipy.sparse._spfuncs
"""
for _name in _LAZY.split():  # what libraries import on first use, when no file can be read any more
    with contextlib.suppress(ImportError):
        importlib.import_module(_name)


class Facade:
    """A module as code sees it: its instance attributes are the allowed names, so ``import *`` brings only them."""

    def __init__(self, title: str, names: Mapping[str, Any]) -> None:
        vars(self).update(names)
        _TITLES[id(self)] = title

    def get(self, name: str) -> Any:
        """An attribute for code.

        Raises:
            AttributeError: if it is not among the allowed.
        """
        if name.startswith("_") or not self.has(name):
            raise AttributeError(f"module {_TITLES[id(self)]!r} has no attribute {name!r} here")
        return vars(self)[name]

    def has(self, name: str) -> bool:
        """Whether a name is allowed."""
        return name in vars(self)

    def __repr__(self) -> str:
        return f"<module {_TITLES[id(self)]!r}>"


_TITLES: dict[int, str] = {}


def _pick(module: Any, names: str, **more: Any) -> Facade:
    found = {name: getattr(module, name) for name in names.split() if hasattr(module, name)}
    return Facade(module.__name__, {**found, **more})


def _whole(module: Any) -> Facade:
    """All that a module of functions and constants, written in C or with an ``__all__``, has to offer."""
    return _pick(
        module, " ".join(getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")])
    )


def _wraps(wrapped: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """``functools.wraps`` without its choice of attributes to copy."""

    def decorate(wrapper: Callable[..., Any]) -> Callable[..., Any]:
        if type(wrapper) is types.FunctionType and type(wrapped) is types.FunctionType:
            wrapper.__name__, wrapper.__doc__ = wrapped.__name__, wrapped.__doc__
        return wrapper

    return decorate


class _ArrayChecks(type):
    """Metaclass of what stands for ``numpy.ndarray``: calling that class would read memory as objects."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, numpy.ndarray)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("numpy.ndarray cannot be called here; use numpy.array or numpy.zeros")

    def __repr__(cls) -> str:
        return "<class 'numpy.ndarray'>"


class ndarray(metaclass=_ArrayChecks):
    """``numpy.ndarray`` for code, to be checked against."""


class _LookUpOnly(enum.EnumMeta):
    """Made by class statements only: the call that makes an enumeration would set any attribute for code."""

    def __call__(cls, value: Any) -> Any:  # type: ignore[override]
        return super().__call__(value)


class Enum(enum.Enum, metaclass=_LookUpOnly):
    """``enum.Enum`` for code."""


class IntEnum(enum.IntEnum, metaclass=_LookUpOnly):
    """``enum.IntEnum`` for code."""


_NUMPY = """
pi e inf nan euler_gamma newaxis True_ False_ generic number integer signedinteger unsignedinteger inexact
floating complexfloating bool_ int8 int16 int32 int64 int_ intc intp uint8 uint16 uint32 uint64 uint float16 float32
float64 half single double longdouble complex64 complex128 str_ bytes_ datetime64 timedelta64 dtype finfo iinfo ufunc
poly1d vectorize errstate seterr geterr set_printoptions get_printoptions printoptions array2string array_repr
array_str format_float_positional format_float_scientific base_repr binary_repr abs absolute acos acosh add all
allclose amax amin angle any append apply_along_axis apply_over_axes arange arccos arccosh arcsin arcsinh arctan
arctan2 arctanh argmax argmin argpartition argsort argwhere around array array_equal array_equiv array_split
asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray asin asinh astype atan atan2 atanh atleast_1d
atleast_2d atleast_3d average bartlett bincount bitwise_and bitwise_count bitwise_invert bitwise_left_shift
bitwise_not bitwise_or bitwise_right_shift bitwise_xor blackman block broadcast_arrays broadcast_shapes broadcast_to
busday_count busday_offset busdaycalendar c_ can_cast cbrt ceil choose clip column_stack common_type compress concat
concatenate conj conjugate convolve copy copysign copyto corrcoef correlate cos cosh count_nonzero cov cross cumprod
cumsum cumulative_prod cumulative_sum datetime_as_string datetime_data deg2rad degrees delete diag diag_indices
diagflat diagonal diff digitize divide divmod dot dsplit dstack ediff1d einsum einsum_path empty empty_like equal exp
exp2 expand_dims expm1 extract eye fabs fill_diagonal fix flatnonzero flip fliplr flipud float_power floor
floor_divide fmax fmin fmod frexp frombuffer fromfunction fromiter full full_like gcd geomspace gradient greater
greater_equal hamming hanning heaviside histogram histogram2d histogram_bin_edges histogramdd hsplit hstack hypot i0
identity imag in1d index_exp indices inner insert interp intersect1d invert is_busday isclose iscomplex iscomplexobj
isfinite isin isinf isnan isnat isneginf isposinf isreal isrealobj isscalar issubdtype iterable ix_ kaiser kron lcm
ldexp left_shift less less_equal lexsort linspace log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not
logical_or logical_xor logspace mask_indices matmul matrix_transpose matvec max maximum mean median meshgrid mgrid min
minimum mod modf moveaxis multiply nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin
nanpercentile nanprod nanquantile nanstd nansum nanvar ndenumerate ndim ndindex negative nextafter nonzero not_equal
ogrid ones ones_like outer packbits pad partition percentile permute_dims piecewise place poly polyadd polyder polydiv
polyfit polyint polymul polysub polyval positive pow power prod product promote_types ptp put put_along_axis putmask
quantile r_ rad2deg radians ravel ravel_multi_index real real_if_close reciprocal remainder repeat reshape resize
result_type right_shift rint roll rollaxis roots rot90 round round_ row_stack s_ searchsorted select setdiff1d
setxor1d shape sign signbit sin sinc sinh size sort sort_complex spacing split sqrt square squeeze stack std subtract
sum swapaxes take take_along_axis tan tanh tensordot tile trace transpose trapezoid trapz tri tril tril_indices
trim_zeros triu triu_indices true_divide trunc union1d unique unique_all unique_counts unique_inverse unique_values
unpackbits unravel_index unstack unwrap vander var vdot vecdot vecmat vsplit vstack where zeros zeros_like
"""
SAMPLING = """
beta binomial bytes chisquare choice dirichlet exponential f gamma geometric gumbel hypergeometric integers laplace
logistic lognormal logseries multinomial multivariate_hypergeometric multivariate_normal negative_binomial
noncentral_chisquare noncentral_f normal pareto permutation permuted poisson power rand randint randn random
random_sample ranf rayleigh sample seed shuffle standard_cauchy standard_exponential standard_gamma standard_normal
standard_t triangular uniform vonmises wald weibull zipf
"""
_LINALG = """
LinAlgError cholesky cond cross det diagonal eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm matrix_power
matrix_rank matrix_transpose multi_dot norm outer pinv qr slogdet solve svd svdvals tensordot tensorinv tensorsolve
trace vecdot vector_norm
"""
_FFT = "fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfftn rfft rfftfreq rfftn"
_STATS = """
alpha anglit arcsine argus bernoulli beta betabinom betaprime binom boltzmann bradford burr burr12 cauchy chi chi2
cosine crystalball dgamma dirichlet dlaplace dweibull erlang expon exponnorm exponpow exponweib f fatiguelife fisk
foldcauchy foldnorm gamma gausshyper genexpon genextreme gengamma genhalflogistic genlogistic gennorm genpareto geom
gibrat gompertz gumbel_l gumbel_r halfcauchy halfgennorm halflogistic halfnorm hypergeom hypsecant invgamma invgauss
invweibull johnsonsb johnsonsu kappa3 kappa4 ksone kstwo kstwobign laplace levy levy_l loggamma logistic loglaplace
lognorm logser loguniform lomax maxwell mielke moyal multinomial multivariate_normal multivariate_t nakagami nbinom
ncf nct ncx2 nhypergeom norm norminvgauss pareto pearson3 planck poisson powerlaw powerlognorm powernorm randint
rayleigh rdist recipinvgauss reciprocal rice semicircular skellam skewcauchy skewnorm studentized_range t trapezoid
triang truncexpon truncnorm tukeylambda uniform vonmises wald weibull_max weibull_min wrapcauchy yulesimon zipf
zipfian alexandergovern anderson ansari barnard_exact bartlett bayes_mvs binomtest boschloo_exact boxcox boxcox_llf
brunnermunzel chi2_contingency chisquare circmean circstd circvar combine_pvalues cramervonmises cramervonmises_2samp
cumfreq describe differential_entropy ecdf energy_distance entropy epps_singleton_2samp expectile f_oneway
false_discovery_control fisher_exact fligner friedmanchisquare gaussian_kde gmean gstd gzscore hmean iqr jarque_bera
kendalltau kruskal ks_1samp ks_2samp kstat kstatvar kstest kurtosis kurtosistest levene linregress logrank
mannwhitneyu median_abs_deviation median_test mode moment mood normaltest obrientransform page_trend_test pearsonr
percentileofscore pmean pointbiserialr power_divergence rankdata ranksums relfreq scoreatpercentile sem shapiro
siegelslopes sigmaclip skew skewtest somersd spearmanr theilslopes tiecorrect tmax tmean tmin trim1 trim_mean trimboth
tsem tstd ttest_1samp ttest_ind ttest_ind_from_stats ttest_rel tukey_hsd tvar variation wasserstein_distance
weightedtau wilcoxon yeojohnson zmap zscore bootstrap permutation_test binned_statistic
"""
_SPECIAL_FUNCTIONS = """
comb perm factorial factorial2 factorialk logsumexp softmax log_softmax multigammaln digamma polygamma zeta sinc
softplus bernoulli euler lambertw stirling2 roots_legendre roots_hermite roots_laguerre
"""
_OPTIMIZE = """
OptimizeResult RootResults Bounds LinearConstraint NonlinearConstraint bisect brent brenth brentq brute curve_fit
differential_evolution fixed_point fmin fmin_bfgs fmin_cg fminbound fsolve golden least_squares leastsq linprog
lsq_linear minimize minimize_scalar newton nnls ridder root root_scalar toms748
"""
_INTEGRATE = """
cumulative_simpson cumulative_trapezoid dblquad fixed_quad newton_cotes nquad odeint quad quad_vec romb simpson
solve_ivp tplquad trapezoid
"""
_INTERPOLATE = """
Akima1DInterpolator BSpline BarycentricInterpolator CubicHermiteSpline CubicSpline InterpolatedUnivariateSpline
KroghInterpolator PPoly PchipInterpolator RegularGridInterpolator UnivariateSpline barycentric_interpolate griddata
interp1d interpn krogh_interpolate lagrange make_interp_spline pchip_interpolate splev splrep
"""
_SCIPY_LINALG = """
LinAlgError block_diag cho_factor cho_solve cholesky circulant companion det diagsvd eig eigh eigvals eigvalsh expm
fractional_matrix_power hadamard hankel hilbert inv ldl logm lstsq lu lu_factor lu_solve norm null_space orth pinv
polar qr schur solve solve_banded solve_triangular sqrtm svd svdvals toeplitz
"""
_DECIMAL = """
Decimal Context getcontext setcontext localcontext BasicContext ExtendedContext MAX_PREC MAX_EMAX MIN_EMIN ROUND_05UP
ROUND_CEILING ROUND_DOWN ROUND_FLOOR ROUND_HALF_DOWN ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP Clamped DecimalException
DivisionByZero FloatOperation Inexact InvalidOperation Overflow Rounded Subnormal Underflow
"""
_OPERATOR = """
abs add and_ concat contains countOf eq floordiv ge getitem gt index indexOf inv invert is_ is_not itemgetter le
lshift lt matmul mod mul ne neg not_ or_ pos pow rshift setitem sub truediv truth xor
"""


def _modules() -> dict[str, Facade]:
    ufuncs = " ".join(name for name in scipy.special.__all__ if isinstance(getattr(scipy.special, name), numpy.ufunc))
    found = {
        "numpy.random": _pick(numpy.random, SAMPLING + " default_rng"),
        "numpy.linalg": _pick(numpy.linalg, _LINALG),
        "numpy.fft": _pick(numpy.fft, _FFT),
        "scipy.stats": _pick(scipy.stats, _STATS),
        "scipy.special": _pick(scipy.special, _SPECIAL_FUNCTIONS + ufuncs),
        "scipy.optimize": _pick(scipy.optimize, _OPTIMIZE),
        "scipy.integrate": _pick(scipy.integrate, _INTEGRATE),
        "scipy.interpolate": _pick(scipy.interpolate, _INTERPOLATE),
        "scipy.linalg": _pick(scipy.linalg, _SCIPY_LINALG),
        "scipy.constants": _pick(
            scipy.constants, " ".join(set(scipy.constants.__all__) - {"test", "codata", "constants"})
        ),
        "abc": _pick(abc, "ABC abstractmethod"),
        "bisect": _pick(bisect, "bisect bisect_left bisect_right insort insort_left insort_right"),
        "calendar": _pick(calendar, "isleap leapdays monthrange weekday month_name month_abbr day_name day_abbr"),
        "cmath": _whole(cmath),
        "collections": _pick(collections, "ChainMap Counter OrderedDict defaultdict deque namedtuple"),
        "dataclasses": _pick(dataclasses, "dataclass field asdict astuple replace"),
        "datetime": _pick(datetime, "date datetime time timedelta timezone UTC MINYEAR MAXYEAR"),
        "decimal": _pick(decimal, _DECIMAL),
        "enum": Facade("enum", {"Enum": Enum, "IntEnum": IntEnum, "auto": enum.auto}),
        "fractions": _pick(fractions, "Fraction"),
        "functools": _pick(functools, "reduce partial lru_cache cache cmp_to_key total_ordering", wraps=_wraps),
        "heapq": _whole(heapq),
        "itertools": _whole(itertools),
        "json": _pick(json, "dumps loads JSONDecodeError"),
        "math": _whole(math),
        "numbers": _pick(numbers, "Number Complex Real Rational Integral"),
        "operator": _pick(operator, _OPERATOR),
        "random": _pick(
            random,
            "random randint randrange uniform choice choices sample shuffle gauss normalvariate lognormvariate "
            "expovariate betavariate gammavariate triangular seed",
        ),
        "re": _pick(
            re,
            "compile search match fullmatch findall finditer sub subn split escape error A ASCII I IGNORECASE M "
            "MULTILINE S DOTALL X VERBOSE",
        ),
        "statistics": _whole(statistics),
        "string": _pick(
            string, "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits punctuation whitespace"
        ),
        "typing": _pick(
            typing,
            "Any Callable ClassVar Dict Final FrozenSet Generator Iterable Iterator List Literal Mapping NamedTuple "
            "Optional Sequence Set Tuple Type Union",
        ),
        "warnings": Facade(
            "warnings", dict.fromkeys(("filterwarnings", "simplefilter", "warn"), lambda *args, **kwargs: None)
        ),
        "__future__": Facade("__future__", dict.fromkeys(("annotations", "division", "print_function"))),
    }
    inside = {name.partition(".")[2]: facade for name, facade in found.items() if name.startswith("scipy.")}
    found["scipy"] = Facade("scipy", inside)
    inside_numpy = {name: found[f"numpy.{name}"] for name in ("random", "linalg", "fft")}
    found["numpy"] = _pick(numpy, _NUMPY, ndarray=ndarray, **inside_numpy)
    return found


MODULES: dict[str, Facade] = _modules()
"""What can be imported."""
