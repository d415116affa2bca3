"""How ``medtasks eval`` finds tasks: ours and the user's at once, the harness's own 16,000 files only if need be."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval.tasks import TaskManager

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.yaml_tasks import task_folders
from medtasks_utils.errors import UsageError, logger, meant
from medtasks_utils.harness.catalog import configurations
from medtasks_utils.harness.index import index_of

_MISSPELT = 0.8  # likeness to a name of ours from which a name is taken for it; no name in the harness reaches 0.75


class PackFirst(TaskManager):  # type: ignore[misc]
    """A task manager that knows this pack, and what ``--include_path`` names, at once.

    Reading the harness's own 16,000 task files takes seconds, so it is done when a task is asked for that is not among
    ours, and not otherwise. Our tasks come first: a pattern such as ``med*`` that fits some of them means those; tasks
    of further folders replace ours of the same name.
    """

    def __init__(
        self, include_path: str | Sequence[str] | None = None, metadata: Mapping[str, Any] | None = None
    ) -> None:
        further = [include_path] if isinstance(include_path, str) else list(include_path or ())
        ours = {folder.resolve(): str(folder) for folder in task_folders()}
        self._folders = [*ours.values(), *(folder for folder in further if Path(folder).resolve() not in ours)]
        self._has_defaults = False
        super().__init__(include_path=self._folders, include_defaults=False, metadata=metadata)

    def known(self, pattern: str) -> list[str]:
        """The names among ours and the user's that fit a pattern."""
        return list(super().match_tasks([pattern]))

    def check_name(self, name: str) -> None:
        """See that a name is not one that means something of ours only to people.

        Raises:
            UsageError: for a benchmark that has tasks of other names, and for a task of ours in other spelling or
                misspelt. The harness may have a task of that name, with other prompts and scores.
        """
        if self.known(name) or Path(name).is_dir() or name.endswith(".yaml"):
            return
        if " " in name:
            raise UsageError(f"--tasks: separate names by commas, as in {','.join(name.split())}")
        titles = {each.name: each.default_task for each in benchmarks().values()}
        folded = {_folded(key): task for key, task in [*((key, key) for key in self.all_tasks), *titles.items()]}
        near = [folded[_folded(name)]] if _folded(name) in folded else []
        near = near or difflib.get_close_matches(name, self.all_tasks, cutoff=_MISSPELT)
        if near:
            raise UsageError(
                f"--tasks: there is no task, group or tag {name} here; did you mean {' or '.join(near)}? medtasks eval "
                f"--help lists ours; a task of the harness's by that name is run by lm_eval run --tasks {name}"
            )

    def match_tasks(self, task_list: list[str]) -> list[str]:
        """The names that fit the patterns.

        Raises:
            UsageError: for a name that even the harness does not know.
        """
        found: list[str] = super().match_tasks(task_list)
        if found or any(Path(name).is_dir() for name in task_list):
            return found
        self._read_the_defaults(task_list)
        found = super().match_tasks(task_list)
        if not found:
            raise UsageError(
                f"--tasks: there is no task, group or tag {', '.join(task_list)}, here or in the harness"
                f"{meant(task_list[0], self.all_tasks)}; medtasks eval --help lists ours"
            )
        return found

    def load(self, task_list: Any) -> Any:
        """Build the tasks, each once; a group of the user's may be made of the harness's."""
        wanted = self._without_members(task_list if isinstance(task_list, list) else [task_list])
        unknown = [name for spec in wanted for name in self._unknown(spec)]
        if unknown:
            self._read_the_defaults(unknown)
        return super().load(wanted)

    def _without_members(self, wanted: Sequence[Any]) -> list[Any]:
        """What is to be built, without tasks that a group or tag beside them has too."""
        index = index_of(self)
        tasks = [{str(each.get("task")) for each in configurations(self, [name])} for name in wanted]

        def is_in_another(place: int) -> bool:
            entry = index.get(wanted[place]) if isinstance(wanted[place], str) else None
            others = [each for other, each in enumerate(tasks) if other < place or each > tasks[place]]
            return bool(entry and entry.kind != "GROUP" and any(tasks[place] <= other for other in others))

        return [name for place, name in enumerate(wanted) if not is_in_another(place)]

    def _unknown(self, spec: Any) -> list[str]:
        """Names of tasks that are not indexed: the name itself, or those of a group's members."""
        known = index_of(self)
        name = (spec.get("group") or spec.get("task")) if isinstance(spec, dict) else spec
        if isinstance(name, str) and name in known:
            spec = known[name].settings
        elif isinstance(name, str) and isinstance(spec, str):
            return [name]
        if not isinstance(spec, dict):  # a task that is built already
            return []
        members = spec.get("task")
        if isinstance(members, list):
            return [missing for member in members for missing in self._unknown(member)]
        defined_here = name in known or spec.keys() & {"dataset_path", "custom_dataset", "class"}
        return [] if defined_here else [str(name)]

    def _read_the_defaults(self, wanted: Sequence[str]) -> None:
        if not self._has_defaults:
            self._has_defaults = True
            logger.warning("Reading the harness's own task files too, for %s; this takes a while", ", ".join(wanted))
            super().__init__(include_path=self._folders, metadata=self.metadata)


def _folded(name: str) -> str:
    """A name as people tell names apart: without case, hyphens and underscores."""
    return "".join(character for character in name.lower() if character.isalnum())
