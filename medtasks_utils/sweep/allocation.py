"""Run jobs of one model in one place: start the model's servers, run the jobs, stop everything, and measure the cost.

=====================  ==========================================================================================
``MODEL/server0.log``  the output of a server; ``server0.json`` identifies its process
``JOB/log.txt``        the output of ``medtasks eval``
``JOB/job.json``       the job's state in words, and its exit code when it is over
``JOB/cost.json``      seconds, GPU-seconds and, by nvidia-smi, joules; concurrent jobs have equal shares
=====================  ==========================================================================================
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
import requests

from medtasks_utils.harness.task_options import SERVED_BY
from medtasks_utils.writing import JsonObject, shortened, write_whole

from .child_process import end_group, start, stop
from .plan import Allocation, Job

_PROBE_TIMEOUT = 5.0  # seconds
_STARTING = (502, 503, 504)  # statuses of a proxy, or of a server that still loads its model
_LOG_LINES = 8  # number of lines of a log that are shown
_MOST_IN_STATE = 200  # characters of a log that a state quotes
_WRITE_INTERVAL = 10.0  # seconds between updates of the cost
_POWER_INTERVAL = 5  # seconds between measurements of nvidia-smi


def run_allocation(allocation: Allocation, output: Path, environment: Mapping[str, str]) -> Generator[None]:
    """Run the jobs of an allocation that have no exit code yet, and yield while they run.

    Closing the generator ends everything that it has started.

    Args:
        allocation: the jobs.
        output: the folder in which this machine stores the files of the sweep.
        environment: environment variables in addition to those of this process.
    """
    jobs = [job for job in allocation if exit_code(output / job.path) is None]
    with ExitStack() as stack:
        if jobs:
            yield from _Attempt(jobs, output, environment, stack).steps()


class _Attempt:
    """An attempt to run jobs of one model, with its servers.

    Attributes:
        running: by job, its process and the port of its server.
        servers: by port, the process of the server and its log.
        log_starts: by log of a server, its size at the start of this attempt.
    """

    def __init__(self, jobs: list[Job], output: Path, environment: Mapping[str, str], stack: ExitStack) -> None:
        self.waiting, self.output, self.stack = jobs, output, stack
        self.model, self.plan = jobs[0].model, jobs[0].plan
        variables = {**os.environ, **environment}
        direct = variables.get("no_proxy") or variables.get("NO_PROXY", "")
        self.environment = {**environment, "no_proxy": f"{direct},127.0.0.1"}
        self.gpus = variables.get("CUDA_VISIBLE_DEVICES", "").split(",") if self.model.gpus else []
        self.folder = output / self.model.name
        self.power = self.folder / "power.txt"
        self.running: dict[Job, tuple[subprocess.Popen[bytes], int]] = {}
        self.servers: dict[int, tuple[subprocess.Popen[bytes], Path]] = {}
        self.log_starts: dict[Path, int] = {}
        self.charged_at, self.charged_joules = time.monotonic(), _joules(self.power)

    def steps(self) -> Iterator[None]:
        """Run the jobs, and yield while there is nothing to do."""
        if self.gpus and shutil.which("nvidia-smi"):
            query = ["--query-gpu=power.draw", "--format=csv,noheader,nounits", f"--loop={_POWER_INTERVAL}"]
            self._start(["nvidia-smi", f"--id={','.join(self.gpus)}", *query], self.power)
        if self.model.serve:
            self._start_servers()
        self.stack.callback(self._stop)
        problem = yield from self._wait_for_servers()
        while not problem and (self.waiting or self.running):
            self._start_jobs()
            yield
            self._charge(_WRITE_INTERVAL)
            self._note_ended()
            problem = self._problem_of_servers()
        self._stop(problem, 1)

    def _stop(self, state: str = "stopped", code: int | None = None) -> None:
        """Record the state of the remaining jobs, and drop them."""
        self._charge()
        for job in (*self.running, *self.waiting):
            note(self.output / job.path, code, state)
        self.running, self.waiting = {}, []

    def _start(self, command: Sequence[str], log: Path, **variables: str) -> subprocess.Popen[bytes]:
        """Start a process that is stopped at the end of this attempt."""
        process = start(command, log, {**self.environment, **variables})
        self.stack.callback(stop, process)
        return process

    # ---- servers

    def _start_servers(self) -> None:
        """Start the model's servers, each on its own GPUs; first end servers left by an earlier sweep."""
        each = self.model.resources.gpus
        for number in range(self.model.replicas):
            mark, log = self.folder / f"server{number}.json", self.folder / f"server{number}.log"
            left_over = read_json(mark)
            if left_over and left_over == _identity(left_over["pid"]):
                end_group(left_over["pid"])
            port = _free_port()
            own = ",".join(self.gpus[number * each : (number + 1) * each])
            variables = {"CUDA_VISIBLE_DEVICES": own} if own else {}
            self.log_starts[log] = log.stat().st_size if log.exists() else 0
            process = self._start(self.model.server_command(port), log, **variables)
            write_whole(mark, json.dumps(_identity(process.pid)))
            self.servers[port] = process, log

    def _problem_of_servers(self) -> str:
        """Return a line about a server that has ended; an empty string if all are running."""
        for process, log in self.servers.values():
            if process.poll() is not None:
                return f"its server ended with exit code {process.returncode}: {self._end_of(log)}"
        return ""

    def _end_of(self, log: Path) -> str:
        """Return the last line that a server has written to its log in this attempt, and the log's path."""
        lines = last_lines(log, self.log_starts.get(log, 0)).splitlines()
        if not lines:
            return ""
        return f"{shortened(lines[-1].strip(), _MOST_IN_STATE)} ({log.relative_to(self.output)})"

    def _wait_for_servers(self) -> Generator[None, None, str]:
        """Wait until all servers respond; return the problem if one does not respond in time, else an empty string."""
        addresses = {f"http://127.0.0.1:{port}/v1/models": log for port, (_, log) in self.servers.items()}
        seconds = self.model.ready_timeout
        if self.plan.wait and not addresses and "base_url" in self.model.model_args:
            addresses, seconds = {self.model.model_args["base_url"]: Path()}, self.plan.wait
        end = time.monotonic() + seconds
        for address, log in addresses.items():
            while not is_up(address, self.environment["no_proxy"]):
                problem = self._problem_of_servers()
                if problem or time.monotonic() > end:
                    return problem or f"no response at {address} within {seconds:g} s: {self._end_of(log)}"
                for job in self.waiting:
                    note(self.output / job.path, None, f"waiting for {address}")
                yield
                self._charge(_WRITE_INTERVAL)
        return ""

    # ---- jobs

    def _start_jobs(self) -> None:
        """Start as many jobs as may run at once; the budgets of a run are started one after the other."""
        at_once = max(len(self.servers), int(self.model.resources.cpus)) if self.servers else 1
        for job in list(self.waiting):
            if len(self.running) == at_once or any(other.run is job.run for other in self.running):
                continue
            self._charge()
            self.waiting.remove(job)
            folder = self.output / job.path
            for path in (self.output / job.smaller.path).glob("*/answers_*.jsonl.gz") if job.smaller else ():
                copy = folder / path.parent.name / path.name
                if not copy.exists():
                    write_whole(copy, path.read_bytes(), make_folder=True)
            has_answers = any(folder.glob("*/answers_*.jsonl.gz"))  # also if it ended, but the sweep was killed before
            in_use = [port for _, port in self.running.values()]
            port = min(self.servers or [0], key=in_use.count)
            flags = job.flags(port, output_path=folder, log_samples=True, extend=has_answers)
            command = [sys.executable, "-m", "medtasks_utils", "eval", *flags]
            process = self._start(command, folder / "log.txt", **{SERVED_BY: self.model.serve})
            self.running[job] = process, port
            note(self.output / job.path, None, "running")

    def _note_ended(self) -> None:
        """Record the exit codes of the jobs that have ended."""
        for job, (process, _) in list(self.running.items()):
            code = process.poll()
            if code is not None:
                self._charge()
                del self.running[job]
                note(self.output / job.path, code, f"failed with exit code {code}" if code else "done")

    # ---- cost

    def _charge(self, interval: float = 0) -> None:
        """Divide the cost since the last charge equally among the running jobs or, if there are none, the waiting ones.

        The cost is in seconds, GPU-seconds and joules.

        Args:
            interval: the minimum time since the last charge, in seconds; if less has passed, do nothing.
        """
        seconds = time.monotonic() - self.charged_at
        jobs = [*self.running] or self.waiting
        if not jobs or seconds < interval:
            return
        joules = _joules(self.power)
        spent = {"seconds": seconds, "gpu_seconds": seconds * self.model.gpus, "joules": joules - self.charged_joules}
        for job in jobs:
            path = self.output / job.path / "cost.json"
            cost = Counter(read_json(path))
            cost.update({name: value / len(jobs) for name, value in spent.items() if value})
            write_whole(path, json.dumps(cost), make_folder=True)
        self.charged_at, self.charged_joules = time.monotonic(), joules


