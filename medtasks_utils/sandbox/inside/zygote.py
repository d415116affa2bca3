"""The process that forks: it imports what code may use, confines itself, and forks a worker for each that is asked for.

It is started as a fresh interpreter in a folder of links to the libraries, with no environment and one socket; its
settings are JSON on standard input, and what it is confined by is JSON on standard output. A request is one byte, the
worker's own socket, and that worker's ``/dev/null``: no code and no output ever comes here, and a worker inherits none.
It answers on that socket with one byte and the worker's process as a descriptor, or closes it if there can be none.
"""

import gc
import io
import json
import os
import signal
import socket
import sys
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import NoReturn

from . import confine, weak, worker
from .system import open_process

# Run before the first fork, so that the interpreter adapts its code here and not in each fork, on pages of its own.
_WARM_UP = """
import math, re, json, statistics, decimal, fractions, datetime, itertools, functools, collections
class A:
    def __init__(self, n): self.n = n
def f(x): return sum(a.n for a in x)
print(f"{f([A(1), A(2)]) / 3:.2f}", datetime.date(2024, 1, 1) + datetime.timedelta(days=1))
try: 1 / 0
except ZeroDivisionError: pass
sorted({"a": 1}.items())
import numpy as np
from scipy import stats
values = np.array([1.0, 2.0])
print(f"{values.mean():.2f} {stats.norm.cdf(1.96):.4f}", np.median(values))
"""


def main(descriptor: int) -> None:
    """Entry point of the fresh interpreter."""
    control = socket.socket(fileno=descriptor)
    settings = json.load(sys.stdin)
    with suppress(OSError):  # if memory runs out, these go before the run, and the largest of them first
        Path("/proc/self/oom_score_adj").write_text("900")
    confinement = confine.Confinement(**settings)
    settings.clear()  # no worker shall find the machine's paths in its memory
    confinement.enter_namespaces()
    child = os.fork()
    if child == 0:
        _serve(control, confinement)
        os._exit(0)
    control.close()
    os.waitpid(child, 0)  # it ends with the run, whose end of the socket is closed then
    os._exit(0)


def _serve(control: socket.socket, confinement: confine.Confinement) -> None:
    if not confinement.missing:
        worker.import_libraries()
    with redirect_stdout(io.StringIO()) as said, redirect_stderr(said):
        for _ in range(20):
            _session(confinement).run(_WARM_UP)  # weak ones will not, and have imported then what they need
    confinement.confine_zygote()
    worker.forget_the_machine()
    gc.collect()
    gc.freeze()  # a collection in a fork would write to every page
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # leave no dead child behind
    print(json.dumps({"layers": confinement.layers, "missing": confinement.missing}), flush=True)
    while True:
        request, descriptors, _, _ = socket.recv_fds(control, 1, 2)
        if not request:
            return
        connection, nowhere = socket.socket(fileno=descriptors[0]), descriptors[1]
        with connection, suppress(OSError):  # there can be none, or the run has lost interest
            pid = os.fork()
            if pid == 0:
                _work(connection.fileno(), nowhere, confinement)
            process = [] if confinement.layers["limits"] else [open_process(pid)]
            socket.send_fds(connection, [b"."], process)
            for descriptor in process:
                os.close(descriptor)
        os.close(nowhere)


def _work(connection: int, nowhere: int, confinement: confine.Confinement) -> NoReturn:
    try:
        for source, number in enumerate((nowhere, connection, connection, connection)):
            os.dup2(number, source)
        for apply in confinement.filters:
            apply()
        worker.serve(_session(confinement))
    finally:
        os._exit(0)


def _session(confinement: confine.Confinement) -> worker.Session:
    return weak.WeakSession() if confinement.missing else worker.Session()
