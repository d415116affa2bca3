"""Read a benchmark's options from lm_eval's merged metadata, and find options that have no effect."""

from collections.abc import Iterator, Sequence
from typing import Any

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.options import Options, read_options
from medtasks_utils.benchmarks.registered import AnyBenchmark
from medtasks_utils.errors import UsageError, did_you_mean
from medtasks_utils.writing import Settings

DATA_KEY = "medtasks_data"
SERVED_BY = "MEDTASKS_SERVED_BY"
"""The environment variable with the command line that started the server, which identifies the model of kept replies.

A sweep sets this variable, since the server's address changes.
"""
FLAGS = "MEDTASKS_FLAGS"
"""The environment variable with additional flags of ``medtasks eval``, as a JSON object.

A sweep sets it for flags with secrets, since every user of a machine can read command lines.
"""

_SHARED_WITH_MODEL_ARGUMENTS = {"seed", "revision"}
"""Names that are allowed at the top level of ``--metadata``, since lm_eval merges the model's arguments into it."""


def options_of(benchmark: AnyBenchmark, defaults: Settings, metadata: Settings) -> Any:
    """Return a benchmark's options: the options in the task's YAML, overridden by the user's.

    Args:
        benchmark: the benchmark.
        defaults: the options that the YAML sets.
        metadata: lm_eval's merged metadata, with the user's options under the benchmark's name.

    Raises:
        UsageError: for a misspelt or misplaced option, or an invalid value; the message lists the valid ones.
    """
    known = (*benchmarks(), DATA_KEY)
    kind = benchmark.options_class
    for name in metadata.keys() - {*known, *_SHARED_WITH_MODEL_ARGUMENTS}:
        if name in kind.model_fields:
            raise UsageError(
                f"--metadata: option {name!r} belongs under its benchmark: "
                f'\'{{"{benchmark.name}": {{"{name}": ...}}}}\', not at the top level'
            )
        written = name.lower().replace("-", "_")
        suggestion = did_you_mean(written, known) or did_you_mean(written, kind.model_fields, 0.85)
        if suggestion:
            raise UsageError(f"--metadata: unknown name {name!r}{suggestion}; valid: {', '.join(known)}")
    return read_options(kind, benchmark.name, defaults, metadata.get(benchmark.name))


def without_effect(options: Sequence[Options], user_options: Settings, generates: bool = True) -> Iterator[str]:
    """Yield a message for each of the user's options that has no effect in any of a benchmark's tasks.

    Args:
        options: the options of each task; at least one task.
        user_options: the options that the user sets; false and null count as unset.
        generates: True if the model writes an answer in at least one of the tasks.
    """
    about = options[0].about()
    for name, value in user_options.items():
        needs = about[name].needs if name in about else None
        if needs is None or value in (None, False):
            continue
        if not generates:
            yield f"{name} applies only to generated answers, but these tasks compare log-likelihoods: omit it"
        elif not any(map(needs.are_met, options)):
            yield f"{name} has no effect without {needs.words}: set that too, or omit {name}"
