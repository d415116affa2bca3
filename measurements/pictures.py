"""Make the pictures of pages in README.md from published runs, and that of samples from the bundled sample.

Usage: python measurements/pictures.py FOLDER DATA [--output docs]

FOLDER holds ``medagents.jsonl.gz`` (MIT, responses of ten models) and ``mirage.jsonl.gz`` (public domain, GPT-4 and
GPT-3.5), as ``medtasks selfcheck --published`` takes them; DATA is a data directory, as for ``--data``. Needs
playwright and Chromium.
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
from medtasks_utils.elsewhere.saving import import_run
from medtasks_utils.report.page import build_page
from medtasks_utils.results import read_runs
from medtasks_utils.results.runs import merged

TASKS = {"medmcqa": "medmcqa_openmed", "medexqa": "medexqa_all"}
SOURCES = {"medagents": ".test.zero_shot.", "mirage": "k.cot"}
"""By source, the part of a run's name by which all questions were asked, without a method on top of the model."""
FOUR = ("gpt-4o", "o3-mini", "DeepSeek-R1", "Llama-3.3-70B-Instruct-Turbo")


class Picture(NamedTuple):
    """A picture: its name, the models on the page (all if empty), and the size of the window in pixels."""

    name: str
    models: tuple[str, ...]
    width: int
    height: int


PICTURES = (
    Picture("report", FOUR, 1280, 760),
    Picture("report_one", FOUR[:1], 1280, 560),
    Picture("report_two", FOUR[:2], 1280, 900),
    Picture("report_twelve", (), 1280, 860),
    Picture("report_phone", FOUR, 390, 844),
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
            import_run(
                path,
                into / "runs" / model,
                TASKS[benchmark],
                data,
                Fields(["id"], "response"),
                model,
            )


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
        import_run(
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
    with TemporaryDirectory() as place, sync_playwright() as started:
        work = Path(place)
        import_models(arguments.folder, arguments.data, work)
        browser = started.chromium.launch(
            executable_path=os.environ.get("CHROMIUM") or shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        for picture in PICTURES:
            models = picture.models or [path.name for path in sorted((work / "runs").iterdir())]
            page = work / f"{picture.name}.html"
            page.write_text(
                build_page(merged(read_runs([work / "runs" / model for model in models]))), encoding="utf-8"
            )
            view = browser.new_page(viewport={"width": picture.width, "height": picture.height})
            view.goto(page.as_uri())
            view.wait_for_selector("html[data-ready]")
            view.screenshot(path=str(arguments.output / f"{picture.name}.png"))
        page = work / "report_sample.html"
        import_invented(work)
        page.write_text(build_page(read_runs(work / "invented")), encoding="utf-8")
        view = browser.new_page(viewport={"width": 1280, "height": 800})
        view.goto(f"{page.as_uri()}#samples?task=medmcqa_openmed&a=0&b=1&which=only_b")
        view.wait_for_selector("html[data-ready]")
        view.screenshot(path=str(arguments.output / "report_sample.png"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
