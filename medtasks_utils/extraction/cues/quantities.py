"""Words around a value. Regular expressions for text in any case, by language."""

from __future__ import annotations

from medtasks_utils.extraction.cues import names

Cues = dict[str, str]

RESULT: Cues = {
    "en": r"answer|result|value|output|correct(?=\sis)|final(?=\s?[:=→])|i(?:['’](?:ll|d)|\swill|\swould)?\s(?:report"
    r"|answer|submit|say|put(?=\sit))|edd|(?<!scan\sis\s)(?<!visit\sis\s)due(?:\sdate)?|(?:date\sof\s)?conception"
    r"|gestational\sage|ga\b",
    "de": r"ergebnis|wert|antwort|(?:geburts|entbindungs)termin|(?:errechnete|voraussichtliche)r?\stermin"
    r"|gestationsalter|schwangerschaftsalter|ssw(?=:?\s?$)",
    "fr": r"résultat|réponse|valeur|date|âge\sgestationnel",
    "es": r"resultado|respuesta|valor|fecha|fpp|edad\sgestacional",
    "pt": r"resultado|resposta|valor|data|idade\sgestacional",
    "it": r"risultato|risposta|valore|data|età\sgestazionale",
    "ru": r"результат|ответ|значение|итого|дата|срок(?:е|а|ом)?",
    "ar": r"النتيجة|الإجابة|القيمة|تاريخ|عمر|موعد\sالولادة(?:\sالمتوقع)?",
    "hi": r"परिणाम|उत्तर|मान|तिथि|(?:गर्भ(?:कालीन|ावधि)?|भ्रूण\sकी|गर्भ\sकी)\sआयु|गर्भावधि",
    "zh": r"结果|答案|答|数值|预产期|孕龄|胎龄|孕周",
    "ja": r"結果|答え|答|値|予定日|週数|妊娠",
    "ko": r"결과|답|값|예정일|임신",
}
"""Nouns for the value that was asked for."""

PLAIN_ANSWER: Cues = {
    "en": r"answer|antwort|réponse|respuesta|resposta|risposta|ответ|उत्तर",
    "ar": r"إجابة",
    "zh": r"答案",
    "ja": r"答え|回答",
    "ko": r"답",
}
"""The plainest of them."""

QUANTITY: Cues = {
    "any": "|".join(f"{names.QUANTITIES} {names.SCORES} {names.FORMULAS}".split()),
    "en": r"adjusted|corrected|calculated|estimated",
}
"""Names of the quantities themselves, which their value may follow at once."""

SUMMED: Cues = {
    "en": r"in\s(?:all|total)|(?:al)?together|all\stold|sum(?=\s?[:=])"
    r"|total(?!\s(?:chol|bili|prot|calc|body|ca\b|serum|dose|weekly))(?:\s[a-z]+){0,3}?(?=\s?[:=]|\s?$|\sis\s)",
    "de": r"insgesamt|zusammen|in\ssumme|(?:gesamt\w{0,10}|summe)(?=\s?[:=])",
    "fr": r"au\stotal|en\stout",
    "es": r"en\stotal",
    "pt": r"no\stotal|ao\stodo",
    "it": r"in\stotale|in\stutto|complessivamente",
    "ru": r"в\sсумме|всего|итого",
    "zh": r"合计|总计|一共",
    "ja": r"合計|計",
    "ko": r"합계|모두",
}
"""What stands beside a sum."""

TOTAL: Cues = {
    "en": "|".join(
        (
            r"total|sum|scores?|index|points|criteria\s(?:are\s)?(?:met|fulfilled)|meets",
            *names.SCORES.split(),
        )
    ),
    "de": r"score|punktzahl|punktwert|gesamt(?:punktzahl|score)?|insgesamt|zusammen|summe",
    "fr": r"score|total|somme",
    "es": r"puntuación|puntaje|total",
    "pt": r"pontuação|escore|total",
    "it": r"punteggio|totale",
    "ru": r"балл(?:ов|а)?|сумма|итого",
    "ar": r"مجموع|النقاط|الدرجة",
    "hi": r"स्कोर|कुल|अंक",
    "zh": r"总分|评分|得分|分数",
    "ja": r"スコア|合計|点数",
    "ko": r"총점|점수|합계",
}
"""Nouns for a score."""

