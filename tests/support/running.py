"""Run the real harness in this process, with models whose answers are known, and read what it saves."""

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from given import TASKS, Row, json_lines
from lm_eval.api.model import LM
from lm_eval.api.registry import get_model
from lm_eval.evaluator import simple_evaluate
from lm_eval.tasks import TaskManager
from local_server import LocalServer

Chat = list[dict[str, str]]
Answering = Callable[[Row], Any]


def manager(metadata: Mapping[str, Any] | None = None, data: str | Path = "sample") -> TaskManager:
    """Return a task manager for our tasks only; by default, explanations are not scored."""
    given = {"medtasks_data": str(data), "medexqa": {}, **(metadata or {})}
    if isinstance(given["medexqa"], dict):
        given["medexqa"] = {"use_explanations": False, **given["medexqa"]}
    return TaskManager(include_path=str(TASKS), include_defaults=False, metadata=given)


def load(name: str, data: str | Path = "sample", /, **metadata: Any) -> Any:
    """Return a task as the harness makes it; keyword arguments are options by benchmark."""
    return manager(metadata, data).load([name])["tasks"][name]


def documents_of(*task: Any, **metadata: Any) -> list[Row]:
    """Return the documents of a task that :func:`load` makes."""
    return documents(load(*task, **metadata))


def reader(name: str, data: str | Path = "sample", /, **metadata: Any) -> Any:
    """Return a task that :func:`load` makes, with the readings and scores of its benchmark."""
    task = load(name, data, **metadata)
    benchmark = task.benchmark
    task.strict, task.flexible = benchmark.strict, benchmark.flexible
    task.extract = lambda name, text, doc: benchmark.readers[name](text, doc)
    task.score = lambda doc, answer: benchmark.scores(answer, doc)
    return task


def documents(task: Any) -> list[Row]:
    """Return a task's documents without labels from other files."""
    return [shown(doc) for doc in task.eval_docs]


def shown(doc: Row) -> Row:
    """Return a document without its label from another file."""
    return {key: doc[key] for key in doc if key != "other_label"}


class Scripted(LM):  # type: ignore[misc]
    """A model in this process whose response is a function of the document; it records its prompts in batches."""

    def __init__(self, answer=lambda doc: ""):
        super().__init__()
        self.answer = answer
        self.batches: list[list[Any]] = []
        self.generation_kwargs: list[dict[str, Any]] = []

    @property
    def prompts(self):
        return list(itertools.chain(*self.batches))

    def reply(self, request):
        return self.answer(request.doc)

    def generate_until(self, requests):
        self.batches.append([request.args[0] for request in requests])
        self.generation_kwargs += [request.args[1] for request in requests]
        responses = []
        for request in requests:
            responses.append(self.reply(request))
            self.cache_hook.add_partial("generate_until", request.args, responses[-1])
        return responses

    def loglikelihood(self, requests):
        self.batches.append([request.args[0] for request in requests])
        return [
            (float(self.answer({**request.doc, "continuation": request.args[1]}) or -place), False)
            for place, request in enumerate(requests)
        ]

    loglikelihood_rolling = None  # which lm_eval's class requires, and no task here calls

    def apply_chat_template(self, chat_history, add_generation_prompt=True):
        return json.dumps(chat_history)

    @property
    def tokenizer_name(self):
        return "scripted"


def right_answer(doc: Row) -> str:
    """Return a response that is right under both filters, whatever the task."""
    if "judgement" in doc:
        return f"<answer>{doc['shown_truth']}</answer>"
    if "specialty" in doc:
        return f"The answer is {doc['answer_letter']}."
    return f"<think>So.</think>\n\\boxed{{{doc.get('answer_letter') or doc['target']}}}"


def evaluate(
    tasks: str | Sequence[str],
    answer: Answering | LM | str = right_answer,
    data: str | Path = "sample",
    metadata: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Any:
    """Run the real harness in this process, with a model, a model's name, or a function that answers documents."""
    model = answer if isinstance(answer, LM | str) else Scripted(answer)
    return simple_evaluate(
        model=model,
        tasks=[tasks] if isinstance(tasks, str) else list(tasks),
        task_manager=manager(metadata, data),
        **{"apply_chat_template": True, "confirm_run_unsafe_code": True, **settings},
    )


def model_of(server: LocalServer, kind: str = "local-chat-completions", **arguments: Any) -> Any:
    """Return a model of the harness that sends its requests to a server."""
    given = {"model": "m", "base_url": server.chat, "num_concurrent": 8, "max_retries": 2, **arguments}
    return get_model(kind).create_from_arg_obj(given, {"batch_size": 1})


def samples(result: dict[str, Any], filter_name: str = "strict-match") -> list[Row]:
    """Return the samples of the only task under a filter."""
    (logged,) = result["samples"].values()
    return [sample for sample in logged if sample["filter"] == filter_name]


def saved_results(folder: Path) -> Any:
    (path,) = folder.glob("**/results_*.json")
    return json.loads(path.read_text())


def saved_samples(folder: Path, task: str) -> list[Row]:
    (path,) = folder.glob(f"**/samples_{task}_*.jsonl")
    return json_lines(path)
