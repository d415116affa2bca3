"""Markdown and LaTeX in the page: what models write is rendered, and can make nothing but text, tables and formulas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from browsing import chromium, needs_browser, opened, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from saved_runs import right_in, save_run

from medtasks_utils.results import read_runs

pytestmark = needs_browser

HTML = "P STRONG EM DEL CODE PRE UL OL LI BLOCKQUOTE HR TABLE THEAD TBODY TR TH TD DIV"
MATH = "math mrow mi mo mn mtext mspace mfrac msqrt mroot msup msub msubsup mover munder munderover mtable mtr mtd"
ALLOWED = {*HTML.split(), *MATH.split()}
ATTRIBUTES = {
    "class",
    "tabindex",
    "aria-label",
    "scope",
    "start",
    "display",
    "width",
    "stretchy",
    "accent",
    "linethickness",
}
RENDER = """text => {
  const box = document.createElement("div");
  const start = performance.now();
  box.append(...markdown(text));
  const seconds = (performance.now() - start) / 1000;
  const all = [...box.querySelectorAll("*")];
  return { html: box.innerHTML, text: box.textContent, seconds,
    tags: [...new Set(all.map((e) => e.tagName))],
    attributes: [...new Set(all.flatMap((e) => e.getAttributeNames()))] };
}"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("page")
    save_run(folder / "a", right_in(0.5), tasks="medhallu", limit=2)
    address = write(read_runs(folder / "a"), folder)
    with chromium() as browser, opened(browser, address) as found:
        yield found


def math_of(page: Any, source: str) -> str:
    """A formula's elements without their source."""
    html: str = page.evaluate(RENDER, f"${source}$")["html"]
    return html.split(">", 2)[2].removesuffix("</math></p>")


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a **b** *c* `d*e*` ~~f~~", "<p>a <strong>b</strong> <em>c</em> <code>d*e*</code> <del>f</del></p>"),
        ("snake_case_name and 2*3*4", "<p>snake_case_name and 2<em>3</em>4</p>"),
        ("# Head #\ntext", '<p class="heading">Head</p><p>text</p>'),
        ("- a\n  - b\n- c", "<ul><li><p>a</p><ul><li><p>b</p></li></ul></li><li><p>c</p></li></ul>"),
        ("3. a\n4. b", '<ol start="3"><li><p>a</p></li><li><p>b</p></li></ol>'),
        ("1. a\n\n   more\n\n2. b", '<ol start="1"><li><p>a</p><p>more</p></li><li><p>b</p></li></ol>'),
        ("> a\n> b", "<blockquote><p>a\nb</p></blockquote>"),
        ("---", "<hr>"),
        (
            "```python\n**x**\n```\ny",
            '<pre class="code" tabindex="0" aria-label="code, python"><code>**x**</code></pre><p>y</p>',
        ),
        ("```\nnever closed", '<pre class="code" tabindex="0" aria-label="code"><code>never closed</code></pre>'),
        ("It costs $5 and then $10.", "<p>It costs $5 and then $10.</p>"),
        ("[a](javascript:alert(1)) <b>x</b>", "<p>[a](javascript:alert(1)) &lt;b&gt;x&lt;/b&gt;</p>"),
        ("\\*no\\* **open", "<p>*no* **open</p>"),
        ("a | b, no table", "<p>a | b, no table</p>"),
    ],
)
def test_markdown(page: Any, text: str, html: str) -> None:
    assert page.evaluate(RENDER, text)["html"] == html


def test_tables(page: Any) -> None:
    found = page.evaluate(RENDER, "| a | b |\n|:--|--:|\n| 1 | **2** |\nafter")["html"]
    assert found.count("<th ") == 2 and "<strong>2</strong>" in found and found.endswith("<p>after</p>")


