"""MedExQA's specialties and options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import BeforeValidator, Field, model_validator

from medtasks_utils.benchmarks.choices import ChoiceOptions
from medtasks_utils.benchmarks.judge_options import JudgeOptions
from medtasks_utils.benchmarks.medexqa.metrics import DEFAULT_BERTSCORE_MODEL, METRICS
from medtasks_utils.benchmarks.options import Requirement


class Specialty(NamedTuple):
    """One of the five: its name here, its code in the paper, and the stem of its files."""

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


_ALL = ("all", "overall")

JUDGED = ("combined", "explanation", "support", "coverage")
"""Metrics that a judge may give, and may fail to."""


def references(example: Mapping[str, Any]) -> list[str]:
    """The reference explanations of an example that are not blank: two, one or none."""
    return [text for text in (example["explanation_1"], example["explanation_2"]) if text.strip()]


def _specialty_names(value: Any) -> tuple[str, ...]:
    """Names of the specialties meant by one or many codes, names or file stems, in any case; ``ALL`` means all."""
    given = (value if isinstance(value, list | tuple) else [value]) or ["all"]
    known = {key.lower(): s.name for s in SPECIALTIES for key in s}
    names = []
    for item in given:
        key = str(item).strip().lower().replace(" ", "_").replace("-", "_")
        if key in ("all", ""):
            return tuple(s.name for s in SPECIALTIES)
        if key not in known:
            raise ValueError("must be ALL, or one or many of " + ", ".join(f"{s.code} ({s.name})" for s in SPECIALTIES))
        names.append(known[key])
    return tuple(s.name for s in SPECIALTIES if s.name in names)


def _metric_names(value: Any) -> tuple[str, ...]:
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list | tuple) or not given:
        raise ValueError(f"must be one or a list of {', '.join(METRICS)}, or all")
    by_name = {"rouge": "rougeL", **{name.lower(): name for name in METRICS}}  # rouge, overall: the environment's names
    named = [str(name).lower() for name in given]
    if any(name not in (*by_name, *_ALL) for name in named):
        raise ValueError(f"must be out of {', '.join(METRICS)}, or all")
    return tuple(METRICS) if set(_ALL) & set(named) else tuple(dict.fromkeys(by_name[name] for name in named))


class MedExQAOptions(JudgeOptions, ChoiceOptions):
    """Options under ``medexqa``."""

    choose_rows = frozenset({"specialty", "seed", "split"})
    not_signed = JudgeOptions.not_signed | {
        *("use_explanations", "explanation_metrics", "bertscore_model"),  # the scorers' signatures tell
        *("bertscore_device", "bertscore_batch_size"),
    }

    needs: ClassVar = {
        **JudgeOptions.needs,
        **dict.fromkeys(
            ("use_judge", "explanation_metrics", "mcq_weight", "explanation_weight"),
            Requirement("use_explanations=true", lambda options: options.use_explanations),
        ),
        **dict.fromkeys(
            ("bertscore_model", "bertscore_device", "bertscore_batch_size"),
            Requirement(
                "use_explanations=true and bertscore among explanation_metrics",
                lambda options: "bertscore" in options.lexical_metrics,
            ),
        ),
    }

    specialty: Annotated[tuple[str, ...], BeforeValidator(_specialty_names)] = Field(
        ("ALL",), validate_default=True, description="for medexqa_all: codes, names or file stems, one or many, or ALL"
    )
    split: Literal["test", "dev"] = Field("test", description="the rows to evaluate on")
    use_think: bool = Field(False, description="ask for reasoning in a think block first")
    use_explanations: bool = Field(True, description="score the explanations too")
    explanation_metrics: Annotated[tuple[str, ...], BeforeValidator(_metric_names)] = Field(
        tuple(METRICS), description="rougeL, bleu, meteor, bertscore: one, a list, or all"
    )
    mcq_weight: float = Field(0.5, ge=0, le=1, description="weight of answer_accuracy in combined")
    explanation_weight: float = Field(0.5, ge=0, le=1, description="weight of explanation in combined")
    bertscore_model: str = Field(DEFAULT_BERTSCORE_MODEL, description="hub repository, or a folder with the model")
    bertscore_device: str = Field("auto", description="cpu, cuda, mps, or auto for the best there is")
    bertscore_batch_size: int = Field(64, ge=1, description="texts embedded at once")
    seed: int | None = Field(None, description="for medexqa_all: shuffle the specialties' rows")

    @model_validator(mode="before")
    @classmethod
    def _one_weight_gives_the_other(cls, given: dict[str, Any]) -> dict[str, Any]:
        for one, other in (("mcq_weight", "explanation_weight"), ("explanation_weight", "mcq_weight")):
            weight = given.get(one)
            if other not in given and isinstance(weight, int | float) and 0 <= weight <= 1:
                return {**given, other: 1 - weight}
        return given

    @property
    def judges(self) -> bool:
        """Whether a judge scores the explanations."""
        return self.use_explanations and self.use_judge

    @property
    def lexical_metrics(self) -> tuple[str, ...]:
        """The metrics to compute: with a judge, which takes their place, only those asked for by name."""
        by_name = "explanation_metrics" in self.model_fields_set
        return self.explanation_metrics if self.use_explanations and (by_name or not self.use_judge) else ()
