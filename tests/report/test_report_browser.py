"""The page's samples in a real browser: every view against the runs, keys, marks, a phone, and hostile replies."""

import csv
import io
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from browsing import PHONE, chromium, needs_browser, opened, playwright, write
from given import each_row, json_lines, table, write_rows
from saved_runs import right_in, save_run, save_two

from medtasks_utils.benchmarks.facts import UNANSWERED
from medtasks_utils.report.page import build_page
from medtasks_utils.results import read_runs
from medtasks_utils.results.runs import audit_file

pytestmark = needs_browser

HOSTILE = "".join(table("hostile_response")) + "W" * 200_000 + " the end"
STRICT, LENIENT = "strict-match", "flexible-extract"
DRAWN = "#samples[data-ready] #browse[aria-busy=false] #detail[aria-busy=false]"
COUNTS = """() => Object.fromEntries([...document.querySelectorAll("#choices .facet")].map((facet) =>
    [facet.dataset.facet, Object.fromEntries([...facet.querySelectorAll("[data-value]")].map((link) =>
        [link.dataset.value, Number(link.lastChild.textContent.replace(",", ""))]))]))"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two comparable runs of all benchmarks, one over fewer examples, and one with repeats."""
    folder = save_two(tmp_path_factory.mktemp("runs"), tasks="medtasks")
    save_run(folder / "c", right_in(0.6, "c"), tasks=("medhallu", "medcalc_bench"), model="org/short", limit=5)
    answers = iter(["\\boxed{A}", "\\boxed{A}", "", "\\boxed{B}"] * 100)
    repeated = {"medmcqa": {"repeats": 4}}
    save_run(folder / "d", lambda doc: next(answers), tasks="medmcqa_openmed", model="org/often", metadata=repeated)
    for run, task, fields in [*table("edited_samples"), ("a", "medhallu", {"resps": [[HOSTILE]]})]:
        (log,) = (folder / run).glob(f"**/samples_{task}_*")
        lines = json_lines(log)
        changed = [line | fields if task != "medhallu" or line["doc_id"] == 0 else line for line in lines]
        for line in changed[:6]:
            line["doc"]["known_issues"] = ["two answers are right"]
        write_rows(changed, log)
    (log,) = (folder / "b").glob("**/samples_medhallu_*")
    readings = [{"doc_id": n, "differs": n % 2, "stated": "1"} for n in range(6)]
    audit_file(log).write_text(json.dumps({"readings": readings}))
    return read_runs([folder / name for name in "abdc"])  # best first, as on the page


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def address(runs, tmp_path_factory):
    return write(runs, tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def page(browser, address):
    with opened(browser, address) as found:
        yield found


@pytest.fixture(scope="module")
def pair(browser, runs, tmp_path_factory):
    """A page of two runs."""
    two = [run for name in ("first", "second") for run in runs if run.name == name]
    with opened(browser, write(two, tmp_path_factory.mktemp("pair"))) as found:
        yield found


FOLLOW = """(hash) => new Promise((done) => {
    if (location.hash === hash) return done();
    addEventListener("hashchange", () => done(), { once: true });
    location.hash = hash;
})"""


NUMBERS = """async () => {
    const found = [];
    for (const link of document.querySelectorAll("a[href^='#samples?']")) {
        const [number] = /^[\\d,]+(?= |$)/.exec((link.querySelector("title") ?? link).textContent) ?? [];
        if (!number || !link.isConnected || link.closest("#samples")) continue;
        history.replaceState(null, "", link.getAttribute("href"));
        dispatchEvent(new Event("hashchange"));
        found.push([link.getAttribute("href"), number, document.getElementById("count").textContent.split(" ")[0]]);
    }
    return found;
}"""


CALLED = """
    const found = [];
    for (const [i, given] of rows.entries()) {
        const called = new Promise((done) => done(calls[i](...given)));
        found.push(JSON.parse(JSON.stringify((await called.catch(String)) ?? null)));
    }
    return found; }"""


def go(page: Any, **view: Any) -> None:
    """Follow a link to a view, whose runs may be named, and wait until it is drawn."""
    names = page.locator(".facets select[name=a] option").all_inner_texts()
    view |= {facet: names.index(view[facet]) for facet in ("a", "b") if view.get(facet) in names}
    page.evaluate(FOLLOW, "#samples?" + urlencode({"filter": STRICT, **view}))
    page.wait_for_selector(DRAWN, state="attached")


def saved(page: Any, button: str) -> str:
    """What a button saves."""
    with page.expect_download() as download:
        page.locator(button).first.click()
    return Path(download.value.path()).read_text(encoding="utf-8-sig")


# ---- every view, against the runs


class Question:
    """A question in all runs, and what a view must know of it."""

    def __init__(self, runs: Any, task: Any, key: Any, view: dict[str, str], compared: list[Any]) -> None:
        self.rule, self.task, self.view = view.get("filter", STRICT), task, view
        tasks = [run.tasks.get(task.task) for run in runs]
        found = [of and key in of.examples and of.samples[of.examples[key]] for of in tasks]
        self.samples = {place: sample for place, sample in enumerate(found) if sample}
        self.doc = next(iter(self.samples.values()))
        a, b, focus = compared
        self.is_paired = b is not None
        self.own, self.pair = self.samples.get(focus), [self.samples.get(place) for place in (a, b)]
        disputed = {("second", "medhallu", place) for place in (1, 3, 5)}
        self.audited = [(runs[place].name, task.task, each.doc_id) in disputed for place, each in self.samples.items()]
        self.shown = [place for place in (a, b) if place in self.samples]
        self.votes = [each for place, each in self.samples.items() if self.is_good(runs[place].tasks[task.task])]
        first = self.samples[min(self.samples)]
        self.texts = [*strings([first.doc, first.messages, *(each.responses for each in self.samples.values())])]
        self.groups = {one.name: group for one in task.facts.breakdowns if (group := one.key(first.doc)) is not None}

    def acc(self, sample: Any, rule: str = "") -> float:
        return float(sample.metrics[rule or self.rule]["acc"])

    def is_good(self, task: Any) -> bool:
        """Whether a run is right in more than half of a task's questions."""
        return 2 * sum(self.acc(sample) > 0.5 for sample in task.samples) > len(task.samples)

    def is_contradicted(self) -> bool:
        """Whether more than half of three good runs or more give the same wrong answer."""
        wrong = Counter(self.answer(each) for each in self.votes if self.acc(each) <= 0.5)
        return len(self.votes) > 2 and any(2 * n > len(self.votes) for answer, n in wrong.items() if answer)

    def answer(self, sample: Any) -> str | None:
        """The answer in words, with counts of several; of an unanswered one, what the lenient rule reads."""
        words = {UNANSWERED: "no answer", **self.task.benchmark.answers}
        for rule in (self.rule, LENIENT):
            if {*sample.answers[rule]} != {UNANSWERED}:
                counts = Counter(words.get(answer, answer) for answer in sample.answers[rule]).most_common()
                return ", ".join(f"{each} ×{n}" if len(sample.answers[rule]) > 1 else each for each, n in counts)
        return None

    def outcome(self, sample: Any) -> str:
        best = sample.metrics[LENIENT]
        if self.acc(sample) == 1:
            return "right"
        if best["acc"] > self.acc(sample):
            return "form"
        if best["answered"] < 1:
            return "cut" if sample.metrics[STRICT].get("cut") else "none"
        return "unsure" if "2" in sample.answers[LENIENT] and self.task.task == "medhallu" else "wrong"

    def certainty(self, sample: Any) -> float:
        logged = sample.details[LENIENT]["certainty"]
        return round(float(np.mean(logged)), 4)

    def signs(self, sample: Any) -> set[str]:
        signs = {
            "generations disagree": any(len({*answers}) > 1 for answers in sample.answers.values()),
            "empty response": any(not text.strip() for text in sample.responses),
            "cut at the token limit": "length" in sample.ended,
        }
        return {name for name, holds in signs.items() if holds}

    def verdict(self, sample: Any) -> str:
        right = self.acc(sample) if sample else None
        lost = "none" if sample and self.outcome(sample) in ("none", "cut") else "wrong"
        return "" if right is None else "right" if right == 1 else "partly" if right else lost

    def about(self) -> str:
        """The last line of the question in the list: its part, the answers shown, and the right one."""
        said = [self.answer(sample) or "–" if sample else "not asked" for sample in self.pair]
        shown = [f"A {said[0]}", f"B {said[1]}"] if self.is_paired else said[:1]
        right = {**self.task.benchmark.answers}.get(self.doc.target, self.doc.target)
        group = [group.replace("_", " ") for group in self.groups.values()][:1]
        return " · ".join([*group, *shown, f"right {right}"])

    def values(self) -> dict[str, set[Any]]:
        """The question's values in each facet."""
        among = [*map(int, self.view["among"].split("."))] if "among" in self.view else [*self.samples]
        right = [str(place) for place in among if place in self.samples and self.acc(self.samples[place]) > 0.5]
        exactly = {f"right_in_{'.'.join(right)}"} & {self.view.get("which")}
        which = {f"right_by_{len(right)}"} | exactly if {*among} <= {*self.samples} else set()
        if all(self.pair):
            one, other = (self.acc(sample) > 0.5 for sample in self.pair)
            names = {(1, 1): "both_right", (1, 0): "only_a", (0, 1): "only_b", (0, 0): "both_wrong"}
            which.add(names[one, other])
            answers = {*map(self.answer, self.pair)}
            if not (one or other) and len(answers) == 1 and None not in answers:
                which.add("same_wrong")
        shown = [self.samples[place] for place in self.shown]
        lost = {self.outcome(self.own)} if self.own else set()
        lost |= {"unanswered"} if lost & {"none", "cut"} else set()
        is_read = [{*sample.answers[LENIENT]} != {UNANSWERED} for sample in shown]
        distrust = {
            "doubted": bool(self.samples[min(self.samples)].doc.get("known_issues")),
            "contradicted": self.is_contradicted(),
            "uncertain": any(read and self.certainty(each) < 0.9 for each, read in zip(shown, is_read, strict=True)),
            "audit": any(held for place, held in zip(self.samples, self.audited, strict=True) if place in self.shown),
        }
        return {
            "task": {self.task.task},
            "which": which,
            "lost": lost,
            "distrust": {name for name, holds in distrust.items() if holds},
            "found": {self.own.way_found(self.rule)} if self.own else set(),
            "sign": self.signs(self.own) if self.own else set(),
            **{name: {group} for name, group in self.groups.items()},
        }

    def line(self, sample: Any, run: Any) -> dict[str, Any]:
        """The question's line in the CSV for a run."""
        fields = {
            "task": self.task.task,
            "id": self.doc.doc_id,
            "run": run.name,
            "filter": self.rule,
            "right": f"{self.acc(sample):g}",
            "outcome": self.outcome(sample),
            "length": sum(map(len, sample.responses)),
            "certainty": f"{self.certainty(sample):g}",
            "found_by": sample.way_found(self.rule),
            **self.groups,
        }
        return {name: str(value) for name, value in fields.items()}


def questions(runs: Any, view: dict[str, str], compared: list[Any]) -> list[Question]:
    tasks = {name: run.tasks[name] for run in reversed(runs) for name in run.tasks}
    found = []
    for name in dict.fromkeys(name for run in runs for name in run.tasks):
        keys = dict.fromkeys(key for run in runs if name in run.tasks for key in run.tasks[name].examples)
        found += [Question(runs, tasks[name], key, view, compared) for key in keys]
    return found


def strings(value: Any) -> Any:
    """Yield the texts in a value, without the names of fields."""
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(each)
    if isinstance(value, str):
        yield value


@each_row("views")
def test_a_view_lists_counts_and_saves_what_the_runs_say(name, view, compared, page, runs):
    """Compared are A, B, and the run whose lost points are counted; by default, the first run of the page."""
    places = {run.name: place for place, run in enumerate(runs)}
    view = {facet: str(places.get(value, value)) for facet, value in view.items()}
    compared = [places.get(run) for run in compared] if any(compared) else [0, None, 0]
    all_questions = questions(runs, view, compared)
    chosen = {facet: value for facet, value in view.items() if facet not in ("a", "b", "among", "filter", "order", "q")}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    listed = []
    for question in all_questions:
        if not any(view.get("q", "").lower() in text.lower() for text in question.texts):
            continue
        values = question.values()
        failing = {facet for facet, value in chosen.items() if value not in values.get(facet, ())}
        listed += [] if failing else [question]
        for facet, own in values.items():
            if failing <= {facet}:
                counts[facet].update(own)
    keys = {
        "hard": lambda each: sum(each.acc(sample) > 0.5 for sample in each.samples.values()),
        "longest": lambda each: -len("".join(each.own.responses)) if each.own else 1,
        "shortest": lambda each: len("".join(each.own.responses)) if each.own else 1e9,
        "unsure": lambda each: each.certainty(each.own) if each.own else 2,
    }
    listed = sorted(listed, key=keys[view["order"]]) if "order" in view else listed
    go(page, **view)
    assert page.inner_text("#count").split()[0] == str(len(listed))
    rows = list(csv.DictReader(io.StringIO(saved(page, "#saving >> text=CSV"))))
    lines = [question.line(sample, runs[place]) for question in listed for place, sample in question.samples.items()]
    assert [{name: row[name] for name in line} for row, line in zip(rows, lines, strict=True)] == lines
    for question in listed[:1]:
        row = page.locator("#list .it").first
        boxes = row.locator(".box").evaluate_all("all => all.map((box) => box.className.slice(4))")
        assert boxes == [question.verdict(question.samples.get(place)) for place in range(4)]
        assert row.locator(".about").inner_text() == question.about()
    told = page.evaluate(COUNTS)
    for facet, values in told.items():
        is_hidden = {"right", "none"}.difference(chosen.values()) if facet == "lost" else ()
        expected = {value: n for value, n in counts[facet].items() if value not in is_hidden}
        assert {value: n for value, n in values.items() if n} == expected, facet
        others = [n for value, n in values.items() if value not in chosen.values()]
        if facet not in ("task", "which", "lost", "distrust"):
            assert others == sorted(others, reverse=True) and (len(values) > 1 or facet in chosen), facet


TURNED = """async () => {
    const index = JSON.parse(await unpack(packedElements("index")[0].textContent));
    const pairs = (value) => Object.entries(value).reverse().map(([name, each]) => [name, turned(each)]);
    const turned = (value) => Array.isArray(value) ? value.map(turned) :
        value && typeof value === "object" ? Object.fromEntries(pairs(value)) : value;
    const drawn = (each) => {
        const { shown, counts } = new Facets(each, new PersonMarks(each)).select({ task: "medhallu", order: "hard" });
        return [shown, counts.map((count) => [...count].sort())];
    };
    return [drawn(index), drawn(turned(index))];
}"""


def test_nothing_depends_on_the_order_of_fields(page):
    one, other = page.evaluate(TURNED)
    assert one == other and len(one[0]) == 28


def test_a_page_opens_with_the_likeliest_view(browser, runs, pair, tmp_path):
    """Of two runs, what only B has right; of one, the largest loss that can be repaired. Parts may lie beside it."""
    only_b = pair.inner_text(".facet [aria-current][data-value=only_b] > span")
    assert only_b == pair.inner_text("#count").split()[0]
    path = tmp_path / "report.html"
    second = [run for run in runs if run.name == "second"]
    path.write_text(build_page(second, beside=tmp_path / "my files"), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector(DRAWN)
    assert list((tmp_path / "my files").iterdir()) and page.locator("#detail .col").count() == 1
    assert page.locator("head script[src]").count() == 0, "what was loaded is taken away"
    assert page.inner_text(".facet [aria-current][data-value=cut] > span") == "5"
    page.close()


def test_each_function_of_the_page_returns_what_its_row_says(page):
    """Rows have a name, a function of the page or of ``page_functions``, what it is given, and what it returns."""
    helpers = (Path(__file__).parent / "tables" / "page_functions.js").read_text()
    calls = ", ".join(f"(...given) => ({function})(...given)" for _, function, *_ in table("functions"))
    call = f"async (rows) => {{ {helpers}; const calls = [{calls}];" + CALLED
    rows = page.evaluate(call, [given for *_, given, _ in table("functions")])
    wrong = {row[0]: found for row, found in zip(table("functions"), rows, strict=True) if found != row[-1]}
    assert wrong == {}


@pytest.mark.parametrize("name", ["page", "pair"])
def test_a_number_leads_to_as_many_questions(name, request):
    """Numbers of questions in the page and its charts; with repeats a chart has shares of questions."""
    found = request.getfixturevalue(name).evaluate(NUMBERS)
    assert len(found) > 20 and [each for each in found if each[1] != each[2]] == []


# ---- the open question


@each_row("stories")
def test_a_reader_sees(name, opened_page, view, story, page, pair):
    """What a story says is seen, between keys, clicks and what is put into fields: at a selector the texts or how many
    elements, or what an expression after ``=`` is.
    """
    shown = {"page": page, "pair": pair}[opened_page]
    go(shown, **view)
    shown.locator("#browse").scroll_into_view_if_needed()
    for step in story:
        if isinstance(step, dict):
            for place, expected in step.items():
                see(shown, place, expected)
            continue
        if isinstance(step, list):
            put(shown, *step)
        else:
            shown.keyboard.press(step) if len(step) == 1 or "+" in step else shown.click(step)
        shown.wait_for_selector(DRAWN, state="attached")


def see(shown: Any, place: str, expected: Any) -> None:
    """What is drawn after a step is waited for."""
    if place[0] == "=":
        shown.wait_for_function(f"(expected) => JSON.stringify({place[1:]}) === JSON.stringify(expected)", arg=expected)
        return
    found = playwright.expect(shown.locator(place), place)
    if isinstance(expected, int):
        found.to_have_count(expected)
    else:
        found.to_have_text(expected, use_inner_text=True)


def put(shown: Any, selector: str, value: str) -> None:
    """Choose a value, or write a text."""
    field = shown.locator(selector)
    field.select_option(value) if "select" in selector else field.fill(value)


def test_the_words_that_were_read_are_marked(page):
    """In what is shown, formatted or raw, the words of the rule that counts; above, in words."""
    read = "[...CSS.highlights.get('read')].map((range) => range.toString())"
    go(page, task="medexqa_all", a="first", filter=LENIENT)
    assert page.inner_text("#detail .read q >> nth=0") == "\\boxed{A"
    page.evaluate("document.querySelector('#detail [data-words]').dataset.words = 'Values are'")
    page.evaluate("markRead(document.getElementById('detail'))")
    assert page.evaluate(read) == ["Values are"]
    go(page, task="medmcqa_openmed", found="box", a="first")
    (words,) = page.evaluate(read)
    assert words.strip() == page.inner_text("#detail .read b >> nth=0"), "the letter in its box"
    assert "boxed" in page.inner_text("#detail .read q >> nth=0")


def test_a_reply_opens_at_its_end_and_is_data(page):
    """A hostile one makes nothing but text, and a long one is shown whole when asked."""
    go(page, task="medhallu", a="first")
    reply = page.locator("#detail .resp").first
    at_end = "e => e.scrollHeight - e.scrollTop - e.clientHeight"
    assert reply.evaluate(at_end) <= 1 and reply.inner_text().endswith("the end")
    page.click("text=/Show all 20\\d,\\d+ characters/")
    assert reply.inner_text().startswith("</script><script>window.ran = true; alert(1)</script><img")
    assert set(reply.evaluate("e => [...e.querySelectorAll('*')].map((x) => x.tagName)")) <= {"P", "CODE", "DIV"}
    page.click(".tools >> text=Raw")
    page.click("text=/Show all 20\\d,\\d+ characters/")
    raw = page.locator("#detail pre.raw")
    assert raw.locator("*").count() == 0 and "‹U+202E›‹U+2066›‹U+2028›‹U+2029›‹U+FEFF›" in raw.inner_text()
    page.click(".tools >> text=Raw")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_an_address_is_the_view(pair):
    """Another window shows the same, under the same rule, and what was searched for is marked."""
    go(pair, task="medmcqa_openmed", filter=LENIENT)
    pair.keyboard.press("/")
    pair.keyboard.type("the")
    pair.wait_for_function("() => CSS.highlights.get('found')?.size > 0")
    pair.keyboard.press("Escape")
    assert "q=the" in pair.url and pair.evaluate("document.activeElement === document.body")
    shown = [pair.url, pair.inner_text("#count"), pair.inner_text("#detail")]
    again = pair.context.new_page()
    again.goto(pair.url)
    again.wait_for_selector(DRAWN)
    assert [again.url, again.inner_text("#count"), again.inner_text("#detail")] == shown
    again.close()


def test_a_person_s_marks_are_kept_counted_saved_and_read(browser, address, page, tmp_path):
    """They stand under the reply, and in a CSV that another browser reads; keys make them, and pass by what has one."""
    go(page, task="medhallu", a="first", b="second")
    page.locator("#browse").scroll_into_view_if_needed()
    page.keyboard.press("j")
    page.wait_for_selector(DRAWN, state="attached")
    page.keyboard.press("1")
    page.fill("#detail [name=note] >> nth=1", '=1, "so"')
    page.keyboard.press("Tab")
    assert page.get_attribute("#detail .marks [value='reading wrong'] >> nth=1", "aria-pressed") == "true"
    assert page.inner_text("[data-value=marked] > span") == "1"
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("k")
    page.keyboard.press("u")
    page.wait_for_function("() => document.querySelector('#detail .where').textContent.startsWith('3 of')")
    again = page.context.new_page()
    again.goto(page.url)
    again.wait_for_selector("#samples[data-ready]")
    assert again.inner_text("[data-value=marked] > span") == "1"
    again.close()
    go(page, distrust="marked", a="second")
    assert page.inner_text("#count") == "1 question" and page.input_value("#detail [name=note]") == '=1, "so"'
    text = saved(page, "#saving >> text=/^Marks/")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["run"], row["task"], row["mark"]) for row in rows] == [("second", "medhallu", "reading wrong")]
    path = tmp_path / "marks.csv"
    path.write_text(text)
    page.click("#detail .marks [value='reading wrong']")
    page.fill("#detail [name=note]", "")
    page.keyboard.press("Tab")
    assert page.inner_text("#count") == "0 questions"
    page.set_input_files("#saving input[type=file]", path)
    page.wait_for_selector("#detail .marks [value='reading wrong'][aria-pressed=true]")
    assert page.input_value("#detail [name=note]") == '=1, "so"'


def test_on_a_phone_the_question_lies_over_the_list(browser, address):
    with opened(browser, address, PHONE, "dark") as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
        assert not page.is_visible("#detail") and not page.is_visible("#choices")
        for leave in (lambda: page.go_back(), lambda: page.click("text=‹ List")):
            page.locator("#list .it").first.click()
            page.wait_for_selector("#detail[aria-busy=false] .why")
            box = page.locator("#detail").bounding_box()
            assert (box["width"], box["height"]) == PHONE, "it covers the list"
            leave()
            page.wait_for_selector("#detail", state="hidden")
        assert page.is_visible("#list .it >> nth=0")
