"""MedCalc-Bench's rows with labels that physicians corrected (Ye et al., arXiv:2512.19691).

The file names calculators, without their numbers and categories; ``N/A`` is the label where the note lacks what is
needed; gestational age is asked for in days.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from medtasks_utils.benchmarks.card import PHYSICIANS
from medtasks_utils.benchmarks.medcalc_bench.rows import JUDGEMENTS, Judgement, as_document
from medtasks_utils.errors import DataError
from medtasks_utils.harness.sources import Row, Table

COLUMNS = (
    "Unique ID",
    "Calculator Name",
    "Question",
    "Patient Note",
    "Ground Truth Answer",
    "Lower Limit",
    "Upper Limit",
)
SPLITS = ("corrected", "medcalc_v1_corrected")
"""Names of the file."""

_JUDGEMENTS: Mapping[int, Judgement] = {**JUDGEMENTS, 69: "days"}


class Calculator(NamedTuple):
    """A calculator: its number and its category."""

    id: int
    category: str


_CALCULATORS = {
    "lab_test": {
        2: "Creatinine Clearance (Cockcroft-Gault Equation)",
        3: "CKD-EPI Equations for Glomerular Filtration Rate",
        7: "Calcium Correction for Hypoalbuminemia",
        9: "MDRD GFR Equation",
        19: "Fibrosis-4 (FIB-4) Index for Liver Fibrosis",
        23: "MELD Na (UNOS/OPTN)",
        26: "Sodium Correction for Hyperglycemia",
        30: "Serum Osmolality",
        31: "HOMA-IR (Homeostatic Model Assessment for Insulin Resistance)",
        38: "Free Water Deficit",
        39: "Anion Gap",
        40: "Fractional Excretion of Sodium (FENa)",
        44: "LDL Calculated",
        46: "Framingham Risk Score for Hard Coronary Heart Disease",
        63: "Delta Gap",
        64: "Delta Ratio",
        65: "Albumin Corrected Anion Gap",
        66: "Albumin Corrected Delta Gap",
        67: "Albumin Corrected Delta Ratio",
    },
    "physical": {
        5: "Mean Arterial Pressure (MAP)",
        6: "Body Mass Index (BMI)",
        10: "Ideal Body Weight",
        11: "QTc Bazett Calculator",
        22: "Maintenance Fluids Calculations",
        56: "QTc Fridericia Calculator",
        57: "QTc Framingham Calculator",
        58: "QTc Hodges Calculator",
        59: "QTc Rautaharju Calculator",
        60: "Body Surface Area Calculator",
        61: "Target weight",
        62: "Adjusted Body Weight",
    },
    "date": {13: "Estimated Due Date", 68: "Estimated Date of Conception", 69: "Estimated Gestational Age"},
    "dosage": {24: "Steroid Conversion Calculator", 49: "Morphine Milligram Equivalents (MME) Calculator"},
    "risk": {
        4: "CHA2DS2-VASc Score for Atrial Fibrillation Stroke Risk",
        8: "Wells' Criteria for Pulmonary Embolism",
        16: "Wells' Criteria for DVT",
        17: "Revised Cardiac Risk Index for Pre-Operative Risk",
        18: "HEART Score for Major Cardiac Events",
        25: "HAS-BLED Score for Major Bleeding Risk",
        27: "Glasgow-Blatchford Bleeding Score (GBS)",
        28: "APACHE II Score",
        32: "Charlson Comorbidity Index (CCI)",
        36: "Caprini Score for Venous Thromboembolism (2005)",
        43: "Sequential Organ Failure Assessment (SOFA) Score",
        45: "CURB-65 Score for Pneumonia Severity",
    },
    "severity": {
        15: "Child-Pugh Score for Cirrhosis Mortality",
        20: "Centor Score (Modified/McIsaac) for Strep Pharyngitis",
        21: "Glasgow Coma Score (GCS)",
        29: "PSI Score: Pneumonia Severity Index for CAP",
    },
    "diagnosis": {
        33: "FeverPAIN Score for Strep Pharyngitis",
        48: "PERC Rule for Pulmonary Embolism",
        51: "SIRS Criteria",
    },
}
_SPELT_OTHERWISE = {"Estimated of Conception": "Estimated Date of Conception"}  # so in the first release


def _key(name: str) -> str:
    name = " ".join(name.replace("’", "'").split())
    return _SPELT_OTHERWISE.get(name, name).casefold()


CALCULATORS: Mapping[str, Calculator] = {
    _key(name): Calculator(number, category)
    for category, calculators in _CALCULATORS.items()
    for number, name in calculators.items()
}


def calculator_of(name: str) -> Calculator | None:
    """The calculator of a name, as any release writes it."""
    return CALCULATORS.get(_key(name))


def corrected_document(row: Row, table: Table, index: int) -> Row:
    """A row of the file as a document, with the fields of all others and ``labels`` that says whose they are.

    Raises:
        DataError: for an unknown calculator, or a truth or limit that cannot be read.
    """
    name = str(row["Calculator Name"] or "").strip()
    calculator = calculator_of(name)
    if calculator is None:
        raise DataError(f"{table.at(index)}: unknown Calculator Name {name!r}; none of MedCalc-Bench's 55 is called so")
    whole = {
        **row,
        "Row Number": row["Unique ID"],
        "Calculator ID": calculator.id,
        "Category": calculator.category,
        "Output Type": "",
        "Ground Truth Explanation": "",
    }
    return {**as_document(whole, table, index, _JUDGEMENTS, may_lack_answer=True), "labels": PHYSICIANS}
