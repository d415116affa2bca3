"""The example beside each row of a reading table is read as it says there, and otherwise without the row."""

import re
from importlib import import_module
from typing import Any

import pytest
from given import ROOT

from medtasks_utils.benchmarks.medcalc_bench import values
from medtasks_utils.benchmarks.medhallu import verdicts
from medtasks_utils.extraction import letters
from medtasks_utils.extraction.weighing import rows, weighed
from medtasks_utils.extraction.words import symbols_of

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


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("answr <cand>", "the pattern answr <cand>: there is no notion 'answr'"),
        ("[answer <cand>", "the pattern [answer <cand>: "),
        ("answer", "the row a has 0 candidates in <>, not one: answer"),
        ("<cand> or <text>", "the row a has 2 candidates in <>, not one"),
        ("answer {is} <cand>", "the row a: the part 'is' is not defined"),
        ("answer <cand>\n", "neither a row with its example nor a part of a pattern: 70 a: answer <cand>"),
    ],
)
def test_a_malformed_row_is_named(pattern, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        weighed(rows(f"70 a: {pattern}\n    A: The answer is A."), symbols_of("The answer is A."))
