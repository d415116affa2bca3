"""``medtasks report``: write one self-contained page from one or more runs (:mod:`medtasks_utils.report`)."""

import gc
from dataclasses import KW_ONLY
from pathlib import Path

from pydantic.dataclasses import dataclass

from medtasks_utils.errors import UsageError

from .flags import Command, CommandResult, warn


@dataclass
class Report(Command):
    about = """
    Write one self-contained HTML page from one or more runs.

    Reads runs saved with --output_path and --log_samples and writes one page: scores with confidence intervals,
    breakdowns, a paired comparison with a baseline, and a sample browser. The page loads nothing from the network;
    with --split, it loads prompts and responses from a folder next to it.
    """

    paths: tuple[Path, ...]
    """results files, or folders to search recursively"""
    _: KW_ONLY
    output: Path = Path("report.html")
    """the file to write; default: report.html"""
    figure: Path | None = None
    """also write the leaderboard as a figure (.svg) or a table (.tex, .md); the name calibration.svg draws a
    calibration plot instead"""
    split: bool = False
    """store prompts and responses in a folder next to the page, <name>_files"""
    baseline: str | None = None
    """the run with which the others are compared: its name on the page, its model, or its folder; default: the first of
    two runs, the best of three or more (readers can choose another on the page)"""
    win_rate: bool = False
    """print win rates by Medmarks' definition over the tasks that all runs have; an example that a run lacks counts as
    lost"""

    def run(self) -> CommandResult:
        """Write the page and, with ``--figure``, the figure, and return the page's path.

        The win rates are also returned with ``--win_rate``, and the token budgets with ``--json``.
        """
        from medtasks_utils.report.page import FIGURES, calibration_figure, leaderboard_figure, page_of
        from medtasks_utils.report.win_rates import win_rates_of
        from medtasks_utils.results import merged, read_runs, with_baseline_first
        from medtasks_utils.results.budgets import budgets_of
        from medtasks_utils.writing import counted, table, write_whole

        if self.figure and self.figure.suffix not in FIGURES:
            raise UsageError(f"--figure {self.figure}: name a file that ends in {', '.join(FIGURES)}")
        gc.disable()  # millions of long-lived objects would be scanned in vain
        runs = merged(read_runs(self.paths))
        if self.baseline:
            runs = with_baseline_first(runs, self.baseline)
        beside = self.output.with_name(f"{self.output.stem}_files") if self.split else None
        page, warnings, runs = page_of(runs, beside, runs[0].name if self.baseline else "")
        warn(*warnings)
        write_whole(self.output, page)
        if self.figure:
            is_calibration = self.figure.name == "calibration.svg"
            drawn = calibration_figure(runs) if is_calibration else leaderboard_figure(runs, self.figure.suffix)
            write_whole(self.figure, drawn)
        gc.freeze()  # skip the scan at exit too
        path = str(self.output.resolve())
        budgets = {run.name: budgets_of(run) for run in runs if self.json}
        data = {"path": path, "runs": len(runs), "problems": warnings, "token_budgets": budgets}
        lines = [f"{path}: {counted(len(runs), 'run')}"]
        if self.win_rate:
            rates = win_rates_of(runs)
            data["win_rates"] = {name: rate._asdict() for name, rate in rates.items()}
            rows = [(name, f"{100 * rate.weighted:.1f}", f"{100 * rate.simple:.1f}") for name, rate in rates.items()]
            lines += ["", table([("win rate, %", "weighted with ln(n)", "simple"), *rows])]
            lines += ["over the tasks that all runs have; an example that a run lacks counts as lost"]
        return CommandResult(lines, data)
