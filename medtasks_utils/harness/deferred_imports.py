"""Import lm_eval without libraries that it loads immediately, although our runs rarely need them.

Importing Hugging Face's ``datasets``, with pandas and pyarrow, takes half of the time until the first request. It is
imported when it is first used instead.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

DEFERRED = ("datasets", "datasets.utils.metadata", "pandas")
"""The deferred modules."""


class _DeferredModule(ModuleType):
    """A stand-in for a module, which it imports when an attribute is accessed.

    While the stand-in is in place, an attribute (``from … import``) is a function that imports the module when it is
    called.
    """

    def __getattr__(self, name: str) -> Any:
        module = import_module(self.__name__)
        if module is self:
            return lambda *args, **kwargs: getattr(self, name)(*args, **kwargs)
        return getattr(module, name)


def import_lm_eval() -> None:
    """Import those modules of lm_eval that import a deferred module, with stand-ins in its place.

    Later imports of a deferred module get the real one. If a deferred module is already imported, do nothing.
    """
    if sys.modules.keys().isdisjoint(DEFERRED):
        sys.modules |= {name: _DeferredModule(name) for name in DEFERRED}
        try:
            for importer in ("lm_eval.api.task", "lm_eval.loggers"):
                import_module(importer)
        finally:
            for name in DEFERRED:
                del sys.modules[name]
