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
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import psutil

from medtasks_utils.harness.task_options import FLAGS, SERVED_BY
from medtasks_utils.writing import JsonObject, read_json, write_whole

from .child_process import Process, end_group, start, stop
from .job import Allocation, Job

POLL_INTERVAL = 0.5  # seconds between looks at the processes
_PROBE_TIMEOUT = 5.0  # seconds
_SMI_TIMEOUT = 30.0  # seconds; it may have to load the driver
_WRITE_INTERVAL = 10.0  # seconds between updates of the cost
_MODELS = "/v1/models"  # where a server lists its models
_KEPT = "*/answers_*.jsonl.gz"  # the replies that a job has kept, in its folder


def run_allocation(allocation: Allocation, environment: Mapping[str, str]) -> Generator[None]:
    """Run the jobs of an allocation that have no exit code yet, and yield while they run.

    The environment is in addition to that of this process. Closing the generator ends everything that it has started.
    """
    jobs = [job for job in allocation if job.exit_code is None]
    if jobs:
        yield from _Attempt(jobs, {**os.environ, **environment}).steps()


def run_to_the_end(allocation: Allocation, environment: Mapping[str, str]) -> None:
    """Run the jobs of an allocation that have no exit code yet, and wait until they end."""
    with closing(run_allocation(allocation, environment)) as steps:
        for _ in steps:
            time.sleep(POLL_INTERVAL)


class _Attempt:
    """An attempt to run jobs of one model, with its servers.

    Attributes:
        running: by job, its process and the port of its server.
        servers: by port, the process of the server and its log.
        unready: the ports of servers that have not responded yet.
    """

    def __init__(self, jobs: list[Job], environment: Mapping[str, str]) -> None:
        self.waiting, self.model = jobs, jobs[0].model
        direct = environment.get("no_proxy") or environment.get("NO_PROXY", "")
        self.environment = {**environment, "no_proxy": f"{direct},127.0.0.1"}
        self.gpus = environment.get("CUDA_VISIBLE_DEVICES", "").split(",") if self.model.gpus else []
        self.running: dict[Job, tuple[Process, int]] = {}
        self.servers: dict[int, tuple[Process, Path]] = {}
        self.unready: list[int] = []
        self.stack = ExitStack()
        self.began = self.charged_at = time.monotonic()

    def steps(self) -> Generator[None]:
        """Run the jobs, and yield while there is nothing to do; at the end, record the state of the remaining jobs."""
        problem = ""
        with self.stack:
            if self.model.server:
                self._start_servers(self.waiting[0].folder.parent)
            try:
                while not problem and (self.waiting or self.running):
                    self.unready = [port for port in self.unready if not is_up(port)]
                    if not self.unready:
                        self._start_jobs()
                    yield
                    self._charge(_WRITE_INTERVAL)
                    self._note_ended()
                    problem = self._problem_of_servers()
            finally:
                self._charge()
                for job in (*self.running, *self.waiting):
                    job.note(1 if problem else None, problem or "stopped")

    def _start(self, command: Sequence[str], log: Path, **variables: str) -> Process:
        """Start a process that is stopped at the end of this attempt."""
        process = start(command, log, {**self.environment, **variables})
        self.stack.callback(stop, process)
        return process

    # ---- servers

    def _start_servers(self, folder: Path) -> None:
        """Start the model's servers, each on its own GPUs; first end servers left by an earlier sweep."""
        each = self.model.resources.gpus
        for number in range(self.model.replicas):
            mark, log = folder / f"server{number}.json", folder / f"server{number}.log"
            left_over = read_json(mark)
            if left_over and left_over == _identity(left_over["pid"]):
                end_group(left_over["pid"])
            log.unlink(missing_ok=True)
            port = _free_port()
            own = ",".join(self.gpus[number * each : (number + 1) * each])
            variables = {"CUDA_VISIBLE_DEVICES": own} if own else {}
            if self.model.vllm and self.model.vllm.api_key:
                variables["VLLM_API_KEY"] = self.model.vllm.api_key
            process = self._start(self.model.server_command(port), log, **variables)
            write_whole(mark, json.dumps(_identity(process.pid)))
            self.servers[port] = process, log
            self.unready.append(port)
        for job in self.waiting:
            job.note(None, "waiting for its server")

    def _problem_of_servers(self) -> str:
        """Return a line about a server that has ended or does not respond in time; an empty string if none."""
        timeout = self.model.ready_timeout
        for port, (process, log) in self.servers.items():
            if process.poll() is not None:
                problem = f"its server ended with exit code {process.returncode}"
            elif port in self.unready and time.monotonic() > self.began + timeout:
                problem = f"no response at http://127.0.0.1:{port}{_MODELS} within {timeout:g} s"
            else:
                continue
            return f"{problem}: {last_lines(log, 1)} ({log})"
        return ""

    # ---- jobs

    def _start_jobs(self) -> None:
        """Start as many jobs as may run at once; the budgets of a run are started one after the other."""
        at_once = max(len(self.servers), self.model.resources.cpus) if self.servers else 1
        for job in list(self.waiting):
            if len(self.running) == at_once or any(other.run is job.run for other in self.running):
                continue
            self._charge()
            self.waiting.remove(job)
            _take_over_replies(job)
            has_replies = any(job.folder.glob(_KEPT))  # also if it ended, but the sweep was killed before
            in_use = [port for _, port in self.running.values()]
            port = min(self.servers or [0], key=in_use.count)
            hidden = job.hidden_flags
            of_sweep = {"output_path": job.folder, "log_samples": True, "extend": has_replies}
            flags = job.flags(port, **of_sweep, **dict.fromkeys(hidden))
            command = [sys.executable, "-m", "medtasks_utils", "eval", *flags]
            variables = {SERVED_BY: self.model.server, FLAGS: json.dumps(hidden).replace("{port}", str(port))}
            process = self._start(command, job.folder / "log.txt", **variables)
            self.running[job] = process, port
            job.note(None, "running")

    def _note_ended(self) -> None:
        """Record the exit codes of the jobs that have ended."""
        for job, (process, _) in list(self.running.items()):
            code = process.poll()
            if code is not None:
                self._charge()
                del self.running[job]
                job.note(code, f"failed with exit code {code}" if code else "done")

    # ---- cost

    def _charge(self, interval: float = 0) -> None:
        """Divide the cost since the last charge equally among the running jobs or, if there are none, the waiting ones.

        Do nothing if less than ``interval`` seconds have passed.
        """
        seconds = time.monotonic() - self.charged_at
        jobs = [*self.running] or self.waiting
        if not jobs or seconds < interval:
            return
        joules = seconds * _watts(self.gpus) if self.gpus else 0
        spent = {"seconds": seconds, "gpu_seconds": seconds * self.model.gpus, "joules": joules}
        for job in jobs:
            cost = Counter(job.cost)
            cost.update({name: value / len(jobs) for name, value in spent.items() if value})
            write_whole(job.folder / "cost.json", json.dumps(cost))
        self.charged_at += seconds


