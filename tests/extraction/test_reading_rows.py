"""The example beside each row of a reading table is read as it says there, and otherwise without the row."""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
from given import ROOT

from medtasks_utils.benchmarks.medcalc_bench import values
from medtasks_utils.benchmarks.medcalc_bench.values import Kind
from medtasks_utils.benchmarks.medhallu import verdicts
from medtasks_utils.extraction import letters
from medtasks_utils.extraction.weighing import Reading, Row

NERVES = ["Axillary nerve", "Musculocutaneous nerve", "Long thoracic nerve", "Spinal accessory nerve"]
Read = Callable[[Row], Reading]


def value_of(row: Row) -> Reading:
    kind: Kind = "weeks_days" if row.value.startswith("(") else "date" if row.value.count("-") == 2 else "decimal"
    return values.read_value(row.example, kind)


TABLES: dict[str, tuple[ModuleType, tuple[Row, ...], Read]] = {
    "letters": (letters, letters.LETTER_ROWS, lambda row: letters.read_letter(row.example, NERVES)),
    "values": (values, values.VALUE_ROWS, value_of),
    "dates": (values, values.ROWS_OF_KIND["date"], value_of),
    "integers": (values, values.ROWS_OF_KIND["integer"], lambda row: values.read_value(row.example, "integer")),
    "verdicts": (verdicts, verdicts.VERDICT_ROWS, lambda row: verdicts.read_verdict(row.example)),
}


def written(value: Any) -> str:
    """A value as a table has it."""
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def check(module: ModuleType, rows: tuple[Row, ...], read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    left_out: list[Row] = []
    weighed = module.weighed
    monkeypatch.setattr(
        module, "weighed", lambda table, symbols: weighed([one for one in table if one not in left_out], symbols)
    )
    for row in rows:
        left_out[:] = []
        assert written(read(row).value) == row.value, row
        left_out[:] = [row]
        assert written(read(row).value) != row.value, row


@pytest.mark.parametrize("name", TABLES)
def test_each_row_is_what_its_example_is_read_by(name, monkeypatch):
    check(*TABLES[name], monkeypatch)


def test_so_is_each_row_of_a_benchmark_elsewhere(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tests" / "toy")
    toy = import_module("toybench.benchmark")
    check(toy, toy.ROWS, lambda row: toy.BENCHMARK.read(row.example, {}, toy.ToyOptions()), monkeypatch)
