"""The words by which responses state, deny and take back an answer, by language. Regular expressions, lower case.

A further language is a further line in each table; no reading knows one of its own.
"""

from __future__ import annotations

import re

Cues = dict[str, str]

ANSWER: Cues = {
    "en": r"answer|ans\b\.?|sol\b\.?|choice|letter|pick|option|solution|conclusion|(?:correct|final|verdict)(?=:)"
    r"|\b(?:correct|right|best|appropriate|likely|suitable|final)\s(?:one|response|letter|match|diagnosis|statement)\b",
    "de": r"antwort(?:möglichkeit|option)?|lösung|auswahl|(?:richtig|korrekt)(?=\s(?:ist|wäre))",
    "fr": r"réponse|choix|proposition",
    "es": r"respuesta|opción|alternativa|elección",
    "pt": r"resposta|opção|alternativa|escolha|(?<=a\s)correta(?=\sé)",
    "it": r"risposta|opzione|scelta|alternativa",
    "ru": r"ответ|вариант|выбор",
    "ar": r"الإجابة|الاجابة|إجابة|الجواب|جواب|الخيار|الاختيار",
    "hi": r"उत्तर|जवाब|विकल्प",
    "zh": r"答案|正确选项|正确的?是|选项|回答",
    "ja": r"正解|答え|解答|回答|選択肢",
    "ko": r"정답|답변|답안|답|(?<=옳은\s)것",
}
"""Nouns that announce the answer."""

LINK: Cues = {
    "any": r"[:：=\-–—>→⟹]",
    "en": r"\b(?:is|be|was|as|remains|to)\b",
    "de": r"\b(?:ist|lautet|wäre|bleibt)\b",
    "fr": r"\b(?:est|serait)\b",
    "es": r"\b(?:es|sería)\b",
    "pt": r"(?<!\w)(?:é|seria)(?!\w)",
    "it": r"(?<!\w)(?:è|sarebbe)(?!\w)",
    "ru": r"\b(?:это|является)\b",
    "ar": r"(?<!\w)(?:هي|هو)(?!\w)",
    "zh": r"[是为為选選]",
    "ja": r"[はがを]",
    "ko": r"[은는이가]",
}
"""What joins such a noun to the answer."""

FILLER: Cues = {
    "any": r"[\s:：,(\[（【<'=\-–—«]",
    "en": r"\b(?:the|would|be|is|therefore|thus|then|clearly|most|likely|probably|indeed|definitely|simply|just|only|"
    r"correct|best|option|choice|answer|letter|number|one|labell?ed|statement|single|still)\b",
    "de": r"\b(?:die|der|das|daher|also|somit|antwort|option|möglichkeit|variante|wahrscheinlich)\b",
    "fr": r"\b(?:la|le|donc|réponse|option|proposition|l['’])\b|\bl['’]",
    "es": r"\b(?:la|el|opción|respuesta|alternativa|letra|por|tanto)\b",
    "pt": r"\b(?:a|o|opção|resposta|alternativa|letra|portanto)\b",
    "it": r"\b(?:la|il|opzione|risposta|lettera|quindi)\b",
    "ru": r"\b(?:вариант|ответ|под|буквой)\b",
    "ar": r"(?<!\w)(?:الخيار|الإجابة|حرف|الحرف)(?!\w)",
    "hi": r"विकल्प|उत्तर",
    "zh": r"选项|答案|选择|[选是为]",
    "ja": r"選択肢",
    "ko": r"선택지|보기",
}
"""What may stand between the link and the letter."""

