"""The page's samples in a real browser: every view, keys, marks, a phone, and hostile replies, Markdown and LaTeX."""

import csv
import io
import json
import re
from collections import Counter, defaultdict
from operator import itemgetter
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from browsing import PHONE, chromium, needs_browser, opened, write
from given import each_row, json_lines, table, write_rows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from page_numbers import stores_of
from saved_runs import right_in, save_run, save_two

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
    as_read = {"value": 0.5, "low": 0.4, "high": 0.6}
    audit_file(log).write_text(json.dumps({"readings": readings, "accuracy_as_read": as_read}))
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
    with opened(browser, write(runs[:2], tmp_path_factory.mktemp("pair"))) as found:
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


SAVED = """(button) => new Promise((done) => {
    const make = URL.createObjectURL;
    URL.createObjectURL = (blob) => {
        URL.createObjectURL = make;
        blob.text().then(done);
        return make(blob);
    };
    button.click();
})"""


def saved(page: Any, button: str) -> str:
    """What a button saves, taken before the download: Chromium drops downloads after ten in a second."""
    return str(page.locator(button).first.evaluate(SAVED))


# ---- every view, against what the logs say (:func:`test_the_samples_of_a_page_are_those_of_the_logs`)


@pytest.fixture(scope="module")
def questions(runs):
    """The questions of the page in its order: what they are, and by run their samples, with what each rule read."""
    stores = stores_of(runs)
    index = stores["index"]
    read = {rule: lines_of(columns) for rule, columns in index["samples"].pop("read").items()}
    found = [
        {**line, "of": index["tasks"][line["task"]], "samples": {}, "texts": [*strings(record)]}
        for line, record in zip(lines_of(index["documents"]), stores["documents"], strict=True)
    ]
    for place, (sample, record) in enumerate(zip(lines_of(index["samples"]), stores["samples"], strict=True)):
        question = found[sample["document"]]
        question["samples"][sample["run"]] = sample | {rule: lines[place] for rule, lines in read.items()}
        question["texts"] += strings(record)
    return sorted(found, key=itemgetter("task", "id"))


def lines_of(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)]


def strings(value: Any) -> Any:
    """Yield the texts in a value, without the names of fields."""
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(each)
    if isinstance(value, str):
        yield value


class Rule:
    """What a rule makes of samples; runs vote on the labels of a task if they are right in more than half of it."""

    def __init__(self, name: str, questions: Any) -> None:
        self.name = name
        rights = defaultdict(list)
        for question in questions:
            for run, sample in question["samples"].items():
                rights[question["task"], run].append(self.is_right(sample))
        self.voters = {key for key, of_run in rights.items() if 2 * sum(of_run) > len(of_run)}

    def is_right(self, sample: Any) -> bool:
        return bool(sample[self.name]["acc"] > 0.5)

    def answer(self, sample: Any) -> Any:
        """The answer shown: of an unanswered question, what the lenient rule reads."""
        return sample[self.name]["answer"] or sample[LENIENT]["answer"]

    def lost(self, sample: Any) -> set[str]:
        outcome = sample[self.name]["outcome"]
        return {outcome, "unanswered"} if outcome in ("none", "cut") else {outcome}

    def is_contradicted(self, question: Any) -> bool:
        """Whether more than half of three voters or more give the same wrong answer."""
        votes = [sample for run, sample in question["samples"].items() if (question["task"], run) in self.voters]
        wrong = Counter(self.answer(sample) for sample in votes if not self.is_right(sample))
        return len(votes) > 2 and any(2 * n > len(votes) for answer, n in wrong.items() if answer)

    def which(self, question: Any, view: dict[str, str], pair: list[Any]) -> set[str]:
        """By how many runs of those that count a question is right, and by which of A and B."""
        samples = question["samples"]
        among = [*map(int, view["among"].split("."))] if "among" in view else [*samples]
        right = [str(run) for run in among if run in samples and self.is_right(samples[run])]
        exactly = {f"right_in_{'.'.join(right)}"} & {view.get("which")}
        which = {f"right_by_{len(right)}"} | exactly if {*among} <= {*samples} else set()
        if all(pair):
            one, other = map(self.is_right, pair)
            names = {(1, 1): "both_right", (1, 0): "only_a", (0, 1): "only_b", (0, 0): "both_wrong"}
            which.add(names[one, other])
            answers = {*map(self.answer, pair)}
            which |= {"same_wrong"} if not (one or other) and len(answers) == 1 and None not in answers else set()
        return which

    def facets(self, question: Any, view: dict[str, str], compared: list[Any]) -> dict[str, set[Any]]:
        """The question's values in each facet; compared are A, B, and the run whose lost points are counted."""
        a, b, own = map(question["samples"].get, compared)
        distrust = {why for sample in (a, b) if sample for why in sample["distrust"]}
        distrust |= {"doubted"} if question["doubted"] else set()
        return {
            "task": {question["of"]["name"]},
            "which": self.which(question, view, [a, b]),
            "lost": self.lost(own) if own else set(),
            "distrust": distrust | ({"contradicted"} if self.is_contradicted(question) else set()),
            "found": {own[self.name]["found_by"]} if own else set(),
            "sign": {*own["signs"]} if own else set(),
            **{name: {group} for name, group in question["groups"].items()},
        }

    def line(self, question: Any, run: str, sample: Any) -> dict[str, str]:
        """The line in the CSV; what is unknown is empty."""
        read = sample[self.name]
        own = {"task": question["of"]["name"], "id": question["id"], "run": run, "filter": self.name}
        fields = own | {
            "right": read["acc"], "outcome": read["outcome"], "answer": read["answer"], "target": question["target"],
            "found_by": read["found_by"], "marked": "; ".join(sample["signs"]), **question["groups"],
            "length": sample["length"], "certainty": sample["certainty"], "question": question["snippet"],
        }  # fmt: skip
        return {
            name: f"{value:g}" if isinstance(value, float) else str(value)
            for name, value in fields.items()
            if value not in ("", None)
        }


