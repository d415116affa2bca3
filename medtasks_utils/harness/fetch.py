"""``medtasks fetch``: data sets, WordNet, Punkt and SciBERT into the caches from which runs read them.

What there is to fetch is read off the benchmarks' cards and the explanation metrics.
Each item is fetched, and looked up, by the code with which a run gets it.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nltk
from huggingface_hub import HfApi, constants, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import filter_repo_objects

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.base import Benchmark, LoadReport, Repository
from medtasks_utils.benchmarks.medexqa.metrics import DEFAULT_BERTSCORE_MODEL
from medtasks_utils.benchmarks.medexqa.metrics.bertscore import MODEL_FILES, BertScore
from medtasks_utils.benchmarks.medexqa.metrics.nltk_data import PUNKT, WORDNET, Package, load
from medtasks_utils.errors import MedtasksError, first_line
from medtasks_utils.harness import catalog, pinned
from medtasks_utils.harness.options import DATA_KEY, options_of
from medtasks_utils.harness.sources import Source

HUB = Source("hub")
_HTTP_ERRORS = (OSError, *HfHubHTTPError.__bases__)
"""What the hub's client raises without a connection: its HTTP library's errors, whichever library that is."""


class FetchError(MedtasksError):
    """Something that could not be downloaded, or is not there."""


@dataclass(frozen=True)
class Item:
    """Something that runs need.

    Attributes:
        name: as ``--only`` has it.
        origin: where it comes from.
        fetch: downloads what is not there yet, and returns the size of all of it in bytes.
        check: loads it without internet, as a run does, and returns its size in bytes.

    Both raise a MedtasksError if it is not to be had whole.
    """

    name: str
    origin: str
    fetch: Callable[[], int]
    check: Callable[[], int]


def _data_set(benchmark: Benchmark, repository: Repository) -> Item:
    """A benchmark's rows in a repository of the hub, or as files of one of GitHub's."""
    name, revision, patterns = repository.name, repository.revision, benchmark.file_patterns
    origin = f"{name} at {revision[:7]}" if revision else name

    def fetch() -> int:
        if repository.files:
            _say(f"{benchmark.name}: {origin}, {len(repository.files)} files")
            return _size(pinned.download(repository))
        files = _listing(name, "dataset", revision, patterns)
        _say(f"{benchmark.name}: {origin}, {_extent(files)}")
        return _verified(HUB.folder(benchmark, repository), files)

    def check() -> int:
        if not repository.files:
            folder = _cached(name, "dataset", revision, patterns)
        elif not pinned.is_cached(repository):
            raise FetchError(f"not in the cache {pinned.cached_folder(repository)}")
        else:
            folder = pinned.cached_folder(repository)
        _load_tasks(benchmark, repository)
        return _size(folder)

    return Item(benchmark.name, origin, fetch, check)


def _load_tasks(benchmark: Benchmark, repository: Repository) -> None:
    """Load every task that reads the repository, and its few-shot examples."""
    manager = catalog.our_manager({DATA_KEY: HUB.name})
    drawn_from = set()
    for settings in catalog.configurations(manager, manager.all_subtasks):
        if not _is_read_by(settings, benchmark, repository):
            continue
        task: Any = manager.load(settings["task"])["tasks"][settings["task"]]
        part = settings.get("dataset_name")
        if settings.get("fewshot_split") and part not in drawn_from:
            drawn_from.add(part)
            benchmark.load(task.files, task.options, task.info, settings["fewshot_split"], LoadReport())


def _is_read_by(settings: Mapping[str, Any], benchmark: Benchmark, repository: Repository) -> bool:
    """Whether a task with these settings in YAML reads the repository."""
    if catalog.benchmark_of(settings) != benchmark.name:
        return False
    return benchmark.repository(options_of(benchmark, settings.get("dataset_kwargs") or {}, {})) == repository


def _nltk_data(name: str, package: Package) -> Item:
    """A package of NLTK's data, for METEOR."""

    def check() -> int:
        for resource in package.places:
            try:
                place = nltk.data.find(resource)
            except LookupError:
                continue
            load(package)
            return _size(Path(str(place)))
        raise FetchError("not in NLTK's data path")

    def fetch() -> int:
        load(package)
        return check()

    return Item(name, f"NLTK's {package.name}", fetch, check)


def _fetch_scibert() -> int:
    """Download BERTScore's default model into the hub's cache; needs no torch."""
    files = _listing(DEFAULT_BERTSCORE_MODEL, "model", None, MODEL_FILES)
    _say(f"scibert: {DEFAULT_BERTSCORE_MODEL}, {_extent(files)}")
    return _verified(Path(snapshot_download(DEFAULT_BERTSCORE_MODEL, allow_patterns=list(MODEL_FILES))), files)


