"""Words around a value, a date or an age, and in them. Regular expressions for text in any case, by language."""

from __future__ import annotations

Cues = dict[str, str]

MONTHS: dict[str, str] = {
    "en": "jan(?:uary)? feb(?:ruary)? mar(?:ch)? apr(?:il)? may june? july? aug(?:ust)? sept?(?:ember)? oct(?:ober)?"
    " nov(?:ember)? dec(?:ember)?",
    "de": "jan(?:uar)?|jänner feb(?:ruar)? märz"
    "|maerz apr(?:il)? mai juni juli aug(?:ust)? sep(?:tember)? okt(?:ober)?"
    " nov(?:ember)? dez(?:ember)?",
    "fr": "janvier février|fevrier mars avril mai juin juillet août|aout septembre octobre novembre décembre|decembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre|setiembre octubre noviembre diciembre",
    "pt": "janeiro fevereiro março|marco abril maio junho julho agosto setembro outubro novembro dezembro",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "ru": "янв(?:ар[яь])? февр?(?:ал[яь])? март?а? апр(?:ел[яь])? ма[яй] июн[яь] июл[яь] авг(?:уста?)?"
    " сент?(?:ябр[яь])? окт(?:ябр[яь])? нояб?(?:р[яь])? дек(?:абр[яь])?",
    "ar": "يناير فبراير مارس أبريل|ابريل مايو يونيو يوليو أغسطس|اغسطس سبتمبر أكتوبر|اكتوبر نوفمبر ديسمبر",
    "hi": "जनवरी फ़रवरी|फरवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर|सितम्बर अक्टूबर|अक्तूबर नवंबर|नवम्बर दिसंबर|दिसम्बर",
}
"""Names of the months, twelve in a row."""

WEEKS: Cues = {
    "en": r"weeks?|wks?|w",
    "de": r"(?:schwangerschafts)?wochen?|ssw",
    "fr": r"semaines?|sa",
    "es": r"semanas?",
    "it": r"settiman[ae]",
    "ru": r"недел[яьюией]{1,2}",
    "ar": r"أسبوع(?:ًا|ا|اً)?|أسابيع",
    "hi": r"सप्ताह|हफ़्ते|हफ्ते",
    "zh": r"周|週|星期",
    "ko": r"주",
}

DAYS: Cues = {
    "en": r"days?|d",
    "de": r"tagen?|tage?",
    "fr": r"jours?|j",
    "es": r"días?|dias?",
    "it": r"giorn[io]",
    "ru": r"дн(?:я|ей)|день",
    "ar": r"أيام|يومًا|يوما|يوم",
    "hi": r"दिन",
    "zh": r"天|日",
    "ko": r"일",
}

AND: Cues = {
    "en": r"and|plus",
    "de": r"und",
    "fr": r"et",
    "es": r"y",
    "pt": r"e",
    "ru": r"и",
    "ar": r"و",
    "hi": r"और",
    "zh": r"零|又",
    "ja": r"と",
}
"""What joins weeks and days."""

RESULT: Cues = {
    "en": r"answer|result|value|output|edd|due(?:\sdate)?|(?:date\sof\s)?conception|gestational\sage|ga\b",
    "de": r"ergebnis|wert|antwort|geburtstermin|gestationsalter",
    "fr": r"résultat|réponse|valeur|date|âge\sgestationnel",
    "es": r"resultado|respuesta|valor|fecha|fpp|edad\sgestacional",
    "pt": r"resultado|resposta|valor|data|idade\sgestacional",
    "it": r"risultato|risposta|valore|data|età\sgestazionale",
    "ru": r"результат|ответ|значение|итого|дата|срок",
    "ar": r"النتيجة|الإجابة|القيمة|تاريخ|عمر",
    "hi": r"परिणाम|उत्तर|मान|तिथि|आयु",
    "zh": r"结果|答案|答|数值|预产期|孕龄",
    "ja": r"結果|答え|答|値|予定日|週数",
    "ko": r"결과|답|값|예정일",
}
"""Nouns for the value that was asked for."""

QUANTITY: Cues = {
    "en": r"bmi|map|e?gfr|crcl|fena|ldl(?:-c)?|homa-ir|fib-4|qtc[a-z]?|bsa|ibw|abw|anion\sgap|osmolality"
    r"|delta\s(?:gap|ratio)|wells(?:['’]?\sscore)?|adjusted|corrected|calculated|estimated",
}
"""Names of the quantities themselves, which their value may follow at once."""

TOTAL: Cues = {
    "en": r"total|sum|scores?|index|points|criteria\s(?:are\s)?(?:met|fulfilled)|meets|gcs|psi|rcri|cci"
    r"|apache(?:\s(?:ii|2))?|sofa|perc|sirs"
    r"|has-bled|curb-65|heart|centor|feverpain|meld(?:-?\s?na)?|child-pugh|caprini|gbs|cha.?ds.?-vasc",
    "de": r"score|punktzahl|gesamt(?:punktzahl|score)?|insgesamt|summe",
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
    "any": r"[:=≈→⟹⇒⟶~]",
    "en": r"(?:is|was|be|of|at|as|equals?|equal\sto|gives?|giving|yields?|get|obtain|comes?\s(?:out\s)?(?:to"
    r"|at)|to|works?\sout\s(?:at|to)"
    r"|scores?|count|have|meets|are|on|around|so|thus|hence|therefore)",
    "de": r"(?:ist|beträgt|lautet|liegt\sbei|ergibt|ergeben\ssich|von|der)",
    "fr": r"(?:est|vaut|de|soit|le)",
    "es": r"(?:es|de|igual\sa|el)",
    "pt": r"(?:é|de|igual\sa)",
    "it": r"(?:è|di|pari\sa|il)",
    "ru": r"(?:составляет|составил[ао]?|равен|равна|равно|это)",
    "ar": r"(?:هي|هو|تساوي|يساوي)",
    "zh": r"(?:等于|约为|为|為|是|约)",
    "ja": r"[はが]",
    "ko": r"[은는이가]",
}
"""What joins a quantity to its value."""

