"""``medtasks sweep --ray`` on a cluster of two nodes on this machine; skipped without Ray."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import saved_results
from judge_server import JudgeServer
from test_sweep import command, of_models, plan

ray: Any = pytest.importorskip("ray", reason="needs Ray")
from ray.cluster_utils import Cluster  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(lambda request: "\\boxed{1}") as server:
        yield server


@pytest.fixture
def cluster() -> Iterator[Any]:
    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "dashboard_port": None})
    yield found
    found.shutdown()


def test_a_node_that_dies_costs_what_was_in_flight(tmp_path: Path, server: JudgeServer, cluster: Any) -> None:
    _, second = (cluster.add_node(num_cpus=1) for _ in range(2))
    server.latency = 0.3
    runs = [{"name": "a", "tasks": "medhallu", "flags": {"limit": 20}}]
    path = plan(tmp_path, server, count=2, runs=runs)
    driver = command(path, "--ray", cluster.address)
    while min([len(of_model(server, name)) for name in ("m0", "m1")]) < 5:
        assert driver.poll() is None, driver.communicate()
        time.sleep(0.1)
    cluster.remove_node(second, allow_graceful=False)
    _, errors = driver.communicate(timeout=400)
    assert driver.returncode == 0, errors
    assert "lost its node" in errors
    assert not [line for line in errors.splitlines() if not re.match(r"[\d:]{8} m\d/a: ", line)], "no line of Ray's"
    twice = sum(count - 1 for count in of_models(server).values())
    assert twice <= 2 * 2, "those in flight on the node that died"
    values = {
        name: saved_results(next((tmp_path / "sweep" / name).iterdir()))["results"]["medhallu"]["acc,strict-match"]
        for name in ("m0", "m1")
    }
    assert values["m0"] == values["m1"] > 0


def of_model(server: JudgeServer, name: str) -> list[Any]:
    return [request for request in server.requests if request["model"] == name]
