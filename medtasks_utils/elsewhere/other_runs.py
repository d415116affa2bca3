"""Read the responses and scores of runs that other harnesses saved.

``results.jsonl``
    Written by ``vf-eval -s`` for the environments that defined the scores, together with ``metadata.json``, in a folder
    ``<environment>--<model>/<id>``. Each line contains ``prompt``, ``completion`` (chat messages), ``task``,
    ``reward`` and one key for each reward function.
``traces.jsonl``
    Written instead by verifiers 0.4 and later. Each line is an episode, whose traces contain the messages as a graph.
``*.eval``, ``*.json`` with ``samples``
    Logs of inspect_ai. An ``.eval`` file is a ZIP archive of ``header.json`` and one file for each sample. A score of
    C, P, I or N counts as 1, 0.5, 0 and 0.
``scenario_state.json``
    Runs of HELM, with scores in ``per_instance_stats.json`` in the same folder.
any JSON lines, JSON array, CSV, TSV or Parquet
    Other files, for which the caller names the fields with the id and the response.
"""

import json
import pickle
import re
from collections import ChainMap, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from io import SEEK_END
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple, TypeVar
from zipfile import ZIP_STORED, BadZipFile, ZipFile

from pydantic_core import from_json

from medtasks_utils.benchmarks.tables import kind_of, read_rows
from medtasks_utils.errors import MedtasksError, reason_of
from medtasks_utils.inference.replies import End, NoReplyError, Reply, read_completion
from medtasks_utils.results.samples import Message, Row, content_of, mapping, number, numbered_lines
from medtasks_utils.writing import read_json, shortened

_NO_SCORES = re.compile(
    "(example_|rollout_)?id|(generation|scoring|total)_ms|(average|avg)_reward|num_.*|(input|output)_tokens"
    "|batch_size|(inference|training|finish_reason|prompt_truncated|max_prob|logprob).*"
)
"""Names of numbers in ``results.jsonl`` and in HELM's statistics that are not scores."""
_VERDICTS = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0} | {
    **dict.fromkeys(("true", "correct", "right", "yes", "pass", "passed"), 1.0),
    **dict.fromkeys(("false", "incorrect", "wrong", "no", "fail", "failed"), 0.0),
}
_ENDS: dict[str | None, End] = {"stop": "stop", "length": "length"}
_MODEL_FIELDS = ("model", "model_name", "model_id")
_NOTHING: Row = {}
_WAY_ON = "For a file of your own, name its fields: --task TASK --id FIELD --response FIELD"
_TABLES = (".csv", ".tsv", ".parquet")
# Roles; the last three are of results of tools.
_NOT_THE_MODEL = ("system", "developer", "user", "human", "tool", "function", "ipython", "observation", "environment")
_ZSTANDARD = 93  # the number of this compression method in ZIP archives


class Response(NamedTuple):
    """An imported response.

    Attributes:
        place: its place in the file, such as ``line 3``.
        prompt: the messages that were sent to the model.
        reply: the model's last message.
        scores: the other harness's scores, by name with a prefix, such as ``inspect_``.
        id: the values of the fields that identify the document; empty if the prompt identifies it.
        stated: the record's facts about its row, such as question, choices and right answer, by field.
    """

    place: str
    prompt: list[Message]
    reply: Reply
    scores: dict[str, float]
    id: tuple[str, ...] = ()
    stated: Row = _NOTHING


_end = cache(Reply)  # one object for all that are equal

Item = TypeVar("Item")