EQUALS: Cues = {
    "any": r"[:=≈→⟹⇒⟶~]|(?:(?<=[^\W\d]\s)|(?<=,\s))[—–-](?=\s)",
    "en": r"(?:is|was|be|it['’]s|equals?|equal\sto|gives|(?<=\w\s)give|giving|yields?|get|got|find|obtain(?:ed)?"
    r"|(?:comes?|came|works?|worked)\s(?:out\s)?(?:to|at|as)|brings\s.{1,30}\sto|(?<!would\s)makes?|becomes|reads?"
    r"|remains|turns\sout(?:\sto\sbe)?|(?:i|we)(?:['’]d|['’]ll|\swould|\swill)?\s(?:go|went)\s(?:for|with)|totals"
    r"|leaves|leaving|stands\sat|amounts\sto|arrive\sat|end(?:s|ed)?\s(?:up\s)?(?:at|with)|call\sit|round(?:ed"
    r"|s\sto)(?:\sto)?|scores?|count|have|has|meets|are|makes?\sit|(?:so|thus|hence|therefore),?)",
    "de": r"(?:ist|sind|beträgt|lautet|liegt\s(?:somit\s|damit\s|also\s)?bei|ergibt|ergeben(?:\ssich)?|macht|wird"
    r"|erhält\sman|erhalten\swir|entspricht|wird\smit|gerundet|hat|erreicht|kommt\sauf)",
    "fr": r"(?:est|vaut|totalise|donne|obtient|obtenons|trouve|devient|remonte|arrondie?(?:\sà)?|s['’]élève\sà"
    r"|s['’]établit\sà)",
    "es": r"(?:es|son|salen?|pasa\sa\sser|suma|totaliza|vale|obtiene|obtenemos|queda\sen|igual\sa|resulta"
    r"|asciende\sa|da|tiene|reúne|alcanza|acumula)",
    "pt": r"(?:é|são|passa\sa\sser|soma|totaliza|vale|obtém(?:-se)?|obtemos|fica\sem|igual\sa|resulta\sem|dá"
    r"|tem|reúne|atinge|acumula)",
    "it": r"(?:è|sono|totalizza|vale|ottiene|otteniamo|diventa|pari\sa|risulta|ammonta\sa|dà|ha|raggiunge)",
    "ru": r"(?:составляет|составил[ао]?|равен|равна|равно|это|набира\w{2,5}|набрал[аи]?|получа\w{2,5})",
    "ar": r"(?:هي|هو|تساوي|يساوي)",
    "zh": r"(?:共计?|合计|总计|相加得|得到?|等于|约为|为|為|是|约)",
    "ja": r"[はが]",
    "ko": r"[은는이가]",
}
"""What joins a quantity to its value."""

LINKED: Cues = {
    "en": r"(?:of|at|as|to|on|around)",
    "de": r"(?:von|der|bei|auf|am|beim|zum|zu|den)",
    "fr": r"(?:de|le|à|au|du)",
    "es": r"(?:de|el|en|al|con)",
    "pt": r"(?:de|em|ao|no|com)",
    "it": r"(?:di|il|a|al)",
}
"""Prepositions that may join the two, and much else."""

THAT_IS: Cues = {
    "en": r"i\.?\s?e\.?|that\sis|in\sother\swords|altogether",
    "de": r"d\.\s?h\.|das\sheißt|also|somit|daher|zusammen",
    "fr": r"soit|c['’]est-à-dire|donc",
    "es": r"es\sdecir|o\ssea|por\s(?:lo\s)?tanto|así\sque",
    "pt": r"ou\sseja|isto\sé|portanto|logo",
    "it": r"cioè|ossia|ovvero|vale\sa\sdire|quindi|dunque",
    "ru": r"то\sесть|т\.\s?е\.|следовательно|значит",
    "ar": r"أي",
    "hi": r"यानी|अर्थात",
    "zh": r"即|也就是",
    "ja": r"すなわち|つまり",
    "ko": r"즉",
}
"""What a value is put in other words by."""

