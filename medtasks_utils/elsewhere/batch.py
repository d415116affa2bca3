"""Write the requests of a run in the format of batch endpoints, and convert the responses to a run.

A request is a line ``{"custom_id", "method", "url", "body"}``. Its ``custom_id`` ends in a hash of the body, so that a
response to a different prompt is never accepted. The flags of the run are saved next to the requests in
``<name>.run.json``. The import runs lm_eval with these flags on the replies in the files, so scores, finish reasons,
tokens and samples are the same as if the run had used a server.
"""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from medtasks_utils.errors import MedtasksError, UsageError, reason_of
from medtasks_utils.harness.batch_model import FORMS, Answering, answering
from medtasks_utils.harness.catalog import make_tasks, manager_for
from medtasks_utils.harness.evaluation import Evaluation, StoppedBeforeReplies
from medtasks_utils.harness.lm_eval_names import EvaluatorConfig, Instance, Run, get_model
from medtasks_utils.harness.server_model import replies_in, request_body
from medtasks_utils.harness.settings import check_arguments
from medtasks_utils.harness.sources import source_of
from medtasks_utils.harness.task_options import DATA_KEY
from medtasks_utils.inference.replies import Reply
from medtasks_utils.inference.responses import PromptRefused, parse_response
from medtasks_utils.results.samples import Row, mapping, numbered_lines
from medtasks_utils.writing import SECRETS, digest, json_lines, shortened, write_whole

from .other_runs import named


def write_requests(
    config: EvaluatorConfig, settings: Sequence[str], file: Path, *, form: str, max_requests: int
) -> list[Path]:
    """Write the requests that a run would send, and return the files; the last one contains the flags.

    Args:
        config: the flags of ``lm_eval run``.
        settings: the values of ``--set``.
        file: the file to write; if there are more than ``max_requests`` requests, several files whose names end in
            ``_1``, ``_2`` and so on.
        form: the kind of endpoint, ``chat``, ``openai`` or ``completions``.
        max_requests: the maximum number of lines in a file.

    Raises:
        UsageError: for tasks with tools, whose conversations need a live model.
        MedtasksError: for any other error that ``medtasks eval`` detects before a run.
    """
    config.model = FORMS[form]
    check_arguments(get_model(config.model), "medtasks requests", config.model_args, is_api=True)
    manager = manager_for(config.tasks, config.include_path, config.metadata)
    for name, task in make_tasks(manager, config.tasks).items():
        if getattr(task, "turns", None):
            raise UsageError(
                f"{name} has tools, whose results the model needs during a conversation; a file of requests "
                "cannot provide them, so use medtasks eval"
            )
    config.metadata[DATA_KEY] = source_of(config.metadata)
    lines: list[Row] = []

    def record(model: Any, requests: Sequence[Instance]) -> list[Reply]:
        lines.extend(_line(model, request) for request in requests)
        raise StoppedBeforeReplies

    _run(config, settings, record)
    parts = [lines[start : start + max_requests] for start in range(0, len(lines), max_requests)]
    paths = [file]
    if len(parts) > 1:
        paths = [file.with_name(f"{file.stem}_{number}{file.suffix}") for number, _ in enumerate(parts, start=1)]
    for path, part in zip(paths, parts, strict=True):
        write_whole(path, json_lines(part))
    write_whole(_run_file(file), json.dumps({"flags": SECRETS.scrub(asdict(config))}, indent=2, default=str))
    return [*paths, _run_file(file)]


def _run_file(requests: Path) -> Path:
    return requests.with_suffix(".run.json")


def _run(config: EvaluatorConfig, settings: Sequence[str], answer: Answering) -> Evaluation | None:
    """Run lm_eval with ``answer`` in place of a model; return the evaluation, or None if ``answer`` stopped the run."""
    answering.set(answer)
    evaluation = Evaluation(config, settings, keep=False)
    try:
        evaluation.run(Run._execute)
    except StoppedBeforeReplies:
        return None
    return evaluation


# ---- requests


def _line(model: Any, request: Instance) -> Row:
    """Return a request as a line of a batch file, with the body that a server would receive."""
    body = request_body(model, *request.args) or {}
    return {"custom_id": f"{place_of(request)}-{digest(body)}", "method": "POST", "url": model.url, "body": body}


def place_of(request: Instance) -> str:
    """Return an id made of task, example and generation, in characters that batch services allow."""
    task = re.sub(r"[^\w]", "_", str(request.task_name))
    return f"{task}-{request.doc_id}-{request.idx}"


