"""Words around a letter that is chosen. Regular expressions for text in any case, by language."""

from __future__ import annotations

Cues = dict[str, str]

ANSWER: Cues = {
    "en": r"answer|ans\b\.?|(?:consensus|majority)(?=[^.:→\n]{0,60}[:→])|sol\b\.?|response(?=\s?:)|selection|choice"
    r"|letter|pick|option|solution|conclusion|(?:correct|final|verdict|box)(?=:)|\b(?:correct|right|best|appropriate"
    r"|likely|suitable|final)\s(?:one|response|letter|match|diagnosis|statement)\b",
    "de": r"antwort(?:möglichkeit|option)?|lösung|auswahl|(?:richtig|korrekt)(?=\s(?:ist|wäre)|:)",
    "fr": r"réponse|choix|proposition|(?:correcte|exacte|juste)(?=\s?:)",
    "es": r"respuesta|opción|alternativa|elección|correcta(?=:)",
    "pt": r"resposta|gabarito|opção|alternativa|escolha|(?<=a\s)correta(?=\sé)|correta(?=:)",
    "it": r"risposta|opzione|scelta|alternativa|(?:corretta|esatta|giusta)(?=:)",
    "ru": r"ответ|вариант|выбор",
    "ar": r"الإجابة|الاجابة|إجابة|الجواب|جواب|الخيار(?!ات)|الاختيار",
    "hi": r"उत्तर|जवाब|विकल्प",
    "zh": r"答案|正确选项|正确的?是|(?<![其他余])选项|回答",
    "ja": r"正解|正答|答え|解答|回答|選択肢",
    "ko": r"정답|답변|답안|답|(?:옳은|맞는|알맞은|적[절합]한|해당하는)\s(?:것|보기|선택지)",
}
"""Nouns that announce the answer."""

LINK: Cues = {
    "any": r"[:：=\-–—>→⟹]",
    "en": r"\b(?:is|be|was|as|remains|to)\b",
    "de": r"\b(?:ist|lautet|wäre|bleibt)\b",
    "fr": r"\b(?:est|serait|peut\sêtre\sque)\b",
    "es": r"\b(?:es|sería|puede\sser\sotra\sque)\b",
    "pt": r"(?<!\w)(?:é|seria)(?!\w)",
    "it": r"(?<!\w)(?:è|sarebbe|(?:può\sche|solo)\sessere|può\sessere\s(?:che|solo))(?!\w)",
    "ru": r"\b(?:это|является)\b",
    "ar": r"(?<!\w)(?:هي|هو)(?!\w)",
    "hi": r"(?:है|होगा)(?=[\s:,])",
    "zh": r"[是为為选選]",
    "ja": r"[はがを]",
    "ko": r"[은는이가]",
}
"""What joins such a noun to the answer."""

FILLER: Cues = {
    "any": r"[\s:：,(\[（【<'=\-–—«…]|\.{3}",
    "en": r"\b(?:the|would|be|is|therefore|thus|then|clearly|most|likely|probably|indeed|definitely|simply|just|only"
    r"|correct|best|option|choice|answer|letter|number|one|labell?ed|statement|single|still|by\sdefinition|however"
    r"|rather|instead|in\sfact|actually|nevertheless|of\scourse|hence)\b",
    "de": r"\b(?:d(?:ie|er|as|es|em|en)|ich|um|eine?[rnms]?|daher|also|somit|demnach|folglich|antwort|option"
    r"|möglichkeit|variante|wahrscheinlich|jedoch|aber)\b",
    "fr": r"\b(?:la|le|donc|bien|ainsi|alors|plutôt|en\sfait|par\sconséquent|réponse|option|proposition|l['’])\b"
    r"|\bl['’]",
    "es": r"\b(?:la|el|pues|entonces|sin\sembargo|en\srealidad|claramente|opción|respuesta|alternativa|letra|por"
    r"|tanto)\b",
    "pt": r"\b(?:a|o|então|pois|assim|porém|na\sverdade|claramente|opção|resposta|alternativa|letra|portanto)\b",
    "it": r"\b(?:la|il|pertanto|dunque|perciò|invece|però|allora|in\srealtà|opzione|risposta|lettera|quindi)\b",
    "ru": r"\b(?:всё(?:\s|-)(?:же|таки)|однако|конечно|именно|вариант|ответ|под|буквой)\b",
    "ar": r"(?<!\w)(?:الخيار|الإجابة|حرف|الحرف)(?!\w)",
    "hi": r"विकल्प|उत्तर",
    "zh": r"选项|答案|选择|更可能|最可能|更?倾向于|的?[选是为]",
    "ja": r"選択肢",
    "ko": r"선택지|보기",
}
"""What may stand between the link and the letter."""

