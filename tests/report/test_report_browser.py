"""The page in a real browser: clicked through in both themes, at desktop and phone width, with hostile responses."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from browsing import PHONE, choose, chromium, needs_browser, open_first, opened, shown, unfold, write
from given import json_lines, table, write_rows
from saved_runs import right_in, save_run, save_two

from medtasks_utils.report.page import build_page
from medtasks_utils.results import read_runs

pytestmark = needs_browser

HOSTILE = "".join(table("hostile_response")) + "W" * 200_000


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two comparable runs of all benchmarks, one over fewer examples, and one with repeats."""
    folder = save_two(tmp_path_factory.mktemp("runs"), tasks="medtasks")
    save_run(folder / "c", right_in(0.6, "c"), tasks=("medhallu", "medcalc_bench"), model="org/short", limit=5)
    answers = iter(["\\boxed{0}", "\\boxed{0}", "", "\\boxed{1}"] * 100)
    repeated = {"medmcqa": {"repeats": 4}}
    save_run(folder / "d", lambda doc: next(answers), tasks="medmcqa_openmed", model="org/often", metadata=repeated)
    for run, task, fields in [*table("edited_samples"), ("a", "medhallu", {"resps": [[HOSTILE]]})]:
        (log,) = (folder / run).glob(f"**/samples_{task}_*")
        lines = json_lines(log)
        changed = [line | fields if task != "medhallu" or line["doc_id"] == 0 else line for line in lines]
        write_rows(changed, log)
    return read_runs([folder / name for name in "abcd"])


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def address(runs, tmp_path_factory):
    return write(runs, tmp_path_factory.mktemp("page"))


@pytest.fixture
def page(browser, address):
    with opened(browser, address) as found:
        yield found


def cells(page: Any, title: str) -> Any:
    """Return a visible table's cells, heads first."""
    table = page.locator(f"table[aria-label={json.dumps(title)}]:visible")
    return table.evaluate("t => [...t.rows].map((r) => [...r.cells].map((c) => c.innerText.trim()))")


def saved(page: Any, button: str) -> str:
    """What a button saves."""
    with page.expect_download() as download:
        page.locator(button).first.click()
    return Path(download.value.path()).read_text(encoding="utf-8-sig")


# ---- the list of samples


def test_filters_on_a_phone_in_the_dark(browser, address):
    with opened(browser, address, PHONE, "dark") as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
        page.click("#tabs a:text-is('MedMCQA')")
        plots = "[...document.querySelectorAll('.plot-xy, .plot-xy text')].map((e) => e.getBoundingClientRect().right)"
        assert 0 < max(page.evaluate(plots)) <= PHONE[0] - 16
        buttons, total = (page.locator(name).bounding_box() for name in (".save button >> nth=0", "#count"))
        assert total["y"] >= buttons["y"] + buttons["height"], "the count lies below the buttons"
        counted = []
        for filters, _ in table("filters"):
            choose(page, **filters)
            counted.append([filters, shown(page)])
            if filters.get("result") == "alone-right":
                marks = page.locator("#list .row").first.locator(".others .mark")
                assert marks.count() == 3, "one for each run that has it"
        assert counted == table("filters")
        open_first(page)
        box = page.locator("#detail").bounding_box()
        assert (box["width"], box["height"]) == PHONE, "it covers the list"
        page.click("text=Close")
        assert not page.is_visible("#detail")
        open_first(page)
        page.go_back()
        page.wait_for_function("() => getComputedStyle(document.querySelector('#detail')).display === 'none'")
        assert shown(page) > 0, "the page is still there"


@pytest.mark.slow
def test_search_keys_and_addresses(browser, address):
    selected = "document.querySelector('#list [aria-selected=true]')?.getAttribute('aria-posinset')"
    with opened(browser, address) as page:
        page.fill("input[name=q]", "GRAPEFRUIT")
        page.wait_for_function("() => document.querySelector('#count').textContent.startsWith('6 of')")
        open_first(page)
        assert page.evaluate("CSS.highlights.get('found').size") > 0
        page.fill("input[name=q]", "")
        page.wait_for_function("() => document.querySelector('#count').textContent.startsWith('210 of')")
        choose(page, result="wrong", run="second")
        page.locator("#list").focus()
        for key, place in (("Home", 1), ("j", 2), ("j", 3), ("k", 2)):
            page.keyboard.press(key)
            assert page.evaluate(selected) == str(place)
        before = page.inner_text("#detail"), shown(page)
        shared = page.url
    with opened(browser, shared) as page:
        page.wait_for_selector("#detail .verdict")
        assert (page.inner_text("#detail"), shown(page)) == before