def _check_scibert() -> int:
    """Load the model; without bert-score, see that its files are there."""
    folder = _cached(DEFAULT_BERTSCORE_MODEL, "model", None, MODEL_FILES)
    if importlib.util.find_spec("bert_score"):
        BertScore().prepare()
    elif not any(path.suffix in (".bin", ".safetensors") for path in folder.iterdir()):
        raise FetchError(f"{folder} has no weights")
    return _size(folder)


def items(names: Iterable[str]) -> list[Item]:
    """What the names stand for, in their order."""
    everything = [
        *(
            _data_set(benchmark, repository)
            for benchmark in benchmarks().values()
            for repository in benchmark.repositories.values()
        ),
        _nltk_data("wordnet", WORDNET),
        _nltk_data("punkt_tab", PUNKT),
        Item("scibert", DEFAULT_BERTSCORE_MODEL, _fetch_scibert, _check_scibert),
    ]
    return [item for name in names for item in everything if item.name == name]


def fetch(wanted: Sequence[Item], as_json: bool = False) -> int:
    """Fetch everything that can be had; 0 if that is all, else 1."""
    if constants.HF_HUB_OFFLINE:
        raise FetchError("HF_HUB_OFFLINE is set, so nothing can be downloaded; unset it, or see what is there: --check")
    return _for_each(wanted, lambda item: item.fetch(), as_json)


def check(wanted: Sequence[Item], as_json: bool = False) -> int:
    """Load everything as a run without internet does; 0 if all is there, else 1."""
    logging.getLogger("lm_eval").setLevel(logging.ERROR)  # what a run warns of is not what is asked for
    return _for_each(wanted, lambda item: item.check(), as_json)


def _for_each(wanted: Sequence[Item], get: Callable[[Item], int], as_json: bool) -> int:
    width = max(len(item.origin) for item in wanted)
    told: list[dict[str, Any]] = []
    for item in wanted:
        size, missing = None, None
        try:
            size = get(item)
        except (MedtasksError, *_HTTP_ERRORS) as error:
            missing = first_line(error)
        told.append({"name": item.name, "origin": item.origin, "bytes": size, "missing": missing})
        if not as_json:
            state = f"  MISSING  {missing}" if size is None else f"{_shown(size):>9}"
            print(f"{item.name:<13}  {item.origin:<{width}}  {state}", flush=True)
    sizes = [each["bytes"] for each in told if each["missing"] is None]
    lacking = len(told) - len(sizes)
    if as_json:
        print(json.dumps(told, indent=2))
    else:
        print(f"{len(sizes)} of {len(told)} there, {_shown(sum(sizes))}" + (f"; {lacking} missing" if lacking else ""))
    return 1 if lacking else 0


def _listing(name: str, kind: str, revision: str | None, patterns: Sequence[str]) -> dict[str, int]:
    """The files of a repository that fit the patterns, with their sizes in bytes."""
    try:
        found = HfApi().repo_info(name, repo_type=kind, revision=revision, files_metadata=True).siblings
    except GatedRepoError:
        raise FetchError(
            f"{name} asks for its terms to be accepted on the hub, and for a login: hf auth login"
        ) from None
    except RepositoryNotFoundError:
        raise FetchError(f"the hub has no repository {name}, or it is private") from None
    except RevisionNotFoundError:
        raise FetchError(f"{name} has no revision {revision}") from None
    except _HTTP_ERRORS as error:
        raise FetchError(f"cannot reach the hub at {constants.ENDPOINT} ({first_line(error)})") from None
    sizes = {file.rfilename: file.size or 0 for file in found or ()}
    files = {name: sizes[name] for name in filter_repo_objects(sizes, allow_patterns=list(patterns))}
    if not files:
        raise FetchError(f"{name} has no file {' or '.join(patterns)}")
    return files


def _cached(name: str, kind: str, revision: str | None, patterns: Sequence[str]) -> Path:
    """The folder of a repository in the hub's cache; the newer clients know whether all files are there."""
    try:
        return Path(
            snapshot_download(
                name, repo_type=kind, revision=revision, allow_patterns=list(patterns), local_files_only=True
            )
        )
    except LocalEntryNotFoundError as error:
        amount = "only in part" if hasattr(error, "snapshot_path") else "not"
        raise FetchError(f"{amount} in the hub's cache") from None


def _extent(files: Mapping[str, int]) -> str:
    return f"{len(files)} files, {_shown(sum(files.values()))}"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _verified(folder: Path, files: Mapping[str, int]) -> int:
    """The size of all files, once each is seen to be there whole: without the hub, its client returns what it has."""
    for name, size in files.items():
        path = folder / name
        if not path.is_file() or path.stat().st_size != size:
            raise FetchError(f"{name} is not there whole; run medtasks fetch again to go on")
    return sum(files.values())


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file())


def _shown(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
