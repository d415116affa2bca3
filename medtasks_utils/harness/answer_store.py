"""Keep a run's answers beside its output, so that a run that crashed, or grows later, does not ask for them again.

Each process of a run has one file and writes each reply to it as a line, at once; when the results are saved, the lines
move to the model's archive (:mod:`.answer_files`)::

    results/org__name/answers_1f2e3d4c_5b6a7d8e.jsonl  {"prompt": "<hash>", "settings": {"seed": 1234}, "limit": 2048,
                                                        "at": "2026-11-22 18:20:01", "replies": [{"text": "…",
                                                        "ended": "stop", "tokens": 312, …}]}
    results/org__name/answers_1f2e3d4c.jsonl.gz         the same, from finished runs

A reply is found by its request as the task made it: method, prompt, settings, seed. Equal requests have a reply each,
so that repeats stay independent. A run takes over answers of unfinished runs. It takes answers from the archive only
with ``--extend``, since by then a server may serve other weights under the same name. A reply that ended by itself also
answers a request with another token limit, if it fits that limit.
"""

import threading
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, NamedTuple

from medtasks_utils.errors import MedtasksError, logger
from medtasks_utils.writing import counted

from .answer_files import archive, line_of, lock, objects_in, unlocked
from .models import most_in_any_process, seed_of
from .replies import Reply, as_reply
from .signature import digest

_WITHOUT_EFFECT = (
    "num_concurrent", "max_retries", "timeout", "batch_size", "device",
    "tensor_parallel_size", "gpu_memory_utilization", "verify_certificate",
    "api_key", "token", "auth_token", "header",
)  # fmt: skip
"""Model arguments that do not change the replies, or are secrets."""
_METHODS = ("generate_until", "loglikelihood")
_FIRST_PIECE = 64  # requests
_PIECE_SECONDS = 120.0  # the most work lost in a crash, for a model that returns all replies of a call at once


class _Request(NamedTuple):
    """The identity of a request.

    Attributes:
        prompt: a hash of the method and the prompt.
        settings: settings by name, without the limit; lists and objects are replaced by hashes.
        limit: the most tokens that the reply may have; None for no limit.
    """

    prompt: str
    settings: dict[str, Any]
    limit: int | None


@dataclass(eq=False, slots=True)
class _Kept:
    """The replies of an earlier run to one request.

    Attributes:
        entry: the object on the line of the file.
        source: the file and line, if the run is unfinished; None for an answer in the archive.
        conversation: the kept replies to all requests of its conversation, if it has several.
        is_taken: whether this run has used it.
    """

    entry: dict[str, Any]
    source: tuple[Path, bytes] | None
    conversation: "Sequence[_Kept]" = ()
    is_taken: bool = False

    def differences(self, request: _Request) -> list[str]:
        """Return the names of settings by which a request differs; empty if the kept replies are valid for it."""
        before, now = self.entry["settings"], request.settings
        names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
        does_fit = all(_fits(kept.entry, request.limit) for kept in (self, *self.conversation))
        return names if does_fit else [*names, "max_gen_toks"]


def _fits(entry: Mapping[str, Any], limit: int | None) -> bool:
    """Return whether replies would be the same under a limit: it is unchanged, or they ended within it."""
    before = entry["limit"]
    if limit == before or limit is None or before is None:
        return bool(limit == before)
    return all(
        reply["ended"] == "stop" and (limit > before or (reply["tokens"] or limit + 1) <= limit)
        for reply in entry["replies"]
    )


