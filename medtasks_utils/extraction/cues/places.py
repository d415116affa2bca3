"""Words for the place of an option in its list. Regular expressions for text in any case, by language."""

from __future__ import annotations

Cues = dict[str, str]

ORDINALS: dict[str, str] = {
    "en": "first|1st second|2nd third|3rd fourth|4th|last",
    "de": "erste[nrs]? zweite[nrs]? dritte[nrs]? vierte[nrs]?|letzte[nrs]?",
    "fr": "première?|1re deuxième|seconde?|2e troisième|3e quatrième|dernière?|4e",
    "es": "primer[oa]? segund[oa] tercer[oa]? cuart[oa]|últim[oa]",
    "pt": "primeir[oa] segund[oa] terceir[oa] quart[oa]|últim[oa]",
    "it": "prim[oa] second[oa] terz[oa] quart[oa]|ultim[oa]",
    "ru": "перв(?:ый|ая|ое|ого|ому|ую) втор(?:ой|ая|ое|ого|ому|ую) трет(?:ий|ья|ье|ьего|ьему|ью)"
    " четв[её]рт(?:ый|ая|ое|ого|ому|ую)|последн(?:ий|яя|ее|его|юю)",
    "ar": "الأولى?|الاولى? الثانية? الثالثة? الرابعة?|الأخيرة?",
    "hi": "पहल[ाेी] दूसर[ाेी] तीसर[ाेी] चौथ[ाेी]|अंतिम",
    "zh": "第[一1] 第[二2] 第[三3] 第[四4]|最后一",
    "ja": "(?:第?[一1]番目|1つ目|第一) (?:第?[二2]番目|2つ目|第二) (?:第?[三3]番目|3つ目|第三)"
    " (?:第?[四4]番目|4つ目|第四|最後)",
    "ko": "첫\\s?번째 두\\s?번째 세\\s?번째 네\\s?번째|마지막",
}
"""Ordinal numbers, four in a row, by which an option may be named."""

PLACED: dict[str, str] = {
    "en": r"(?:listed|named|printed|placed)\s{}(?:\s(?:among|in|on|of)\s(?:the|these)\s\w+)?|{}\s(?:\w+\s)?(?:of|on"
    r"|in|from|among)\s(?:the|these|those|all)\s(?:\w+\s)?(?:four|list|options|choices|answers|alternatives)",
    "de": r"an\s{}r?\sstelle(?=\s(?:steht|stehend\w*|genannt\w*|aufgeführt\w*|der\sliste))|{}\s(?:der|(?:von"
    r"|unter)\sden|(?:in|auf)\sder)\s(?:\w+\s)?(?:vier|liste|optionen|möglichkeiten|antworten)",
    "fr": r"en\s{}\s(?:position|place)|{}\s(?:de\sla|des|dans\sla|parmi\sles)\s(?:quatre|liste|propositions|options"
    r"|réponses)",
    "es": r"en\s{}\s(?:posición|lugar)|{}\s(?:de\slas?|en\sla|entre\slas)\s(?:cuatro|lista|opciones|respuestas)",
    "pt": r"em\s{}\slugar|{}\s(?:das?|na|entre\sas)\s(?:quatro|lista|opções|alternativas)",
    "it": r"al\s{}\sposto|{}\s(?:dell[ae]|nell[ae'’]|tra\sle)\s?(?:quattro|lista|elenco|opzioni|risposte)",
    "ru": r"на\s{}\sместе|{}\s(?:из|в|по)\s(?:четыр[её]х|списк\w|вариант\w+|сч[её]ту)",
    "ar": r"{}\sفي\sالقائمة|{}\sمن\sالأربعة",
    "hi": r"सूची\sमें\s{}|चारों\sमें\s(?:से\s)?{}",
    "zh": r"(?:排在|列在){}(?:位|个)?|列表(?:中|里)的?{}(?:个)?",
    "ja": r"{}に(?:挙げ|書か)|{}に載",
    "ko": r"{}로\s(?:나온|제시된)|{}에\s(?:있는|제시된)",
}
"""An option named by its place in the list; ``{}`` stands for the ordinal number."""

CARDINALS: dict[str, str] = {
    "en": r"one|(?<=option\s)1 two|(?<=option\s)2 three|(?<=option\s)3 four|(?<=option\s)4",
    "de": "eins zwei drei vier",
    "fr": "un deux trois quatre",
    "es": "uno dos tres cuatro",
    "pt": "um dois três quatro",
    "it": "uno due tre quattro",
    "ru": "один два три четыре",
}
"""Numbers that may follow what is counted so: "option three"."""

SPOKEN: dict[str, str] = {
    "ar": "أ ب ج د",
    "hi": "ए बी सी डी",
    "ja": "エー|エイ ビー シー ディー",
    "ko": "에이 비 씨|시 디",
}
"""The letters A to D in other scripts' spelling."""

ORDERED: Cues = {
    "en": r"(?:answer\s|listed\s)?(?:option|choice|alternative|possibility|answer|one|statement|item|entry"
    r"|proposition|value|label|class|group|category|verdict|of\sthe\s(?:three|four))\b(?!\s(?:choice|thought|guess"
    r"|instinct|is\sto\b))",
    "de": r"(?:antwort)?(?:option|möglichkeit|antwort|alternative|variante|aussage)",
    "fr": r"(?:proposition|option|réponse|choix)",
    "es": r"(?:opción|alternativa|respuesta)",
    "pt": r"(?:opção|alternativa|resposta)",
    "it": r"(?:opzione|alternativa|risposta)",
    "ru": r"(?:вариант\w{0,2}(?:\sответа)?|ответ\w{0,2}|пункт\w{0,2})",
    "ar": r"(?:الخيار|الإجابة|الاختيار)",
    "hi": r"(?:विकल्प|उत्तर)",
    "zh": r"(?:个?选项|项|个|選項|項)",
    "ja": r"の(?:選択肢|もの)",
    "ko": r"\s?(?:보기|선택지|항목|것)",
}
"""What is counted so."""
