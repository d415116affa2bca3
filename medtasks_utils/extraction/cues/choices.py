"""Words around a letter that is chosen. Regular expressions for text in any case, by language."""

from __future__ import annotations

Cues = dict[str, str]

ANSWER: Cues = {
    "en": r"answer|ans\b\.?|sol\b\.?|response(?=\s?:)|selection|choice|letter|pick|option|solution|conclusion"
    r"|(?:correct|final|verdict)(?=:)"
    r"|\b(?:correct|right|best|appropriate|likely|suitable|final)\s(?:one|response|letter|match|diagnosis"
    r"|statement)\b",
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
    "en": r"choose|select|pick|prefer|think|believe|say|guess|favou?rs?|go(?:ing)?\s(?:with|for)|opt(?:ing)?\sfor"
    r"|settle\s(?:on|for)|toward|lean(?:ing)?\stowards?",
    "de": r"wähle|nehme|(?:würde\ssagen|denke|glaube),?(?:\sdass)?(?:\ses)?|entscheide\smich\sfür",
    "fr": r"choisis|dirais|pense\sque\sc['’]est|sélectionne|opte\spour",
    "es": r"elijo|diría|creo\sque(?:\ses)?|escojo|selecciono|elegiría|opto\spor",
    "pt": r"escolho|diria|acho\sque(?:\sé)?|seleciono|escolheria|opto\spor",
    "it": r"scelgo|direi|penso\sche\ssia|credo\ssia|seleziono|sceglierei|opto\sper",
    "ru": r"выбираю|думаю,?(?:\sчто)?(?:\sэто)?|выбрал[аи]?",
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
    "en": r"wins|(?:would|will)\sbe\s(?:my|the)\s(?:answer|choice|pick)|is\s(?:what|the\sone)\si\b|(?:is"
    r"|(?:seems|appears)(?:\sto\sbe)?|(?:must|would|should)\sbe)\s"
    r"(?:(?:the|a|therefore|thus|clearly|also|most|single|likely|appropriate|suitable)\s){0,4}"
    r"(?:correct(?!\s(?:if|for|only|that|in\s(?:stating|saying)))|right(?!\s(?:if|for|only))|true|better|answer"
    r"|best(?:\s(?:answer|choice|option|fit|match))?(?!\s(?:for|known|seen|avoided|if))|only\s(?:answer|choice"
    r"|option)"
    r"|(?:one\s)?(?:i['’]d|i\swould)\s(?:pick|choose))"
    r"|(?:best\s)?fits|(?:best\s)?matches|best\s(?:describes|explains)|makes\ssense|it\s(?:is|must\sbe"
    r"|has\sto\sbe)\b|(?:as\s)?the\s(?:better|best|right|correct)\s(?:choice|answer|option|fit)"
    r"|correctly\s(?:identifies|describes)",
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
    "any": r"=>|⇒|∴",
    "en": r"\b(?:clearly|definitely|certainly|obviously|surely|conclude|it\shas\sto\sbe|therefore|thus|hence|so"
    r"|leav(?:es?|ing)(?:\sus\swith)?|but|it(?:['’]s|\s(?:is|(?:must|should"
    r"|would)\sbe))"
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
    "en": r"\b(?:not|never|cannot|can['’]?t\sbe|neither|nor|unlike|excludes?|eliminate|wrong|incorrect|than|if"
    r"|whether"
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
    r"(?:incorrect|wrong|false|not|no\b|unlikely|ruled\sout|excluded|out\b|less)|isn['’]t|(?:can"
    r"|may)\sbe\s(?:ruled\sout|excluded)"
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
