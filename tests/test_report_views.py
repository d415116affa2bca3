"""What the page shows, in both themes at 360, 800 and 1,400 pixels: one default, fair comparisons, readable samples."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import choose, chromium, needs_browser, open_first, opened, playwright, shown, unfold, write
from saved_runs import right_in, sample_file, save_run

from medtasks_utils.results import Run, Sample, read_runs

pytestmark = needs_browser

WIDTHS, THEMES = (360, 800, 1400), ("light", "dark")
SIZES = {360: (360, 740), 800: (800, 900), 1400: (1400, 900)}
GROUP = ("medtasks", "medexqa")

WRITTEN = """<think>
Some reasoning of several words.
</think>
### Values

The **serum creatinine** is $\\frac{88}{4} \\approx 22\\,\\mathrm{µmol}$, and `x = 1`:

| test | value |
|---|---|
| Na | *140* |

1. first
2. second

$$\\sqrt{x^2} = x$$

<img src=x onerror="window.ran = true">
"""
CALLS: list[dict[str, Any]] = [
    {"role": "system", "content": "A system message."},
    {"role": "user", "content": "The prompt once more."},
    {
        "role": "assistant",
        "content": 'I compute.\n<tool_call>{"name": "python", "arguments": {"code": "x = 6 * 7\\nx"}}</tool_call>',
    },
    {
        "role": "user",
        "content": "<tool_response>\n42\n</tool_response>",
        "calls": [{"name": "python", "argument": "x = 6 * 7\nx", "failed": False}],
    },
    {  # natively
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": key, "type": "function", "function": {"name": "calculator", "arguments": '{"expression": "1/0"}'}}
            for key in "ab"
        ],
    },
    *(
        {
            "role": "tool",
            "tool_call_id": key,
            "content": "Error: division by <tool_response> zero",
            "calls": [{"name": "calculator", "argument": "1/0", "failed": True}],
        }
        for key in "ab"
    ),
    {"role": "assistant", "content": "So it is <answer>42</answer>"},
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Two comparable runs of all benchmarks, one over fewer examples, one with repeats."""
    folder = tmp_path_factory.mktemp("runs")
    save_run(folder / "a", right_in(0.7, "a"), tasks="medtasks", model="org/first")
    save_run(folder / "b", right_in(0.4, "b"), tasks="medtasks", model="org/second")
    save_run(folder / "c", right_in(0.6, "c"), tasks=("medhallu", "medcalc_bench"), model="org/short", limit=5)
    answers = iter(["\\boxed{0}", "\\boxed{0}", "", "\\boxed{1}"] * 100)
    repeated = {"medmcqa": {"repeats": 4}}
    save_run(folder / "d", lambda doc: next(answers), tasks="medmcqa_openmed", model="org/often", metadata=repeated)
    for name, task, details in (
        ("a", "medexqa_all", {"resps": [[WRITTEN + "The answer is B."]]}),
        ("a", "medcalc_bench", {"transcript": CALLS, "notes": ["Physicians corrected this label."]}),
        ("b", "medcalc_bench", {"usage": {"prompt_tokens": 1200, "completion_tokens": 34}, "latency": 1.5}),
    ):
        edit_samples(folder / name, task, details)
    (file,) = (folder / "c").glob("**/results_*.json")
    spent = {"tokens": {"prompt": 4321, "completion": 765, "replies": 10}, "latency": {"median": 0.25, "requests": 10}}
    file.write_text(json.dumps({**json.loads(file.read_text(encoding="utf-8")), "medtasks": spent}), encoding="utf-8")
    return read_runs([folder / name for name in "abcd"])


def edit_samples(folder: Path, task: str, details: dict[str, Any]) -> None:
    """Add to each sample of a log."""
    (results,) = folder.glob("**/results_*.json")
    path = sample_file(results, task)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    path.write_text("".join(json.dumps({**line, **details}) + "\n" for line in lines), encoding="utf-8")


@pytest.fixture(scope="module")
def address(runs: list[Run], tmp_path_factory: pytest.TempPathFactory) -> str:
    return write(runs, tmp_path_factory.mktemp("page"))


