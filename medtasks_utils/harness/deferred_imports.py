"""Import lm_eval without loading libraries that our runs rarely need.

Importing Hugging Face's ``datasets``, with pandas and pyarrow, takes half of the time until the first request. These
libraries are imported at their first use instead.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

DEFERRED = ("datasets", "datasets.utils.metadata", "pandas")
"""The deferred modules."""


class _DeferredModule(ModuleType):
    """A placeholder that imports the real module when an attribute is accessed.

    While it is in ``sys.modules``, ``from … import name`` yields a function that imports the module when called.
    """

    def __getattr__(self, name: str) -> Any:
        module = import_module(self.__name__)
        if module is self:
            return lambda *args, **kwargs: getattr(self, name)(*args, **kwargs)
        return getattr(module, name)


def import_lm_eval() -> None:
    """Import the lm_eval modules that depend on deferred modules, with placeholders for these.

    Later imports of a deferred module get the real one. Nothing happens if a deferred module is already imported.
    """
    if sys.modules.keys().isdisjoint(DEFERRED):
        sys.modules |= {name: _DeferredModule(name) for name in DEFERRED}
        try:
            for importer in ("lm_eval.api.task", "lm_eval.loggers"):
                import_module(importer)
        finally:
            for name in DEFERRED:
                del sys.modules[name]
