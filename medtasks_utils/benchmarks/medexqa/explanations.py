"""How MedExQA scores the explanation of a right answer: by lexical metrics, by a judge, or by both.

A scorer gets the right answers whose document has references, and gives the metrics it is asked for, with its own
``explanation`` among them. Where both score, the judge's ``explanation`` stands.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

from medtasks_utils.benchmarks.base import Answer, Example
from medtasks_utils.benchmarks.medexqa.metrics import Metric, make_metrics, score_all
from medtasks_utils.benchmarks.medexqa.options import JUDGED, MedExQAOptions, references
from medtasks_utils.extraction.think import final_text
from medtasks_utils.judging import Case, Judge, Judgement, JudgeSettings, check, judge_all, make_judge, summary
from medtasks_utils.statistics.metrics import JudgedScore, Score

logger = logging.getLogger("lm_eval.medtasks")

Pairs = Sequence[tuple[Example, Answer]]

_NAMED_FAILURES = 10  # in the log; the samples have all


class ExplanationScorer(Protocol):
    """A way to score explanations."""

    @property
    def names(self) -> Sequence[str]:
        """Its metrics, 0–100 each, ``explanation`` among them; a wrong answer has 0 in all."""

    @property
    def signatures(self) -> dict[str, str]:
        """The choices behind its numbers, by metric or judge."""

    def score(self, pairs: Pairs) -> list[dict[str, Score]]:
        """Its metrics for each of n right answers; None where it failed."""


class Lexical:
    """The mean of similarities to the references.

    Args:
        metrics: one or more, prepared.
    """

    def __init__(self, metrics: Sequence[Metric]) -> None:
        self.metrics = metrics
        self.names = (*(metric.name for metric in metrics), "explanation")

    @property
    def signatures(self) -> dict[str, str]:
        """The metrics' own."""
        return {metric.name: metric.signature for metric in self.metrics}

    def score(self, pairs: Pairs) -> list[dict[str, Score]]:
        """Each metric, and their mean as ``explanation``."""
        similarities = score_all(
            self.metrics, [explanation(answer) for _, answer in pairs], [references(doc) for doc, _ in pairs]
        )
        return [{**values, "explanation": sum(values.values()) / len(values)} for values in similarities]


class Judged:
    """A judge's score; its full output goes into the answers' details.

    Args:
        judge: how to judge.
        settings: by which model, and the limits.
        task: the task's name, for the log.
        generations: for each example. ``judge_failures`` counts failures, and an example's metrics are means over its
            generations: each failure weighs that many, so that the sum over examples is their number.
    """

    def __init__(self, judge: Judge, settings: JudgeSettings, task: str, generations: int = 1) -> None:
        self.judge = judge
        self.settings = settings
        self.task = task
        self.generations = generations
        self.names = ("explanation", *judge.rates, "judge_failures")

    @property
    def signatures(self) -> dict[str, str]:
        """The judge's, with the model."""
        return {self.judge.name: f"{self.judge.signature}|model:{self.settings.model}"}

    def score(self, pairs: Pairs) -> list[dict[str, Score]]:
        """``explanation``, None if the judge failed; ``judge_failures``; for FActScore its rates."""
        cases = [_case(doc, answer) for doc, answer in pairs]
        distinct = list(dict.fromkeys(cases))  # both filters mostly find the same answer
        by_case = dict(zip(distinct, judge_all(self.judge, self.settings, distinct), strict=True))
        if distinct:
            logger.info("%s: judge %s: %s", self.task, self.judge.name, summary(list(by_case.values())))
        judgements = [by_case[case] for case in cases]
        self._warn_of_failures(pairs, judgements)
        scores: list[dict[str, Score]] = []
        for (_, answer), judgement in zip(pairs, judgements, strict=True):
            answer.details["judge"] = _detail(judgement)
            failed = judgement.score is None
            rates = {name: None if failed else judgement.output[name] for name in self.judge.rates}
            failures = float(failed * self.generations)
            scores.append({"explanation": judgement.score, **rates, "judge_failures": failures})
        return scores

    def _warn_of_failures(self, pairs: Pairs, judgements: Sequence[Judgement]) -> None:
        failed = {doc["id"]: judged for (doc, _), judged in zip(pairs, judgements, strict=True) if judged.failure}
        if failed:
            named = [f"{name} ({judged.failure}: {judged.error})" for name, judged in failed.items()]
            logger.warning(
                "%s: the judge failed on %s, left out of the means: %s%s",
                self.task,
                "1 example" if len(failed) == 1 else f"{len(failed)} examples",
                "; ".join(named[:_NAMED_FAILURES]),
                f" and {len(named) - _NAMED_FAILURES} more" if len(named) > _NAMED_FAILURES else "",
            )


