"""The names of the two filters that read answers out of responses."""

from typing import Final, Literal, get_args

FilterName = Literal["strict-match", "flexible-extract"]
STRICT: Final = "strict-match"
"""Reads an answer only where the benchmark's published rule finds it."""
FLEXIBLE: Final = "flexible-extract"
"""Reads an answer wherever the response states one."""
FILTERS: tuple[str, ...] = get_args(FilterName)
"""Both, the default first."""
DEFAULT_FILTER: Final = STRICT
"""The filter that report, compare, rescore, publish and the table of a run use unless told otherwise."""
