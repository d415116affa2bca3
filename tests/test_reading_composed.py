"""A stated value is read whatever stands around it: responses composed of parts, so that it is known by design."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from conftest import load
from judged import outcome

TASK = load("medcalc_bench")

# Name, value, unit, how it is calculated, in LaTeX, what is given, and another formula's value.
QUANTITIES = [
    (
        *("corrected calcium", "9.44", "mg/dL", "8.8 + 0.8 × (4.0 − 3.2)", r"8.8 + 0.8 \times (4.0 - 3.2)"),
        *({"Total calcium": "8.8 mg/dL", "Albumin": "3.2 g/dL"}, "the Orrell formula gives 9.2 mg/dL"),
    ),
    (
        *(
            "creatinine clearance",
            "58.3",
            "mL/min",
            "74 × 71 × 0.85 / 76.61",
            r"\frac{74 \times 71}{76.61} \times 0.85",
        ),
        *({"Age": "66 years", "Weight": "71 kg", "Sex factor": "0.85"}, "CKD-EPI 2021 gives 61 mL/min/1.73 m²"),
    ),
    (
        *("FENa", "0.62", "%", "(40 × 1.8) / (138 × 84) × 100", r"\frac{40 \times 1.8}{138 \times 84} \times 100"),
        *({"Urine Na": "40 mmol/L", "Serum Na": "138 mmol/L"}, "FEUrea gives 28.4 %"),
    ),
    (
        *("maintenance fluid rate", "1,680", "mL/day", "1000 + 500 + 20 × 9", r"1000 + 500 + 20 \times 9"),
        *({"Weight": "29 kg", "Age": "9 years"}, "the surface-area method gives 1,610 mL/day"),
    ),
    (
        *("CURB-65 score", "3", "points", "1 + 1 + 0 + 1", "1 + 1 + 0 + 1"),
        *({"Confusion": "1", "Urea": "1", "Respiratory rate": "0", "Age": "1"}, "the older score gives 2 points"),
    ),
]
WRAPPED = ["{v} {u}", "**{v} {u}**", "**{v}** {u}", r"\( {t} \) {u}", r"${t}\,\text{{{u}}}$", "`{v} {u}`", "≈ {v} {u}"]
OPENINGS = [
    "",
    "{bullets}",
    "| Parameter | Value |\n|---|---|\n{rows}",
    "The formula is:\n\n\\[\n{latex}\n\\]",
    "First, 4.0 − 3.2 = 0.8; then 0.8 × 0.8 = 0.64.",
    "Unit conversions: 1 kg = 2.2046 lb, 1 in = 2.54 cm.",
    "1. **Inputs**: {inline}\n2. **Calculation**: {plain}",
]
STATEMENTS = [
    "The {n} is {w}.",
    "**Final answer:**\n\n{w}",
    "Answer:\n{w}",
    "## Result\n\n{w}",
    "{N} ⇒ {w}",
    "{w} is the {n}.",
    "In summary, one obtains a {n} of {w}.",
    "| Quantity | Result |\n|---|---|\n| {N} | {w} |",
    "\\[\n\\begin{{aligned}} \\text{{{n}}} &= {latex} \\\\ &= {t}\\ \\text{{{u}}} \\end{{aligned}}\n\\]",
    "{N}:\n\n\\[\n{t}\n\\]",
]
CLOSINGS = [
    "",
    "By comparison, {other}.",
    "If the value falls to {less}, the team should be called.",
    "Give 1 g IV over 30 minutes, then 500 mg every 8 hours for 5 days.",
    "Start apixaban 5 mg twice daily; reduce to 2.5 mg if the creatinine is ≥ 1.5 mg/dL.",
    "In-hospital mortality in this group is around 12.5%.",
    "**Next steps**\n1. Repeat labs in 48 hours.\n2. Follow up in 2 weeks.",
    "⚠️ **Note:** The formula is less exact in patients over 75 years or with a BMI above 40.",
    "Confidence: 95%",
    "**Categories**\n- low: < {less}\n- high: > 4000",
]


def composed(seed: int, number: int) -> Iterator[tuple[str, dict[str, object]]]:
    choice = random.Random(seed).choice
    for _ in range(number):
        name, value, unit, plain, latex, given, other = choice(QUANTITIES)
        fields = {
            "n": name,
            "N": name[0].upper() + name[1:],
            "v": value,
            "u": unit.replace("%", "\\%"),
            "other": other,
            "t": value.replace(",", "{,}"),
            "plain": plain,
            "latex": latex,
            "less": value[:1] if name != "CURB-65 score" else "1",
            "bullets": "\n".join(f"- {key}: {one}" for key, one in given.items()),
            "rows": "\n".join(f"| {key} | {one} |" for key, one in given.items()),
            "inline": ", ".join(f"{key} {one}" for key, one in given.items()),
        }
        fields["w"] = choice(WRAPPED).format(**fields)
        parts = (choice(part).format(**fields) for part in (OPENINGS, STATEMENTS, CLOSINGS))
        judgement = "integer" if unit == "points" else "decimal"
        yield "\n\n".join(filter(None, parts)), {"judgement": judgement, "right": float(value.replace(",", ""))}


@pytest.mark.parametrize("seed", range(3))
def test_what_stands_around_a_value_changes_nothing(seed: int) -> None:
    faults = [text for text, row in composed(seed, 120) if outcome(row, TASK.flexible(text, row).value) != "right"]
    assert faults == []
