"""The page in a real browser: clicked through in both themes, at desktop and phone width, with hostile responses."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import shutil
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import (
    DESKTOP,
    PHONE,
    choose,
    chromium,
    needs_browser,
    open_first,
    opened,
    playwright,
    shown,
    unfold,
    write,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from saved_runs import right_in, sample_file, save_run

from medtasks_utils.report import build_page
from medtasks_utils.report.packing import pack
from medtasks_utils.results import Run, Sample, read_runs

pytestmark = needs_browser

FILTERS = ("flexible-extract", "strict-match")

HOSTILE = (
    "</script><script>window.ran = true; alert(1)</script><img src=x onerror='window.ran = true; alert(2)'>"
    "<style>* { display: none !important }</style><a href='https://example.org/'>x</a><!-- <svg onload=alert(3)>"
    + "".join(map(chr, [*range(9), 11, 12, *range(14, 32), 127, *range(128, 160)]))
    + "\u202e\u2066\u2028\u2029\ufeff\u0301"
    + "\u0301" * 500
    + "{{ 7 * 7 }} ${alert(4)} \\u003cscript\\u003e"
    + "W" * 200_000
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of all four benchmarks."""
    folder = tmp_path_factory.mktemp("runs")
    save_run(folder / "a", right_in(0.7, "a"), model="org/first")
    save_run(folder / "b", right_in(0.4, "b"), model="org/second")
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def runs(folder: Path) -> list[Run]:
    return read_runs([folder / "a", folder / "b"])


@pytest.fixture(scope="module")
def address(runs: list[Run], tmp_path_factory: pytest.TempPathFactory) -> str:
    return write(runs, tmp_path_factory.mktemp("page"))


def search(page: Any, text: str, expected: int) -> None:
    page.fill("input[name=q]", text)
    playwright.expect(page.locator("#count")).to_have_text(re.compile(rf"{expected:,} of [\d,]+ samples"))


def count(runs: list[Run], wanted: Callable[[Run, str, Sample], bool]) -> int:
    return sum(wanted(run, name, sample) for run in runs for name, t in run.tasks.items() for sample in t.samples)


def is_right(sample: Sample, filter_name: str = "strict-match") -> bool:
    return sample.metrics[filter_name]["acc"] == 1


# ---- clicked through


@pytest.mark.parametrize(
    ("size", "theme"),
    [
        pytest.param(DESKTOP, "light", id="desktop-light"),
        pytest.param(PHONE, "dark", id="phone-dark"),
        pytest.param(DESKTOP, "dark", id="desktop-dark", marks=pytest.mark.slow),
        pytest.param(PHONE, "light", id="phone-light", marks=pytest.mark.slow),
    ],
)
def test_filters_and_samples(browser: Any, address: str, runs: list[Run], size: tuple[int, int], theme: str) -> None:
    with opened(browser, address, size, theme) as page:
        assert shown(page) == count(runs, lambda *_: True)
        assert not page.is_visible("select[name=difficulty]"), "there for its own tasks only"
        choose(page, result="right")
        assert shown(page) == count(runs, lambda run, task, sample: is_right(sample))
        choose(page, result="wrong", run="second")
        assert shown(page) == count(runs, lambda run, task, sample: not is_right(sample) and run.name == "second")
        choose(page, result="unanswered")
        assert shown(page) == count(
            runs, lambda run, task, sample: run.name == "second" and not sample.metrics["strict-match"]["answered"]
        )
        choose(page, result="", run="", task="medhallu", difficulty="hard", kind="incomplete_information")
        kinds = count(
            runs,
            lambda run, task, sample: (
                task == "medhallu"
                and sample.doc["difficulty"] == "hard"
                and sample.target == "1"
                and sample.doc["category"] == "incomplete_information"
            ),
        )
        assert shown(page) == kinds > 0
        choose(page, task="medcalc_bench", category="lab_test", found="tag")
        assert not page.is_visible("select[name=difficulty]")
        assert shown(page) == count(
            runs,
            lambda run, task, sample: (
                sample.doc.get("category") == "lab_test" and sample.found_by["strict-match"] == ["tag"]
            ),
        )
        open_first(page)
        sample = next(
            sample
            for sample in runs[0].tasks["medcalc_bench"].samples
            if sample.doc["category"] == "lab_test" and sample.found_by["strict-match"] == ["tag"]
        )
        page.click("text=Raw text")
        unfold(page)
        text = page.inner_text("#detail")
        assert sample.doc["question"] in text and sample.responses[0] in text and sample.target in text
        assert "lab test" in text and "system" in text
        assert "Right" in text or "Wrong" in text
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        if size == PHONE:
            box = page.locator("#detail").bounding_box()
            assert (box["width"], box["height"]) == size, "it covers the list"
            page.click("text=Close")
            assert not page.is_visible("#detail")