# ---- responses


def import_responses(
    paths: Sequence[Path],
    requests: Path,
    folder: Path,
    *,
    data: str | None,
    is_partial: bool,
    missing: Path | None,
) -> tuple[Evaluation, list[str]]:
    """Score the responses to requests of :func:`write_requests`, and save them as a run in a folder.

    Args:
        paths: the files with responses, in any order.
        requests: the file that was passed to :func:`write_requests`.
        folder: the folder for the run.
        data: the source of the rows; None for the one in the saved flags.
        is_partial: True to score only those examples for which all generations have replies.
        missing: the file to which unanswered requests are written; None for no file.

    Returns:
        The evaluation, and the lines of :meth:`BatchResponses.problems`.

    Raises:
        MedtasksError: if ``<name>.run.json`` is missing or damaged; if a line in the file of requests is not a request
            or was edited; if a request has no reply or, with ``is_partial``, no example has replies to all of its
            requests.
    """
    run_file = _run_file(requests)
    if not run_file.is_file():
        raise MedtasksError(f"--requests {requests}: {run_file} is missing; restore it, or run medtasks requests again")
    try:
        config = EvaluatorConfig(**json.loads(run_file.read_bytes())["flags"])
    except (ValueError, LookupError, TypeError) as error:
        raise MedtasksError(f"{run_file}: {reason_of(error)}; restore it, or run medtasks requests again") from None
    config.output_path, config.log_samples = str(folder), True
    if data is not None:
        config.metadata[DATA_KEY] = data
    responses = BatchResponses(paths, _edited(requests))
    evaluation = _run(config, (), responses.replies_to)
    if missing and responses.unanswered:
        write_whole(missing, json_lines(responses.unanswered.values()))
    way_on = "--partial scores the examples that have all of their replies"
    if evaluation is None and is_partial:
        way_on = "no example has all of its replies, so nothing can be scored"
        config.limit, config.samples = None, responses.keep_replied(config.samples)
        config.tasks = list(config.samples)
        evaluation = _run(config, (), responses.replies_to) if config.tasks else None
    if evaluation:
        return evaluation, responses.problems()
    written = f"{missing} has" if missing else "--missing FILE writes"
    raise MedtasksError("; ".join([*responses.problems(), f"{written} the requests without a reply", way_on]))


def _edited(requests: Path) -> dict[str, Row]:
    """Return the bodies of the requests in a file, or in its parts, that have been edited, by custom id.

    Raises:
        MedtasksError: for a line that is not a request.
    """
    edited: dict[str, Row] = {}
    part = re.compile(rf"{re.escape(requests.stem)}(_\d+)?{re.escape(requests.suffix)}")
    for path in sorted(path for path in requests.parent.iterdir() if part.fullmatch(path.name)):
        for number, line in numbered_lines(path):
            try:
                request = from_json(line)
                custom_id, body = request["custom_id"], request["body"]
                is_ours = custom_id.endswith(f"-{digest(body)}")
            except (AttributeError, ValueError, LookupError, TypeError):
                raise MedtasksError(
                    f"{path}, line {number}, is not a request; write the file again with medtasks requests"
                ) from None
            if not is_ours:
                edited[custom_id] = body
    return edited