EARLIER: Cues = {
    "en": r"(?:up|down|ris(?:e|en)|fallen|fall|(?:in|de)creased?|improved?|corrected|chang(?:e|ed))\sfrom"
    r"|previous(?:ly)?|(?:higher|lower|other|different)\s(?:values?|results?|figures?|estimates?)|so\sfar|thus\sfar"
    r"|sub-?total|prior|(?<!day\s)(?<!days\s)(?<!week\s)(?<!weeks\s)earlier"
    r"|before(?!\srounding)(?:\s(?:that|the|any|correct\w+|adjust\w+))?|last\s(?:year|month|week|visit|time)"
    r"|yesterday|had\sbeen|used\sto\sbe|initially|first\s(?:got|obtained|read|wrote|said|thought)|formerly"
    r"|original(?:ly)?|(?:lab|chart|slip|report|machine|meter)\s(?:\w+\s)?(?:reads?|says?|shows?|gives?)|by\smistake"
    r"|on\sadmission|erroneously|instead\sof|rather\sthan|without(?!\s(?:\w+\s)?rounding)|\w+\s(?:years?|months?"
    r"|weeks?)\sago|tomorrow|next\s(?:week|visit|month)|by\s(?!to)\w+day",
    "de": r"(?<!wie\s)zuvor|vorher(?:ig\w{1,2})?|früher|ursprünglich|vor\sder|bisher|zunächst|unkorrigiert\w{0,2}"
    r"|gemessene\w?|statt|laut\s(?:labor|befund|akte)|noch\sim|vor\s\w{2,6}\s(?:jahr|monat|woche|tag)\w{0,2}"
    r"|bei\saufnahme|gestern|morgen|nächste[nr]?\s(?:woche|termin)|letzte[sn]?\s(?:jahr|monat)",
    "fr": r"avant|auparavant|précéde\w{2,6}|initialement|il\sy\sa\s\w+\s(?:an|mois|jour)s?|hier|demain"
    r"|non\scorrigée?|mesurée?|au\slieu\sde",
    "es": r"antes|anterior(?:mente)?|previ[oa]|hace\s\w+\s(?:año|mes|día)s?|ayer|mañana|al\singreso|inicial(?:mente)?"
    r"|sin\scorregir|medid[oa]|en\slugar\sde",
    "pt": r"antes|anterior(?:mente)?|prévi[oa]|há\s\w+\s(?:ano|mês|mes|dia)\w{0,2}|ontem|amanhã|inicial(?:mente)?"
    r"|sem\scorreção|medid[oa]|em\svez\sde",
    "it": r"prima|precedente(?:mente)?|un\s(?:anno|mese)\sfa|ieri|domani|all['’]ingresso|iniziale?(?:mente)?"
    r"|non\scorrett[oa]|misurat[oa]|invece\sdi",
    "ru": r"(?:год|месяц|неделю)\sназад|вчера|завтра|при\sпоступлении|раньше|ранее|прежн\w{2,3}|до\sкоррекции"
    r"|исходн\w{2,3}|измеренн\w{2,3}|вместо",
    "ar": r"سابقا|السابقة?|قبل",
    "hi": r"पहले|पिछला|मापा",
    "zh": r"去年|明天|入院时|上次|之前|此前|原来|下次|校正前|实测|修正前",
    "ja": r"来院時|次[の回]|明日|入院時|昨年|以前|補正前|前回|実測",
    "ko": r"작년|다음|내일|내원\s?시|입원\s?시|이전|보정\s?전|교정\s?전|측정",
}
"""What speaks of another time, or of the value before it was put right."""

CHECKED: Cues = {
    "en": r"(?<!can\s)(?:sanity\s|double[-\s]?|cross[-\s]?)?check(?:ing)?|verif(?:y|ication|ying)|proof"
    r"|confirm(?:ing|ation)?|difference|correction(?=\s(?:is|of|adds|amounts)|\s?[:=])|(?<!base\s)excess"
    r"|surplus|shortfall|remainder|confidence|to\s(?:lose|gain|reach)|the\srest|deviation|discrepancy|change",
    "de": r"probe|kontrolle|gegenprobe|überprüfung|differenz|überschuss|unterschied|abweichung",
    "fr": r"vérification|contrôle|différence|excès|écart",
    "es": r"comprobación|verificación|diferencia|exceso",
    "pt": r"verificação|conferência|prova\sreal|diferença|excesso",
    "it": r"verifica|controprova|prova|differenza|eccesso|scarto",
    "ru": r"проверка|разница|разность",
    "ar": r"للتحقق|التحقق|الفرق",
    "hi": r"जाँच|जांच|अंतर",
    "zh": r"验算|检验|核对|相差|差值",
    "ja": r"検算|確認|との差|差は|差:",
    "ko": r"검산|확인|차이",
}
"""What a calculation follows that only checks or compares the result."""