CHOOSE: Cues = {
    "en": r"choose|chose|should\s(?:have\sbeen|read)(?:\san?)?|i\smeant?(?:\sto\s(?:say|write|pick))?|(?:chang|switch"
    r"|revis|updat|amend)\w*\s(?:my|the)\s(?:\w+\s)?(?:answer|choice)\sto|(?:select|pick|opt)(?:ed)?(?=\s)"
    r"|went\s(?:with|for)|prefer|think|believe|say|guess|favou?rs?|go(?:ing)?\s(?:with|for)|settled?\s(?:on|for)"
    r"|(?:money(?:\sis|['’]s|\swould\sbe)?|bet(?:ting)?)\son|stick(?:ing)?\swith|vote\s(?:is\sfor|goes\s(?:to|for)"
    r"|for)|commit(?:ting)?\sto|in\sfavou?r\sof|sid(?:e|ing)\swith|toward|(?:i['’]d"
    r"|i\swould(?!\snot))\s(?:\w+ly\s)?(?:order|give|start(?:\swith)?|use|prescribe|recommend|request|perform|offer"
    r"|suspect|diagnose|call\s(?:it|this))|lean(?:ing)?\stowards?|(?:circle|mark|tick|enter|put(?!\sfirst)|writ(?:e"
    r"|ing))(?:\s(?:down|in))?",
    "de": r"wähle|lege\smich\s(?:\w+\s){0,2}auf|(?:kreuzen|wählen|nehmen)\swürde\sich|ändere\smeine\s(?:antwort"
    r"|wahl)\s(?:auf|zu|in)|kreuze|(?:wahl\s(?:fällt\s)?|fällt\s(?:die|meine)\swahl\s)auf|nehme|bleibe\sbei"
    r"|(?:würde\ssagen|denke|glaube),?(?:\sdass)?(?:\ses)?|entscheide\smich\s(?:\w+\s){0,2}für",
    "fr": r"change\s(?:donc\s)?(?:ma|de)\sréponse\s(?:pour|en|par)|va(?:is)?\s(?:donc\s)?pour|choisi(?:s|rais)"
    r"|retien(?:drai?s?|dra|t)|coche(?:rais)?|(?:choix|balance)\s(?:se\sporte|penche)\s(?:donc\s)?(?:sur|vers)|retiens"
    r"|dirais|pense\sque\sc['’]est|sélectionne|(?:opte|décide)\s(?:donc\s)?pour|conclus\s(?:donc\s)?(?:à|pour)",
    "es": r"cambio\s(?:mi\srespuesta\s)?(?:a|por)|(?:me\s)?voy\s(?:con|por)|marc(?:o|amos|aría)"
    r"|inclina\s(?:la\sbalanza\s)?(?:hacia|por)|elijo|(?:me\s)?decanto\spor|(?:me\s)?quedo\scon"
    r"|me\sinclino(?:\s\w+){0,2}?\spor|diría|creo\sque(?:\ses)?|escojo|selecciono|elegiría|concluyo\s(?:\w+\s)?(?:que"
    r"|por)|(?:opto|me\sdecido),?\s(?:(?:pues|por\s(?:lo\s)?tanto),?\s)?por",
    "pt": r"(?:mudo|passo)\s(?:(?:a\s)?minha\sresposta\s)?para|vou\s(?:de|com|n?a|pela)|escolho|assinal(?:o|e(?:-se)?)"
    r"|marc(?:o|aria)|fic(?:o|aria)(?:,\sportanto,)?\scom|diria|acho\sque(?:\sé)?|seleciono|escolheria"
    r"|concluo\s(?:\w+\s)?(?:que|por)|(?:opto|decido-me),?\s(?:(?:portanto|então),?\s)?por",
    "it": r"(?:cambio|passo)\s(?:(?:la\s(?:mia\s)?)?risposta\s)?(?:in|alla)|vado\s(?:con|per|su)|scelgo|segn(?:o|erei)"
    r"|conclud[oe]\s(?:\w+\s)?per|direi|penso\sche\ssia|credo\ssia|seleziono|sceglierei|(?:opto|opterei"
    r"|mi\sdecido)\s(?:quindi\s|dunque\s)?per",
    "ru": r"меняю\s(?:\w+\s){0,2}на|выбира(?:ю|ем)|отмеча(?:ю|ем)|думаю,?(?:\sчто)?(?:\sэто)?|выбрал[аи]?"
    r"|останавливаюсь\sна|склоняюсь\sк",
    "ar": r"أغيّ?ر\sإجابتي\sإلى|أختار|اختار",
    "hi": r"चुनता\sहूँ|चुनूँगा",
    "zh": r"(?<!不)应?勾?(?<!不)选择?|故选|因此选|应(?:该|当)?[为是]",
}
"""Verbs that a choice follows."""

