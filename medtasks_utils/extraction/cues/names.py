"""Names of what is calculated and counted, of formulas, dates and units, each with what means the same.

Regular expressions without spaces, one after the other, for text in any case; of two that fit, the first counts.
"""

from __future__ import annotations

QUANTITIES = (
    r"(?:albumin[\s-])?(?:corrected|adjusted)\sdelta\sratio (?:albumin[\s-])?(?:corrected|adjusted)\sdelta\sgap"
    r" delta\sratio|delta[\s-]delta delta\s(?:anion\s)?gap|delta\sag\b (?:uncorrected|unadjusted|raw)\s(?:anion\sgap"
    r"|ag\b) (?:albumin[\s-])?(?:corrected|adjusted|korrigierte)\s(?:anion\sgap|ag\b|anionenlücke)|(?:anion\sgap"
    r"|ag),?\s(?:corrected|adjusted)|校正(?:后的?)?阴离子间隙|補正アニオンギャップ anion\sgap|\bag\b|anionenlücke"
    r"|trou\sanionique|brecha\saniónica|anion\sgap|gap\sanionico|阴离子间隙|ânion\sgap|анионн\w+\s(?:интервал|разрыв"
    r"|промежуток)|アニオンギャップ|음이온\s?차 osmol(?:al|ar)\sgap|gap\sosmol\w+|осмоляр\w+\s(?:интервал|разрыв"
    r"|промежуток) bmi|body\smass\sindex|imc|имт|مؤشر\sكتلة\sالجسم|बीएमआई|体[质重]指数|体格指数|체질량지수"
    r" ideal\s(?:body\s)?weight|ibw|idealgewicht|poids\sidéal|peso\s(?:corporal\s)?ideal|peso\sideale"
    r"|идеальн\w+\s(?:масс\w|вес)|आदर्श\sवजन|الوزن\sالمثالي|理想体重|이상\s?체중 adjusted\s(?:body\s)?weight"
    r"|a(?:dj)?bw|peso\s(?:corporal\s)?ajustado|poids\sajusté|angepasstes\s(?:körper)?gewicht|peso\saggiustato"
    r"|скорректированн\w+\s(?:масс\w|вес)|调整体重|校正体重|調整体重 target\s(?:body\s)?weight|zielgewicht"
    r"|poids\scible|peso\sobjetivo|目标体重|目標体重 (?:creatinine\s)?clearance|crcl|clcr|ccr|kreatininclearance"
    r"|clairance|aclaramiento|depuração|clearance\sdella\screatinina|клиренс\w*|تصفية(?:\sالكرياتينين)?(?:\sالمقدرة)?"
    r"|肌酐清除率|クレアチニン・?クリアランス|크레아티닌\s?청소율 e?gfr|glomerular\sfiltration\srate|dfg|tfg|vfg|скф"
    r"|肾小球滤过率|사구체 mean\sarterial\spressure|(?-i:MAP)|متوسط\sالضغط(?:\sالشرياني)?"
    r"|mittlere[rn]?\s(?:arterielle[rn]?\s)?(?:blut)?druck|pression\sartérielle\smoyenne|presión\sarterial\smedia"
    r"|平均动脉压|平均動脈圧 pulse\spressure (?:corrected|adjusted)\s(?:total\s|serum\s)?(?:calcium|ca\b)"
    r"|korrigierte[sn]?\s(?:calcium|kalzium)|calcium\scorrigé|calcio\scorre(?:gido|tto)|校正(?:血|后的?血?)?钙"
    r"|補正カルシウム|보정\s?칼슘|संशोधित\sकैल्शियम|скорректированн\w+\sкальци\w|الكالسيوم\sالمصحح|cálcio\scorrigido"
    r" (?:corrected|adjusted)\s(?:serum\s)?(?:sodium|na\b)|korrigierte[sn]?\snatrium|(?:natrémie|sodium)\scorrigée?"
    r"|sodio\scorre(?:gido|tto)|校正(?:血|后的?血?)?钠|補正ナトリウム qtc\w{0,2}|corrected\sqt(?:\sinterval)?"
    r"|korrigierte[sn]?\sqt-(?:intervall|zeit)|qt\scorre(?:gido|tto) osmol[aа][lr]it\w{1,2}|osmolalité|osmolal?ridad"
    r"|осмоля(?:ль|р)н\w+|渗透压|浸透圧 (?:free\s)?water\sdeficit|fwd|自由水缺失 fena"
    r"|fractional\sexcretion\sof\s(?:sodium|na) feurea|fractional\sexcretion\sof\surea"
    r" non[\s-]hdl(?:-c)?(?:\scholesterol)? vldl(?:-c)? ldl(?:-c)? fib-?\s?4 (?-i:APRI) homa-?\s?ir|homa\sindex"
    r" homa-?\s?(?:b|β|%b)\b body\ssurface\sarea|bsa|körperoberfläche|surface\scorporelle|superficie\scorpor(?:al|ea)"
    r"|体表面积 maintenance\s(?:fluids?(?:\srate)?|rate)|erhaltungs(?:bedarf|rate) mme"
    r"|morphine\smilli?gram\sequivalents?|omeq|med\b methylprednisolone? prednisolone? prednison[ea]? dexamethasone?"
    r" betamethasone? hydrocortisone? cortisone? triamcinolone?"
)
"""What is calculated by a formula."""

