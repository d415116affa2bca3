"""Score explanations by lexical metrics, by a judge, or by both.

The explanation of a wrong answer scores 0. With a judge, ``explanation`` is the judge's score.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

from medtasks_utils import judging
from medtasks_utils.benchmarks.answers import Answer
from medtasks_utils.benchmarks.facts import Example
from medtasks_utils.errors import MedtasksError, logger
from medtasks_utils.extraction.think import final_text
from medtasks_utils.judging import Case, Judge, Judgement, JudgeSettings, make_judge
from medtasks_utils.statistics.scores import JudgedScore

from .metrics import METRICS, ExplanationMetric, make_metric
from .options import MedExQAOptions

JUDGED = ("combined", "explanation", "support", "coverage")
"""The metrics that depend on the judge; they are None for an example whose judgement failed."""

_WAYS_OUT = (
    "Run medtasks fetch on a machine with internet access and copy its caches, leave these metrics out with --set "
    "medexqa.explanation_metrics=%s, or turn off scores of explanations with --set medexqa.use_explanations=false"
)


def references(example: Example) -> list[str]:
    """Return the non-blank reference explanations, at most two."""
    return [text for text in (example["explanation_1"], example["explanation_2"]) if text.strip()]


def metric_names(options: MedExQAOptions) -> list[str]:
    """Return the names of all metrics of explanations for the requested lexical metrics and judge."""
    judge = _judge(options)
    return [*options.lexical_metrics, "explanation", "combined", *((*judge.rates, "judge_failures") if judge else ())]


def _judge(options: MedExQAOptions) -> Judge | None:
    return make_judge(str(options.judge_mode), use_coverage=options.use_coverage) if options.judges else None


def case_of(example: Example, response: str) -> Case:
    """Return a judge's input: the response's explanation, the question, its choices, right letter and references."""
    return Case(
        specialty=example["specialty"],
        question=example["question"],
        options=tuple(example["options"]),
        answer_letter=example["answer_letter"],
        explanation=final_text(response).strip(),
        references=tuple(references(example)),
    )


def _prepared(options: MedExQAOptions) -> list[ExplanationMetric]:
    """Return the requested metrics; nothing is downloaded if one of them lacks a package.

    Raises:
        MedtasksError: if a metric cannot be computed on this machine; the message names metrics to use instead.
    """
    bertscore = {name: getattr(options, f"bertscore_{name}") for name in ("model", "device", "batch_size")}
    metrics: list[ExplanationMetric] = []
    failures: dict[str, MedtasksError] = {}
    for name in options.lexical_metrics:
        try:
            metrics.append(make_metric(name, **bertscore))
        except MedtasksError as error:
            failures[name] = error
    for metric in () if failures else metrics:
        try:
            metric.prepare()
        except MedtasksError as error:
            failures[metric.name] = error
    if failures:
        others = {*options.lexical_metrics} - {*failures} or {*METRICS} - {*failures}
        raise MedtasksError(f"{'; '.join(map(str, failures.values()))}. {_WAYS_OUT % ','.join(sorted(others))}")
    return metrics


class Explanations:
    """A scorer of the explanations in a task. Creating it loads the metrics and checks the judge.

    Args:
        options: the benchmark's options.
        task: the task's name, for the log.
        processes: the number of processes that share the limit on concurrent requests to the judge.
        case_of: a function that returns the judge's input for an example and a response.

    Raises:
        MedtasksError: if a metric cannot be computed on this machine.
        JudgeError: if the judge is unusable.
    """

    def __init__(
        self,
        options: MedExQAOptions,
        task: str,
        processes: int = 1,
        case_of: Callable[[Example, str], Case] = case_of,
    ) -> None:
        self._options, self.case_of = options, case_of
        self._task = task
        self._metrics = _prepared(options)
        self.signatures = {metric.name: metric.signature for metric in self._metrics}
        self._names = metric_names(options)
        self._judge = _judge(options)
        self.failure: str | None = None
        if self._judge:
            self._settings = JudgeSettings.from_environment(
                model=options.judge_model,
                base_url=options.judge_base_url,
                key_variable=options.judge_api_key_env,
                cache=options.judge_cache,
                concurrency=max(1, options.judge_concurrency // processes),
                max_tokens=options.judge_max_tokens,
            )
            for settings in judging.by_model(self._judge, self._settings):
                judging.check_endpoint(settings)
            models = options.judge_model.replace(",", "+")
            self.signatures[self._judge.name] = f"{self._judge.signature}|model:{models}"

    def add_scores(self, answers: Sequence[tuple[Example, Answer]]) -> None:
        """Add the scores of explanations, such as ``explanation`` and ``combined``, to the answers.

        A wrong answer scores 0. All scores are None if the example has no references; the scores in :data:`JUDGED` are
        None if the judge failed. With a judge, its complete output becomes the detail ``judge`` of each answer, None
        for an explanation that was not judged. If the judge failed on every explanation, ``failure`` is set.
        """
        cases = [
            self.case_of(doc, answer.response) if answer.value == doc["answer_letter"] and references(doc) else None
            for doc, answer in answers
        ]
        distinct = list(dict.fromkeys(filter(None, cases)))  # both filters usually read the same answer
        texts, references_by_case = [case.explanation for case in distinct], [case.references for case in distinct]
        lexical = [metric.score(texts, references_by_case) for metric in self._metrics]
        judgements: dict[Case | None, Judgement] = {}
        if self._judge:
            judgements |= zip(distinct, judging.judge_all(self._judge, self._settings, distinct), strict=True)
        scores = {
            case: self._scores_of_right(of_metrics, judgements.get(case))
            for case, *of_metrics in zip(distinct, *lexical, strict=True)
        }
        failed: dict[str, str] = {}
        for (doc, answer), case in zip(answers, cases, strict=True):
            values = scores[case] if case else dict.fromkeys(self._names, 0.0 if references(doc) else None)
            for name, value in values.items():
                is_judged = name in JUDGED and references(doc)
                answer.scores[name] = JudgedScore(case is not None, value) if is_judged else value
            judgement = judgements.get(case)
            if self._judge is not None:
                answer.details["judge"] = judgement and judgement.logged
            if judgement and judgement.failure:
                failed[doc["id"]] = f"{judgement.failure}: {judgement.error}"
        if failed:
            self._report(failed, judgements.values())

    def _scores_of_right(self, lexical: Sequence[float], judgement: Judgement | None) -> dict[str, float | None]:
        """Return the scores of a right answer, from those of the lexical metrics and the judge."""
        values: dict[str, float | None] = dict.fromkeys(self._names)
        values |= zip(self._options.lexical_metrics, lexical, strict=True)
        explanation: float | None = sum(lexical) / max(1, len(lexical))
        if self._judge and judgement:
            explanation = judgement.score
            for rate in self._judge.rates:
                values[rate] = None if judgement.failure else judgement.output[rate]
            # Metrics of an example are means over its k generations, but this is a count: a failure scores k, so that
            # the sum over examples is the number of failures, of which each judging model may add one.
            count = judgement.output.get("failed_judges", int(judgement.failure is not None))
            values["judge_failures"] = float(self._options.repeats * count)
        values["explanation"] = explanation
        if explanation is not None:
            values["combined"] = self._options.mcq_weight * 100 + self._options.explanation_weight * explanation
        return values

    def _report(self, failed: Mapping[str, str], judged: Collection[Judgement]) -> None:
        """Log the examples whose judgement failed, and set ``failure`` if nothing was judged.

        Args:
            failed: the failures, by the ids of the examples.
            judged: all judgements.
        """
        first = next(iter(failed.values()))
        logger.warning(
            "%s: the judge failed on %s; each gets the mean score of the right answers that were judged "
            "(first failure: %s)",
            self._task,
            ", ".join(failed),
            first,
        )
        if all(judgement.failure for judgement in judged):
            self.failure = (
                f"the judge failed on every explanation ({len(judged)} in all; {first}), so there is no score"
            )