CHOOSE: Cues = {
    "en": r"choose|select|pick|think|believe|say|guess|favou?rs?|go(?:ing)?\s(?:with|for)|opt(?:ing)?\sfor"
    r"|settle\s(?:on|for)|toward|lean(?:ing)?\stowards?",
    "de": r"wähle|nehme|entscheide\smich\sfür",
    "fr": r"choisis|sélectionne|opte\spour",
    "es": r"elijo|escojo|selecciono|elegiría|opto\spor",
    "pt": r"escolho|seleciono|escolheria|opto\spor",
    "it": r"scelgo|seleziono|sceglierei|opto\sper",
    "ru": r"выбираю|выбрал[аи]?",
    "ar": r"أختار|اختار|سأختار",
    "hi": r"चुनता\sहूँ|चुनूँगा",
    "zh": r"应?选择?|故选|因此选",
}
"""Verbs that a choice follows."""

CHOSEN_BEFORE: Cues = {
    "de": r"\s(?:wählen|nehmen)",
    "hi": r"\s?(?:को\s)?चुन",
    "ja": r"を選",
    "ko": r"(?:번|을|를)\s?선택",
}
"""What follows a letter that is chosen, where the verb comes last."""

CORRECT: Cues = {
    "en": r"(?:is|(?:seems|appears)(?:\sto\sbe)?|(?:must|would|should)\sbe)\s"
    r"(?:(?:the|a|therefore|thus|clearly|also|most|single|likely|appropriate|suitable)\s){0,4}"
    r"(?:correct(?!\s(?:if|for|only|that|in\s(?:stating|saying)))|right(?!\s(?:if|for|only))|true|better|answer"
    r"|best(?:\s(?:answer|choice|option|fit|match))?(?!\s(?:for|known|seen|avoided|if))|only\s(?:answer|choice|option)"
    r"|(?:one\s)?(?:i['’]d|i\swould)\s(?:pick|choose))"
    r"|(?:best\s)?fits|(?:best\s)?matches|best\s(?:describes|explains)|makes\ssense|it\sis\b|correctly\s(?:identifies|describes)",
    "de": r"(?:ist|wäre|erscheint)\s(?:die\s|daher\s|somit\s|also\s)*(?:richtig|korrekt|zutreffend)",
    "fr": r"est\s(?:la\s|donc\s)*(?:bonne|correcte?|exacte?|juste)",
    "es": r"es\s(?:la\s|por\stanto\s)*(?:correcta|adecuada|respuesta)",
    "pt": r"(?:é|está)\s(?:a\s|portanto\s)*(?:corret[ao]|adequada|resposta)",
    "it": r"è\s(?:la\s|quindi\s)*(?:corrett[ao]|giusta|esatta)",
    "ru": r"(?:[—–-]\s)?(?:верен|верно|верный|правильн)",
    "ar": r"(?:هي|هو)\s(?:الإجابة\s)?(?:الصحيحة?|صحيحة?)|صحيحة?",
    "hi": r"(?:ही\s)?सही(?:\sउत्तर|\sविकल्प)?\sहै",
    "zh": r"(?:是|才是?)?(?:正确|对的)",
    "ja": r"(?:が|は)(?:正しい|正解|最も適切|適切)",
    "ko": r"(?:번)?(?:이|가)\s?(?:정답|맞|옳)",
}
"""What follows a letter that is called right."""

THEREFORE: Cues = {
    "en": r"\b(?:therefore|thus|hence|so|leav(?:es?|ing)(?:\sus\swith)?|but|it(?:['’]s|\s(?:is|(?:must|should|would)\sbe))"
    r"|final|rather|most\slikely|probably|in\sconclusion)",
    "de": r"\b(?:also|daher|somit|folglich|sondern|wahrscheinlich)",
    "fr": r"\b(?:donc|mais|plutôt|probablement)",
    "es": r"\b(?:sino|por\s(?:lo\s)?tanto|entonces|probablemente)",
    "pt": r"\b(?:mas\ssim|portanto|logo|provavelmente)",
    "it": r"\b(?:quindi|dunque|bensì|ma|probabilmente)",
    "ru": r"\b(?:поэтому|значит|следовательно|итак|а)",
    "ar": r"(?<!\w)(?:لذلك|إذن|بل)",
    "hi": r"(?:इसलिए|अतः|बल्कि)",
    "zh": r"(?:因此|所以|故)",
    "ja": r"(?:したがって|よって|つまり)[、,]?",
    "ko": r"(?:따라서|그러므로)[,]?",
}
"""What a letter alone follows as a conclusion."""

