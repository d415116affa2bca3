"""The one door to lm_eval: every name of it that this package uses, and what each is for.

No other module imports lm_eval (import-linter and ``tests/test_lm_eval_names.py`` hold it to that). A name is looked up
when it is imported from here, so that each room loads only what it needs::

    from .lm_eval_names import Instance

:data:`NAMES` also lists the attributes on which the package relies without lm_eval documenting them. Its third column
says what lm_eval 0.5.0.dev1, the draft of the next version, has in place of a name. That draft cannot run these tasks:
a task has one scorer for each filter there, which holds the filters, the metrics and their aggregations, so
:class:`.task.MedTask` has to hand its aggregations to scorers and to score in ``process_instances``. :func:`missing`
lists what the installed release lacks; continuous integration runs it and the self-check on the newest pre-release.
"""

from importlib import import_module
from importlib.metadata import version
from inspect import getsource, isclass
from typing import Any, NamedTuple

from medtasks_utils.errors import MedtasksError

from .deferred_imports import import_lm_eval


class Name(NamedTuple):
    """A name of lm_eval that this package uses.

    Attributes:
        module: the module that has it, below ``lm_eval``.
        purpose: what this package uses it for.
        in_0_5: what 0.5.0.dev1 has in its place; empty where it has the name too.
    """

    module: str
    purpose: str
    in_0_5: str = ""


_SCORERS = "scorers: Scorer, one for each filter"

NAMES = {
    # tasks
    "ConfigurableTask": Name("api.task", "the base class of our tasks"),
    "ConfigurableTask.doc_to_prefix": Name(
        "api.task", "overridden: the start of the answer is a template over the options too",
        "api.task: Task._resolve_field, given config.gen_prefix",
    ),
    "ConfigurableTask.resolve_field": Name(
        "api.task", "overridden: the description is a template over the options too", "api.task: Task._resolve_field",
    ),
    "ConfigurableTask.doc_to_text": Name("api.task", "overridden: the prompt is a template over the options too"),
    "ConfigurableTask.doc_to_target": Name("api.task", "overridden: so is the target"),
    "ConfigurableTask.doc_to_choice": Name("api.task", "overridden: so are the choices"),
    "ConfigurableTask.download": Name("api.task", "overridden: rows come from the benchmark"),
    "ConfigurableTask.fewshot_docs": Name("api.task", "overridden: few-shot rows are read only if a run uses them"),
    "ConfigurableTask.set_fewshot_seed": Name("api.task", "overridden: the seed is kept for that"),
    "ConfigurableTask.build_all_requests": Name("api.task", "overridden: signatures, seeds and tools before the run"),
    "ConfigurableTask.fewshot_context": Name("api.task", "overridden: repeats with prompts of their own"),
    "ConfigurableTask.construct_requests": Name(
        "api.task", "overridden: one request for each repeat (0.5.0.dev1 passes doc_id by name)"
    ),
    "ConfigurableTask.apply_filters": Name("api.task", "overridden: further turns with tools before the filters"),
    "ConfigurableTask.process_results": Name("api.task", "overridden: the benchmark's scores"),
    "ConfigurableTask.aggregation": Name("api.task", "whether the run is --predict_only"),
    "ConfigurableTask.doc_iterator": Name("api.task", "the documents of all processes, for the signature"),
    "ConfigurableTask._filters": Name("api.task", "the filters, which are given the benchmark's readers", _SCORERS),
    "ConfigurableTask._aggregation_list": Name("api.task", "our metrics' aggregations are added", _SCORERS),
    "ConfigurableTask._higher_is_better": Name("api.task", "our metrics' directions are added", _SCORERS),
    "ConfigurableTask._metric_fn_list": Name("api.task", "metrics that lm_eval computes itself", _SCORERS),
    "ContextSampler": Name("api.samplers", "draws few-shot examples"),
    "get_sampler": Name("api.samplers", "a sampler by its name in YAML"),
    "Instance": Name("api.instance", "one request, with its replies"),
    "Filter": Name("api.filter", "the base class of our filter"),
    "FilterEnsemble": Name("api.filter", "the filters under one name"),
    "MajorityVoteFilter": Name("filters.selection", "refused where repeats are scored one by one"),
    "TakeKFilter": Name("filters.selection", "refused where repeats are scored one by one"),
    "register_filter": Name("api.registry", "registers our filter for YAML"),
    "METRIC_REGISTRY": Name(
        "api.registry", "tells lm_eval's metrics from misspelt ones", "api.registry: metric_registry"
    ),
    "apply_template": Name(
        "utils", "replaced: each template is compiled once",
        "config.templates: apply_template, which compiles each template once itself",
    ),
    "env": Name("utils", "the Jinja environment that compiles templates", "config.templates: _jinja_env()"),
    "hash_string": Name("utils", "hashes of documents in imported samples"),
    "get_sample_size": Name(
        "evaluator_utils", "how many examples --limit stands for", "evaluator_utils: _get_sample_size"
    ),
    "TaskManager": Name("tasks", "loads tasks from YAML"),
    "TaskManager.task_index": Name("tasks", "the YAML behind each name", "tasks: TaskManager._index"),
    # models
    "LM": Name("api.model", "the base class of models"),
    "LM.set_cache_hook": Name("api.model", "replaced on the run's model: replies are stored as they come"),
    "LM._rank": Name("api.model", "set under accelerate launch: the number of the process"),
    "LM._world_size": Name("api.model", "set under accelerate launch: the number of processes"),
    "CachingLM": Name("api.model", "the wrapper of --use_cache, behind which is the model"),
    "HFLM.rank": Name("models.huggingface", "wrong on machines with fewer than two GPUs, and set anew"),
    "TemplateAPI": Name("models.api_models", "the base class of models behind an HTTP API"),
    "TemplateAPI.generate_until": Name("models.api_models", "replaced on the run's model: all requests at once"),
    "TemplateAPI.amodel_call": Name("models.api_models", "tells models that ask in a way of their own"),
    "TemplateAPI._create_payload": Name("models.api_models", "the body of a request"),
    "TemplateAPI._batch_size": Name("models.api_models", "prompts in one request"),
    "TemplateAPI._concurrent": Name("models.api_models", "connections"),
    "TemplateAPI._max_gen_toks": Name("models.api_models", "the default length of replies"),
    "TemplateAPI._seed": Name("models.api_models", "the seed that is sent"),
    "LocalChatCompletion": Name("models.openai_completions", "the chat model, whose server may take tools"),
    "get_model": Name("api.registry", "the class of --model"),
    "model_registry": Name("api.registry", "the names that --model takes"),
    # runs
    "Run": Name("_cli.run", "the flags of lm_eval run, and the function that runs them"),
    "EvaluatorConfig": Name("config.evaluate_config", "the flags as lm_eval reads them"),
    "evaluate": Name("evaluator", "replaced: tasks know their model during the run"),
    "simple_evaluate": Name("evaluator", "the runs of the self-check"),
    "stderr_for_metric": Name(
        "evaluator_utils", "replaced: our aggregations bring their standard errors",
        "api.metrics: stderr_for_metric, imported when a scorer aggregates",
    ),
    "is_torch_available": Name("utils", "replaced: torch is not imported where the model does not need it"),
    "EvaluationTracker": Name("loggers", "replaced: saves results, here without secrets"),
    "GeneralConfigTracker": Name("loggers.evaluation_tracker", "describes the run in results"),
    "GeneralConfigTracker._get_model_name": Name("loggers.evaluation_tracker", "the model's name in results"),
    "sanitize_model_name": Name("utils", "the name of a model's folder"),
    "setup_logging": Name("utils", "the log's format and level"),
}  # fmt: skip
"""By name; an attribute follows its class after a dot."""


