"""Run jobs of one model in one place: start the model's servers, run the jobs, stop everything, and measure the cost.

=====================  ==========================================================================================
``MODEL/server0.log``  the output of a server; ``server0.json`` contains its process ID and port
``JOB/log.txt``        the output of ``medtasks eval``
``JOB/job.json``       the job's state, and its exit code once it has ended
``JOB/cost.json``      seconds and GPU-seconds; concurrent jobs are charged equal shares
=====================  ==========================================================================================
"""

import json
import os
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from itertools import filterfalse
from pathlib import Path
from threading import Event

from medtasks_utils.harness.task_options import FLAGS, SERVED_BY
from medtasks_utils.inference.reply_files import files_of_replies
from medtasks_utils.writing import write_whole

from .child_process import MARK_VARIABLE, Process, end_marked, start, stop
from .job import Allocation, Job
from .records import is_whole, last_lines, note_end, read_record

POLL_INTERVAL = 0.05  # seconds between looks at the processes
_PROBE_INTERVAL, _PROBE_TIMEOUT = 0.5, 5.0  # seconds
_WRITE_INTERVAL = 10.0  # seconds between updates of the cost
_MODELS = "/v1/models"  # where a server lists its models


def run_allocation(allocation: Allocation, environment: Mapping[str, str], stopping: Event | None = None) -> None:
    """Run the jobs of an allocation that have no exit code yet, until they end or ``stopping`` is set.

    ``environment`` is added to this process's environment, and takes precedence. All started processes are
    terminated, even after an error.
    """
    jobs = [job for job in allocation if job.exit_code is None]
    if jobs:
        _Attempt(jobs, {**os.environ, **environment}).run(stopping or Event())