ABOUT: Cues = {
    "any": r"[≈~≃=\s(\[<]|\x01",
    "en": r"(?:approximately|about|around|roughly|approx\.?|exactly|therefore|thus|then|also|only|now|just"
    r"|calculated|estimated|equal|to|be|a|an"
    r"|the|total|value|score|of|out|rounded|nearly|patient|exact)",
    "de": r"(?:etwa|ungefähr|ca\.|circa|rund|also|somit|daher|der|die|das)",
    "fr": r"(?:environ|donc|à\speu\sprès|d['’]environ|de|le|la)",
    "es": r"(?:aproximadamente|unos|cerca|de|el|la)",
    "pt": r"(?:aproximadamente|cerca|de|o|a)",
    "it": r"(?:circa|pari|di|a|il|la)",
    "ru": r"(?:примерно|около|приблизительно)",
    "ar": r"(?:حوالي|تقريبا|نحو)",
    "hi": r"(?:लगभग|है|का|के)",
    "zh": r"(?:大约|约|患者的?)",
    "ja": r"(?:約|およそ)",
    "ko": r"(?:약|대략)",
}
"""What may stand between the two."""

NORMAL: Cues = {
    "en": r"normal(?:ly)?|reference|ref\.?|range|threshold|cut-?\s?off|limits?|targets?(?!\sweight)|average|healthy"
    r"|typical(?:ly)?|usual(?:ly)?"
    r"|maxim(?:um|al)|minim(?:um|al)|possible|versus|vs\.?|compared|comparison|uncorrected|raw|unadjusted"
    r"|actual|measured|baseline|ideal\s(?:is|range)|desirable|criterion|bands?"
    r"|needed|required|recommended|published|validated|guideline",
    "de": r"norm(?:al|bereich|wert)?e?|referenz(?:bereich)?|grenz\w{1,6}|zwischen|maximal",
    "fr": r"norm(?:e|ale?s?|aux)|référence|seuil|limites?|entre|maximum",
    "es": r"normal(?:es)?|referencia|umbral|límites?|entre|rango|máximo|sobre",
    "pt": r"norma(?:l|is)|referência|limiar|limites?|entre|intervalo|máximo",
    "it": r"normal[ei]|riferimento|soglia|limit[ei]|tra|massimo",
    "ru": r"норма|нормальн\w{0,4}|порог|границ\w{1,3}|референс\w{0,5}|максим\w{0,5}",
    "ar": r"الطبيعي|طبيعي|المعدل|الحد",
    "hi": r"सामान्य|सीमा|अधिकतम",
    "zh": r"正常|参考|范围|阈值|满分|最高",
    "ja": r"正常|基準|範囲|最大|満点",
    "ko": r"정상|기준|범위|최대|만점",
}
"""Nouns and adverbs for what a value is compared with."""

RISK: Cues = {
    "en": r"mortality|survival|risk(?!\s(?:score|index|category|class))|(?:event|stroke|bleeding"
    r"|complication)s?\srate|rate\s(?:of|about|is)"
    r"|probability|chance|prevalence|incidence|mace|confidence",
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
    "en": r"double|twice|half|above|below|over|under|than|exceed(?:s|ing)?|at\sleast|at\smost|up\sto|beyond"
    r"|least|from\sthat\son\sday",
    "de": r"(?:ober|unter)halb\svon|über|unter|als|mindestens",
    "fr": r"dessous\sde|supérieure?\sà|inférieure?\sà|au-dessus\sde|moins\sde|plus\sde",
    "es": r"debajo\sde|encima\sde|superior\sa|inferior\sa|menos\sde|más\sde",
    "pt": r"acima\sde|abaixo\sde|menos\sde|mais\sde",
    "it": r"sotto(?:\si)?|sopra(?:\si)?|superiore\sa|inferiore\sa|meno\sdi|più\sdi",
    "ru": r"выше|ниже|более|менее",
    "ar": r"أكثر\sمن|أقل\sمن|فوق|تحت",
    "hi": r"से\sअधिक|से\sकम",
    "zh": r"大于|小于|高于|低于|超过",
    "ja": r"以上|未満|超",
    "ko": r"이상|이하|미만|초과",
}
"""What a threshold follows."""

GIVEN: Cues = {
    "en": r"lmp|last\smenstrual\speriod|period|based\son|starting|from|after|since|began|ends?\son|trimester"
    r"|plus|add(?:ing)?|subtract(?:ing)?|until|admission",
    "de": r"letzten?\s(?:regel|periode)|vom|nach|seit|ab",
    "fr": r"dernières?\srègles|depuis|après|à\spartir\sd[ue]",
    "es": r"fum|última\s(?:regla|menstruación)|desde|después\sde[l]?",
    "pt": r"dum|última\smenstruação|desde|após",
    "it": r"ultima\smestruazione|dal|dopo",
    "ru": r"последн\w{1,4}\sменструаци\w|с|после",
    "ar": r"آخر\sدورة|منذ|بعد",
    "hi": r"पिछले\sमासिक|अंतिम\sमासिक|से|बाद",
    "zh": r"末次月经|从|自",
    "ja": r"最終月経|から",
    "ko": r"마지막\s월경|부터",
}
"""What a date follows that is given, not found."""

NUMBER_WORDS: dict[str, float] = {
    word: value
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
        ]
    )
}
