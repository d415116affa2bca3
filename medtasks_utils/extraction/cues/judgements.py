"""Words for a verdict on an answer, as regular expressions by language; English has its own in :mod:`..verdicts`."""

from __future__ import annotations

Cues = dict[str, str]

HALLUCINATED: Cues = {
    "de": r"halluzin\w{2,12}|erfunden\w{0,2}|erfindet|erfindung|fabriziert\w{0,2}",
    "fr": r"hallucin\w{1,8}|inventée?s?|invente|inventions?|fabriquée?s?",
    "es": r"alucina\w{1,8}|inventa(?:d[ao]s?)?|invención|fabricad[ao]s?",
    "pt": r"alucina\w{1,8}|inventa(?:d[ao]s?)?|invenção|fabricad[ao]s?",
    "it": r"allucina\w{1,8}|inventa(?:t[aoie])?|invenzione|fabbricat[aoie]",
    "ru": r"галлюцин\w{2,12}|выдум(?:ан|ыва|к)\w{0,4}|вымыш\w{2,6}",
    "ar": r"(?:ال)?هلوسة|مهلوسة?|هلوسات|مختلقة?|ملفقة?",
    "hi": r"मतिभ्रम|भ्रामक|काल्पनिक|मनगढ़ंत|हैलुसिनेशन",
    "zh": r"幻觉|虚构|捏造|编造",
    "ja": r"ハルシネーション|幻覚|捏造|虚偽",
    "ko": r"환각|허구|날조|할루시네이션",
}
"""Words for a hallucinated answer; English has patterns of its own in :mod:`verdicts`."""

FACTUAL: Cues = {
    "de": r"fakt(?:isch|entreu|enbasiert|uell)\w{0,2}(?!\s(?:falsch|nicht|inkorrekt|unzutreffend|unrichtig))"
    r"|sachlich\srichtig|(?:fakten|quellen|text)treu",
    "fr": r"factuel(?:le)?s?|conforme\saux\sfaits|fidèles?",
    "es": r"factual(?:es)?|fiel(?:es)?|fáctic[ao]s?|veraz|veraces",
    "pt": r"factua(?:l|is)|fi(?:el|éis)|fatua(?:l|is)|veraz",
    "it": r"fattual[ei]|fedel[ei]|veritier[ao]",
    "ru": r"достовер\w{1,4}|фактическ[иа]\w{0,3}\s(?:верн|точ|прав)\w{0,5}|соответствует\sфактам",
    "ar": r"واقعية?|حقيقية?",
    "hi": r"तथ्यों\sपर\sआधारित|तथ्यात्मक|तथ्यपूर्ण",
    "zh": r"事[实実]|属实|真实",
    "ja": r"事実|ファクト",
    "ko": r"사실",
}
"""Words for a factual answer."""

RIGHT: Cues = {
    "de": r"belegt|gedeckt|gestützt|deckt\ssich|stimmt\b|im\seinklang|entspricht|korrekt|richtig|zutreffend|wahr",
    "fr": r"exacte?s?|étayée?|corroborée?|confirmée?|concorde|conforme|correcte?|juste|vraie?",
    "es": r"respaldad[ao]|sustentad[ao]|apoyad[ao]|coincide|concuerda|correct[ao]|ciert[ao]|verdader[ao]",
    "pt": r"apoiad[ao]|sustentad[ao]|confirmad[ao]|coincide|condiz|corret[ao]|verdadeir[ao]|precis[ao]",
    "it": r"supportat[ao]|sostenut[ao]|riscontr[oi]|coincide|concorda|corrett[ao]|ver[ao]|esatt[ao]",
    "ru": r"подтвержда\w+|подтвержд[её]н\w*|соответствует|согласуется|совпадает|верен|верна|верно|верный|правил\w{1,5}",
    "ar": r"يدعم\w*|مدعومة?|تتفق|تتوافق|مطابقة|صحيحة?|دقيقة?",
    "hi": r"समर्थित|प्रमाणित|मेल\sखात|अनुरूप|सही|सटीक",
    "zh": r"相符|吻合|符合|正确|准确|一致",
    "ja": r"合致|整合|正しい|正しく|正確",
    "ko": r"뒷받침|부합|정확|옳|맞습|일치",
}
"""Words for a right answer, which are also said of its parts."""

