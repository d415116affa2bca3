"""Keep the site free of scripts from elsewhere, and names in its tables whole; called by mkdocs."""

from __future__ import annotations

import re
from typing import Any

FROM_ELSEWHERE = re.compile(r'<script src="https://unpkg\.com/iframe-worker/shim"></script>')
LONG_CODE = re.compile(r"<code>(?=[^<]{31})")
"""Code that may be broken where a table is narrow: a command with its arguments, not a name."""


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Return the text of a page whose long pieces of code have the class ``long``, for ``assets/site.css``."""
    return LONG_CODE.sub('<code class="long">', html)


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Return a page whose search, from a folder, needs ``assets/search_from_a_folder.js`` alone."""
    own = "../" * page.url.count("/") + "assets/search_from_a_folder.js"
    return FROM_ELSEWHERE.sub(f'<script src="{own}"></script>', output)


def on_post_template(output_content: str, template_name: str, config: Any) -> str:
    """Do the same for the page that a server shows where there is none."""
    return FROM_ELSEWHERE.sub("", output_content)