@pytest.mark.slow
def test_the_list_is_sorted_and_saved(page, runs):
    choose(page, task="medcalc_bench", run="second", sort="-length")
    page.check("input[value=length]")
    about = page.locator("#list .about").all_inner_texts()
    lengths = [int(text.split(" · ")[0].removeprefix("length ")) for text in about]
    assert lengths == sorted(lengths, reverse=True) and "sort=-length" in page.url
    right = {s.doc_id: s.metrics["strict-match"]["acc"] for s in runs[1].tasks["medcalc_bench"].samples}
    assert len(list(csv.reader(io.StringIO(saved(page, ".save >> text=CSV"))))) == 1 + len(right)
    records = [json.loads(line) for line in saved(page, ".save >> text=JSONL").splitlines()]
    assert {record["id"]: record["right"] for record in records} == right and len(records) == len(right)


@pytest.mark.slow
def test_parts_lie_beside_the_page(browser, runs, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(build_page(runs, beside=tmp_path / "my files"), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]")
    open_first(page)
    assert list((tmp_path / "my files").iterdir()) and page.locator("#detail .column").count() == 1


# ---- a sample


def test_reasoning_calls_judges_generations_and_ends(page):
    open_first(page, task="medexqa_all", run="first")
    text = page.inner_text("#detail")
    assert "Reasoning, 16 characters" in text and "Some reasoning." not in text
    written = page.locator("#detail .column .read > .text").first
    for selector in ("strong", "table", "em", "math mfrac"):
        assert written.locator(selector).count() > 0, selector
    rows = page.locator("#detail table").last.locator("tbody tr").all_inner_texts()
    assert [row.split("\t") for row in rows] == [["Iron is <b>low</b>.", "FULLY SUPPORTED"]]
    open_first(page, task="medcalc_bench")
    turns = page.locator("#detail .turn")
    assert turns.count() == 3 and "tool_call" not in page.inner_text("#detail .columns")
    assert turns.nth(0).locator(".call .result").inner_text() == "42"
    assert turns.nth(1).locator(".call.failed").count() == 1 and turns.nth(0).locator(".failed").count() == 0
    unfold(page)
    text = page.inner_text("#detail")
    assert "The prompt once more." not in text and "A note." in text
    open_first(page, task="medmcqa_openmed", run="often")
    assert page.locator("#detail details.generation").count() == 4
    assert "4 generations" in page.inner_text("#detail .agreement")
    marks = page.locator("#detail details.generation summary .mark").evaluate_all("all => all.map((e) => e.title)")
    assert marks == ["Right", "Right", "No answer found", "Wrong"]
    open_first(page, run="second")
    text = page.inner_text("#detail")
    assert "Cut at the token limit, 1,234 tokens" in text and "Thought apart." not in text
    page.click("text=Reasoning sent separately, 14 characters")
    page.wait_for_selector("#detail >> text=Thought apart.")


def test_the_words_that_were_read_are_marked(page):
    """In what is shown, formatted or raw, the words of the filter chosen; above, in words."""
    read = "() => [...CSS.highlights.get('read')].map((range) => range.toString())"
    choose(page, task="medexqa_all", run="first")
    page.check("input[name=filter][value=flexible-extract]", force=True)
    open_first(page)
    assert page.inner_text("#detail q") == "\\boxed{A"
    page.click("text=Raw text")
    page.evaluate("document.querySelector('#detail [data-words]').dataset.words = 'are $\\\\frac{88}{4}$'")
    page.evaluate("markRead(document.getElementById('detail'))")
    page.click("text=Raw text")
    choose(page, task="medmcqa_openmed", result="right")
    page.check("input[name=filter][value=strict-match]", force=True)
    open_first(page)
    (words,) = page.evaluate(read)
    assert words.strip() == page.inner_text("#detail .verdict b >> nth=1"), "the letter in its box"
    assert "boxed" in page.inner_text("#detail q")


def test_a_person_s_marks_are_kept_saved_and_read(browser, address, tmp_path):
    """They stand in the browser under the response, and in a CSV that another browser reads."""
    mark = "#detail .own-mark"
    with opened(browser, address) as page:
        open_first(page, task="medhallu", run="second")
        page.select_option(f"{mark} select", "reading wrong")
        page.fill(f"{mark} [name=note]", '=1, "so"')
        page.keyboard.press("Tab")
        again = page.context.new_page()
        again.goto(page.url)
        again.wait_for_selector("html[data-ready] #detail .own-mark")
        assert again.input_value(f"{mark} [name=note]") == '=1, "so"'
        choose(page, task="", run="", badge="marked by a person")
        assert shown(page) == 1
        text = saved(page, ".save >> text=/^Marks/")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["run"], row["task"], row["mark"]) for row in rows] == [("second", "medhallu", "reading wrong")]
    path = tmp_path / "marks.csv"
    path.write_text(text)
    with opened(browser, address) as page:
        choose(page, badge="marked by a person")
        assert shown(page) == 0
        page.set_input_files(".save input[type=file]", path)
        page.wait_for_function("() => document.querySelector('#count').textContent.startsWith('1 of')")
        open_first(page)
        assert page.input_value(f"{mark} [name=note]") == '=1, "so"'


