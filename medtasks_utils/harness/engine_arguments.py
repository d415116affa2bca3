"""Misspelt arguments of vLLM, told before it is imported, which takes most of a minute."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

import lm_eval.models

from medtasks_utils.errors import UsageError, meant


def check_engine_arguments(kind: str, arguments: Iterable[str]) -> None:
    """Refuse arguments of ``--model vllm`` that neither lm_eval's class nor the engine has, by their sources.

    Raises:
        UsageError: for an argument that there is not.
    """
    package = find_spec("vllm") if kind.startswith("vllm") else None
    if package is None:
        return
    engine = Path((package.submodule_search_locations or [""])[0])
    places = [
        *(engine / "engine" / "arg_utils.py", engine / "entrypoints" / "llm.py"),
        *Path(lm_eval.models.__file__).parent.glob("vllm_*.py"),
    ]
    if not all(place.is_file() for place in places):  # another release, which tells when it starts
        return
    nodes = [node for place in places for node in ast.walk(ast.parse(place.read_text(encoding="utf-8")))]
    known = {node.arg for node in nodes if isinstance(node, ast.arg)}
    known |= {n.target.id for n in nodes if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)}
    for argument in arguments:
        if argument not in known:
            raise UsageError(f"--model_args: {kind} takes no {argument}{meant(argument, known)}")