CHOSEN_BEFORE: Cues = {
    "de": r"\s(?:wählen|nehmen|ankreuzen|nennen|entscheiden)(?!,\s(?:wenn|falls)\b)",
    "hi": r"\s?(?:को\s)?चुन",
    "ja": r"に(?:変更|変え)|を(?:選|取り)(?!\w{0,2}(?:人|方|学生|受験))",
    "ko": r"(?:으?로\s?(?:바꾸|바꿉|변경))|(?:번|을|를)\s?(?:선택|고르(?!지만)|고른|택)",
}
"""What follows a letter that is chosen, where the verb comes last."""

CORRECT: Cues = {
    "en": r"i['’]d\ssay|i\s(?:think|guess|reckon|believe|would\ssay)(?=\W*(?:$|[.,;!]))|yes\b|wins|therefore(?=\W*(?:$"
    r"|[.;]))|(?:would|will)\sbe\s(?:my|the)\s(?:answer|choice|pick)|is\s(?:what|the\sone)\s(?:i|they|you|we"
    r"|the\s\w+)\b|(?:is|(?:seems|appears)(?:\sto\sbe)?|(?:must|would|should)\sbe)\s(?:(?:the|a|therefore|thus|clearly"
    r"|also|most|single|likely|appropriate|suitable)\s){0,4}(?:(?:correct(?!\s(?:if|for|only|that|in\s(?:stating"
    r"|saying)))|right(?!\s(?:if|for|only|\w{2,9}\sfor\b))|true|better|answer|(?<=te\s)(?:choice|option)"
    r"|best(?:\s(?:answer|choice|option|fit|match))?(?!\s(?:for|known|seen|avoided|if|distractor"
    r"|alternative)))(?!(?:\s(?:answer|choice|option|one))?\s(?:when|where|(?:in|for)\s(?!th[ie]s?\b|our\b|such\b"
    r"|an?\s(?!question)|light\b|view\b|my\b|all\b)|to\s(?:the\s(?:next|previous|other|following|question\s(?:on|about"
    r"|of))|another|an?\s)))|only\s(?:answer|choice|option)|(?:the\s)?one\sto\s(?:pick|choose|mark|select)"
    r"|(?:one\s)?(?:i['’]d|i\swould)\s(?:pick|choose))|are\s(?:all\s|both\s)?(?:correct|true|right)"
    r"|(?:both\s)?(?:holds?|appl(?:y|ies)|stands?)(?=\W*$|\s?[.,;:!)—–-]|\s(?:here|true|up|as|because|since|and|but"
    r"|while|whereas)\b)|(?:best\s)?fits|(?:best\s)?matches|best\s(?:describes|explains)"
    r"|rather\sthan(?=\s[(\[]?(?-i:[A-D])\b)|makes\ssense|it\s(?:is|must\sbe|has\sto\sbe)(?=\W*$|[.,;:!—–]|\s(?:not"
    r"|then)\b)|(?:as\s)?the\s(?:(?:better|best|right|correct)\s(?:choice|answer|option|fit)|most\s\w+)"
    r"|is\sthe\s(?:one|organism|diagnosis|cause|culprit|drug|agent|treatment|test|nerve|enzyme|site)(?=\W*$|[.,;])"
    r"|are\sthe\sanswer|correctly\s(?:identifies|describes)",
    "de": r"[:—–-]\sja\b|(?:ist|wäre|erscheint)\s(?:die\s|daher\s|somit\s|also\s)*(?:richtig|korrekt|zutreffend)",
    "fr": r"[:—–-]\soui\b|est\s(?:la\s|donc\s)*(?:bonne|correcte?|exacte?|juste)",
    "es": r"[:—–-]\ssí\b|es\s(?:la\s|por\stanto\s)*(?:correcta|adecuada|respuesta)",
    "pt": r"[:—–-]\ssim\b|(?:é|está)\s(?:a\s|portanto\s)*(?:corret[ao]|adequada|resposta)",
    "it": r"[:—–-]\ssì\b|è\s(?:la\s|quindi\s)*(?:corrett[ao]|giusta|esatta)",
    "ru": r"[—–-]\sда\b|(?:[—–-]\s)?(?:верен|верно|верный|правильн)",
    "ar": r"(?:هي|هو)\s(?:الإجابة\s)?(?:الصحيحة?|صحيحة?)|صحيحة?",
    "hi": r"(?:ही\s)?सही(?:\sउत्तर|\sविकल्प)?\sहै",
    "zh": r"(?:是|才是?)?(?:正确|对的)",
    "ja": r"(?:のみ|だけ)(?:で|が|だ)|(?:が|は)最も|(?:が|と)考えられ|であろう|だろう|だと(?:思|考)"
    r"|(?:が|は)(?:正しい|正解|最も適切|適切)",
    "ko": r"(?:번)?(?:이|가)\s?(?:가장\s)?(?:정?답|맞|옳|적절|적합|알맞)",
}
"""What follows a letter that is called right."""

