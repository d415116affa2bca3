"""How MedExQA scores the explanation of a right answer: by lexical metrics, by a judge, or by both.

A wrong answer has 0 in all. Where both score, the judge's ``explanation`` stands.
"""

from __future__ import annotations

from collections.abc import Sequence

from medtasks_utils.benchmarks.base import Answer, Example
from medtasks_utils.benchmarks.medexqa.metrics import make_metrics, score_all
from medtasks_utils.benchmarks.medexqa.options import MedExQAOptions
from medtasks_utils.errors import logger
from medtasks_utils.extraction.think import final_text
from medtasks_utils.judging import Case, Judgement, JudgeSettings, check, judge_all, make_judge, summary
from medtasks_utils.statistics.metrics import JudgedScore, Score

Pairs = Sequence[tuple[Example, Answer]]

JUDGED = ("combined", "explanation", "support", "coverage")
"""Metrics that a judge may give, and may fail to."""

_NAMED_FAILURES = 10  # in the log; the samples have all


def references(example: Example) -> list[str]:
    """The reference explanations of an example that are not blank: two, one or none."""
    return [text for text in (example["explanation_1"], example["explanation_2"]) if text.strip()]


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
        self._task = task
        self._metrics = make_metrics(
            options.lexical_metrics,
            bertscore_model=options.bertscore_model,
            bertscore_device=options.bertscore_device,
            bertscore_batch_size=options.bertscore_batch_size,
        )
        for metric in self._metrics:
            metric.prepare()
        self.signatures = {metric.name: metric.signature for metric in self._metrics}
        names = [*self.signatures, "explanation", "combined"]
        if options.judges:
            self._judge = make_judge(options.judge_mode or "", use_coverage=options.use_coverage)
            self._settings = JudgeSettings.from_environment(
                model=options.judge_model,
                base_url=options.judge_base_url,
                key_variable=options.judge_api_key_env,
                cache=options.judge_cache,
                concurrency=max(1, options.judge_concurrency // processes),
                max_tokens=options.judge_max_tokens,
            )
            if rank == 0:
                check(self._settings)
            self.signatures[self._judge.name] = f"{self._judge.signature}|model:{self._settings.model}"
            names += [*self._judge.rates, "judge_failures"]
        self._names = names

    def score(self, answers: Pairs) -> None:
        """``explanation``, ``combined`` and their parts: 0 for a wrong answer, None without references or judgement."""
        right = [(doc, answer) for doc, answer in answers if answer.value == doc["answer_letter"] and references(doc)]
        for doc, answer in answers:
            answer.scores |= dict.fromkeys(self._names, 0.0 if references(doc) else None)
        self._add_similarities(right)
        if self._options.judges:
            for _, answer in answers:
                answer.details["judge"] = None
            self._add_judgements(right)
        for _, answer in right:
            explanation = answer.scores["explanation"]
            if isinstance(explanation, float):
                weights = self._options.mcq_weight, self._options.explanation_weight
                answer.scores["combined"] = weights[0] * 100 + weights[1] * explanation
            else:
                answer.scores["combined"] = None
        are_right = {id(answer) for _, answer in right}
        for doc, answer in answers:
            for name in {*self._names} & {*JUDGED} if references(doc) else ():
                value = answer.scores[name]
                answer.scores[name] = JudgedScore(id(answer) in are_right, value if isinstance(value, float) else None)

    def _add_similarities(self, right: Pairs) -> None:
        """Each metric, and their mean as ``explanation``."""
        texts = [explanation(answer) for _, answer in right]
        similarities = score_all(self._metrics, texts, [references(doc) for doc, _ in right])
        for (_, answer), values in zip(right, similarities, strict=True):
            answer.scores |= values
            if values:
                answer.scores["explanation"] = sum(values.values()) / len(values)

    def _add_judgements(self, right: Pairs) -> None:
        """``explanation``, None if the judge failed, and its rates; the judge's full output as a detail.

        An example's metrics are means over its generations, and ``judge_failures`` counts: each failure weighs as many
        as there are generations, so that the sum over examples is their number.
        """
        cases = [_case(doc, answer) for doc, answer in right]
        distinct = list(dict.fromkeys(cases))  # both filters mostly find the same answer
        by_case = dict(zip(distinct, judge_all(self._judge, self._settings, distinct), strict=True))
        if distinct:
            logger.info("%s: judge %s: %s", self._task, self._judge.name, summary(list(by_case.values())))
        failed: dict[str, Judgement] = {}
        for (doc, answer), case in zip(right, cases, strict=True):
            judgement = by_case[case]
            if judgement.failure:
                failed[doc["id"]] = judgement
            rates: dict[str, Score] = {
                name: None if judgement.failure else judgement.output[name] for name in self._judge.rates
            }
            failures = float(self._options.repeats if judgement.failure else 0)
            answer.scores |= {"explanation": judgement.score, **rates, "judge_failures": failures}
            outcome = {"score": judgement.score, "failure": judgement.failure, "error": judgement.error}
            answer.details["judge"] = {**outcome, **judgement.output}
        if failed:
            named = [f"{name} ({one.failure}: {one.error})" for name, one in list(failed.items())[:_NAMED_FAILURES]]
            logger.warning(
                "%s: the judge failed on %d example(s), left out of the means: %s%s",
                self._task,
                len(failed),
                "; ".join(named),
                "; and more" if len(failed) > len(named) else "",
            )


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