def is_up(address: str, no_proxy: str = "") -> bool:
    """Return True if a server responds at an address, even with an error, unless its status says that it is starting.

    Args:
        address: the address.
        no_proxy: hosts that are accessed without a proxy, in the format of the environment variable ``no_proxy``.
    """
    with suppress(requests.RequestException):
        reply = requests.get(address, timeout=_PROBE_TIMEOUT, proxies={"no_proxy": no_proxy})
        return reply.status_code not in _STARTING
    return False


def _free_port() -> int:
    """Return a free port of this machine."""
    with socket.socket() as free:
        free.bind(("", 0))
        return int(free.getsockname()[1])


def _identity(pid: int) -> JsonObject:
    """Return facts that identify a process uniquely; an empty dict if there is no process with this number."""
    with suppress(psutil.NoSuchProcess):
        return {"pid": pid, "started": psutil.Process(pid).create_time()}
    return {}


def _joules(power: Path) -> float:
    """Return the energy in joules from a file of power measurements."""
    with suppress(OSError):
        return sum(map(float, re.findall(r"^[\d.]+$", power.read_text(), re.MULTILINE))) * _POWER_INTERVAL
    return 0.0


def read_json(path: Path) -> JsonObject:
    """Load a JSON object from a file; return an empty dict if there is no such file."""
    with suppress(OSError):
        found: JsonObject = json.loads(path.read_bytes())
        return found
    return {}


def note(folder: Path, code: int | None, state: str) -> None:
    """Record the state of a job in its folder, with its exit code if it is over."""
    write_whole(folder / "job.json", json.dumps({"code": code, "state": state}), make_folder=True)


def exit_code(folder: Path) -> int | None:
    """Return a job's exit code; None if it is not over."""
    return read_json(folder / "job.json").get("code")


def last_lines(log: Path, start: int = 0) -> str:
    """Return the last lines of a log, from a byte on."""
    with suppress(OSError):
        lines = log.read_bytes()[start:].decode(errors="replace").splitlines()
        return "\n".join([line for line in lines if line.strip()][-_LOG_LINES:])
    return ""
