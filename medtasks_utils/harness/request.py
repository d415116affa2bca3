"""What a run is asked for: its flags, and its tasks with their options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from medtasks_utils.benchmarks.base import Benchmark

_MODEL_NAMES = ("peft", "delta", "pretrained", "model", "path", "engine")  # GeneralConfigTracker's


@dataclass(frozen=True)
class TaskRequest:
    """A task that a run is asked for: its YAML, and its benchmark with options; None where it is not of this pack."""

    settings: Mapping[str, Any]
    benchmark: Benchmark | None = None
    options: Any = None

    @property
    def name(self) -> str:
        """Of the task."""
        return str(self.settings.get("task"))

    @property
    def generates(self) -> bool:
        """Whether the model writes answers; else their log-likelihoods are compared."""
        return bool(self.settings.get("output_type", "generate_until") == "generate_until")


@dataclass
class RunConfig:
    """What the command line and the configuration file together ask for, by flag; see ``lm_eval run --help``.

    Flags that were not given are absent, and None as attributes.
    """

    given: dict[str, Any] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self.given.get(name)

    def mapping(self, name: str) -> dict[str, Any]:
        """A flag that takes names with values."""
        value = self.given.get(name)
        return dict(value) if isinstance(value, Mapping) else {}

    @property
    def kind(self) -> str:
        """Of the model."""
        return str(self.model or "hf")

    @property
    def model_name(self) -> str | None:
        """The model's name in results."""
        arguments = self.mapping("model_args")
        return next((str(arguments[key]) for key in _MODEL_NAMES if key in arguments), None)
