"""Run a benchmark as a task of lm_eval: check options and rows, build prompts, and convert replies to scores.

lm_eval calls, in this order::

    __init__             checks options, loads and checks rows
    build_all_requests   makes the prompts
    (the model)
    apply_filters        finishes conversations with tools, applies the filters, and scores explanations
    process_results      returns the metrics of one example under one filter
"""

import ast
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.answers import Answer, BatchScorer
from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.benchmarks.choices import ChoiceBenchmark, order_of
from medtasks_utils.benchmarks.facts import Example, TaskInfo
from medtasks_utils.errors import DataError, MedtasksError, UsageError, logger
from medtasks_utils.extraction.stated_confidence import ASKED
from medtasks_utils.inference.replies import Reply, as_reply
from medtasks_utils.inference.reply_checks import failure_of, remarks_on
from medtasks_utils.statistics.metrics import Metric
from medtasks_utils.statistics.scores import Score, scores_to_log
from medtasks_utils.writing import JsonObject, Settings, digest

from . import generations
from .aggregates import HarnessAggregation, combined
from .chat_template import ChatTemplate
from .confidences import confidence_metrics, of_answers, of_choices
from .early_reading import EarlyReading
from .fields import OURS, bind_filters, checked_fields, metrics_of, readings_of
from .lm_eval_names import LM, ConfigurableTask, ContextSampler, Instance, get_sampler
from .log_likelihoods import check_log_likelihoods
from .models import runs_in_process
from .patches.tasks import ScoresAndDetails, prepare_harness
from .prompt_checks import check_prompts, check_samples
from .reasoning import opened_by, separated, separated_of_server
from .rendering import check_templates, index_or_text, index_or_texts, rendered, rendering
from .rows import rows_of
from .run_model import RunModel, current_run
from .server_model import temperature_sent
from .settings import without_nulls
from .signing import sign
from .sources import BenchmarkFiles, source_of
from .stages import exchanges_of
from .task_options import options_of, without_effect
from .tool_turns import ToolTurns