def sizes_and_themes() -> Iterator[Any]:
    """All of them; the wide dark page stands for the others where time is short."""
    for width in WIDTHS:
        for theme in THEMES:
            marks = () if (width, theme) == (1400, "dark") else (pytest.mark.slow,)
            yield pytest.param((width, theme), marks=marks, id=f"{width}-{theme}")


@pytest.fixture(params=sizes_and_themes())
def page(request: pytest.FixtureRequest, browser: Any, address: str) -> Iterator[Any]:
    """The page at each width in each theme."""
    width, theme = request.param
    with opened(browser, address, SIZES[width], theme) as found:
        yield found
        assert found.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "nothing sticks out"


def value(run: Run, task: str, metric: str, filter_name: str) -> str:
    return f"{100 * run.results['results'][task][f'{metric},{filter_name}']:.1f}"


def cells(page: Any, caption: str) -> list[list[str]]:
    """A visible table's cells, heads first."""
    table = page.locator(f"table:visible:has(caption:has-text({json.dumps(caption)}))").first
    rows: list[list[str]] = table.evaluate("t => [...t.rows].map((r) => [...r.cells].map((c) => c.innerText.trim()))")
    return rows


def by_example(run: Run, task: str) -> dict[int, Sample]:
    return {sample.doc_id: sample for sample in run.tasks[task].samples}


def acc(sample: Sample) -> float:
    return sample.metrics["strict-match"]["acc"] or 0.0


# ---- the numbers


def test_the_published_rule_comes_first_and_the_cards_follow_the_click(page: Any, runs: list[Run]) -> None:
    for filter_name in ("strict-match", "flexible-extract"):
        if filter_name == "flexible-extract":
            page.check("input[name=filter][value=flexible-extract]", force=True)
        cards = " ".join(page.locator(".findings li:visible").all_inner_texts())
        first, second = (value(run, "medcalc_bench", "acc", filter_name) for run in runs[:2])
        assert f"MedCalc-Bench, acc, {filter_name}" in cards and first in cards and second in cards
        summary = cells(page, "Values in percent")
        assert summary[0][:2] == ["Run", "Overall acc"], "the overall score is the first column"
        assert summary[1][1].split("\n")[0] == value(runs[0], "medtasks", "acc", filter_name)


def test_what_cannot_be_compared_is_not(page: Any, runs: list[Run]) -> None:
    text = page.inner_text("header.title")
    assert "Not all examples were run (--limit) in 1 of 4 runs" in text and "short (--limit 5): 5 of" in text
    summary = cells(page, "Values in percent, strict-match")
    whole = len(runs[0].tasks["medcalc_bench"].samples)
    column = summary[0].index("MedCalc-Bench acc")
    other = f"not comparable: different examples (5 in both, {whole - 5} only in A, 0 only in B)"
    assert other in summary[3][column]
    table = page.locator("#summary table:visible").first
    for name in ("MedCalc-Bench acc", "MedHallu f1"):
        assert table.locator(f"tbody tr td:nth-child({summary[0].index(name) + 1}).best").count() == 0
    assert table.locator(f"tbody tr td:nth-child({summary[0].index('Overall acc') + 1}).best").count() == 1
    cards = {card.split("\n")[0]: card for card in page.locator(".findings li:visible").all_inner_texts()}
    assert f"short is {other}." in cards["MedCalc-Bench, acc, strict-match"]
    differences = cells(page, "Differences from first by task, strict-match")
    refused = [row for row in differences if row[1] == "short"]
    assert refused and all("not compared" in row[5] and "different examples" in row[5] for row in refused)


