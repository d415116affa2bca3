"""How MedExQA scores the explanation of a right answer: by lexical metrics, by a judge, or by both.

A wrong answer has 0 in all. Where both score, the judge's ``explanation`` stands.
"""

from __future__ import annotations

from collections.abc import Sequence

from medtasks_utils.benchmarks.base import Answer, Example
from medtasks_utils.benchmarks.medexqa.metrics import make_metrics
from medtasks_utils.benchmarks.medexqa.options import MedExQAOptions
from medtasks_utils.errors import logger
from medtasks_utils.extraction.think import final_text
from medtasks_utils.judging import Case, Judge, Judgement, JudgeSettings, check, judge_all, make_judge, summary
from medtasks_utils.statistics.metrics import JudgedScore

Scores = dict[str, float | None]

JUDGED = ("combined", "explanation", "support", "coverage")
"""Metrics that a judge may give, and may fail to."""


def references(example: Example) -> list[str]:
    """The reference explanations of an example that are not blank: two, one or none."""
    return [text for text in (example["explanation_1"], example["explanation_2"]) if text.strip()]


class Explanations:
    """All that scores the explanations of a task, ready: what it needs is loaded, and the judge has been tried.

    Args:
        options: of the benchmark.
        task: its name, for the log.
        processes: how many share the limit on the judge's calls.

    Raises:
        MetricError: if a metric cannot be computed here.
        JudgeError: if the judge cannot be asked.
    """

    def __init__(self, options: MedExQAOptions, task: str, processes: int = 1) -> None:
        self._options = options
        self._task = task
        self._metrics = make_metrics(options.lexical_metrics, **options.model_dump())
        for metric in self._metrics:
            metric.prepare()
        self.signatures = {metric.name: metric.signature for metric in self._metrics}
        self._names = [*self.signatures, "explanation"]
        self._judge: Judge | None = None
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
            check(self._settings)
            self.signatures[self._judge.name] = f"{self._judge.signature}|model:{self._settings.model}"
            self._names += [*self._judge.rates, "judge_failures"]

    def score(self, answers: Sequence[tuple[Example, Answer]]) -> None:
        """``explanation``, ``combined`` and their parts: 0 for a wrong answer, None without references or judgement.

        The judge's whole output is a detail of the sample.
        """
        cases = [_case(doc, answer) for doc, answer in answers]
        distinct = list(dict.fromkeys(case for case in cases if case))  # both filters mostly find the same answer
        found: dict[Case | None, Scores] = {**self._lexical(distinct), None: dict.fromkeys(self._names, 0.0)}
        judgements = {} if self._judge is None else self._judged(self._judge, distinct, found)
        failed: dict[str, str] = {}
        for (doc, answer), case in zip(answers, cases, strict=True):
            scores = found[case] if references(doc) else dict.fromkeys(self._names)
            weighted, options = scores["explanation"], self._options
            if weighted is not None:
                weighted = options.mcq_weight * 100 * bool(case) + options.explanation_weight * weighted
            for name, value in {**scores, "combined": weighted}.items():
                is_judged = name in JUDGED and bool(references(doc))
                answer.scores[name] = JudgedScore(bool(case), value) if is_judged else value
            if options.judges:
                judged = judgements.get(case)
                told = ("score", "failure", "error")
                answer.details["judge"] = judged and {name: getattr(judged, name) for name in told} | judged.output
                if judged and judged.failure:
                    failed[doc["id"]] = f"{judged.failure}: {judged.error}"
        if failed:
            named, first = ", ".join(failed), next(iter(failed.values()))
            logger.warning("%s: the judge failed on %s, left out of the means (%s)", self._task, named, first)

    def _lexical(self, cases: Sequence[Case]) -> dict[Case | None, Scores]:
        """Each metric, and their mean as ``explanation``."""
        texts, others = [case.explanation for case in cases], [case.references for case in cases]
        scores = {metric.name: metric.score(texts, others) for metric in self._metrics}
        each = [{name: own[place] for name, own in scores.items()} for place in range(len(cases))]
        means = [sum(own.values()) / max(1, len(own)) for own in each]
        return {case: {**own, "explanation": mean} for case, own, mean in zip(cases, each, means, strict=True)}

    def _judged(
        self, judge: Judge, cases: Sequence[Case], found: dict[Case | None, Scores]
    ) -> dict[Case | None, Judgement]:
        """The judge's verdicts; its score, None if it failed, takes the place of ``explanation`` among the scores.

        An example's metrics are means over its generations, and ``judge_failures`` counts: each failure weighs as many
        as there are generations, so that the sum over examples is their number.
        """
        judgements = judge_all(judge, self._settings, cases)
        logger.info("%s: judge %s: %s", self._task, judge.name, summary(judgements))
        for case, judged in zip(cases, judgements, strict=True):
            rates = {name: None if judged.failure else judged.output[name] for name in judge.rates}
            failures = float(self._options.repeats if judged.failure else 0)
            found[case] |= {"explanation": judged.score, **rates, "judge_failures": failures}
        return dict(zip(cases, judgements, strict=True))


def _case(doc: Example, answer: Answer) -> Case | None:
    """What there is to score; None for a wrong answer, or without references."""
    if answer.value != doc["answer_letter"] or not references(doc):
        return None
    return Case(
        specialty=doc["specialty"],
        question=doc["question"],
        options=tuple(doc["options"]),
        answer_letter=doc["answer_letter"],
        explanation=final_text(answer.response).strip(),
        references=tuple(references(doc)),
    )