class MedTask(ConfigurableTask):  # type: ignore[misc]
    """A task of lm_eval that runs a benchmark.

    In the YAML, ``benchmark`` is the benchmark's name and ``dataset_kwargs`` sets its options. Prompts are Jinja
    templates over the example's fields and ``settings``, the options. The other fields of the YAML work as in any task
    of lm_eval, or are errors.

    Raises:
        UsageError: for options that do not exist or have invalid values.
        DataError: for rows that cannot be downloaded, read or understood, and for fields of the YAML that this package
            does not support.
    """

    model: LM | None = None  # these two are set when requests are built
    _run: RunModel | None = None
    with_batch_scores = True  # False while the scores of explanations are not needed yet
    fewshot_seed: int | None = None
    has_chat_template = False
    template: ChatTemplate | None = None
    _early: EarlyReading | None = None
    scorer: BatchScorer | None = None
    _limit: int | None = None

    def __init__(self, config: Settings) -> None:
        prepare_harness()
        metadata = config.get("metadata") or {}
        generates = config.get("output_type", "generate_until") == "generate_until"
        info = TaskInfo(str(config["task"]), config.get("dataset_name"), generates)
        kind = benchmarks().named(config.get("benchmark"), f"{info.name}: benchmark")
        settings = checked_fields(info, kind, config)
        split: str = settings.get("test_split") or settings["validation_split"]
        stated, known = {"repeats": settings.get("repeats"), "split": split}, kind.options_class.model_fields
        defaults = {name: value for name, value in stated.items() if value is not None and name in known}
        options = options_of(kind, {**defaults, **(settings.get("dataset_kwargs") or {})}, metadata)
        self.benchmark: Benchmark[Any] = kind(options, info)
        self.split = getattr(options, "split", split)
        remarks = options.check(info)
        for line in without_effect([options], metadata.get(self.benchmark.name) or {}):
            logger.warning("%s: %s", info.name, line)
        tools = getattr(options, "tools", ())
        self.turns = ToolTurns(self) if tools else None
        if tools:
            settings["description"] = f"{settings.get('description') or ''}{settings.get('tools_description', '')}"
        if options.ask_confidence and generates:
            settings["description"] = f"{settings.get('description') or ''} {ASKED}".lstrip()
        if any(tool.runs_code for tool in tools):
            settings["unsafe_code"] = True  # lm_eval asks for --confirm_run_unsafe_code
        self.files = BenchmarkFiles(source_of(metadata), kind, options.revision)
        metrics, other_entries = metrics_of(self.benchmark, settings)
        settings |= {
            "dataset_kwargs": options.model_dump(),
            "dataset_path": self.benchmark.repository.name,
            "repeats": options.repeats,
            "metadata": {**metadata, "benchmark": self.benchmark.name, "data_source": self.files.name},
            "metric_list": other_entries,
        }
        generation = settings.get("generation_kwargs") or {}
        nulls = {name: None for name, value in generation.items() if value is None}  # lm_eval takes none
        if nulls:
            settings["generation_kwargs"] = {name: generation[name] for name in generation.keys() - nulls.keys()}
        super().__init__(config={name: value for name, value in settings.items() if name not in OURS})
        if nulls:
            self.config.generation_kwargs |= nulls
        self._add_metrics(metrics)
        for ensemble in self._filters:
            bind_filters(self.benchmark, ensemble, self._read)
        for line in remarks:
            self.remark(line)

    @property
    def options(self) -> Any:
        """The options of the benchmark."""
        return self.benchmark.options

    @property
    def generates(self) -> bool:
        """True if the model writes answers, False if log-likelihoods are compared."""
        return self.benchmark.task.generates

    def _add_metrics(self, metrics: Sequence[Metric]) -> None:
        """Add our metrics with their own aggregations; lm_eval itself finds aggregations only by name."""
        self._ours = {metric.name: HarnessAggregation(metric.aggregation) for metric in metrics}
        self._aggregation_list |= self._ours
        self._higher_is_better |= {metric.name: metric.higher_is_better for metric in metrics}
        if not self.generates:  # lm_eval computes their scores
            self._metric_fn_list |= dict.fromkeys(self._ours)
        for metric in metrics:
            entry = {"aggregation": self._ours[metric.name], "higher_is_better": metric.higher_is_better}
            self.config.metric_list.append({"metric": metric.name, **entry})

    # ---- rows

    def download(self, dataset_kwargs: Any = None) -> None:
        """Load and check the rows, and the templates unless ``process_docs`` is set; lm_eval calls this on creation."""
        rows = rows_of(self, self.split)
        if self.config.process_docs is None:
            check_templates(self.benchmark.task, vars(self.config), {**rows[0], "settings": self.options})
        self.dataset = {self.config.test_split or self.config.validation_split: rows}

    @property
    def eval_docs(self) -> Any:
        """The examples to evaluate.

        Raises:
            DataError: if ``process_docs`` leaves none.
        """
        docs = super().eval_docs
        if not docs:
            raise DataError(f"{self.task_name}: process_docs leaves no example")
        return docs

    def remark(self, text: str) -> None:
        """Log a remark for readers of the results, and save it with the results."""
        logger.warning("%s: %s", self.task_name, text)
        self.config.metadata.setdefault("remarks", []).append(text)

    # ---- prompts

    doc_to_text = rendering("doc_to_text", index_or_text)
    doc_to_target = rendering("doc_to_target", index_or_texts)
    doc_to_choice = rendering("doc_to_choice", lambda text, has_choices: ast.literal_eval(text))
    doc_to_prefix = rendering("gen_prefix", lambda text, has_choices: text)

    def resolve_field(self, doc: Example, field: str | None = None) -> Any:
        """Return a field of the document, or a template rendered with its fields; None if ``field`` is None.

        Without a chat template, the few-shot delimiter is added to the description.
        """
        doc = {**doc, "settings": self.options}
        text = doc[field] if field in doc else field and rendered(field, doc)
        if text and field == self.config.description and not self.has_chat_template:
            text += self.config.fewshot_delimiter  # lm_eval adds no delimiter before the question
        return text

    def fewshot_docs(self) -> None:
        """Do nothing: :meth:`build_all_requests` loads few-shot rows if the run uses them."""

    def set_fewshot_seed(self, seed: int | None = None) -> None:
        """Store the seed for the sampler, which is created later."""
        self.fewshot_seed = seed

    def _prepare_fewshot(self) -> None:
        """Load the few-shot rows and create the sampler, if the run uses few-shot examples.

        Raises:
            UsageError: if there are too few rows, or the only rows are those being evaluated.
        """
        if not self.config.num_fewshot:
            return
        samples, split = self.fewshot_cfg.samples, self.fewshot_cfg.split or self.config.training_split
        if samples is None:
            if split is None or (split == self.split and hasattr(self.options, "split")):
                raise UsageError(
                    f"{self.task_name} has no rows for few-shot examples other than those that are evaluated "
                    f"(fewshot_split: {split}). Omit --num_fewshot"
                )
            self.dataset[split] = rows_of(self, split)
            samples = super().fewshot_docs()
        rows = list(samples() if callable(samples) else samples)
        if self.config.num_fewshot > len(rows):
            raise UsageError(f"--num_fewshot: the few-shot rows of {self.task_name} allow at most {len(rows):,}")
        sampler = self.fewshot_cfg.sampler
        make_sampler = get_sampler(sampler) if isinstance(sampler, str) else sampler
        self.sampler: ContextSampler = make_sampler(rows, rnd=self.fewshot_seed)

    def build_all_requests(self, **kwargs: Any) -> None:
        """Build, sign and check the requests.

        The key of ``--cache_requests`` covers everything that affects prompts.
        """
        run = self._run = current_run.get()
        self.model = run.model if run else None
        settings = self.config.generation_kwargs or {}
        if self.model is not None and None in settings.values() and runs_in_process(self.model):
            self.config.generation_kwargs = without_nulls(settings, self.model.max_length)
        temperature = temperature_sent(self.model, settings)
        if temperature != settings.get("temperature", 0):
            self.config.generation_kwargs = {**settings, "temperature": temperature}
            self.remark(
                f"lm_eval sends temperature={temperature} to a model of this name, whatever is set; "
                "--model local-chat-completions and --form chat send what is set"
            )
        self.template = None
        if kwargs.get("apply_chat_template") and kwargs.get("chat_template"):
            self.template = ChatTemplate(self.model, kwargs["chat_template"], self.options.system_role)
            kwargs["chat_template"] = self.template
        if self.turns:
            kwargs["chat_template"] = self.turns.prepare(self.template)
        self.scorer = None
        if self.generates and not self.predict_only and self.with_batch_scores:
            processes = kwargs.get("world_size") or 1
            self.scorer = self.benchmark.batch_scorer(self.eval_docs, processes)
        self._prepare_fewshot()
        if kwargs.get("samples") is not None:
            check_samples(self, kwargs["samples"])
        self._limit = kwargs.get("limit")
        self.has_chat_template = bool(kwargs.get("apply_chat_template"))
        sign(self, kwargs)
        if kwargs.get("cache_requests"):
            kwargs["tokenizer_name"] = f"{kwargs.get('tokenizer_name', '')}-{digest(self.config.metadata['signature'])}"
        super().build_all_requests(**kwargs)
        for line in self.template.remarks() if self.template else ():
            self.remark(line)
        check_prompts(self)
        if self.generates and self.options.repeats > 1:
            together = self.options.repeats_in_one_request
            arrange = generations.request_together if together else generations.make_independent
            have_prompts = self._reordered is not None or (together and self.turns is not None)
            arrange(self.task_name, self.instances, self.model, have_prompts)
        if self.turns:
            self.turns.start_conversations()
        self._early = None
        if run and run.batch and self.generates:
            early = self._early = EarlyReading(self._read_now, readings_of(self._filters), run.thread)
            run.readers[self.task_name] = lambda request, reply: early.begin(
                self._response(request, reply), request.doc
            )

    def doc_iterator(self, *, samples: Any = None, rank: int = 0, world_size: int = 1, **limit: Any) -> Iterator[Any]:
        """Yield the examples of a process with their indices; with a limit, the examples that the benchmark selects.

        The limit is that of :meth:`build_all_requests`, since lm_eval omits it when it caches requests. With
        ``samples``, the indices are positions in this list, as lm_eval expects.
        """
        examples = self.eval_docs
        numbers = samples or self.benchmark.first(examples, self._limit)
        indices = enumerate(samples) if samples else zip(numbers, numbers, strict=True)
        return ((index, examples[number]) for index, number in islice(indices, rank, None, world_size))

    @property
    def _reordered(self) -> ChoiceBenchmark[Any] | None:
        """The benchmark, if each generation shows the choices in a different order; else None."""
        varies = self.options.repeats > 1 and getattr(self.options, "vary_order", False)
        return self.benchmark if varies and isinstance(self.benchmark, ChoiceBenchmark) else None

    def fewshot_context(self, doc: Example, **settings: Any) -> Any:
        """Return the prompt; with ``vary_order``, one for each generation, with the same few-shot examples."""
        benchmark = self._reordered
        if benchmark is None:
            return super().fewshot_context(doc, **settings)
        sampler = getattr(self, "sampler", None)
        state = sampler.rnd.getstate() if sampler else None
        prompts = []
        for generation in range(self.options.repeats):
            if sampler:
                sampler.rnd.setstate(state)
            shown = benchmark.in_order(doc, order_of(generation, benchmark.first_order(doc)))
            prompts.append(super().fewshot_context(shown, **settings))
        return prompts

    def construct_requests(self, doc: Example, ctx: Any, **kwargs: Any) -> Any:
        """Return the requests of an example; for generated text, one for each generation, numbered by ``idx``."""
        if not self.generates:
            return super().construct_requests(doc, ctx, **kwargs)
        task, doc_id, _ = kwargs.pop("metadata")
        prompts = [ctx] * self.options.repeats if self._reordered is None else ctx
        requests = []
        for number, prompt in enumerate(prompts):
            request = super().construct_requests(doc, prompt, metadata=(task, doc_id, 1), **kwargs)
            request.idx = number
            if self.turns:
                request.chat = self.turns.rendered  # so that the request cache stores them too
            requests.append(request)
        return requests

    # ---- answers

    @property
    def filter_names(self) -> list[str]:
        """The names of the filters whose answers are scored."""
        return [ensemble.name for ensemble in self._filters]

    def _response(self, request: Instance, reply: Any) -> Reply:
        """Return the text to read: the reply without its reasoning; with tools, the conversation's last reply."""
        if self.turns:
            response = self.turns.response_to(request)
        else:
            response = separated(as_reply(reply), opened_by(request.args[0]))
        is_rendered_by_server = not isinstance(request.args[0], str)
        begins_in_reasoning = is_rendered_by_server and self._run is not None and self._run.begins_in_reasoning
        return separated_of_server(response) if begins_in_reasoning else response

    def _read(self, reading: str, response: str, doc: Example) -> Answer:
        """Return the answer in a response, from the early reading if there is one."""
        return (self._early.take if self._early else self._read_now)(reading, response, doc)

    def _read_now(self, reading: str, response: str, doc: Example) -> Answer:
        """Read the answer in a response, ignoring its tool calls, by the ``strict`` or ``flexible`` reading."""
        text = self.turns.without_calls(response) if self.turns else response
        return self.benchmark.answer_read(reading, text, doc)

    def apply_filters(self) -> None:
        """Finish conversations with tools, apply the filters, and compute the scores that need all answers together.

        Raises:
            MedtasksError: for unusable log-likelihoods, and if no request of a task without tools got a reply, unless
                a content policy blocked at least one of them.
        """
        if not self.generates:
            check_log_likelihoods(self.task_name, self.instances)
            super().apply_filters()
            count = len({instance.doc_id for instance in self.instances})
            without_reply = {
                instance.doc_id: reply for instance in self.instances if isinstance(reply := instance.resps[0], Reply)
            }
            self._check_prompts_without_reply([*without_reply.values()], count, "examples")
            return
        for name in ("failure", "without_text"):  # of an earlier batch
            self.config.metadata.pop(name, None)
        if self.turns:
            self.turns.finish()
        for instance in self.instances:
            # With several processes, lm_eval pads the last request of a process with extra responses.
            instance.resps = [self._response(instance, instance.resps[0])]
        replies = [instance.resps[0] for instance in self.instances]
        self._check_prompts_without_reply([reply for reply in replies if reply.refusal], len(replies), "requests")
        model = getattr(self.model, "model", "")
        name = model if isinstance(model, str) else ""  # a model in this process has its module there
        exchanges = list(chain.from_iterable(exchanges_of(instance, name) for instance in self.instances))
        for line in remarks_on(exchanges):
            self.remark(line)
        failure = failure_of(exchanges)
        self.config.metadata |= {"without_text": True} if failure else {}
        self._fail(failure)
        answers = self.read_replies()
        if self.options.ask_confidence:
            missing = [answer.details.get("confidence") for _, answer in answers].count(None) // len(self.filter_names)
            if missing:
                self.remark(f"{missing} of {len(replies)} responses state no confidence; confidence metrics omit them")
        if self.scorer is not None:
            self.scorer.add_scores(answers)
            self._fail(self.scorer.failure)

    def read_replies(self) -> list[tuple[Example, Answer]]:
        """Apply the filters to the replies of all requests, and return each filter's answers with their examples."""
        super().apply_filters()
        answers = []
        for instance in self.instances:
            for name in self.filter_names:
                answer = instance.filtered_resps[name] = self._answer(instance.filtered_resps[name], instance)
                answers.append((instance.doc, answer))
        return answers

    def _fail(self, reason: str | None) -> None:
        """Record why the task failed, and remark on it; do nothing if the reason is None.

        The run of a task that failed ends with an error after saving its results.
        """
        if reason:
            before = self.config.metadata.get("failure")
            self.config.metadata["failure"] = "; ".join(filter(None, (before, reason)))
            self.remark(reason)

    def _check_prompts_without_reply(self, without_reply: Sequence[Reply], count: int, what: str) -> None:
        """Remark on prompts without a reply.

        If no prompt got a reply, and a content filter blocked at least one, the run fails after saving its results.

        Args:
            without_reply: the replies without text, each with its reason.
            count: the total number of requests or examples.
            what: ``requests`` or ``examples``.

        Raises:
            MedtasksError: if no prompt of a task without tools got a reply, and no content filter blocked one.
        """
        if not without_reply:
            return
        filtered = sum(reply.ended == "filter" for reply in without_reply)
        because = f" ({filtered} because of a content policy)" if filtered else ""
        reason = f"{because}; first reason: {without_reply[0].refusal}"
        if len(without_reply) == count and filtered:
            self.config.metadata["failure"] = f"none of the {what} got a reply{reason}"
        elif len(without_reply) == count and not self.turns:
            raise MedtasksError(f"{self.task_name}: none of the {what} got a reply{reason}")
        self.remark(f"{len(without_reply)} of {count} {what} got no reply{reason}")

    def _answer(self, filtered: Any, instance: Instance) -> Answer:
        """Return the answer from the last filter, with details of its reply.

        If the last filter is not ours, the strict reading treats its output as the content of a box or tag.
        """
        while isinstance(filtered, list | tuple):
            filtered = filtered[0] if filtered else ""
        if isinstance(filtered, Answer):
            answer = filtered
        else:
            answer = self.benchmark.answer(str(filtered or ""), instance.doc, instance.resps[0])
        answer.details |= instance.resps[0].attributes
        if self._reordered is not None:
            answer.details["order"] = order_of(instance.idx, self._reordered.first_order(instance.doc))
        if self.turns:
            self.turns.annotate(answer, instance)
        return answer

    # ---- scores

    @property
    def predict_only(self) -> bool:
        """True if lm_eval runs without scoring (``--predict_only``)."""
        return "bypass" in self.aggregation()

    def process_results(self, doc: Example, results: list[Any]) -> JsonObject:
        """Return the metrics of one example under one filter, and its details.

        A metric is a mean over the generations or, like ``maj@k``, a function of all of them.

        Args:
            doc: the example.
            results: the answer of each generation, shape ``(repeats,)``; for log-likelihoods, the model's output for
                each choice.
        """
        if not self.generates:
            refusals = [result.refusal for result in results if isinstance(result, Reply)]
            if refusals:
                names = super().process_results(doc, [(0.0, False)] * len(results))
                none = dict.fromkeys(self._ours.keys() - names.keys())
                details = {"refusal": refusals[:1], "confidence": {"origin": "logits", "values": [None]}}
                return ScoresAndDetails({**dict.fromkeys(names, 0.0), **none}, details)
            of_harness = super().process_results(doc, results)
            if self.predict_only:
                return of_harness  # type: ignore[no-any-return]
            confidence = of_choices(self.doc_to_choice(doc), self.doc_to_target(doc), results)
            return self._result(doc, confidence.scores, of_harness, {"confidence": confidence.logged})
        details = generations.details_of(results)
        texts = [str.__str__(answer) for answer in results]
        has_other_metrics = self._metric_fn_list or callable(self.config.process_results)
        other_scores = super().process_results(doc, texts) if has_other_metrics else {}
        if self.predict_only:
            return ScoresAndDetails(other_scores, details)
        values = []
        for answer in results:
            of_answer = {**self.benchmark.scores(answer, doc), **answer.scores}
            ended = answer.details.get("ended")
            of_answer["cut"] = None if ended in (None, "unknown") else float(ended == "length")
            of_answer["acc_finished"] = of_answer.get("acc") if ended == "stop" else None
            values.append(of_answer)
        scores = {}
        for name in filter(values[0].__contains__, self._ours):
            scores[name] = [of_answer[name] for of_answer in values]
        right = [of_answer["acc"] == 1.0 for of_answer in values]
        together: dict[str, float] = {}
        if len(results) > 1:
            together = generations.scores_together([answer.value for answer in results], right)
            scores |= {name: [together[name]] for name in self._ours if name in together}
        if confidence_metrics(self.benchmark):
            confidence = of_answers(self.benchmark, results, right, together)
            details["confidence"] = confidence.logged
            scores |= confidence.scores
        return self._result(doc, scores, other_scores, details)

    def _result(
        self, doc: Example, scores: dict[str, list[Score]], other_scores: JsonObject, details: JsonObject
    ) -> JsonObject:
        """Merge an example's scores, ours and those of lm_eval's metrics, with the details to log in its sample."""
        cluster, stratum = self.benchmark.data.cluster_of(doc), self.benchmark.data.stratum_of(doc)
        logged_as = {name: ours.aggregation.logged_as or name for name, ours in self._ours.items()}
        our_scores = {name: combined(scores[key], cluster, stratum) for name, key in logged_as.items() if key in scores}
        details |= {"cluster": cluster, "stratum": stratum, "scores": scores_to_log(scores)}
        details |= {name: None for name in our_scores if logged_as[name] != name}
        return ScoresAndDetails({**our_scores, **other_scores}, details)