WRONG: Cues = {
    "de": r"widersprich\w+|im\swiderspruch|das\sgegenteil|falsch|inkorrekt|unrichtig|unzutreffend",
    "fr": r"contredi\w+|l['’]inverse\sde|le\scontraire\sde|incorrecte?|fau(?:x|sses?)|erreur(?=\sd)|erronée?|inexacte?",
    "es": r"contradice|(?:lo\scontrario|lo\sopuesto)\s(?:de|a)|incorrect[ao]|fals[ao]|erróne[ao]|inexact[ao]",
    "pt": r"contradiz|o\s(?:contrário|oposto)\sd|incorret[ao]|fals[ao]|errad[ao]|imprecis[ao]",
    "it": r"contraddice|(?:il\scontrario|l['’]opposto)\sd|scorrett[ao]|fals[ao]|errat[ao]|sbagliat[ao]|inesatt[ao]",
    "ru": r"противореч\w+|неверен|неверна|неверно|неверный|неправил\w{1,5}|ошибоч\w{1,5}|недостовер\w{1,4}|ложн\w{1,4}",
    "ar": r"تتناقض|تناقض|تتعارض|عكس\sما|خاطئة?|خطأ|كاذبة?",
    "hi": r"विपरीत|विरोधाभास\w*|गलत|असत्य",
    "zh": r"矛盾|张冠李戴|(?<!没)有(?:问题|误)|错误|不实|不正确|不准确",
    "ja": r"矛盾|誤り|誤って|間違い|間違って",
    "ko": r"모순|반대|틀렸|틀린|거짓|잘못",
}
"""Words for a wrong answer."""

TO_SAY: Cues = {
    "de": r"(?:\swäre\ses)?,?\s(?:(?:hier\s)?von\s(?:einer\s)?(?:halluz|erfind)|(?:\w+\s){0,6}zu\s(?:nennen|bezeichnen"
    r"|werten|behaupten|sagen|betrachten|sprechen)|dass)",
    "fr": r"\s(?:de\s|d['’])(?:dire|affirmer|parler|prétendre|considérer|qualifier|y\svoir|conclure)|\sque\b",
    "es": r"\s(?:que\b|decir|afirmar|hablar|considerar|calificar|llamar|tachar|concluir)",
    "pt": r"\s(?:que\b|dizer|afirmar|falar|considerar|classificar|chamar|rotular|concluir)",
    "it": r"\s(?:che\b|dire|affermare|parlare|considerar|definir|classificar|concludere)",
    "ru": r",\sчто\b|\s(?:был[оа]\sбы\s)?(?:говорить|утверждать|сказать|считать|называть|назвать)",
}
"""What follows a word for "wrong" that is said of a judgement: "it would be wrong to call it …"."""

