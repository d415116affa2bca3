"""Names of what is calculated and counted, of the formulas for it, and of units: regular expressions for text in any case."""

from __future__ import annotations

QUANTITIES: dict[str, str] = {
    "corrected_delta_ratio": r"(?:albumin[\s-])?(?:corrected|adjusted)\sdelta\sratio",
    "corrected_delta_gap": r"(?:albumin[\s-])?(?:corrected|adjusted)\sdelta\sgap",
    "delta_ratio": r"delta\sratio|delta[\s-]delta",
    "delta_gap": r"delta\s(?:anion\s)?gap|delta\sag\b",
    "raw_gap": r"(?:uncorrected|unadjusted|raw)\s(?:anion\sgap|ag\b)",
    "corrected_gap": r"(?:albumin[\s-])?(?:corrected|adjusted|korrigierte)\s(?:anion\sgap|ag\b|anionenlücke)"
    r"|(?:anion\sgap|ag),?\s(?:corrected|adjusted)|校正(?:后的?)?阴离子间隙|補正アニオンギャップ",
    "anion_gap": r"anion\sgap|\bag\b|anionenlücke|trou\sanionique|brecha\saniónica|anion\sgap|gap\sanionico"
    r"|阴离子间隙|アニオンギャップ|음이온\s?차",
    "osmolal_gap": r"osmol(?:al|ar)\sgap",
    "bmi": r"bmi|body\smass\sindex|imc|имт|体[质重]指数|体格指数|체질량지수",
    "ideal_weight": r"ideal\s(?:body\s)?weight|ibw|idealgewicht|poids\sidéal|peso\s(?:corporal\s)?ideal|peso\sideale"
    r"|идеальн\w+\s(?:масс\w|вес)|理想体重|이상\s?체중",
    "adjusted_weight": r"adjusted\s(?:body\s)?weight|a(?:dj)?bw|peso\s(?:corporal\s)?ajustado|poids\sajusté"
    r"|angepasstes\s(?:körper)?gewicht|peso\saggiustato|скорректированн\w+\s(?:масс\w|вес)|调整体重|校正体重|調整体重",
    "target_weight": r"target\s(?:body\s)?weight|zielgewicht|poids\scible|peso\sobjetivo|目标体重|目標体重",
    "clearance": r"(?:creatinine\s)?clearance|crcl|clcr|ccr|kreatininclearance|clairance|aclaramiento"
    r"|depuração|clearance\sdella\screatinina|клиренс\w*|肌酐清除率",
    "gfr": r"e?gfr|glomerular\sfiltration\srate|dfg|tfg|vfg|скф|肾小球滤过率|사구체",
    "pressure": r"mean\sarterial\spressure|(?-i:MAP)|mittlere[rn]?\s(?:arterielle[rn]?\s)?(?:blut)?druck"
    r"|pression\sartérielle\smoyenne|presión\sarterial\smedia|平均动脉压|平均動脈圧",
    "pulse_pressure": r"pulse\spressure",
    "calcium": r"(?:corrected|adjusted)\s(?:total\s|serum\s)?(?:calcium|ca\b)|korrigierte[sn]?\s(?:calcium|kalzium)"
    r"|calcium\scorrigé|calcio\scorre(?:gido|tto)|校正(?:血|后的?血?)?钙|補正カルシウム",
    "sodium": r"(?:corrected|adjusted)\s(?:serum\s)?(?:sodium|na\b)|korrigierte[sn]?\snatrium|natrémie\scorrigée"
    r"|sodio\scorre(?:gido|tto)|校正(?:血|后的?血?)?钠|補正ナトリウム",
    "qtc": r"qtc\w{0,2}|corrected\sqt(?:\sinterval)?|korrigierte[sn]?\sqt-(?:intervall|zeit)|qt\scorre(?:gido|tto)",
    "osmolality": r"osmol[aа][lr]it\w{1,2}|osmolalité|osmolal?ridad|осмоляльность|渗透压|浸透圧",
    "water_deficit": r"(?:free\s)?water\sdeficit|fwd|自由水缺失",
    "fena": r"fena|fractional\sexcretion\sof\s(?:sodium|na)",
    "feurea": r"feurea|fractional\sexcretion\sof\surea",
    "non_hdl": r"non[\s-]hdl(?:-c)?(?:\scholesterol)?",
    "vldl": r"vldl(?:-c)?",
    "ldl": r"ldl(?:-c)?",
    "fib_4": r"fib-?\s?4",
    "apri": r"(?-i:APRI)",
    "homa_ir": r"homa-?\s?ir|homa\sindex",
    "homa_b": r"homa-?\s?(?:b|β|%b)\b",
    "surface": r"body\ssurface\sarea|bsa|körperoberfläche|surface\scorporelle|superficie\scorpor(?:al|ea)|体表面积",
    "fluids": r"maintenance\s(?:fluids?|rate)|erhaltungs(?:bedarf|rate)",
    "mme": r"mme|morphine\smilli?gram\sequivalents?|omeq|med\b",
    "methylprednisolone": r"methylprednisolone?",
    "prednisolone": r"prednisolone?",
    "prednisone": r"prednison[ea]?",
    "dexamethasone": r"dexamethasone?",
    "betamethasone": r"betamethasone?",
    "hydrocortisone": r"hydrocortisone?",
    "cortisone": r"cortisone?",
    "triamcinolone": r"triamcinolone?",
}
"""What is calculated by a formula; of two names that fit, the first counts."""

