"""Add to the site what stands outside docs/, and pages made from the code; run by mkdocs (plugin gen-files)."""

from __future__ import annotations

import os
import posixpath
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import mkdocs_gen_files
import tomllib

from medtasks_utils.__main__ import COMMANDS
from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.options import default_text

ROOT = Path(__file__).parents[1]
URLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
PAGES = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    **{
        f"tasks/{path.parent.name}/README.md": f"tasks/{path.parent.name}.md" for path in ROOT.glob("tasks/*/README.md")
    },
    **{f"measurements/{path.name}": f"measurements/{path.name}" for path in (ROOT / "measurements").glob("*.md")},
    **{str(path.relative_to(ROOT)): str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")},
}
"""The page of each document, by its path in the repository."""

LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")


def with_links_of_the_site(text: str, source: str) -> str:
    """Return a document whose links lead to pages of the site or, for other files, to the repository.

    What only the site has is linked by its address, so that the link works in the repository too.
    """

    def moved(match: re.Match[str]) -> str:
        target, hash_sign, anchor = match[1].partition("#")
        page: str | None
        if target.startswith(URLS["Documentation"]):
            page = re.sub(r"^(\w+)\.html$", r"\1.md", target.removeprefix(URLS["Documentation"]))
        elif not target or re.match(r"[a-z]+:", target):
            return match[1]
        else:
            path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
            page = PAGES.get(path) or (path.removeprefix("docs/") if path.endswith(".png") else None)
            if page is None:
                return f"{URLS['Source']}/blob/main/{path}"
        here = posixpath.dirname(PAGES[source])
        return posixpath.relpath(page, here or ".") + hash_sign + anchor

    return LINK.sub(moved, text)


def write(page: str, text: str) -> None:
    """Add a page, given as Markdown."""
    with mkdocs_gen_files.open(page, "w") as file:
        file.write(text)


def options_page() -> str:
    """List the options of each benchmark with their defaults, from the classes that check them."""
    lines = ["# Options", "", "Set them with `--set BENCHMARK.OPTION=VALUE`. `null` means the default.", ""]
    for name, benchmark in benchmarks().items():
        lines += [f"## {benchmark.title}: `{name}`", "", "| option | default | what it does |", "|---|---|---|"]
        lines += [
            f"| `{option}` | `{default_text(field.default)}` | {field.description} |"
            for option, field in benchmark.options_class.model_fields.items()
        ]
        lines.append("")
    return "\n".join(lines)


def commands_page() -> str:
    """Show what each command says of itself."""
    environment = {**os.environ, "COLUMNS": "100", "HF_HUB_OFFLINE": "1"}
    lines = ["# Commands", ""]
    for name in COMMANDS:
        command = [sys.executable, "-m", "medtasks_utils", name, "--help"]
        shown = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=ROOT)
        lines += [f"## medtasks {name}", "", "```text", shown.stdout.rstrip(), "```", ""]
    return "\n".join(lines)


def add_live_report() -> None:
    """Run the self-check on the bundled sample, and add its report as it is."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "medtasks_utils", "selfcheck", "--output", folder]
        subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
        report = (Path(folder) / "report.html").read_bytes()
    with mkdocs_gen_files.open("gallery/selfcheck.html", "wb") as file:
        file.write(report)


for document, page in PAGES.items():
    write(page, with_links_of_the_site((ROOT / document).read_text(encoding="utf-8"), document))
write("options.md", options_page())
write("commands.md", commands_page())
write(
    "python.md",
    "# Python\n\n::: medtasks_utils.scoring\n\n::: medtasks_utils.results.frames\n\n::: medtasks_utils.sandbox\n",
)
add_live_report()