THEREFORE: Cues = {
    "any": r"=>|⇒|∴|(?:edit|corre[cç][tcz]i[oó]n|correção|correzione|korrektur|исправление|更正"
    r"|訂正|정정|सुधार|تصحيح)\s?:",
    "en": r"\b(?:i\.\s?e\.|clearly|definitely|certainly|obviously|surely|conclude|it(?:\shas\sto|['’]s\s(?:gotta"
    r"|got\sto))\sbe|therefore|thus|hence|so|(?:leav(?:es|ing)|(?<![.;,]\s)leave)(?:\sus\swith)?|(?<!(?<!th(?:at"
    r"|is)\s)would\s)makes?\sit|it(?:['’]?s|\s(?:is|(?:must|should|would)\sbe))|final(?:ly)?|in\sthe\send|ultimately"
    r"|eventually|on\sbalance|overall|all\sin\sall|in\ss(?:um|hort)|rather|most\slikely|probably|in\sconclusion)",
    "de": r"\b(?:also|daher|demnach|somit|folglich|wahrscheinlich|es\sist|ist\ses|d\.\s?h\.)",
    "fr": r"\b(?:c['’]est(?:\sla)?|donc|plutôt|probablement)",
    "es": r"\b(?:es\s(?:pues\s|por\s(?:lo\s)?tanto\s)?la|es\sdecir|por\s(?:lo\s)?tanto|entonces|probablemente)",
    "pt": r"(?<!\w)(?:é\sa(?=\s)|ou\sseja|portanto|logo|provavelmente)",
    "it": r"(?<!\w)(?:è(?:\s(?:quindi|dunque))?\sla|cioè|ossia|quindi|dunque|allora|probabilmente)",
    "ru": r"\b(?:поэтому|значит|то\sесть|скорее|следовательно|итак|именно)",
    "ar": r"(?<!\w)(?:لذلك|إذن)",
    "hi": r"(?:इसलिए|अतः)",
    "zh": r"(?:因此|所以|故|即)",
    "ja": r"(?:したがって|よって|つまり|なので|ため)[、,]?",
    "ko": r"(?:따라서|그러므로|이?므로)[,]?",
}
"""What a letter alone follows as a conclusion."""