NOT_BEFORE: Cues = {
    "en": r"\b(?:not|never|cannot|can['’]?t\sbe|neither|nor|unlike|excludes?|eliminate|wrong|incorrect|than|if|whether"
    r"|rul(?:ed?|ing)\sout|without|versus|vs\.?)|n['’]t",
    "de": r"\b(?:nicht|weder|noch|kein(?:e|er)?|ob|statt)",
    "fr": r"\b(?:pas|ni|sauf|non)",
    "es": r"\b(?:no\s(?:es|sea)|ni|no)",
    "pt": r"\b(?:não\sé|nem|não)",
    "it": r"\b(?:non\sè|né|non)",
    "ru": r"\b(?:не|ни)",
    "ar": r"(?<!\w)(?:ليست?|لا|وليس)",
    "zh": r"(?:不是|不选|并非|而非)",
}
"""What denies the letter that follows within two words."""

WRONG_AFTER: Cues = {
    "en": r"(?:(?:\b(?:is|are|was|be|seems)|[:–—-])\s?(?:\w{1,12}ly\s|also\s|therefore\s)?"
    r"(?:incorrect|wrong|false|not|no\b|unlikely|ruled\sout|excluded|out\b|less)|isn['’]t|(?:can|may)\sbe\s(?:ruled\sout|excluded)"
    r"|incorrectly|does\snot|doesn['’]t)",
    "de": r"(?:falsch|nicht\s(?:richtig|korrekt|zutreffend)|ebenfalls\snicht|scheidet\saus|passt\snicht)",
    "fr": r"(?:incorrecte?\b|fausse?|inexacte?|n['’]est\spas|ne\s(?:convient|correspond)\spas)",
    "es": r"(?:incorrecta|falsa|errónea|no\ses\b)",
    "pt": r"(?:incorreta|falsa|errada|não\sé)",
    "it": r"(?:errat[ao]|sbagliata|scorretta|non\sè)",
    "ru": r"(?:неверен|неверно|неправил|не\sподходит)",
    "ar": r"(?:غير\sصحيح|خطأ|خاطئ)",
    "hi": r"(?:गलत|सही\sनहीं)",
    "zh": r"(?:错误|不正确|不对|都不|不符合|排除)",
    "ja": r"(?:誤り|正しくな|間違い|不正解|ではありません|ではない)",
    "ko": r"(?:틀|오답|아니|아닙니다)",
    "any": r"[❌✗✘]",
}
"""What calls a letter or option wrong that it follows."""

OR: Cues = {
    "en": r"(?:and/)?or|and",
    "de": r"oder|und",
    "fr": r"ou|et",
    "es": r"o|y|u",
    "pt": r"ou|e",
    "it": r"o|oppure|e",
    "ru": r"или|и",
    "ar": r"أو|و",
    "hi": r"या|और",
    "zh": r"或者?|和|与|、",
    "ja": r"と|または|か",
    "ko": r"와|과|또는",
}
"""What joins two letters, so that neither is stated."""

