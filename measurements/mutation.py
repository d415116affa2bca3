"""Measure what the tests notice: put faults into the code, one at a time, and see whether a test fails.

Usage: python measurements/mutation.py OUT --prepare
       python measurements/mutation.py OUT [--number 600] [--rooms ROOM …] [--jobs 1] [--minutes 60] [--seconds 240]
       [--whole] [--table]

OUT is a folder, in which each process works on a copy of the tree, so that processes that tests start have the fault
too. The same number of faults is drawn from each room, which is a folder of the package or a module at its top. A fault
changes a comparison, operator, number, branch or returned value, drops a ``not``, swaps a default, or leaves out a
field of a key or record or a row of a table. The tests that execute the faulty line run until one fails. If no test is
known to execute it, test files that name the module run, and then the room's tests. ``--prepare`` runs all fast tests
once under coverage (needs pytest-cov), to learn which tests execute a line. ``--whole`` runs all fast tests on faults
that no test has noticed. Results are saved one by one, and a second call continues.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "medtasks_utils"
SWAPS: dict[type, type] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.USub: ast.UAdd,
}  # fmt: skip
TABLE_ROWS = 6  # a text of so many lines is a table, of which a row may be lost
MOST_SECONDS = 40.0  # of the tests that execute a line, in the run of --prepare
IN_OTHER_PROCESSES = ("sandbox", "sweep")  # rooms whose code mostly runs where coverage does not see it
OUT_OF_TIME = signal.SIGXCPU
RECORD = 3  # a dict or tuple of so many fields is a key or record, of which one may be left out


class Fault(NamedTuple):
    """A fault: its module, its position in the order of :func:`sites`, its line, its kind, and the text of the line."""

    module: str
    place: int
    line: int
    kind: str
    text: str

    @property
    def room(self) -> str:
        return self.module.split("/")[1].removesuffix(".py")


Change = Callable[[], None]


def negated(node: Any, name: str) -> Change:
    return lambda: setattr(node, name, ast.UnaryOp(ast.Not(), getattr(node, name)))


def faults_of(node: Any) -> Iterator[tuple[str, Change]]:
    """Yield the faults that a node can have: the kind, and a function that puts it into the tree."""
    if isinstance(node, ast.Compare | ast.BinOp | ast.BoolOp | ast.UnaryOp):
        old = node.ops[0] if isinstance(node, ast.Compare) else node.op
        if isinstance(old, ast.Not):
            yield "not dropped", negated(node, "operand")
        elif type(old) in SWAPS:
            new = SWAPS[type(old)]()
            kind = f"{type(old).__name__} to {type(new).__name__}"
            if isinstance(node, ast.Compare):
                yield kind, partial(node.ops.__setitem__, 0, new)
            else:
                yield kind, partial(setattr, node, "op", new)
    elif isinstance(node, ast.If | ast.While | ast.IfExp):
        yield "condition negated", negated(node, "test")
    elif isinstance(node, ast.comprehension):
        for place, test in enumerate(node.ifs):
            yield "condition negated", partial(node.ifs.__setitem__, place, ast.UnaryOp(ast.Not(), test))
    elif isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
        yield "None returned", partial(setattr, node, "value", ast.Constant(None))
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        other = not node.value if isinstance(node.value, bool) else node.value + 1
        if other != node.value:  # as that of a huge float is
            yield f"{node.value} to {other}", partial(setattr, node, "value", other)


def losses_of(node: Any) -> Iterator[tuple[str, Change]]:
    """Yield what a node can lose, a row of a table, a field of a record or an item, as :func:`faults_of` does."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count("\n") >= TABLE_ROWS:
        lines = node.value.split("\n")
        for place in range(1, len(lines) - 1):
            rest = "\n".join(lines[:place] + lines[place + 1 :])
            yield f"row dropped: {lines[place].strip()[:40]}", partial(setattr, node, "value", rest)
    elif isinstance(node, ast.Dict) and len(node.keys) >= RECORD:
        for place, key in enumerate(node.keys):
            if key is not None:
                yield f"field dropped: {ast.unparse(key)[:40]}", partial(drop_field, node, place)
    elif isinstance(node, ast.List | ast.Tuple | ast.Set) and not isinstance(getattr(node, "ctx", None), ast.Store):
        for place, item in enumerate(node.elts if len(node.elts) >= RECORD else ()):
            yield f"item dropped: {ast.unparse(item)[:40]}", partial(node.elts.__delitem__, place)