NOT_BEFORE: Cues = {
    "en": r"\b(?:confus\w+\s(?:\w+\s){0,4}with|not|never|cannot|can['’]?t\sbe|neither|nor|unlike|excludes?|eliminate"
    r"|wrong|incorrect|(?<!other\s)(?<!else\s)than|if|whether|let\salone|rul(?:ed?|ing)\sout|without|versus"
    r"|vs\.?)(?![\w-])|n['’]t\b",
    "de": r"\b(?:nicht|weder|noch|kein(?:e|er)?|ob|statt)(?![\w-])",
    "fr": r"\b(?:pas|ni|sauf|non)(?![\w-])",
    "es": r"\b(?:no\s(?:es|sea)|ni|no(?!\sdoubt))(?![\w-])",
    "pt": r"\b(?:não\sé|nem|não)(?![\w-])",
    "it": r"\b(?:non\sè|né|non)(?![\w-])",
    "ru": r"\b(?:не|ни)(?![\w-])",
    "ar": r"(?<!\w)(?:ليست?|لا|وليس)(?![\w-])",
    "hi": r"(?<![^\s])न(?:हीं)?(?=\s)",
    "zh": r"(?:不是|不选|并非|而非)",
}
"""What denies the letter that follows within two words."""

WRONG_AFTER: Cues = {
    "en": r"(?:\A\s(?:aside(?!\sfrom)|to\sone\sside)|(?:\b(?:is|are|was|be|seems)|[:–—-])\s?(?:\w{1,12}ly\s|also\s"
    r"|therefore\s)?(?:incorrect|wrong|false|not|no\b|unlikely|ruled\sout|excluded|out\b|less|(?:(?:the|thus|a|an|just"
    r"|only|most|more|usual|common\w*|classic|typical)\s){0,4}(?:distractor|trap|lure|decoy|red\sherring|mistake"
    r"|(?:\w+\s)?wrong\s(?:choice|answer|option))|(?:what|the\sone)\s(?:many|most|some|people|students)\b|(?:often"
    r"|commonly|frequently)\s(?:chosen|picked|mistaken|confused))|isn['’]t|can(?:not|['’]t)\sbe(?!\s(?:ruled"
    r"|excluded|dismissed|eliminated|discarded|denied|dropped|wrong))|(?:can|may|must|should"
    r"|could)\sbe\s(?:ruled\sout|excluded|set\saside|struck\s(?:off|out)|eliminated|discarded|dismissed|dropped"
    r"|crossed\s(?:off|out))|incorrectly|does\snot|doesn['’]t)",
    "de": r"(?:[:—–-]\snein\b|falsch|nicht\s(?:richtig|korrekt|zutreffend|in\sfrage)|ebenso\s?wenig|ebenfalls\snicht"
    r"|(?:scheidet|fällt)\s(?:\w+\s)?(?:aus|weg)|passt\snicht|\A\szurück)",
    "fr": r"(?:[:—–-]\snon\b|incorrecte?\b|fausse?|inexacte?|n['’]est\spas|ne\s(?:convient|correspond)\spas)",
    "es": r"(?:[:—–-]\sno\b|incorrecta|falsa(?!m)|errónea|no\ses\b)",
    "pt": r"(?:[:—–-]\snão\b|incorreta|falsa(?!m)|errada|não\sé)",
    "it": r"(?:[:—–-]\sno\b|errat[ao]|sbagliata|scorretta|non\sè)",
    "ru": r"(?:[—–-]\sнет|неверен|неверно|неправил|не\sподходит|отпада|исключ)",
    "ar": r"(?:غير\sصحيح|خطأ|خاطئ)",
    "hi": r"(?:गलत|(?:सही|\A)\sनहीं)",
    "zh": r"(?:错误|不正确|不对|都不|不符合|排除)",
    "ja": r"(?:誤り|正しくな|間違い|不正解|で[はも](?:ありません|な[いく])"
    r"|と(?:思う|考える|答える|選ぶ)(?:人|方|学生|受験生))",
    "ko": r"(?:틀|오답|아니|아닙니다)",
    "any": r"[❌✗✘]|\A[)\]]?(?:,\s\w{1,6})?\s?\?\s?(?:nope|nein|non|não|нет|لا|नहीं|不|いいえ|아니|tampoco|menos|nemmeno"
    r"|neanche|nem|também\snão|auch\snicht|no(?:r|t|,\snot)?(?!\sdoubt))(?!\w)|\A[)\]]?\.\s(?:no|nope|nein|non|não"
    r"|нет)[.!](?!\w)",
}
"""What calls a letter or option wrong that it follows."""

