"""The answers of a run, kept beside its output until it has ended, so that one that died asks nothing twice.

One file a model, of a line for each reply, written and flushed as it comes::

    results/org__name/answers_1f2e3d4c.jsonl    {"request": "<hash>", "reply": "…", "at": "2026-11-22 18:20:01"}

A reply is found again by a hash of the request as the task made it: method, prompt, settings, seed. Of equal requests
each has a reply of its own, so that repeats stay independent. When the results are saved, the answers that they were
made of go, and the same command asks anew: a server may have other weights under the same name by then.
"""

from __future__ import annotations

import fcntl
import itertools
import json
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from medtasks_utils.errors import MedtasksError, logger
from medtasks_utils.harness.signature import digest
from medtasks_utils.writing import write_whole

_OF_NO_EFFECT = frozenset(
    {
        *("num_concurrent", "max_retries", "timeout", "batch_size", "max_batch_size", "device", "parallelize"),
        *("tensor_parallel_size", "data_parallel_size", "gpu_memory_utilization"),
        *("verify_certificate", "ca_cert_path", "api_key", "token", "auth_token", "header"),
    }
)
"""Arguments of models that do not change what they answer, or are secrets."""
_FIRST_PIECE = 64  # requests
_PIECE_TAKES = 120.0  # seconds; what a model that hands its replies over all at once can lose

Ask = Callable[[Sequence[Any]], list[Any]]


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
        self._used: set[str] = set()
        self._found: dict[str, list[tuple[Any, str]]] = defaultdict(list)
        self._file: IO[str] | None = None
        self._lock = threading.Lock()
        for path in () if fresh else self._paths():
            self._read(path)
        if self._found:
            times = sorted(at for replies in self._found.values() for _, at in replies)
            logger.warning(
                "going on with %d answers that an earlier run kept in %s, from %s to %s; --fresh asks anew",
                len(times),
                folder,
                times[0],
                times[-1],
            )

    def _paths(self) -> list[Path]:
        return sorted(self.folder.glob(f"{self._name}*.jsonl"))

    def _read(self, path: Path) -> None:
        damaged = 0
        for line in path.read_bytes().splitlines():
            try:
                kept = json.loads(line)
                self._found[kept["request"]].append((kept["reply"], kept["at"]))
            except (ValueError, LookupError, TypeError):
                damaged += bool(line)
        if damaged:
            logger.warning("%s: %d damaged lines are left out, and asked again", path, damaged)

    def take(self, method: str, arguments: Iterable[Any]) -> Any:
        """A reply that an earlier run kept, which answers this request and no other; None if there is none."""
        key = _key(method, arguments)
        self._used.add(key)
        if not self._found.get(key):
            return None
        self.taken += 1
        reply, _ = self._found[key].pop(0)
        return tuple(reply) if isinstance(reply, list) else reply

    def put(self, method: str, arguments: Iterable[Any], reply: Any) -> None:
        """Write a reply; it is on its way to the disk when this returns.

        Raises:
            MedtasksError: where it cannot be written.
        """
        key = _key(method, arguments)
        line = json.dumps({"request": key, "reply": reply, "at": time.strftime("%Y-%m-%d %H:%M:%S")}) + "\n"
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
        self._used.add(key)
        self.added += 1

    def _opened(self) -> IO[str]:
        """The first of the model's files that no other process writes to, at its end and on a line of its own."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for number in itertools.count():
            path = self.folder / f"{self._name}{f'_{number}' if number else ''}.jsonl"
            file = path.open("a", encoding="utf-8")
            if _is_ours(file):
                is_cut = path.stat().st_size > 0 and not path.read_bytes().endswith(b"\n")
                file.write("\n" if is_cut else "")
                return file
            file.close()
        raise AssertionError("there is a number for every process")

    @property
    def way_on(self) -> str:
        """How a run that ends early is taken up again, as the end of a line."""
        number = self.taken + self.added
        return f"{number} answers are kept in {self.folder}: the same command goes on where it stopped"

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
        self._file = None

    def used(self, others: Iterable[Iterable[str]] = ()) -> list[str]:
        """The requests of this run, with those of other processes."""
        self._used.update(key for keys in others for key in keys)
        return sorted(self._used)

    def end(self) -> None:
        """Drop the answers of this run, whose results are saved; those to other requests stay."""
        self.close()
        for path in self._paths():
            with path.open("a", encoding="utf-8") as file:
                if not _is_ours(file):
                    continue
                rest = [line for line in path.read_text(encoding="utf-8").splitlines() if self._is_unused(line)]
                if rest:
                    write_whole(path, "\n".join(rest) + "\n")
                else:
                    path.unlink()

    def _is_unused(self, line: str) -> bool:
        try:
            return json.loads(line)["request"] not in self._used
        except (ValueError, LookupError, TypeError):
            return False

    # ---- a model's answers

    def keep(self, model: Any, method: str, hands_over: bool) -> Ask:
        """A method of a model that asks what was not answered before.

        ``hands_over`` says that the model calls its cache hook with each reply as it comes; of another, the requests
        are divided into pieces that take minutes.
        """
        ask: Ask = getattr(model, method)

        def answered(requests: Sequence[Any], **settings: Any) -> list[Any]:
            replies = [self.take(method, request.args) for request in requests]
            lacking = [place for place, reply in enumerate(replies) if reply is None]
            spare = _most(model, len(lacking)) - len(lacking)  # some models exchange data while they generate
            if hands_over and (lacking or spare):
                batch = [requests[place] for place in lacking]
                found = ask([*batch, *[(batch or requests)[-1]] * spare], **settings)
                replies = _filled(replies, lacking, found)
            elif not hands_over:
                for piece in _pieces(lacking):
                    found = ask([requests[place] for place in piece], **settings)
                    replies = _filled(replies, piece, found)
                    for place, reply in zip(piece, found, strict=True):
                        self.put(method, requests[place].args, reply)
            return replies

        return answered


METHODS = ("generate_until", "loglikelihood")


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


def _most(model: Any, count: int) -> int:
    """The largest of all processes' counts; every process has to call it."""
    if model.world_size == 1:
        return count
    import torch

    return int(model.all_gather(torch.tensor(count, device=model.device)).max().item())


def _filled(replies: Sequence[Any], places: Sequence[int], found: Sequence[Any]) -> list[Any]:
    by_place = dict(zip(places, found, strict=False))
    return [by_place.get(place, reply) for place, reply in enumerate(replies)]


def _pieces(places: Sequence[int]) -> Iterator[Sequence[int]]:
    """Places in pieces that take some two minutes each."""
    size, begun = _FIRST_PIECE, 0
    while begun < len(places):
        start = time.monotonic()
        yield places[begun : begun + size]
        begun += size
        wanted = size * _PIECE_TAKES / max(time.monotonic() - start, 1e-3)
        size = int(min(max(wanted, 1), 8 * size))