def test_differences_of_two_responses(page):
    open_first(page, task="medmcqa_openmed", result="only-a", a="first", b="second")
    page.click("text=Differences")
    first, second = (page.locator("#detail .difference").nth(place) for place in (0, 1))
    assert (first.inner_text(), second.inner_text()) == ("<think>So.</think>\n\\boxed{B}", "\\boxed{2}")
    assert second.locator("del").count() == first.locator("ins").count() == 0
    assert first.locator("del").count() + second.locator("ins").count() > 0


def test_a_hostile_response_changes_nothing_but_its_own_cell(page):
    places = """() => [...document.querySelectorAll("h1, h2, h3, table, #list, #detail, #list .row, footer")]
        .map((e) => [e.offsetLeft, e.offsetTop, e.offsetWidth, e.offsetHeight])"""
    open_first(page, task="medhallu", run="first")
    rendered = page.locator("#detail .column .text").first
    assert rendered.inner_text().startswith("</script><script>window.ran = true; alert(1)</script><img")
    assert set(rendered.evaluate("e => [...e.querySelectorAll('*')].map((x) => x.tagName)")) <= {"P", "CODE"}
    before = page.evaluate(places)
    page.click("text=/Show all 20\\d,\\d+ characters/")
    assert rendered.inner_text().count("W") >= 200_000 and page.evaluate(places) == before, "unfolding moves nothing"
    page.click("text=Raw text")
    response = page.locator("#detail pre.raw")
    assert response.locator("*").count() == 0 and "‹U+202E›‹U+2066›‹U+2028›‹U+2029›‹U+FEFF›" in response.inner_text()


# ---- the numbers


def heads(page: Any, title: str) -> list[str]:
    """Return the first lines of the heads of a visible table."""
    return [head.split("\n")[0] for head in cells(page, title)[0]]


def test_filter_runs_and_baseline_are_chosen(browser, address, page):
    board = heads(page, "Leaderboard")
    assert board[:3] == ["Run", "Rank", "Overall ▼"], "the overall score is the first column"
    place = board.index("MedCalc-Bench")
    (short,) = (row for row in cells(page, "Leaderboard") if row[0] == "short")
    assert short[place].endswith("≠")
    titles = page.locator("#board tr:has-text('short') > *").evaluate_all("all => all.map((e) => e.title)")
    assert "not comparable: different examples" in titles[place]
    assert "short is not comparable in" in page.inner_text("#said")
    told = []
    for filter_name, baseline in table("baselines"):
        page.check(f"input[name=filter][value={filter_name}]", force=True)
        page.select_option("select[name=baseline]", label=baseline)
        figure = f"Difference from {baseline}, {filter_name}"
        assert "short" in heads(page, figure) and baseline not in heads(page, figure)
        assert any("different examples" in text for row in cells(page, figure) for text in row)
        cell = page.locator(f"table[aria-label='{figure}'] td[title*=' to ']").first
        told.append(re.findall(r"[+−][\d.]+", f"{cell.inner_text()} {cell.get_attribute('title')}")[:3])
        page.uncheck("#draw-2")
        assert "short" not in heads(page, figure)
        with opened(browser, page.url) as shared:
            assert shared.is_checked(f"input[value={filter_name}]") and not shared.is_checked("#draw-2")
            assert shared.locator("select[name=baseline] option:checked").inner_text() == baseline
            assert shared.locator(f"table[aria-label='{figure}']").count() == 1
        page.check("#draw-2")
    (value, low, high), _, turned = told
    assert turned == [text.translate(str.maketrans("+−", "−+")) for text in (value, high, low)]
    assert "5 of" in page.inner_text("#summary .notice"), "what --limit left out"


