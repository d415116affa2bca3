"""Numbers: as MedCalc-Bench's authors read them, and as people write them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medtasks_utils.extraction.numbers import (
    evaluate,
    python_literal,
    strict_decimal,
    strict_integer,
)
from medtasks_utils.extraction.quantities import Percentage
from medtasks_utils.extraction.values import content_value


def plain_number(text: str, *, score: bool = False) -> float | None:
    value: float | None = content_value(text, "integer" if score else "decimal").value
    return value


VALUES: list[tuple[str, float | None]] = [
    ("12.34", 12.34),
    ("-12.34", -12.34),
    ("+12.34", 12.34),
    ("−12.34", -12.34),
    ("–3.5", -3.5),
    ("≈ 12.34", 12.34),
    ("~12.34", 12.34),
    ("~ 12.34 mL/min", 12.34),
    ("about 12.34", 12.34),
    ("approximately 12.34 kg", 12.34),
    ("12.34 mL/min", 12.34),
    ("12.34 mL/min/1.73 m²", 12.34),
    ("12.34 mL/min/1.73m^2", 12.34),
    ("12.34 mL/min/1.73 m^2", 12.34),
    ("12.34 mL/min/1.73m2", 12.34),
    ("12.34 mL/min per 1.73 m²", 12.34),
    ("eGFR = 54.2 mL/min/1.73 m²", 54.2),
    (r"54.2 \text{ mL/min/1.73 m}^2", 54.2),
    (r"54.2\ \mathrm{mL/min/1.73\,m^2}", 54.2),
    ("1,234.5", 1234.5),
    ("1,234,567", 1234567),
    ("1,200", 1200),
    ("12,345.6 mg", 12345.6),
    ("1 234.5", 1234.5),
    ("1\u202f234.5", 1234.5),
    ("1{,}234.5", 1234.5),
    (r"1\,234.5", 1234.5),
    ("12,5", 12.5),
    ("0,83", 0.83),
    ("1.2e3", 1200),
    ("1.2E+3", 1200),
    ("1.2e-3", 0.0012),
    ("1.2 × 10^3", 1200),
    ("1.2 x 10^3", 1200),
    ("1.2*10^3", 1200),
    ("1.2 × 10³", 1200),
    (r"1.2 \times 10^{3}", 1200),
    (r"1.2 \cdot 10^{-3}", 0.0012),
    ("1.2 × 10^-3", 0.0012),
    ("1.2 × 10⁻³", 0.0012),
    ("4.051e+02", 405.1),
    ("$12.34$", 12.34),
    (r"$\approx 12.34$", 12.34),
    (r"\(12.34\)", 12.34),
    (r"\text{12.34 mg/dL}", 12.34),
    (r"12.34\ \text{mg/dL}", 12.34),
    (r"12.34~\text{mg/dL}", 12.34),
    (r"\mathbf{12.34}", 12.34),
    ("**12.34**", 12.34),
    ("`12.34`", 12.34),
    ("12.34.", 12.34),
    ("(12.34)", 12.34),
    ("[12.34]", 12.34),
    ('"12.34"', 12.34),
    (r"\boxed{12.34}", 12.34),
    (".5", 0.5),
    ("5.", 5),
    ("-.5", -0.5),
    ("012.5", 12.5),
    ("22.86 kg/m²", 22.86),
    ("22.86 kg/m^2", 22.86),
    ("22.86 kg/m2", 22.86),
    ("BMI = 70 / (1.75^2) = 22.86", 22.86),
    ("BMI = 22.86 kg/m²", 22.86),
    ("22.86 (kg/m²)", 22.86),
    ("1.73 m²", 1.73),
    ("1.9 m^2", 1.9),
    ("1.9 m2", 1.9),
    ("QTc = 420 ms", 420),
    ("420 ms (normal < 440)", 420),
    ("420 ms (normal range 350-440)", 420),
    ("138.9 (normal range 3-5)", 138.9),
    ("-7.00 (normal range 3-5)", -7),
    ("46.1 mL/min (using adjusted body weight of 65.5 kg)", 46.1),
    ("12.3 mmol/L [ref 8-12]", 12.3),
    ("140 mEq/L", 140),
    ("300.5 mOsm/kg", 300.5),
    ("300.5 mOsm/kg H2O", 300.5),
    ("2.5 L", 2.5),
    ("65 mmHg", 65),
    ("98.6 °F", 98.6),
    ("9.2 mg/dL", 9.2),
    ("3.4 g/dL", 3.4),
    ("83 bpm", 83),
    ("100 mL/hr", 100),
    ("15 MME/day", 15),
    ("12 mL/kg/h", 12),
    ("1.5 mcg/kg/min", 1.5),
    ("45%", 45),
    ("0.5 %", 0.5),
    (r"0.5\%", 0.5),
    ("1.27 percent", 1.27),
    ("8.1 mL/min/1.73 m2 or 36.95", 8.1),
    ("6/12.5", 6),
    ("10/10", 10),
    (r"\frac{1}{0}", None),
    ("N/A", None),
    ("unknown", None),
    ("", None),
    ("cannot be determined", None),
    ("NaN", None),
    ("inf", None),
    ("None", None),
    ("-", None),
    ("1e999", None),
    ("ΔG = 3.2", 3.2),
    ("x = 1.2; y = 3.4", 3.4),
    ("12.3 ± 0.5", 12.3),
    ("12.3 +/- 0.5", 12.3),
    ("< 12.3", 12.3),
    ("FENa = 0.25%", 0.25),
    ("FENa ≈ 0.25% (prerenal, <1%)", 0.25),
    ("46.1 mL/min ≈ 46 mL/min", 46),
    ("46.11758 ≈ 46.12", 46.12),
    ("(140-66)*65.46*0.85/(72*1.24) = 46.12", 46.12),
    ("Free water deficit = -0.83 L", -0.83),
    ("−0.83 liters", -0.83),
    ("12.34\n", 12.34),
    ("\n12.34 mg\n", 12.34),
    ("The value is 12.34 mg/dL.", 12.34),
    ("Corrected calcium: 9.2 mg/dL", 9.2),
    ("1.5 to 2.0", None),
]
SCORES: list[tuple[str, float | None]] = [
    ("1,234", 1234),
    ("007", 7),
    ("5", 5),
    ("5 points", 5),
    ("5/10", 5),
    ("Score: 5", 5),
    ("5 out of 10", 5),
    ("5 of 9 points", 5),
    ("5 of 9", 5),
    ("**5**", 5),
    ("4 (out of 9)", 4),
    ("5 / 24", 5),
    ("CHA2DS2-VASc score = 4", 4),
    ("CHA2DS2-VASc score is 4", 4),
    ("CHA₂DS₂-VASc: 4", 4),
    ("4 (CHA2DS2-VASc)", 4),
    ("HEART score: 4/10 (moderate risk)", 4),
    ("SOFA score of 4 out of 24", 4),
    ("Score 3: moderate risk (10% mortality)", 3),
    ("3 points → 2.2% risk", 3),
    ("1 + 1 + 2 = 4 points", 4),
    ("Age (1) + Hypertension (1) = 2", 2),
    ("Total score: 1+2+1 = 4", 4),
    ("4 points (moderate risk, 4.0%/year)", 4),
    ("4 points, moderate risk", 4),
    ("Five", 5),
    ("five points", 5),
    ("zero", 0),
    ("3.0", 3),
    ("2.000e+00", 2),
    ("Child-Pugh class B (7 points)", 7),
    ("7 (class B)", 7),
    ("Class B (7)", 7),
    ("-1", -1),
    ("+2", 2),
    ("0", 0),
    ("0 points", 0),
    ("Score = 0", 0),
    ("15/15", 15),
    ("GCS 15", 15),
    ("GCS 15 (E4V5M6)", 15),
    ("GCS = 15 (E4 V5 M6)", 15),
    ("E4V5M6 = 15", 15),
    ("PSI: 92 (class IV)", 92),
    ("4.", 4),
    ("4 pts", 4),
    ("> 5", 5),
    ("≥5", 5),
]


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_values(text: str, value: float | None) -> None:
    assert plain_number(text) == (None if value is None else pytest.approx(value, rel=1e-12))


@pytest.mark.parametrize(("text", "value"), SCORES)
def test_scores(text: str, value: float | None) -> None:
    assert plain_number(text, score=True) == (None if value is None else pytest.approx(value, rel=1e-12))


def test_a_percentage_is_told_from_a_number() -> None:
    assert isinstance(plain_number("45.5 %"), Percentage)
    assert isinstance(plain_number(r"\text{FENa} = 0.5\%"), Percentage)
    assert not isinstance(plain_number("45.5"), Percentage)
    assert not isinstance(plain_number("12% of 40 = 4.8"), Percentage)


STYLES = [
    "{0}",
    "**{0}**",
    "${0}$",
    "≈ {0}",
    "~{0} mg/dL",
    "= {0}",
    "x = {0} kg/m²",
    "{0} mL/min/1.73 m²",
    "{0} (normal range 3-5)",
    "({0})",
    "\\text{{{0} mmol/L}}",
    "$\\approx {0}\\,\\text{{mg}}$",
    "The result is {0}.",
    " {0}\n",
    '"{0}"',
]


@settings(deadline=None)
@given(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), st.sampled_from(STYLES))
def test_a_number_is_read_back_from_any_style(value: float, style: str) -> None:
    for form in (f"{value:.3f}", f"{value:,.3f}", f"{value:.9e}", repr(value).replace("-", "−")):
        assert plain_number(style.format(form)) == pytest.approx(value, abs=5e-4)


@settings(deadline=None)
@given(
    st.integers(1, 9),
    st.integers(-30, 30),
    st.sampled_from(["{} × 10^{}", "{}e{}", r"{} \times 10^{{{}}}", "{}*10**{}"]),
)
def test_scientific_notation_is_read_back(mantissa: int, exponent: int, style: str) -> None:
    assert plain_number(style.format(mantissa, exponent)) == pytest.approx(mantissa * 10.0**exponent)


@settings(deadline=None)
@given(st.text())
def test_any_text_is_read(text: str) -> None:
    for value in (plain_number(text), plain_number(text, score=True), strict_integer(text), strict_decimal(text)):
        assert value is None or math.isfinite(value)


@pytest.mark.parametrize(
    ("digits", "value"),
    [
        ("12", 12),
        ("-12", -12),
        ("1.50", 1.5),
        ("0", 0),
        ("00", 0),
        ("-0", 0),
        ("007", None),
        ("007.5", 7.5),
        ("٣", None),
    ],
)
def test_literals_are_python_s(digits: str, value: float | None) -> None:
    assert python_literal(digits) == value


def test_literals_too_long_for_python() -> None:
    assert python_literal("9" * 4300) == 10**4300 - 1
    assert python_literal("9" * 4301) is None
    assert python_literal("9" * 400 + ".0") is None


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3", 7),
        ("2 ** 10", 1024),
        ("7 % 4", 3),
        ("-(3)", -3),
        ("sqrt(16)", 4),
        ("math.sqrt(16)", 4),
        ("np.abs(-4)", 4),
        ("round(2.567, 2)", 2.57),
        ("min(3, 4)", 3),
        ("abs(-3)", 3),
        ("int(2.9)", 2),
        ("float(3)", 3),
        ("pow(2, 3)", 8),
        ("5 if 2 > 1 else 6", 5),
        ("not 0", True),
        ("'3.5'", "3.5"),
        ("1 / 0", None),
        ("", None),
        ("1 +", None),
        ("x", None),
        ("max(1, 2)", None),
        ("[1][0]", None),
        ("lambda: 1", None),
        ("1j", None),
        ("1e308 * 10", None),
        ("float('nan')", None),
        ("math.sqrt(-1)", None),
    ],
)
def test_expressions(expression: str, value: float | str | None) -> None:
    assert evaluate(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').system('exit 1')",
        "(1).__class__.__mro__",
        "math.__dict__",
        "open('/etc/passwd')",
        "9**9**9",
        "str(9**9**9)",
        "(2**999)**999",
        "*".join(["2**999"] * 100),
        "1 << 10**9",
        "'x' * 10**9",
        "'x'.ljust(10**9)",
        "'%999999999d' % 1",
        "f'{1:999999999d}'",
        "(5).to_bytes(10**9, 'little')",
        "round(5, -10**9)",
        "(" * 1000 + "1",
        "-" * 1500 + "1",
        "[" * 500,
        "1 if " * 300,
        "\x00",
        "\ud800",
        "ℌ",
    ],
)
def test_expressions_cannot_reach_out_or_grow(expression: str) -> None:
    assert evaluate(expression) is None
    assert strict_decimal(f"str({expression})") is None


def test_an_expression_leaves_nothing_behind() -> None:
    for attack in ("math.clear()", "math.pop('sqrt')", "math.update(pi=3)", "np.setdefault('x', 1)", "sqrt := 3"):
        assert evaluate(attack) is None
    assert evaluate("math.sqrt(4) + np.pi") == 2 + math.pi


@pytest.mark.parametrize("text", ["70 / 1.75 ** 2 = **22.9**", "2 * 10^1 + 2.9 = 22.9", "**22.9**"])
def test_what_an_expression_comes_to_is_one(text: str) -> None:
    assert plain_number(text) == 22.9