def _take_over_replies(job: Job) -> None:
    """Copy the replies of the next smaller budget, except where the job has its own from an earlier attempt."""
    for path in job.smaller.folder.glob(_KEPT) if job.smaller else ():
        copy = job.folder / path.parent.name / path.name
        if not copy.exists():
            write_whole(copy, path.read_bytes())


def is_up(port: int) -> bool:
    """Return True if a server on this machine lists its models, or at least responds with a status below 500."""
    connection = HTTPConnection("127.0.0.1", port, timeout=_PROBE_TIMEOUT)
    with closing(connection), suppress(OSError, HTTPException):
        connection.request("GET", _MODELS)
        return connection.getresponse().status < 500
    return False


def _free_port() -> int:
    with socket.create_server(("", 0)) as free:
        return int(free.getsockname()[1])


def _identity(pid: int) -> JsonObject:
    """Return facts that identify a process uniquely; an empty dict if there is no process with this number."""
    with suppress(psutil.NoSuchProcess):
        return {"pid": pid, "started": psutil.Process(pid).create_time()}
    return {}


def _watts(gpus: Sequence[str]) -> float:
    """Return the power that GPUs draw now, in watts; 0 if nvidia-smi cannot measure it."""
    drawn = nvidia_smi(f"--id={','.join(gpus)}", "--query-gpu=power.draw", "--format=csv,noheader,nounits")
    return sum(map(float, re.findall(r"^[\d.]+$", drawn, re.MULTILINE)))


def nvidia_smi(*flags: str) -> str:
    """Return the output of nvidia-smi; an empty string if it is not installed or does not respond."""
    with suppress(OSError, subprocess.TimeoutExpired):
        return subprocess.run(["nvidia-smi", *flags], capture_output=True, text=True, timeout=_SMI_TIMEOUT).stdout
    return ""


def last_lines(log: Path, count: int) -> str:
    """Return the last lines of a log."""
    lines = log.read_text(encoding="utf-8", errors="replace").rstrip().splitlines()
    return "\n".join(lines[-count:])