class Explanations:
    """All that scores the explanations of a task, ready: what it needs is loaded, and the judge has been tried.

    Args:
        options: of the benchmark.
        task: its name, for the log.
        rank: this process's number; the first asks the judge for all.
        processes: how many share the limit on the judge's calls.

    Raises:
        MetricError: if a metric cannot be computed here.
        JudgeError: if the judge cannot be asked.
    """

    def __init__(self, options: MedExQAOptions, task: str, rank: int = 0, processes: int = 1) -> None:
        self._options = options
        self._scorers: list[ExplanationScorer] = []
        if options.lexical_metrics:
            metrics = make_metrics(
                options.lexical_metrics,
                bertscore_model=options.bertscore_model,
                bertscore_device=options.bertscore_device,
                bertscore_batch_size=options.bertscore_batch_size,
            )
            for metric in metrics:
                metric.prepare()
            self._scorers.append(Lexical(metrics))
        if options.judges and options.judge_mode:
            settings = options.judge_settings(processes)
            if rank == 0:
                check(settings)
            judge = make_judge(options.judge_mode, use_coverage=options.use_coverage)
            self._scorers.append(Judged(judge, settings, task, generations=options.repeats))

    @property
    def signatures(self) -> dict[str, str]:
        """The explanation metrics' and the judge's own."""
        return {name: text for scorer in self._scorers for name, text in scorer.signatures.items()}

    def score(self, answers: Pairs) -> None:
        """``explanation``, ``combined`` and their parts: 0 for a wrong answer, None without references or judgement."""
        if self._options.judges:
            for _, answer in answers:
                answer.details["judge"] = None
        right = [(doc, answer) for doc, answer in answers if references(doc) and answer.value == doc["answer_letter"]]
        names = [name for scorer in self._scorers for name in scorer.names]
        found: dict[int, dict[str, Score]] = {id(answer): {} for _, answer in right}
        for scorer in self._scorers:
            for (_, answer), scores in zip(right, scorer.score(right), strict=True):
                found[id(answer)] |= scores
        judged = {*names, "combined"} & {*JUDGED}
        for doc, answer in answers:
            if not references(doc):
                answer.scores |= dict.fromkeys([*names, "combined"])
                continue
            scores = found.get(id(answer)) or dict.fromkeys(names, 0.0)
            answer.scores |= {**scores, "combined": self._combined(id(answer) in found, scores["explanation"])}
            for name in judged:
                value = answer.scores[name]
                answer.scores[name] = JudgedScore(id(answer) in found, value if isinstance(value, float) else None)

    def _combined(self, is_right: bool, explanation: Score) -> float | None:
        if not isinstance(explanation, float):
            return None
        combined: float = self._options.mcq_weight * 100 * is_right + self._options.explanation_weight * explanation
        return combined


def explanation(answer: Answer) -> str:
    """What is scored: the response without its think block."""
    return final_text(answer.response).strip()


def _case(doc: Example, answer: Answer) -> Case:
    return Case(
        specialty=doc["specialty"],
        question=doc["question"],
        options=tuple(doc["options"]),
        answer_letter=doc["answer_letter"],
        explanation=explanation(answer),
        references=tuple(references(doc)),
    )


def _detail(judgement: Judgement) -> dict[str, object]:
    outcome = {"score": judgement.score, "failure": judgement.failure, "error": judgement.error}
    return {**outcome, **judgement.output}
