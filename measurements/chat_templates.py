"""With which chat templates a model in this process calls tools natively.

Usage: python measurements/chat_templates.py FOLDER

FOLDER has chat templates as ``*.jinja``, as ``models/templates`` of llama.cpp does; transformers renders them. A line
for each: the format, and how many calls of one reply the template takes.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from medtasks_utils.harness.tool_format import ToolFormat
from medtasks_utils.tools import TOOLS


def model_with(template: str) -> Any:
    """As much of a model in this process as renders chats."""
    from transformers.utils.chat_template_utils import render_jinja_template

    def render(chat: list[Any], tools: Any = None, **settings: Any) -> str:
        rendered, _ = render_jinja_template(
            conversations=[chat], tools=tools, chat_template=template, bos_token="<s>", eos_token="</s>", **settings
        )
        return str(rendered[0])

    tokenizer = SimpleNamespace(apply_chat_template=render)

    def apply_chat_template(chat: list[Any], add_generation_prompt: bool = True) -> str:
        prompt = {"add_generation_prompt": add_generation_prompt, "continue_final_message": not add_generation_prompt}
        return str(tokenizer.apply_chat_template(chat, **prompt))

    return SimpleNamespace(tokenizer=tokenizer, apply_chat_template=apply_chat_template)


def main() -> None:
    """Print what becomes of each template."""
    counts: Counter[str] = Counter()
    for path in sorted(Path(sys.argv[1]).glob("*.jinja")):
        found = ToolFormat(model_with(path.read_text(encoding="utf-8")), TOOLS, "auto", {})
        counts[found.name] += 1
        print(f"{found.name:6} {found.most_by_template:2} {path.stem}")
    print(dict(counts))


if __name__ == "__main__":
    main()
