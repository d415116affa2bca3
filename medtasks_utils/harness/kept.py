"""The answers of a run, kept beside its output until it has ended, so that one that died asks nothing twice.

One file a model (a second, where two processes run it), of a line for each reply, written and flushed as it comes::

    results/org__name/answers_1f2e3d4c_0.jsonl  {"request": "<hash>", "reply": "…", "at": "2026-11-22 18:20:01"}

A reply is found again by a hash of the request as the task made it: method, prompt, settings, seed. Of equal requests
each has a reply of its own, so that repeats stay independent. When the results are saved, the answers that they were
made of go, and the same command asks anew: a server may have other weights under the same name by then.
"""

import fcntl
import json
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

from medtasks_utils.errors import MedtasksError, logger
from medtasks_utils.writing import write_whole

from .models import most_in_any_process
from .signature import digest

_OF_NO_EFFECT = (
    "num_concurrent", "max_retries", "timeout", "batch_size", "device",
    "tensor_parallel_size", "gpu_memory_utilization", "verify_certificate",
    "api_key", "token", "auth_token", "header",
)  # fmt: skip
"""Arguments of models that do not change what they answer, or are secrets."""
_METHODS = ("generate_until", "loglikelihood")
_FIRST_PIECE = 64  # requests
_PIECE_TAKES = 120.0  # seconds; what a model that hands its replies over all at once can lose


class KeptAnswers:
    """The replies of one model in a folder.

    Args:
        folder: beside the results; made when the first reply comes.
        model: its kind, arguments and seeds, which make it the model that it is.
        fresh: whether to ask anew what an earlier run kept.
    """

    def __init__(self, folder: Path, model: Mapping[str, Any], fresh: bool = False) -> None:
        self.folder = folder
        self.taken = 0
        self.added = 0
        self._name = f"answers_{digest({key: model[key] for key in model if key not in _OF_NO_EFFECT})}"
        self._found: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._are_several = False  # processes, each of which takes some of what was found
        self._file: IO[str] | None = None
        self._lock = threading.Lock()
        kept = [] if fresh else [text for path in self._paths() for text in path.read_bytes().splitlines() if text]
        for text in kept:
            try:
                line = json.loads(text)
                self._found[line["request"]].append(line)
            except ValueError:
                logger.warning("%s: a damaged line is left out, and asked again", folder)
        times = sorted(line["at"] for lines in self._found.values() for line in lines)
        if times:
            said = "going on with %d answers that an earlier run kept in %s, from %s to %s; --fresh asks anew"
            logger.warning(said, len(times), folder, times[0], times[-1])

    def _paths(self) -> list[Path]:
        return sorted(self.folder.glob(f"{self._name}*.jsonl"))

    def take(self, method: str, arguments: Iterable[Any]) -> Any:
        """A reply that an earlier run kept, which answers this request and no other; None if there is none."""
        lines = self._found.get(_key(method, arguments))
        if not lines:
            return None
        self.taken += 1
        reply = lines.pop(0)["reply"]
        return tuple(reply) if method == "loglikelihood" else reply

    def put(self, method: str, arguments: Iterable[Any], reply: Any) -> None:
        """Write a reply; it is on its way to the disk when this returns.

        Raises:
            MedtasksError: where it cannot be written.
        """
        at = time.strftime("%Y-%m-%d %H:%M:%S")
        line = json.dumps({"request": _key(method, arguments), "reply": reply, "at": at}) + "\n"
        try:
            with self._lock:
                self._file = self._file or self._opened()
                self._file.write(line)
                self._file.flush()
        except OSError as error:
            raise MedtasksError(
                f"answers cannot be kept in {self.folder} ({error.strerror or error}): make room, and the same command "
                "goes on where it stopped; --no_keep goes without"
            ) from None
        self.added += 1

    def _opened(self) -> IO[str]:
        """The first of the model's files that no other process writes to, at its end and on a line of its own."""
        self.folder.mkdir(parents=True, exist_ok=True)
        number = 0
        while not _is_ours(file := (self.folder / f"{self._name}_{number}.jsonl").open("a", encoding="utf-8")):
            file.close()
            number += 1
        file.write("\n" if file.tell() else "")  # after a line that may be cut
        return file

    @property
    def way_on(self) -> str:
        """How a run that ends early is taken up again."""
        number = self.taken + self.added
        return f"{number} answers are kept in {self.folder}: the same command goes on where it stopped"

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
        self._file = None

    def end(self) -> None:
        """Drop the answers of this run, whose results are saved; what it did not take over stays."""
        self.close()
        found = () if self._are_several else self._found.values()
        left = "".join(json.dumps(line) + "\n" for lines in found for line in lines)
        for path in self._paths():
            with path.open("a", encoding="utf-8") as file:
                if _is_ours(file):
                    path.unlink()
        if left:
            write_whole(self.folder / f"{self._name}_0.jsonl", left)

    # ---- a model's answers

    @contextmanager
    def of(self, model: Any) -> Iterator[None]:
        """Within this, the model is asked only what it has not answered before, and each reply is kept as it comes."""
        # vLLM calls its hook with settings that no request had; others call it with nothing, or when all is over.
        hands_over = any(kind.__name__ in ("TemplateAPI", "HFLM") for kind in type(model).__mro__)
        hook = model.cache_hook

        def add_partial(method: str, request: Iterable[Any], reply: Any) -> None:
            hook.add_partial(method, request, reply)
            if method in _METHODS:
                self.put(method, request, reply)

        self._are_several = model.world_size > 1
        for method in _METHODS:
            setattr(model, method, self._answering(model, method, hands_over))
        if hands_over:
            model.set_cache_hook(SimpleNamespace(add_partial=add_partial, dbdict=hook.dbdict))
        try:
            yield
        finally:
            for method in _METHODS:
                vars(model).pop(method, None)
            model.set_cache_hook(hook)
            self.close()

    def _answering(self, model: Any, method: str, hands_over: bool) -> Callable[..., list[Any]]:
        """A method of a model that asks what was not answered before.

        ``hands_over`` says that the model calls its cache hook with each reply as it comes; of another, the requests
        are divided into pieces that take minutes.
        """
        ask: Callable[..., list[Any]] = getattr(model, method)

        def answered(requests: Sequence[Any], **settings: Any) -> list[Any]:
            replies = [self.take(method, request.args) for request in requests]
            lacking = [place for place, reply in enumerate(replies) if reply is None]
            for piece in [lacking] if hands_over else _pieces(lacking):
                batch = [requests[place] for place in piece]
                most = most_in_any_process(model, len(batch)) if hands_over else len(batch)
                padding = [(batch or requests)[-1]] * (most - len(batch))
                found = ask([*batch, *padding], **settings) if most else []
                for place, reply in zip(piece, found, strict=False):
                    replies[place] = reply
                    if not hands_over:
                        self.put(method, requests[place].args, reply)
            return replies

        return answered


def _is_ours(file: IO[str]) -> bool:
    """Whether no other process has a file; where a file system knows no locks, none has."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def _key(method: str, arguments: Iterable[Any]) -> str:
    text = json.dumps([method, *arguments], sort_keys=True, default=str)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _pieces(places: Sequence[int]) -> Iterator[Sequence[int]]:
    """Places in pieces that take some two minutes each."""
    size, begun = _FIRST_PIECE, 0
    while begun < len(places):
        start = time.monotonic()
        yield places[begun : begun + size]
        begun += size
        wanted = size * _PIECE_TAKES / max(time.monotonic() - start, 1e-3)
        size = int(min(max(wanted, 1), 8 * size))
