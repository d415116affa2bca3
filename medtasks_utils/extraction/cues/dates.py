"""Words in and around dates and ages. Regular expressions for text in any case, by language."""

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
    "en": r"(?:and|plus|with)(?:\sa\sremainder\sof)?|remainder",
    "de": r"(?:und|mit)(?:\s(?:es\s)?(?:bleib(?:en|t)|verbleib(?:en|t)|einem\srest\svon))?|rest",
    "fr": r"(?:et|avec)(?:\sil)?(?:\s(?:reste(?:nt)?|un\sreste\sde))?|reste",
    "es": r"(?:y|con)(?:\s(?:sobran?|quedan?|(?:un\s)?resto\sde))?|resto",
    "pt": r"(?:e|com)(?:\s(?:sobram?|restam?|resto\s(?:de\s)?))?|resto",
    "it": r"(?:e|con)(?:\s(?:resta(?:no)?|avanza(?:no)?|(?:il\s)?resto\sdi))?|resto",
    "ru": r"(?:и|с)(?:\sостатком(?:\sв)?|\sостаётся)?|остаток",
    "ar": r"و",
    "hi": r"और",
    "zh": r"零|又",
    "ja": r"と",
}
"""What joins weeks and days."""

GIVEN: Cues = {
    "en": r"lmp|last\smenstrual\speriod|period|based\son|starting|from|after|since|began|ends?\son|trimester|viability"
    r"|scan|screening|ultrasound|sonograph\w{1,3}|visit|presented|seen|today(?:['’]s\sdate\b[^.,;\d]{0,20}?\sis)?|plus"
    r"|add(?:ing)?|subtract(?:ing)?|until|admission",
    "de": r"ultraschall\w*|sonographie|heute|untersuchung|letzten?\s(?:regel|periode)|vom|nach|seit|ab",
    "fr": r"échographie|consultation|visite|aujourd['’]hui|dernières?\srègles|ddr|depuis|après|à\spartir\sd[ue]",
    "es": r"ecografía|consulta|visita|hoy|fu[mr]|última\s(?:regla|menstruación)|desde|después\sde[l]?",
    "pt": r"ultrass\w+|consulta|hoje|dum|última\smenstruação|desde|após",
    "it": r"ecografia|visita|oggi|u\.m\.?|ultima\smestruazione|dal|dopo",
    "ru": r"узи|осмотр\w{0,2}|визит\w{0,2}|сегодня|последн\w{1,4}\sменструаци\w|с|после",
    "ar": r"اليوم|الزيارة|آخر\sدورة|منذ|بعد",
    "hi": r"आज|जाँच|पिछले\sमासिक|अंतिम\sमासिक|से|बाद",
    "zh": r"超声|今天|就诊|末次月经|从|自",
    "ja": r"超音波|受診|本日|検査日|最終月経|から",
    "ko": r"초음파|오늘|방문|검사일|마지막\s(?:월경|생리)(?:\s?시작일)?|부터",
}
"""What a date follows that is given, not found."""