class Spool(Iterable[Item]):
    """Items in a temporary file, so that few of them are in memory at a time."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115
        self._starts: list[int] = []

    def append(self, item: Item) -> None:
        """Add an item at the end."""
        self._starts.append(self._file.seek(0, SEEK_END))
        pickle.dump(item, self._file)

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, place: int) -> Item:
        self._file.seek(self._starts[place])
        item: Item = pickle.load(self._file)
        return item

    def __iter__(self) -> Iterator[Item]:
        return map(self.__getitem__, range(len(self)))


@dataclass
class OtherRun:
    """A run that another harness saved.

    Attributes:
        names: the names of its task and data set in one string, to search for the benchmark's name.
        arguments: the arguments of the environment.
        time: the time of the run in ISO 8601; None if unknown.
        responses: the responses that could be read.
        ends: for each response, a :class:`Reply` with its finish reason and only the first character of its text.
        problems: sentences about records that could not be read.
    """

    path: Path
    model: str
    names: str
    arguments: Row = field(default_factory=dict)
    time: object = None
    responses: Spool[Response] = field(default_factory=Spool)
    ends: list[Reply] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def date(self) -> str:
        """The date as in file names, such as ``2026-11-21T08-27-59``; if unknown, the file's modification date."""
        try:
            time = datetime.fromisoformat(str(self.time))
        except ValueError:
            time = datetime.fromtimestamp(self.path.stat().st_mtime)
        return f"{time:%Y-%m-%dT%H-%M-%S}"

    def add_records(
        self,
        kind: str,
        records: Iterable[tuple[object, Any]],
        convert: Callable[[str, Any], Iterable[Response]],
        lacking: str = "",
    ) -> "OtherRun":
        """Convert records to responses, add problems about records that cannot be read, and return this run.

        Args:
            kind: the noun for a record, such as ``line``.
            records: pairs of a record's number or name and its content, as JSON text or parsed.
            convert: a function of a record's place and its parsed content that returns its responses.
            lacking: words that name the missing fields of records without a response.

        Raises:
            MedtasksError: if there is no response at all.
        """
        bad: dict[str, list[str]] = defaultdict(list)
        fields: dict[str, None] = {}
        for name, record in records:
            place, problem = f"{kind} {name}", "lines that are not JSON"
            try:
                values = from_json(record) if isinstance(record, bytes) else record
                problem = f"records without a text response{lacking}"
                fields |= dict.fromkeys(values)
                responses = list(convert(place, values))
            except (AttributeError, LookupError, NoReplyError, StopIteration, TypeError, ValueError):
                bad[problem].append(place)
            else:
                for response in responses:
                    self.responses.append(response)
                    self.ends.append(_end(response.reply.strip()[:1], response.reply.ended))
        self.problems += [f"{self.path}: left out {named(places, what)}" for what, places in bad.items()]
        if not self.responses:
            problem = "; ".join(self.problems) or f"{self.path} contains no response"
            way_on = "" if lacking else f". {_WAY_ON}"
            known = f"; its fields: {shortened(', '.join(fields), 300)}" if fields else ""
            raise MedtasksError(f"{problem}{way_on}{known}")
        return self


def named(names: Sequence[str], what: str) -> str:
    """Return a description of names: their kind, their number, and the first three."""
    return f"{what}: {len(names)} ({', '.join(names[:3])}{', …' * (len(names) > 3)})"


class Fields(NamedTuple):
    """The fields of records in a file of unknown format.

    Attributes:
        id: the fields that together identify the document; empty for known file formats.
        response: the field with the response.
        score: the field with the other harness's verdict; empty to use the usual field names.
        split_by: the field whose values distinguish the runs in the file; empty if the file has one run.
    """

    id: Sequence[str] = ()
    response: str = ""
    score: str = ""
    split_by: str = ""


Records = Iterable[tuple[int, Any]]
"""The number and the content, as JSON text or parsed, of each record in a file."""


def records_by_run(path: Path, split_by: str) -> tuple[dict[str, Records], list[str]]:
    """Return the records of each run in a file, by the value of a field, and the places of records without a value.

    Raises:
        MedtasksError: if no record has the field.
    """
    spool: Spool[tuple[int, Any]] = Spool()
    runs: dict[str, list[int]] = defaultdict(list)
    without: list[str] = []
    for number_of_record, record in _records(path):
        value = None
        with suppress(LookupError, TypeError, ValueError):
            value = _at(from_json(record) if isinstance(record, bytes) else record, split_by)
        if value in (None, ""):  # a cell of a table is never None
            without.append(f"{_kind(path)} {number_of_record}")
        else:
            runs[str(value)].append(len(spool))
            spool.append((number_of_record, record))
    if not runs:
        raise MedtasksError(f"{path}: no record has the field {split_by} of --split_by")
    return {name: map(spool.__getitem__, places) for name, places in runs.items()}, without


