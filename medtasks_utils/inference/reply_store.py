"""Store a run's replies next to its output, so that a restarted or extended run does not request them again.

Each process of a run appends each reply to its own file as soon as it arrives. When the results are saved, the lines
move to the model's archive (:mod:`.reply_files`)::

    results/org__name/replies_1f2e3d4c_5b6a7d8e.jsonl  {"prompt": "<hash>", "replies": [{"text": "…", "ended": "stop",
                                                        "tokens": 312, …}],
                                                        "settings": {"seed": 1234, "max_gen_toks": 2048}}
    results/org__name/replies_1f2e3d4c.jsonl.gz         the same, from finished runs

A reply is looked up by its request as the task made it: method, prompt, settings and seed. Each reply is used once, so
that repeats stay independent. A run reuses replies of unfinished runs, unless ``--fresh`` is set. It uses the archive
only with ``--extend``, since the server may now serve different weights under the same name. A reply that ended on its
own is also used for a different token limit, if it fits within that limit. A reply with fewer tokens than both the
old and the new thinking budget is used for either.
"""

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any

from medtasks_utils.errors import MedtasksError, logger
from medtasks_utils.writing import JsonObject, Settings, counted, digest, without_secrets

from .replies import Reply, as_reply
from .reply_files import archive, files_of_replies, line_of, lock, objects_in, unlocked

Arguments = Sequence[Any]
"""The arguments of a request, as the harness passes them: the prompt, then settings or a continuation."""

_WITHOUT_EFFECT = (
    "num_concurrent",
    "max_retries",
    "timeout",
    "batch_size",
    "device",
    "tensor_parallel_size",
    "gpu_memory_utilization",
    "verify_certificate",
)
"""Model arguments that do not change replies; like secrets, they are not part of the model's identity."""
_THINKING = "thinking_token_budget"  # vLLM's limit on the tokens of a reply's reasoning
_LIMITS = ("max_gen_toks", _THINKING)


@dataclass(eq=False, slots=True)
class _Kept:
    """The kept replies to one request, from an earlier run or, after :meth:`ReplyStore.rewind`, from this one.

    Attributes:
        entry: the object in the line that stores the replies.
        source: the file and the line, if the replies come from an unfinished run; else None.
        conversation: the kept replies to all requests of the request's conversation, if it has more than one; else
            empty.
        is_taken: True if this run has used the replies.
    """

    entry: JsonObject
    source: tuple[Path, bytes] | None
    conversation: "Sequence[_Kept]" = ()
    is_taken: bool = False

    def differences(self, now: Settings) -> list[str]:
        """Return the names of the settings that differ in ``now`` and make the replies unusable.

        An empty list means that the replies can be used.
        """
        before = self.entry["settings"]
        replies = list(chain.from_iterable(kept.entry["replies"] for kept in self.conversation or [self]))
        different = []
        for name in _changed(before, now):
            limits = before.get(name), now.get(name)
            if name not in _LIMITS or not all(_is_within(reply, name, *limits) for reply in replies):
                different.append(name)
        return different


def _changed(before: Settings, now: Settings) -> list[str]:
    """Return the names whose values differ between two mappings."""
    return [name for name in {**before, **now} if before.get(name) != now.get(name)]


def _is_within(reply: Settings, name: str, before: int | None, now: int | None) -> bool:
    """Return whether a reply would be the same with a different limit on tokens; False if there is no old or new limit.

    Args:
        reply: the reply's text, end and number of tokens.
        name: the name of the limit; ``thinking_token_budget`` ends only the reasoning, not the reply.
        before: the limit of the reply; None for no limit.
        now: the different limit; None for no limit.
    """
    tokens = reply["tokens"]
    if not before or not now:
        return False
    if name == _THINKING:
        return tokens is not None and bool(tokens < min(before, now))
    return reply["ended"] == "stop" and bool((tokens or before) <= now)


def identity_of(model: Settings) -> dict[str, str]:
    """Return hashes of a model's kind, arguments and seeds, except those that cannot change its replies."""
    return {name: digest(value) for name, value in without_secrets(model).items() if name not in _WITHOUT_EFFECT}