def owner_of(name: str) -> Any:
    """Return the module, or for an attribute the class, that has a name of :data:`NAMES`."""
    import_lm_eval()
    module = import_module(f"lm_eval.{NAMES[name].module}")
    kind, dot, _ = name.partition(".")
    return getattr(module, kind) if dot else module


def missing() -> list[str]:
    """Return a line for each name that the installed lm_eval lacks.

    Names whose module needs a package that is not installed, such as torch, are passed over. An attribute that only
    instances have is looked for in the source of its class.
    """
    lines = []
    for name, known in NAMES.items():
        attribute = name.rpartition(".")[2]
        try:
            owner = owner_of(name)
            exists = hasattr(owner, attribute) or (isclass(owner) and f"self.{attribute}" in getsource(owner))
        except ModuleNotFoundError as error:
            exists = not str(error.name).startswith("lm_eval")
        if not exists:
            lines.append(f"{known.module}: {name}" + (f"; in its place {known.in_0_5}" if known.in_0_5 else ""))
    return lines


def __getattr__(name: str) -> Any:
    """Return what lm_eval has under a name.

    Raises:
        MedtasksError: where the installed lm_eval lacks it.
    """
    if name not in NAMES:
        raise AttributeError(f"{name} is not in the table of names of lm_eval")
    try:
        return getattr(owner_of(name), name)
    except (AttributeError, ImportError):
        raise MedtasksError(
            f"lm_eval {version('lm_eval')} has no {NAMES[name].module}.{name}, which this version of medtasks needs: "
            "install a release of lm_eval that it supports"
        ) from None
