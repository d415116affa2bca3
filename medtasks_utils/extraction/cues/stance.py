"""Words that take a statement back or make it a supposition. Regular expressions for text in any case, by language."""

from __future__ import annotations

Cues = dict[str, str]

RETRACTED: Cues = {
    "en": r"\b(?:wait\b(?!\sfor\b)|hmm+\b|scratch\sthat|on\s(?:second\sthought|reflection|closer\sinspection)"
    r"|let\sme\s(?:re-?consider|correct)|i\smade\san?\s(?:\w+\s)?(?:mistake|error|slip)|misprint|th(?:at|is)\s(?:was|is"
    r"|(?:would|must)\sbe)\s(?:an?\s)?(?:\w+\s)?(?:mistake|wrong|error|slip|typo|miscalculation)\b|actually,"
    r"|(?<!out\s)correction:|redoing|disregard|a\scorrection\sis|i\swas\swrong|i\s(?:take\sthat\sback|forgot|misread|(?:must|(?:have|need)\sto)\s(?:withdraw"
    r"|retract))|but\sthat\swas|change\smy\s(?:answer"
    r"|mind|verdict)|edit(?:ed)?:|i\s(?:\w+ly\s|must\s|beg\sto\s)?disagree\b(?!\swith\s(?:the\s)?(?:option\s)?[A-D]\b)"
    r"|apologi[sz]e|that(?:['’]s|\sis)\snot\s(?:right|correct|it)\b|(?:wh?)?oops\b|my\sbad\b|sorry,\s(?:i\smean"
    r"|wrong))|(?<![\w\s])\s?no,\s(?!not\b)|\?\s?no\b",
    "de": r"\b(?:moment\b|halt,|stopp\b|korrektur:|doch\snicht\b|nein,|ups\b|hoppla\b|ich\shabe\smich\s(?:vertan"
    r"|geirrt|verlesen)|ich\shabe\s(?:\w+\s)?vergessen)",
    "fr": r"\b(?:attendez?\b|correction\s?:|non,|en\sfait,|oups\b|je\sme\ssuis\stromp|j['’]ai\soublié)",
    "es": r"\b(?:espera\b|perdón\b|me\she\sequivocado|corrección:|mejor\sdicho|[uh]ups\b|olvidé)",
    "pt": r"\b(?:espere?\b|(?:me\senganei|enganei-me)|correção:|melhor\sdizendo|op[sa]\b|esqueci)",
    "it": r"\b(?:aspetta\b|mi\ssono\ssbagliat|correzione:|anzi(?:\sno)?[,:]|ops\b|ho\sdimenticato|dimenticavo)",
    "ru": r"\b(?:подождите?\b|стоп\b|исправление:|хотя\sнет|(?:ой|упс)\b|я\sзабыл)",
    "ar": r"انتظر|تصحيح|نسيت",
    "hi": r"रुकिए|रुको|सुधार:|भूल\sगय",
    "zh": r"等等|等一下|更正|哎呀|我忘",
    "ja": r"待って|訂正|おっと|忘れてい",
    "ko": r"잠깐|잠시만|정정|아차|깜빡",
}
"""What takes back the statements before it."""

