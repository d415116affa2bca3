"""What objects let code do, by their type: which attributes it may read, which it may set, what it may derive from."""

from __future__ import annotations

import abc
import collections
import datetime
import decimal
import fractions
import functools
import itertools
import re
import statistics
import types
import typing
from collections.abc import Collection
from typing import Any

import numpy

from medtasks_utils.sandbox.facades import SAMPLING, Enum, IntEnum

EVERYTHING: Collection[str] = ("every public attribute",)
"""Marks a type of which every public attribute may be read."""

_ARRAY = """
T all any argmax argmin argpartition argsort astype choose clip compress conj conjugate copy cumprod cumsum diagonal
dot dtype fill flatten imag item itemsize mT max mean min nbytes ndim nonzero partition prod put ravel real repeat
reshape round searchsorted shape size sort squeeze std strides sum swapaxes take tobytes tolist trace transpose var
view flat is_integer as_integer_ratio hex bit_count denominator numerator
"""
_UFUNC = "accumulate at identity nargs nin nout outer reduce reduceat"
_EXCEPTION = """
args errno strerror code value name msg lineno offset text reason start end add_note with_traceback doc pos
"""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


SAFE_BASES: Collection[Any] = (
    object,
    int,
    float,
    str,
    bool,
    dict,
    list,
    tuple,
    set,
    frozenset,
    abc.ABC,
    Enum,
    IntEnum,
    typing.NamedTuple,
    collections.OrderedDict,
    collections.defaultdict,
    collections.Counter,
)
"""What a class of the code's own may derive from, beside its own classes and exceptions."""

TYPES: dict[type, Collection[str]] = {
    **dict.fromkeys(
        (bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, range, slice, type(None)),
        EVERYTHING,
    ),
    **dict.fromkeys((type({}.keys()), type({}.items()), type({}.values())), EVERYTHING),
    **dict.fromkeys(
        (datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo, decimal.Decimal, decimal.Context),
        EVERYTHING,
    ),
    **dict.fromkeys((fractions.Fraction, statistics.NormalDist, collections.deque, collections.ChainMap), EVERYTHING),
    **dict.fromkeys((re.Pattern, re.Match), EVERYTHING),
    BaseException: _names(_EXCEPTION),
    property: frozenset({"setter", "getter", "deleter"}),
    types.GeneratorType: frozenset({"send", "throw", "close"}),
    type(itertools.chain()): frozenset({"from_iterable"}),
    type(functools.lru_cache(len)): frozenset({"cache_info", "cache_clear", "cache_parameters"}),
    numpy.ndarray: _names(_ARRAY),
    numpy.generic: _names(_ARRAY),
    numpy.str_: _names(_ARRAY) | _names(" ".join(dir(str))),  # these two are str and bytes before they are scalars
    numpy.bytes_: _names(_ARRAY) | _names(" ".join(dir(bytes))),
    numpy.ufunc: _names(_UFUNC),
    numpy.dtype: _names("char itemsize kind name names type"),
    numpy.finfo: _names("bits dtype eps epsneg max min nexp nmant precision resolution tiny smallest_normal"),
    numpy.iinfo: _names("bits dtype kind max min"),
    numpy.poly1d: _names("c coef coefficients coeffs deriv integ o order r roots variable"),
    numpy.random.Generator: _names(SAMPLING) - {"seed"},
    numpy.random.RandomState: _names(SAMPLING),
}
"""What may be read of an object, by the first of its type's bases that is listed here."""

WRITABLE: dict[type, Collection[str]] = {decimal.Context: _names("prec rounding Emin Emax capitals clamp")}
"""What may be set of an object that is not the code's own, by its type."""
