"""Import lm_eval without the libraries that it imports immediately but that our runs rarely need.

Importing Hugging Face's ``datasets``, with pandas and pyarrow, takes a third of the time until the first request. It is
imported when it is first used instead.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

DEFERRED = {"datasets": "load_dataset", "datasets.utils.metadata": "MetadataConfigs", "pandas": "DataFrame"}
"""The deferred modules, each with the name that lm_eval imports from it by ``from … import``."""


class _DeferredModule(ModuleType):
    """A stand-in for a module that imports the real one when an attribute is accessed.

    Args:
        name: the name of the real module.
        attribute: a function or class that can be imported from the stand-in; calling it imports the real module.
    """

    __path__: list[str] = []  # noqa: RUF012  # allows importing submodules

    def __init__(self, name: str, attribute: str) -> None:
        super().__init__(name)
        setattr(self, attribute, lambda *args, **kwargs: self.__getattr__(attribute)(*args, **kwargs))

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


def import_lm_eval() -> None:
    """Import those modules of lm_eval that import a deferred module, with stand-ins in its place.

    Later imports of a deferred module get the real one. If a deferred module is already imported, do nothing.
    """
    if not DEFERRED.keys() & sys.modules.keys():
        sys.modules |= {name: _DeferredModule(name, attribute) for name, attribute in DEFERRED.items()}
        try:
            for importer in ("lm_eval.api.task", "lm_eval.loggers"):
                import_module(importer)
        finally:
            for name in DEFERRED:
                del sys.modules[name]
