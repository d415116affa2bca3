"""What the tests notice: small faults put into the code that turns text into scores, and whether a test then fails.

Usage: python measurements/mutation.py OUT [--number 600] [--minutes 60] [--same BEFORE] [--jobs 2]

OUT is a folder. The first step runs the tests once under coverage (which must be installed) and keeps what lines each
test reaches and what processor time it takes. Then a sample of faults, fixed by a seed, is tried: a comparison, an
operator, a branch, a number or a returned value is changed, in memory, and the tests that reach the line run, quickest
first, until one fails. Results are kept one by one, so that a second call goes on. `--same` takes the faults from
another OUT, found again by function and the text of the line, and the table has both columns.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.machinery
import importlib.util
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("extraction", "benchmarks", "judging", "statistics", "compare", "scoring.py")
ELSEWHERE = (
    *(
        "sandbox",
        "browser",
        "sweep",
        "wheel",
        "hub",
        "fetch",
        "house",
        "kept",
        "free_turns",
        "tools",
        "pinned",
        "_cli.",
    ),
    *("report", "audit", "publish", "command", "mistakes", "selfcheck", "machines", "rescore", "importing", "results"),
    *("signature", "generations", "extending", "variants", "writing", "patches", "sample", "sources"),
)
"""In the names of test files that are left out: those of other rooms, and those that start processes and servers."""
BUDGET = 30.0
"""Seconds of processor time, as recorded, of the tests tried for one fault: the quickest that reach it."""
SWAPS: dict[type, type] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.USub: ast.UAdd,
}
Site = tuple[int, int, str, str, Callable[[], None]]
"""The node's line and its statement's, the function, the kind of fault, and what puts it into the tree."""


def negated(node: Any, name: str) -> Callable[[], None]:
    return lambda: setattr(node, name, ast.UnaryOp(ast.Not(), getattr(node, name)))


def faults_of(node: Any) -> Iterator[tuple[int, str, Callable[[], None]]]:
    """The faults that one node can have: line, kind, and what puts it in."""
    line = getattr(node, "lineno", 0)
    if isinstance(node, ast.Compare | ast.BinOp | ast.BoolOp | ast.UnaryOp):
        old = node.ops[0] if isinstance(node, ast.Compare) else node.op
        if isinstance(old, ast.Not):
            yield line, "not dropped", negated(node, "operand")
        elif type(old) in SWAPS:
            new = SWAPS[type(old)]()
            kind = f"{type(old).__name__} to {type(new).__name__}"
            if isinstance(node, ast.Compare):
                yield line, kind, lambda: node.ops.__setitem__(0, new)
            else:
                yield line, kind, lambda: setattr(node, "op", new)
    elif isinstance(node, ast.If | ast.While | ast.IfExp):
        if "TYPE_CHECKING" not in ast.unparse(node.test):
            yield line, f"{type(node).__name__} negated", negated(node, "test")
    elif isinstance(node, ast.comprehension):
        for place, test in enumerate(node.ifs):
            change = partial(node.ifs.__setitem__, place, ast.UnaryOp(ast.Not(), test))
            yield test.lineno, "condition negated", change
    elif isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
        yield line, "None returned", lambda: setattr(node, "value", ast.Constant(None))
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        other = not node.value if isinstance(node.value, bool) else node.value + 1
        yield line, f"{node.value} to {other}", lambda: setattr(node, "value", other)


def sites(node: ast.AST, function: str = "", statement: int = 0) -> Iterator[Site]:
    """All faults that a tree can have; messages, annotations and decorators have none."""
    statement = node.lineno if isinstance(node, ast.stmt) else statement
    for line, kind, change in faults_of(node):
        yield line, statement, function, kind, change
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                yield from sites(child, f"{function}.{child.name}".lstrip("."), child.lineno)
            elif isinstance(child, ast.keyword) and child.arg in ("strict", "ensure_ascii"):
                continue
            elif isinstance(child, ast.AST) and not isinstance(child, ast.Raise | ast.JoinedStr):
                yield from sites(child, function, statement)


def modules() -> list[str]:
    """The modules looked at, by their paths."""
    package = ROOT / "medtasks_utils"
    found = [
        path
        for room in ROOMS
        for path in ([package / room] if room.endswith(".py") else (package / room).rglob("*.py"))
    ]
    return sorted(str(path.relative_to(ROOT)) for path in found)


def all_faults() -> list[dict[str, Any]]:
    """Every fault; `key` finds it again in another state of the code."""
    faults = []
    for module in modules():
        source = (ROOT / module).read_text(encoding="utf-8")
        lines, seen = source.split("\n"), Counter[tuple[str, ...]]()
        for index, (line, statement, function, kind, _) in enumerate(sites(ast.parse(source))):
            key = (function, lines[line - 1].strip(), kind)
            seen[key] += 1
            faults.append({"module": module, "index": index, "line": line, "statement": statement,
                           "key": [*key, seen[key]]})  # fmt: skip
    return faults


def found_again(old: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same faults in the code of now: by key, in the same module if that has one."""
    here: dict[str, list[dict[str, Any]]] = {}
    for fault in all_faults():
        here.setdefault(json.dumps(fault["key"]), []).append(fault)
    again = []
    for fault in old:
        candidates = here.get(json.dumps(fault["key"]), [])
        same = [one for one in candidates if one["module"] == fault["module"]] or candidates
        again += [{**same[0], "was": fault["module"]}] if same else []
    return again