def drop_field(record: ast.Dict, place: int) -> None:
    del record.keys[place], record.values[place]


def sites(node: ast.AST) -> Iterator[tuple[int, str, Change]]:
    """Yield all faults of a tree with their lines; messages, annotations, decorators and docstrings get none."""
    for kind, change in (*faults_of(node), *losses_of(node)):
        yield getattr(node, "lineno", None) or node.target.lineno, kind, change  # type: ignore[attr-defined]
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            is_docstring = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
            is_setting = isinstance(child, ast.keyword) and child.arg in ("strict", "ensure_ascii")
            is_for_types = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
            is_silent = isinstance(child, ast.Raise | ast.JoinedStr | ast.ImportFrom)
            if isinstance(child, ast.AST) and not (is_docstring or is_setting or is_for_types or is_silent):
                yield from sites(child)


def all_faults() -> list[Fault]:
    """Return every fault that the package can have."""
    faults = []
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        source, module = path.read_text(encoding="utf-8"), str(path.relative_to(ROOT))
        lines = source.split("\n")
        for index, (line, kind, _) in enumerate(sites(ast.parse(source))):
            faults.append(Fault(module, index, line, kind, lines[line - 1].strip()))
    return faults


def drawn(number: int, seed: int, rooms: list[str]) -> list[Fault]:
    """Draw ``number`` faults from the rooms in turn, so that any first part of them has faults of all rooms."""
    chance, by_room = random.Random(seed), dict[str, list[Fault]]()
    for fault in all_faults():
        if not rooms or fault.room in rooms:
            by_room.setdefault(fault.room, []).append(fault)
    share = -(-number // len(by_room))
    samples = [chance.sample(faults, min(share, len(faults))) for faults in by_room.values()]
    return [sample[place] for place in range(share) for sample in samples if place < len(sample)][:number]


# ---- tests


def prepare(out: Path) -> None:
    """Run the fast tests once, and note the tests that execute each line and the seconds of each test."""
    os.environ["COVERAGE_FILE"] = str(out / "coverage")
    options = [f"--cov={PACKAGE}", "--cov-context=test", "--cov-report=", f"--junitxml={out / 'times.xml'}", "-n", "2"]
    subprocess.run([sys.executable, "-m", "pytest", "-q", *options], cwd=ROOT, check=True)


def test_seconds(out: Path) -> dict[str, float]:
    """Return the duration of each test in seconds, by its node id, from the run of :func:`prepare`."""
    cases = ElementTree.parse(out / "times.xml").iter("testcase")
    return {f"{case.get('classname')}::{case.get('name')}": float(case.get("time") or 0) for case in cases}


class Executing:
    """The tests that execute each line, as far as :func:`prepare` has recorded them."""

    def __init__(self, out: Path) -> None:
        self.data: Any = None
        if (out / "coverage").exists():
            from coverage import CoverageData

            self.data = CoverageData(str(out / "coverage"))
            self.data.read()
            self.seconds = test_seconds(out)

    def tests(self, fault: Fault) -> list[str]:
        """Return the tests that execute the statement of a fault, quick ones first; none if it runs on import.

        If a fixture executes it, return all tests of the file, since coverage names only the first to use the fixture.
        """
        by_line = self.data.contexts_by_lineno(str(ROOT / fault.module)) if self.data else {}
        before = [line for line in by_line if line <= fault.line]
        tests = set()
        for context in by_line[max(before)] if before else ():
            test, _, phase = context.partition("|")
            tests.add(test.partition("::")[0] if phase == "setup" else test)
        in_order = sorted(tests - {""}, key=self._seconds_of)
        ends = accumulate(map(self._seconds_of, in_order))
        return [test for test, end in zip(in_order, ends, strict=True) if test == in_order[0] or end < MOST_SECONDS]

    def _seconds_of(self, test: str) -> float:
        file, _, name = test.partition("::")
        module = file.removesuffix(".py").replace("/", ".")
        if not name:
            return sum(seconds for case, seconds in self.seconds.items() if case.startswith(f"{module}::"))
        return self.seconds.get(f"{module}::{name}", 60.0)


def related(fault: Fault, tree: Path) -> list[str]:
    """Return the test files that name the faulty module, then those of its room, small ones first; all if none."""
    name = fault.module.removesuffix("/__init__.py").removesuffix(".py").replace("/", ".")
    parent, _, last = name.rpartition(".")
    files = sorted((tree / "tests").rglob("test_*.py"), key=lambda path: path.stat().st_size)
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    words = (name, f"from {parent} import {last}", *([f'"{last}"'] if fault.room == "commands" else []))
    naming = [path for path, text in texts.items() if any(word in text for word in words)]
    own = [path for path in files if fault.room in (path.parent.name, path.stem.removeprefix("test_"))]
    return [str(path.relative_to(tree)) for path in dict.fromkeys([*naming, *own])] or ["tests"]


class Chosen:
    """A pytest plugin that remembers the first test to fail, and keeps the order of the files."""

    def __init__(self, files: list[str]) -> None:
        self.order = {name: place for place, name in enumerate(files)}
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self.order.get(item.nodeid.split("::")[0], -1))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed = self.failed or (report.nodeid if report.failed else "")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self.failed = self.failed or (report.nodeid if report.failed else "")