UNSURE: Cues = {
    "de": r"\bunsicher\b|kein(?:em)?\surteil|keine\sahnung|enthalte\smich|weiß\s(?:es\s)?nicht|nicht\ssicher"
    r"|nicht\s(?:zu\s)?(?:beurteilen|entscheiden|sagen(?!,?\sdass))|nicht\sfest\b|unklar",
    "fr": r"ne\s(?:saurais|peux|parviens)\s(?:pas\s)?(?:à\s)?(?:dire|trancher|décider)|pas\s(?:sûre?|certaine?)"
    r"|incertain|impossible\sde",
    "es": r"no\s(?:tengo|hay)\sforma\sde|no\sestoy\ssegur[ao]|insegur[ao]|no\s(?:puedo|consigo|logro|sé"
    r"|se\spuede)\s(?:determinar|decidir)(?:l[oa])?",
    "pt": r"não\s(?:sei|há\scomo|posso|consigo)\s(?:dizer(?!\sque)|saber|determinar|decidir)|não\stenho\scerteza"
    r"|in(?:cert|segur)[ao]",
    "it": r"non\s(?:saprei|so|posso|riesco\sa|è\spossibile)\s(?:dire(?!\sche)|determinare|decidere)"
    r"|non\ssono\s(?:sicur|cert)[ao]|incert[ao]",
    "ru": r"(?:трудно|невозможно)\s(?:сказать|судить|определить)|не\sувер\w{1,3}|не\sмогу\s(?:определить|решить"
    r"|сказать)",
    "ar": r"لا\s(?:أستطيع|يمكن(?:ني)?)\s(?:أن\sأحدد|الحكم|الجزم|التحديد)|(?:لست|غير)\sمتأكدة?ا?|غير\sمؤكد",
    "hi": r"निर्णय\sनहीं\sकर\sसक|निश्चित\sनहीं|अनिश्चित|तय\sनहीं\sकर|कह\sनहीं\sसकत",
    "zh": r"无法(?:下结论|(?:[^,。]{1,8})?(?:做出|作出|抉择))|难以(?:判断|确定)|信息不足|不能判断|不确定|无法确定"
    r"|无法判断|不能确定",
    "ja": r"判断できません|わかりません|不明です|確信が持てません|判断できない|決められ(?:ません|ない)|不確か",
    "ko": r"확실하지\s않|판단할\s수\s없|모르겠|불확실",
}
"""What leaves the verdict open."""

NO: Cues = {
    "de": r"\b(?:nicht|kein(?:e|en|er|erlei|es|esfalls|eswegs)?|nichts|ohne|weder|nie(?:mals)?|mitnichten|kaum)\b",
    "fr": r"\b(?:non|pas|aucune?(?:ment)?|rien|sans|ni|nullement|guère|jamais|loin\sd)\b|\bloin\sd['’]|ne\ssaurait",
    "es": r"\b(?:dista\s(?:mucho\s)?de|no|ni|ning[uú]n[ao]?|nada|sin|tampoco|jamás|lejos\sde)\b",
    "pt": r"\b(?:não|nenhum[a]?|nada|sem|nem|tampouco|jamais|longe\sde)\b",
    "it": r"\b(?:non|nessun[ao']?|nulla|senza|né|affatto|mai|tutt['’]altro\sche|lungi\sdall)\b",
    "ru": r"\b(?:не|нет|ничего|без|ни|нельзя|никак\w{0,3}|вряд\sли|едва\sли|невозможно)\b",
    "ar": r"(?<!\w)(?:ليست?|لا|غير|لم|بدون|خالية?)(?!\w)",
    "zh": r"缺乏|缺少|不(?![如仅但过])|没有|无|非(?!常)|未|谈不上",
    "hi": r"(?<![\w\u0900-\u097f])(?:न|ना|बिना|कोई)(?![\w\u0900-\u097f])",
}
"""What denies the verdict that follows it in its clause."""