ORDERS = {
    "hard": lambda rule, question, own: sum(map(rule.is_right, question["samples"].values())),
    "longest": lambda rule, question, own: -own["length"] if own else 1,
    "shortest": lambda rule, question, own: own["length"] if own else 1e9,
    "unsure": lambda rule, question, own: own["certainty"] if own else 2,
}


@each_row("views")
def test_a_view_lists_counts_and_saves_what_the_runs_say(name, view, compared, page, runs, questions):
    """Compared are A, B, and the run whose lost points are counted; by default, the first run of the page."""
    places = {run.name: place for place, run in enumerate(runs)}
    view = {facet: str(places.get(value, value)) for facet, value in view.items()}
    compared = [places.get(run) for run in compared] if any(compared) else [0, None, 0]
    chosen = {facet: value for facet, value in view.items() if facet not in ("a", "b", "among", "filter", "order", "q")}
    rule = Rule(view.get("filter", STRICT), questions)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    listed = []
    for question in questions:
        if not any(view.get("q", "").lower() in text.lower() for text in question["texts"]):
            continue
        values = rule.facets(question, view, compared)
        failing = {facet for facet, value in chosen.items() if value not in values.get(facet, ())}
        listed += [] if failing else [question]
        for facet, own in values.items():
            if failing <= {facet}:
                counts[facet].update(own)
    if "order" in view:
        listed.sort(key=lambda each: ORDERS[view["order"]](rule, each, each["samples"].get(compared[2])))
    go(page, **view)
    assert page.inner_text("#count").split()[0] == str(len(listed))
    rows = csv.DictReader(io.StringIO(saved(page, "#saving >> text=CSV")))
    lines = [
        rule.line(each, runs[run].name, sample) for each in listed for run, sample in sorted(each["samples"].items())
    ]
    assert [{field: value for field, value in row.items() if value} for row in rows] == lines
    for facet, values in page.evaluate(COUNTS).items():
        is_hidden = {"right", "none"}.difference(chosen.values()) if facet == "lost" else ()
        expected = {value: n for value, n in counts[facet].items() if value not in is_hidden}
        assert {value: n for value, n in values.items() if n} == expected, facet


def test_a_page_opens_with_the_likeliest_view(browser, runs, pair, tmp_path):
    """Of two runs, what only B has right; of one, the largest loss that can be repaired. Parts may lie beside it."""
    only_b = pair.inner_text(".facet [aria-current][data-value=only_b] > span")
    assert only_b == pair.inner_text("#count").split()[0]
    page = browser.new_page()
    page.goto(write(runs[1:2], tmp_path, tmp_path / "my files"))
    page.wait_for_selector(DRAWN)
    assert list((tmp_path / "my files").iterdir()) and page.locator("#detail .col").count() == 1
    assert page.locator("head script[src]").count() == 0, "what was loaded is taken away"
    assert page.inner_text(".facet [aria-current][data-value=cut] > span") == "5"
    assert page.evaluate("[typeof temml, typeof Diff]") == ["object", "undefined"], "one run has nothing to compare"
    page.close()


def test_each_function_of_the_page_returns_what_its_row_says(page):
    """Rows have a name, a function of the page or of ``page_functions``, what it is given, and what it returns."""
    helpers = (Path(__file__).parent / "tables" / "page_functions.js").read_text()
    names, functions, given, expected = zip(*table("functions_of_the_page"), strict=True)
    calls = ", ".join(f"(...given) => ({function})(...given)" for function in functions)
    found = page.evaluate(f"async (rows) => {{ {helpers}; const calls = [{calls}];" + CALLED, [*given])
    assert {name: got for name, got, due in zip(names, found, expected, strict=True) if got != due} == {}


@pytest.mark.parametrize("name", ["page", "pair"])
def test_a_number_leads_to_as_many_questions(name, request):
    """Numbers of questions in the page and its charts; with repeats a chart has shares of questions."""
    found = request.getfixturevalue(name).evaluate(NUMBERS)
    assert len(found) > 20 and [each for each in found if each[1] != each[2]] == []


