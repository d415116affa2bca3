"""Define the names of the two filters that read answers in responses."""

from typing import Final, Literal, get_args

FilterName = Literal["strict-match", "flexible-extract"]
STRICT: Final = "strict-match"
"""The filter that reads answers by the benchmark's published rule."""
FLEXIBLE: Final = "flexible-extract"
"""The filter that reads the answer that a response states, in any form."""
FILTERS: tuple[str, ...] = get_args(FilterName)
"""The names of both filters, the default first."""
DEFAULT_FILTER: Final = STRICT
"""The filter that commands, the page, rewards and published results use unless another is chosen."""
