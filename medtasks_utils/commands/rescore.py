"""``medtasks rescore``: have LLMs judge the explanations in saved samples (:mod:`medtasks_utils.rescore`)."""

from dataclasses import KW_ONLY, field
from typing import Literal

from pydantic import NonNegativeInt
from pydantic.dataclasses import dataclass

from medtasks_utils.errors import UsageError
from medtasks_utils.filters import FilterName

from .flags import CommandResult, JudgeCommand, warn


@dataclass
class Rescore(JudgeCommand):
    about = """
    Judge the explanations in saved samples with G-Eval, FActScore or Medmarks' rubric.

    Reads the sample logs that --log_samples writes, asks an LLM at an OpenAI-compatible endpoint, and writes
    <prefix>geval.csv, <prefix>factscore.csv or <prefix>rubric.csv. With more than one model (--model A,B), scores are
    averaged, and failures are counted. Re-run the same command after an interruption: readable replies are reused. Exit
    code 1 if nothing could be judged.
    """

    paths: tuple[str, ...] = ()
    """sample logs, or folders with sample logs"""
    _: KW_ONLY
    judge: Literal["both", "geval", "factscore", "rubric"] = "both"
    """both (geval and factscore), geval, factscore or rubric; default: both"""
    input_glob: tuple[str, ...] = ()
    """additional sample logs or folders"""
    out_csv_prefix: str = field()
    """prefix of the paths of the output files, such as results/judged_"""
    sleep_ms: NonNegativeInt = 0
    """pause after each request in milliseconds; default: 0"""
    use_coverage: bool = False
    """also verify the claims of the references (FActScore)"""
    filter: FilterName | None = None
    """the filter that decides which responses are right, strict-match or flexible-extract; default: strict-match, or
    flexible-extract for an imported run in which strict-match finds hardly any answers"""
    verbose: bool = False
    """print a line for each judgement, not only for failures"""

    def run(self) -> CommandResult:
        """Judge the responses, and return the scores. The command fails if nothing could be judged."""
        from medtasks_utils.judging import make_judge
        from medtasks_utils.rescore import find_responses, rescore

        if not (self.paths or self.input_glob):
            raise UsageError("name at least one sample log, or a folder with sample logs, such as results")
        names = {"geval": ["g-eval"], "both": ["g-eval", "factscore"]}.get(self.judge, [self.judge])
        judges = [make_judge(name, use_coverage=self.use_coverage) for name in names]
        settings = self.settings(pause=self.sleep_ms / 1000)
        responses = find_responses((*self.paths, *self.input_glob), self.filter)
        warn(*responses.problems)
        result = rescore(responses.found, judges, settings, self.out_csv_prefix, self.verbose)
        return CommandResult([result.to_text()], result.to_data(), result.failed)