def test_every_section_fits_a_phone(browser: Any, address: str) -> None:
    with opened(browser, address, PHONE) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
        right = "Math.max(...[...document.querySelectorAll('figure svg')].map((e) => e.getBoundingClientRect().right))"
        assert page.evaluate(right) <= PHONE[0]


def test_the_filter_switch_changes_tables_and_verdicts(browser: Any, address: str, runs: list[Run]) -> None:
    with opened(browser, address) as page:
        for filter_name, other in (FILTERS, FILTERS[::-1]):
            page.check(f"input[name=filter][value={filter_name}]", force=True)
            choose(page, result="right")
            assert shown(page) == count(runs, lambda run, task, sample, f=filter_name: is_right(sample, f))  # type: ignore[misc]
            assert page.locator(f"[data-for={filter_name}]").first.is_visible()
            assert not page.locator(f"[data-for={other}]").first.is_visible()
        choose(page, result="format")
        assert shown(page) == count(
            runs, lambda run, task, sample: is_right(sample, "flexible-extract") and not is_right(sample)
        )
        choose(page, result="disagree")
        assert 0 < shown(page) < count(runs, lambda *_: True) and shown(page) % 2 == 0


def test_themes(browser: Any, address: str) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    with opened(browser, address, theme="dark") as dark, opened(browser, address) as light:
        by_system = {"dark": dark.evaluate(colour), "light": light.evaluate(colour)}
        assert by_system["dark"] != by_system["light"]
        for theme in ("dark", "light"):
            for page in (dark, light):
                page.check(f"input[name=theme][value={theme}]", force=True)
                assert page.evaluate(colour) == by_system[theme]
        dark.check("input[name=theme][value='']", force=True)
        assert dark.evaluate(colour) == by_system["dark"]


def test_search_looks_into_prompts_responses_and_answers(browser: Any, address: str, runs: list[Run]) -> None:
    def occurrences(text: str) -> int:
        return count(
            runs, lambda run, task, sample: text in (sample.prompt + sample.responses[0] + str(sample.doc)).lower()
        )

    with opened(browser, address) as page:
        search(page, "GRAPEFRUIT", occurrences("grapefruit"))
        assert occurrences("grapefruit") > 0
        open_first(page)
        assert page.evaluate("CSS.highlights.get('found').size") > 0
        search(page, "no such words anywhere", 0)
        search(page, "", count(runs, lambda *_: True))


TRICKY = st.text(st.sampled_from('ab"\\\\:,1.N\n\tÄä{}[]ulnit'), max_size=6)
RECORD = st.recursive(
    TRICKY | st.integers(0, 20) | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TRICKY, inner, max_size=3),
    max_leaves=8,
)


def strings(value: Any) -> Iterator[str]:
    """The strings in a value, names of fields aside."""
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(item)


