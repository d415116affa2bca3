"""A benchmark's options out of the harness's merged metadata, and what is odd about those that a user gives."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.benchmarks.options import Options, read_options, refuse
from medtasks_utils.errors import OptionError, logger

DATA_KEY = "medtasks_data"

# Names that model arguments use too; lm_eval merges those into the same object, so they prove nothing there.
_SHARED_WITH_MODEL_ARGUMENTS = {"seed", "revision"}


def options_of(
    benchmark: Benchmark, defaults: Mapping[str, Any], metadata: Mapping[str, Any], said_by: str = ""
) -> Any:
    """A benchmark's options: what a task's YAML sets, and over it what the user says.

    Args:
        benchmark: whose they are.
        defaults: the YAML's.
        metadata: the harness's merged metadata.
        said_by: the flags that said it, where that is not ``--metadata``.

    Raises:
        OptionError: for a misspelt, misplaced or ill-typed option, naming what is valid.
    """
    known = (*benchmarks(), DATA_KEY)
    kind = benchmark.options
    refuse(kind, "--metadata", metadata)
    for name in metadata:
        if name in known:
            continue
        if name in kind.model_fields and name not in _SHARED_WITH_MODEL_ARGUMENTS:
            raise OptionError(
                f"--metadata: option {name!r} belongs under its benchmark: "
                f'\'{{"{benchmark.name}": {{"{name}": ...}}}}\', not at the top level'
            )
        near = _near_miss(name, known)
        if near:
            raise OptionError(f"--metadata: unknown name {name!r}; did you mean {near!r}? Valid: {', '.join(known)}")
    place = said_by or f'--metadata "{benchmark.name}"'
    return read_options(kind, benchmark.name, defaults, metadata.get(benchmark.name), place)


def defaults_of(settings: Mapping[str, Any], benchmark: Benchmark) -> dict[str, Any]:
    """The options that a task's YAML sets: in ``dataset_kwargs``, and by the harness's own ``repeats`` and split."""
    split = settings.get("test_split") or settings.get("validation_split")
    return {
        **({"repeats": settings["repeats"]} if settings.get("repeats") else {}),
        **({"split": split} if split and "split" in benchmark.options.model_fields else {}),
        **(settings.get("dataset_kwargs") or {}),
    }


def _near_miss(name: str, known: Sequence[str]) -> str | None:
    """The known name that another was meant to be: in other case, cut short, with a task's suffix, or misspelt."""
    folded = name.lower().replace("-", "_")
    related = (key for key in known if folded.startswith(key) or (len(folded) > 3 and key.startswith(folded)))
    return next(related, None) or next(iter(difflib.get_close_matches(folded, known, n=1, cutoff=0.8)), None)


def check_effect(benchmark: str, options: Sequence[Options], given: Mapping[str, Any], is_generated: bool) -> None:
    """That what a user has set is of effect in one of the benchmark's tasks at least; false and null set nothing.

    Raises:
        OptionError: for the first option that others turn off in all of them, or that is for generated text.
    """
    for said in without_effect(options, given):
        raise OptionError(f"{benchmark}: {said}: set that too, or leave it out")
    for name in (key for key, value in given.items() if key in type(options[0]).needs and value and not is_generated):
        raise OptionError(f"{benchmark}: {name} is for generated answers, and the tasks score logits: leave it out")


def warn_of_no_effect(task: str, options: Options, given: Mapping[str, Any] | None) -> None:
    """Say which options others turn off, in a task that does not know whether another one takes them."""
    for said in without_effect([options], given or {}):
        logger.warning("%s: %s", task, said)


def without_effect(options: Sequence[Options], given: Mapping[str, Any]) -> Iterator[str]:
    """A line for each option that is given and that others turn off in all of the tasks."""
    kind = type(options[0])
    for key, value in given.items():
        name = kind.aliases.get(key, key)
        requirement = kind.needs.get(name)
        if requirement and value not in (None, False) and not any(requirement.is_met(each) for each in options):
            yield f"{name} is of no effect without {requirement.says}"