def test_the_baseline_is_chosen(page: Any) -> None:
    before = cells(page, "Differences from first by task, strict-match")
    page.select_option("select[name=baseline]", "second")
    after = cells(page, "Differences from second by task, strict-match")
    assert page.locator("table:visible caption:has-text('Differences from first')").count() == 0
    (forth,) = (row for row in before if row[0].split() == ["medcalc_bench", "acc"] and row[1] == "second")
    (back,) = (row for row in after if row[0].split() == ["medcalc_bench", "acc"] and row[1] == "first")
    assert (forth[3], forth[4]) == (back[4], back[3])
    signs = str.maketrans("+−", "−+")
    assert forth[5].split("\n")[0].translate(signs) == back[5].split("\n")[0] and forth[-1] == back[-1]
    options = page.locator("select[name=result] option").all_inner_texts()
    assert "only second right" in options and "only first right" in options


def test_tables_are_sorted_saved_and_keep_their_first_columns(page: Any) -> None:
    table = page.locator("table:visible:has(caption:has-text('by calculator, strict-match'))").first
    heads = table.locator("thead th").all_inner_texts()
    place = [head.strip() for head in heads].index("first")
    column = table.locator(f"tbody tr td:nth-child({place + 1}) .value")
    before = column.all_inner_texts()
    for order, reverse in (("descending", True), ("ascending", False)):
        table.locator(f"thead th:nth-child({place + 1}) .sort").click()
        assert table.locator(f"thead th:nth-child({place + 1})").get_attribute("aria-sort") == order
        numbers = [float(text) for text in column.all_inner_texts()]
        assert numbers == sorted(numbers, reverse=reverse)
    table.locator(f"thead th:nth-child({place + 1}) .sort").press("Enter")
    assert column.all_inner_texts() == before
    with page.expect_download() as download:
        table.locator(".csv").click()
    rows = list(csv.reader(io.StringIO(Path(download.value.path()).read_text(encoding="utf-8-sig"))))
    saved = rows[0].index("first")
    assert rows[0][:2] == ["Calculator", "n"] and [row[saved] for row in rows[1:]] == before
    with page.expect_download() as download:
        page.locator("#summary table:visible .csv").first.click()
    scores = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text(encoding="utf-8-sig"))))
    named = [head.removesuffix(" low") for head in scores[0] if head.endswith(" low")]
    with_ends = [(row, head) for row in scores for head in named if row[f"{head} low"]]
    known = [[float(row[f"{head}{end}"]) for end in (" low", "", " high")] for row, head in with_ends]
    assert known and all(ends == sorted(ends) for ends in known)
    moved = page.evaluate(
        """() => [...document.querySelectorAll("main .table")].filter((box) => box.checkVisibility()).map((box) => {
          const cell = box.querySelector("tbody th");
          const place = () => cell.getBoundingClientRect().left - box.getBoundingClientRect().left;
          const before = place();
          box.scrollLeft = 1000;
          return Math.abs(place() - before);
        })"""
    )
    assert moved and max(moved) < 1


# ---- samples


def test_the_answer_comes_first_and_what_is_long_is_folded(page: Any, runs: list[Run]) -> None:
    choose(page, task="medexqa_all", run="first")
    open_first(page)
    page.locator("#samples .browser").scroll_into_view_if_needed()
    page.evaluate("document.querySelector('.browser').scrollIntoView({block: 'start'})")
    verdict = page.locator("#detail .verdict").bounding_box()
    height = page.viewport_size["height"]
    assert verdict["y"] >= 0 and verdict["y"] + verdict["height"] <= height, "above the fold"
    assert not page.locator("#detail details[open]:not(.generation)").count()
    assert "Reasoning, 33 characters" in page.inner_text("#detail")
    assert "Some reasoning" not in page.inner_text("#detail")
    page.click("#detail .reasoning summary")
    page.wait_for_selector("#detail .reasoning >> text=Some reasoning of several words.")
    written = page.locator("#detail .column > .text").first
    for selector in ("strong", "table", "ol li", "code", "math mfrac", "math[display=block] msqrt", "p.heading"):
        assert written.locator(selector).count() > 0, selector
    assert written.locator("img").count() == 0 and "<img src=x" in written.inner_text()
    page.click("text=Raw text")
    assert page.locator("#detail pre.raw").inner_text().startswith("<think>")
    assert "**serum creatinine**" in page.locator("#detail pre.raw").inner_text()
    unfold(page)
    assert "Please choose the most suitable one" not in page.inner_text("#detail .columns")
    assert "[invalid]" not in page.inner_text("#samples")