def test_search_finds_what_stands_in_a_string_and_nothing_else(browser: Any, address: str) -> None:
    find = "([json, q]) => [...linesWith(json.toLowerCase(), JSON.stringify(q).slice(1, -1).toLowerCase())]"
    with opened(browser, address) as page:

        @settings(max_examples=300, deadline=None)
        @given(st.lists(RECORD, max_size=4), TRICKY.filter(bool))
        def check(records: list[Any], query: str) -> None:
            (chunk,) = pack(records).chunks or [""]
            json_ = zlib.decompress(base64.b64decode(chunk)).decode() if chunk else "[]"
            wanted = [
                number
                for number, record in enumerate(records)
                if any(query.lower() in text.lower() for text in strings(record))
            ]
            assert page.evaluate(find, [json_, query]) == wanted

        check()


def test_keyboard(browser: Any, address: str) -> None:
    selected = "document.querySelector('#list [aria-selected=true]')?.getAttribute('aria-posinset')"
    with opened(browser, address) as page:
        for key, place in (("j", 1), ("j", 2), ("j", 3), ("k", 2)):
            page.keyboard.press(key)
            assert page.evaluate(selected) == str(place)
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.name") == "q"
        page.keyboard.type("j")
        assert page.input_value("input[name=q]") == "j", "letters are text there"
        page.fill("input[name=q]", "")
        page.wait_for_timeout(400)  # what is typed is looked for after a quarter of a second
        page.keyboard.press("Escape")
        assert page.evaluate("document.activeElement.name") != "q"
        page.focus("#list")
        page.keyboard.press("End")
        assert page.evaluate(selected) == page.evaluate(
            "document.querySelector('#list .row').getAttribute('aria-setsize')"
        )
        assert page.evaluate("document.getElementById('list').getAttribute('aria-activedescendant')").startswith("row-")
        page.keyboard.press("Home")
        page.keyboard.press("ArrowDown")
        assert page.evaluate(selected) == "2"


def test_addresses_hold_what_is_shown(browser: Any, address: str, runs: list[Run]) -> None:
    with opened(browser, address) as page:
        choose(page, task="medhallu", result="wrong", run="second", difficulty="easy")
        open_first(page)
        before = page.inner_text("#detail"), shown(page)
        shared = page.url
        assert "#samples&" in shared
    with opened(browser, shared) as page:
        page.wait_for_selector("#detail .verdict")
        assert (page.inner_text("#detail"), shown(page)) == before
        assert page.input_value("select[name=run]") == "second"
    with opened(browser, address) as page:
        link = page.locator("#unit-medcalc_bench table a:visible").first
        link.click()
        category = link.inner_text().replace(" ", "_")
        assert page.input_value("select[name=task]") == "medcalc_bench"
        assert page.input_value("select[name=category]") == category
        assert shown(page) == count(
            runs, lambda run, task, sample: task == "medcalc_bench" and sample.doc["category"] == category
        )
    with opened(browser, address + "#samples&task=nonsense&open=99999999&run=%3Cb%3E") as page:
        assert shown(page) == count(runs, lambda *_: True)


def test_the_list_is_sorted_and_saved(browser: Any, address: str, runs: list[Run]) -> None:
    with opened(browser, address) as page:
        choose(page, task="medhallu", run="first", sort="-length")
        page.check("input[value=length]")
        about = page.locator("#list .about").all_inner_texts()
        lengths = [int(text.split(" · ")[0].removeprefix("length ")) for text in about]
        assert lengths == sorted(lengths, reverse=True)
        assert "sort=-length" in page.url and "columns=length" in page.url
        saved = {}
        for kind in ("CSV", "JSONL"):
            with page.expect_download() as download:
                page.click(f".save >> text={kind}")
            saved[kind] = Path(download.value.path()).read_text(encoding="utf-8-sig")
    samples = {sample.doc_id: sample for sample in runs[0].tasks["medhallu"].samples}
    rows = list(csv.DictReader(io.StringIO(saved["CSV"])))
    records = [json.loads(line) for line in saved["JSONL"].splitlines()]
    for found in (rows, records):
        assert sorted(int(row["id"]) for row in found) == sorted(samples)
        for row in found:
            sample = samples[int(row["id"])]
            assert float(row["right"]) == sample.metrics["strict-match"]["acc"]
            assert int(row["length"]) == len(sample.responses[0]) and row["difficulty"] == sample.doc["difficulty"]
    assert all(record["responses"] == samples[record["id"]].responses for record in records)


