"""The bundled sample: layout, coverage and balance, and every MedCalc-Bench answer worked out again from its note."""

from __future__ import annotations

import ast
import csv
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

SAMPLE = Path(__file__).resolve().parents[1] / "medtasks_utils" / "sample"
STEMS = (
    "biomedical_engineer",
    "clinical_laboratory_scientist",
    "clinical_psychologist",
    "occupational_therapist",
    "speech_pathologist",
)
# fmt: off
SUBJECTS = {
    "Anaesthesia", "Anatomy", "Biochemistry", "Dental", "ENT", "Forensic Medicine", "Gynaecology & Obstetrics",
    "Medicine", "Microbiology", "Ophthalmology", "Orthopaedics", "Pathology", "Pediatrics", "Pharmacology",
    "Physiology", "Psychiatry", "Radiology", "Skin", "Social & Preventive Medicine", "Surgery", "Unknown",
}
# fmt: on
CALC_COLUMNS = [
    "Row Number",
    "Calculator ID",
    "Calculator Name",
    "Category",
    "Output Type",
    "Note ID",
    "Note Type",
    "Patient Note",
    "Question",
    "Relevant Entities",
    "Ground Truth Answer",
    "Lower Limit",
    "Upper Limit",
    "Ground Truth Explanation",
]
CATEGORY = {
    "lab test": {2, 3, 7, 9, 19, 23, 26, 30, 31, 38, 39, 40, 44, 46, 63, 64, 65, 66, 67},
    "physical": {5, 6, 10, 11, 22, 56, 57, 58, 59, 60, 61, 62},
    "date": {13, 68, 69},
    "dosage": {24, 49},
    "risk": {4, 8, 16, 17, 18, 25, 27, 28, 32, 36, 43, 45},
    "severity": {15, 20, 21, 29},
    "diagnosis": {33, 48, 51},
}
DATES, GESTATIONAL_AGE = {13, 68}, 69
INTEGERS = {4, 15, 16, 17, 18, 20, 21, 25, 27, 28, 29, 32, 33, 36, 43, 45, 48, 51}
KINDS = {
    "Misinterpretation of #Question#",
    "Incomplete Information",
    "Mechanism and Pathway Misattribution",
    "Methodological and Evidence Fabrication",
}


def jsonl(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SAMPLE / path).read_text(encoding="utf-8").splitlines()]


def tsv(path: str) -> list[list[str]]:
    return [line.split("\t") for line in (SAMPLE / path).read_text(encoding="utf-8").splitlines()]


