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
from medtasks_utils.judging import Case, JudgeSettings, check, judge_all, make_judge, summary
from medtasks_utils.statistics.metrics import JudgedScore

Pairs = Sequence[tuple[Example, Answer]]
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
        rank: this process's number; the first asks the judge for all.
        processes: how many share the limit on the judge's calls.

    Raises:
        MetricError: if a metric cannot be computed here.
        JudgeError: if the judge cannot be asked.
    """

    def __init__(self, options: MedExQAOptions, task: str, rank: int = 0, processes: int = 1) -> None:
        self._options = options
        self._task = task
        self._metrics = make_metrics(options.lexical_metrics, **options.model_dump())
        for metric in self._metrics:
            metric.prepare()
        self.signatures = {metric.name: metric.signature for metric in self._metrics}
        names = [*self.signatures, "explanation"]
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
        right = [(doc, answer) for doc, answer in answers if references(doc) and answer.value == doc["answer_letter"]]
        texts, others = [explanation(answer) for _, answer in right], [references(doc) for doc, _ in right]
        of_right: dict[int, Scores] = {}
        for (_, answer), lexical in zip(right, score_all(self._metrics, texts, others), strict=True):
            of_right[id(answer)] = {**lexical, "explanation": sum(lexical.values()) / max(1, len(lexical))}
        if self._options.judges:
            for _, answer in answers:
                answer.details["judge"] = None
            for (_, answer), judged in zip(right, self._judgements(right), strict=True):
                of_right[id(answer)] |= judged
        for doc, answer in answers:
            is_right, has_references = id(answer) in of_right, bool(references(doc))
            scores = of_right.get(id(answer)) or dict.fromkeys(self._names, 0.0 if has_references else None)
            weighted, options = scores["explanation"], self._options
            if weighted is not None:
                weighted = options.mcq_weight * 100 * is_right + options.explanation_weight * weighted
            for name, value in {**scores, "combined": weighted}.items():
                is_judged = has_references and name in JUDGED
                answer.scores[name] = JudgedScore(is_right, value) if is_judged else value

    def _judgements(self, right: Pairs) -> list[Scores]:
        """``explanation``, None if the judge failed, and its rates; the judge's full output as a detail.

        An example's metrics are means over its generations, and ``judge_failures`` counts: each failure weighs as many
        as there are generations, so that the sum over examples is their number.
        """
        cases = [_case(doc, answer) for doc, answer in right]
        distinct = list(dict.fromkeys(cases))  # both filters mostly find the same answer
        judgements = judge_all(self._judge, self._settings, distinct)
        by_case = dict(zip(distinct, judgements, strict=True))
        logger.info("%s: judge %s: %s", self._task, self._judge.name, summary(judgements))
        scores: list[Scores] = []
        failed: dict[str, str] = {}
        for (doc, answer), case in zip(right, cases, strict=True):
            judged = by_case[case]
            answer.details["judge"] = {
                name: getattr(judged, name) for name in ("score", "failure", "error")
            } | judged.output
            if judged.failure:
                failed[doc["id"]] = f"{judged.failure}: {judged.error}"
            rates = {name: None if judged.failure else judged.output[name] for name in self._judge.rates}
            failures = float(self._options.repeats if judged.failure else 0)
            scores.append({"explanation": judged.score, **rates, "judge_failures": failures})
        if failed:
            named, first = ", ".join(failed), next(iter(failed.values()))
            logger.warning("%s: the judge failed on %s, left out of the means (%s)", self._task, named, first)
        return scores


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