CONTRASTED: Cues = {
    "en": r"whereas|unlike|while|in\scontrast\sto|compared\s(?:with|to)|had\sit\sbeen",
    "de": r"im\sgegensatz\szu[rm]?|anders\sals|während|im\sunterschied\szu[rm]?",
    "fr": r"contrairement\s(?:à|au)|à\sla\sdifférence\sd[eu]|(?:alors|tandis)\sque",
    "es": r"a\sdiferencia\sdel?|mientras\sque|al\scontrario\s(?:del?|que)",
    "pt": r"ao\scontrário\sd[aeo]|diferente(?:mente)?\sd[aeo]|enquanto",
    "it": r"a\sdifferenza\sd\w{1,4}|mentre|al\scontrario\sd\w{1,4}",
    "ru": r"в\sотличие\sот|тогда\sкак",
}
"""What contrasts the option that follows with the one spoken of."""

TICKS, CROSSES = "✓✔✅☑★⭐🎯🏆", "✗✘❌☐✖⛔🚫"
"""Signs that mark an option as right or wrong."""

YES: Cues = {
    "en": "yes|ja|oui|sí|sim|sì|да|نعم|हाँ",
    "zh": "是|符合|はい|○|예",
}
"""The verdict of a table's cell."""

EXCLUDE: Cues = {
    "en": r"(?:incorrect|wrong|false|out)(?=(?:\s(?:answer|option|choice)s?(?:\s\d)?)?\s?:)|distractors?|eliminat(?:es?"
    r"|ed|ing)|exclud\w{1,3}|rul(?:es?|ed|ing)\sout|discard\w{0,3}|dismiss\w{0,3}|strik(?:es?|ing)(?:\sout|\soff)?"
    r"|cross\w{0,3}\s(?:out|off)|drop(?:s|ped|ping)?|reject\w{0,3}|(?:argues?|speaks?|counts?)\sagainst"
    r"|withdraw\w{0,3}|retract\w{0,3}|dispos\w{1,3}\sof|do(?:es)?\saway\swith|forget(?:\sabout)?|ignore"
    r"|set\saside|throw\w{0,2}\sout|out\sgo(?:es)?",
    "de": r"schlie(?:ß|ss)\w{1,3}|scheide[nt]|fallen|spr[ie]ch\w{1,2}\sgegen|streiche?n?|verwerfen?|verwirft|entfallen",
    "fr": r"écart\w{1,4}|retir\w{1,4}|exclu(?!si)\w{1,4}|élimin\w{1,4}|rejett?\w{1,3}",
    "es": r"descart\w{1,4}|retir\w{1,4}|exclu(?!si)\w{1,4}|elimin\w{1,4}|rechaz\w{1,4}",
    "pt": r"descart\w{1,4}|retir\w{1,4}|exclu(?!si)\w{1,4}|elimin\w{1,4}",
    "it": r"esclu[ds]\w{1,4}|ritir\w{1,4}|scart\w{1,4}|elimin\w{1,4}",
    "ru": r"исключ\w{1,6}|отброс\w{1,4}|отбрас\w{1,6}",
    "ar": r"(?:ن|أ|ي|ت)?ستبعد|استبعاد",
    "zh": r"排除(?!法)|否定",
}
"""Verbs that rule out the letters that follow, or that stand before "we can"."""