def test_transcripts_are_conversations(page: Any, runs: list[Run]) -> None:
    choose(page, task="medcalc_bench", run="first")
    open_first(page)
    turns = page.locator("#detail .turn")
    assert turns.count() == 3
    assert "I compute." in turns.nth(0).inner_text() and "tool_call" not in page.inner_text("#detail .columns")
    assert turns.nth(0).locator(".call pre.code").inner_text() == "x = 6 * 7\nx"
    assert turns.nth(0).locator(".call .result").inner_text() == "42"
    assert turns.nth(1).locator(".call.failed").count() == 2 and "failed" in turns.nth(1).inner_text()
    assert turns.nth(0).locator(".failed").count() == 0
    unfold(page)
    assert "The prompt once more." not in page.inner_text("#detail"), "the prompt stands there once"
    assert "Physicians corrected this label." in page.inner_text("#detail")
    choose(page, badge="a tool call failed")
    assert shown(page) == len(runs[0].tasks["medcalc_bench"].samples)


def test_two_runs_side_by_side(page: Any, runs: list[Run]) -> None:
    first, second = (by_example(run, "medmcqa_openmed") for run in runs[:2])
    right = {i: (acc(first[i]) > 0.5, acc(second[i]) > 0.5) for i in first}
    same = [
        i
        for i in first
        if right[i] == (False, False)
        and first[i].answers["strict-match"] == second[i].answers["strict-match"] != ["[invalid]"]
    ]
    for result, expected in (
        ("only-a", sum(pair == (True, False) for pair in right.values())),
        ("only-b", sum(pair == (False, True) for pair in right.values())),
        ("same-wrong", len(same)),
    ):
        choose(page, task="medmcqa_openmed", result=result)
        assert shown(page) == expected
    choose(page, result="only-a")
    open_first(page)
    columns = page.locator("#detail .column")
    assert columns.count() == 2
    assert [columns.nth(i).locator("h4 bdi").first.inner_text() for i in (0, 1)] == ["first", "second"]
    boxes = [columns.nth(i).bounding_box() for i in (0, 1)]
    if page.viewport_size["width"] < 600:  # on a phone they stand under each other
        assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"] + 1
    else:
        assert boxes[0]["y"] == boxes[1]["y"] and boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"] + 1
    assert "Right" in columns.nth(0).inner_text() and "Right;" not in columns.nth(1).inner_text()


def test_an_empty_list_offers_to_start_again(page: Any, runs: list[Run]) -> None:
    total = shown(page)
    choose(page, task="medhallu", result="wrong")
    page.fill("input[name=q]", "no such words anywhere")
    playwright.expect(page.locator("#count")).to_have_text(re.compile("^0 of "))
    page.get_by_role("button", name="Reset filters").click()
    playwright.expect(page.locator("#count")).to_have_text(re.compile(rf"^{total:,} of "))
    assert page.input_value("select[name=task]") == "" and page.input_value("input[name=q]") == ""


def test_keys_move_the_sample_and_not_the_page(page: Any) -> None:
    page.evaluate("document.querySelector('.browser').scrollIntoView({block: 'center'})")
    place = "[window.scrollY, document.querySelector('.browser').getBoundingClientRect().top]"
    before = page.evaluate(place)
    opened_: list[str] = []
    for key in ("j", "j", "k", "j", "j"):
        page.keyboard.press(key)
        page.wait_for_function("n => document.querySelector('#list [aria-selected=true]')?.id !== n", arg=opened_[-1:])
        opened_.append(page.evaluate("document.querySelector('#list [aria-selected=true]').id"))
        assert page.evaluate(place) == before
    assert opened_[0] == opened_[2] and len(set(opened_)) == 3
    page.keyboard.press("k")
    choose(page, task="medhallu")
    page.keyboard.press("Escape")


