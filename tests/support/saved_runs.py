"""Save runs of the real harness on the bundled sample, for tests that read runs."""

import hashlib
import html
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from given import GENERATION_TASKS, Row
from lm_eval.loggers import EvaluationTracker
from running import Answering, evaluate, right_answer


def chance(doc: Row, salt: str = "") -> float:
    """Return a number in [0, 1) that depends only on the document and the salt."""
    digest = hashlib.sha256((salt + repr(sorted(doc.items(), key=str))).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def right_in(share: float, salt: str = "") -> Answering:
    """Return a reply function that is right in about this share of examples, else wrong, unsure, unboxed or empty."""

    def answer(doc):
        if chance(doc, salt) < share:
            return right_answer(doc)
        return ("\\boxed{2}", "\\boxed{A}", "The answer is B.", "", "<answer>1</answer>")[
            int(5 * chance(doc, salt + "?"))
        ]

    return answer


def save_run(
    folder: Path,
    answer: Answering = right_answer,
    tasks: str | Sequence[str] = GENERATION_TASKS,
    model: str = "org/model",
    metadata: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Path:
    """Run the harness in this process and save as its command line does.

    Returns:
        The results file.
    """
    tracker = EvaluationTracker(output_path=str(folder))
    results = evaluate(tasks, answer, metadata=metadata, log_samples=True, **settings)
    tracker.general_config_tracker.log_experiment_args(
        model_source="scripted",
        model_args={"model": model},
        system_instruction=settings.get("system_instruction"),
        chat_template="",
        fewshot_as_multiturn=False,
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for task in results["configs"]:
        tracker.save_results_samples(task_name=task, samples=samples[task])
    (path,) = folder.glob(f"**/results_{tracker.date_id}.json")
    return path


def save_two(folder: Path, shares: tuple[float, float] = (0.7, 0.4), **settings: Any) -> Path:
    """Save runs of two models that are right in these shares, in ``a`` and ``b`` of a folder; return the folder."""
    for name, model, share in zip("ab", ("first", "second"), shares, strict=True):
        save_run(folder / name, right_in(share, name), model=f"org/{model}", **settings)
    return folder


def drawn(page: str) -> str:
    """Return the text of a report's page without scripts; cells and blocks end a line."""
    shown = re.sub(r"(?s)<(script|style)\b.*?</\1>|<wbr>", "", page)
    return html.unescape(re.sub(r"<[^>]+>", "", re.sub(r"</(td|th|p|h\d|li|tr|dd|summary)>", "\n", shown)))


def sample_file(results: Path, task: str) -> Path:
    """Return the sample log of a results file."""
    return results.with_name(f"samples_{task}_{results.stem.removeprefix('results_')}.jsonl")


def edit_files(folder: Path, edits: Iterable[Sequence[str]]) -> None:
    """Replace matches of a regular expression in files of a pattern by a text; without both, remove the files."""
    for pattern, *change in edits:
        for path in folder.glob(pattern):
            if change:
                path.write_text(re.sub(change[0], change[1], path.read_text("utf-8")), "utf-8")
            else:
                path.unlink()


def edit_lines(path: Path, edit: Callable[[list[bytes]], list[bytes]]) -> None:
    """Replace the lines of a sample log by edited ones."""
    path.write_bytes(b"".join(edit(path.read_bytes().splitlines(keepends=True))))


def in_order(*orders: str) -> Callable[[list[bytes]], list[bytes]]:
    """Return an edit of a sample log, after which the model saw the choices in these orders of their letters."""
    shown = rb'\g<0>, "shown_as": ' + json.dumps(orders).encode()
    return lambda lines: [re.sub(rb'"doc_id": \d+', shown, line) for line in lines]