SCORES = (
    r"melda?-?\s?na|meld\s3\.0 meld cha.?ds.?-?vasc (?-i:CHADS2?|CHADS₂) has-?bled q-?sofa sofa"
    r"|sequential\sorgan\sfailure sirs apache(?:\sii|-ii|\s2)? gcs|glasgow\s(?:coma\s)?(?:scale|score) blatchford"
    r"|(?-i:GBS) rockall curb-?65 crb-?65 (?-i:PSI)|pneumonia\sseverity\sindex wells geneva (?-i:PERC) centor|mcisaac"
    r" feverpain child[\s-](?:turcotte[\s-])?pugh (?-i:HEART)|heart\sscore (?-i:TIMI) (?-i:GRACE) rcri"
    r"|revised\scardiac\srisk\sindex|cardiac\srisk\sindex charlson|(?-i:CCI) caprini padua framingham\srisk(?:\sscore)?"
)
"""What is counted in points."""

FORMULAS = (
    r"bazett frideric?ia framingham hodges rautaharju mosteller|モステラー|莫斯特勒 du\s?bois|デュボア haycock gehan"
    r" cockcroft|\bcg\b mdrd ckd-?\s?epi schwartz devine robinson miller hamwi friedewald martin-?\s?hopkins"
    r" sampson hillier katz"
)
"""By whom a formula is."""

DATES = (
    r"due|edd|delivery|confinement|(?:geburts|entbindungs)?termin|terme|accouchement|fpp|parto|dpp|родов|الولادة"
    r"|प्रसव|预产期|予定日|예정일 conce(?:ption|ived?)|empfängnis|konzeption|befruchtung|concepción|concepção"
    r"|concepimento|зачати\w|الإخصاب|الحمل|गर्भाधान|受孕|受胎|수정일|수태"
)
"""What a date may be of: the birth, the conception."""

UNITS = (
    r"m[lL]\s?/\s?min|мл/мин m[lL]\s?/\s?(?:hr?|hour|h|Std)(?![a-z])|мл/ч m[lL]\s?/\s?(?:d|day|24\s?h|tag|jour|día|dia"
    r"|giorno)(?![a-z])|мл/сут mg\s?/\s?d[lL]|мг/дл g\s?/\s?d[lL]|г/дл (?:mEq|mmol|ммоль)\s?/\s?[lLл]|мэкв/л"
    r"|mOsm(?:ol)? mm\s?Hg|мм\sрт bpm|beats kgs?(?![A-Za-z/])|kilograms?|кг(?!/) lbs?(?![A-Za-z])|pounds?"
    r" cm(?![A-Za-z])|centimet\w+|см(?![а-я]) inch(?:es)?|[\x22]|in\. m(?:illi)?s(?:ec(?:onds?)?)?(?![A-Za-z])"
    r"|мс(?![а-я]) s(?:ec(?:onds?)?)?(?![A-Za-z]) m(?![A-Za-z²/])|met(?:er|re)s? m[lL](?![A-Za-z/])|мл(?!/)"
    r" [lL](?![A-Za-z/])|lit(?:er|re)s?|л(?![а-я/]) mg(?![A-Za-z/])|мг(?!/) I?U\s?/\s?[lL]"
)
"""Units, each with what it is the same as where no conversion lies between."""
