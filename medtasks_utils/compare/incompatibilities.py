"""Find the differences between two results' signatures that rule out a comparison, or deserve a warning."""

from typing import NamedTuple

from medtasks_utils.harness.signature import parse
from medtasks_utils.results import TaskRun

_COMPARABLE_ONLY_IF_EQUAL = {
    "rows": "the rows differ",
    "n": "the numbers of examples differ",
    "prompt": "the prompts differ",
    "prompts": "the prompts differ",
    "shots": "the numbers of few-shot examples differ",
    "opts": "the options differ",
    "scorers": "the explanation metrics or judges, or their versions, differ",
    "filter": "the filters differ",
    "v": "the task's versions differ",
}
_WORTH_A_WARNING = {
    "chat": "one run applied a chat template and the other did not",
    "rendered": "the chat templates received different messages, switches or dates",
    "gen": "the generation settings differ",
    "repeats": "the numbers of generations per example differ",
}
_IRRELEVANT = {"task", "data", "select"}  # "rows" covers what matters in these
_OF_PROMPTS = {"prompt", "prompts"}  # hashes of prompts, or in earlier results of their templates


class Incompatibility(NamedTuple):
    """A field in which two signatures differ; ``not_comparable`` is True if it rules out a comparison."""

    field: str
    message: str
    not_comparable: bool


def incompatibilities(a: TaskRun, b: TaskRun, filter_name: str) -> list[Incompatibility]:
    """Return the differences that rule out a comparison of two results of a task, or deserve a warning.

    The source of the rows and the options that chose them do not matter if the rows are equal. A field that only one
    signature has counts as a difference, so that signatures of different versions cause at least a warning. If one of
    the signatures is missing, the list is empty.
    """
    if not all(filter_name in task.signatures for task in (a, b)):
        return []
    first, second = (parse(task.signatures[filter_name]) for task in (a, b))
    differences = []
    ignored = _IRRELEVANT
    # Hashes of prompts are comparable only if they are of one kind, of the same rows, and both of messages or of texts.
    is_of_other_kind = not _OF_PROMPTS.isdisjoint(first.keys() ^ second.keys())
    if is_of_other_kind or any(first.get(name) != second.get(name) for name in ("rows", "chat")):
        ignored = _IRRELEVANT | _OF_PROMPTS
        if reason := _other_prompts(a, b):
            differences.append(Incompatibility("prompts", reason, not_comparable=True))
    for field in dict.fromkeys([*first, *second]):
        left, right = first.get(field, "none"), second.get(field, "none")
        if left == right or field in ignored:
            continue
        meaning = _COMPARABLE_ONLY_IF_EQUAL.get(field) or _WORTH_A_WARNING.get(field) or f"versions of {field} differ"
        not_comparable = field in _COMPARABLE_ONLY_IF_EQUAL
        differences.append(Incompatibility(field, f"{meaning} ({left} and {right})", not_comparable))
    return differences


def _other_prompts(a: TaskRun, b: TaskRun) -> str:
    """Return why the prompts of common examples may differ between two runs; empty if they do not.

    Prompts count as equal if their parts are, whatever the models' chat templates. Prompts without recorded parts must
    be equal as sent.
    """
    if a.parts_of_prompts == b.parts_of_prompts:
        return ""
    common = a.prompt_hashes.keys() & b.prompt_hashes.keys()
    if not common:
        return (
            "the prompts may differ, since their templates do (the runs have no common samples whose prompts could be "
            "compared: run both with --log_samples on the same examples)"
        )
    equal = a.prompt_hashes.items() & b.prompt_hashes.items()
    return "" if len(equal) == len(common) else "the prompts differ"
