"""Name the two filters, which are rules for finding the answer in a response."""

from typing import Final, Literal, get_args

FilterName = Literal["strict-match", "flexible-extract"]
STRICT: Final = "strict-match"
"""The filter that finds answers by the benchmark's published rule."""
FLEXIBLE: Final = "flexible-extract"
"""The filter that finds the answer however the response states it."""
FILTERS: tuple[str, ...] = get_args(FilterName)
"""The names of both filters, the default first."""
DEFAULT_FILTER: Final = STRICT
"""The filter used in commands, the page, rewards and published results if none is chosen."""