class AnswerStore:
    """The kept replies of one model in a folder.

    Args:
        folder: the folder of the results, created with the first reply.
        model: the model's kind, arguments and seeds, which identify it.
        fresh: whether to ignore what an earlier run kept.
        extend: whether to also take over answers of finished runs.

    Attributes:
        reused: the number of replies of earlier runs that were used.
        kept: the number of this model's replies in the folder.
    """

    def __init__(self, folder: Path, model: Mapping[str, Any], fresh: bool = False, extend: bool = False) -> None:
        self.folder = folder
        self.reused = self.kept = 0
        identity = {name: digest(value) for name, value in model.items() if name not in _WITHOUT_EFFECT}
        self._head: dict[str, Any] = {"model": identity, "run": uuid.uuid4().hex[:8]}
        self._name = f"answers_{digest(identity)}"
        self._archive = folder / f"{self._name}.jsonl.gz"
        self._path = folder / f"{self._name}_{self._head['run']}.jsonl"
        self._by_prompt: dict[str, list[_Kept]] = defaultdict(list)
        self._used: dict[Path, list[bytes]] = defaultdict(list)
        self._first_prompts: dict[str, str] = {}  # of conversations, by the hash of a further prompt
        self._missed: Counter[str] = Counter()
        self._extends, self._is_fresh = extend, fresh
        self._seed: int | None = None
        self._has_several_processes = False
        self._file: IO[bytes] | None = None
        self._lock = threading.Lock()
        if not fresh:
            self._load_unfinished()
        if extend:
            self._load_archive()

    # ---- answers of earlier runs

    def _load_unfinished(self) -> None:
        """Read the answers of unfinished runs whose process has ended, and log how many there are."""
        kept_before: list[_Kept] = []
        for path in self._unfinished():
            with unlocked(path) as has_ended:
                lines = objects_in(path) if has_ended else ()
                kept_before += [_Kept(entry, (path, line)) for line, entry in lines]
        self._add(kept_before)
        if kept_before:
            times = sorted(kept.entry["at"] for kept in kept_before)
            message = "reusing %d answers that an earlier run kept in %s, from %s to %s; --fresh asks for them anew"
            logger.warning(message, len(times), self.folder, times[0], times[-1])

    def _unfinished(self) -> list[Path]:
        """Return the files of the model's unfinished runs, including running ones."""
        return sorted(self.folder.glob(f"{self._name}_*.jsonl"))

    def _load_archive(self) -> None:
        """Read the answers of finished runs, the latest run first."""
        runs: dict[str, list[_Kept]] = {}
        run: list[_Kept] = []
        if self._archive.exists():
            for _, entry in objects_in(self._archive):
                if "run" in entry:
                    run = runs.setdefault(entry["run"], [])
                else:
                    run.append(_Kept(entry, None))
        for kept_before in reversed(runs.values()):
            self._add(kept_before)
        if not runs:
            logger.warning("--extend: there are no answers to take over: %s", self._reason_for_no_archive())

    def _reason_for_no_archive(self) -> str:
        """Return why the archive has no answers: no run has finished here, or only runs of another model."""
        for path in sorted(self.folder.glob("answers_*.jsonl.gz")):
            head = next((entry for _, entry in objects_in(path) if "model" in entry), self._head)
            before, now = head["model"], self._head["model"]
            changed = [name for name in {**before, **now} if before.get(name) != now.get(name)]
            if changed:
                return f"the answers in {self.folder} are of a model with other {', '.join(changed)}"
        return f"no run that ended has kept answers in {self.folder}"

    def _add(self, kept_before: Sequence[_Kept]) -> None:
        """Add the answers of a run, or of all unfinished runs."""
        self.kept += sum(len(kept.entry["replies"]) for kept in kept_before)
        conversations: dict[Any, list[_Kept]] = defaultdict(list)
        for kept in kept_before:
            self._by_prompt[kept.entry["prompt"]].append(kept)
            if "first_prompt" in kept.entry:
                conversations[kept.entry["first_prompt"], str(kept.entry["settings"])].append(kept)
        for kept in kept_before if conversations else ():
            first_prompt = kept.entry.get("first_prompt", kept.entry["prompt"])
            kept.conversation = conversations[first_prompt, str(kept.entry["settings"])]
            if "first_prompt" not in kept.entry:
                kept.conversation.append(kept)

    def _request(self, method: str, arguments: Sequence[Any]) -> _Request:
        """Return the identity of a request; its settings include a seed that the model sends by itself."""
        prompt, settings = arguments, {}
        if method == "generate_until":
            prompt, settings = [arguments[0], *arguments[2:]], dict(arguments[1])
        limit = settings.pop("max_gen_toks", None)
        if self._seed is not None:
            settings.setdefault("seed", self._seed)
            if settings.get("do_sample") is True:  # models with a seed of their own are not sent it
                del settings["do_sample"]
        for name, value in settings.items():
            if value and isinstance(value, list | dict):
                settings[name] = digest(value)
        return _Request(digest([method, prompt], 32), settings, limit)

    def take(self, method: str, arguments: Sequence[Any], first: Sequence[Any] | None = None) -> list[Any] | None:
        """Return the replies that an earlier run kept for a request, at most once each; None if there are none left.

        Args:
            method: the method of lm_eval's models.
            arguments: the request's arguments.
            first: the arguments of the first request of the conversation, if this is a further one.
        """
        request = self._request(method, arguments)
        candidates = self._by_prompt.get(request.prompt, [])
        for kept in candidates:
            if not kept.is_taken and not kept.differences(request):
                kept.is_taken = True
                if kept.source is not None:
                    path, line = kept.source
                    self._used[path].append(line)
                replies = kept.entry["replies"]
                self.reused += len(replies)
                return [tuple(reply) if method == "loglikelihood" else Reply(**reply) for reply in replies]
        if first is not None:
            self._first_prompts[request.prompt] = self._request(method, first).prompt
        else:
            self._missed[_reason(request, candidates)] += 1
        return None

    def explain(self) -> None:
        """Log, under ``--extend``, how many requests are sent, and why no kept answer fits them."""
        if self._extends and self._missed and self._by_prompt:
            reasons = "; ".join(f"{count:,} {reason}" for reason, count in self._missed.items())
            logger.warning("--extend: %s taken over; still to ask: %s", counted(self.reused, "answer"), reasons)
        self._missed.clear()

    # ---- answers of this run

    def put(self, method: str, arguments: Sequence[Any], replies: Sequence[Any]) -> None:
        """Append the replies to a request to this process's file, and flush it.

        Raises:
            MedtasksError: if the file cannot be written.
        """
        request = self._request(method, arguments)
        entry = {**request._asdict(), "at": time.strftime("%Y-%m-%d %H:%M:%S"), "replies": replies}
        if method == "generate_until":
            entry["replies"] = [{"text": reply, **as_reply(reply).facts} for reply in replies]
        if request.prompt in self._first_prompts:
            entry["first_prompt"] = self._first_prompts.pop(request.prompt)
        with self._lock, self._explaining_errors():
            self._file = self._file or self._open()
            self._file.write(line_of(entry) + b"\n")
            self._file.flush()
            self.kept += len(replies)

    def _open(self) -> IO[bytes]:
        """Create and lock the file of this process, and warn if another run of the model is under way in the folder."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for path in () if self._has_several_processes else self._unfinished():
            with unlocked(path) as has_ended:
                if not has_ended:
                    message = "another run of this model is under way in %s: requests that both need are sent twice"
                    logger.warning(message, self.folder)
        file = self._path.open("xb")
        lock(file, wait=True)
        return file

    @contextmanager
    def _explaining_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise MedtasksError(
                f"cannot store answers in {self.folder} ({error.strerror or error}): free some space and run the same "
                "command again, which continues where it stopped, or add --no_keep to store none"
            ) from None

    @property
    def way_on(self) -> str:
        """A sentence on how to continue a run that ended early."""
        return f"{self.kept} answers are kept in {self.folder}: run the same command again to continue where it stopped"

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
        self._file = None

    def end(self) -> None:
        """Move the answers that this run made or used into the archive, after its results are saved; others stay."""
        self.close()
        sources: dict[Path, list[bytes] | None] = {**self._used, self._path: None}
        if self._has_several_processes:  # each of which used some of the answers
            sources = dict.fromkeys(self._unfinished())
        self._archive_lines(self._head, sources)

    def _archive_lines(self, head: Mapping[str, Any], sources: Mapping[Path, list[bytes] | None]) -> None:
        """Move lines of files into the archive, under the head of one run; None stands for all lines of a file."""
        with self._explaining_errors():
            self.folder.mkdir(parents=True, exist_ok=True)
            archive(self._archive, head, sources)

    # ---- a model's answers

    @contextmanager
    def stored_for(self, model: Any) -> Iterator[None]:
        """Return a context in which a model is asked only for replies that are not stored; it stores the new ones."""
        # vLLM calls its cache hook with settings that no request had; other models never call it, or only at the end.
        calls_hook = any(kind.__name__ in ("TemplateAPI", "HFLM") for kind in type(model).__mro__)
        hook = model.cache_hook

        def add_partial(method: str, request: Sequence[Any], reply: Any) -> None:
            hook.add_partial(method, request, reply)
            if method in _METHODS:
                self.put(method, request, [reply])

        self._has_several_processes = model.world_size > 1
        self._seed = seed_of(model, {})
        if self._is_fresh:
            self._archive_lines({**self._head, "run": uuid.uuid4().hex[:8]}, dict.fromkeys(self._unfinished()))
        for method in _METHODS:
            setattr(model, method, self._answering(model, method, calls_hook))
        if calls_hook:
            model.set_cache_hook(SimpleNamespace(add_partial=add_partial, dbdict=hook.dbdict))
        try:
            yield
        finally:
            for method in _METHODS:
                vars(model).pop(method, None)
            model.set_cache_hook(hook)
            if self._has_several_processes:  # the first of which ends the run for all
                self.close()

    def _answering(self, model: Any, method: str, calls_hook: bool) -> Callable[..., list[Any]]:
        """Return a replacement for a model's method that asks only for replies that are not stored.

        Args:
            model: the model.
            method: the method's name.
            calls_hook: whether the model calls its cache hook with each reply as it comes. For other models, requests
                are sent in pieces of about two minutes each, and replies are stored after each piece.
        """
        ask: Callable[..., list[Any]] = getattr(model, method)

        def answer(requests: Sequence[Any], **settings: Any) -> list[Any]:
            kept = [self.take(method, request.args, getattr(request, "first", None)) for request in requests]
            self.explain()
            replies = [of_request and of_request[0] for of_request in kept]
            unanswered = [place for place, reply in enumerate(replies) if reply is None]
            for piece in [unanswered] if calls_hook else _pieces(unanswered):
                batch = [requests[place] for place in piece]
                size = most_in_any_process(model, len(batch)) if calls_hook else len(batch)
                padding = [(batch or requests)[-1]] * (size - len(batch))
                new_replies = ask([*batch, *padding], **settings) if size else []
                for place, reply in zip(piece, new_replies, strict=False):  # replies to the padding are dropped
                    replies[place] = reply
                    if not calls_hook:
                        self.put(method, requests[place].args, [reply])
            return replies

        return answer


def _reason(request: _Request, candidates: Sequence[_Kept]) -> str:
    """Return why no kept answer to the same prompt fits a request, by the settings that differ in the closest one."""
    differences = [kept.differences(request) for kept in candidates]
    names = min(differences, key=lambda names: len({*names} - {"max_gen_toks"}), default=[])
    return f"with other {', '.join(names)}" if names else "with a prompt to which no answer is left"


def _pieces(places: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield indices in pieces whose requests take about two minutes, by the time that the last piece took."""
    size, begin = _FIRST_PIECE, 0
    while begin < len(places):
        start = time.monotonic()
        yield places[begin : begin + size]
        begin += size
        size_in_time = size * _PIECE_SECONDS / max(time.monotonic() - start, 1e-3)
        size = int(min(max(size_in_time, 1), 8 * size))