def calc_rows(split: str) -> list[dict[str, str]]:
    with (SAMPLE / "medcalc_bench" / f"{split}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def unique(values: Iterable[str]) -> bool:
    folded = [value.casefold().strip() for value in values]
    return len(set(folded)) == len(folded)


def contained(options: list[str]) -> list[tuple[str, str]]:
    low = [option.casefold() for option in options]
    return [(a, b) for i, a in enumerate(low) for j, b in enumerate(low) if i != j and a in b]


# --- MedMCQA


def test_medmcqa() -> None:
    validation, train = jsonl("medmcqa/validation.jsonl"), jsonl("medmcqa/train.jsonl")
    rows = validation + train
    keys = ["id", "question", "opa", "opb", "opc", "opd", "cop", "choice_type", "exp", "subject_name", "topic_name"]
    assert (len(validation), len(train)) == (16, 6)
    assert all(list(row) == keys for row in rows)
    assert all(row["choice_type"] == "single" and row["cop"] in range(4) for row in rows)
    assert all(isinstance(row[key], str) and row[key].strip() for row in rows for key in keys if key != "cop")
    assert unique(row["id"] for row in rows) and unique(row["question"] for row in rows)
    assert Counter(row["cop"] for row in validation) == {0: 4, 1: 4, 2: 4, 3: 4}
    assert {row["subject_name"] for row in rows} <= SUBJECTS
    assert len({row["subject_name"] for row in validation}) >= 8
    for row in rows:
        assert not contained([row["opa"], row["opb"], row["opc"], row["opd"]]), row["id"]


# --- MedExQA


def test_medexqa() -> None:
    rows: list[list[str]] = []
    for stem in STEMS:
        test, dev = tsv(f"medexqa/test/{stem}_test.tsv"), tsv(f"medexqa/dev/{stem}_dev.tsv")
        assert (len(test), len(dev)) == (4, 2), stem
        assert sorted(row[7] for row in test) == list("ABCD"), stem
        rows += test + dev
    assert all(len(row) == 8 and row[7] in "ABCD" for row in rows)
    assert all(cell == cell.strip() and cell and '"' not in cell for row in rows for cell in row)
    assert unique(row[0] for row in rows) and unique(cell for row in rows for cell in row[5:7])
    for row in rows:
        assert not contained(row[1:5]), row[0]
        for explanation in row[5:7]:
            sentences = re.findall(r"[.?!](?= [A-Z]|$)", explanation)
            assert 2 <= len(sentences) <= 4 and 20 <= len(explanation.split()) <= 70, explanation
    assert sum(len(cell.split()) >= 40 for row in rows for cell in row[5:7]) >= 20


# --- MedHallu


def test_medhallu() -> None:
    labeled, artificial = jsonl("medhallu/pqa_labeled.jsonl"), jsonl("medhallu/pqa_artificial.jsonl")
    rows = labeled + artificial
    keys = ["Question", "Knowledge", "Ground Truth", "Difficulty Level", "Hallucinated Answer"]
    assert (len(labeled), len(artificial)) == (14, 6)
    assert all(list(row) == [*keys, "Category of Hallucination"] for row in rows)
    assert all(1 <= len(row["Knowledge"]) <= 3 and all(row["Knowledge"]) for row in rows)
    assert unique(row["Question"] for row in rows)
    assert unique(row[key] for row in rows for key in ("Ground Truth", "Hallucinated Answer"))
    for part, counts in (
        (labeled, {"easy": 5, "medium": 5, "hard": 4}),
        (artificial, {"easy": 2, "medium": 2, "hard": 2}),
    ):
        assert Counter(row["Difficulty Level"] for row in part) == counts
        assert {row["Category of Hallucination"] for row in part} == KINDS
    for level in ("easy", "medium", "hard"):
        assert {row["Category of Hallucination"] for row in labeled if row["Difficulty Level"] == level} == KINDS


# --- MedCalc-Bench: what the note says, word for word. A score's criterion is listed only where it is met.

Case = dict[str, str]
CASES: dict[tuple[str, int], Case] = {
    ("test", 1): {"who": "66-year-old woman", "age": "66", "kg": "81", "cm": "163", "creatinine": "1.24"},
    ("test", 2): {"who": "47-year-old woman", "age": "47", "creatinine": "1.15"},
    ("test", 3): {
        "age": "78",
        "female": "78-year-old woman",
        "failure": "in hospital with heart failure",
        "hypertension": "amlodipine for hypertension",
        "diabetes": "type 2 diabetes",
    },
    ("test", 4): {"sbp": "96", "dbp": "58"},
    ("test", 5): {"sbp": "184", "dbp": "112"},
    ("test", 6): {"calcium": "7.7", "albumin": "2.1"},
    ("test", 7): {
        "pulse": "112",
        "blood": "coughs up a teaspoon of fresh blood",
        "first": "as the most likely diagnosis",
    },
    ("test", 8): {"qt": "412", "pulse": "84"},
    ("test", 9): {"lmp": "05/17/2023", "cycle": "31"},
    ("test", 10): {
        "inr": "1.8",
        "bilirubin": "2.4",
        "albumin": "2.6",
        "slight": "slight ascites",
        "low_grade": "encephalopathy grade 1",
    },
    ("test", 11): {"pitting": "pitting oedema of the left foot only", "alternative": "cellulitis as more likely"},
    ("test", 12): {
        "age": "9",
        "temperature": "38.7",
        "exudate": "covered with white exudate",
        "nodes": "tender, swollen nodes are felt at the front of the neck",
        "no_cough": "He has no cough",
    },
    ("test", 13): {
        "eyes": "opens his eyes when his name is called",
        "verbal": "is confused",
        "motor": "localises pain",
    },
    ("test", 14): {
        "mg": "35",
        "from": "mg of prednisone by mouth once a day",
        "to": "daily dose of oral dexamethasone",
    },
    ("test", 15): {
        "fever": "a fever last night and again this morning",
        "no_cough": "neither cough nor a runny nose",
        "onset": "started two days ago",
        "pus": "yellow pus",
    },
    ("test", 16): {"total": "238", "hdl": "46", "triglycerides": "168"},
    ("test", 17): {
        "age": "71",
        "sbp": "104",
        "dbp": "64",
        "rate": "34",
        "bun": "36",
        "confused": "is confused as to place and time",
    },
    ("test", 18): {
        "who": "57-year-old woman",
        "age": "57",
        "total": "224",
        "hdl": "44",
        "sbp": "146",
        "treated": "treated with lisinopril",
        "smoker": "smokes ten cigarettes a day",
    },
    ("test", 19): {"age": "38", "pulse": "104", "spo2": "97", "hormones": "combined oral contraceptive pill"},
    ("test", 20): {
        "oxycodone": "15",
        "oxycodone_doses": "3",
        "oxycodone_text": "15 mg of oxycodone 3 times a day",
        "tramadol": "50",
        "tramadol_doses": "2",
        "tramadol_text": "50 mg of tramadol 2 times a day",
    },
    ("test", 21): {"sodium": "139", "chloride": "108", "bicarbonate": "24", "albumin": "3.4"},
    ("test", 22): {"lmp": "02/18/2024"},
    ("test", 23): {"lmp": "01/30/2023", "today": "08/11/2023"},
    ("test", 24): {"lmp": "06/04/2024", "today": "07/30/2024"},
    ("one_shot", 1): {"who": "58-year-old man", "age": "58", "kg": "62", "cm": "178", "creatinine": "0.95"},
    ("one_shot", 2): {"who": "71-year-old man", "age": "71", "creatinine": "0.84"},
    ("one_shot", 3): {"age": "69", "stroke": "transient ischaemic attack", "vascular": "has peripheral artery disease"},
    ("one_shot", 4): {"sbp": "126", "dbp": "79"},
    ("one_shot", 5): {"calcium": "10.9", "albumin": "3.2"},
    ("one_shot", 6): {"pulse": "118", "earlier": "treated for a pulmonary embolism"},
    ("one_shot", 7): {"qt": "368", "pulse": "66"},
    ("one_shot", 8): {"lmp": "09/28/2021", "cycle": "26"},
    ("one_shot", 9): {"inr": "1.4", "bilirubin": "1.3", "albumin": "3.1"},
    ("one_shot", 10): {
        "cancer": "receiving chemotherapy",
        "earlier": "documented deep vein thrombosis of the left leg",
        "calf": "measures 4 cm more than the left",
        "pitting": "pitting oedema of the right shin only",
        "tender": "deep veins of the calf is painful",
    },
    ("one_shot", 11): {"age": "52", "temperature": "38.4", "nodes": "anterior cervical nodes are swollen and tender"},
    ("one_shot", 12): {
        "eyes": "opens her eyes only in response to pain",
        "verbal": "incomprehensible sounds",
        "motor": "abnormal flexion to pain",
    },
    ("one_shot", 13): {"mg": "25", "from": "mg of hydrocortisone by mouth each day", "to": "try oral prednisone"},
    ("one_shot", 14): {"pus": "pus on the left tonsil", "severe": "calls the inflammation severe"},
    ("one_shot", 15): {"total": "187", "hdl": "58", "triglycerides": "112"},
    ("one_shot", 16): {"age": "58", "sbp": "86", "dbp": "52", "rate": "32", "bun": "16"},
    ("one_shot", 17): {"who": "52-year-old man", "age": "52", "total": "208", "hdl": "41", "sbp": "134"},
    ("one_shot", 18): {"age": "56", "pulse": "92", "spo2": "93", "blood": "streaks of blood in his sputum"},
    ("one_shot", 19): {
        "hydromorphone": "2",
        "hydromorphone_doses": "4",
        "hydromorphone_text": "2 mg of hydromorphone 4 times a day",
        "codeine": "30",
        "codeine_doses": "2",
        "codeine_text": "30 mg of codeine 2 times a day",
    },
    ("one_shot", 20): {"sodium": "134", "chloride": "98", "bicarbonate": "11", "albumin": "2.8"},
    ("one_shot", 21): {"lmp": "11/19/2022"},
    ("one_shot", 22): {"lmp": "10/05/2022", "today": "02/20/2023"},
}


def day(text: str) -> date:
    return datetime.strptime(text, "%m/%d/%Y").date()


def us_date(value: date) -> str:
    return value.strftime("%m/%d/%Y")


def female(case: Case) -> bool:
    return case["who"].endswith("woman")


def points(case: Case, **worth: float) -> float:
    return sum(value for name, value in worth.items() if name in case)


def cockcroft_gault(c: Case) -> float:
    age, kg, cm, creatinine = (float(c[key]) for key in ("age", "kg", "cm", "creatinine"))
    ideal = (45.5 if female(c) else 50) + 2.3 * (cm * 0.393701 - 60)
    bmi = kg / (cm / 100) ** 2
    weight = ideal + 0.4 * (kg - ideal) if bmi >= 25 else min(ideal, kg) if bmi >= 18.5 else kg
    return (140 - age) * weight * (0.85 if female(c) else 1) / (72 * creatinine)


def ckd_epi_2021(c: Case) -> float:
    kappa, alpha, sex = (0.7, -0.241, 1.012) if female(c) else (0.9, -0.302, 1.0)
    ratio = float(c["creatinine"]) / kappa
    power = math.pow(min(ratio, 1), alpha) * math.pow(max(ratio, 1), -1.2)
    return 142 * power * math.pow(0.9938, float(c["age"])) * sex


def cha2ds2_vasc(c: Case) -> float:
    age = (float(c["age"]) >= 65) + (float(c["age"]) >= 75)
    return age + points(c, female=1, failure=1, hypertension=1, stroke=2, vascular=1, diabetes=1)


def mean_arterial_pressure(c: Case) -> float:
    return (float(c["sbp"]) + 2 * float(c["dbp"])) / 3


def corrected_calcium(c: Case) -> float:
    return float(c["calcium"]) + 0.8 * (4 - float(c["albumin"]))


def wells_pe(c: Case) -> float:
    met = points(c, leg=3, first=3, immobile=1.5, earlier=1.5, blood=1, cancer=1)
    return met + 1.5 * (float(c["pulse"]) > 100)


def bazett(c: Case) -> float:
    return float(c["qt"]) * math.sqrt(float(c["pulse"]) / 60)


def due_date(c: Case) -> str:
    return us_date(day(c["lmp"]) + timedelta(280 + int(c["cycle"]) - 28))


def child_pugh(c: Case) -> float:
    inr, bilirubin, albumin = float(c["inr"]), float(c["bilirubin"]), float(c["albumin"])
    labs = (inr >= 1.7) + (inr > 2.3) + (bilirubin >= 2) + (bilirubin > 3) + (albumin <= 3.5) + (albumin < 2.8)
    return 5 + labs + points(c, slight=1, moderate=2, low_grade=1, high_grade=2)


def wells_dvt(c: Case) -> float:
    one = ["cancer", "bed", "calf", "collateral", "entire", "tender", "pitting", "plaster", "earlier"]
    return points(c, alternative=-2, **dict.fromkeys(one, 1))


def centor(c: Case) -> float:
    age = float(c["age"])
    return (age < 15) - (age >= 45) + (float(c["temperature"]) > 38) + points(c, exudate=1, nodes=1, no_cough=1)


def glasgow(c: Case) -> float:
    eyes = {"his name is called": 3, "response to pain": 2}
    verbal = {"confused": 4, "incomprehensible": 2}
    motor = {"localises pain": 5, "abnormal flexion": 3}
    parts = ((eyes, c["eyes"]), (verbal, c["verbal"]), (motor, c["motor"]))
    return sum(next(value for words, value in scale.items() if words in text) for scale, text in parts)


def steroid(c: Case) -> float:
    dose = {"prednisone": 5, "dexamethasone": 0.75, "hydrocortisone": 20}
    source, target = (next(value for name, value in dose.items() if name in c[key]) for key in ("from", "to"))
    return float(c["mg"]) * target / source


def fever_pain(c: Case) -> float:
    return points(c, fever=1, no_cough=1, onset=1, pus=1, severe=1)


def friedewald(c: Case) -> float:
    return float(c["total"]) - float(c["hdl"]) - float(c["triglycerides"]) / 5


def curb_65(c: Case) -> float:
    pressure = float(c["sbp"]) < 90 or float(c["dbp"]) <= 60
    return (
        points(c, confused=1) + (float(c["bun"]) > 19) + (float(c["rate"]) >= 30) + pressure + (float(c["age"]) >= 65)
    )


def framingham(c: Case) -> float:
    age, total, hdl, sbp = (math.log(float(c[key])) for key in ("age", "total", "hdl", "sbp"))
    treated, smoker = "treated" in c, "smoker" in c
    if female(c):
        smoke_age = math.log(min(float(c["age"]), 78))
        risk = 31.764001 * age + 22.465206 * total - 1.187731 * hdl + 2.552905 * sbp + 0.420251 * treated
        risk += 13.07543 * smoker - 5.060998 * age * total - 2.996945 * smoke_age * smoker - 146.5933061
    else:
        smoke_age = math.log(min(float(c["age"]), 70))
        risk = 52.00961 * age + 20.014077 * total - 0.905964 * hdl + 1.305784 * sbp + 0.241549 * treated
        risk += 12.096316 * smoker - 4.605038 * age * total - 2.84367 * smoke_age * smoker
        risk -= 2.93323 * age * age + 172.300168
    return round(100 * (1 - math.pow(0.98767 if female(c) else 0.9402, math.exp(risk))), 3)


def perc(c: Case) -> float:
    met = points(c, leg=1, blood=1, surgery=1, earlier=1, hormones=1)
    return met + (float(c["age"]) >= 50) + (float(c["pulse"]) >= 100) + (float(c["spo2"]) < 95)


def morphine_equivalents(c: Case) -> float:
    factor = {"oxycodone": 1.5, "tramadol": 0.2, "hydromorphone": 5, "codeine": 0.15}
    return sum(float(c[drug]) * float(c[f"{drug}_doses"]) * value for drug, value in factor.items() if drug in c)


def corrected_delta_gap(c: Case) -> float:
    gap = float(c["sodium"]) - float(c["chloride"]) - float(c["bicarbonate"])
    return gap + 2.5 * (4 - float(c["albumin"])) - 12


def conception(c: Case) -> str:
    return us_date(day(c["lmp"]) + timedelta(14))


def gestational_age(c: Case) -> str:
    weeks, days = divmod((day(c["today"]) - day(c["lmp"])).days, 7)
    return f"('{weeks} weeks', '{days} days')"


FORMULAS: dict[int, Callable[[Case], float | str]] = {
    2: cockcroft_gault,
    3: ckd_epi_2021,
    4: cha2ds2_vasc,
    5: mean_arterial_pressure,
    7: corrected_calcium,
    8: wells_pe,
    11: bazett,
    13: due_date,
    15: child_pugh,
    16: wells_dvt,
    20: centor,
    21: glasgow,
    24: steroid,
    33: fever_pain,
    44: friedewald,
    45: curb_65,
    46: framingham,
    48: perc,
    49: morphine_equivalents,
    66: corrected_delta_gap,
    68: conception,
    69: gestational_age,
}
ROWS = [(split, row) for split in ("test", "one_shot") for row in calc_rows(split)]


def occurs(value: str, text: str) -> bool:
    """A number as a whole number in the text (so 8 is not found in 38 or 8.5); anything else as it is."""
    if not re.fullmatch(r"[\d./]+", value):
        return value in text
    return re.search(rf"(?<![\d.]){re.escape(value)}(?!\d|\.\d)", text) is not None


def numbers(entities: dict[str, Any]) -> list[str]:
    flat = [part for value in entities.values() for part in (value if isinstance(value, list) else [value])]
    found = [f"{part:g}" for part in flat if isinstance(part, int | float) and not isinstance(part, bool)]
    return found + [part for part in flat if isinstance(part, str) and re.fullmatch(r"[\d/]+", part)]


def test_medcalc_coverage() -> None:
    test, one_shot = calc_rows("test"), calc_rows("one_shot")
    ids = {int(row["Calculator ID"]) for row in test}
    assert len(test) == 24 and {(split, int(row["Row Number"])) for split, row in ROWS} == set(CASES)
    assert sorted(int(row["Calculator ID"]) for row in one_shot) == sorted(ids) == sorted(FORMULAS)
    assert {row["Category"] for row in test} == set(CATEGORY)
    assert ids & DATES and GESTATIONAL_AGE in ids and len(ids & INTEGERS) >= 6
    assert len(ids - INTEGERS - DATES - {GESTATIONAL_AGE}) >= 6
    for column in ("Patient Note", "Note ID"):
        assert unique(row[column] for _, row in ROWS)
    inputs = [(row["Calculator ID"], sorted(CASES[split, int(row["Row Number"])].items())) for split, row in ROWS]
    assert all(inputs.count(item) == 1 for item in inputs)
    below_zero = [
        row for row in test if row["Ground Truth Answer"].startswith("-") and "." in row["Ground Truth Answer"]
    ]
    assert below_zero and all(float(row["Lower Limit"]) > float(row["Upper Limit"]) for row in below_zero)


@pytest.mark.parametrize(("split", "row"), ROWS, ids=lambda x: x if isinstance(x, str) else x["Row Number"])
def test_medcalc_row(split: str, row: dict[str, str]) -> None:
    calculator, note, truth = int(row["Calculator ID"]), row["Patient Note"], row["Ground Truth Answer"]
    case = CASES[split, int(row["Row Number"])]
    assert list(row) == CALC_COLUMNS and all(row[column].strip() for column in CALC_COLUMNS)
    assert calculator in CATEGORY[row["Category"]]
    assert 80 <= len(note.split()) <= 150
    assert [value for value in case.values() if not occurs(value, note)] == []
    assert [value for value in numbers(ast.literal_eval(row["Relevant Entities"])) if not occurs(value, note)] == []

    answer = FORMULAS[calculator](case)
    limits = (row["Lower Limit"], row["Upper Limit"])
    conclusion = row["Ground Truth Explanation"].splitlines()[-1]
    if isinstance(answer, str):
        assert truth == answer and limits == (truth, truth)
        assert all(part in conclusion for part in re.findall(r"[\d/]+(?: weeks| days)?", truth))
    elif calculator in INTEGERS:
        assert truth == str(int(answer)) and answer == int(answer) and limits == (truth, truth)
        assert conclusion.endswith(f" is {truth}.")
    else:
        assert float(truth) == round(answer, 5) and "." in truth
        assert tuple(map(float, limits)) == (round(float(truth) * 0.95, 5), round(float(truth) * 1.05, 5))
        assert truth in conclusion