class ReplyStore:
    """The kept replies of one model in a folder.

    Args:
        folder: the folder of the results, created with the first reply.
        model: the model's kind, arguments and seeds, which identify it.
        fresh: True to ignore the replies of earlier runs.
        extend: True to also reuse replies of finished runs.

    Attributes:
        reused: number of replies reused from earlier runs.
        kept: number of this model's replies in the folder that this run has read or added.
    """

    def __init__(self, folder: Path, model: Settings, fresh: bool = False, extend: bool = False) -> None:
        self.folder = folder
        self.reused = 0
        self._model = identity_of(model)
        self._digest = digest(self._model)
        self._archive = folder / f"replies_{self._digest}.jsonl.gz"
        self._path = folder / f"replies_{self._digest}_{uuid.uuid4().hex[:8]}.jsonl"
        self._by_prompt: dict[str, list[_Kept]] = defaultdict(list)
        self._used: dict[Path, list[bytes]] = defaultdict(list)
        self._first_prompts: dict[str, str] = {}  # the first prompt of each conversation, by the hash of a later prompt
        self._missed: Counter[str] = Counter()
        self._extends, self._is_fresh = extend, fresh
        self._seed: int | None = None
        self._has_several_processes = False
        self._file: IO[bytes] | None = None
        if not fresh:
            self._load_unfinished()
        if extend:
            self._load_archive()
        self.kept = sum(len(kept.entry["replies"]) for kept in chain.from_iterable(self._by_prompt.values()))

    def begin(self, seed: int | None, has_several_processes: bool) -> None:
        """Prepare for a run; with ``--fresh``, move the replies of interrupted runs to the archive.

        Args:
            seed: the seed that the model itself adds to requests; None if it adds none.
            has_several_processes: True if several processes of the run store replies in the folder.
        """
        self._seed, self._has_several_processes = seed, has_several_processes
        if self._is_fresh:
            self._move_to_archive(dict.fromkeys(self._unfinished()))

    # ---- replies of earlier runs

    def _load_unfinished(self) -> None:
        """Read the replies of unfinished runs whose process has ended, and log their number."""
        kept_before: list[_Kept] = []
        for path in self._unfinished():
            with unlocked(path) as has_ended:
                lines = objects_in(path) if has_ended else ()
                kept_before += [_Kept(entry, (path, line)) for line, entry in lines]
        self._add(kept_before)
        if kept_before:
            message = "reusing the replies that earlier runs kept: %d in %s; use --fresh to request them again"
            logger.warning(message, sum(len(kept.entry["replies"]) for kept in kept_before), self.folder)

    def _unfinished(self) -> list[Path]:
        """Return the files of the model's unfinished runs, including those that are still running."""
        return files_of_replies(self.folder, f"{self._digest}_*.jsonl")

    def _load_archive(self) -> None:
        """Read the replies of finished runs; those of the latest run are used first.

        If a run had a task whose replies were all empty, its empty replies are skipped. Without any replies, a warning
        is logged.
        """
        runs: dict[str, list[_Kept]] = defaultdict(list)
        head: JsonObject = {}
        archives = files_of_replies(self.folder, f"{self._digest}.jsonl.gz")
        for _, entry in chain.from_iterable(map(objects_in, archives)):
            if "replies" not in entry:
                head = entry
            elif not head.get("without_text") or _has_text(entry):
                runs[head["run"]].append(_Kept(entry, None))
        for kept_before in reversed(runs.values()):
            self._add(kept_before)
        if not runs:
            logger.warning("--extend: there are no replies to reuse: %s", self._reason_for_no_archive())

    def _reason_for_no_archive(self) -> str:
        """Return why the archive has no reply: no run has finished in the folder, or only runs of other models have."""
        for path in files_of_replies(self.folder, ".jsonl.gz"):
            model = next((entry["model"] for _, entry in objects_in(path) if "model" in entry), self._model)
            changed = _changed(model, self._model)
            if changed:
                return f"the replies in {self.folder} come from a model that differs in {', '.join(changed)}"
        return f"no finished run has kept replies in {self.folder}"

    def _add(self, kept_before: Sequence[_Kept]) -> None:
        """Make the replies of one finished run, or of all unfinished runs, available for :meth:`take`.

        The replies of a conversation with more than one request are linked.
        """
        conversations: dict[Any, list[_Kept]] = defaultdict(list)
        for kept in kept_before:
            prompt = kept.entry["prompt"]
            self._by_prompt[prompt].append(kept)
            conversations[kept.entry.get("first_prompt", prompt), str(kept.entry["settings"])].append(kept)
        for conversation in conversations.values():
            if any("first_prompt" in kept.entry for kept in conversation):
                for kept in conversation:
                    kept.conversation = conversation

    def _request(self, method: str, arguments: Arguments) -> tuple[str, JsonObject]:
        """Return a hash of the method and prompt, and the request's settings without secrets.

        If the settings have no seed, that of the model is added, if it has one. Lists and objects in the settings are
        replaced by hashes.
        """
        prompt, settings = arguments, {}
        if method == "generate_until":
            prompt, settings = [arguments[0], *arguments[2:]], without_secrets(arguments[1])
        if self._seed is not None:
            settings.setdefault("seed", self._seed)
            if settings.get("do_sample") is True:  # models that add a seed themselves do not send do_sample
                del settings["do_sample"]
        for name, value in settings.items():
            if value and isinstance(value, list | dict):
                settings[name] = digest(value)
        return digest([method, prompt], 32), settings

    def take(self, method: str, arguments: Arguments, first: Arguments | None = None) -> list[Any] | None:
        """Return the kept replies to a request, and mark them as used; None if all are used or there are none.

        Args:
            method: the name of the model's method, as lm_eval calls it.
            arguments: the request's arguments.
            first: the arguments of the conversation's first request; None if the request itself is the first.
        """
        prompt, settings = self._request(method, arguments)
        candidates = self._by_prompt.get(prompt, [])
        for kept in candidates:
            if not kept.is_taken and not kept.differences(settings):
                kept.is_taken = True
                if kept.source is not None:
                    path, line = kept.source
                    self._used[path].append(line)
                replies = kept.entry["replies"]
                self.reused += len(replies)
                return [tuple(reply) if method == "loglikelihood" else Reply(**reply) for reply in replies]
        if first is not None:
            self._first_prompts[prompt], _ = self._request(method, first)
        else:
            self._missed[_reason(settings, candidates)] += 1
        return None

    def explain(self) -> None:
        """Log, with ``--extend``, the number of requests to send, and why no kept reply matches them.

        Nothing is logged if there are no kept replies, or if all requests have one.
        """
        if self._extends and self._missed and self._by_prompt:
            reasons = "; ".join(f"{count:,} {reason}" for reason, count in self._missed.items())
            logger.warning(
                "--extend: %s reused; requests to send: %s", counted(self.reused, "reply", "replies"), reasons
            )
        self._missed.clear()

    # ---- replies of this run

    def put(self, method: str, arguments: Arguments, replies: Sequence[Any]) -> None:
        """Append a request's replies to this process's file, and flush it."""
        prompt, settings = self._request(method, arguments)
        entry: JsonObject = {"prompt": prompt, "settings": settings, "replies": replies}
        if method == "generate_until":
            entry["replies"] = [{"text": reply, **as_reply(reply).attributes} for reply in replies]
        if prompt in self._first_prompts:
            entry["first_prompt"] = self._first_prompts.pop(prompt)
        with self._explaining_errors():
            self._file = self._file or self._open()
            self._file.write(line_of(entry) + b"\n")
            self._file.flush()
            self.kept += len(replies)

    def rewind(self) -> None:
        """Make all replies that this run has used or received available again."""
        for kept in chain.from_iterable(self._by_prompt.values()):
            kept.is_taken = False
        if self._file is not None:
            self._add([_Kept(entry, None) for _, entry in objects_in(self._path)])

    def _open(self) -> IO[bytes]:
        """Create and lock this process's file; warn if another run of the model is using the folder."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for path in () if self._has_several_processes else self._unfinished():
            with unlocked(path) as has_ended:
                if not has_ended:
                    message = "another run of this model is in progress in %s: requests that both make are sent twice"
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
                f"cannot store replies in {self.folder} ({error.strerror}): free some space, or make it writable; "
                f"{self.way_on}"
            ) from None

    @property
    def way_on(self) -> str:
        """A sentence on how to continue a run that ended early."""
        return f"replies kept in {self.folder}: {self.kept}; run the same command again to continue where it stopped"

    def close(self) -> None:
        """Close this process's file, if it was opened; this writes replies that are still in the buffer."""
        if self._file is not None:
            with self._explaining_errors():
                self._file.close()

    def end(self, without_text: bool = False) -> None:
        """Close the file, and move the replies received or used to the archive; call this after saving the results.

        With several processes, the replies of all unfinished runs of the model are moved.

        ``without_text`` marks a run with a task whose replies are all empty; ``--extend`` then requests the empty ones
        again.
        """
        self.close()
        sources: dict[Path, list[bytes] | None] = {**self._used, self._path: None}
        if self._has_several_processes:  # each has used some of the replies
            sources = dict.fromkeys(self._unfinished())
        self._move_to_archive(sources, **({"without_text": True} if without_text else {}))

    def _move_to_archive(self, sources: Mapping[Path, list[bytes] | None], **about: bool) -> None:
        """Move the given lines of files to the archive; None means all lines of a file. ``about`` describes the run."""
        with self._explaining_errors():
            archive(self._archive, {"model": self._model, "run": uuid.uuid4().hex, **about}, sources)


def _has_text(entry: Settings) -> bool:
    """Return whether any of the replies in a line has text; a log-likelihood counts as text."""
    return any(not isinstance(reply, dict) or reply["text"].strip() for reply in entry["replies"])


def _reason(settings: Settings, candidates: Sequence[_Kept]) -> str:
    """Return why no kept reply matches a request: the settings that differ in the closest reply to its prompt.

    If no reply to the prompt was kept, or all of them are used, return that instead.
    """
    differences = [kept.differences(settings) for kept in candidates]
    names = min(differences, key=lambda names: len({*names} - {"max_gen_toks"}), default=[])
    return f"with a different value of {', '.join(names)}" if names else "with a prompt that has no unused kept reply"
