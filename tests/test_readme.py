"""What the README and the other documents claim, as far as a program can tell: links, commands, names and numbers."""

import re
import shlex
from functools import cache
from importlib.metadata import metadata

import pytest
from given import ROOT
from running import manager

from medtasks_utils.__main__ import COMMANDS, _parse
from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.errors import Parser

README = (ROOT / "README.md").read_text("utf-8")
FOLDERS = ("docs", "measurements", "tasks", "tests", "medtasks_utils/report")
LINK = re.compile(r"(?:\]\(|src=\"|srcset=\")(?![a-z]+:)([^)\s\"]+)")
BLOCK = re.compile(r"```.*?```", re.DOTALL)
OF_OTHER_PROGRAMS = {"--container", "--cpu", "--dtype", "--num_processes", "--quantization", "--revision", "--write"}
"""Options without a hyphen that documents name and no command has."""
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *(path for name in FOLDERS for path in sorted((ROOT / name).rglob("*.md")))]


@cache
def headings(path):
    """The anchors that a document's headings have on GitHub."""
    lines = BLOCK.sub("", path.read_text("utf-8")).splitlines()
    titles = [line.lstrip("# ").lower() for line in lines if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


def commands_of(text):
    """Yield the words after ``medtasks`` of a document's commands, without those that are cut short by ``…``."""
    for block in re.findall(r"```bash\n(.*?)```", text, re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            for part in re.split(r"&& | \| ", line):
                if part.startswith("medtasks ") and "…" not in part:
                    yield shlex.split(part, comments=True)[1:]


@cache
def options_of(command):
    """The options of a command."""
    parser = Parser()
    COMMANDS[command].add_arguments(parser)
    return {*parser._option_string_actions}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document):
    for target in LINK.findall(document.read_text("utf-8")):
        path, _, anchor = target.partition("#")
        linked = (document.parent / path).resolve() if path else document
        assert linked.exists(), target
        assert not anchor or anchor in headings(linked), target
    for page in re.findall(r"medtasks\.github\.io/medtasks/gallery/(\w+\.html)", document.read_text("utf-8")):
        assert page == "selfcheck.html" or (ROOT / "docs" / "gallery" / page).exists(), page


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_options_extras_and_files_in_documents_exist(document):
    text = document.read_text("utf-8")
    assert {*re.findall(r"'\.\[(\w+)\]'", text)} <= {*(metadata("medtasks").get_all("Provides-Extra") or ())}
    for words in commands_of(text):
        _parse(words)
    for name, option in re.findall(r"--set (\w+)\.([a-z]\w*)=", text):
        if name in benchmarks():
            assert option in benchmarks()[name].options_class.model_fields, option
    for path in re.findall(r"\b(?:measurements|tests|medtasks_utils)/[\w/]+\.(?:py|jsonl)\b", text):
        assert (ROOT / path).exists() or "pubmedqa" in path, path
    in_sentences = re.findall(r"`([^`\n]+)`", BLOCK.sub("", text))
    for code in [*in_sentences, *re.findall(r"^medtasks .*….*", "\n".join(BLOCK.findall(text)), re.MULTILINE)]:
        named = {*re.findall(r"(?<![\w-])--[a-z]\w*(?![\w-])", code)} - OF_OTHER_PROGRAMS
        command = re.match(r"medtasks ([a-z]+)", code)
        if command:
            assert command[1] in COMMANDS, code
            assert named <= options_of(command[1]), code
        elif code.startswith("--") and document.parent.name != "measurements":
            assert any(named <= options_of(name) for name in COMMANDS), code


def test_the_tasks_of_the_readme_exist():
    known = {*manager().all_tasks}
    assert set(re.findall(r"--tasks (\w+)", README)) <= known


def test_the_readme_names_every_command():
    cells = re.findall(r"^\| (`medtasks.*?) \|", README, re.MULTILINE)
    assert {*re.findall(r"`(?:medtasks )?([a-z]+)", " ".join(cells))} == {*COMMANDS}


def test_the_counts_of_examples_are_those_of_the_tasks():
    rows = re.findall(r"^\| \[.*?\]\((tasks/\S+)\) \| .* \| ([\d,]+) \|", README, re.MULTILINE)
    assert len(rows) == 4
    for document, count in rows:
        assert re.search(rf"\b{count}\b", (ROOT / document).read_text("utf-8")), document


def test_the_published_numbers_are_those_that_were_measured():
    measured = (ROOT / "measurements" / "published.md").read_text("utf-8")
    rows = re.findall(r"^\|[^|]*\|([^|]*)\| [^|]+ \| ([\d.]+) \| ([\d.]+) \|$", README, re.MULTILINE)
    assert len(rows) == 7
    count = ""
    for benchmark, published, ours in rows:
        count = (re.findall(r"[\d,]*\d", benchmark) or [count])[-1]
        found = re.findall(rf"^\|.*\| {count} \| {published} \| .* \| ([\d.]+) \| \d+ \|", measured, re.MULTILINE)
        places = len(ours.partition(".")[2])
        assert any(abs(float(value) - float(ours)) < 0.6 * 10**-places for value in found), (published, ours, found)
    table = re.findall(r"\| (\d+) of (\d+) \|$", (ROOT / "docs" / "published.md").read_text("utf-8"), re.MULTILINE)
    came_out, all_numbers = (sum(map(int, column)) for column in zip(*table, strict=True))
    assert f"{came_out} of {all_numbers} published numbers" in README


def test_what_is_reached_on_medhallu_without_the_question_is_the_measured_share():
    (share,) = re.findall(r"right on ([\d.]+) % of MedHallu", README)
    assert f"| {share} %" in (ROOT / "docs" / "worth.md").read_text("utf-8")
