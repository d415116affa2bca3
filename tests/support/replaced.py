"""Print what is replaced in lm_eval in the middle of a run of ``medtasks eval``, as a JSON list of names.

Usage: python replaced.py (server | hf MODEL) FOLDER
"""

import argparse
import gc
import importlib
import json
import pkgutil
import sys
from functools import wraps
from typing import Any

from local_server import LocalServer

from medtasks_utils.__main__ import main
from medtasks_utils.harness.deferred_imports import DEFERRED, import_lm_eval
from medtasks_utils.harness.lm_eval_names import NAMES

MODULES = "evaluator evaluator_utils tasks loggers utils api.task api.model config.evaluate_config _cli.run _cli.utils"
OF_MODELS = {"server": ("openai_completions:LocalChatCompletion", "_create_payload"),
             "hf": ("huggingface:HFLM", "_model_generate")}  # fmt: skip
"""A class of each kind of model, and its method that a request reaches."""


def is_ours(value: Any) -> bool:
    return str(type(value).__module__).startswith("medtasks_utils")


def of_lm_eval() -> dict[tuple[str, str], Any]:
    """What modules of lm_eval and their classes have, by name."""
    found: dict[tuple[str, str], Any] = {}
    for module, content in list(sys.modules.items()):
        for name, value in list(vars(content).items()) if module.startswith("lm_eval") else ():
            found[module, name] = value
            if isinstance(value, type) and value.__module__ == module:
                found |= {(module, f"{name}.{attribute}"): of_class for attribute, of_class in vars(value).items()}
    return found


def replaced_since(before: dict[tuple[str, str], Any]) -> set[str]:
    """Names of modules that stand for something else, and attributes that only objects have so."""
    now = of_lm_eval()
    names = {name for (module, name), value in before.items() if callable(value) and now[module, name] is not value}
    names |= {name for (_, name), value in now.items() if name in DEFERRED and is_ours(value)}
    for thing in gc.get_objects():
        kind = type(thing)
        if str(kind.__module__).startswith("lm_eval.") and hasattr(thing, "__dict__"):
            for name, value in vars(thing).items():
                if is_ours(value) or callable(getattr(kind, name, None)):
                    full = [f"{each.__name__}.{name}" for each in kind.__mro__]
                    names.add(next((each for each in full if each in NAMES), full[0]))
        elif isinstance(thing, argparse.Action) and is_ours(thing):
            names.add(kind.__mro__[1].__name__)
    return names


def watch(kind: str) -> set[str]:
    """The names, which are filled in when the model gets a request."""
    gc.disable()  # which would take away what was replaced
    import_lm_eval()
    for name in MODULES.split():
        importlib.import_module(f"lm_eval.{name}")
    place, method = OF_MODELS[kind]
    owner = pkgutil.resolve_name(f"lm_eval.models.{place}")
    original = getattr(owner, method)

    @wraps(original)
    def watched(self: Any, *args: Any, **settings: Any) -> Any:
        found.update(replaced_since(before))
        return original(self, *args, **settings)

    setattr(owner, method, watched)
    found: set[str] = set()
    before = of_lm_eval()
    return found


if __name__ == "__main__":
    kind, *more, folder = sys.argv[1:]
    names = watch(kind)
    with LocalServer() as server:
        model = (
            server.flags()
            if kind == "server"
            else ["--model", "hf", "--model_args", f"pretrained={more[0]}", "--gen_kwargs", "max_gen_toks=2"]
        )
        flags = ["--data", "sample", "--tasks", "medmcqa_openmed", "--limit", "1", "--use_cache", f"{folder}/cache"]
        code = main(["eval", *flags, *model, "--output_path", folder])
    print(json.dumps(sorted(names)))
    sys.exit(code)
