"""Show how far a run's requests are: a bar for each benchmark on a terminal, a line for each tenth in a log."""

import os
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack

from tqdm import tqdm
from tqdm.contrib.logging import logging_redirect_tqdm

from medtasks_utils.errors import logger
from medtasks_utils.writing import SECRETS, caution

_BAR = "{desc}  {bar:22}  "
_STATE = "{n} of {total}   {rate_noinv_fmt}   {remaining} left{postfix}"
_MANY_CUT, _FEWEST_CUT = 0.02, 3  # the share and number of cut replies that cause a warning


class Progress:
    """The progress of requests; a context, during which the log is printed above the bars.

    Args:
        names: the benchmark or task of each request, in order.
        keeps: True if replies are kept, so that a run can be interrupted without losing them.
    """

    def __init__(self, names: Iterable[str], keeps: bool) -> None:
        self._totals, self._cut, self._keeps, self._is_warned = Counter(names), Counter[str](), keeps, False
        self._is_terminal = sys.stderr.isatty()

    def __enter__(self) -> "Progress":
        self._context, log = ExitStack(), logger.parent or logger
        file = sys.stderr if self._is_terminal else self._context.enter_context(open(os.devnull, "w"))
        if self._is_terminal:
            self._context.enter_context(logging_redirect_tqdm([log]))
            for handler in log.handlers:
                handler.addFilter(SECRETS)
        width = max(map(len, self._totals), default=0)
        self._bars = {
            name: tqdm(
                total=total,
                desc=name.ljust(width),
                bar_format=_BAR * self._is_terminal + _STATE,
                unit="",
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
        """Count one more request that is over, and whether its reply was cut at the token limit."""
        bar, total = self._bars[name], self._totals[name]
        if not bar.n:
            bar.unpause()
        if is_cut:
            self._cut[name] += 1
            bar.set_postfix_str(f"{self._cut[name]:,} cut off", refresh=False)
        bar.update()
        if not self._is_terminal and 10 * bar.n // total > 10 * (bar.n - 1) // total:
            logger.info("%s  %s", bar.desc, bar)
        cut, over = self._cut.total(), sum(bar.n for bar in self._bars.values())
        if is_cut and not self._is_warned and cut >= max(_FEWEST_CUT, _MANY_CUT * over):
            self._is_warned = True
            kept = " Ctrl-C keeps all replies; the same command with --extend and a larger limit asks only the cut ones"
            text = f"{cut:,} of {over:,} replies reached max_gen_toks.{f'{kept} again.' * self._keeps}"
            if self._is_terminal:
                tqdm.write(caution(text), file=sys.stderr)
            else:
                logger.warning("%s", text)
