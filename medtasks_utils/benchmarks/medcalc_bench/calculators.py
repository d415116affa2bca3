"""MedCalc-Bench's 55 calculators by name, for rows that name no number and no category."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


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
CATEGORIES = tuple(_CALCULATORS)


def calculator_of(name: str) -> Calculator | None:
    """The calculator of a name, as any release writes it."""
    return CALCULATORS.get(_key(name))
