"""Several processes under ``accelerate launch``, on processors."""

import itertools
import os
import socket
import sys
from contextlib import suppress

ON_PROCESSORS = {"OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"}
"""The environment of each."""


_PORTS = itertools.count(20_000 + os.getpid() % 100 * 100)


def free_port() -> int:
    """A free port, counted from another number in every process, below those that systems give out of themselves."""
    for port in _PORTS:
        with socket.socket() as free, suppress(OSError):
            free.bind(("127.0.0.1", port))
            return port
    raise AssertionError


def launch(port: int, machines: int = 1, rank: int = 0) -> list[str]:
    """The launcher on one machine, of two processes in all; with ``--cpu`` it would start one whatever it is told."""
    return [
        *(sys.executable, "-m", "accelerate.commands.accelerate_cli", "launch", "--multi_gpu", "--num_processes", "2"),
        *("--num_machines", str(machines), "--machine_rank", str(rank), "--main_process_ip", "127.0.0.1"),
        *("--main_process_port", str(port), "--mixed_precision", "no", "--dynamo_backend", "no"),
    ]