def first_failure(files: list[str]) -> str:
    """Run test files, and return the first test that fails; an empty string if all pass."""
    chosen = Chosen(files)
    status = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-n", "0", *files], plugins=[chosen])
    return chosen.failed or ("" if status in (0, 5) else f"pytest ended with {int(status)}")


def in_child(work: Callable[[], str], seconds: int) -> str:
    """Run work in a forked process, and return its result, or the signal that ended it; end what it has started."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1), os.dup2(quiet, 2)
        said = "broke"
        try:
            said = work()
        finally:
            os.write(write, said.encode())
            os._exit(0)
    os.close(write)
    end = threading.Timer(seconds, os.kill, (child, OUT_OF_TIME))  # tests have alarms of their own
    end.start()
    with os.fdopen(read) as pipe:
        _, status = os.waitpid(child, 0)
        end.cancel()
        with suppress(OSError):
            os.killpg(child, signal.SIGKILL)
        return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else pipe.read()


def tried(fault: Fault, tree: Path, executing: Executing, seconds: int, whole: bool) -> dict[str, Any]:
    """Return a fault with the test that noticed it: empty if none did, ``slow`` if the tests took too long."""
    path = tree / fault.module
    source = path.read_text(encoding="utf-8")
    parsed = ast.parse(source)
    list(sites(parsed))[fault.place][2]()
    started = time.monotonic()
    try:
        path.write_text(ast.unparse(ast.fix_missing_locations(parsed)), encoding="utf-8")
        tests, files = executing.tests(fault), related(fault, tree)
        killer = in_child(lambda: first_failure(tests), seconds) if tests else ""
        if not killer and files and (not tests or fault.room in IN_OTHER_PROCESSES):
            killer = in_child(lambda: first_failure(files), seconds)
        if not killer and whole:
            killer = in_child(lambda: first_failure(["tests"]), 10 * seconds)
    finally:
        path.write_text(source, encoding="utf-8")
    killer = "slow" if killer == f"signal {int(OUT_OF_TIME)}" else killer
    return {**fault._asdict(), "killer": killer, "seconds": round(time.monotonic() - started)}


def work_on(out: Path, part: int, faults: list[Fault], minutes: float, seconds: int, whole: bool) -> None:
    """Try faults that have no result yet, until the time is over."""
    tree, kept = out / f"tree_{part}", out / "faults.jsonl"
    shutil.rmtree(tree, ignore_errors=True)
    for name in (PACKAGE, "tests", "tasks", "docs", "measurements"):
        shutil.copytree(ROOT / name, tree / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for path in ROOT.glob("*.*"):
        if path.is_file():
            shutil.copy(path, tree)
    os.chdir(tree)
    sys.path[:0] = [str(tree), str(tree / "tests" / "support")]
    os.environ |= {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", "HF_HUB_OFFLINE": "1", "TQDM_DISABLE": "1"}
    os.environ["CI"] = "1"  # the same examples of hypothesis every time
    sys.dont_write_bytecode = True
    for name in ("lm_eval.evaluator", "datasets", "hypothesis", "scipy.stats", "pandas", "sklearn.metrics", "openai"):
        with suppress(ImportError):
            importlib.import_module(name)  # once, before the processes fork
    if failure := in_child(lambda: first_failure(["tests/test_scoring.py"]), seconds):
        raise SystemExit(f"tests fail without a fault ({failure}): all faults would count as noticed")
    kept.touch()
    done = {tuple(json.loads(line)[field] for field in Fault._fields) for line in kept.read_text().splitlines()}
    end, executing = time.monotonic() + 60 * minutes, Executing(out)
    for fault in faults:
        if time.monotonic() < end and tuple(fault) not in done:
            with kept.open("a") as file:
                file.write(json.dumps(tried(fault, tree, executing, seconds, whole)) + "\n")
    shutil.rmtree(tree)


def table(out: Path) -> str:
    """Return a table of tried and noticed faults by room, and a list of those that no test noticed."""
    faults = [json.loads(line) for line in (out / "faults.jsonl").read_text().splitlines()]
    rooms: dict[str, list[dict[str, Any]]] = {}
    for one in faults:
        rooms.setdefault(Fault(*(one[field] for field in Fault._fields)).room, []).append(one)
    lines = ["| room | tried | killed | too slow to say |", "|---|--:|--:|--:|"]
    for room, own in (*sorted(rooms.items()), ("all", faults)):
        slow = sum(one["killer"] == "slow" for one in own)
        lines.append(f"| {room} | {len(own)} | {sum(bool(one['killer']) for one in own) - slow} | {slow} |")
    missed = [one for one in faults if not one["killer"]]
    return "\n".join(
        [*lines, "", *(f"- `{one['module']}:{one['line']}` {one['kind']}: `{one['text']}`" for one in missed)]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="faults put into the code, and whether the tests notice")
    parser.add_argument("out", type=Path)
    parser.add_argument("--number", type=int, default=600)
    parser.add_argument("--rooms", nargs="*", default=[], help="only these rooms, such as harness scoring")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=58)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seconds", type=int, default=240, help="time limit for the tests of a fault")
    parser.add_argument("--whole", action="store_true", help="run all fast tests for faults that related tests miss")
    parser.add_argument("--prepare", action="store_true", help="learn first which tests execute each line")
    parser.add_argument("--table", action="store_true", help="only print the table")
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    out = arguments.out.resolve()
    out.mkdir(exist_ok=True)
    if arguments.prepare:
        prepare(out)
        return
    if arguments.part is not None:
        faults = drawn(arguments.number, arguments.seed, arguments.rooms)[arguments.part :: arguments.jobs]
        work_on(out, arguments.part, faults, arguments.minutes, arguments.seconds, arguments.whole)
        return
    if not arguments.table:
        command = [sys.executable, __file__, *sys.argv[1:], "--part"]
        for process in [subprocess.Popen([*command, str(part)]) for part in range(arguments.jobs)]:
            process.wait()
    print(table(out))


if __name__ == "__main__":
    main()