THE_OTHERS: Cues = {
    "en": r"(?:why\s)?(?:not\s)?(?:(?:all|none)\s(?:of\s)?)?(?:the\s)?(?:other|remaining"
    r"|incorrect)\s(?:three\s)?(?:options|choices|answers|alternatives)|why\s(?:not\s)?the\sothers|distractors",
    "de": r"(?:warum\s(?:nicht\s)?)?(?:die\s)?(?:anderen|übrigen|falschen)\s(?:optionen|antworten|möglichkeiten)",
    "fr": r"(?:pourquoi\s(?:pas\s)?)?les\sautres\s(?:options|propositions|réponses|choix)",
    "es": r"(?:por\squé\sno\s)?las\s(?:demás|otras)\s(?:opciones|alternativas|respuestas)",
    "pt": r"(?:por\sque\snão\s)?as\s(?:demais|outras)\s(?:opções|alternativas|respostas)",
    "it": r"(?:perché\snon\s)?le\saltre\s(?:opzioni|risposte|alternative)",
    "ru": r"(?:остальные|другие)\sварианты",
    "zh": r"其[他余]选项",
    "ja": r"(?:他|その他)の選択肢",
    "ko": r"(?:나머지|다른)\s?(?:보기|선택지)",
}
"""What begins a remark on the options that are not chosen."""

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

REMAINS: Cues = {
    "en": r"(?:what|which|that|all\sthat|only)?\s?(?:remains?|leaves(?:\sus\swith)?|is\sleft)(?:\sis"
    r"|\swith)?(?:\sthat)?"
    r"|remaining(?=:)|(?:left|remain(?:ing)?)\s(?:option|choice|one)\sis|(?:left)\swith|by\s(?:elimination|exclusion)",
    "de": r"(?:(?:übrig\s)?bleibt(?:\s(?:nur|also|somit|daher|noch|damit))*|per\sausschluss|im\sausschlussverfahren)",
    "fr": r"(?:(?:il\s)?(?:ne\s)?reste(?:\sdonc|\sque)*|par\sélimination)",
    "es": r"(?:(?:solo\s|sólo\s)?queda(?:\s(?:entonces|solo|sólo|pues))*|por\s(?:descarte|eliminación))",
    "pt": r"(?:(?:só\s)?(?:resta|sobra|fica)(?:\s(?:então|apenas|só))*|por\s(?:exclusão|eliminação))",
    "it": r"(?:(?:non\s)?(?:resta|rimane)(?:\s(?:quindi|solo|che|dunque))*|per\sesclusione)",
    "ru": r"(?:оста[её]тся(?:\s(?:только|лишь))?|методом\sисключения)",
    "ar": r"(?:يبقى|بقي|يتبقى|تبقى)",
    "hi": r"(?:बचता\sहै|बचा|शेष)",
    "zh": r"(?:只?剩下?(?:的是|的只有|的)?|排除后|只有)",
    "ja": r"(?:残る(?:の)?は|残りは|消去法で)",
    "ko": r"(?:남는\s?것은|남은\s?것은|소거법으로)",
}
"""What introduces the option that is left when the others are ruled out."""

