"""The flexible reading: abstentions, texts that state nothing, the judged corpus, and what must change no reading."""

import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from given import ROOT, TASK_OF, each_row, table
from hostile_texts import texts
from judged import CORPUS, judged, outcome
from running import reader
from scripts import draw

from medtasks_utils.benchmarks.medcalc_bench import values
from medtasks_utils.benchmarks.medcalc_bench.absence import states_not_available
from medtasks_utils.benchmarks.medhallu import verdicts
from medtasks_utils.extraction import containers, letters, words
from medtasks_utils.extraction.weighing import rows, weighed
from medtasks_utils.extraction.words import symbols_of

LOADED = {benchmark: reader(name) for benchmark, name in TASK_OF.items()}
ROWS = [*judged(), *judged(CORPUS / "later")]


# ---- N/A and a number with a caveat


@pytest.fixture(scope="module")
def task():
    return reader("medcalc_bench_corrected")


def test_not_available_is_told_apart_from_a_value_with_a_caveat(task):
    """All but those of the table, by the filter that errs: whoever reads one more takes it out."""
    lacks, erring = texts("lacks"), []
    for text in (*lacks, *texts("caveats")):
        lacking = {"strict-match": text in lacks and "</answer>" in text, "flexible-extract": text in lacks}
        for name, is_lacking in lacking.items():
            if (task.extract(name, text, task.eval_docs[0]).value == "N/A") != is_lacking:
                erring.append([name, text])
    assert erring == table("abstaining_not_read")


@pytest.mark.parametrize("filter_name", ["strict-match", "flexible-extract"])
def test_a_response_that_states_nothing_has_no_answer(task, filter_name):
    assert {task.extract(filter_name, text, task.eval_docs[0]).value for text in texts("nothing")} == {None}


# ---- the judged corpus


def found(row: dict[str, Any], response: str) -> Any:
    """What the flexible filter reads in a response to a row's question."""
    return LOADED[row["benchmark"]].flexible(response, row).value


@cache
def as_written() -> dict[str, Any]:
    """What is read of every response of the corpus, by its id."""
    return {row["id"]: found(row, row["response"]) for row in ROWS}


def test_the_filters_read_the_corpus_as_people_did():
    """All but the responses of the table, by what became of them: whoever reads one more takes it out."""
    outcomes = {row["id"]: outcome(row, as_written()[row["id"]]) for row in ROWS}
    assert {key: each for key, each in outcomes.items() if each != "right"} == dict(table("corpus_not_read"))


@each_row("rewritings")
def test_a_response_that_is_written_in_another_way_is_read_alike(name, pattern, replacement, unless):
    """Each way on a part of the responses, but not on those with a text that it would give another meaning.

    Digits and letters of another script are so many characters after the usual ones.
    """
    part = draw(name).sample(ROWS, len(ROWS) // 12)
    chosen = [row for row in part if not (unless and unless in row["response"])]
    written = replacement if isinstance(replacement, str) else lambda match: chr(ord(match[0]) + replacement)
    others = {row["id"]: found(row, re.sub(pattern, written, row["response"], flags=re.MULTILINE)) for row in chosen}
    assert others == {key: as_written()[key] for key in others}


# ---- the example beside each row of a reading table is read as it says there, and otherwise without the row

NERVES = ["Axillary nerve", "Musculocutaneous nerve", "Long thoracic nerve", "Spinal accessory nerve"]


def value(text: str, shown: str) -> Any:
    return values.read_value(text, "weeks_days" if "(" in shown else "date" if "-" in shown[1:] else "decimal")


READERS: dict[str, tuple[Any, Any, Any]] = {
    "containers": (containers, containers.CONTAINER_ROWS, lambda text, _: letters.read_letter(text, NERVES)),
    "letters": (letters, letters.LETTER_ROWS, lambda text, _: letters.read_letter(text, NERVES)),
    "values": (values, values.VALUE_ROWS, value),
    "dates": (values, values.ROWS_OF_KIND["date"], value),
    "integers": (values, values.ROWS_OF_KIND["integer"], lambda text, _: values.read_value(text, "integer")),
    "verdicts": (verdicts, verdicts.VERDICT_ROWS, lambda text, _: verdicts.read_verdict(text)),
}


def shown(found: Any) -> str:
    """A value as it stands beside a row."""
    return "none" if found is None else f"{found:g}" if isinstance(found, float) else str(found)


def check(module: Any, rows: Any, read: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    weighed = module.weighed

    def found(row: Any, left_out: Any) -> str:
        monkeypatch.setattr(
            module, "weighed", lambda table, text: weighed([one for one in table if one is not left_out], text)
        )
        return shown(read(row.example, row.value).value)

    for row in rows:
        assert found(row, None) == row.value != found(row, row), row


@pytest.mark.parametrize("name", READERS)
def test_each_row_of_a_reading_table_reads_its_example(name, monkeypatch):
    check(*READERS[name], monkeypatch)


def test_each_row_of_another_distribution_s_reading_table_reads_its_example(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tests" / "toy")
    toy = import_module("toybench.benchmark")
    check(toy, toy.ROWS, lambda text, _: toy.BENCHMARK().read(text, {}), monkeypatch)


@each_row("malformed_rows")
def test_a_malformed_row_of_a_reading_table_is_an_error_that_names_it(pattern, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        weighed(rows(f"70 a: {pattern}\n    A: The answer is A."), symbols_of("The answer is A."))


# ---- each word of words.txt has a text that is read as the table says, and otherwise without the word's line

LINES = Path(words.__file__).with_name("words.txt").read_text("utf-8")
OF_WORDS = [
    (line, kind, text.replace("{}", word), value)
    for line, kind, text, value, listed in table("words")
    for word in listed.split(" | ")
]


def read_by(kind: Any, text: str, value: str) -> str:
    if kind == "absence":
        return shown("N/A" if states_not_available(text) else None)
    if kind in READERS:
        return shown(READERS[kind][2](text, value).value)
    return shown(values.read_value(text, kind).value)


def test_each_word_of_a_line_stands_in_a_text_that_is_read_as_it_says():
    assert set(re.findall("^(.*?): ", LINES, re.MULTILINE)[1:]) == {line for line, *_ in OF_WORDS}
    assert [row for row in OF_WORDS if read_by(*row[1:]) != row[3]] == []


@pytest.mark.slow
def test_every_line_of_the_word_list_is_needed(monkeypatch):
    """But for durations, whose pattern has the words when it is first used."""
    listed: dict[str, list[Any]] = {}
    for line, *row in OF_WORDS:
        if not row[2].startswith("("):
            listed.setdefault(line, []).append(row)
    needless = []
    for line, own in listed.items():
        others = re.sub(f"^{line}: .*$", f"{line}: qzq", LINES, flags=re.MULTILINE)
        with monkeypatch.context() as patch:
            patch.setattr(Path, "read_text", lambda *_, others=others, **settings: others)
            vocabulary = words._vocabulary.__wrapped__()
            patch.setattr(words, "_vocabulary", lambda vocabulary=vocabulary: vocabulary)
            for cache in (words._symbol, words.words_of, words.numbers_by_word):
                cache.cache_clear()
            needless += [line] if all(read_by(*row) == row[2] for row in own) else []
    words._symbol.cache_clear()
    words.words_of.cache_clear()
    words.numbers_by_word.cache_clear()
    assert needless == []
