"""Make the reports of published runs that the gallery opens, and the pictures of them and of a sample.

Usage: python measurements/pictures.py FOLDER DATA [--output docs]

FOLDER holds ``medagents.jsonl.gz`` (MIT, responses of ten models) and ``mirage.jsonl.gz`` (public domain, GPT-4 and
GPT-3.5), as ``medtasks selfcheck --published`` takes them; DATA is a data directory, as for ``--data``. The reports
have no text of a question or response. Needs playwright and Chromium.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import sys
from collections import defaultdict
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from playwright.sync_api import sync_playwright

from medtasks_utils.elsewhere.other_runs import Fields
from medtasks_utils.elsewhere.saving import import_runs
from medtasks_utils.report.page import build_page
from medtasks_utils.results import read_runs
from medtasks_utils.results.runs import merged

TASKS = {"medmcqa": "medmcqa_openmed", "medexqa": "medexqa_all"}
SOURCES = {"medagents": ".test.zero_shot.", "mirage": "k.cot"}
"""Sources, and the part of a run's name that says: all questions, and no method on top of the model."""
LABELS = ("subject_name", "specialty", "answer_letter", "answer_idx", "known_issues")
"""What a report says of a question without its text."""
LEFT_OUT = "This text is left out of the page."


class Page(NamedTuple):
    """A report: its name, the models whose runs it has (none: all), and the height of its picture in pixels."""

    name: str
    models: tuple[str, ...]
    height: int

    @property
    def picture(self) -> str:
        """The name of its picture, without an ending."""
        return "report" if self.name == "four" else f"report_{self.name}"


PAGES = (
    Page("four", ("gpt-4o", "o3-mini", "DeepSeek-R1", "Llama-3.3-70B-Instruct-Turbo"), 760),
    Page("two", ("gpt-35-turbo-16k", "gpt-4-32k"), 860),
    Page("one", ("gpt-4o",), 560),
    Page("twelve", (), 860),
)


def import_models(folder: Path, data: str, into: Path) -> None:
    """Import the runs of each model into a folder that is named after it."""
    for source, part in SOURCES.items():
        records: dict[tuple[str, str], list[Any]] = defaultdict(list)
        with gzip.open(folder / f"{source}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for record in map(json.loads, lines):
                if part in record["run"]:
                    records[record["model"], record["benchmark"]].append(record)
        for (model, benchmark), own in records.items():
            path = into / f"{model}_{benchmark}.jsonl"
            path.write_text("".join(json.dumps(record) + "\n" for record in own))
            (_,) = import_runs(
                path,
                into / "runs" / model,
                TASKS[benchmark],
                data,
                Fields(["id"], "response"),
                model,
            )


def leave_out_texts(log: Path) -> None:
    """Rewrite a sample log without the texts of questions and responses; labels and scores stay."""
    records = list(map(json.loads, log.read_text(encoding="utf-8").splitlines()))
    for record in records:
        record["doc_hash"], record["words"] = str(record["doc_id"]), ""
        if "doc" in record:
            record["doc"] = {name: value for name, value in record["doc"].items() if name in LABELS}
            record["doc"] |= {
                "question": f"Question {record['doc_id']}",
                "options": list(map("Option {}".format, "ABCD")),
            }
            record["arguments"] = {name: {"arg_0": [LEFT_OUT]} for name in record["arguments"]}
            record["resps"] = [[reply and LEFT_OUT for reply in replies] for replies in record["resps"]]
    log.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def import_invented(into: Path) -> None:
    """Import two invented runs on the bundled sample: one always answers A, one is mostly right."""
    folder = resources.files("medtasks_utils") / "sample" / "medmcqa" / "validation.jsonl"
    rows = list(map(json.loads, folder.read_text(encoding="utf-8").splitlines()))
    for model, every in (("always-a", 1), ("mostly-right", 4)):
        path = into / f"{model}.jsonl"
        letters = ["A" if place % every == 0 else "ABCD"[row["cop"]] for place, row in enumerate(rows)]
        replies = [f"The findings fit choice {letter}.\n\n\\boxed{{{letter}}}" for letter in letters]
        records = [{"id": row["id"], "response": reply} for row, reply in zip(rows, replies, strict=True)]
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        (_,) = import_runs(
            path,
            into / "invented" / model,
            "medmcqa_openmed",
            "sample",
            Fields(["id"], "response"),
            model,
        )


def main() -> int:
    """Make the pictures."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("data")
    parser.add_argument("--output", type=Path, default=Path("docs"))
    arguments = parser.parse_args()
    folder, data, output = (Path(path).resolve() for path in (arguments.folder, arguments.data, arguments.output))
    (output / "gallery").mkdir(exist_ok=True)
    with TemporaryDirectory() as place, sync_playwright() as started:
        os.chdir(place)  # so that pages name files without their folder
        work = Path()
        import_models(folder, str(data), work)
        for log in (work / "runs").rglob("samples_*.jsonl"):
            leave_out_texts(log)
        browser = started.chromium.launch(
            executable_path=os.environ.get("CHROMIUM") or shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu"],
        )

        def photograph(address: str, width: int, height: int, name: str) -> None:
            view = browser.new_page(viewport={"width": width, "height": height})
            view.goto(address)
            view.wait_for_selector("html[data-ready]")
            view.screenshot(path=str(output / f"{name}.png"))

        for page in PAGES:
            models = page.models or [path.name for path in sorted((work / "runs").iterdir())]
            path = output / "gallery" / f"{page.name}.html"
            path.write_text(
                build_page(merged(read_runs([work / "runs" / model for model in models]))), encoding="utf-8"
            )
            photograph(path.as_uri(), 1280, page.height, page.picture)
            photograph(path.as_uri(), 390, 844, f"{page.picture}_phone")
        import_invented(work)
        path = Path("report_sample.html").absolute()
        path.write_text(build_page(read_runs(work / "invented")), encoding="utf-8")
        question = f"{path.as_uri()}#samples?task=medmcqa_openmed&a=0&b=1&which=only_b"
        photograph(question, 1280, 800, "report_sample")
        photograph(question, 390, 844, "report_sample_phone")
    return 0


if __name__ == "__main__":
    sys.exit(main())