NO_AFTER: Cues = {
    "hi": r"\s?(?:नहीं|नही|(?:होने\s)?के\sबजाय)",
    "zh": r"[^,。]{0,2}?(?:不符|相反|相悖|有出入|不一致)|是(?:不对|不妥|错误|不正确)的",
    "ja": r"[^。、,]{0,6}?(?:というより|と(?:は)?(?:認める|言う|みなす|見なす|する)?わけ(?:に)?は(?:いきません|いかない"
    r"|ありません|ない)|と(?:は)?異な|に反|とは(?:言え|いえ|認められ|見なせ)(?:ない|ません)|[^。、]{0,4}(?:一つ|ひとつ"
    r"|何|全く|まったく)も?(?:な[くい]|ありません|見当たりません)|と(?:は)?言い(?:がたい|難い)|では(?:ありません|ない"
    r"|なく)|くありません|くない|ありません|は(?:ありません|ない|含まれて(?:いません|いない)|見られません|見られない"
    r"|見当たり(?:ません|ない)|見つかりません|認められ(?:ません|ない)|ございません))",
    "ko": r"[^.,]{0,4}?(?:라기보다|보다는|이|가|은|는)?\s?(?:[가-힣]{1,4}지\s)?(?:다릅|다르|달라|어긋|아닙니다|아니"
    r"|없습니다|없|않|라고\s?(?:할|볼|보기|하기)\s?(?:수\s?없|어렵|힘들|는?\s?어렵))",
    "de": r"[^.,(]{0,40}?\bnicht\s(?:bezeichn|nenn|einstuf|bewert|gelten)|(?:(?!\sund\b)[^.,(]){0,20}?\b(?:nichts?"
    r"|keine\s(?:rede|spur))\b|[^.(]{0,12},\s(?:lässt\ssich|kann\s(?:ich|man))\s(?:\w+\s)?nicht\s(?:erkenn|sag|behaupt"
    r"|bestätig|feststell)|\s(?:\([012]\)\s)?bin\sich\s[^.,]{0,40}?\bnicht\b",
    "fr": r"\s(?:rien|pas|aucun\w*|jamais)\b",
    "ru": r"[^.,(]{0,20}?\b(?:нет|не\s(?:назов|назыв|явля|счит|призна|обнаруж|выявл|найд|содерж|приход|след|мо[гж])\w*"
    r"|отсутству\w+|нельзя|невозможно)\b",
    "ar": r"\sغير\sموجود",
}
"""What denies the verdict that it follows."""

LABEL = r"(?:classe|klasse|clase|label|k?ode|códig[oe]|codice|класс|метка|код)"
"""A noun that a digit follows."""

CONCEDED: Cues = {
    "de": r"\b(?:zunächst|anfangs|zuerst|obwohl|zwar|wenngleich|auch\swenn|obgleich|einige|manche|mehrere"
    r"|nur(?!\sdie\santwort)|in\s\w+\steilen|anfang|einleitung|erste[nr]?\s(?:satz|teil))\b",
    "fr": r"\b(?:seule?s?|d['’]abord|bien\sque|même\ssi|quoique|certes|l[ea]quel(?:le)?|malgré|plusieurs"
    r"|certain[es]{1,2}|début|introduction|première\s(?:phrase|partie))\b",
    "es": r"\b(?:s[oó]lo|al\sprincipio|iba\sa|aunque|si\sbien|a\spesar|pese|vari[ao]s|algun[ao]s|principio|inicio"
    r"|primera\s(?:frase|parte))\b",
    "pt": r"\b(?:só|comecei|eu\sia|embora|ainda\sque|apesar|mesmo\sque|vári[ao]s|algu(?:ns|mas)|início"
    r"|primeira\s(?:frase|parte))\b",
    "it": r"\b(?:solo|all['’]inizio|sebbene|benché|anche\sse|per\squanto|nonostante|alcun[ie]|divers[ie]|inizio"
    r"|prima\s(?:frase|parte))\b",
    "ru": r"\b(?:только|сначала|сперва|хотя|несмотря|некоторые|часть|начало)\b",
    "ar": r"(?:رغم|مع\sأن)",
    "hi": r"(?:यद्यपि|हालाँकि|हालांकि|भले)",
    "zh": r"只有|起初|一开始|最初|虽然|尽管|即使|与其|[前后]半?部分|一部分|看似",
    "ja": r"だけ|最初は|当初|一部|前半|ものの",
    "ko": r"처음에|비록|일부",
}
"""What makes a clause a concession or an earlier thought, or says it of a part."""

MISTAKE = (
    r"fehler|irrtum|unfair|verfehlt|(?:aur\w+|avez|avoir)\stort|erreur|abusif|error[ei]?|in[gj]iusto|injusto|erro"
    r"|ошибк\w{1,3}|несправедливо"
)
"""What a judgement is called, besides wrong, that is not to be made."""

