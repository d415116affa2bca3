"""Show how far a run's requests are: a bar for each benchmark on a terminal, a line for each tenth in a log."""

import sys
import time
from collections import Counter, deque
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any, Self

from tqdm import tqdm
from tqdm.contrib.logging import logging_redirect_tqdm

from medtasks_utils.errors import logger
from medtasks_utils.writing import SECRETS, caution, shortened

_BAR = 22  # columns
_NAME = 30  # columns at most
_RECENT = 100  # replies over which the rate is taken
_MANY_CUT, _FEWEST_CUT = 0.02, 3  # the share and number of cut replies that cause a warning


class _Part:
    """The requests of a benchmark or task: how many there are, are over, and were cut."""

    def __init__(self, total: int) -> None:
        self.total, self.over, self.cut = total, 0, 0
        self._times = deque[float](maxlen=_RECENT)

    def count(self, is_cut: bool) -> None:
        self._times.append(time.monotonic())
        self.over += 1
        self.cut += is_cut

    def __str__(self) -> str:
        """Return a text such as ``191 of 300   19/s   6 s left   6 cut off``."""
        if not self.over:
            return "waiting"
        rate = len(self._times) / max(time.monotonic() - self._times[0], 1e-3)
        left = (self.total - self.over) / rate
        time_left = f"{left:.0f} s left" if left < 100 else f"{left / 60:,.0f} min left"
        state = f"{rate:.3g}/s   {time_left}" if self.over < self.total else "done"
        return f"{self.over:,} of {self.total:,}   {state}" + f"   {self.cut:,} cut off" * bool(self.cut)


class _Bar(tqdm):  # type: ignore[type-arg]
    """The bar of a part."""

    part: _Part

    @property
    def format_dict(self) -> dict[str, Any]:
        """The values in the bar's format."""
        return {**super().format_dict, "part": str(self.part) if hasattr(self, "part") else ""}


class Progress:
    """The progress of requests; a context, during which the log is printed above the bars.

    Args:
        names: the benchmark or task of each request, in order.
        keeps: True if replies are kept, so that a run can be interrupted without losing them.
    """

    def __init__(self, names: Iterable[str], keeps: bool) -> None:
        self._parts = {name: _Part(total) for name, total in Counter(names).items()}
        self._bars: dict[str, _Bar] = {}
        self._keeps, self._is_warned = keeps, False

    def __enter__(self) -> Self:
        self._context = ExitStack()
        if not sys.stderr.isatty():
            return self
        log = logger.parent or logger
        self._context.enter_context(logging_redirect_tqdm([log]))
        for handler in log.handlers:
            handler.addFilter(SECRETS)
        width = min(_NAME, max(map(len, self._parts), default=0))
        for place, (name, part) in enumerate(self._parts.items()):
            bar = _Bar(
                total=part.total,
                desc=shortened(name, width).ljust(width),
                bar_format=f"{{desc}}  {{bar:{_BAR}}}  {{part}}",
                ascii="░█",
                position=place,
            )
            bar.part = part
            self._bars[name] = bar
            bar.refresh()
        return self

    def __exit__(self, *error: object) -> None:
        for bar in self._bars.values():
            bar.close()
        self._context.close()

    def count(self, name: str, is_cut: bool) -> None:
        """Count one more request that is over, and whether its reply was cut at the token limit."""
        part = self._parts[name]
        part.count(is_cut)
        if self._bars:
            self._bars[name].update()
        elif 10 * part.over // part.total > 10 * (part.over - 1) // part.total:
            logger.info("%s  %s", name, part)
        cut, over = (sum(getattr(one, what) for one in self._parts.values()) for what in ("cut", "over"))
        if is_cut and not self._is_warned and cut >= max(_FEWEST_CUT, _MANY_CUT * over):
            self._is_warned = True
            kept = "Ctrl-C keeps all replies; the same command with --extend and a larger limit asks only the cut ones"
            text = f"{cut:,} of {over:,} replies reached max_gen_toks. {f'{kept} again.' if self._keeps else ''}".strip()
            if self._bars:
                tqdm.write(caution(text), file=sys.stderr)
            else:
                logger.warning("%s", text)