RETRACTED: Cues = {
    "en": r"\bwait\b|\bscratch\sthat|\bon\s(?:second\sthought|reflection|closer\sinspection)|\blet\sme\s(?:re-?consider|correct)"
    r"|\bi\smade\sa\s(?:mistake|error)|\bthat\s(?:was|is)\s(?:a\smistake|wrong|an\serror)|(?<![\w\s])\s?no,\s(?!not\b)"
    r"|\?\s?no\b|\bactually,|\bcorrection:|\bredoing|\bi\s(?:take\sthat\sback|forgot|misread)|\bbut\sthat\swas|\bchange\smy\s(?:answer|mind)",
    "de": r"\bmoment\b|\bhalt,|\bstopp\b|\bkorrektur:|\bdoch\snicht\b|\bnein,",
    "fr": r"\battendez?\b|\bcorrection\s?:|\bnon,|\ben\sfait,",
    "es": r"\bespera\b|\bcorrección:|\bmejor\sdicho",
    "pt": r"\bespere?\b|\bcorreção:|\bmelhor\sdizendo",
    "it": r"\baspetta\b|\bcorrezione:|\banzi,",
    "ru": r"\bподождите?\b|\bстоп\b|\bисправление:|\bхотя\sнет",
    "ar": r"انتظر|تصحيح",
    "hi": r"रुकिए|रुको|सुधार:",
    "zh": r"等等|等一下|更正",
    "ja": r"待って|訂正",
    "ko": r"잠깐|잠시만|정정",
}
"""What takes back the statements before it."""

TENTATIVE: Cues = {
    "en": r"\b(?:if|whether|unless|suppose|tempt(?:ed|ing)|at\sfirst|first\s(?:thought|choice|instinct|idea|guess)|initial(?:ly)?"
    r"|(?:one|you|someone|some|many)\s(?:\w+\s){0,2}(?:might|may|could|would|say|think|claim|pick|choose)|common\s(?:error|mistake)"
    r"|could\s(?:be|also)|might\sbe|may\s(?:also\s)?be|undecided|torn|often\sconfused|had\sasked)\b",
    "de": r"\b(?:wenn|falls|ob|zunächst|zuerst|könnte|vielleicht)\b",
    "fr": r"\b(?:si|peut-être|pourrait|d['’]abord)\b",
    "es": r"\b(?:si|quizás|podría|al\sprincipio)\b",
    "pt": r"\b(?:se|talvez|poderia|a\sprincípio)\b",
    "it": r"\b(?:se|forse|potrebbe|inizialmente)\b",
    "ru": r"\b(?:если|может\sбыть|возможно|сначала)\b",
    "ar": r"(?<!\w)(?:إذا|ربما|لو)(?!\w)",
    "hi": r"(?:यदि|अगर|शायद)",
    "zh": r"(?:如果|若是?|也许|可能是|起初)",
    "ja": r"(?:もし|かもしれ|最初は)",
    "ko": r"(?:만약|아마|처음에는)",
}
"""What makes a sentence a supposition, an earlier thought or someone else's."""