def test_repeats_have_a_bracket_and_an_audit_has_a_bar(page):
    """Some examples are right in some generations, but not in all; an LLM reads 40 to 60 % as right."""
    html = page.content()
    for drawn_as, said in (("bracket", "right in all to right in any generation"), ("audited", "as an LLM reads")):
        ends = re.findall(rf'<line class="{drawn_as}" x1="([\d.]+)%" x2="([\d.]+)%"', html)
        assert ends and all(float(first) < float(last) for first, last in ends) and said in html
    assert "same<br>answer" in html


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
        if isinstance(step, list):  # what is chosen or written in a field
            field = shown.locator(step[0])
            field.select_option(step[1]) if "select" in step[0] else field.fill(step[1])
        else:
            shown.keyboard.press(step) if len(step) == 1 or "+" in step else shown.click(step)
        shown.wait_for_selector(DRAWN, state="attached")


def see(shown: Any, place: str, expected: Any) -> None:
    """What is drawn after a step is waited for."""
    if place[0] == "=":
        shown.wait_for_function(f"(expected) => JSON.stringify({place[1:]}) === JSON.stringify(expected)", arg=expected)
        return
    from playwright.sync_api import expect  # slow to import

    found = expect(shown.locator(place), place)
    if isinstance(expected, int):
        found.to_have_count(expected)
    else:
        found.to_have_text(expected, use_inner_text=True)


def test_an_address_is_the_view(pair):
    """Another window shows the same, under the same rule."""
    go(pair, task="medmcqa_openmed", filter=LENIENT, q="the", open=5)
    again = pair.context.new_page()
    again.goto(pair.url)
    again.wait_for_selector(DRAWN)
    for place in ("#count", "#detail"):
        assert again.inner_text(place) == pair.inner_text(place)
    again.close()


def test_a_person_s_marks_are_kept_counted_saved_and_read(page, tmp_path):
    """They stand under the reply, and in a CSV that another browser reads."""
    go(page, task="medhallu", a="first", b="second")
    page.locator("#browse").scroll_into_view_if_needed()
    page.keyboard.press("j")
    page.wait_for_selector(DRAWN, state="attached")
    page.keyboard.press("1")
    page.fill("#detail [name=note] >> nth=1", '=1, "so"')
    page.keyboard.press("Tab")
    assert page.inner_text("[data-value=marked] > span") == "1"
    go(page, distrust="marked", a="second")
    assert page.inner_text("#count") == "1 question" and page.input_value("#detail [name=note]") == '=1, "so"'
    text = saved(page, "#saving >> text=/^Marks/")
    marks = [
        [row[name] for name in ("run", "task", "mark", "states", "note")] for row in csv.DictReader(io.StringIO(text))
    ]
    assert marks == [["second", "medhallu", "reading wrong", "", '\'=1, "so"']]
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


# ---- Markdown and LaTeX: what models write can make nothing but text, tables and formulas


HTML = "P STRONG EM DEL CODE PRE UL OL LI BLOCKQUOTE HR TABLE THEAD TBODY TR TH TD DIV"
MATH = (
    "math mrow mi mo mn mtext mspace mfrac msqrt mroot msup msub msubsup mover munder munderover mtable mtr mtd mstyle "
    "mpadded mphantom menclose mprescripts mmultiscripts"
)
ALLOWED = {*HTML.split(), *MATH.split()}
NAMES = """class tabindex aria-label scope start display width height depth stretchy accent linethickness style
    mathvariant scriptlevel displaystyle form fence separator columnalign rowspacing lspace rspace voffset accentunder
    columnlines rowlines minsize maxsize notation movablelimits symmetric largeop mathbackground mathcolor"""
ATTRIBUTES = set(NAMES.split())
RENDER = """text => {
  const box = document.createElement("div");
  box.append(...markdown(text));
  const all = [...box.querySelectorAll("*")];
  return { html: box.innerHTML, text: box.textContent,
    tags: [...new Set(all.map((e) => e.tagName))],
    attributes: [...new Set(all.flatMap((e) => e.getAttributeNames()))] };
}"""


def rendered(page: Any, text: str) -> str:
    """What is made of a text, which is nothing but allowed elements and attributes."""
    found = page.evaluate(RENDER, text)
    assert set(found["tags"]) <= ALLOWED and set(found["attributes"]) <= ATTRIBUTES
    return str(found["text"] + found["html"])


def test_hostile_markdown_makes_only_harmless_elements(page):
    for part in table("hostile_markdown"):
        rendered(page, (part * 20_000)[:20_000])


PIECES = [*"ab1 \n\n|*_`$\\{}^&<>#-.", "\\frac", "\\boxed", "\\begin{x}", "\\end{x}", "**"]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.lists(st.sampled_from(PIECES), max_size=80).map("".join))
def test_no_letter_or_digit_of_a_response_is_lost(page, text):
    assert {c for c in text if c.isalnum()} <= set(rendered(page, text))