IF: Cues = {
    "de": r"\b(?:ob|(?<!auch\s)wenn|falls|könnte|hätte|sei)\b|\bkann\s(?:\w+\s){0,2}(?=fakt|halluz|erfun|korrekt"
    r"|richtig)",
    "fr": r"\b(?:(?<!même\s)si|pourrait)\b|\bs['’]il|\bpeut\s(?:\w+\s)?être(?!\s(?:consid|qualif|class|jug))",
    "es": r"\b(?:si(?!\sbien)|podría|habría)\b|\bpuede\s(?:\w+\s)?ser(?!\s(?:consid|califi|clasif))",
    "pt": r"(?<![\w-])(?:se(?!\s(?:trata|pode|deve))|poderia|teria)\b|\bpode\s(?:\w+\s)?ser(?!\s(?:consid|classif))",
    "it": r"\b(?:(?<!anche\s)se|potrebbe|avrebbe)\b|\bpuò\s(?:\w+\s)?essere(?!\s(?:consid|class|defin))",
    "ru": r"\b(?:если|ли|может)\b",
    "zh": r"如果|若|假如|倘若|的话|可能是",
    "ko": r"수도\s있|만약|[라다]면\s",
    "ar": r"(?<!\w)(?:إذا|لو)(?!\w)",
    "hi": r"यदि|अगर",
    "ja": r"もし|なら|かもしれ|(?<!この)(?<!その)場合|であれば",
}
"""What before a verdict leaves it open."""

ANOTHER = (
    r"^\W*(?:(?:eine?|une|una|uma)\s[^.,;:]{0,24}?\b(?:antwort|réponse|respuesta|resposta"
    r"|risposta)\b[^.,;:]{0,40}?\b(?:hätte|würde|wäre|\w+rai(?:t|ent)|\w+r[ií]an?|\w+rebbe)\b"
    r"|[а-я]{5,16}\sответ\s[^.,;:]{0,30}?\bбы\b|[^,。:]{2,4}的(?:回答|答案)[会应]|(?:la\s|a\s)?(?:respuesta|resposta"
    r"|risposta|bonne|réponse)\s\w+\s(?:ser[ií]a|sarebbe|serait)\b|richtig\swäre\b|(?:die\s)?richtige\s\w+\s(?:wäre"
    r"|lautet)\b|правильный\sответ\b)(?!\W{0,4}(?:[012]|hal|al+u|fa[ck]?t|гал|дост|выд))"
)
"""What speaks of another answer than the one judged: "a factual answer would have …", "the right one would be …"."""

COMMON: Cues = {
    "de": r"\b(?:der|die|das|ist|eine?|und|es|nicht|keine?|von|mit|ich|im|dem|auf|ob|sich)\b",
    "fr": r"\b(?:le|la|les|est|une?|il|et|ne|pas|de|que|dans|je|du|des|si|ou)\b|\b[cl]['’]",
    "es": r"\b(?:el|la|las|los|es|una?|y|se|si|ni|me|hay|en|de|del|al|que|con|no|estoy|su|tras|después)\b",
    "pt": r"\b(?:o|os|é|uma?|e|trata-se|não|há|em|de|do|da|na|no|ao|se|que|com|ou|depois)\b",
    "it": r"\b(?:il|lo|di|una?|è|si|non|che|con|del|della?|la|se|o)\b",
    "ru": r"[а-я]",
}
"""Words by which a sentence is known to be of the language, though a word of it is English too."""