def read_other_run(path: Path, fields: Fields) -> OtherRun:
    """Read the run that another harness saved in a file.

    Raises:
        MedtasksError: if the file's format is unknown, or the file contains no response, no verdict in ``score`` or,
            without ``split_by``, responses of several models.
    """
    if fields.id:
        return run_of_records(path, fields, _records(path))
    try:
        if path.suffix == ".eval":
            with ZipFile(path) as archive:
                names = [name for name in archive.namelist() if name.startswith("samples/")]
                members = ((Path(name).stem, _member(archive, name)) for name in names)
                return _inspect_run(path, json.loads(_member(archive, "header.json")), members)
        if path.suffix == ".json":
            content = read_json(path)
            if "request_states" in content:
                return _helm_run(path, content)
            return _inspect_run(path, content, enumerate(content.get("samples", ()), 1))
    except (AttributeError, BadZipFile, LookupError, TypeError, ValueError) as error:
        problem = f"neither an inspect_ai log nor a HELM scenario_state.json ({reason_of(error)})"
        raise MedtasksError(f"{path} is {problem}. {_WAY_ON}") from None
    return _traces_run(path) if path.name.endswith("traces.jsonl") else _environment_run(path)


# ---- lines with an id


def run_of_records(path: Path, fields: Fields, records: Records) -> OtherRun:
    """Read a run from records of a file.

    Raises:
        MedtasksError: if no record has a response, or a verdict in ``score``, and without ``split_by`` if the records
            have several models.
    """
    about = read_json(path.with_name("metadata.json"))
    run = OtherRun(path, path.stem, path.stem, mapping(about.get("env_args")))
    names = (fields.score,) if fields.score else ("score", "correct", "is_correct", "acc", "accuracy", "reward")
    models: dict[str, str] = {}
    filters: dict[str, None] = {}
    lacking = f" in {fields.response}, or without {' or '.join(fields.id)}"

    def convert(place: str, line: Row) -> Iterator[Response]:
        filters.setdefault(str(line.get("filter")))
        if "filtered_resps" in line and str(line.get("filter")) != next(iter(filters)):
            return  # lm_eval logs each response once for each filter
        name_field = next((name for name in line if name.lower() in _MODEL_FIELDS), "model")
        models.setdefault(str(line.get(name_field)), name_field)
        identity = tuple(_at(line, name) for name in fields.id)
        if None in identity:
            raise LookupError
        scores = {f"their_{name}": value for name in names if (value := verdict_of(_at(line, name))) is not None}
        # A record may have the row's fields in an object, such as doc.
        others = {name: value for name, value in line.items() if name != fields.response}
        stated = dict(ChainMap(others, *map(mapping, others.values())))
        for name in fields.response.split(".")[:2]:  # a completion's choices are not those of the question
            stated.pop(name, None)
        for reply in _replies(_at(line, fields.response)):
            yield Response(place, [], reply, scores, tuple(map(str, identity)), stated)

    run.add_records(_kind(path), records, convert, lacking)
    if len(models) > 1 and not fields.split_by:
        name_field = [*models.values()][-1]
        raise MedtasksError(
            f"{path} has {named([*models], 'responses of several models')}; add --split_by {name_field}"
        )
    if fields.score and not any(response.scores for response in run.responses):
        raise MedtasksError(
            f"{path}: no record has a number, true or false, or right or wrong in --score {fields.score}"
        )
    return run


def _at(record: Any, name: str) -> Any:
    """Return a value inside a record by a path such as ``doc.id`` or ``resps.0``; None if a key or index is missing."""
    if isinstance(record, dict) and name in record:
        return record[name]
    first, _, rest = name.partition(".")
    part = mapping(record).get(first)
    if isinstance(record, list):
        with suppress(LookupError, ValueError):
            part = record[int(first)]
    return _at(part, rest) if rest else part


def _replies(value: Any) -> Iterable[Reply]:
    """Return the replies in a field: a text or number, a message, a response of a batch endpoint, or a list of these.

    The reply of a conversation is the model's last message.

    Raises:
        TypeError: for any other kind of value, for lm_eval's pair of a log-likelihood and a truth value, and for
            messages of which none is the model's.
        NoReplyError: for an object that contains no reply.
    """
    if isinstance(value, str) or number(value) is not None:
        return [Reply(str(value))]
    if isinstance(value, list):
        if len(value) == 2 and value[1] in ("True", "False"):
            raise TypeError
        if all(isinstance(item, dict) and "role" in item for item in value):
            of_model = [message for message in value if message["role"].lower() not in _NOT_THE_MODEL]
            value = of_model[-1:] or value[-1:]
        return chain.from_iterable(map(_replies, value))
    if "role" in value:
        if value["role"].lower() in _NOT_THE_MODEL:
            raise TypeError
        return [Reply(content_of(value.get("content")))]
    if "message" in value:
        return _replies(value["message"])
    return read_completion(json.dumps(value.get("body", value))).replies