@pytest.mark.parametrize(
    ("source", "elements"),
    [
        ("\\frac{1}{2}", "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac>"),
        ("x^2_i", "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>"),
        ("\\frac12", "<mfrac><mn>1</mn><mn>2</mn></mfrac>"),
        ("\\alpha \\le 5\\,\\%", '<mi>α</mi><mo>≤</mo><mn>5</mn><mspace width="0.17em"></mspace><mo>%</mo>'),
        ("\\sqrt[3]{x}", "<mroot><mrow><mi>x</mi></mrow><mn>3</mn></mroot>"),
        ("\\text{if } x", "<mtext>if\u00a0</mtext><mi>x</mi>".replace("\u00a0", "&nbsp;")),
        ("\\boxed{B}", '<mrow class="boxed"><mrow><mi>B</mi></mrow></mrow>'),
        ("\\unknown{x}", "<mtext>\\unknown</mtext><mrow><mi>x</mi></mrow>"),
        ("\\log_{10} x", "<msub><mi>log</mi><mrow><mn>10</mn></mrow></msub><mi>x</mi>"),
        ("1{,}200", "<mn>1</mn><mrow><mo>,</mo></mrow><mn>200</mn>"),
        (
            "\\mathrm{CO_2}",
            '<mrow><mi mathvariant="normal">C</mi><msub><mi mathvariant="normal">O</mi><mn>2</mn></msub></mrow>',
        ),
        ("x}", "<mi>x</mi><mo>}</mo>"),
        ("{x", "<mrow><mi>x</mi></mrow>"),
    ],
)
def test_formulas(page: Any, source: str, elements: str) -> None:
    found = math_of(page, source)
    assert found in (elements, f"<mrow>{elements}</mrow>")


def test_formulas_stand_where_models_put_them(page: Any) -> None:
    for text in ("\\(x\\)", "$x$", "so \\boxed{x}."):
        assert 'display="inline"' in page.evaluate(RENDER, text)["html"]
    for text in ("$$x$$", "\\[\nx\n\\]", "\\begin{align}\na &= b \\\\\nc &= d\n\\end{align}"):
        assert 'display="block"' in page.evaluate(RENDER, text)["html"]
    aligned = page.evaluate(RENDER, "\\begin{align*}a &= b \\\\ c &= d\\end{align*}")["html"]
    assert aligned.count("<mtr>") == 2 and aligned.count("<mtd>") == 4


HOSTILE = [
    *(
        "*",
        "**",
        "_ ",
        "$",
        "$$",
        "\\(",
        "\\[",
        "`",
        "``` ",
        "~~",
        "[",
        "|",
        "| - ",
        "> ",
        "- ",
        "1. ",
        "#",
        "\\boxed{",
    ),
    *(
        "{",
        "}",
        "\\frac",
        "$\\frac{",
        "^",
        "$x^",
        "\\begin{align}",
        "$\\left(",
        "\n",
        "\n- ",
        "\n> ",
        "\n|a|\n|-|",
        " a*b_c`d$e",
    ),
    *("  " * 3 + "- a\n", "<img src=x onerror=alert(1)>", "</script>", "\\", "$a$", "**a** ", "*a **b "),
]


@pytest.mark.parametrize("part", HOSTILE)
def test_nothing_takes_long_or_makes_more_than_text(page: Any, part: str) -> None:
    found = page.evaluate(RENDER, (part * 20_000)[:20_000])
    assert found["seconds"] < 3
    assert set(found["tags"]) <= ALLOWED and set(found["attributes"]) <= ATTRIBUTES


PIECES = [*"ab1 \n\n|*_`$\\{}^&<>#-.", "\\frac", "\\boxed", "\\begin{x}", "\\end{x}", "**"]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.lists(st.sampled_from(PIECES), max_size=80).map("".join))
def test_any_text_is_rendered(page: Any, text: str) -> None:
    found = page.evaluate(RENDER, text)
    assert set(found["tags"]) <= ALLOWED and set(found["attributes"]) <= ATTRIBUTES
    assert {c for c in text if c.isalnum()} <= set(found["text"] + found["html"])