SHOWN: Cues = {
    "en": r"\b(?:shows?|suggests?|indicates?|goes\swith|associated\swith|due\sto|caused\sby|results?\sfrom|comes\sfrom"
    r"|calls?\sfor|typical\sof|characteristic\sof|belongs?\sto|(?:listed|given|shown|named|stated|offered"
    r"|found)\s(?:as|under|at|in)|called|termed|namely|points?\s(?:to|at)|need|use)\b",
    "de": r"\b(?:es\sfehlt|spricht\sfür|beschreibt|entspricht|passt\szu[mr]?|(?:deutet|weist)\sauf"
    r"|handelt\ses\ssich\s(?:also\s|daher\s|somit\s)?um)\b",
    "fr": r"\b(?:évoque|correspond\sà|s['’]agit\s(?:donc\s)?d['’e]|oriente\svers)",
    "es": r"\b(?:sugiere|indica|corresponde\sal?|se\strata\s(?:pues\s)?de|apunta\sa|compatible\scon)\b",
    "pt": r"\b(?:sugere|indica|aponta\spara|corresponde\sa|trata-se\sde|compatível\scom)\b",
    "it": r"\b(?:suggerisce|indica|corrisponde\sa|si\stratta\s(?:quindi\s)?di|depone\sper)\b",
    "ru": r"\b(?:говорит\sо|указывает\sна|соответствует)\b",
    "ar": r"[تي]دل\sعلى",
    "zh": r"符合|提示|考虑为?|诊断为|属于",
}
"""What ascribes the findings to the option that follows."""

ONLY: Cues = {
    "en": r"only|just|none\sbut|(?:no(?:ne|thing)|anything)\s(?:but|(?:other|else)\sthan)",
    "de": r"nur|allein|lediglich",
    "fr": r"seule?|uniquement",
    "es": r"s[oó]lo|únicamente|solamente",
    "pt": r"só|somente|apenas",
    "it": r"solo|soltanto|solamente",
    "ru": r"только|лишь",
    "zh": r"只有|仅",
    "ko": r"오직",
}
"""What singles out the option that follows."""

UNLIKE_IT: Cues = {
    "en": r"would\s(?:not\s)?(?:be|give|cause|produce|show|have|lead|need|require|present|make|suggest|affect|mean"
    r"|involve|raise|lower)|lack(?:s|ed)\b|out\b|no[.!]|avoided|contraindicated|too\s\w+|(?:fails?|(?:has|have|shows?"
    r"|gives?|plays?)\sno(?:thing)?)\b|never\b|eliminated|rather\b",
    "de": r"würde|hätte|wäre|gäbe|entfällt|scheid\w+|ausgeschlossen|auszuschließen|passt\snicht|kein",
    "fr": r"à\s(?:écarter|exclure|éliminer)|(?:écartée?|exclue?|éliminée?)s?|donnerait|serait|aurait",
    "es": r"daría|sería|causaría|tendría|descartad[ao]s?|descarta[rn]?|excluid[ao]s?",
    "pt": r"daria|seria|causaria|teria|descartad[ao]|descarta|excluíd[ao]",
    "it": r"darebbe|sarebbe|causerebbe|avrebbe|esclus[oaei]|scartat[oaei]|esclude(?:re)?|da\sescludere",
    "ru": r"дал[ао]?\sбы|был[ао]?\sбы|вызвал[ао]?\sбы|исключ\w+|отпада\w+",
    "ar": r"مستبعدة?|لا\s|ليس",
    "hi": r"नहीं|बाहर",
    "zh": r"排除|不符|会导致|则?会",
    "ja": r"除外|違い|ない|ません|ではなく|異なる",
    "ko": r"제외|아니|관련이\s?없|없습니다|않",
}
"""What tells that an option, named before it, is not the case: a weaker sign than :data:`WRONG_AFTER`."""