INPUT: Cues = {
    "en": r"age|(?:tbw|body\swater|water)\sfraction|(?:sex|gender|race|female|ethnicity|albumin|correction"
    r"|adjustment)\s(?:coefficient|factor|constant|multiplier)|total\s(?:calcium|bilirubin|protein|bicarbonate)"
    r"|s?he(?=\sis\s$)|ioni[sz]ed\scalcium|wbc|white\s(?:blood\s)?cells?|respiratory\srate|pulse|ha?emoglobin"
    r"|ha?ematocrit|lactate|spo2|pao2|paco2|weight|height|(?:serum|plasma|urine|urinary)\s(?:na|sodium|creatinine)"
    r"|sodium|(?<!-)na\+?|potassium|chloride|cl-?|bicarbonate|hco3-?|bun|urea|glucose|(?:serum\s)?creatinine|scr"
    r"|albumin|bilirubin|inr|hdl|triglycerides|tgs?|total\scholesterol|sbp|dbp|heart\srate|hr|systolic|diastolic"
    r"|temperature|insulin|platelets|ast|alt|cycle(?:\slength)?|qt(?:\sinterval)?|rr|ventricular\srate",
    "de": r"(?:geschlechts|korrektur|haut\w*|ethnie)-?(?:koeffizient|faktor|konstante)|gesamt(?:calcium|kalzium"
    r"|bilirubin|eiweiß|protein)|alter|gewicht|größe|natrium|kalium|chlorid|bikarbonat|harnstoff|glukose|kreatinin"
    r"|albumin|triglyceride|gesamtcholesterin|herzfrequenz|puls",
    "fr": r"(?:coefficient|facteur|constante)\s(?:\w+\s)?(?:(?:de\s|du\s|d['’])(?:sexe|genre|correction|race|origine"
    r"|ethnie)|lié|ethnique)\w*|(?:calcium|bilirubine|protéines)\stotale?s?|calcémie\stotale|l['’]âge|âge|poids"
    r"|taille|sodium|natrémie|potassium|chlore|bicarbonates?|urée|glycémie|créatinine|albumine|triglycérides"
    r"|cholestérol\stotal|fréquence\scardiaque",
    "es": r"(?:coeficiente|factor|constante)\s(?:de|por)\s(?:sexo|género|corrección|raza)|(?:calcio|bilirrubina"
    r"|proteínas?)\stotal(?:es)?|edad|peso|talla|sodio|potasio|cloro|bicarbonato|bun|urea|glucosa|creatinina|albúmina"
    r"|triglicéridos|colesterol\stotal|frecuencia\scardíaca",
    "pt": r"(?:coeficiente|fator|constante)\s(?:de|do|por)\s(?:sexo|gênero|correção|raça)|(?:cálcio|bilirrubina"
    r"|proteínas?)\stota(?:l|is)|idade|peso|altura|sódio|potássio|cloro|bicarbonato|ureia|glicose|creatinina|albumina"
    r"|triglicerídeos|colesterol\stotal|frequência\scardíaca",
    "it": r"(?:coefficiente|fattore|costante)\s(?:di|del|per)\s?(?:il\s)?(?:sesso|genere|correzione|razza)|(?:calcio"
    r"|bilirubina|proteine)\stotal[ei]|l['’]età|età(?!\sgest)|peso|altezza|sodio|potassio|cloro|bicarbonat[oi]|urea"
    r"|azotemia|glicemia|creatinina|albumina|trigliceridi|colesterolo\stotale|frequenza\scardiaca",
    "ru": r"(?:коэффициент|множитель|поправка)\s(?:\w+\s)?(?:пола|расы|коррекции|на\sпол|для\sженщин|для\sмужчин)"
    r"|общ\w{2}\s(?:кальций|билирубин|белок)|возраст|вес|рост|натрий|калий|хлор|бикарбонат|мочевина|глюкоза|креатинин"
    r"|альбумин|триглицериды",
    "ar": r"(?:معامل|عامل)\s(?:الجنس|العرق|التصحيح)|الكالسيوم\sالكلي|العمر|الوزن|الطول|الصوديوم|الكرياتينين|الألبومين"
    r"|الجلوكوز",
    "hi": r"(?:लिंग|सुधार)\s(?:गुणांक|कारक)|कुल\sकैल्शियम|उम्र|आयु|वजन|लंबाई|सोडियम|क्रिएटिनिन|एल्ब्यूमिन|ग्लूकोज",
    "zh": r"(?:性别|种族|校正)(?:系数|因子|常数)|总(?:血)?钙|总胆红素|年龄|体重|身高|血?钠|血?钾|血?氯|尿素氮?|血糖"
    r"|肌酐|白蛋白|甘油三酯|总胆固醇|心率",
    "ja": r"(?:性別|人種|補正)(?:係数|定数)|総カルシウム|年齢|体重|身長|ナトリウム|クレアチニン|アルブミン|血糖|心拍数",
    "ko": r"(?:성별|인종|보정)\s?(?:계수|상수)|총\s?칼슘|나이|체중|키|나트륨|크레아티닌|알부민|혈당|심박수",
}
"""What the note gives and a calculation takes."""

