"""The example beside each row of a reading table is read as it says there, and otherwise without the row."""

from importlib import import_module
from typing import Any

import pytest
from given import ROOT

from medtasks_utils.benchmarks.medcalc_bench import values
from medtasks_utils.benchmarks.medhallu import verdicts
from medtasks_utils.extraction import letters

NERVES = ["Axillary nerve", "Musculocutaneous nerve", "Long thoracic nerve", "Spinal accessory nerve"]


def value(text: str, shown: str) -> Any:
    return values.read_value(text, "weeks_days" if "(" in shown else "date" if "-" in shown[1:] else "decimal")


READERS: dict[str, tuple[Any, Any, Any]] = {
    "letters": (letters, letters.LETTER_ROWS, lambda text, _: letters.read_letter(text, NERVES)),
    "values": (values, values.VALUE_ROWS, value),
    "dates": (values, values.ROWS_OF_KIND["date"], value),
    "integers": (values, values.ROWS_OF_KIND["integer"], lambda text, _: values.read_value(text, "integer")),
    "verdicts": (verdicts, verdicts.VERDICT_ROWS, lambda text, _: verdicts.read_verdict(text)),
}


def check(module: Any, rows: Any, read: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    weighed = module.weighed

    def shown(row: Any, left_out: Any) -> str:
        monkeypatch.setattr(
            module, "weighed", lambda table, text: weighed([one for one in table if one is not left_out], text)
        )
        found = read(row.example, row.value).value
        return "none" if found is None else f"{found:g}" if isinstance(found, float) else str(found)

    for row in rows:
        assert shown(row, None) == row.value != shown(row, row), row


@pytest.mark.parametrize("name", READERS)
def test_each_row_is_what_its_example_is_read_by(name, monkeypatch):
    check(*READERS[name], monkeypatch)


def test_so_is_each_row_of_a_benchmark_elsewhere(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tests" / "toy")
    toy = import_module("toybench.benchmark")
    check(toy, toy.ROWS, lambda text, _: toy.BENCHMARK().read(text, {}), monkeypatch)