class Recorder:
    """Coverage of each test by itself, and its processor time; a pytest plugin."""

    def __init__(self) -> None:
        coverage = importlib.import_module("coverage")
        self.coverage = coverage.Coverage(data_file=None, include=[str(ROOT / module) for module in modules()])
        self.coverage.start()
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.coverage.switch_context(item.nodeid)
        start = time.process_time()
        result = yield
        self.seconds[item.nodeid] = time.process_time() - start
        self.coverage.switch_context("")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)

    def save(self, path: Path) -> None:
        self.coverage.stop()
        data, reached = self.coverage.get_data(), {}
        for module in modules():
            by_line = data.contexts_by_lineno(str(ROOT / module))
            reached[module] = {line: sorted({*tests} - {"", *self.failed}) for line, tests in by_line.items()}
        names = [name for name in self.seconds if name not in self.failed]
        numbers = {name: number for number, name in enumerate(names)}
        compact = {m: {n: [numbers[t] for t in tests] for n, tests in of.items()} for m, of in reached.items()}
        recorded = {"tests": names, "seconds": [self.seconds[name] for name in names], "reached": compact}
        path.write_text(json.dumps({**recorded, "failed": sorted(self.failed), "loaded": sorted(sys.modules)}))


def merged(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """What several recorders saw."""
    whole: dict[str, Any] = {"tests": [], "seconds": [], "reached": {}, "failed": [], "loaded": []}
    for part in parts:
        start = len(whole["tests"])
        for module, by_line in part["reached"].items():
            lines = whole["reached"].setdefault(module, {})
            for line, numbers in by_line.items():
                lines.setdefault(line, []).extend(start + number for number in numbers)
        for name in ("tests", "seconds", "failed", "loaded"):
            whole[name] += part[name]
    return whole


class Chosen:
    """Runs only these tests, in this order; a pytest plugin that remembers the first to fail."""

    def __init__(self, names: list[str]) -> None:
        self.order = {name: place for place, name in enumerate(names)}
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((i for i in items if i.nodeid in self.order), key=lambda i: self.order[i.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed = self.failed or (report.nodeid if report.failed else "")


class Faulty(importlib.machinery.SourceFileLoader):
    """Loads a module with one fault."""

    index = -1

    def get_code(self, fullname: str) -> Any:
        tree = ast.parse(Path(self.path).read_text(encoding="utf-8"))
        list(sites(tree))[self.index][4]()
        return compile(ast.fix_missing_locations(tree), self.path, "exec")


class Finder:
    """Finds the one module that has a fault."""

    def __init__(self, module: str, index: int) -> None:
        self.name = module.removesuffix("/__init__.py").removesuffix(".py").replace("/", ".")
        self.loader = Faulty(self.name, str(ROOT / module))
        self.loader.index = index

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.name:
            return None
        return importlib.util.spec_from_file_location(name, self.loader.path, loader=self.loader)


def run_tests(names: list[str], *options: str) -> str:
    """The first test that fails; what pytest ends with where it is none of them; empty if all pass."""
    chosen = Chosen(names)
    files = sorted({name.split("::")[0] for name in names})
    status = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *options, *files], plugins=[chosen])
    return chosen.failed or ("" if status in (0, 5) else f"pytest ended with {int(status)}")


def in_child(work: Callable[[], str], processor_seconds: float, wall_seconds: float = 600) -> str:
    """What a forked process returns; the signal that ended it where it did not end."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_CPU, (int(processor_seconds), int(processor_seconds) + 5))
        signal.alarm(int(wall_seconds))
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1), os.dup2(quiet, 2)
        said = "broke"
        try:
            said = work()
        finally:
            os.write(write, said.encode())
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        _, status = os.waitpid(child, 0)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what its tests started
        return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else pipe.read()


def tests_for(fault: dict[str, Any], recorded: dict[str, Any]) -> list[str]:
    """The tests that reach the fault, quickest first, within the budget; for a constant, all of its module."""
    by_line = recorded["reached"].get(fault["module"], {})
    if fault["key"][0]:
        numbers = set(by_line.get(str(fault["line"]), [])) or set(by_line.get(str(fault["statement"]), []))
    else:
        numbers = {number for tests in by_line.values() for number in tests}
    chosen: list[str] = []
    spent = 0.0
    for number in sorted(numbers, key=lambda number: recorded["seconds"][number]):
        spent += recorded["seconds"][number]
        if chosen and spent > BUDGET:
            break
        chosen.append(recorded["tests"][number])
    return chosen


def try_fault(fault: dict[str, Any], recorded: dict[str, Any]) -> dict[str, Any]:
    names = tests_for(fault, recorded)
    seconds = dict(zip(recorded["tests"], recorded["seconds"], strict=True))

    def work() -> str:
        sys.meta_path.insert(0, Finder(fault["module"], fault["index"]))
        return run_tests(names)

    killer = in_child(work, 30 + 5 * sum(seconds[name] for name in names)) if names else ""
    return {**fault, "tests": len(names), "killer": killer}


def table(out: Path, before: Path | None) -> str:
    """Killed of tried by room; with `before`, its column first."""

    def read(folder: Path) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (folder / "faults.jsonl").read_text().splitlines()]

    def counted(faults: list[dict[str, Any]]) -> dict[str, str]:
        cells = {}
        for room in (*(name.removesuffix(".py") for name in ROOMS), "all"):
            mine = [
                one
                for one in faults
                if room in ("all", Path(one.get("was", one["module"])).parts[1].removesuffix(".py"))
            ]
            killed, reached = sum(bool(one["killer"]) for one in mine), sum(one["tests"] > 0 for one in mine)
            cells[room] = f"{killed} of {len(mine)} killed, {len(mine) - reached} not reached"
        return cells

    columns = [counted(read(folder)) for folder in ([before] if before else []) + [out]]
    return "\n".join(" | ".join([room, *(column[room] for column in columns)]) for room in columns[0])


def main() -> None:
    parser = argparse.ArgumentParser(description="faults put into the code, and whether the tests notice")
    parser.add_argument("out", type=Path)
    parser.add_argument("--number", type=int, default=600)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--same", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--table", action="store_true", help="only print the table")
    arguments = parser.parse_args()
    out = arguments.out.resolve()
    before = arguments.same.resolve() if arguments.same else None
    out.mkdir(exist_ok=True)
    if not arguments.table:
        in_parts("record", out, arguments)
        in_parts("try", out, arguments)
    print(table(out, before))


def in_parts(step: str, out: Path, arguments: argparse.Namespace) -> None:
    """One step in so many processes, which leave out what is done."""
    before = [str(arguments.same.resolve())] if arguments.same else []
    settings = [str(arguments.jobs), str(arguments.number), str(arguments.minutes), *before]
    commands = [[sys.executable, __file__, step, str(out), str(part), *settings] for part in range(arguments.jobs)]
    for process in [subprocess.Popen(command) for command in commands]:
        process.wait()


def record(out: Path, part: int, jobs: int) -> None:
    """Every so manieth file's tests under coverage."""
    if not (out / f"reached_{part}.json").exists():
        files = sorted(
            path for path in (ROOT / "tests").rglob("test_*.py") if not any(name in path.name for name in ELSEWHERE)
        )
        names = [
            str(path.relative_to(ROOT)) for path in sorted(files, key=lambda path: path.stat().st_size)[part::jobs]
        ]
        recorder = Recorder()
        pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *names], plugins=[recorder])
        recorder.save(out / f"reached_{part}.json")