DERIVED: Cues = {
    "en": r"correct\w*|adjust\w*|clearance|ratio|ideal|target|fractional|excretion|deficit|gap|dos(?:e|age)|index"
    r"|area|estimated|calculated|rate(?<!heart\srate)(?<!respiratory\srate)(?<!ventricular\srate)|qtc|mean|equivalent"
    r"|needed|required|score",
    "de": r"\w*korrig\w*|clearance|angepasst\w*|ideal\w*|ziel\w*|defizit|berechnet\w*|quotient",
    "fr": r"corrigée?|clairance|idéal|ajusté|cible|déficit|calculée?|fraction\w*",
    "es": r"corregid[oa]|aclaramiento|depuración|ideal|ajustado|déficit|calculad[oa]|fracción|fraccional",
    "pt": r"corrigid[oa]|depuração|clearance|ideal|ajustado|déficit|calculad[oa]|fração",
    "it": r"corrett[oa]|clearance|ideale|aggiustato|deficit|calcolat[oa]|frazion\w*",
    "ru": r"скорр?\w*|клиренс|идеальн\w*|расч[её]тн\w*|дефицит|фракцион\w*",
    "ar": r"المصحح|المعدل|تصفية|المثالي",
    "hi": r"संशोधित|समायोजित|क्लीयरेंस|आदर्श",
    "zh": r"校正|清除率|理想|调整|缺失|比值|分数",
    "ja": r"補正|クリアランス|理想|調整|比",
    "ko": r"보정|교정|청소율|제거율|이상|조정",
}
"""What makes a quantity one that is calculated, though it be named after one that is given ("corrected sodium")."""

ABOUT: Cues = {
    "any": r"[≈~≃=\s(\[<\"“«]|\x01",
    "en": r"(?:approximately|about|around|roughly|approx\.?|exactly|therefore|thus|then|also|only|now|just|calculated"
    r"|estimated|equal|to|be|a|an|hence|so|indeed|precisely|the|this|him|her|us|you|total|value|score|of|out|rounded"
    r"|nearly|patient|exact|(?:mon|tues|wednes|thurs|fri|satur|sun)day,?)",
    "de": r"(?:etwa|ungefähr|ca\.|circa|rund|also|somit|daher|demnach|folglich|mithin|insgesamt|genau|der|die|das|den"
    r"|dem|(?:mon|diens|donners|frei|sams|sonn)tag,?|mittwoch,?)",
    "fr": r"(?:environ|donc|ainsi|alors|exactement|à\speu\sprès|d['’](?:environ)?|de|le|la|\w{3,6}di|dimanche)",
    "es": r"(?:aproximadamente|unos|cerca|entonces|así|exactamente|por\s(?:lo\s)?tanto,?|pues|de|el|la|lunes,?|martes,?"
    r"|miércoles,?|jueves,?|viernes,?|sábado,?|domingo,?)",
    "pt": r"(?:aproximadamente|cerca|portanto,?|então|assim|exatamente|de|o|a"
    r"|(?:segunda|terça|quarta|quinta|sexta)(?:-feira)?,?)",
    "it": r"(?:circa|pari|dunque|quindi|perciò|pertanto|esattamente|di|a|il|la|\w{3,6}dì|sabato|domenica)",
    "ru": r"(?:примерно|около|приблизительно|ровно|таким\sобразом,?|следовательно,?|(?:понедельник|вторник|сред[ау]"
    r"|четверг|пятниц[ау]|суббот[ау]|воскресенье),?)",
    "ar": r"(?:حوالي|تقريبا|نحو|يوم|في)",
    "hi": r"(?:लगभग|है|का|के)",
    "zh": r"(?:大约|约|患者的?)",
    "ja": r"(?:約|およそ)",
    "ko": r"(?:약|대략)",
}
"""What may stand between the two."""

