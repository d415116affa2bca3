"""Store a run's answers beside its output until it has ended, so that a run that crashed asks for none of them again.

Each model has one file (a second, if two processes run it at once), with a line for each reply, written and flushed as
it comes::

    results/org__name/answers_1f2e3d4c_0.jsonl  {"request": "<hash>", "reply": "…", "at": "2026-11-22 18:20:01",
                                                 "ended": "stop", "tokens": 312}

A reply is found by a hash of the request as the task made it: method, prompt, settings, seed. Equal requests have a
reply each, so that repeats stay independent. When the results are saved, the answers behind them are deleted, and the
same command asks anew: by then a server may have other weights under the same name.
"""

import fcntl
import json
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

from medtasks_utils.errors import MedtasksError, logger
from medtasks_utils.writing import write_whole

from .models import most_in_any_process
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


class AnswerStore:
    """The stored replies of one model in a folder.

    Args:
        folder: the folder of the results, made when the first reply comes.
        model: the model's kind, arguments and seeds, which identify it.
        fresh: whether to ignore what an earlier run stored.

    Attributes:
        reused: how many replies of an earlier run were used.
        added: how many replies this run stored.
    """

    def __init__(self, folder: Path, model: Mapping[str, Any], fresh: bool = False) -> None:
        self.folder = folder
        self.reused = 0
        self.added = 0
        self._name = f"answers_{digest({key: model[key] for key in model if key not in _WITHOUT_EFFECT})}"
        self._entries: dict[str, list[dict[str, Any]]] = defaultdict(list)  # of earlier runs, by hash of the request
        self._has_several_processes = False
        self._file: IO[str] | None = None
        self._lock = threading.Lock()
        if not fresh:
            self._load()

    def _load(self) -> None:
        """Read the entries of earlier runs, and log how many there are."""
        for path in self._paths():
            for line in filter(None, path.read_bytes().splitlines()):
                try:
                    entry = json.loads(line)
                    self._entries[entry["request"]].append(entry)
                except ValueError:
                    logger.warning("%s: skipped a damaged line; its request is sent again", self.folder)
        times = sorted(entry["at"] for entry in chain.from_iterable(self._entries.values()))
        if times:
            message = "reusing %d answers that an earlier run kept in %s, from %s to %s; --fresh asks for them anew"
            logger.warning(message, len(times), self.folder, times[0], times[-1])

    def _paths(self) -> list[Path]:
        """Return the model's files in the folder."""
        return sorted(self.folder.glob(f"{self._name}*.jsonl"))

    def take(self, method: str, arguments: Iterable[Any]) -> Any:
        """Return the reply that an earlier run stored for a request, and remove it; None if there is none."""
        entries = self._entries.get(_key(method, arguments))
        if not entries:
            return None
        self.reused += 1
        entry = entries.pop(0)
        if method == "loglikelihood":
            return tuple(entry["reply"])
        return Reply(entry["reply"], entry.get("ended", "unknown"), entry.get("tokens"), entry.get("reasoning"))

    def put(self, method: str, arguments: Iterable[Any], reply: Any) -> None:
        """Write a reply to the file, and flush it.

        Raises:
            MedtasksError: if it cannot be written.
        """
        at = time.strftime("%Y-%m-%d %H:%M:%S")
        facts = {name: fact for name, fact in as_reply(reply).facts.items() if fact} if isinstance(reply, str) else {}
        line = json.dumps({"request": _key(method, arguments), "reply": reply, "at": at, **facts}) + "\n"
        try:
            with self._lock:
                self._file = self._file or self._open()
                self._file.write(line)
                self._file.flush()
        except OSError as error:
            raise MedtasksError(
                f"cannot store answers in {self.folder} ({error.strerror or error}): free some space and run the same "
                "command again, which continues where it stopped, or add --no_keep to store none"
            ) from None
        self.added += 1

    def _open(self) -> IO[str]:
        """Open the first of the model's files that no other process writes to, at the start of a new line."""
        self.folder.mkdir(parents=True, exist_ok=True)
        number = 0
        while not _lock_file(file := (self.folder / f"{self._name}_{number}.jsonl").open("a", encoding="utf-8")):
            file.close()
            number += 1
        file.write("\n" if file.tell() else "")  # the last line may have been cut
        return file

    @property
    def way_on(self) -> str:
        """How to continue a run that ended early."""
        number = self.reused + self.added
        return f"{number} answers are kept in {self.folder}: run the same command again to continue where it stopped"

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
        self._file = None

    def end(self) -> None:
        """Delete the answers of this run, whose results are saved; entries that it did not use stay."""
        self.close()
        # With several processes, each of them used only some of the entries.
        unused = () if self._has_several_processes else chain.from_iterable(self._entries.values())
        text = "".join(json.dumps(entry) + "\n" for entry in unused)
        for path in self._paths():
            with path.open("a", encoding="utf-8") as file:
                if _lock_file(file):
                    path.unlink()
        if text:
            write_whole(self.folder / f"{self._name}_0.jsonl", text)

    # ---- a model's answers

    @contextmanager
    def stored_for(self, model: Any) -> Iterator[None]:
        """Within this context, ask a model only for replies that are not stored, and store each new one as it comes."""
        # vLLM calls its cache hook with settings that no request had; other models never call it, or only at the end.
        calls_hook = any(kind.__name__ in ("TemplateAPI", "HFLM") for kind in type(model).__mro__)
        hook = model.cache_hook

        def add_partial(method: str, request: Iterable[Any], reply: Any) -> None:
            hook.add_partial(method, request, reply)
            if method in _METHODS:
                self.put(method, request, reply)

        self._has_several_processes = model.world_size > 1
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
            replies = [self.take(method, request.args) for request in requests]
            unanswered = [place for place, reply in enumerate(replies) if reply is None]
            for piece in [unanswered] if calls_hook else _pieces(unanswered):
                batch = [requests[place] for place in piece]
                size = most_in_any_process(model, len(batch)) if calls_hook else len(batch)
                padding = [(batch or requests)[-1]] * (size - len(batch))
                new_replies = ask([*batch, *padding], **settings) if size else []
                for place, reply in zip(piece, new_replies, strict=False):  # without those to the padding
                    replies[place] = reply
                    if not calls_hook:
                        self.put(method, requests[place].args, reply)
            return replies

        return answer


def _lock_file(file: IO[str]) -> bool:
    """Return whether this process now holds a file's lock; True where the file system has no locks."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def _key(method: str, arguments: Iterable[Any]) -> str:
    """Return the hash under which the reply to a request is stored."""
    text = json.dumps([method, *arguments], sort_keys=True, default=str)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _pieces(places: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield places in pieces whose requests take about two minutes each."""
    size, begin = _FIRST_PIECE, 0
    while begin < len(places):
        start = time.monotonic()
        yield places[begin : begin + size]
        begin += size
        size_in_time = size * _PIECE_SECONDS / max(time.monotonic() - start, 1e-3)
        size = int(min(max(size_in_time, 1), 8 * size))
