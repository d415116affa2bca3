"""``medtasks report``: one self-contained page from one or more runs (:mod:`medtasks_utils.report`)."""

import gc
import time
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from .flags import Command, Printout, warn


@dataclass
class Report(Command):
    """Write one self-contained HTML page from one or more runs.

    Reads the results and samples that lm_eval wrote (--output_path, --log_samples) and writes one page: scores with
    confidence intervals, breakdowns, a paired comparison with a baseline, and a browser of samples. The page asks the
    network for nothing.

    Attributes:
        paths: folders, searched to the bottom, or results files
        output: default: report.html
        split: prompts and responses in a folder beside the page, <name>_files
        compare: with more than eight runs: which are drawn, and compared until others are chosen in the page, as for
            --baseline; default: the first eight
        baseline: what the others are compared with: a run's name in the page, its model, or its folder (default: the
            first path's, of one path the oldest; another can be chosen in the page)
    """

    paths: tuple[Path, ...]
    _: KW_ONLY
    output: Path = Path("report.html")
    split: bool = False
    compare: tuple[str, ...] = ()
    baseline: str | None = None

    def run(self) -> Printout:
        """Write the page; return where it is, its size and how long it took."""
        from medtasks_utils.report.page import build_page
        from medtasks_utils.report.runs import with_baseline_first
        from medtasks_utils.report.summary import problems
        from medtasks_utils.results import read_runs
        from medtasks_utils.writing import write_whole

        start = time.perf_counter()
        output = self.output
        gc.disable()  # samples are millions of objects that all stay: the collector finds nothing in them
        runs = read_runs(self.paths)
        for name in reversed(self.compare):
            runs = with_baseline_first(runs, name)
        oldest = len(self.paths) == 1 and not self.compare
        runs = with_baseline_first(runs, self.baseline, oldest=oldest)
        page = build_page(runs, output.with_name(f"{output.stem}_files") if self.split else None)
        wary = problems(runs)
        for problem in wary:
            warn(problem)
        write_whole(output, page)
        path, size, seconds = str(output.resolve()), output.stat().st_size, time.perf_counter() - start
        gc.freeze()  # nor when the program ends
        data = {"path": path, "runs": len(runs), "bytes": size, "seconds": seconds, "problems": wary}
        return Printout(f"{path}: {len(runs)} runs, {size / 1e6:.1f} MB, {seconds:.1f} s", data)
