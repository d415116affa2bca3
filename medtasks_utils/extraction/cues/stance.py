"""Words that take a statement back or make it a supposition. Regular expressions for text in any case, by language."""

from __future__ import annotations

Cues = dict[str, str]

RETRACTED: Cues = {
    "en": r"\b(?:wait\b(?!\sfor\b)|hold\son\b(?!\sto\b)|(?:i|let\sme)\s(?:hereby\s)?(?:withdraw|retract)\b|hmm+\b"
    r"|scratch\sthat|on\s(?:second\sthought|reflection|closer\sinspection)|let\sme\s(?:re-?consider|correct)"
    r"|i\smade\san?\s(?:\w+\s)?(?:mistake|error|slip)|misprint|th(?:at|is)\s(?:was|is|(?:would"
    r"|must)\sbe)\s(?:an?\s)?(?:\w+\s)?(?:mistake|wrong|error|slip|typo|miscalculation)\b|actually,"
    r"|(?<!out\s)correction:|redoing|disregard|a\scorrection\sis|i\swas\swrong|i\s(?:take\sthat\sback|forgot|misread"
    r"|(?:must|(?:have|need)\sto)\s(?:withdraw|retract))|but\sthat\swas|change\smy\s(?:answer|mind|verdict)"
    r"|edit(?:ed)?:|i\s(?:\w+ly\s|must\s|beg\sto\s)?disagree\b(?!\swith\s(?:the\s)?(?:option\s)?[A-D]\b)|apologi[sz]e"
    r"|that(?:['’]s|\sis)\snot\s(?:right|correct|it)\b|(?:wh?)?oops\b|my\sbad\b|sorry,\s(?:i\smean|wrong))"
    r"|(?<![\w\s])\s?no,\s(?!not\b)|\?\s?no\b",
    "de": r"\b(?:moment\b|(?<!im\s)augenblick\b|halt[,!]|(?:nehme|ziehe)(?:\s\w+){1,3}\szurück\b|stopp\b|korrektur:"
    r"|doch\snicht\b|nein,|ups\b|hoppla\b|ich\shabe\smich\s(?:vertan|geirrt|verlesen)|ich\shabe\s(?:\w+\s)?vergessen)",
    "fr": r"\b(?:attendez?\b|(?:un\sinstant|une?\s(?:minute|seconde))\b|je\s(?:retire|me\s(?:ravise|reprends)"
    r"|reviens\ssur)\b|correction\s?:|non,|en\sfait,|oups\b|je\sme\ssuis\stromp|j['’]ai\soublié)",
    "es": r"\b(?:espera\b|un\smomento\b(?=[,.!;:])|retiro\b|rectifico\b|perdón\b|me\she\sequivocado|corrección:"
    r"|mejor\sdicho|[uh]ups\b|olvidé)",
    "pt": r"\b(?:espere?\b|(?:um\smomento|calma)\b(?=[,.!;:])|retiro\b|retifico\b|(?:me\senganei|enganei-me)"
    r"|correção:|melhor\sdizendo|op[sa]\b|esqueci)",
    "it": r"\b(?:aspetta\b|un\s(?:momento|attimo)\b(?=[,.!;:])|ritiro\b|mi\scorreggo\b|ripensandoci\b"
    r"|mi\ssono\ssbagliat|correzione:|anzi(?:\sno)?[,:]|ops\b|ho\sdimenticato|dimenticavo)",
    "ru": r"\b(?:подождите?\b|погодите?\b|постойте?\b|беру\s(?:\w+\s){1,3}(?:назад|обратно)|стоп\b|исправление:"
    r"|хотя\sнет|(?:ой|упс)\b|я\sзабыл)",
    "ar": r"انتظر|لحظة(?=[,.!])|أتراجع|أسحب|تصحيح|نسيت",
    "hi": r"रुकिए|ठहर(?:िए|ो)|वापस\sलेत|रुको|सुधार:|भूल\sगय",
    "zh": r"等等|且慢|慢着|收回|撤回|等一下|更正|哎呀|我忘",
    "ja": r"待って|お待ち|撤回|取り消|訂正|おっと|忘れてい",
    "ko": r"잠깐|기다려|철회|취소하|잠시만|정정|아차|깜빡",
}
"""What takes back the statements before it."""

