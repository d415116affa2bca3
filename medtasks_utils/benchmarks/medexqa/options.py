"""Define the specialties and options of MedExQA."""

import re
from collections.abc import Collection, Mapping
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import AfterValidator, BeforeValidator, Field, PositiveInt, model_validator

from medtasks_utils.benchmarks.base import ChoiceOptions
from medtasks_utils.judging import DEFAULT_MODEL, JUDGES, judge_name

from .metrics import DEFAULT_BERTSCORE_MODEL, METRICS

Weight = Annotated[float, Field(ge=0, le=1)]


class Specialty(NamedTuple):
    """A specialty: its name in tasks and options, its code in the paper, and the stem of its file names."""

    name: str
    code: str
    stem: str


SPECIALTIES = (
    Specialty("biomedical_engineering", "BE", "biomedical_engineer"),
    Specialty("clinical_laboratory_science", "CLS", "clinical_laboratory_scientist"),
    Specialty("clinical_psychology", "CP", "clinical_psychologist"),
    Specialty("occupational_therapy", "OT", "occupational_therapist"),
    Specialty("speech_language_pathology", "SLP", "speech_pathologist"),
)

_WEIGHTS = ("mcq_weight", "explanation_weight")
_OF_JUDGE = ("judge_mode", "judge_model", "judge_base_url", "judge_api_key_env", "judge_concurrency", "judge_cache",
             "judge_max_tokens")  # fmt: skip


def _chosen(known: Mapping[str, Collection[str]], value: Any, default: str = "") -> tuple[str, ...]:
    """Return the names that a comma-separated text or a list selects, ignoring case.

    Spaces and hyphens in a name count as underscores.

    Args:
        known: the names that each word selects; ``all`` selects all names, in the order of the result.
        value: the text or list.
        default: the text to use instead of an empty value.
    """
    value = value or default
    items = value if isinstance(value, list | tuple) else str(value).split(",")
    words = {re.sub("[ -]", "_", str(item).strip().lower()) for item in items}
    if not words <= known.keys():
        raise ValueError(f"must be one or more of {', '.join(known)}")
    selected = set().union(*(known[word] for word in words))
    return tuple(name for name in known["all"] if name in selected)


_BY_SPECIALTY = {
    **{key.lower(): [specialty.name] for specialty in SPECIALTIES for key in specialty},
    "all": [specialty.name for specialty in SPECIALTIES],
}
_BY_METRIC = {
    **{name.lower(): [name] for name in METRICS},
    "rouge": ["rougeL"],  # the environment's name
    **dict.fromkeys(("all", "overall"), METRICS),
}
_specialties = partial(_chosen, _BY_SPECIALTY, default="all")


class MedExQAOptions(ChoiceOptions):
    """Options of MedExQA, set under ``medexqa`` in ``--metadata`` or with ``--set``.

    Attributes:
        specialty: for medexqa_all, one or more codes, names or file stems, or ALL
        split: the rows to evaluate on
        use_think: ask for reasoning in a think block first
        use_explanations: score the explanations too
        explanation_metrics: one or more of rougeL, bleu, meteor, bertscore, or all; with use_judge, only if set
        mcq_weight: weight of answer_accuracy in combined
        explanation_weight: weight of explanation in combined
        bertscore_model: hub repository, or a folder with the model
        bertscore_device: cpu, cuda, mps, or auto for the best available
        bertscore_batch_size: maximum number of texts to embed together
        seed: for medexqa_all, shuffle the rows of all specialties with this seed
        use_judge: let a judge score the explanations
        judge_mode: the judge, g-eval or factscore; required with use_judge
        judge_model: name of the judging model at the endpoint
        judge_base_url: base URL of the judge's endpoint, which must be OpenAI-compatible
        judge_api_key_env: name of the environment variable with the endpoint's API key
        judge_concurrency: maximum number of concurrent requests to the judge, over all processes
        judge_cache: file that caches the judge's replies
        judge_max_tokens: maximum number of tokens in a judge's reply, including its reasoning
        use_coverage: for factscore, also verify the references' claims against the explanation
    """

    choose_rows = frozenset({"specialty", "seed", "split"})
    costly: ClassVar = {"use_explanations": frozenset({"explanation_metrics", "use_judge"})}
    needs: ClassVar = {
        **dict.fromkeys(("explanation_metrics", *_WEIGHTS, "use_judge"), "use_explanations=true"),
        **dict.fromkeys(
            ("bertscore_model", "bertscore_device", "bertscore_batch_size"), "explanation_metrics=bertscore"
        ),
        **dict.fromkeys(_OF_JUDGE, "use_judge=true"),
        "use_coverage": "judge_mode=factscore",
    }
    # The metrics and the judge cover these options in signatures of their own.
    not_signed = ChoiceOptions.not_signed | {"use_explanations", *needs}.difference(_WEIGHTS)
    needs |= ChoiceOptions.needs

    specialty: Annotated[tuple[str, ...], BeforeValidator(_specialties)] = Field(("ALL",), validate_default=True)
    split: Literal["test", "dev"] = "test"
    use_think: bool = False
    use_explanations: bool = True
    explanation_metrics: Annotated[tuple[str, ...], BeforeValidator(partial(_chosen, _BY_METRIC))] = tuple(METRICS)
    mcq_weight: Weight = 0.5
    explanation_weight: Weight = 0.5
    bertscore_model: str = DEFAULT_BERTSCORE_MODEL
    bertscore_device: str = Field("auto", pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$")
    bertscore_batch_size: PositiveInt = 64
    seed: int | None = None
    use_judge: bool = False
    judge_mode: Annotated[str, AfterValidator(judge_name)] | None = None
    judge_model: str = DEFAULT_MODEL
    judge_base_url: str | None = None
    judge_api_key_env: str | None = None
    judge_concurrency: PositiveInt = 16
    judge_cache: str | None = None
    judge_max_tokens: PositiveInt = 4096
    use_coverage: bool = False

    @model_validator(mode="before")
    @classmethod
    def _one_weight_gives_the_other(cls, given: dict[str, Any]) -> dict[str, Any]:
        for stated, implied in (_WEIGHTS, _WEIGHTS[::-1]):
            weight = given.get(stated)
            if implied not in given and isinstance(weight, int | float):
                return {**given, implied: 1 - weight}
        return given

    @model_validator(mode="after")
    def _judge_is_named(self) -> "MedExQAOptions":
        if self.judges and self.judge_mode is None:
            raise ValueError(f"use_judge needs judge_mode; set it to {' or '.join(JUDGES)}")
        return self

    @property
    def judges(self) -> bool:
        """True if a judge scores the explanations."""
        return self.use_explanations and self.use_judge

    @property
    def lexical_metrics(self) -> tuple[str, ...]:
        """The lexical metrics to compute; with a judge, only those that the user names."""
        by_name = "explanation_metrics" in self.model_fields_set
        return self.explanation_metrics if self.use_explanations and (by_name or not self.use_judge) else ()
