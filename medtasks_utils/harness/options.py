"""A benchmark's options out of the harness's merged metadata, and those among them that are of no effect."""

from collections.abc import Mapping, Sequence
from typing import Any

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.base import Benchmark, TaskInfo
from medtasks_utils.benchmarks.options import Options, read_options
from medtasks_utils.errors import UsageError, did_you_mean

DATA_KEY = "medtasks_data"

_SHARED_WITH_MODEL_ARGUMENTS = {"seed", "revision"}
"""lm_eval merges the model's arguments into the same object, so these prove nothing at its top level."""


def options_of(benchmark: Benchmark, defaults: Mapping[str, Any], metadata: Mapping[str, Any]) -> Any:
    """A benchmark's options: what a task's YAML sets, and over it what the user says.

    Args:
        benchmark: whose they are.
        defaults: the YAML's.
        metadata: the harness's merged metadata.

    Raises:
        UsageError: for a misspelt, misplaced or ill-typed option, naming what is valid.
    """
    known = (*benchmarks(), DATA_KEY)
    kind = benchmark.options
    for name in metadata.keys() - known:
        if name in kind.model_fields and name not in _SHARED_WITH_MODEL_ARGUMENTS:
            raise UsageError(
                f"--metadata: option {name!r} belongs under its benchmark: "
                f'\'{{"{benchmark.name}": {{"{name}": ...}}}}\', not at the top level'
            )
        written = name.lower().replace("-", "_")
        options = [] if name in _SHARED_WITH_MODEL_ARGUMENTS else kind.model_fields  # judge_api_key is near to one
        if near := did_you_mean(written, known, 0.6) or did_you_mean(written, options, 0.85):
            raise UsageError(f"--metadata: unknown name {name!r}{near}; valid: {', '.join(known)}")
    return read_options(kind, benchmark.name, defaults, metadata.get(benchmark.name), benchmark.name)


def info_of(settings: Mapping[str, Any]) -> TaskInfo:
    """A task as its benchmark knows it, given its YAML."""
    generates = settings.get("output_type", "generate_until") == "generate_until"
    return TaskInfo(str(settings["task"]), settings.get("dataset_name"), generates)


def defaults_of(settings: Mapping[str, Any], benchmark: Benchmark) -> dict[str, Any]:
    """The options that a task's YAML sets: in ``dataset_kwargs``, and by the harness's own ``repeats`` and split."""
    split = settings.get("test_split") or settings.get("validation_split")
    return {
        **({"repeats": settings["repeats"]} if settings.get("repeats") else {}),
        **({"split": split} if split and "split" in benchmark.options.model_fields else {}),
        **(settings.get("dataset_kwargs") or {}),
    }


def without_effect(options: Sequence[Options], given: Mapping[str, Any], generates: bool = True) -> list[str]:
    """A line for each option that is given and of no effect in any of the tasks; false and null set nothing.

    Args:
        options: of the benchmark's tasks, one or more.
        given: what the user sets.
        generates: whether any of the tasks has the model write answers.
    """
    kind = type(options[0])
    lines = []
    for name, value in given.items():
        if name not in kind.needs or value in (None, False):
            continue
        if not generates:
            lines.append(f"{name} is for generated answers, and the tasks score logits: leave it out")
        elif not any(each.has_effect(name) for each in options):
            lines.append(f"{name} is of no effect without {kind.needs[name]}: set that too, or leave it out")
    return lines