def test_parts_lie_beside_the_page(browser: Any, runs: list[Run], tmp_path: Path) -> None:
    path, plain = tmp_path / "report.html", tmp_path / "plain.html"
    path.write_text(build_page(runs, beside=tmp_path / "my files"), encoding="utf-8")
    plain.write_text(build_page(runs), encoding="utf-8")
    assert path.stat().st_size < plain.stat().st_size
    seen = []
    for each in (path, plain):
        page = browser.new_page()
        page.goto(each.as_uri())
        page.wait_for_selector("html[data-ready]")
        search(page, "grapefruit", count(runs, lambda run, task, sample: "grapefruit" in sample.prompt.lower()))
        open_first(page)
        seen.append(page.inner_text("#detail"))
        page.close()
    assert seen[0] == seen[1]


def test_names_for_those_who_do_not_see(browser: Any, address: str) -> None:
    with opened(browser, address) as page:
        unnamed = page.evaluate(
            """[...document.querySelectorAll("select, input, [role=listbox], [role=img], [role=region], section, nav")]
            .filter((e) => !(e.labels?.length || e.ariaLabel || e.ariaLabelledByElements?.length))
            .map((e) => e.outerHTML.slice(0, 99))"""
        )
        assert unnamed == []
        assert [page.locator(tag).count() for tag in ("main", "h1", "footer", "nav")] == [1, 1, 1, 1]
        assert page.locator("table:not(:has(caption)), th:not([scope])").count() == 0
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_paper_shows_all_tables_and_no_controls(browser: Any, address: str) -> None:
    with opened(browser, address, theme="dark") as page:
        page.emulate_media(media="print")
        assert not page.is_visible("#samples") and not page.is_visible("nav")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        clipped = "[...document.querySelectorAll('.tall')].filter((e) => e.offsetHeight < e.scrollHeight - 1).length"
        assert page.evaluate(clipped) == 0
        assert page.locator("thead button").count() == 0, "with one, a head is printed on the first page alone"


# ---- hostile and unusual samples


def edit_first(folder: Path, task: str, edit: Callable[[dict[str, Any]], None]) -> None:
    """Change the first example of a task in a run's sample log, under both filters."""
    (results,) = folder.glob("**/results_*.json")
    path = sample_file(results, task)
    samples = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for sample in samples:
        if sample["doc_id"] == 0:
            edit(sample)
    path.write_text("".join(json.dumps(sample) + "\n" for sample in samples), encoding="utf-8")


def without_response(page: Any) -> dict[str, Any]:
    """Everything that the page shows but the response of the open sample, and where what it may not move stands."""
    return page.evaluate(  # type: ignore[no-any-return]
        """() => {
          const copy = document.querySelector("main").cloneNode(true);
          copy.querySelector("#detail .columns").remove();
          const boxes = [...document.querySelectorAll("h1, h2, h3, table, #list, #detail, #list .row, footer")];
          const place = (e) => [e.offsetLeft, e.offsetTop, e.offsetWidth, e.offsetHeight];
          return { html: copy.innerHTML, places: boxes.map(place) };
        }"""
    )


