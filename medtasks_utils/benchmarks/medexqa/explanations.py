"""Score explanations by lexical metrics, by a judge, or by both.

The explanation of a wrong answer scores 0. With a judge, ``explanation`` is the judge's score.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from medtasks_utils.benchmarks.base import Answer, Example
from medtasks_utils.errors import MedtasksError, call_all, logger
from medtasks_utils.extraction.think import final_text
from medtasks_utils.judging import Case, Judgement, JudgeSettings, check, judge_all, make_judge, summary
from medtasks_utils.statistics.scores import JudgedScore

from .metrics import make_metrics
from .options import MedExQAOptions

JUDGED = ("combined", "explanation", "support", "coverage")
"""Metrics that depend on the judge, and are None for an example on which it failed."""

_WAYS_OUT = (
    "Run medtasks fetch on a machine with internet access and copy its caches, or choose others of rougeL, bleu, "
    "meteor and bertscore with --set medexqa.explanation_metrics=A,B"
)


def references(example: Example) -> list[str]:
    """Return the zero, one or two reference explanations that are not blank."""
    return [text for text in (example["explanation_1"], example["explanation_2"]) if text.strip()]


def scored(options: MedExQAOptions) -> list[str]:
    """Return the names of the explanation metrics that the options ask for, except ``combined``."""
    names = [*options.lexical_metrics, "explanation"]
    if options.judges:
        names += [*make_judge(options.judge_mode or "", use_coverage=options.use_coverage).rates, "judge_failures"]
    return names


class Explanations:
    """A scorer of the explanations in a task. Creating it loads the metrics and checks the judge.

    Args:
        options: the benchmark's options.
        task: the task's name, for the log.
        processes: the number of processes that share the limit on concurrent calls of the judge.

    Raises:
        MedtasksError: if a metric cannot be computed on this machine.
        JudgeError: if the judge cannot be used.
    """

    def __init__(self, options: MedExQAOptions, task: str, processes: int = 1) -> None:
        self._options = options
        self._task = task
        self._metrics = make_metrics(options.lexical_metrics, **options.model_dump())
        try:
            call_all(metric.prepare for metric in self._metrics)
        except MedtasksError as error:
            raise MedtasksError(f"{error}. {_WAYS_OUT}") from None
        self.signatures = {metric.name: metric.signature for metric in self._metrics}
        self._names = scored(options)
        self._judge: Any = None
        self.failure: str | None = None
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
        """Add ``explanation``, ``combined`` and their parts to the answers.

        A wrong answer scores 0. The score is None if the example has no references or the judge failed. The judge's
        complete output becomes a field of the sample.
        """
        cases = [
            case_of(doc, answer.response) if answer.value == doc["answer_letter"] and references(doc) else None
            for doc, answer in answers
        ]
        distinct = list(dict.fromkeys(filter(None, cases)))  # both filters usually read the same answer
        judgements: dict[Case | None, Judgement] = {}
        if self._judge is not None:
            judged = judge_all(self._judge, self._settings, distinct)
            logger.info("%s: judge %s: %s", self._task, self._judge.name, summary(judged))
            judgements |= zip(distinct, judged, strict=True)
        scores_by_case = self._scores(distinct, judgements)
        failed: dict[str, str] = {}
        for (doc, answer), case in zip(answers, cases, strict=True):
            has_references = bool(references(doc))
            scores = scores_by_case[case] if has_references else dict.fromkeys(self._names)
            combined, options = scores["explanation"], self._options
            if combined is not None:
                combined = options.mcq_weight * 100 * bool(case) + options.explanation_weight * combined
            for name, value in {**scores, "combined": combined}.items():
                answer.scores[name] = JudgedScore(bool(case), value) if has_references and name in JUDGED else value
            if options.judges:
                judgement = judgements.get(case)
                answer.details["judge"] = judgement and {
                    "score": judgement.score,
                    "failure": judgement.failure,
                    "error": judgement.error,
                    **judgement.output,
                }
                if judgement and judgement.failure:
                    failed[doc["id"]] = f"{judgement.failure}: {judgement.error}"
        if failed:
            ids, first = ", ".join(failed), next(iter(failed.values()))
            logger.warning(
                "%s: the judge failed on %s; the means leave these out (first failure: %s)", self._task, ids, first
            )
            if all(judged.failure for judged in judgements.values()):
                self.failure = (
                    f"the judge judged none of the explanations ({len(judgements)} in all; {first}), "
                    "so there is no score"
                )

    def _scores(
        self, cases: Sequence[Case], judgements: Mapping[Case | None, Judgement]
    ) -> dict[Case | None, dict[str, float | None]]:
        """Return the scores of each case.

        ``explanation`` is the mean of the lexical metrics or, with a judge, the judge's score (None if it failed).

        An example's metrics are means over its k generations, but ``judge_failures`` is a count. Each failure therefore
        scores k, so that the sum over examples is the number of failures.
        """
        texts = [case.explanation for case in cases]
        references_by_case = [case.references for case in cases]
        lexical = {metric.name: metric.score(texts, references_by_case) for metric in self._metrics}
        scores: dict[Case | None, dict[str, float | None]] = {None: dict.fromkeys(self._names, 0.0)}
        for index, case in enumerate(cases):
            values = {name: of_cases[index] for name, of_cases in lexical.items()}
            scores[case] = {**values, "explanation": sum(values.values()) / max(1, len(values))}
            judgement = judgements.get(case)
            if judgement is not None:
                for rate in self._judge.rates:
                    scores[case][rate] = None if judgement.failure else judgement.output[rate]
                scores[case]["explanation"] = judgement.score
                scores[case]["judge_failures"] = float(self._options.repeats if judgement.failure else 0)
        return scores


def case_of(example: Example, response: str) -> Case:
    """Return the explanation in a response, with the question, the right option and the references."""
    return Case(
        specialty=example["specialty"],
        question=example["question"],
        options=tuple(example["options"]),
        answer_letter=example["answer_letter"],
        explanation=final_text(response).strip(),
        references=tuple(references(example)),
    )
