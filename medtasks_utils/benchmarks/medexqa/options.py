"""Define the specialties and options of MedExQA."""

import re
from collections.abc import Collection, Mapping
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BeforeValidator, Field, PositiveInt, model_validator

from medtasks_utils.benchmarks.choices import ChoiceOptions
from medtasks_utils.benchmarks.facts import TaskInfo
from medtasks_utils.benchmarks.options import CHOOSES_ROWS, UNSIGNED, About, any_of
from medtasks_utils.errors import UsageError
from medtasks_utils.judging import DEFAULT_MODEL, JUDGES, judge_name, model_names

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


def _chosen(known: Mapping[str, Collection[str]], value: Any, default: str = "") -> tuple[str, ...]:
    """Return the names that a comma-separated string or a list selects, ignoring case.

    Spaces and hyphens in a name count as underscores.

    Args:
        known: the names that each word selects; ``all`` selects all names, in the order of the result.
        value: the string or list.
        default: the string to use instead of an empty value.

    Raises:
        ValueError: for a name that is not in ``known``.
    """
    value = value or default
    items = value if isinstance(value, list | tuple) else str(value).split(",")
    words = {re.sub("[ -]", "_", str(item).strip().lower()) for item in items}
    if not words <= known.keys():
        raise ValueError(f"must be one or more of {', '.join(known)}")
    selected = set().union(*(known[word] for word in words))
    return tuple(name for name in known["all"] if name in selected)


_BY_SPECIALTY: dict[str, Collection[str]] = {}
for _specialty in SPECIALTIES:
    _BY_SPECIALTY |= dict.fromkeys(map(str.lower, _specialty), (_specialty.name,))
_BY_SPECIALTY["all"] = [specialty.name for specialty in SPECIALTIES]
_BY_METRIC = {
    **{name.lower(): [name] for name in METRICS},
    "rouge": ["rougeL"],  # the environment's name
    **dict.fromkeys(("all", "overall"), METRICS),
}
_specialties = partial(_chosen, _BY_SPECIALTY, default="all")


_EXPLAINED = any_of(use_explanations=True)
_OF_EXPLANATIONS = About(needs=_EXPLAINED)
# The metrics and the judge cover the following options in signatures of their own.
_OF_BERTSCORE = About(is_signed=False, needs=any_of(explanation_metrics="bertscore"))
_OF_JUDGE = About(is_signed=False, needs=any_of(use_judge=True))


class MedExQAOptions(ChoiceOptions):
    """Options of MedExQA, set under ``medexqa`` in ``--metadata`` or with ``--set``."""

    specialty: Annotated[tuple[str, ...], BeforeValidator(_specialties), CHOOSES_ROWS] = Field(
        ("ALL",), validate_default=True
    )
    """for medexqa_all, one or more codes, names or file stems, or ALL"""
    split: Annotated[Literal["test", "dev"], CHOOSES_ROWS] = "test"
    """the split to evaluate"""
    label_offset: Annotated[int, Field(ge=-3, le=3), UNSIGNED] = 0
    """take each label from the row this many rows later, if the data's labels are misaligned"""
    use_think: bool = False
    """request reasoning in a think block before the answer"""
    use_explanations: Annotated[bool, About(is_signed=False, implied_by=("explanation_metrics", "use_judge"))] = True
    """also score the explanations"""
    explanation_metrics: Annotated[
        tuple[str, ...], BeforeValidator(partial(_chosen, _BY_METRIC)), About(is_signed=False, needs=_EXPLAINED)
    ] = tuple(METRICS)
    """one or more of rougeL, bleu, meteor, bertscore, or all; with use_judge, none by default"""
    mcq_weight: Annotated[Weight, _OF_EXPLANATIONS] = 0.5
    """weight of answer_accuracy in combined"""
    explanation_weight: Annotated[Weight, _OF_EXPLANATIONS] = 0.5
    """weight of explanation in combined"""
    bertscore_model: Annotated[str, _OF_BERTSCORE] = DEFAULT_BERTSCORE_MODEL
    """the model's repository on the Hub, or its folder"""
    bertscore_device: Annotated[str, Field(pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$"), _OF_BERTSCORE] = "auto"
    """cpu, cuda, mps, or auto for the best available"""
    bertscore_batch_size: Annotated[PositiveInt, _OF_BERTSCORE] = 64
    """maximum number of texts to embed together"""
    seed: Annotated[int | None, CHOOSES_ROWS] = None
    """for medexqa_all, shuffle the rows of all specialties with this seed"""
    use_judge: Annotated[bool, About(is_signed=False, needs=_EXPLAINED)] = False
    """let a judge score the explanations"""
    judge_mode: Annotated[Annotated[str, AfterValidator(judge_name)] | None, _OF_JUDGE] = None
    """the judge, g-eval or factscore; required with use_judge"""
    judge_model: Annotated[str, AfterValidator(model_names), _OF_JUDGE] = DEFAULT_MODEL
    """name of the judge model at the endpoint, or comma-separated names, whose scores are averaged"""
    judge_base_url: Annotated[str | None, _OF_JUDGE] = None
    """base URL of the judge's endpoint, which must be OpenAI-compatible"""
    judge_api_key_env: Annotated[str | None, _OF_JUDGE] = None
    """name of the environment variable with the endpoint's API key"""
    judge_concurrency: Annotated[PositiveInt, _OF_JUDGE] = 16
    """maximum number of concurrent requests to the judge, over all processes"""
    judge_cache: Annotated[str | None, _OF_JUDGE] = None
    """file that caches the judge's replies"""
    judge_max_tokens: Annotated[PositiveInt, _OF_JUDGE] = 4096
    """maximum number of tokens in a judge's reply, including its reasoning"""
    use_coverage: Annotated[bool, About(is_signed=False, needs=any_of(judge_mode="factscore"))] = False
    """for factscore, also verify the references' claims against the explanation"""

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

    def check(self, task: TaskInfo) -> list[str]:
        """Check that the options apply to the task.

        Returns:
            Warnings, such as one about weights that do not sum to 1.

        Raises:
            UsageError: if an option does not apply to the task.
        """
        useless = {"specialty", "seed"} & self.model_fields_set
        if task.subset and useless:
            raise UsageError(
                f"{task.name} has one specialty: {' and '.join(sorted(useless))} cannot apply to it; use the task "
                "medexqa_all to choose specialties, or name tasks such as medexqa_be"
            )
        if self.vary_order and not task.generates:
            raise UsageError(
                f"{task.name}: vary_order applies only to generated answers, but this task compares log-likelihoods"
            )
        total = self.mcq_weight + self.explanation_weight
        unusual = f"mcq_weight and explanation_weight sum to {total:g}, not 1; the metric combined uses them unchanged"
        return [*super().check(task), *([unusual] if abs(total - 1) > 1e-9 else [])]

    @property
    def judges(self) -> bool:
        """True if a judge scores the explanations."""
        return self.use_explanations and self.use_judge

    @property
    def lexical_metrics(self) -> tuple[str, ...]:
        """The lexical metrics to compute: those that the user names or, without a judge, all by default.

        Empty without ``use_explanations``.
        """
        by_name = "explanation_metrics" in self.model_fields_set
        return self.explanation_metrics if self.use_explanations and (by_name or not self.use_judge) else ()