def verdict_of(value: Any) -> float | None:
    """Convert a number, a truth value, or a word for right or wrong to a score; None for anything else."""
    if isinstance(value, str):
        text = value.strip().lower()
        try:
            value = _VERDICTS[text] if text in _VERDICTS else float(text)
        except ValueError:
            return None
    return number(value)


def _kind(path: Path) -> str:
    """Return the noun for a record of a file: ``row`` for a table, and ``line`` otherwise."""
    return "row" if kind_of(path) in _TABLES else "line"


def _records(path: Path) -> Records:
    """Return the number and the content of each record in a CSV, TSV or Parquet file, JSON array or JSON lines.

    Raises:
        DataError: for a table or an array that cannot be read to its end.
    """
    if kind_of(path) in _TABLES:
        return enumerate(read_rows(path), 1)
    _, first = next(numbered_lines(path), (0, b""))
    start = first.lstrip()[:1]
    if start not in (b"{", b"[") and kind_of(path) not in (".jsonl", ".json"):
        raise MedtasksError(f"{path} is neither JSON nor in .csv, .tsv or .parquet")
    return enumerate(read_rows(path), 1) if start == b"[" else numbered_lines(path)


# ---- inspect_ai


def _member(archive: ZipFile, name: str) -> bytes:
    """Return the content of a file in an archive.

    The file may be compressed with Zstandard, which ``zipfile`` does not support before Python 3.14.
    """
    info = archive.getinfo(name)
    if info.compress_type != _ZSTANDARD:
        return archive.read(name)
    import pyarrow

    # Make zipfile return the compressed bytes; the checksum in the archive is that of the uncompressed bytes.
    info.compress_type, info.file_size = ZIP_STORED, info.compress_size
    del info.CRC
    data: bytes = pyarrow.input_stream(pyarrow.py_buffer(archive.read(info)), compression="zstd").read()
    return data


def _inspect_run(path: Path, header: Row, samples: Iterable[tuple[object, Any]]) -> OtherRun:
    """Create a run from the header and the samples of an inspect_ai log."""
    names = f"{header['eval']['task']} {_at(header, 'eval.dataset.name')}"
    steps = [step.get("params") for step in _at(header, "plan.steps") or ()]
    arguments = {**(_at(header, "eval.task_args") or {}), "steps": steps}
    run = OtherRun(path, str(header["eval"]["model"]), names, arguments, _at(header, "eval.created"))

    def convert(place: str, sample: Row) -> list[Response]:
        """Return the response in a sample; its prompt consists of all messages before the model's first message."""
        # Solved examples are messages of the assistant, too.
        origins = [message["role"] == "assistant" and message.get("source") for message in sample["messages"]]
        first = origins.index("generate") if "generate" in origins else origins.index(None)
        verdicts = {name: verdict_of(score["value"]) for name, score in (sample.get("scores") or {}).items()}
        scores = {f"inspect_{name}": value for name, value in verdicts.items() if value is not None}
        reply, *_ = _replies(sample["output"])
        stated = {"choices": sample.get("choices"), "truth": sample.get("target")}
        return [Response(place, _chat(sample["messages"][:first]), reply, scores, stated=stated)]

    return run.add_records("sample", samples, convert)


# ---- HELM


def _helm_run(path: Path, state: Row) -> OtherRun:
    """Create a run from a ``scenario_state.json``, with the scores from ``per_instance_stats.json``, if any."""
    run = OtherRun(path, str(state["adapter_spec"]["model"]), path.resolve().parent.name)
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    of_instances = path.with_name("per_instance_stats.json")
    for instance in json.loads(of_instances.read_bytes()) if of_instances.exists() else ():
        for stat in instance["stats"]:
            name = stat["name"]["name"]
            if stat.get("mean") is not None and not _NO_SCORES.fullmatch(name):
                scores[instance["instance_id"]][f"helm_{name}"] = float(stat["mean"])

    def convert(place: str, record: Row) -> list[Response]:
        """Return the response in a record, which is the first completion of a request."""
        instance, completion = record["instance"], record["result"]["completions"][0]
        body = {"choices": [{"text": completion["text"], "finish_reason": _at(completion, "finish_reason.reason")}]}
        prompt = record["request"].get("prompt") or instance["input"]["text"]
        choices = instance.get("references", ())
        right = [choice["output"]["text"] for choice in choices if "correct" in choice.get("tags", ())]
        (reply,) = _replies(body)
        return [Response(place, _chat(prompt), reply, scores[instance["id"]], stated={"truth": right})]

    return run.add_records("request", enumerate(state["request_states"], 1), convert)