class BatchResponses:
    """Responses from batch files, which replace the model of a run.

    Args:
        paths: the files. Each line is ``{"custom_id", "response": {"status_code", "body"}, "error"}``, as OpenAI and
            vLLM write it.
        edited: the bodies of requests that were edited before they were sent, by custom id.

    Attributes:
        unanswered: the requests without a reply, by custom id.
    """

    def __init__(self, paths: Sequence[Path], edited: Mapping[str, Row]) -> None:
        self._edited = edited
        self.unanswered: dict[str, Row] = {}
        self._responses: dict[str, list[Row]] = defaultdict(list)
        self._unreadable: list[str] = []
        self._errors: dict[str, str] = {}
        self._repeated: dict[str, None] = {}
        self._requests: list[Instance] = []
        self._ids: dict[str, str] = {}  # by the request's place
        for path in paths:
            for number, line in numbered_lines(path):
                try:
                    values = from_json(line)
                    self._responses[str(values["custom_id"])].append(values)
                except (ValueError, LookupError, TypeError):
                    self._unreadable.append(f"{path.name} line {number}")

    def replies_to(self, model: Any, requests: Sequence[Instance]) -> list[Reply]:
        """Return the replies to requests.

        If the run is repeated on fewer examples, each request keeps its prompt from the first run: since few-shot
        examples are drawn in the order of the examples, a new prompt could differ.

        Raises:
            StoppedBeforeReplies: if a request has no reply; :attr:`unanswered` then contains all such requests.
            MedtasksError: if a request in the file was edited.
        """
        self._requests = self._requests or list(requests)
        replies = []
        for request, first in zip(requests, self._requests, strict=True):
            request.arguments = first.args
            line = _line(model, first)
            self._check_as_sent(line)
            self._ids[place_of(first)] = line["custom_id"]
            reply = self._reply(model, line)
            if reply is None:
                self.unanswered[line["custom_id"]] = line
            else:
                replies.append(reply)
        if len(replies) < len(requests):
            raise StoppedBeforeReplies
        return replies

    def _check_as_sent(self, line: Row) -> None:
        """Raise MedtasksError if the request's body in the file differs from the body that this run would send."""
        sent, ours = self._edited.get(line["custom_id"]), line["body"]
        if sent is None:
            return
        names = [name for name in {**ours, **sent} if sent.get(name) != ours.get(name)]
        was, now = ({name: shortened(str(body.get(name)), 60) for name in names} for body in (ours, sent))
        raise MedtasksError(
            f"--requests: requests that were edited after medtasks requests wrote them: {len(self._edited)}, such as "
            f"{line['custom_id']}: {now}, not {was}. Write them again with the flags of your run, such as --gen_kwargs "
            "and --model_name, so that the run's signature says what was measured"
        )

    def _reply(self, model: Any, request: Row) -> Reply | None:
        """Return the first reply to a request; an empty reply if the prompt was refused, None if there is no reply."""
        custom_id = request["custom_id"]
        lines = self._responses.get(custom_id, ())
        for number, line in enumerate(lines, start=1):
            response = mapping(line.get("response"))
            sent = json.dumps(response.get("body", response) or {"error": line.get("error") or "no response"})
            try:
                completion = parse_response(
                    int(response.get("status_code") or 200), sent, custom_id, model.model, request["body"]
                )
                reply, *_ = replies_in(completion, model, custom_id, request["body"].get("n", 1))
            except PromptRefused as error:
                return Reply(ended=error.ended, refusal=error.problem)
            except (MedtasksError, TypeError, ValueError) as error:
                self._errors[custom_id] = str(getattr(error, "problem", error))
            else:
                if number < len(lines):
                    self._repeated[custom_id] = None
                return reply
        return None

    def keep_replied(self, samples: Mapping[str, Sequence[int]] | None) -> dict[str, list[int]]:
        """Drop examples that lack the reply of any generation, and return ``--samples`` for the rest.

        Args:
            samples: the value of ``--samples`` with which the requests were written; None if it was not set.
        """

        def example_of(request: Instance) -> tuple[str, int]:
            return request.task_name, request.doc_id

        lacking = {example_of(request) for request in self._requests if self._ids[place_of(request)] in self.unanswered}
        self._requests = [request for request in self._requests if example_of(request) not in lacking]
        kept: dict[str, list[int]] = defaultdict(list)
        for task, place in sorted(set(map(example_of, self._requests))):
            kept[task].append(samples[task][place] if samples else place)
        return dict(kept)

    def problems(self) -> list[str]:
        """Return a line with the number of answered requests, and one for each kind of missing or unused response."""
        custom_ids = set(self._ids.values())
        unknown = [custom_id for custom_id in self._responses if custom_id not in custom_ids]
        changed = [custom_id for custom_id in unknown if custom_id.rpartition("-")[0] in self._ids]
        kinds = {
            "requests without a response": [name for name in self.unanswered if name not in self._errors],
            "errors instead of a reply": [self._errors[name] for name in self.unanswered if name in self._errors],
            "lines that are not JSON with a custom_id": self._unreadable,
            "requests with several responses, of which the first reply is used": [*self._repeated],
            "responses to prompts that differ from this installation's": changed,
            "responses that belong to no request of this run": [name for name in unknown if name not in changed],
        }
        counts = f"{len(self._ids) - len(self.unanswered)} of {len(self._ids)} requests have a reply"
        return [counts, *(named(names, what) for what, names in kinds.items() if names)]
