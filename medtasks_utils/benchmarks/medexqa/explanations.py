"""How MedExQA scores the explanation of a right answer: by lexical metrics, by a judge, or by both.

A wrong answer has 0 in all. Where both score, the judge's ``explanation`` stands.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from medtasks_utils.benchmarks.base import Answer, Example
from medtasks_utils.errors import logger
from medtasks_utils.extraction.think import final_text
from medtasks_utils.judging import Case, Judgement, JudgeSettings, check, judge_all, make_judge, summary
from medtasks_utils.statistics.scores import JudgedScore

from .metrics import make_metrics
from .options import MedExQAOptions

JUDGED = ("combined", "explanation", "support", "coverage")
"""Metrics that a judge may give, and may fail to."""


def references(example: Example) -> list[str]:
    """The reference explanations of an example that are not blank: two, one or none."""
    return [text for text in (example["explanation_1"], example["explanation_2"]) if text.strip()]


def scored(options: MedExQAOptions) -> list[str]:
    """Return the metrics that options ask for beside ``combined``: lexical ones, their mean or a judge's score."""
    names = [*options.lexical_metrics, "explanation"]
    if options.judges:
        names += [*make_judge(options.judge_mode or "", use_coverage=options.use_coverage).rates, "judge_failures"]
    return names


class Explanations:
    """All that scores the explanations of a task, ready: what it needs is loaded, and the judge has been tried.

    Args:
        options: of the benchmark.
        task: its name, for the log.
        processes: how many share the limit on the judge's calls.

    Raises:
        MedtasksError: if a metric cannot be computed here.
        JudgeError: if the judge cannot be asked.
    """

    def __init__(self, options: MedExQAOptions, task: str, processes: int = 1) -> None:
        self._options = options
        self._task = task
        self._metrics = make_metrics(options.lexical_metrics, **options.model_dump())
        for metric in self._metrics:
            metric.prepare()
        self.signatures = {metric.name: metric.signature for metric in self._metrics}
        self._names = scored(options)
        self._judge: Any = None
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

    def score(self, answers: Sequence[tuple[Example, Answer]]) -> None:
        """``explanation``, ``combined`` and their parts: 0 for a wrong answer, None without references or judgement.

        The judge's whole output is a detail of the sample.
        """
        cases = [
            case_of(doc, answer.response) if answer.value == doc["answer_letter"] and references(doc) else None
            for doc, answer in answers
        ]
        distinct = list(dict.fromkeys(filter(None, cases)))  # both filters mostly find the same answer
        judgements: dict[Case | None, Judgement] = {}
        if self._judge is not None:
            judged = judge_all(self._judge, self._settings, distinct)
            logger.info("%s: judge %s: %s", self._task, self._judge.name, summary(judged))
            judgements |= zip(distinct, judged, strict=True)
        found = self._scores(distinct, judgements)
        failed: dict[str, str] = {}
        for (doc, answer), case in zip(answers, cases, strict=True):
            has_references = bool(references(doc))
            scores = found[case] if has_references else dict.fromkeys(self._names)
            weighted, options = scores["explanation"], self._options
            if weighted is not None:
                weighted = options.mcq_weight * 100 * bool(case) + options.explanation_weight * weighted
            for name, value in {**scores, "combined": weighted}.items():
                answer.scores[name] = JudgedScore(bool(case), value) if has_references and name in JUDGED else value
            if options.judges:
                own = judgements.get(case)
                told = ("score", "failure", "error")
                answer.details["judge"] = own and {name: getattr(own, name) for name in told} | own.output
                if own and own.failure:
                    failed[doc["id"]] = f"{own.failure}: {own.error}"
        if failed:
            named, first = ", ".join(failed), next(iter(failed.values()))
            logger.warning("%s: the judge failed on %s, left out of the means (%s)", self._task, named, first)

    def _scores(
        self, cases: Sequence[Case], judgements: Mapping[Case | None, Judgement]
    ) -> dict[Case | None, dict[str, float | None]]:
        """Each metric, and their mean as ``explanation``, or in its place the judge's score, None if it failed.

        An example's metrics are means over its generations, and ``judge_failures`` counts: each failure weighs as many
        as there are generations, so that the sum over examples is their number.
        """
        texts, others = [case.explanation for case in cases], [case.references for case in cases]
        lexical = {metric.name: metric.score(texts, others) for metric in self._metrics}
        found: dict[Case | None, dict[str, float | None]] = {None: dict.fromkeys(self._names, 0.0)}
        for place, case in enumerate(cases):
            own = {name: scores[place] for name, scores in lexical.items()}
            found[case] = {**own, "explanation": sum(own.values()) / max(1, len(own))}
            if judged := judgements.get(case):
                found[case] |= {name: None if judged.failure else judged.output[name] for name in self._judge.rates}
                found[case] |= {
                    "explanation": judged.score,
                    "judge_failures": float(self._options.repeats if judged.failure else 0),
                }
        return found


def case_of(doc: Example, response: str) -> Case:
    """What there is to score of a response."""
    return Case(
        specialty=doc["specialty"],
        question=doc["question"],
        options=tuple(doc["options"]),
        answer_letter=doc["answer_letter"],
        explanation=final_text(response).strip(),
        references=tuple(references(doc)),
    )