def test_the_leaderboard_is_sorted_and_unfolded(page):
    page.click("#sort-none")
    place = heads(page, "Leaderboard").index("None ▼")
    rows = cells(page, "Leaderboard")[1:]
    losses = [float(row[place]) for row in rows]
    assert losses == table("losses"), "without an answer, cut or not, in per cent of all examples"
    page.click("#run-row-1")
    assert page.get_attribute("#run-row-1", "aria-expanded") == "true"
    assert "MedHallu" in page.inner_text("table[aria-label=second]")
    link = page.locator(".look a").first
    count = int(link.inner_text().split(" ")[0])
    link.click()
    assert shown(page) == count > 0, "the link leads to as many samples as it says"


def test_the_map_shows_which_examples_each_run_has_right(page):
    page.click("#tabs a:text-is('MedCalc-Bench')")
    title = "Examples that each run has right"
    shown_rights = {row[0]: int(row[2]) for row in cells(page, title)[1:]}
    assert shown_rights == {"first": 19, "second": 12, "short": 4}
    wrong = page.locator("#topic a[href*='all-wrong']")
    assert wrong.inner_text() == "2"
    wrong.click()
    assert shown(page) == 2
    page.locator(".agreement-row").nth(1).click(position={"x": 2, "y": 8})
    page.wait_for_selector("#detail .verdict.right")
    assert "medcalc_bench" in page.inner_text("#detail h3"), "the first column is one that most runs have right"


def test_values_stand_where_the_axis_says(browser, address):
    places = """() => [...document.querySelectorAll("table:not(.agreement):has(> thead .plot)")].map((table) => {
        const at = (selector) => [...(table.querySelector(selector)?.children ?? [])];
        const middle = (e) => { const { x, width } = e.getBoundingClientRect(); return x + width / 2; };
        const lines = at(":scope > tbody td.plot svg").filter((e) => e.matches(".grid, .zero"));
        return [at(":scope > thead .plot svg").map(middle), lines.map(middle)];
    })"""
    with opened(browser, address, PHONE) as page:
        page.click("#run-row-0")
        drawn_places = page.evaluate(places)
        assert len(drawn_places) >= 2
        for of_marks, of_lines in drawn_places:
            assert of_marks == pytest.approx(of_lines, abs=2)


def test_one_benchmark_is_open_at_a_time(page):
    for title in ("MedHallu", "MedMCQA"):
        page.click(f"#tabs a:text-is('{title}')")
        page.wait_for_selector(f"#topic > section[aria-label={title}]")
        assert page.locator("#topic > section").count() == 1
    page.click("#topic summary:has-text('All metrics')")
    rows = list(csv.DictReader(io.StringIO(saved(page, "#topic details[open] >> text=CSV"))))
    assert {row["run"] for row in rows} == {"first", "second", "often"}
    assert {"acc", "answered"} <= {row["metric"] for row in rows} and rows[0].keys() >= {"low", "high", "n"}


def test_the_page_is_short_and_named(page):
    unnamed = """[...document.querySelectorAll("select, input, [role=listbox], [role=img], section, nav, table")]
        .filter((e) => !(e.labels?.length || e.ariaLabel || e.ariaLabelledByElements?.length)).length"""
    assert page.evaluate(unnamed) == 0 == page.locator("th:not([scope], .plot)").count()
    stops = """[...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")].filter((e) =>
        e.checkVisibility() && !e.closest("#samples") && (e.type !== "radio" || e.checked)).length"""
    assert page.evaluate(stops) <= 60
    assert page.evaluate("document.getElementById('samples').offsetTop") <= 6 * 900