# ---- the environments that defined the scores


def _environment_run(path: Path) -> OtherRun:
    """Read a run from a ``results.jsonl`` and the ``metadata.json`` next to it."""
    metadata = read_json(path.with_name("metadata.json"))
    environment, _, of_folder = path.resolve().parent.parent.name.partition("--")
    model, names = str(metadata.get("model") or of_folder or environment), str(metadata.get("env_id") or environment)
    run = OtherRun(path, model, names, mapping(metadata.get("env_args")), metadata.get("date"))

    def convert(place: str, line: Row) -> list[Response]:
        """Return the response in a line, whose numbers are scores unless ``_NO_SCORES`` matches their names."""
        completion = line["completion"]
        replies = [message["content"] for message in _chat(completion) if message["role"] in ("assistant", "prompt")]
        reasoning = None if isinstance(completion, str) else completion[-1].get("reasoning_content")
        reply = Reply(replies[-1], reasoning=reasoning)
        scores = {
            f"env_{name}": float(value)
            for name, value in (line | line.get("metrics", {})).items()
            if not (_NO_SCORES.fullmatch(name) or number(value) is None or isinstance(value, bool))
        }
        return [Response(place, _chat(line["prompt"]), reply, scores, stated=_stated(line))]

    return run.add_records("line", numbered_lines(path), convert)


def _traces_run(path: Path) -> OtherRun:
    """Read a run from a ``traces.jsonl``, whose episodes name the environment and the model."""
    environment, _, others = path.resolve().parent.name.partition("--")
    run = OtherRun(path, others.partition("--")[0] or environment, environment)
    for settings in map(read_json, path.resolve().parent.glob("configs/resolved/*.json")):
        run.arguments |= _at(settings, "env.taskset") or {}

    def convert(place: str, line: Row) -> list[Response]:
        """Return the final reply in the first trace of an episode that contains messages of the model.

        The prompt is everything before the model's first message.
        """
        trace = next(filter(_written, line["traces"]))
        nodes, (first, *_, last) = trace["nodes"], 2 * _written(trace)
        run.model, run.names = _at(trace, "agent.config.model") or run.model, f"{_at(line, 'env.id')} {environment}"
        message = nodes[last]["message"]
        call: Row = next((call for call in trace.get("calls") or () if call.get("node") == last), {})
        text = trace.get("root_reply") or content_of(message.get("content"))
        end = _ENDS.get(call.get("finish_reason"), "unknown")
        reply = Reply(text, end, _at(call, "usage.completion_tokens"), message.get("reasoning_content"))
        rewards = {name: reward for name, reward in (trace.get("rewards") or {}).items() if reward}
        scores = {name: reward["score"] for name, reward in rewards.items()} | (trace.get("metrics") or {})
        scores["reward"] = sum(reward["score"] * reward.get("weight", 1) for reward in rewards.values())
        known = {f"env_{name}": float(value) for name, value in scores.items() if number(value) is not None}
        prompt = _chat([node["message"] for node in nodes[:first]])
        return [Response(place, prompt, reply, known, stated=_stated(_at(trace, "task.data") or {}))]

    return run.add_records("line", numbered_lines(path), convert)


def _written(trace: Row) -> list[int]:
    """Return the indices of the model's messages in a trace."""
    return [number for number, node in enumerate(trace["nodes"]) if node.get("sampled")]


def _stated(line: Row) -> Row:
    """Return an environment's facts about a row: the answer, and the fields of ``info``, which may be JSON text."""
    info = line.get("info")
    return {
        **mapping(from_json(info) if isinstance(info, str) and info.startswith("{") else info),
        "truth": line.get("answer"),
    }


def _chat(messages: Any) -> list[Message]:
    """Return messages with only their text; a string becomes one message."""
    if isinstance(messages, str):
        return [{"role": "prompt", "content": messages}]
    return [{"role": message["role"], "content": content_of(message.get("content"))} for message in messages]