MONTHS: dict[str, str] = {
    "en": "jan(?:uary)? feb(?:ruary)? mar(?:ch)? apr(?:il)? may june? july? aug(?:ust)? sept?(?:ember)? oct(?:ober)?"
    " nov(?:ember)? dec(?:ember)?",
    "de": "jan(?:uar)?|jänner feb(?:ruar)? märz|maerz apr(?:il)? mai juni juli aug(?:ust)? sep(?:tember)? okt(?:ober)?"
    " nov(?:ember)? dez(?:ember)?",
    "fr": "janvier février|fevrier mars avril mai juin juillet août|aout septembre octobre novembre décembre|decembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre|setiembre octubre noviembre diciembre",
    "pt": "janeiro fevereiro março|marco abril maio junho julho agosto setembro outubro novembro dezembro",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "ru": "янв(?:ар[яь])? февр?(?:ал[яь])? март?а? апр(?:ел[яь])? ма[яй] июн[яь] июл[яь] авг(?:уста?)? сент?(?:ябр[яь])?"
    " окт(?:ябр[яь])? нояб?(?:р[яь])? дек(?:абр[яь])?",
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
    "en": r"answer|result|value|output|edd|due\sdate|(?:date\sof\s)?conception|gestational\sage|ga\b",
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

TOTAL: Cues = {
    "en": r"total|sum|scores?|index|points|criteria\s(?:are\s)?(?:met|fulfilled)|meets",
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
    "en": r"(?:is|was|be|of|at|as|equals?|equal\sto|gives?|giving|yields?|get|obtain|comes?\s(?:out\s)?(?:to|at)|to|works?\sout\s(?:at|to)"
    r"|scores?|count|have|meets|are)",
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
    "en": r"(?:approximately|about|around|roughly|approx\.?|exactly|therefore|thus|then|also|only|now|just|calculated|estimated|equal|to|be|a|an"
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
    "en": r"normal(?:ly)?|reference|ref\.?|range|threshold|cut-?\s?off|limits?|targets?|average|healthy|typical(?:ly)?|usual(?:ly)?"
    r"|maxim(?:um|al)|minim(?:um|al)|possible|versus|vs\.?|compared|comparison|uncorrected|ideal\s(?:is|range)|desirable|criterion|bands?"
    r"|needed|required|recommended|published|validated|guideline",
    "de": r"norm(?:al|bereich|wert)?e?|referenz(?:bereich)?|grenzwert|zwischen|maximal",
    "fr": r"norm(?:e|ale?s?|aux)|référence|seuil|entre|maximum",
    "es": r"normal(?:es)?|referencia|umbral|entre|rango|máximo|sobre",
    "pt": r"norma(?:l|is)|referência|limiar|entre|intervalo|máximo",
    "it": r"normal[ei]|riferimento|soglia|tra|massimo",
    "ru": r"норма|нормальн\w{0,4}|порог|референс\w{0,5}|максим\w{0,5}",
    "ar": r"الطبيعي|طبيعي|المعدل|الحد",
    "hi": r"सामान्य|सीमा|अधिकतम",
    "zh": r"正常|参考|范围|阈值|满分|最高",
    "ja": r"正常|基準|範囲|最大|満点",
    "ko": r"정상|기준|범위|최대|만점",
}
"""Nouns and adverbs for what a value is compared with."""

RISK: Cues = {
    "en": r"mortality|survival|risk(?!\s(?:score|index|category|class))|(?:event|stroke|bleeding|complication)s?\srate|rate\s(?:of|about|is)"
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
    "en": r"above|below|over|under|than|exceed(?:s|ing)?|at\sleast|at\smost|up\sto|beyond|least|from\sthat\son\sday",
    "de": r"über|unter|als|mindestens",
    "fr": r"supérieure?\sà|inférieure?\sà|au-dessus\sde|moins\sde|plus\sde",
    "es": r"superior\sa|inferior\sa|menos\sde|más\sde",
    "pt": r"acima\sde|abaixo\sde|menos\sde|mais\sde",
    "it": r"superiore\sa|inferiore\sa|meno\sdi|più\sdi",
    "ru": r"выше|ниже|более|менее",
    "ar": r"أكثر\sمن|أقل\sمن|فوق|تحت",
    "hi": r"से\sअधिक|से\sकम",
    "zh": r"大于|小于|高于|低于|超过",
    "ja": r"以上|未満|超",
    "ko": r"이상|이하|미만|초과",
}
"""What a threshold follows."""

GIVEN: Cues = {
    "en": r"lmp|last\smenstrual\speriod|period|based\son|starting|from|after|since|began|on|ends?\son|trimester|plus|add(?:ing)?|subtract(?:ing)?|until|admission",
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

HALLUCINATED: Cues = {
    "de": r"halluzin\w{2,12}|erfunden\w{0,2}|fabriziert\w{0,2}",
    "fr": r"hallucin\w{1,8}|inventée?s?|fabriquée?s?",
    "es": r"alucina\w{1,8}|inventad[ao]s?|fabricad[ao]s?",
    "pt": r"alucina\w{1,8}|inventad[ao]s?|fabricad[ao]s?",
    "it": r"allucina\w{1,8}|inventat[aoie]|fabbricat[aoie]",
    "ru": r"галлюцин\w{2,12}|выдуман\w{0,4}|вымыш\w{2,6}",
    "ar": r"(?:ال)?هلوسة|مهلوسة?|هلوسات|مختلقة?|ملفقة?",
    "hi": r"मतिभ्रम|भ्रामक|काल्पनिक|मनगढ़ंत|हैलुसिनेशन",
    "zh": r"幻觉|虚构|捏造|编造",
    "ja": r"ハルシネーション|幻覚|捏造|虚偽",
    "ko": r"환각|허구|날조|할루시네이션",
}
"""Words for a hallucinated answer; English has patterns of its own in :mod:`verdicts`."""

FACTUAL: Cues = {
    "de": r"fakt(?:isch|entreu|enbasiert|uell)\w{0,2}(?!\s(?:falsch|nicht|inkorrekt|unzutreffend|unrichtig))|sachlich\srichtig",
    "fr": r"factuel(?:le)?s?|exacte?s?",
    "es": r"factual(?:es)?|fáctic[ao]s?|veraz|veraces",
    "pt": r"factua(?:l|is)|fatua(?:l|is)|veraz",
    "it": r"fattual[ei]|veritier[ao]",
    "ru": r"достоверн\w{0,4}|фактическ[иа]\w{0,3}\s(?:верн|точ|прав)\w{0,5}|соответствует\sфактам",
    "ar": r"واقعية?|حقيقية?",
    "hi": r"तथ्यात्मक|तथ्यपूर्ण",
    "zh": r"事实|属实|真实",
    "ja": r"事実|ファクト",
    "ko": r"사실",
}
"""Words for a factual answer."""

RIGHT: Cues = {
    "de": r"korrekt|richtig|zutreffend|wahr",
    "fr": r"correcte?|juste|vraie?",
    "es": r"correct[ao]|ciert[ao]|verdader[ao]",
    "pt": r"corret[ao]|verdadeir[ao]|precis[ao]",
    "it": r"corrett[ao]|ver[ao]|esatt[ao]",
    "ru": r"верен|верна|верно|верный|правил\w{1,5}",
    "ar": r"صحيحة?|دقيقة?",
    "hi": r"सही|सटीक",
    "zh": r"正确|准确|一致",
    "ja": r"正しい|正しく|正確",
    "ko": r"정확|옳|맞습|일치",
}
"""Words for a right answer, which are also said of its parts."""

WRONG: Cues = {
    "de": r"falsch|inkorrekt|unrichtig|unzutreffend",
    "fr": r"incorrecte?|fausse?|erronée?|inexacte?",
    "es": r"incorrect[ao]|fals[ao]|erróne[ao]|inexact[ao]",
    "pt": r"incorret[ao]|fals[ao]|errad[ao]|imprecis[ao]",
    "it": r"scorrett[ao]|fals[ao]|errat[ao]|sbagliat[ao]|inesatt[ao]",
    "ru": r"неверен|неверна|неверно|неверный|неправил\w{1,5}|ошибоч\w{1,5}|недостоверн\w{0,4}|ложн\w{1,4}",
    "ar": r"خاطئة?|خطأ|كاذبة?",
    "hi": r"गलत|असत्य",
    "zh": r"错误|不实|不正确|不准确",
    "ja": r"誤り|誤って|間違い|間違って",
    "ko": r"틀렸|틀린|거짓|잘못",
}
"""Words for a wrong answer."""

UNSURE: Cues = {
    "de": r"\bunsicher\b|nicht\ssicher|nicht\s(?:zu\s)?(?:beurteilen|entscheiden)|unklar",
    "fr": r"pas\s(?:sûre?|certaine?)|incertain|impossible\sde\s(?:dire|juger|déterminer)",
    "es": r"no\sestoy\ssegur[ao]|insegur[ao]|no\s(?:puedo|se\spuede)\sdeterminar",
    "pt": r"não\stenho\scerteza|incert[ao]|não\s(?:posso|é\spossível)\sdeterminar|insegur[ao]",
    "it": r"non\ssono\s(?:sicur|cert)[ao]|incert[ao]|non\s(?:posso|è\spossibile)\sdeterminare",
    "ru": r"не\sувер\w{1,3}|невозможно\sопределить|не\sмогу\s(?:определить|сказать)",
    "ar": r"(?:لست|غير)\sمتأكدة?ا?|لا\sيمكن\sالتحديد|لا\sأستطيع\sالتحديد|غير\sمؤكد",
    "hi": r"निश्चित\sनहीं|अनिश्चित|तय\sनहीं\sकर|कह\sनहीं\sसकत",
    "zh": r"不确定|无法确定|无法判断|不能确定",
    "ja": r"判断できません|わかりません|不明です|確信が持てません|判断できない|不確か",
    "ko": r"확실하지\s않|판단할\s수\s없|모르겠|불확실",
}
"""What leaves the verdict open."""

NO: Cues = {
    "de": r"\b(?:nicht|kein(?:e|en|er|erlei)?|nichts|ohne|weder)\b",
    "fr": r"\b(?:pas|aucune?|rien|sans)\b",
    "es": r"\b(?:no|ningun[ao]?|nada|sin)\b",
    "pt": r"\b(?:não|nenhum[a]?|nada|sem)\b",
    "it": r"\b(?:non|nessun[ao']?|nulla|senza)\b",
    "ru": r"\b(?:не|нет|ничего|без)\b",
    "ar": r"(?<!\w)(?:ليست?|لا|غير|لم|بدون|خالية?)(?!\w)",
    "zh": r"不|没有|无|非(?!常)|未",
}
"""What denies the verdict that follows it in its clause."""

NO_AFTER: Cues = {
    "hi": r"\s?(?:नहीं|नही)",
    "ja": r"[^。、]{0,6}?(?:では(?:ありません|ない|なく)|くありません|くない|は(?:ありません|ない|含まれて(?:いません|いない)|見られません|見られない))",
    "ko": r"[^.,]{0,4}?(?:이|가|은|는)?\s?(?:아닙니다|아니|없습니다|없|않)",
    "de": r"[^.,]{0,20}?\bnicht\b",
    "ar": r"\sغير\sموجود",
}
"""What denies the verdict that it follows."""

JUDGED: Cues = {
    "de": r"antwort|urteil|fazit|ergebnis|aussage|bewertung",
    "fr": r"réponse|verdict|jugement|conclusion|affirmation",
    "es": r"respuesta|veredicto|juicio|conclusión|afirmación",
    "pt": r"resposta|veredi[c]?to|julgamento|conclusão|afirmação",
    "it": r"risposta|verdetto|giudizio|conclusione|affermazione",
    "ru": r"ответ\w{0,2}|вердикт|вывод|утверждение|заключение",
    "ar": r"الإجابة|إجابة|الحكم|الجواب|النتيجة",
    "hi": r"उत्तर|जवाब|निर्णय|निष्कर्ष",
    "zh": r"回答|答案|判断|结论|判定",
    "ja": r"回答|判定|結論|答え",
    "ko": r"답변|판정|결론|답",
}
"""Nouns for the answer that is judged, and for the judgement."""

NUMBER_WORDS: dict[str, float] = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()
    )
}


def any_word(cues: Cues) -> str:
    """One group of all languages' cues as whole words; scripts without spaces need none around them."""
    spaced = [cue for language, cue in cues.items() if language not in ("zh", "ja", "ko", "any")]
    joined = [cue for language, cue in cues.items() if language in ("zh", "ja", "ko", "any")]
    words = rf"(?<![^\W\d_])(?:{'|'.join(spaced)})(?![^\W\d_])"
    return f"(?i:{'|'.join([words, *joined])})"


def either(cues: Cues) -> str:
    """One group of all languages' cues; a case-insensitive one, so that the letters around it keep their case."""
    return f"(?i:{'|'.join(cues.values())})"


def compiled(cues: Cues) -> re.Pattern[str]:
    """The same, compiled."""
    return re.compile(either(cues))
