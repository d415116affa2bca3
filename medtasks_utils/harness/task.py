"""The harness's side of a benchmark: options and rows in, prompts out, answers and scores back.

A benchmark derives from :class:`MedTask` and says how to load rows, extract an answer and score it; everything that the
four have in common is here. The order in which the harness calls::

    __init__             options are checked, rows are loaded and checked
    build_all_requests   prompts
    (the model)
    apply_filters        responses are cleaned, ``continue_generation``, both extractions, ``score_batch``
    process_results      the metrics of one example under one filter
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import datasets
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.api.samplers import ContextSampler
from lm_eval.api.task import ConfigurableTask

from medtasks_utils.aggregation import AGGREGATES
from medtasks_utils.benchmarks.card import Card, Repository
from medtasks_utils.errors import DataError, OptionError, logger
from medtasks_utils.extraction.printable import printable
from medtasks_utils.extraction.weighing import NOTHING, Reading
from medtasks_utils.harness import generations
from medtasks_utils.harness.answer import Answer, Score, combined, logged
from medtasks_utils.harness.context import what_is_cut
from medtasks_utils.harness.options import Options, read_options, warn_of_no_effect
from medtasks_utils.harness.patches.models import model_of
from medtasks_utils.harness.patches.tasks import ScoresAndDetails, prepare_harness, render
from medtasks_utils.harness.run import this_run
from medtasks_utils.harness.signature import digest, signature, signature_fields
from medtasks_utils.harness.sources import Row, Source, Table
from medtasks_utils.metrics import OF_REPEATS, Metric


class Prompts(list[Any]):
    """The prompts of an example's generations, where each has its own."""


