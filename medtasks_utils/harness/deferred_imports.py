"""Import lm_eval without the libraries that it imports at once and a run of this pack seldom needs.

Hugging Face's ``datasets``, with pandas and pyarrow, takes a third of the time until the first request. It is imported
at its first use instead.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

DEFERRED = {"datasets": "load_dataset", "datasets.utils.metadata": "MetadataConfigs", "pandas": "DataFrame"}
"""The modules, and the name that lm_eval takes from each with ``from … import``."""


class _DeferredModule(ModuleType):
    """A stand-in that imports the real module when one of its names is looked up.

    Args:
        name: the real module.
        attribute: a function or class of it that importers may take at once; it is looked up when it is called.
    """

    __path__: list[str] = []  # noqa: RUF012  # so that its submodules can be imported

    def __init__(self, name: str, attribute: str) -> None:
        super().__init__(name)
        setattr(self, attribute, lambda *args, **kwargs: self.__getattr__(attribute)(*args, **kwargs))

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


def import_lm_eval() -> None:
    """Import the modules of lm_eval that import the deferred ones, with stand-ins for those.

    Later imports of a deferred module get the real one. Where one of them is imported already, nothing is done.
    """
    if not DEFERRED.keys() & sys.modules.keys():
        sys.modules |= {name: _DeferredModule(name, attribute) for name, attribute in DEFERRED.items()}
        try:
            for importer in ("lm_eval.api.task", "lm_eval.loggers"):
                import_module(importer)
        finally:
            for name in DEFERRED:
                del sys.modules[name]
