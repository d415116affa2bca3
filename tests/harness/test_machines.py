"""The stock command, ours, and ours on two machine ranks give the same samples and scores."""

import os
import subprocess
import sys

import pytest
from commanding import clean_environment
from given import TASKS
from running import saved_results, saved_samples

NAMES = (
    *("medmcqa_openmed", "medhallu", "medcalc_bench_calculator", "medexqa_clinical_psychology"),
    "medexqa_biomedical_engineering_logits",
)
METADATA = '{"medhallu": {"repeats": 2}, "medexqa": {"explanation_metrics": ["rougeL", "bleu"]}}'
STOCK = """
from functools import partial
import lm_eval.tasks
from lm_eval.__main__ import cli_evaluate
lm_eval.tasks.TaskManager = partial(lm_eval.tasks.TaskManager, include_defaults=False)
cli_evaluate()
"""
OURS = [sys.executable, "-m", "medtasks_utils.__main__", "eval"]
PORT = 20_000 + os.getpid() % 10_000  # below those that systems give out of themselves
# Two processes in all; with --cpu it would start one whatever it is told.
RANKS = f"""-m accelerate.commands.accelerate_cli launch --multi_gpu --num_processes 2 --num_machines 2
--main_process_ip 127.0.0.1 --main_process_port {PORT} --mixed_precision no --dynamo_backend no --machine_rank"""
FLAGS = "--log_samples --limit 7 --device cpu --batch_size 1 --apply_chat_template --gen_kwargs max_gen_toks=6"
ON_PROCESSORS = {"OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true", "MEDTASKS_DATA": "sample"}


def started(launcher, model, folder):
    command = [
        *(*launcher, "--tasks", ",".join(NAMES), "--output_path", str(folder), *FLAGS.split()),
        *("--model", "hf", "--model_args", f"pretrained={model},dtype=float32", "--metadata", METADATA),
    ]
    environment = clean_environment(ON_PROCESSORS)
    return subprocess.Popen(
        command, cwd=folder.parent, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


def samples(folder):
    return {(task, s["doc_id"], s["filter"]): s for task in NAMES for s in saved_samples(folder, task)}


def to_rounding(results):
    """Return rounded values by task and name, since sums depend on the order of their terms."""
    return {
        task: {
            name: pytest.approx(value, abs=1e-12) if isinstance(value, float) else value for name, value in of.items()
        }
        for task, of in results.items()
    }


@pytest.mark.torch
def test_two_machine_ranks_and_the_stock_command_give_what_one_process_gives(tiny_model, tmp_path):
    pytest.importorskip("accelerate", reason="several processes are accelerate's")
    launchers = [
        ("one", OURS),
        ("stock", [sys.executable, "-c", STOCK, "run", "--include_path", str(TASKS)]),
        *(("two", [sys.executable, *RANKS.split(), rank, *OURS[1:]]) for rank in "01"),
    ]
    for process in [started(command, tiny_model, tmp_path / name) for name, command in launchers]:
        _, errors = process.communicate(timeout=600)
        assert process.returncode == 0, errors
    one = tmp_path / "one"
    assert len(samples(one)) == 2 * 3 * 7 + 2 * 4 + 4
    assert any(sample["resps"][0][0] for sample in saved_samples(one, "medhallu")), "it does generate"
    for other in (tmp_path / "stock", tmp_path / "two"):
        for part in ("results", "n-samples"):
            assert saved_results(other)[part] == to_rounding(saved_results(one)[part])
        assert samples(other) == samples(one)