class _Attempt:
    """An attempt to run jobs of one model, with its servers.

    Attributes:
        waiting: the jobs that have not started.
        mark: an environment value that identifies the processes of a served model; empty for other models.
        started: all processes started so far.
        running: the processes of jobs.
        servers: by port, the process of a server and its log; with several replicas, the last entry is the balancer.
        unready: the ports of servers that do not respond yet.
    """

    def __init__(self, jobs: list[Job], environment: Mapping[str, str]) -> None:
        self.waiting, self.model, self.folder = jobs, jobs[0].model, jobs[0].folder.parent
        self.mark = str(self.folder) if self.model.server else ""
        direct = environment.get("no_proxy") or environment.get("NO_PROXY", "")
        self.environment = {**environment, "no_proxy": f"{direct},127.0.0.1", MARK_VARIABLE: self.mark}
        self.gpus = environment.get("CUDA_VISIBLE_DEVICES", "").split(",") if self.model.gpus else []
        self.started: list[Process] = []
        self.running: dict[Job, Process] = {}
        self.servers: dict[int, tuple[Process, Path]] = {}
        self.unready: list[int] = []
        self.began = self.charged_at = time.monotonic()

    def run(self, stopping: Event) -> None:
        """Run the jobs; at the end, stop all processes at once, and record the state of unfinished jobs.

        If a server fails, all unfinished jobs end with exit code 1.
        """
        problem = ""
        try:
            if self.model.server:
                self._start_servers()
            while not problem and (self.waiting or self.running) and not stopping.is_set():
                self.unready = [port for port in self.unready if not is_up(port)]
                if not self.unready:
                    self._start_jobs()
                stopping.wait(_PROBE_INTERVAL if self.unready else POLL_INTERVAL)
                self._charge(_WRITE_INTERVAL)
                self._note_ended()
                problem = self._problem_of_servers()
        finally:
            self._charge()
            stop(self.started, self.mark)
            for job in (*self.running, *self.waiting):
                job.note(1 if problem else None, problem or "stopped")

    def _start(self, command: Sequence[str], log: Path, **variables: str) -> Process:
        process = start(command, log, {**self.environment, **variables})
        self.started.append(process)
        return process

    # ---- servers

    def _start_servers(self) -> None:
        """Start the model's servers, each on separate GPUs, and a balancer if there are several.

        Marked servers left by an earlier sweep are killed first; a message names the port of any that still responds.
        The jobs are recorded as waiting.
        """
        end_marked(self.mark)
        share = self.model.resources.gpus
        for number in range(self.model.replicas):
            gpus = ",".join(self.gpus[number * share : (number + 1) * share])
            variables = {"CUDA_VISIBLE_DEVICES": gpus} if gpus else {}
            if self.model.vllm and self.model.vllm.api_key:
                variables["VLLM_API_KEY"] = self.model.vllm.api_key
            record = self.folder / f"server{number}.json"
            former = read_record(record).get("port")
            if former and is_up(former):
                print(
                    f"a server responds at port {former}: stop it if a sweep left it running ({record})",
                    file=sys.stderr,
                )
            port = _free_port()
            process = self._start_server(port, self.model.server_command(port), record.stem, **variables)
            write_whole(record, json.dumps({"pid": process.pid, "port": port}))
        if len(self.servers) > 1:
            port = _free_port()
            command = [sys.executable, "-m", f"{__package__}.balancer", *map(str, [port, *self.servers])]
            self._start_server(port, command, "balancer")
        for job in self.waiting:
            job.note(None, "waiting for its server", since=time.time())

    def _start_server(self, port: int, command: Sequence[str], name: str, **variables: str) -> Process:
        log = self.folder / f"{name}.log"
        log.unlink(missing_ok=True)
        process = self._start(command, log, **variables)
        self.servers[port] = process, log
        self.unready.append(port)
        return process

    def _problem_of_servers(self) -> str:
        """Return a line about a server that has ended or has not responded in time; empty if there is none."""
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
        """Start as many jobs as may run at once; jobs that differ only in their budget run one after the other.

        Before a job starts, it takes over replies, and its damaged results files are renamed.
        """
        at_once = max(1, self.model.resources.cpus) if self.servers else 1
        port = next(reversed(self.servers), 1)
        for job in list(self.waiting):
            if len(self.running) == at_once or any(other.run is job.run for other in self.running):
                continue
            self._charge(POLL_INTERVAL)
            self.waiting.remove(job)
            job.note(None, "running", since=time.time(), taken=job.take_over_replies(), had=job.replies)
            hidden = job.hidden_flags
            for results in filterfalse(is_whole, [*job.folder.glob("*/results_*.json")]):
                results.rename(f"{results}.damaged")  # medtasks eval would stop at it
            has_finished = bool(files_of_replies(job.folder, ".jsonl.gz"))
            of_sweep = {"output_path": job.folder, "log_samples": True, "extend": has_finished}
            flags = job.flags(port, **of_sweep, **dict.fromkeys(hidden))
            command = [sys.executable, "-m", f"{__package__}.job_process", str(job.folder), "eval", *flags]
            variables = {SERVED_BY: job.served_by, FLAGS: json.dumps(hidden).replace("{port}", str(port))}
            self.running[job] = self._start(command, job.folder / "log.txt", **variables)

    def _note_ended(self) -> None:
        """Remove ended jobs from ``running``, and record any exit codes that they did not record themselves."""
        for job, process in list(self.running.items()):
            code = process.poll()
            if code is not None:
                self._charge()
                del self.running[job]
                if job.exit_code != code:
                    note_end(job.folder, code)

    # ---- cost

    def _charge(self, interval: float = 0) -> None:
        """Split the cost since the last charge equally among the running jobs or, if there are none, the waiting ones.

        Do nothing if less than ``interval`` seconds have passed.
        """
        seconds = time.monotonic() - self.charged_at
        jobs = [*self.running] or self.waiting
        if not jobs or seconds < interval:
            return
        share = {"seconds": seconds / len(jobs), "gpu_seconds": seconds / len(jobs) * self.model.gpus}
        for job in jobs:
            cost = {name: job.cost.get(name, 0) + value for name, value in share.items()}
            write_whole(job.folder / "cost.json", json.dumps(cost))
        self.charged_at += seconds


def is_up(port: int) -> bool:
    """Return whether a local server answers ``GET /v1/models`` with a status below 500."""
    connection = HTTPConnection("127.0.0.1", port, timeout=_PROBE_TIMEOUT)
    with closing(connection), suppress(OSError, HTTPException):
        connection.request("GET", _MODELS)
        return connection.getresponse().status < 500
    return False


def _free_port() -> int:
    with socket.create_server(("", 0)) as free:
        return int(free.getsockname()[1])
