"""Markdown and LaTeX in the page: what models write is rendered, and can make nothing but text, tables and formulas."""

import re
from typing import Any

import pytest
from browsing import chromium, needs_browser, opened, write
from given import each_row, table
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from saved_runs import right_in, save_run

from medtasks_utils.results import read_runs

pytestmark = needs_browser

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


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    save_run(folder / "a", right_in(0.5), tasks="medhallu", limit=2)
    address = write(read_runs(folder / "a"), folder)
    with chromium() as browser, opened(browser, address) as found:
        yield found


@each_row("markdown")
def test_markdown_of_a_response_becomes_these_elements(text, html, page):
    assert page.evaluate(RENDER, text)["html"] == html


@each_row("formulas")
def test_a_formula_is_made_of_these_elements(source, elements, page):
    html = page.evaluate(RENDER, f"${source}$")["html"].removeprefix("<p>").removesuffix("</p>")
    assert re.sub("^<math[^>]*>|</math>$", "", html) == elements


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