TENTATIVE: Cues = {
    "en": r"\b(?:if(?!\s(?:i\s(?:must|ha(?:ve|d)\sto|were)|forced|pressed|pushed))|whether|unless|suppose|tempt(?:ed"
    r"|ing)|at\sfirst|first\s(?:glance|sight|thought|choice|instinct|idea|guess)|initial(?:ly)?|(?:first"
    r"|originally)\s(?:\w+\s)?(?:lean|thought|chose|pick|put|mark|said|guess|went|consider|suspect|answer)\w*"
    r"|(?:(?<!the\s)one|you|someone|some|many|most(?=\s(?:would|people|students))|people|\w{2,9}(?:ents|ates|ers|ors"
    r"|ists|ians|ants|eagues|ooks))\s(?:\w+\s){0,2}(?:might|may|could|will|would|sa(?:y|id)|think|thought|wrote|claim"
    r"|suggest|pick|cho+se|mark|tick|put)(?:ed)?|(?:resident|student|intern|colleague|roommate|friend|user|classmate"
    r"|neighbou?r)\s(?:\w+ly\s)?(?:says?|said|thinks|claims|insists|argues|suggests|wrote|writes|swears|picked|chose)"
    r"|common\s(?:error|mistake)|misconceptions?|mistaken(?:ly)?|erroneously|(?:wrong|incorrect)ly(?=:)|could\s(?:be"
    r"|also)|might\sbe|may\s(?:also\s)?be|undecided|(?:earlier|previous|older|other|different)\s(?:version|question"
    r"|edition|exam)|consider(?:ing)?(?=\s(?:the\s)?(?:option|choice))|was\s(?:going|about)\sto|torn|often\sconfused"
    r"|had\sasked|ke(?:ep|pt)\s\w{3,12}ing|(?:made|makes|making)\sme\s(?:think|suspect|lean|pick|choose)"
    r"|likely\sto\s(?:say|pick|choose|answer|mark|think))\b",
    "de": r"\b(?:auf\sden\sersten\sblick|erste[rn]?\s(?:gedanke|impuls|instinkt|eindruck|vermutung|idee)|anfangs|wenn"
    r"|falls|ob|zunächst|zuerst|könnte|vielleicht|(?:viele|manche|einige|die\s(?:meisten"
    r"|mehrheit))\s(?:\w+\s)?(?:würden|wählen|denken|meinen|halten|kreuzen))\b",
    "fr": r"\b(?:à\spremière\svue|premi(?:er|ère)\s(?:idée|pensée|intuition|impression|réflexe)|au\s(?:départ|début"
    r"|premier\sabord)|si|peut-être|pourrait|d['’]abord|(?:beaucoup|certains|plusieurs"
    r"|la\splupart)\s(?:\w+\s)?(?:choisi\w+|pens\w+|dir\w+|coch\w+|répond\w+))\b",
    "es": r"\b(?:a\sprimera\svista|primer[ao]?\s(?:idea|impresión|intuición|pensamiento|impulso)|inicialmente"
    r"|en\sun\sprincipio|empecé|si|quizás|podría|al\sprincipio|(?:muchos|algunos|la\smayoría)\s(?:\w+\s)?(?:el[ei]g\w+"
    r"|pien\w+|dirí\w+|marc\w+|respond\w+|cre\w+))\b",
    "pt": r"\b(?:à\sprimeira\svista|primeir[ao]\s(?:ideia|impressão|intuição|pensamento|impulso|palpite)|inicialmente"
    r"|de\sinício|se|talvez|poderia|a\sprincípio|(?:muitos|alguns|a\smaioria)\s(?:\w+\s)?(?:escolh\w+|pens\w+|diri\w+"
    r"|marc\w+|respond\w+|ach\w+))\b",
    "it": r"\b(?:a\sprima\svista|prim[ao]\s(?:idea|impressione|intuizione|pensiero|istinto)|all['’]inizio"
    r"|in\sun\sprimo\smomento|se|forse|potrebbe|inizialmente|(?:molti|alcuni|la\smaggior\sparte)\s(?:\w+\s)?(?:scel\w+"
    r"|pens\w+|dire\w+|segn\w+|rispond\w+|cred\w+))\b",
    "ru": r"\b(?:если|может\sбыть|возможно|сначала|сперва|поначалу|вначале|первоначально|перв(?:ая|ой)\s(?:мысль\w?"
    r"|идея|догадка)|на\sпервый\sвзгляд|(?:многие|некоторые|большинство)\s(?:\w+\s)?(?:выб\w+|дума\w+|счита\w+"
    r"|отвеча\w+))\b",
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

CONTRARY: Cues = {
    "en": r"if\b[^.!?;]{0,120}?\b(?:had\sbeen|had\sasked|were(?!\s(?:to|asked\sto|forced))|instead)\b",
    "de": r"(?:wenn|falls)\b[^.!?;]{0,120}?\b(?:wäre|hätte)|wäre|hätte",
    "fr": r"si\b[^.!?;]{0,120}?\b(?:avai(?:t|ent)|étai(?:t|ent))",
    "es": r"si\b[^.!?;]{0,120}?\b(?:hubiera|fuera|hubiese|fuese)",
    "pt": r"se\b[^.!?;]{0,120}?\b(?:tivesse|fosse)",
    "it": r"se\b[^.!?;]{0,120}?\b(?:avesse|fosse)",
    "ru": r"если\sбы",
}
"""What begins a sentence on another case than the one asked about."""

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

FORMER: Cues = {
    "en": r"draft|first(?:ly)?(?=\s(?:wrote|put|answer|box|thought|gave|had|said|draft|verdict|marked|chose))"
    r"|initial(?:ly)?|original(?:ly)?|earlier|previous(?:ly)?|had\s(?:written|put|boxed|given)",
    "de": r"zuerst|zunächst|anfangs|ursprünglich|vorhin|entwurf",
    "fr": r"d['’]abord|au\sdépart|initialement|précédemment|brouillon",
    "es": r"primero|al\sprincipio|inicialmente|anteriormente|borrador",
    "pt": r"primeiro|a\sprincípio|inicialmente|anteriormente|rascunho",
    "it": r"prima|all['’]inizio|inizialmente|in\sprecedenza|bozza",
    "ru": r"сначала|сперва|вначале|раньше|черновик\w{0,2}",
    "ar": r"في\sالبداية|أولا|سابقا|مسودة",
    "hi": r"पहले|शुरू\sमें|मसौदे",
    "zh": r"最初|起初|一开始|先前|原先|草稿",
    "ja": r"最初[はに]|はじめ[はに]|先ほど|下書き",
    "ko": r"처음에|원래|앞서|초안",
}
"""What tells that a box held an answer once."""

COURTESY: Cues = {
    "en": r"certainly|sure(?:\sthing)?|of\scourse|absolutely|(?:great|good|excellent)\squestion|okay|ok|alright"
    r"|thank(?:s|\syou)(?:\sfor\s(?:your|the|this)\s\w+)?|hello|hi",
    "de": r"gerne?|klar|natürlich|selbstverständlich|gute\sfrage",
    "fr": r"bien\ssûr|certainement|avec\splaisir|bonne\squestion",
    "es": r"claro(?:\sque\ssí)?|por\ssupuesto|con\sgusto|buena\spregunta",
    "pt": r"claro|com\scerteza|com\sprazer|boa\spergunta",
    "it": r"certo|certamente|volentieri|ottima\sdomanda",
    "ru": r"конечно|разумеется|хороший\sвопрос",
    "ar": r"بالتأكيد|بالطبع",
    "hi": r"ज़रूर|बिल्कुल",
    "zh": r"好的|当然(?:可以)?",
    "ja": r"はい|もちろんです|承知しました",
    "ko": r"네|물론입니다|물론이죠",
}
"""What a polite reply begins with."""

ANNOUNCING: Cues = {
    "en": r"(?:let['’]?s|let\s(?:me|us))\s(?:work|think|go|analy[sz]e|break|look|walk|reason|start|examine|review"
    r"|evaluate|begin|solve|discuss)|here(?:['’]s|\sis|\sare)\s(?:the|my|an?|how)\s(?:\w+\s){0,2}(?:analysis|breakdown"
    r"|reasoning|explanation|thought|approach)",
    "de": r"(?:hier\s(?:ist|kommt)|es\sfolgt)\smeine|(?:lassen\ssie\suns|lass\suns|schauen\swir|gehen\swir)\s",
    "fr": r"voici\s(?:mon|l['’])\s?(?:analyse|raisonnement|explication)|(?:analysons|examinons|reprenons|voyons)\s",
    "es": r"(?:aquí\stienes|este\ses)\s(?:mi|el)\s(?:análisis|razonamiento)|(?:vamos\sa|analicemos|veamos)\s",
    "pt": r"(?:aqui\sestá|segue)\s(?:a\sminha|o\smeu)|vamos\s(?:analisar|pensar|ver)",
    "it": r"ecco\s(?:la\smia|il\smio)|(?:analizziamo|vediamo|esaminiamo)\s",
    "ru": r"давайте\s|(?:вот|ниже)\sмо[йёи]\s",
    "zh": r"(?:让我们?|我们来|下面)(?:来|一起)?(?:逐[一步])?(?:分析|看看)",
    "ja": r"(?:順番に|一緒に)?(?:考え|見て|検討し)(?:てみ|ていき)ましょう",
    "ko": r"(?:차근차근|하나씩)\s",
}
"""What announces that an analysis follows."""

CLOSING: Cues = {
    "en": r"(?:please\s)?(?:let\sme\sknow|feel\sfree)\b|(?:i\s)?hope\s(?:this|that|it)\s|if\syou(?:['’]d)?\s(?:want"
    r"|like|would\slike|have\s(?:any|more|further)|need)\b|would\syou\slike|do\syou\s(?:have|want|need)\s"
    r"|(?:please\s)?(?:don['’]t|do\snot)\shesitate|happy\sto|(?:medical\s)?disclaimer\b"
    r"|confidence(?:\slevel)?[*_]{0,3}\s?:|(?:please\s)?(?:note\sthat\s)?(?:this|the\sabove)\s(?:is"
    r"|information\sis)\s(?:not\s(?:medical|a\ssubstitute)|for\seducational)",
    "de": r"ich\shoffe,?\s|wenn\s(?:du|sie)\s(?:möchte|willst|wollen|weitere|noch)|falls\s(?:du"
    r"|sie)\s(?:weitere|noch)|sag(?:en\ssie)?\s(?:mir\s)?bescheid",
    "fr": r"n['’]hésite[zr]?|j['’]espère|si\svous\s(?:voulez|souhaitez|avez)|souhaitez-vous|voulez-vous",
    "es": r"espero\sque|si\s(?:tienes?|quieres?|necesitas?|deseas?)\s|no\sdudes?\sen|¿(?:te\sgustaría|quieres)",
    "pt": r"espero\ster|espero\sque|se\s(?:quiser|tiver|precisar)\s|fique\sà\svontade",
    "it": r"spero\s(?:di|che)|se\s(?:vuoi|hai|desideri)\s|non\sesitare|fammi\ssapere",
    "ru": r"надеюсь|если\s(?:у\sвас|хотите|есть|нужно)|обращайтесь",
    "ar": r"(?:إذا|إن)\s(?:كان\sلديك|كنت|أردت)|آمل\sأن|أتمنى\sأن",
    "hi": r"(?:यदि|अगर)\s(?:आपको|आपके|आप)\s|आशा\sहै",
    "zh": r"如果?您?还?有(?:其他|任何)|如果您|希望(?:这|以上|对)|欢迎",
    "ja": r"(?:他に|ほかに)|ご不明|お役に立|何か(?:他|ご)",
    "ko": r"도움이\s되|궁금한|추가(?:적인)?\s?질문",
}
"""What a polite last line begins with."""

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
