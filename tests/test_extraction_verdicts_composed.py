"""Verdicts in responses that are put together of an opening, a statement, its reasons and a closing."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from medtasks_utils.extraction.verdicts import read_verdict

_CLASSES = ("0", "1", "2")
_WORDS = ("factual", "hallucinated", "unsure")
_KINDS = (
    "Misinterpretation of question",
    "Incomplete information",
    "Mechanism and pathway misattribution",
    "Methodological and evidence fabrication",
)

_FORMS = (
    r"\boxed{{{code}}}",
    r"$\boxed{{\text{{{code}}}}}$",
    "**Verdict:** {code}",
    "**Verdict: {name} ({code})**",
    "Verdict\n{code}",
    "## Verdict\n\n{name}",
    "Label: `{code}`",
    "**Final answer:** {code} ({word})",
    "My verdict is {code}.",
    "**{code} – {name}**",
    '{{"verdict": {code}}}',
    '```json\n{{"label": "{word}"}}\n```',
    "<answer>{code}</answer>",
    "So the label is {code}, i.e. {word}.",
    "| Verdict | {code} |\n|---|---|",
    "Given all this, {code} ({word}).",
    "I'd go with {code}.",
    "The label that fits is {word}.",
    "It belongs in category {code} ({word}).",
    "Option {code}",
    "I lean towards {word}.",
)
_OPENINGS = (
    "",
    "Sure! Here is my assessment.\n\n",
    "I will judge whether the answer is factual or hallucinated.\n\n",
    "I need to decide between 0 (factual), 1 (hallucinated), and 2 (unsure).\n\n",
    "To judge it, I look at the four types of hallucination.\n\n1. Misinterpretation of question: it addresses it.\n\n",
    "**Question:** Does aspirin lower the risk of stroke?\n**Answer:** Yes, by blocking COX-1.\n\n",
    "Great question!\n\n### Analysis\n\n",
)
_CLOSINGS = (
    "",
    "\n\nLet me know if you have any other questions!",
    "\n\nConfidence: 0.9",
    "\n\nI am 85 % sure.",
    "\n\nI am fairly confident but could be wrong.",
    "\n\nReferences: 1. A trial of aspirin, 2009.",
    '\n\nThe answer reads: "Aspirin lowers the risk by 22 %."',
)
_REASONS = (
    (
        "\n\nHad it said that aspirin blocks COX-2 alone, it would be hallucinated.",
        "\n\nA hallucinated answer would have named a trial that does not exist.",
        "\n\n" + "\n".join(f"- {kind}: No" for kind in _KINDS),
        "\n\n" + " ".join(f"{kind}: none." for kind in _KINDS),
        '\n\nIt isn\'t perfect: "always" is too strong. That is no hallucination, though.',
    ),
    (
        "\n\nA factual answer would have said that aspirin blocks COX-1.",
        "\n\nHad it said COX-1, it would be factual.",
        "\n\nIt is not that the topic is invented, but the mechanism is.",
        "\n\n"
        + "\n".join(f"{at}. **{kind}**: {'Present' if at == 3 else 'None'}" for at, kind in enumerate(_KINDS, 1)),
        "\n\n" + " ".join(f"{kind}: {'yes' if kind.startswith('Mech') else 'no'}." for kind in _KINDS),
        "\n\nAlthough the topic is right and the tone factual, the registry does not exist.",
    ),
    (
        "\n\nIf the registry exists, the answer is factual; if not, it is hallucinated.",
        "\n\nThe first part may be factual, the second may be hallucinated.",
    ),
)

# By language: a class beside the other one, a first impression, what would be the case; "factual" and "hallucinated".
_CONTRASTS = {
    "en": (
        "factual",
        "hallucinated",
        "The answer is {this}, and not {other}.",
        "The answer is {this} rather than {other}.",
        "I'd label it {this} as opposed to {other}.",
        "I'm tempted to say {other}. The verdict is {this}.",
        "I change my verdict from {other} to {this}.",
        "I considered {other}, but settled on {this}.",
        "I dont think it is {other}. It is {this}.",
    ),
    "de": (
        "faktisch",
        "halluziniert",
        "Die Antwort ist {this} und nicht {other}.",
        "Die Antwort ist eher {this} als {other}.",
        "Auf den ersten Blick ist sie {other}. Tatsächlich ist sie {this}.",
        "Man könnte sie {other} nennen, aber sie ist {this}.",
        "Die Antwort ist {this}. Eine {other}e Antwort hätte 3 % genannt.",
    ),
    "fr": (
        "factuelle",
        "hallucinée",
        "La réponse est {this}, et non {other}.",
        "La réponse est {this} plutôt que {other}.",
        "Au premier abord, elle est {other}. Pourtant, elle est {this}.",
        "Elle est {this}. Une réponse {other} aurait donné 3 %.",
    ),
    "es": (
        "factual",
        "alucinada",
        "La respuesta es {this} y no {other}.",
        "La respuesta es más {this} que {other}.",
        "Se podría llamar {other}, pero es {this}.",
        "La respuesta es {this}. Si hubiera dicho 3 %, sería {other}.",
    ),
    "pt": (
        "factual",
        "alucinada",
        "Deve ser classificada como {this}, e não como {other}.",
        "A resposta é mais {this} do que {other}.",
        "A resposta é {this}. Se tivesse dito 3 %, seria {other}.",
    ),
    "it": (
        "fattuale",
        "allucinata",
        "Va classificata come {this} anziché come {other}.",
        "La risposta è {this}. Una risposta {other} avrebbe dato 3 %.",
        "A prima vista è {other}, ma è {this}.",
    ),
    "ru": (
        "достоверный",
        "выдуманный",
        "Ответ {this}, а не {other}.",
        "Ответ скорее {this}, чем {other}.",
        "На первый взгляд ответ {other}. На самом деле он {this}.",
    ),
    "zh": (
        "事实",
        "幻觉",
        "该回答是{this}，而非{other}。",
        "看似{other}，实为{this}。",
        "该回答是{this}。如果它说3%，那就是{other}。",
    ),
    "ja": (
        "事実",
        "ハルシネーション",
        "この回答は{this}であって、{other}ではありません。",
        "この回答は{other}というより{this}です。",
    ),
    "ko": (
        "사실",
        "환각",
        "이 답변은 {other}이 아니라 {this}입니다.",
        "이 답변은 {this}입니다. 만약 3%라고 했다면 {other}이었을 것입니다.",
    ),
    "ar": ("واقعية", "هلوسة", "الإجابة {this} وليست {other}.", "الإجابة {this}. لو قالت 3% لكانت {other}."),
    "hi": ("तथ्यात्मक", "मतिभ्रम", "उत्तर {this} है, {other} नहीं।", "उत्तर {this} है। यदि 3% कहता तो {other} होता।"),
}


def _responses(count: int) -> Iterator[tuple[str, str]]:
    rng = random.Random(19)
    for _ in range(count):
        at = rng.randrange(3)
        form = rng.choice(_FORMS).format(code=at, word=_WORDS[at], name=_WORDS[at].capitalize())
        yield _CLASSES[at], rng.choice(_OPENINGS) + form + rng.choice(_CLOSINGS + _REASONS[at])


def test_openings_reasons_and_closings_leave_a_verdict_as_it_is() -> None:
    misread = [(right, text) for right, text in _responses(1200) if read_verdict(text).value != right]
    assert not misread


@pytest.mark.parametrize("language", _CONTRASTS)
def test_a_class_beside_the_other_one(language: str) -> None:
    factual, hallucinated, *statements = _CONTRASTS[language]
    for right, this, other in (("0", factual, hallucinated), ("1", hallucinated, factual)):
        for statement in statements:
            text = statement.format(this=this, other=other)
            assert (read_verdict(text).value, text) == (right, text)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("allucinata? sì\nfattuale? no\nincerta? no", "1"),
        ("<factual>falso</factual><alucinacion>verdadero</alucinacion><dudoso>falso</dudoso>", "1"),
        ("halluziniert: falsch\nfaktisch: wahr\nunsicher: falsch", "0"),
        ('{"hallucination": "faux"}', "0"),
        ('{"事实": false, "幻觉": true, "不确定": false}', "1"),
        ("Hallucinated: unclear", "2"),
        ('verdict = {"0": 0.41, "1": 0.38, "2": "n/a"}\n\nfinal_label\n2', "2"),
        ("Verdict (revised): the opposite of hallucinated.", "0"),
        ("I conclude that this belongs with the non-hallucinated answers.", "0"),
        ("I wouldnt say its halucinated. I wouldnt say im unsure ether. Its just a corect anser.", "0"),
        ("I cant call this factual.", "1"),
        ("Either the answer is factual or it is hallucinated.", None),
    ],
)
def test_forms(text: str, verdict: str | None) -> None:
    assert read_verdict(text).value == verdict
