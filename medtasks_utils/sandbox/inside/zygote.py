"""Run the zygote, which imports the libraries, confines itself, and forks a worker on request.

It is a fresh interpreter in a folder of links to the libraries, with no environment and one socket. It reads its
settings as JSON from standard input and reports the layers that confine it as JSON on standard output. A worker is
started by one byte with two descriptors: the worker's socket, and ``/dev/null`` opened for this worker. The zygote then
sends one byte on that socket, with the worker's pidfd if the system has pidfds, or closes the socket if it cannot fork.
The zygote never sees code or output, so a worker cannot inherit those of another session.
"""

import gc
import json
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from . import confine, repl, root, weak, worker
from .system import open_process


def main(descriptor: int) -> None:
    """Serve requests on the socket with this descriptor until its other end closes, then exit the process.

    The settings are read from standard input, as JSON.
    """
    control = socket.socket(fileno=descriptor)
    with suppress(OSError):  # when memory runs out, the kernel kills these processes first
        Path("/proc/self/oom_score_adj").write_text("900")
    # The settings are not kept, since workers must not find the machine's paths in their memory.
    settings = json.load(sys.stdin)
    is_repl = settings.pop("repl")
    confinement = confine.Confinement(**settings)
    del settings
    kind = repl.Repl if is_repl else weak.RestrictedInterpreter if confinement.missing else worker.Interpreter
    if "namespaces" in confinement.on:
        root.enter_namespaces()  # its new process namespace takes effect with the fork
    child = os.fork()
    if child == 0:
        _serve(control, confinement, kind)
    else:
        control.close()
        os.waitpid(child, 0)  # the child ends when the other end of the socket closes
    os._exit(0)


def _serve(control: socket.socket, confinement: confine.Confinement, kind: type[worker.Interpreter]) -> None:
    """Import the libraries, confine this process, report the layers, and fork workers until the socket closes."""
    if not confinement.missing:
        worker.import_libraries()
    kind()  # fails here if a library is missing that every worker needs
    confinement.confine_zygote()
    worker.forget_the_machine()
    gc.collect()
    gc.freeze()  # a collection in a fork would copy every page
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # leave no zombies
    print(json.dumps({"layers": confinement.layers, "missing": confinement.missing}), flush=True)
    while True:
        request, descriptors, _, _ = socket.recv_fds(control, 1, 2)
        if not request:
            return
        theirs, null = descriptors
        connection = socket.socket(fileno=theirs)
        with connection, suppress(OSError):  # the fork failed, or the other end of the socket was closed
            pid = os.fork()
            if pid == 0:
                _work(connection.fileno(), null, confinement, kind)
            process = [open_process(pid)] if "limits" in confinement.on else []
            socket.send_fds(connection, [b"."], process)
            for descriptor in process:
                os.close(descriptor)
        os.close(null)


def _work(connection: int, null: int, confinement: confine.Confinement, kind: type[worker.Interpreter]) -> NoReturn:
    """Confine this new process and serve calls, with the null device as descriptor 0 and the socket as 1 to 3."""
    try:
        for number, descriptor in enumerate((null, connection, connection, connection)):
            os.dup2(descriptor, number)
        for apply in confinement.filters:
            apply()
        worker.serve(kind())
    finally:
        os._exit(0)