def test_generations_and_how_far_they_agree(page: Any, runs: list[Run]) -> None:
    choose(page, task="medmcqa_openmed", run="often")
    open_first(page)
    sample = runs[3].tasks["medmcqa_openmed"].samples[0]
    folds = page.locator("#detail details.generation")
    assert folds.count() == 4 == len(sample.responses)
    text = page.inner_text("#detail .agreement")
    answers = sample.answers["strict-match"]
    most = max(answers.count(answer) for answer in answers)
    assert f"4 generations, {most} of 4 agree" in text and "no answer ×1" in text
    marks = page.locator("#detail details.generation summary .mark").evaluate_all("all => all.map((e) => e.title)")
    assert [mark == "Right" for mark in marks] == [answer == sample.target for answer in answers]
    assert marks.count("No answer found") == 1
    unfold(page)
    for fold, response in zip(folds.all(), sample.responses, strict=True):
        assert (response or "empty").strip("\\boxed{}") in fold.inner_text()


# ---- plots, runs


def test_plots_are_legible_and_fill_their_row(page: Any) -> None:
    sizes = page.evaluate(
        """() => [...document.querySelectorAll(".plot text, .plot-label, .panel, .key li, figcaption")]
        .filter((e) => e.checkVisibility()).map((e) => parseFloat(getComputedStyle(e).fontSize))"""
    )
    assert sizes and min(sizes) >= 12
    clipped = page.evaluate(
        """() => [...document.querySelectorAll(".plot-label, .panel")].filter((e) => e.checkVisibility())
        .filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent)"""
    )
    assert clipped == [], "labels are whole"
    short = page.evaluate(
        """() => [...document.querySelectorAll(".pair")].filter((e) => e.checkVisibility()).filter((pair) => {
          const rights = [...pair.children].map((e) => e.getBoundingClientRect());
          const lowest = Math.max(...rights.map((e) => e.top));
          return rights.some((e) => Math.max(...rights.filter((o) => Math.abs(o.top - e.top) < 9).map((o) => o.right))
            < pair.getBoundingClientRect().right - 2) && lowest >= 0;
        }).length"""
    )
    assert short == 0, "no row is left half empty"
    astray = page.evaluate(
        """() => [...document.querySelectorAll("main table")].filter((e) => e.checkVisibility()).flatMap((table) =>
          [...table.tHead.rows[0].cells].filter((head, column) => {
            const cell = table.tBodies[0].rows[0].cells[column];
            const edges = [head, cell].map((e) => e.querySelector(".value bdi")?.getBoundingClientRect());
            const side = head.classList.contains("text") ? "left" : "right";
            return edges[0] && edges[1] && !head.ariaSort && Math.abs(edges[0][side] - edges[1][side]) > 2;
          }).map((head) => head.textContent))"""
    )
    assert astray == [], "heads stand over what they are the heads of"


def test_runs_say_how_they_were_made(page: Any, runs: list[Run]) -> None:
    rows = cells(page, "Settings of each run")
    place = {name: rows[0].index(name) for name in rows[0]}
    by_run = {row[0]: row for row in rows[1:]}
    count = 2 * len(runs[1].tasks["medcalc_bench"].samples) // 2
    assert by_run["second"][place["Tokens"]] == f"{1200 * count:,} in · {34 * count:,} out"
    assert (
        by_run["second"][place["Latency of a request, median"]] == "1.50 s" and by_run["first"][place["Tokens"]] == ""
    )
    assert by_run["short"][place["Tokens"]] == "4,321 in · 765 out", "as medtasks eval saves them"
    assert by_run["short"][place["Latency of a request, median"]] == "0.25 s"
    assert re.fullmatch(r"[\d.]+ s", by_run["first"][place["Duration"]])
    assert re.fullmatch(r"20\d\d-\d\d-\d\d \d\d:\d\d UTC", by_run["first"][place["Started"]])
    assert by_run["short"][place["Limit"]] == "5"
    lengths = cells(page, "Length of responses by outcome")
    assert lengths[0][:4] == ["Benchmark", "Run", "all", "right"] and len(lengths) > 4