NORMAL: Cues = {
    "en": r"normal(?:ly)?|reference|ref\.?|range|thresholds?|cut-?\s?offs?|limits?|targets?(?!\s[wh]eight)|average"
    r"|healthy|typical(?:ly)?|usual(?:ly)?|maxim(?:um|al)|minim(?:um|al)|possible|versus|vs\.?|compared|comparison"
    r"|uncorrected|raw|unadjusted|actual|measured|baseline|ideal\s(?:is|range)|desirable|criterion|bands?|viability"
    r"|(?:full\s)?term(?=\s(?:is|at|from|of))|full\sterm|due\sdate(?=\s(?:is|at|would)\b)|pregnancy\slasts|trimester"
    r"|needed|required|recommended|expected(?=\s(?:for|at)\b)|published"
    r"|validated|guideline|goals?|aims?(?:\sfor)?|(?:obesity|overweight)\sis|ceiling|floor",
    "de": r"(?:geburts|entbindungs)termin(?=\s(?:ist|liegt|bei|wäre))|norm(?:al|bereich|wert)?e?|durchschnitt\w{0,4}"
    r"|referenz(?:bereich)?|grenz\w{1,6}|zwischen|maximal|ziel(?:wert|bereich)?|üblich\w{0,2}",
    "fr": r"(?<!artérielle\s)moyenne|norm(?:e|ale?s?|aux)|référence|seuil|limites?|entre|maximum|objectif|cible",
    "es": r"fecha\s\w+\sde\sparto(?=\s(?:es|sería))|normal(?:es)?|referencia|umbral|límites?|entre|rango|máximo|sobre"
    r"|objetivo|meta|valor\smedio",
    "pt": r"norma(?:l|is)|referência|limiar|limites?|entre|intervalo|máximo|meta|objetivo|valor\smédio",
    "it": r"normal[ei]|riferimento|soglia|limit[ei]|tra|fra|massimo|obiettivo|valore\smedio",
    "ru": r"норма|средн\w{2,3}(?!\s(?:артериальн|ад\b))|нормальн\w{0,4}|порог|границ\w{1,3}|референс\w{0,5}"
    r"|максим\w{0,5}",
    "ar": r"الطبيعي|طبيعي|المعدل|الحد",
    "hi": r"सामान्य|सीमा|अधिकतम",
    "zh": r"预产期[是为在]|正常|参考|范围|阈值|满分|最高",
    "ja": r"予定日[はが]|正常|基準|範囲|最大|満点",
    "ko": r"예정일[은이]|정상|기준|범위|최대|만점",
}
"""Nouns and adverbs for what a value is compared with."""

BESIDE: Cues = {
    "en": r"(?:if|when(?:ever)?|once|should|in\scase)\s(?:\w+\s){1,5}(?:falls?|drops?|ris(?:es?|ing)|(?:in|de)creases?"
    r"|reach(?:es)?|climbs?|exceeds?|worsens?|improves?)|(?:by|for|in)\s(?:way\sof\s)?(?:comparison"
    r"|contrast)(?=\s?[,:])|would\s(?:\w+ly\s)?(?:bring|lower|raise|reduce|drop|push|take)|to\s(?:reach|achieve)",
    "de": r"(?:wenn|falls|sobald|sollte|fällt|sinkt|steigt)\s(?:\w+\s){1,4}(?:auf|unter|über)|(?:zum|im)\svergleich"
    r"|um\s(?:[\w.]+\s){1,6}zu\serreichen",
    "fr": r"(?:si|quand|lorsque?|dès\sque)\s(?:\w+\s){1,4}(?:tombe|baisse|descend|passe|monte|atteint|dépasse|augmente)"
    r"|(?:à\stitre\sde|par)\scomparaison|pour\s(?:atteindre|obtenir)",
    "es": r"(?:si|cuando)\s(?:\w+\s){1,4}(?:baja|cae|desciende|sube|alcanza|llega|supera|aumenta)"
    r"|(?:en|a\smodo\sde|como)\scomparación|para\s(?:alcanzar|llegar|lograr)",
    "pt": r"(?:se|quando)\s(?:\w+\s){1,4}(?:cair|cai|baixar|descer|subir|atingir|chegar|passar|aumentar)"
    r"|(?:em|a\stítulo\sde|para)\scomparação|para\s(?:atingir|alcançar|chegar)",
    "it": r"(?:se|quando)\s(?:\w+\s){1,4}(?:scende|cala|sale|raggiunge|arriva|supera|aumenta)"
    r"|per\s(?:confronto|raggiungere|arrivare)",
    "ru": r"(?:если|когда|при)\s(?:\w+\s){0,4}(?:снизится|упад[её]т|снижении|вырастет|повышении)|для\sсравнения",
    "ar": r"إذا\s(?:انخفض|ارتفع|وصل|بلغ)\w*|للمقارنة",
    "hi": r"यदि|अगर|तुलना\s(?:में|के\sलिए)",
    "zh": r"(?:如果|若|一旦)[^,，。\d]{0,12}(?:降|升|达)|相比之下|作为(?:对比|比较)",
    "ja": r"もし|比較すると|参考までに",
    "ko": r"만약|만일|비교하면|참고로",
}
"""What makes a value one of another case: a condition, a comparison."""

