"""Each row of the readers' tables has a text that is read rightly with it, and otherwise without it."""

from itertools import chain

import pytest
from given import same, table

from medtasks_utils.benchmarks.medcalc_bench import values
from medtasks_utils.benchmarks.medhallu import verdicts
from medtasks_utils.extraction import letters

READERS = {
    "letters": lambda text, options: letters.read_letter(text, tuple(options)).value,
    "values": lambda text, kind: values.read_value(text, kind).value,
    "verdicts": lambda text, _: verdicts.read_verdict(text).value,
}
TABLES = {
    "letters": letters.LETTER_ROWS,
    "values": (*values.VALUE_ROWS, *chain(*values.ROWS_OF_KIND.values())),
    "verdicts": verdicts.VERDICT_ROWS,
}


@pytest.mark.parametrize("reader", TABLES)
def test_each_row_is_what_its_example_is_read_by(reader, monkeypatch):
    module = {"letters": letters, "values": values, "verdicts": verdicts}[reader]
    examples = [(name, text, value, aid) for of, name, text, value, aid in table("reading_rows") if of == reader]
    assert [name for name, *_ in examples] == [row.name for row in TABLES[reader]]
    weighed = module.weighed
    for row, (_, text, value, aid) in zip(TABLES[reader], examples, strict=True):
        monkeypatch.setattr(module, "weighed", weighed)
        assert same(READERS[reader](text, aid), value), (row, text)
        monkeypatch.setattr(
            module, "weighed", lambda rows, symbols, row=row: weighed([one for one in rows if one is not row], symbols)
        )
        assert not same(READERS[reader](text, aid), value), (row, text)