def try_faults(out: Path, part: int, jobs: int, number: int, minutes: float, before: Path | None) -> None:
    """Every so manieth fault, in the order of the sample, until the time is over."""
    recorded = merged([json.loads(path.read_text()) for path in sorted(out.glob("reached_*.json"))])
    for name in recorded["loaded"]:
        if not name.startswith(("medtasks_utils", "test", "conftest", "_pytest", "coverage", "__")):
            with suppress(Exception):
                importlib.import_module(name)
    if before:
        faults = found_again([json.loads(line) for line in (before / "faults.jsonl").read_text().splitlines()])
    else:
        faults = random.Random(35).sample(all_faults(), number)
    kept = out / "faults.jsonl"
    kept.touch()
    done = {same_fault(json.loads(line)) for line in kept.read_text().splitlines()}
    end = time.monotonic() + 60 * minutes
    for fault in faults[part::jobs]:
        if time.monotonic() < end and same_fault(fault) not in done:
            tried = try_fault(fault, recorded)
            with kept.open("a") as file:
                file.write(json.dumps(tried) + "\n")


def same_fault(fault: dict[str, Any]) -> str:
    return json.dumps([fault["module"], fault["key"]])


if __name__ == "__main__":
    os.chdir(ROOT)
    os.environ["CI"] = "1"  # the same examples of hypothesis every time
    if sys.argv[1] in ("record", "try"):
        step, folder, *rest = sys.argv[1:]
        if step == "record":
            record(Path(folder), int(rest[0]), int(rest[1]))
        else:
            given = (int(rest[0]), int(rest[1]), int(rest[2]), float(rest[3]))
            try_faults(Path(folder), *given, Path(rest[4]) if rest[4:] else None)
    else:
        main()
