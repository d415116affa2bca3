"""The process that forks: it imports what code may use, confines itself, and forks a worker for each that is asked for.

It is started as a fresh interpreter in a folder of links to the libraries, with no environment and one socket; its
settings are JSON on standard input, and what it is confined by is JSON on standard output. A request is one byte, the
worker's own socket, and that worker's ``/dev/null``: no code and no output ever comes here, and a worker inherits none.
It answers on that socket with the number of an error, or with 0 and the worker's process as a descriptor.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import io
import json
import linecache
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
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
    run = os.getppid()
    control = socket.socket(fileno=descriptor)
    settings = json.load(sys.stdin)
    timeout, accepts_weak, folder = settings.pop("timeout"), settings.pop("weak"), settings["folder"]
    with contextlib.suppress(OSError):  # if memory runs out, these go before the run, and the largest of them first
        Path("/proc/self/oom_score_adj").write_text("900", encoding="ascii")
    confinement = confine.Confinement(**settings)
    settings.clear()  # no worker shall find the machine's paths in its memory
    if confinement.missing and not accepts_weak:
        _greet(confinement)
        return
    confinement.enter_namespaces()
    child = os.fork()
    if child == 0:
        _serve(control, confinement, timeout, folder)
        os._exit(0)
    control.close()
    while os.getppid() == run and os.waitpid(child, os.WNOHANG)[0] == 0:
        time.sleep(0.5)
    os._exit(0)  # and the kernel ends the child with it, and what that has forked


def _serve(control: socket.socket, confinement: confine.Confinement, timeout: float, folder: str) -> None:
    make_session: Callable[[], worker.Session] = worker.Session
    code = _WARM_UP
    if confinement.missing:
        make_session, code = functools.partial(weak.WeakSession, timeout + 1), "import math"
    else:
        worker.import_libraries()
    with contextlib.redirect_stdout(io.StringIO()):
        for _ in range(20):
            make_session().run(code)
    linecache.clearcache()
    confinement.confine_zygote()
    worker.forget_the_machine(folder)
    gc.collect()
    gc.freeze()  # a collection in a fork would write to every page
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # leave no dead child behind
    _greet(confinement)
    while True:
        request, descriptors, _, _ = socket.recv_fds(control, 1, 2)
        if not request:
            return
        with socket.socket(fileno=descriptors[0]) as connection, open(descriptors[1], "rb", 0) as nowhere:
            error, process = 0, []
            try:
                pid = os.fork()
                if pid == 0:
                    _work(connection.fileno(), nowhere.fileno(), confinement, make_session())
                if sys.platform == "linux":
                    process = [open_process(pid)]
            except OSError as problem:
                error = problem.errno or 255
            with contextlib.suppress(ConnectionError):  # the run may have lost interest
                socket.send_fds(connection, [bytes([error])], process)
            for descriptor in process:
                os.close(descriptor)


def _work(connection: int, nowhere: int, confinement: confine.Confinement, session: worker.Session) -> NoReturn:
    try:
        for source, number in enumerate((nowhere, connection, connection, connection)):
            os.dup2(number, source)
        confinement.confine_worker()
        worker.serve(session)
    finally:
        os._exit(0)


def _greet(confinement: confine.Confinement) -> None:
    print(json.dumps({"layers": confinement.layers, "missing": confinement.missing}), flush=True)
