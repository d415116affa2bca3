"""Keep a run's answers beside its output, so that a run that crashed asks for none of them again, and can grow later.

Each process of a run has one file, with a line for each reply, written and flushed as it comes; when the results are
saved, its answers go into the model's archive (:mod:`.answer_files`)::

    results/org__name/answers_1f2e3d4c_5b6a7d8e.jsonl  {"prompt": "<hash>", "settings": {"seed": 1234}, "limit": 2048,
                                                        "at": "2026-11-22 18:20:01", "replies": [{"text": "…",
                                                        "ended": "stop", "tokens": 312, …}]}
    results/org__name/answers_1f2e3d4c.jsonl.gz         the same, of runs that have ended

A reply is found by the request as the task made it: method, prompt, settings, seed. Equal requests have a reply each,
so that repeats stay independent. A run takes over answers of unfinished runs; from the archive it takes them only if it
is told to extend the runs that ended, since by then a server may have other weights under the same name. There, a
reply that ended by itself also answers a request with another limit on its length.
"""

import threading
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
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
_PIECE_SECONDS = 120.0  # the work that a crash can lose, for a model that returns all replies of a call at once


class _Request(NamedTuple):
    """What identifies a request.

    Attributes:
        prompt: a hash of the method and the prompt.
        settings: settings by name, without the limit; lists and objects are hashes.
        limit: the most tokens of the reply.
    """

    prompt: str
    settings: dict[str, Any]
    limit: int | None


@dataclass(eq=False)
class _Kept:
    """The replies of an earlier run to one request.

    Attributes:
        entry: the object in the file.
        source: the file and line of an answer of an unfinished run; None for one in the archive.
        conversation: the kept replies to all requests of its conversation, if it has several.
        is_taken: whether this run has used it.
    """

    entry: dict[str, Any]
    source: tuple[Path, bytes] | None
    conversation: "list[_Kept]" = field(default_factory=list)
    is_taken: bool = False

    def differences(self, request: _Request) -> list[str]:
        """Return the names of what makes a request another one than this one's; none if replies could not change."""
        before, now = self.entry["settings"], request.settings
        names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
        does_fit = all(_fits(kept.entry, request.limit) for kept in (self, *self.conversation))
        return names if does_fit else [*names, "max_gen_toks"]


def _fits(entry: Mapping[str, Any], limit: int | None) -> bool:
    """Return whether replies would be the same within a limit: cut there too, or ended by themselves before."""
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
        folder: the folder of the results, made when the first reply comes.
        model: the model's kind, arguments and seeds, which identify it.
        fresh: whether to ignore what an earlier run kept.
        extend: whether to take over answers of runs that ended, too.

    Attributes:
        reused: how many replies of earlier runs were used.
        kept: how many replies are in the folder.
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
        """Read the answers of runs that died, and log how many there are."""
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
        """Return the files of the model's runs that have not ended."""
        return sorted(self.folder.glob(f"{self._name}_*.jsonl"))

    def _load_archive(self) -> None:
        """Read the answers of runs that ended; those of the latest run come first."""
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
            logger.warning("--extend: nothing is taken over: %s", self._reason_for_no_archive())

    def _reason_for_no_archive(self) -> str:
        """Return why there are no answers of runs that ended: there was none, or one of another model."""
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
        """Return what identifies a request; a seed that the model sends by itself is one of its settings."""
        prompt, settings = arguments, {}
        if method == "generate_until":
            prompt, settings = [arguments[0], *arguments[2:]], dict(arguments[1])
        limit = settings.pop("max_gen_toks", None)
        if self._seed is not None:
            settings.setdefault("seed", self._seed)
            if settings.get("do_sample") is True:  # such models are not sent it
                del settings["do_sample"]
        for name, value in settings.items():
            if value and isinstance(value, list | dict):
                settings[name] = digest(value)
        return _Request(digest([method, prompt], 32), settings, limit)

    def take(self, method: str, arguments: Sequence[Any], first: Sequence[Any] | None = None) -> list[Any] | None:
        """Return the replies that an earlier run kept for a request, and remove them; None if there are none.

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
        """Log, for a run that extends others, how many requests it sends, and why no kept answer could be taken."""
        if self._extends and self._missed and self._by_prompt:
            reasons = "; ".join(f"{count:,} {reason}" for reason, count in self._missed.items())
            logger.warning("--extend: %s taken over; sent are %s", counted(self.reused, "answer"), reasons)
        self._missed.clear()

    # ---- answers of this run

    def put(self, method: str, arguments: Sequence[Any], replies: Sequence[Any]) -> None:
        """Write the replies to a request to the file, and flush it.

        Raises:
            MedtasksError: if it cannot be written.
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
        """Create the file of this process, and say if another run of the model is under way in the folder."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for path in () if self._has_several_processes else self._unfinished():
            with unlocked(path) as has_ended:
                if not has_ended:
                    message = "another run of this model is under way in %s: both ask for what they have in common"
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
        """How to continue a run that ended early."""
        return f"{self.kept} answers are kept in {self.folder}: run the same command again to continue where it stopped"

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
        self._file = None

    def end(self) -> None:
        """Move the answers of this run, whose results are saved, into the archive; those that it did not use stay."""
        self.close()
        sources: dict[Path, list[bytes] | None] = {**self._used, self._path: None}
        if self._has_several_processes:  # each of which used some of the answers
            sources = dict.fromkeys(self._unfinished())
        self._archive_lines(self._head, sources)

    def _archive_lines(self, head: Mapping[str, Any], sources: Mapping[Path, list[bytes] | None]) -> None:
        """Move lines of files into the archive, as those of one run."""
        with self._explaining_errors():
            self.folder.mkdir(parents=True, exist_ok=True)
            archive(self._archive, head, sources)

    # ---- a model's answers

    @contextmanager
    def stored_for(self, model: Any) -> Iterator[None]:
        """Within this context, ask a model only for replies that are not stored, and store each new one as it comes."""
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
        """Return a method of a model that asks only for replies that are not stored.

        Args:
            model: the model.
            method: the method's name.
            calls_hook: whether the model calls its cache hook with each reply as it comes. For other models, requests
                are sent in pieces that take a few minutes, and replies are stored after each piece.
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
                for place, reply in zip(piece, new_replies, strict=False):  # without those to the padding
                    replies[place] = reply
                    if not calls_hook:
                        self.put(method, requests[place].args, [reply])
            return replies

        return answer


def _reason(request: _Request, candidates: Sequence[_Kept]) -> str:
    """Return why none of the kept answers to a prompt is an answer to a request: the names of what differs."""
    differences = [kept.differences(request) for kept in candidates]
    names = min(differences, key=lambda names: len({*names} - {"max_gen_toks"}), default=[])
    return f"with other {', '.join(names)}" if names else "with a prompt to which no answer is left"


def _pieces(places: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield places in pieces whose requests take about two minutes each."""
    size, begin = _FIRST_PIECE, 0
    while begin < len(places):
        start = time.monotonic()
        yield places[begin : begin + size]
        begin += size
        size_in_time = size * _PIECE_SECONDS / max(time.monotonic() - start, 1e-3)
        size = int(min(max(size_in_time, 1), 8 * size))