SCORES: dict[str, str] = {
    "meld_na": r"melda?-?\s?na|meld\s3\.0",
    "meld": r"meld",
    "cha2ds2_vasc": r"cha.?ds.?-?vasc",
    "chads2": r"(?-i:CHADS2?|CHADS₂)",
    "has_bled": r"has-?bled",
    "qsofa": r"q-?sofa",
    "sofa": r"sofa|sequential\sorgan\sfailure",
    "sirs": r"sirs",
    "apache": r"apache(?:\sii|-ii|\s2)?",
    "gcs": r"gcs|glasgow\s(?:coma\s)?(?:scale|score)",
    "blatchford": r"blatchford|(?-i:GBS)",
    "rockall": r"rockall",
    "curb_65": r"curb-?65",
    "crb_65": r"crb-?65",
    "psi": r"(?-i:PSI)|pneumonia\sseverity\sindex",
    "wells": r"wells",
    "geneva": r"geneva",
    "perc": r"(?-i:PERC)",
    "centor": r"centor|mcisaac",
    "feverpain": r"feverpain",
    "child_pugh": r"child[\s-](?:turcotte[\s-])?pugh",
    "heart": r"(?-i:HEART)|heart\sscore",
    "timi": r"(?-i:TIMI)",
    "grace": r"(?-i:GRACE)",
    "rcri": r"rcri|revised\scardiac\srisk\sindex|cardiac\srisk\sindex",
    "charlson": r"charlson|(?-i:CCI)",
    "caprini": r"caprini",
    "padua": r"padua",
    "framingham_risk": r"framingham\srisk(?:\sscore)?",
}
"""What is counted in points."""

FORMULAS: dict[str, str] = {
    "bazett": r"bazett",
    "fridericia": r"frideric?ia",
    "framingham": r"framingham",
    "hodges": r"hodges",
    "rautaharju": r"rautaharju",
    "mosteller": r"mosteller|モステラー|莫斯特勒",
    "dubois": r"du\s?bois|デュボア",
    "haycock": r"haycock",
    "gehan": r"gehan",
    "cockcroft": r"cockcroft|\bcg\b",
    "mdrd": r"mdrd",
    "ckd_epi": r"ckd-?\s?epi",
    "schwartz": r"schwartz",
    "devine": r"devine",
    "robinson": r"robinson",
    "hamwi": r"hamwi",
    "friedewald": r"friedewald",
    "martin": r"martin-?\s?hopkins",
    "sampson": r"sampson",
    "hillier": r"hillier",
    "katz": r"katz",
}

DATES: dict[str, str] = {
    "due": r"due|edd|delivery|confinement|(?:geburts|entbindungs)?termin|terme|accouchement|fpp|parto|dpp|родов"
    r"|الولادة|प्रसव|预产期|予定日|예정일",
    "conceived": r"conce(?:ption|ived?)|empfängnis|konzeption|befruchtung|concepción|concepção|concepimento|зачати\w"
    r"|الإخصاب|الحمل|गर्भाधान|受孕|受胎|수정일|수태",
}

UNITS: dict[str, str] = {
    "mL/min": r"m[lL]\s?/\s?min|мл/мин",
    "mL/h": r"m[lL]\s?/\s?(?:hr?|hour|h|Std)(?![a-z])|мл/ч",
    "mg/dL": r"mg\s?/\s?d[lL]|мг/дл",
    "g/dL": r"g\s?/\s?d[lL]|г/дл",
    "mEq/L": r"(?:mEq|mmol|ммоль)\s?/\s?[lLл]|мэкв/л",
    "mOsm/kg": r"mOsm(?:ol)?",
    "mm Hg": r"mm\s?Hg|мм\sрт",
    "beats": r"bpm|beats",
    "kg": r"kgs?(?![A-Za-z/])|kilograms?|кг(?!/)",
    "lb": r"lbs?(?![A-Za-z])|pounds?",
    "cm": r"cm(?![A-Za-z])|centimet\w+|см(?![а-я])",
    "inch": r"inch(?:es)?|\"|in\.",
    "msec": r"m(?:illi)?s(?:ec(?:onds?)?)?(?![A-Za-z])|мс(?![а-я])",
    "second": r"s(?:ec(?:onds?)?)?(?![A-Za-z])",
    "m": r"m(?![A-Za-z²/])|met(?:er|re)s?",
    "mL": r"m[lL](?![A-Za-z/])|мл(?!/)",
    "L": r"[lL](?![A-Za-z/])|lit(?:er|re)s?|л(?![а-я/])",
    "mg": r"mg(?![A-Za-z/])|мг(?!/)",
    "U/L": r"I?U\s?/\s?[lL]",
}
"""Units, each with what it is the same as where no conversion lies between."""
