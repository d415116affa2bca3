"""Runs of the environments that defined the benchmarks' scores, written once as the harness's files.

A line of ``results.jsonl``, as ``vf-eval -s`` writes it, is one response: ``prompt`` and ``completion`` (chat
messages), ``task``, ``reward`` and one key for each reward function; beside the file stands
``metadata.json``, both in ``<environment>--<model>/<id>``. Each is matched with the document of the benchmark that its
prompt shows, and its response scored anew under both filters; the environment's own rewards stand beside as
``env_reward`` and ``env_<function>``. Explanations are left to ``medtasks rescore``.
"""

from medtasks_utils.results.importing.lines import ImportingError, read_lines
from medtasks_utils.results.importing.runs import import_run

__all__ = ["ImportingError", "import_run", "read_lines"]
