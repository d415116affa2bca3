"""``medtasks sweep --ray`` on a cluster of two nodes on this machine; skipped without Ray."""

import re
import time

import pytest
from test_sweep import command, written
from test_sweep_serving import asked, served

ray = pytest.importorskip("ray", reason="needs Ray")
from ray.cluster_utils import Cluster  # noqa: E402

pytestmark = pytest.mark.ray


@pytest.fixture
def cluster():
    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "dashboard_port": None})
    yield found
    found.shutdown()


def test_after_a_node_dies_its_model_continues_on_another(tmp_path, cluster):
    _, second = (cluster.add_node(num_cpus=1) for _ in range(2))
    content = served(tmp_path, 0.5)
    (model,) = content["models"]
    content["models"] = [model, {**model, "name": "n", "model_args": {**model["model_args"], "model": "n"}}]
    content["runs"] = [{"name": "a", "tasks": "medhallu"}]
    driver = command(written(tmp_path, content), "--ray", cluster.address)
    while min("".join(asked(tmp_path)).count(f"{name} ") for name in "mn") < 6:
        assert driver.poll() is None, driver.communicate()
        time.sleep(0.2)
    cluster.remove_node(second, allow_graceful=False)
    _, errors = driver.communicate(timeout=400)
    assert driver.returncode == 0, errors
    assert "lost its node" in errors and not re.search(r"raylet|ray::|\(pid=", errors)
    prompts = asked(tmp_path)
    assert len(prompts) - len({*prompts}) <= 2, "those in flight on the node that died"