@pytest.mark.parametrize("size", [DESKTOP, pytest.param(PHONE, marks=pytest.mark.slow)], ids=["desktop", "phone"])
def test_a_hostile_response_changes_nothing_but_its_own_cell(
    browser: Any, folder: Path, tmp_path: Path, size: tuple[int, int]
) -> None:
    def answer_with(text: str) -> Callable[[dict[str, Any]], None]:
        return lambda sample: sample.update(resps=[[text + sample["resps"][0][0]]])

    pages = {}
    for name, text in (("plain", "Quite harmless. "), ("hostile", HOSTILE)):
        shutil.copytree(folder, tmp_path / name)
        edit_first(tmp_path / name / "a", "medhallu", answer_with(text))
        pages[name] = write(read_runs([tmp_path / name / "a", tmp_path / name / "b"]), tmp_path / name)
    seen = {}
    for name, address in pages.items():
        with opened(browser, address + "#samples&task=medhallu", size) as page:
            open_first(page)
            if name == "hostile":
                rendered = page.locator("#detail .column .text").first
                assert rendered.inner_text().startswith("</script><script>window.ran = true; alert(1)</script><img")
                assert set(rendered.evaluate("e => [...e.querySelectorAll('*')].map((x) => x.tagName)")) <= {
                    "P",
                    "CODE",
                }
                page.click("text=Raw text")
                response = page.locator("#detail pre.raw")
                assert response.inner_text().startswith("</script><script>window.ran = true; alert(1)</script><img")
                assert response.locator("*").count() == 0, "text, and no element"
                assert "‹U+202E›‹U+2066›‹U+2028›‹U+2029›‹U+FEFF›" in response.inner_text()
                page.click("text=Raw text")
                folded = without_response(page)
                page.click("text=/Show all 200,\\d+ characters/")
                response = rendered
                assert response.inner_text().count("W") >= 200_000
                assert without_response(page) == folded, "unfolding moves nothing"
            seen[name] = without_response(page)
            page.evaluate("document.querySelector('#detail').scrollTop = 0")
            page.get_by_role("button", name="Next", exact=True).click()
            playwright.expect(page.locator("#detail h3")).to_contain_text("second")
            seen[f"next after {name}"] = without_response(page)
    assert seen["hostile"] == seen["plain"]
    assert seen["next after hostile"] == seen["next after plain"]


def test_judges_transcripts_and_generations(browser: Any, folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "a", tmp_path / "a")
    judge = {
        "score": 75.0,
        "failure": None,
        "claims": ["Iron is <b>low</b>.", "Ferritin is high."],
        "labels": ["FULLY_SUPPORTED", "PARTIALLY_SUPPORTED"],
        "support": 75.0,
    }
    calls = [{"name": "calculator", "argument": "2+2", "failed": False}]
    transcript = [
        {"role": "user", "content": "What is it?"},
        {"role": "assistant", "content": "<tool_call>…</tool_call>"},
        {"role": "user", "content": "<tool_response>\n4\n</tool_response>", "calls": calls},
    ]
    edit_first(tmp_path / "a", "medexqa_all", lambda sample: sample.update(judge=judge))
    edit_first(tmp_path / "a", "medcalc_bench", lambda sample: sample.update(transcript=transcript))
    with opened(browser, write(read_runs(tmp_path / "a"), tmp_path)) as page:
        choose(page, task="medexqa_all")
        page.locator("#list .row").first.click()
        page.wait_for_selector("#detail >> text=Judge")
        rows = page.locator("#detail table").last.locator("tbody tr").all_inner_texts()
        assert [row.split("\t") for row in rows] == [
            ["Iron is <b>low</b>.", "FULLY SUPPORTED"],
            ["Ferritin is high.", "PARTIALLY SUPPORTED"],
        ]
        choose(page, task="medcalc_bench")
        page.locator("#list .row").first.click()
        page.wait_for_selector("#detail .turn")
        text = page.inner_text("#detail")
        assert "calculator" in text and "2+2" in text and "tool_call" not in text
        page.click("text=Raw text")
        page.wait_for_selector("#detail pre.raw")
        assert "<tool_call>…</tool_call>" in page.inner_text("#detail")
