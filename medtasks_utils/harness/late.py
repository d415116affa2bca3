"""Libraries that lm_eval imports at once and a run of this pack seldom needs, imported at their first use.

Hugging Face's ``datasets``, with pandas and pyarrow, is a third of the time until the first request.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

TAKEN = {"datasets": "load_dataset", "datasets.utils.metadata": "MetadataConfigs", "pandas": "DataFrame"}
"""The modules, and what lm_eval takes out of them when it is imported itself."""


class _Late(ModuleType):
    """Stands in for a module in those that import it now, and looks up in the real one what is asked of it."""

    __path__: list[str] = []  # noqa: RUF012  # so that parts of it can be imported

    def __init__(self, name: str, taken: str) -> None:
        super().__init__(name)
        setattr(self, taken, lambda *args, **kwargs: self.__getattr__(taken)(*args, **kwargs))

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


def import_lm_eval() -> None:
    """Import what of lm_eval imports them, with stand-ins in their place; whoever imports them later gets them."""
    if not TAKEN.keys() & sys.modules.keys():
        sys.modules |= {name: _Late(name, taken) for name, taken in TAKEN.items()}
        for importer in ("lm_eval.api.task", "lm_eval.loggers"):
            import_module(importer)
        for name in TAKEN:
            del sys.modules[name]
