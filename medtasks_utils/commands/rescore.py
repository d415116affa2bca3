"""``medtasks rescore``: explanations in saved samples, judged by LLMs (:mod:`medtasks_utils.rescore`)."""

import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from pydantic import NonNegativeInt

from medtasks_utils.filters import DEFAULT_FILTER, FilterName

from .flags import JudgeCommand, warn

if TYPE_CHECKING:
    from medtasks_utils.rescore.run import Rescoring


@dataclass(kw_only=True)
class Rescore(JudgeCommand):
    """Judge the explanations in saved MedExQA samples with G-Eval and FActScore.

    Judges the explanations that lm_eval --log_samples wrote, over any OpenAI-compatible endpoint, into
    <prefix>geval.csv and <prefix>factscore.csv. Started again, it asks only what was not answered. Exit code 1 if
    nothing could be judged.

    Attributes:
        judge: both, geval or factscore; default: both
        input_glob: sample logs, or their folders
        out_csv_prefix: of the files to write, as in results/judged_
        sleep_ms: rest after each call; default: 0
        use_coverage: FActScore: verify the references' claims too
        filter: whose answers decide what is right, strict-match or flexible-extract; default: strict-match
        verbose: a line for each judgement, not for failures alone
    """

    judge: Literal["both", "geval", "factscore"] = "both"
    input_glob: tuple[str, ...]
    out_csv_prefix: str
    sleep_ms: NonNegativeInt = 0
    use_coverage: bool = False
    filter: FilterName = DEFAULT_FILTER
    verbose: bool = False

    def run(self) -> "Rescoring":
        """Judge what is not judged yet; the result failed if every judgement did."""
        from tqdm import tqdm

        from medtasks_utils.judging import make_judge
        from medtasks_utils.rescore import find_responses, rescore

        names = ("g-eval", "factscore") if self.judge == "both" else (self.judge,)
        judges = [make_judge(name, use_coverage=self.use_coverage) for name in names]
        responses = find_responses(self.input_glob, self.filter)
        settings = self.settings(pause=self.sleep_ms / 1000)
        for problem in responses.problems:
            warn(problem)
        log = partial(tqdm.write, file=sys.stderr)
        return rescore(responses.found, judges, settings, self.out_csv_prefix, log, self.verbose)