class MedTask(ConfigurableTask):  # type: ignore[misc]
    """A benchmark as a task of the harness.

    In YAML, ``dataset_kwargs`` sets options, and prompts are Jinja templates over the document's fields and
    ``settings`` (the options). Repositories and metrics are the card's; ``metric_list`` may name some of the metrics.

    Raises:
        OptionError: for options that do not exist or have bad values.
        DataError: for rows that cannot be had, read or understood.
    """

    card: ClassVar[Card]
    options_type: ClassVar[type[Options]]
    scoring_packages: ClassVar[Sequence[str]] = ()  # beside our own and lm_eval: their versions are in the signature

    options: Any
    model: LM | None = None  # known once requests are built

    def __init__(self, config: Mapping[str, Any]) -> None:
        prepare_harness()
        settings = {key: value for key, value in config.items() if key != "class"}
        metadata = dict(settings.get("metadata") or {})
        defaults = dict(settings.get("dataset_kwargs") or {})
        self.options = read_options(self.options_type, self.benchmark, defaults, metadata)
        warn_of_no_effect(settings["task"], self.options, metadata.get(self.benchmark))
        self.source = Source.from_metadata(metadata)
        self.left_out: Counter[str] = Counter()
        self._first_left_out: dict[str, str] = {}
        self._fewshot_seed: int | None = None
        self._fewshot_rows: list[Row] = []
        self._has_chat_template = False
        self._root: Path | None = None
        settings["dataset_kwargs"] = self.options.model_dump()
        settings["dataset_path"] = self.repository_of(self.options).name
        settings["metric_list"] = self._metric_list(settings.get("metric_list"))
        settings["repeats"] = self.options.repeats
        # Only its presence matters: the harness then does not look our metrics up in its own registry.
        settings["process_results"] = f"{type(self).__module__}.{type(self).__qualname__}.score"
        settings["metadata"] = {**metadata, "benchmark": self.benchmark, "data_source": self.source.name}
        self.adjust_config(settings)
        super().__init__(config=settings)

    @property
    def benchmark(self) -> str:
        """The benchmark's name."""
        return self.card.name

    def _metric_list(self, named: Sequence[Mapping[str, Any]] | None) -> list[dict[str, Any]]:
        """The card's metrics as the harness takes them, or those of them that the YAML names."""
        wanted = None if named is None else [entry["metric"] for entry in named]
        unknown = [name for name in wanted or () if self.card.metric(name) is None]
        if unknown:
            raise DataError(f"metric_list names {', '.join(unknown)}, which is no metric of {self.benchmark}")
        return [
            {
                "metric": metric.name,
                "aggregation": AGGREGATES[metric.aggregation],
                "higher_is_better": metric.higher_is_better,
            }
            for metric in self.metrics()
            if wanted is None or metric.name in wanted
        ]

    def metrics(self) -> Sequence[Metric]:
        """Those of the card that the options leave, and what several generations tell together."""
        return (*self.card.metrics, *(OF_REPEATS if self.options.repeats > 1 else ()))

    # ---- what a benchmark says

    @classmethod
    def repository_of(cls, options: Any) -> Repository:
        """Where the rows are on the hub: the card's first, unless options choose another."""
        return next(iter(cls.card.repositories.values()))

    @abstractmethod
    def load_rows(self) -> list[Row]:
        """The documents to evaluate on."""

    @classmethod
    def check_single_row(cls, row: Mapping[str, Any]) -> None:
        """Called for a row that is scored alone: the place to refuse what only its whole file could tell."""

    def load_fewshot_rows(self) -> list[Row]:
        """Documents that ``--num_fewshot`` may draw from."""
        raise DataError(
            f"{self.config.task} has no rows to draw few-shot examples from: its only split is the one it is "
            "evaluated on. Leave --num_fewshot out"
        )

    @abstractmethod
    def strict(self, response: str, doc: Row) -> Answer:
        """The answer by the benchmark's published rule."""

    @abstractmethod
    def flexible(self, response: str, doc: Row) -> Answer:
        """The answer by our best reading."""

    def read(self, response: str, doc: Row) -> Reading:
        """The candidates and the evidence that ``flexible`` weighs; none where it weighs nothing."""
        return NOTHING

    @abstractmethod
    def score(self, doc: Row, answer: Answer) -> dict[str, Score]:
        """The metrics of one response."""

    def adjust_config(self, config: dict[str, Any]) -> None:
        """Called once options are known, before the harness reads the configuration: the place for what they change."""

    def prompt_parts(self) -> list[str]:
        """What prompts are made of beside documents, options and templates."""
        return []

    def continue_generation(self) -> None:
        """Called once between generation and extraction: the place for further turns, as a batch over all examples."""

    def annotate(self, answer: Answer, instance: Instance) -> None:
        """Called for every answer: the place for scores and details of how the response came about."""

    def score_batch(self, answers: dict[str, list[tuple[Row, Answer]]]) -> None:
        """Called once before scoring, with every answer by filter: the place for metrics best computed together.

        What belongs to one answer goes into its ``scores``.
        """

    def scorers(self) -> dict[str, str]:
        """Signatures of scorers beyond ``score`` itself, by name: explanation metrics, judges."""
        return {}

    def cluster(self, doc: Row) -> str | None:
        """What examples that are not independent share, if anything: the card's field."""
        return None if self.card.cluster is None else str(doc[self.card.cluster])

    def stratum(self, doc: Row) -> str | None:
        """The group of the document in macro averages: the card's field."""
        return None if self.card.stratum is None else str(doc[self.card.stratum])

    # ---- rows

    def folder(self, subfolder: str | None = None) -> Path:
        """The folder with this benchmark's files; the hub is asked once a task."""
        if self._root is None:
            self._root = self.source.folder(self.card, self.repository_of(self.options), self.options.revision)
        inner = self._root / (subfolder or "")
        return inner if inner.is_dir() else self._root

    def leave_out(self, table: Table, index: int, reason: str) -> None:
        """Count a row that cannot be used; the first of each reason is named in the warning."""
        if not self.left_out[reason]:
            self._first_left_out[reason] = table.at(index)
        self.left_out[reason] += 1

    def remark(self, text: str) -> None:
        """Say something of the rows that readers of the results have to know: now, and in the results."""
        logger.warning("%s: %s", self.config.task, text)
        self.config.metadata.setdefault("remarks", []).append(text)

    def _warn_of_rows_left_out(self) -> None:
        for reason, count in self.left_out.items():
            rows = "1 row" if count == 1 else f"{count} rows"
            logger.warning("%s: left out %s: %s (%s)", self.config.task, rows, reason, self._first_left_out[reason])

    def download(self, dataset_kwargs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        """Load and check the rows; called by the harness when it makes the task."""
        rows = self.load_rows()
        self._warn_of_rows_left_out()
        if not rows:
            raise DataError(f"{self.config.task}: no rows are left to evaluate on ({self.source.name})")
        if self.left_out:
            self.config.metadata["rows_left_out"] = dict(self.left_out)
        self.dataset = {self.config.test_split or self.config.validation_split: datasets.Dataset.from_list(rows)}

    # ---- prompts

    def resolve_field(self, doc: Row, field: str | None = None) -> Any:
        """A field of the document, or a template rendered over it."""
        if not field:
            return None
        if field in doc:
            return doc[field]
        text = render(field, {**doc, "settings": self.options})
        if text and field == self.config.description and not self._has_chat_template:
            text += self.config.fewshot_delimiter  # the harness puts nothing between it and the question
        return text

    def doc_to_text(self, doc: Row, doc_to_text: str | None = None) -> Any:
        """The user message."""
        return self.resolve_field(doc, doc_to_text or self.config.doc_to_text)

    def doc_to_target(self, doc: Row, doc_to_target: str | None = None) -> Any:
        """The right answer."""
        return self.resolve_field(doc, doc_to_target or self.config.doc_to_target)

    def fewshot_docs(self) -> None:
        """Nothing yet: they are read when a run asks for them (:meth:`build_all_requests`), not in every run."""

    def set_fewshot_seed(self, seed: int | None = None) -> None:
        """Remember the seed for the sampler that is made later."""
        self._fewshot_seed = seed
        super().set_fewshot_seed(seed)

    def _prepare_fewshot(self) -> None:
        wanted = self.config.num_fewshot or 0
        if wanted <= 0:
            return
        if self.config.fewshot_split and self.config.fewshot_split == getattr(self.options, "split", None):
            raise OptionError(
                f"{self.config.task}: few-shot examples are drawn from {self.config.fewshot_split}, which split "
                "chooses to evaluate on: leave --num_fewshot out, or split"
            )
        self.left_out.clear()
        rows = self.load_fewshot_rows()
        self._warn_of_rows_left_out()
        if len(rows) < wanted:
            raise DataError(
                f"{self.config.task}: --num_fewshot {wanted}, but there are only {len(rows)} rows to draw from"
            )
        self._fewshot_rows = rows
        self.sampler = ContextSampler(rows)
        self.sampler.set_rnd(self._fewshot_seed)

    def build_all_requests(self, **kwargs: Any) -> None:
        """Build the prompts; with ``--cache_requests``, under a key that pins everything a prompt is made of."""
        self._has_chat_template = bool(kwargs.get("apply_chat_template"))
        self.model = model_of(kwargs.get("chat_template"))
        if kwargs.get("chat_template"):
            kwargs["chat_template"] = self.watched(kwargs["chat_template"])
        self._prepare_fewshot()
        self._sign(kwargs)
        if kwargs.get("cache_requests"):
            kwargs["tokenizer_name"] = f"{kwargs.get('tokenizer_name', '')}-{digest(self.config.metadata['signature'])}"
        super().build_all_requests(**kwargs)
        this_run.join(self)
        if self.OUTPUT_TYPE == "generate_until" and self.options.repeats > 1:
            generations.settle(self.config.task, self.instances, self.model, have_prompts=self.has_several_prompts)
        said = what_is_cut(self.model, self.config, [instance.args[0] for instance in self.instances])
        if said:
            self.remark(said)

    def watched(self, chat_template: Callable[..., Any]) -> Callable[..., Any]:
        """The chat template that prompts are rendered with: the place to see what it is given."""
        return chat_template

    def construct_requests(self, doc: Row, ctx: Any, **kwargs: Any) -> Any:
        """The requests of an example; where text is generated, one for each generation, numbered by ``idx``."""
        if self.OUTPUT_TYPE != "generate_until":
            return super().construct_requests(doc, ctx, **kwargs)
        task, doc_id, _ = kwargs.pop("metadata")
        prompts = ctx if isinstance(ctx, Prompts) else [ctx] * self.options.repeats
        requests = [
            super(MedTask, self).construct_requests(doc, prompt, metadata=(task, doc_id, 1), **kwargs)
            for prompt in prompts
        ]
        for number, request in enumerate(requests):
            request.idx = number
        return requests

    @property
    def has_several_prompts(self) -> bool:
        """Whether the generations of an example have prompts of their own."""
        return False

    def _sign(self, settings: Mapping[str, Any]) -> None:
        """Put the signatures of the results to come into the metadata, given the arguments of build_all_requests."""
        documents = self.doc_iterator(limit=settings.get("limit"), samples=settings.get("samples"))  # of all processes
        prompt: dict[str, Any] = {
            "templates": [self.config.description, self.config.doc_to_text, self.config.doc_to_choice],
            "system": settings.get("system_instruction"),
        }
        if self.prompt_parts():
            prompt["parts"] = self.prompt_parts()
        if self.config.num_fewshot:
            prompt["fewshot"] = [repr(self.config.fewshot_config), self._fewshot_seed, self._fewshot_rows]
            prompt["multiturn"] = bool(settings.get("fewshot_as_multiturn"))
        commit = "" if self._root is None else self._root.name[:8]  # of the hub
        fields = signature_fields(
            data=f"hub@{commit}" if self.source.name == "hub" else self.source.name,
            documents=[doc for _, doc in documents],
            prompt=prompt,
            has_chat_template=self._has_chat_template,
            shots=self.config.num_fewshot or 0,
            options=self.options,
            generation_kwargs=self.config.generation_kwargs,
            scorers=self.scorers(),
        )
        filters = self.extractors if self.OUTPUT_TYPE == "generate_until" else ("none",)
        self.config.metadata["signature"] = {
            name: signature(self.config.task, fields, name, self.VERSION, self.scoring_packages) for name in filters
        }
        if self.scorers():
            self.config.metadata["scorers"] = self.scorers()

    # ---- extraction and scoring

    @property
    def extractors(self) -> dict[str, Callable[[str, Row], Answer]]:
        """The filters by name."""
        return {name: partial(self.extract, name) for name in ("strict-match", "flexible-extract")}

    def extract(self, filter_name: str, response: str, doc: Row) -> Answer:
        """The answer by a filter: the place for what both readings have in common."""
        return (self.strict if filter_name == "strict-match" else self.flexible)(response, doc)

    def apply_filters(self) -> None:
        """From responses to answers; between generation and scoring, so batched work has its place here."""
        if self.OUTPUT_TYPE != "generate_until":
            super().apply_filters()
            return
        for instance in self.instances:
            # Under several processes the harness pads the last request with extra responses, to even the ranks out.
            instance.resps = [printable(response or "") for response in instance.resps[:1]]
        this_run.is_scoring = True
        with this_run.generations_kept(self.config.task):
            self.continue_generation()
            answers: dict[str, list[tuple[Row, Answer]]] = {name: [] for name in self.extractors}
            for instance in self.instances:
                for name, extract in self.extractors.items():
                    answer = extract(instance.resps[0], instance.doc)
                    self.annotate(answer, instance)
                    instance.filtered_resps[name] = answer
                    answers[name].append((instance.doc, answer))
            if not self.predict_only:
                self.score_batch(answers)

    @property
    def predict_only(self) -> bool:
        """Whether the harness runs without scoring (``--predict_only``)."""
        return "bypass" in self.aggregation()

    def process_results(self, doc: Row, results: list[Any]) -> dict[str, Any]:
        """The metrics of one example under one filter, each the mean over its generations; details for its sample."""
        if self.OUTPUT_TYPE != "generate_until":
            return super().process_results(doc, results)  # type: ignore[no-any-return]
        details = {
            name: [answer.details[name] for answer in results] if len(results) > 1 else results[0].details[name]
            for name in results[0].details
        }
        if self.predict_only:
            return ScoresAndDetails(super().process_results(doc, results), details)
        with this_run.generations_kept(self.config.task):
            each = [{**self.score(doc, answer), **answer.scores} for answer in results]
            scores = {name: [own[name] for own in each] for name in each[0]}
            if len(results) > 1:
                right = [score == 1.0 for score in scores["acc"]]
                together = generations.scores_together([answer.value for answer in results], right)
                scores |= {name: [score] for name, score in together.items()}
            cluster, stratum = self.cluster(doc), self.stratum(doc)
            metrics = {name: combined(own, cluster, stratum) for name, own in scores.items()}
        return ScoresAndDetails(metrics, {**details, "cluster": cluster, "stratum": stratum, "scores": logged(scores)})

    def kept(self, instance: Instance) -> dict[str, Any]:
        """What is kept of a generation whose scoring failed."""
        return {"doc_id": instance.doc_id, "doc": instance.doc, "resps": instance.resps}