RISK: Cues = {
    "en": r"mortality|predictive\svalue|sensitivity|specificity|likelihood|accuracy|survival|risk(?!\s(?:score|index"
    r"|category|class))|(?:event|stroke|bleeding|complication)s?\srate|probability|chance|prevalence|incidence|mace",
    "de": r"risiko|mortalität|sterblichkeit",
    "fr": r"risque|mortalité",
    "es": r"riesgo|mortalidad",
    "pt": r"risco|mortalidade",
    "it": r"rischio|mortalità",
    "ru": r"риск|смертность|летальность",
    "ar": r"خطر|الوفيات",
    "hi": r"जोखिम|मृत्यु",
    "zh": r"风险|死亡率",
    "ja": r"リスク|死亡率",
    "ko": r"위험|사망률",
}
"""What a score is translated into."""

COMPARED: Cues = {
    "en": r"(?:reduce|lower|raise|titrate|taper|limit)\s(?:\w+\s){0,4}(?:to|by)|double|twice|half|above|below|over"
    r"|under|than|exceed(?:s|ing)?|at\sleast|at\smost|(?<!\badd\s)(?<!\b(?:adds|sums)\s)(?<!\badding\s)up\sto|beyond"
    r"|past|least|from\sthat\son\sday|(?:begins?|beginning|starts?|starting|sets?\sin|kicks?\sin|applies"
    r"|ends?(?!\swith)|defined|cut\soff|clear|short|well)\s(?:at|from|as|of|with|only\sat)|(?:clear|short)\sof\sthe"
    r"|until|(?:obesity|overweight|class\s[iv]+|stage\s\w+)\s(?:at|from)|(?<=;\s)at|reach(?:es|ed)?|towards?",
    "de": r"(?:ober|unter)halb\svon|über|unter|als|mindestens|ab|bis|beginnt\s(?:bei|ab)|höchstens",
    "fr": r"(?:commence|débute|débuterait)(?:\sà)?|dessous\sde|supérieure?\sà|inférieure?\sà|au-dessus\sde|moins\sde"
    r"|plus\sde|à\spartir\sde|dès|au-delà\sde|jusqu['’]à|au\smoins",
    "es": r"(?:may|men)or(?:es)?\s(?:de|que|a)"
    r"|debajo\sde|encima\sde|superior\sa|inferior\sa|menos\sde|más\sde|a\spartir\sde|desde|hasta|al\smenos",
    "pt": r"acima\sde|abaixo\sde|menos\sde|mais\sde|a\spartir\sde|até|pelo\smenos",
    "it": r"sotto(?:\si)?|sopra(?:\si)?|superiore\sa|inferiore\sa|meno\sdi|più\sdi|a\spartire\sda|(?:dai|da|oltre"
    r"|fino\sa|almeno)",
    "ru": r"выше|ниже|более|менее|больше|меньше|свыше|от|не\sменее|до",
    "ar": r"أكثر\sمن|أقل\sمن|فوق|تحت",
    "hi": r"से\sअधिक|से\sकम",
    "zh": r"大于|小于|高于|低于|超过",
    "ja": r"以上|未満|超",
    "ko": r"이상|이하|미만|초과",
}
"""What a threshold follows."""