TENTATIVE: Cues = {
    "en": r"\b(?:if(?!\s(?:i\s(?:must|ha(?:ve|d)\sto|were)|forced|pressed|pushed))|whether|unless|suppose|tempt(?:ed"
    r"|ing)|at\sfirst|first\s(?:glance|sight|thought|choice|instinct|idea|guess)|initial(?:ly)?|(?:first"
    r"|originally)\s(?:\w+\s)?(?:lean|thought|chose|pick|put|mark|said|guess|went|consider|suspect|answer)\w*|(?:one"
    r"|you|someone|some|many|most(?=\s(?:would|people|students))|people|\w{2,9}(?:ents|ates|ers|ors|ists|ians|ants"
    r"|eagues|ooks))\s(?:\w+\s){0,2}(?:might|may|could|will|would|sa(?:y|id)|think|thought|wrote|claim|suggest|pick"
    r"|cho+se|mark|tick|put)(?:ed)?|(?:resident|student|intern|colleague|roommate|friend|user|classmate"
    r"|neighbou?r)\s(?:\w+ly\s)?(?:says?|said|thinks|claims|insists|argues|suggests|wrote|writes|swears|picked|chose)"
    r"|common\s(?:error|mistake)|misconceptions?|mistaken(?:ly)?|erroneously|(?:wrong|incorrect)ly(?=:)|could\s(?:be|also)|might\sbe|may\s(?:also\s)?be|undecided|(?:earlier|previous|older|other|different)\s(?:version|question|edition|exam)|consider(?:ing)?(?=\s(?:the\s)?(?:option|choice))|was\s(?:going|about)\sto"
    r"|torn|often\sconfused|had\sasked)\b",
    "de": r"\b(?:auf\sden\sersten\sblick|erste[rn]?\s(?:gedanke|impuls|instinkt|eindruck|vermutung|idee)|anfangs|wenn"
    r"|falls|ob|zunächst|zuerst|könnte|vielleicht|(?:viele|manche|einige|die\s(?:meisten|mehrheit))\s(?:\w+\s)?(?:würden|wählen"
    r"|denken|meinen|halten|kreuzen))\b",
    "fr": r"\b(?:à\spremière\svue|premi(?:er|ère)\s(?:idée|pensée|intuition|impression|réflexe)|au\s(?:départ|début"
    r"|premier\sabord)|si|peut-être|pourrait|d['’]abord|(?:beaucoup|certains|plusieurs|la\splupart)\s(?:\w+\s)?(?:choisi\w+"
    r"|pens\w+|dir\w+|coch\w+|répond\w+))\b",
    "es": r"\b(?:a\sprimera\svista|primer[ao]?\s(?:idea|impresión|intuición|pensamiento|impulso)|inicialmente"
    r"|en\sun\sprincipio|empecé|si|quizás|podría|al\sprincipio|(?:muchos|algunos|la\smayoría)\s(?:\w+\s)?(?:el[ei]g\w+|pien\w+"
    r"|dirí\w+|marc\w+|respond\w+|cre\w+))\b",
    "pt": r"\b(?:à\sprimeira\svista|primeir[ao]\s(?:ideia|impressão|intuição|pensamento|impulso|palpite)|inicialmente"
    r"|de\sinício|se|talvez|poderia|a\sprincípio|(?:muitos|alguns|a\smaioria)\s(?:\w+\s)?(?:escolh\w+|pens\w+|diri\w+|marc\w+"
    r"|respond\w+|ach\w+))\b",
    "it": r"\b(?:a\sprima\svista|prim[ao]\s(?:idea|impressione|intuizione|pensiero|istinto)|all['’]inizio"
    r"|in\sun\sprimo\smomento|se|forse|potrebbe|inizialmente|(?:molti|alcuni|la\smaggior\sparte)\s(?:\w+\s)?(?:scel\w+|pens\w+|dire\w+"
    r"|segn\w+|rispond\w+|cred\w+))\b",
    "ru": r"\b(?:если|может\sбыть|возможно|сначала|сперва|поначалу|вначале|первоначально|перв(?:ая|ой)\s(?:мысль\w?"
    r"|идея|догадка)|на\sпервый\sвзгляд|(?:многие|некоторые|большинство)\s(?:\w+\s)?(?:выб\w+|дума\w+|счита\w+|отвеча\w+))\b",
    "ar": r"(?<!\w)(?:إذا|ربما|لو|في\sالبداية|للوهلة\sالأولى)(?!\w)",
    "hi": r"(?:यदि|अगर|शायद|पहले\s(?:तो\s)?(?:मुझे|मैंने|लगा|सोचा)|शुरू\sमें|पहली\sनज़र|(?:कई|अधिकतर"
    r"|बहुत\sसे)\s(?:लोग|छात्र))",
    "zh": r"(?:一开始|最初|起先|刚开始|最开始|第一反应|乍一看|乍看|初看|本来|原以为|如果|若是?|也许"
    r"|(?<![更最])可能是|起初|(?:很多|许多|不少|有些?|多数|大部分)(?:的?人|考生|学生|同学))",
    "ja": r"(?:もし|かもしれ|最初[はに]|初めは|当初|一見|多くの(?:人|学生|受験生))",
    "ko": r"(?:만약|아마|처음에|처음엔|언뜻|많은\s(?:사람|학생|수험생))",
}
"""What makes a sentence a supposition, an earlier thought or someone else's."""

COUNTERFACTUAL: Cues = {
    "en": r"\b(?:(?:would|could|might|['’]d)(?:n['’]t)?(?:\s\w+)?\shave|would\s(?:get|deserve|receive|merit|earn))\b"
    r"|\bhad\s(?:it|he|she|they|there|the|this|that)\b[^.]{0,40}?\s(?:been|had|shown|come)\b",
    "de": r"\bhätten?\b",
    "fr": r"\baurai(?:[st]|ent)\b",
    "es": r"\b(?:habría|hubiera)",
    "pt": r"\bt(?:eria|ivesse)\b",
    "it": r"\b(?:avre(?:i|bbe)|fosse)\b",
    "ru": r"\bесли\sбы\b",
}
"""What makes a sentence speak of what is not the case."""

ASIDE: Cues = {
    "en": r"incidentally|by\sthe\sway|as\san?\saside|note|remember|reminder|p\.?s\.?|for\s(?:completeness"
    r"|the\srecord)|in\spassing|(?:a\s)?(?:curious|side)\s\w+|of\snote|fun\sfact",
    "de": r"übrigens|nebenbei|anmerkung|hinweis|zur\serinnerung|merke|am\srande",
    "fr": r"au\spassage|remarque|observation(?=\s?:)|rappel|à\snoter|soit\sdit",
    "es": r"por\scierto|nota|observación(?=:)|dicho\ssea\sde\spaso|recordatorio",
    "pt": r"a\spropósito|nota|obs(?:ervação)?(?=[.:])|lembrete|diga-se\sde\spassagem",
    "it": r"per\sinciso|nota|a\sproposito|promemoria",
    "ru": r"кстати|примечание|к\sслову|напомню",
    "zh": r"顺便|注[:：意]|备注",
    "ja": r"ちなみに|なお|補足|余談",
    "ko": r"참고로|덧붙여",
}
"""What begins a remark that is no conclusion."""

BUT: Cues = {
    "en": r"but(?:\srather)?",
    "de": r"sondern",
    "fr": r"mais(?:\splutôt)?",
    "es": r"sino",
    "pt": r"mas(?:\ssim)?",
    "it": r"ma|bensì",
    "ru": r"а",
    "ar": r"بل",
    "hi": r"बल्कि",
    "zh": r"而是",
    "ja": r"ではなく",
    "ko": r"아니라",
}
"""What joins a denial and what is the case."""