JUDGED: Cues = {
    "de": r"antwort|urteil|fazit|ergebnis|aussage|bewertung|klassifi|eingestuft|stufe|werte|bezeichne",
    "fr": r"réponse|verdict|jugement|conclu(?:sion|s\b)|affirmation|résultat|class(?:er?|ée?)\b",
    "es": r"respuesta|veredicto|juicio|conclusión|afirmación|resultado|concluyo|clasific",
    "pt": r"resposta|veredi[c]?to|julgamento|conclusão|afirmação|resultado|concluo|classific",
    "it": r"risposta|verdetto|giudizio|conclusione|affermazione|risultato|concludo|classific",
    "ru": r"ответ\w{0,2}|вердикт|вывод|утверждение|заключ(?:ение|аю)|результат|классифиц",
    "ar": r"الإجابة|إجابة|الحكم|الجواب|النتيجة",
    "hi": r"उत्तर|जवाब|निर्णय|निष्कर्ष",
    "zh": r"回答|答案|判断|[结結][论論]|判定|判为|结果|結果",
    "ja": r"回答|判定|結論|答え|結果",
    "ko": r"답변|판정|결론|답",
}
"""Nouns for the answer that is judged, and for the judgement."""

REPLY_NO: Cues = {
    "spaced": r"nein|(?:wohl\skaum|keineswegs|mitnichten)|non|nullement|pas\sdu\stout|tampoco|en\sabsoluto|para\snada"
    r"|não|de\s(?:modo|forma)\salgum\w?|affatto|per\sn(?:iente|ulla)|нет|вовсе\sнет|ничуть|नहीं|नही",
    "ar": r"لا|كلا",
    "any": r"不是|不存在|没有|并非|并不|否|无|いいえ|違います|ありません|なし|無し|아니(?:요|오|다)|아닙니다|없습니다",
}
"""What says no to a question, in scripts with spaces between words, in Arabic and in others."""

REPLY_YES: Cues = {
    "spaced": r"ja|oui|sí|sim|sì|да|(?:जी\s)?हाँ|हां",
    "ar": r"نعم",
    "any": r"是的?|对|有|はい|あり|네|예|그렇습니다",
}
"""What says yes to it."""

TRUE = REPLY_YES | {"words": r"true|yes|yep|wahr|vrai|verdadei?r[ao]|vero|истина|верно|सत्य|सही|صحيح", "zh": "真|正|참"}
FALSE = REPLY_NO | {"words": r"false|no|nope|falsch|faux|fals[ao]|ложь|неверно|असत्य|गलत|خطأ", "zh": "假|偽|거짓"}
"""What says yes or no to a class that is named before it."""

RATHER = (
    r"\b(?:(?:eher|mehr)\s[^.;:]{1,60}?\sals|(?:an)?statt|plutôt\squ(?:e|['’])|au\slieu\sd\w{0,2}|(?:más|plus"
    r"|plutôt)\s[^.;:]{1,60}?\sque|en\s(?:vez|lugar)\sdel?|(?:mais\s[^.;:]{1,60}?\s|antes\s)(?:do\s)?que|em\svez\sde"
    r"|ao\sinvés\sde|anziché|piuttosto\sche|invece\s(?:che|d\w{1,4})|più\s[^.;:]{1,60}?\sche|чем|вместо|بدلا\sمن"
    r"|أكثر\sمن(?:ها|ه)?)(?:\s?['’]|\s(?:comme|como|come|als|une?|du|de|l['’]|d['’]|eine?\w?|una?|uma?|как)){0,3}\s?$"
)
"""What sets off the class that follows it: "more hallucinated than" ."""

FIRST_SIGHT = (
    r"premi(?:er|ère)\s(?:vue|abord|lecture|impression)|ersten?\s(?:blick|eindruck|lesen)|primera\s(?:vista|impresión"
    r"|lectura)|primeira\s(?:vista|impressão|leitura)|prima\s(?:vista|impressione|lettura)|первый\sвзгляд|乍一?看|一見"
    r"|언뜻|للوهلة\sالأولى|पहली\sनज़र|tent(?:ée?|ad[oa]|at[oa])\sd|versucht\b|соблазн|\bpens(?:é|ei|ato)\b|\bdachte\b"
)
"""What makes a sentence a first impression, or a temptation."""
