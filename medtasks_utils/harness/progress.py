"""Show a run's progress: a bar per benchmark on a terminal, a line per tenth of the requests in a log."""

import os
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from time import monotonic as clock
from typing import Any

from tqdm import tqdm
from tqdm.contrib.logging import logging_redirect_tqdm

from medtasks_utils.errors import logger
from medtasks_utils.writing import SECRETS, caution

_FORMAT = "{desc}  {bar:22}  {state}"
_MANY_CUT, _FEWEST_CUT = 0.02, 3  # the share and number of cut replies that cause a warning
_BETWEEN_LINES = 1.0  # minimum number of seconds, so that a log has one line for each benchmark of a quick run


class _Bar(tqdm):  # type: ignore[type-arg]
    """The progress bar of a benchmark or task, which counts finished requests and cut replies."""

    cut = 0

    @property
    def state(self) -> str:
        """The bar's text, such as ``191 of 300 19/s 6 s left 6 cut off``; ``waiting`` before the first reply."""
        facts = super().format_dict
        if not self.n:
            return "waiting"
        rate = facts["rate"] or self.n / max(facts["elapsed"], 1e-3)
        left = ((self.total or 0) - self.n) / rate
        time_left = f"{left:.0f} s left" if left < 100 else f"{left / 60:,.0f} min left"
        speed = f"{rate:,.{int(rate < 10)}f}/s   {time_left}" if left else "done"
        return f"{self.n:,} of {self.total:,}   {speed}" + f"   {self.cut:,} cut off" * bool(self.cut)

    @property
    def format_dict(self) -> dict[str, Any]:
        """The values that the bar's format can use: those of tqdm, and :attr:`state`."""
        return {**super().format_dict, "state": self.state}


class Progress:
    """A context that shows the progress of requests: as bars below the log on a terminal, else as lines in the log.

    Args:
        names: the benchmark or task of each request, in order.
        keeps: True if replies are kept, so that a run can be interrupted without losing them.
    """

    def __init__(self, names: Iterable[str], keeps: bool) -> None:
        self._totals, self._keeps, self._is_warned = Counter(names), keeps, False
        self._is_terminal = sys.stderr.isatty()
        self._logged_at = clock()

    def __enter__(self) -> "Progress":
        self._context, log = ExitStack(), logger.parent or logger
        file = sys.stderr if self._is_terminal else self._context.enter_context(open(os.devnull, "w", encoding="utf-8"))
        if self._is_terminal:
            self._context.enter_context(logging_redirect_tqdm([log]))
            for handler in log.handlers:
                handler.addFilter(SECRETS)
        width = max(map(len, self._totals), default=0)
        self._bars = {
            name: _Bar(
                total=total,
                desc=name.ljust(width),
                bar_format=_FORMAT,
                ascii="░█",
                position=place,
                file=file,
                disable=False,  # also with TQDM_DISABLE, since the bars count
            )
            for place, (name, total) in enumerate(self._totals.items())
        }
        return self

    def __exit__(self, *error: object) -> None:
        for bar in self._bars.values():
            bar.close()
        self._context.close()

    def count(self, name: str, is_cut: bool) -> None:
        """Count a finished request, and whether its reply was cut at the token limit.

        Without a terminal, log each tenth of the requests. Warn once if many replies are cut.
        """
        bar, total = self._bars[name], self._totals[name]
        if not bar.n:
            bar.unpause()
        bar.cut += is_cut
        bar.update()
        is_tenth = 10 * bar.n // total > 10 * (bar.n - 1) // total
        is_due = bar.n == total or clock() >= self._logged_at + _BETWEEN_LINES
        if not self._is_terminal and is_tenth and is_due:
            self._logged_at = clock()
            logger.info("%s  %s", bar.desc, bar.state)
        cut, over = (sum(getattr(bar, what) for bar in self._bars.values()) for what in ("cut", "n"))
        if is_cut and not self._is_warned and cut >= max(_FEWEST_CUT, _MANY_CUT * over):
            self._is_warned = True
            way_out = " To request only these again, press Ctrl-C, and add --extend and a larger max_gen_toks."
            text = f"{cut:,} of {over:,} replies reached max_gen_toks.{way_out * self._keeps}"
            if self._is_terminal:
                tqdm.write(caution(text), file=sys.stderr)
            else:
                logger.warning("%s", text)
