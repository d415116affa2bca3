"""Open the page in a real browser, at a size and in a theme, and watch what it does."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from medtasks_utils.report.page import build_page
from medtasks_utils.results import Run

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(
    not (CHROMIUM and find_spec("playwright")),
    reason="no chromium or google-chrome, nor CHROMIUM set, or no playwright",
)

DESKTOP, PHONE = (1280, 900), (360, 740)


@contextmanager
def chromium() -> Iterator[Any]:
    """Return a context that starts the browser."""
    from playwright.sync_api import sync_playwright  # slow to import

    with sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


def write(runs: list[Run], folder: Path, beside: Path | None = None) -> str:
    path = folder / "report.html"
    path.write_text(build_page(runs, beside), encoding="utf-8")
    return path.as_uri()


@contextmanager
def opened(browser: Any, address: str, size: tuple[int, int] = DESKTOP, theme: str = "light") -> Iterator[Any]:
    """Return a context that opens the page; at its end, check that the page used no network and logged nothing."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=theme)
    page = context.new_page()
    page.set_default_timeout(15_000)
    incidents: list[str] = []
    page.on("request", lambda request: incidents.append(request.url))
    page.on("console", lambda message: incidents.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: incidents.append(f"error: {error}"))
    page.on("dialog", lambda dialog: incidents.append(f"dialog: {dialog.message}"))
    page.goto(address)
    page.wait_for_selector("html[data-ready]")
    yield page
    assert [incident.split("#")[0] for incident in incidents] == [address.split("#")[0]]
    assert page.evaluate("window.ran") is None
    context.close()
