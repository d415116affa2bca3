"""The same evaluation in one process, in two, and on two machine ranks of ``accelerate launch``, compared.

Usage: python measurements/ranks.py [--limit 8] [--batch_size 1]

A tiny random model that is built on the spot speaks whole phrases (answers, calls of both tools, explanations), so that
its conversations take several turns and some of its answers are right; a local stand-in judges their explanations. All
scores and all samples must be those of one process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from judge_server import JudgeServer
from launching import ON_PROCESSORS, free_port, launch

TASKS = "medmcqa_openmed,medexqa_all,medcalc_bench_calculator,medcalc_bench_tools,medhallu"
MEDTASKS = ["-m", "medtasks_utils.__main__"]


def phrases() -> list[str]:
    """What the model can say."""
    calls = [("calculator", "expression", f"{a} * 7") for a in range(8)]
    calls += [("python", "code", f"print({a} ** 2)") for a in range(8)]
    said = [json.dumps({"name": name, "arguments": {key: value}}) for name, key, value in calls]
    letters = [f"\\boxed{{{letter}}} The answer is {letter}." for letter in "ABCD"]
    boxes = [f"\\boxed{{{number}}}" for number in range(3)]
    numbers = [f"<answer>{number}</answer>" for number in range(12)]
    return [
        *(f"<tool_call>{call}</tool_call>" for call in said),
        *letters,
        *boxes,
        *numbers,
        " since it carries charge",
    ]


def save_model(folder: Path) -> None:
    """A random Llama that reads bytes and says phrases."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    special = ["<s>", "</s>", "<pad>"]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(models.BPE({token: at for at, token in enumerate([*special, *letters])}, []))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)  # type: ignore[assignment, unused-ignore]
    backend.decoder = decoders.ByteLevel()  # type: ignore[assignment, unused-ignore]
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>", pad_token="<pad>")
    tokenizer.add_tokens(phrases())
    turns = "{% for m in messages %}<{{m.role}}>{{m.content}}{% endfor %}"
    tokenizer.chat_template = turns + "{% if add_generation_prompt %}<assistant>{% endif %}"
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    size = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    model = LlamaForCausalLM(
        LlamaConfig(vocab_size=len(tokenizer), max_position_embeddings=16384, initializer_range=0.5, **size)
    )
    with torch.no_grad():
        model.lm_head.weight[: len(special) + len(letters)] = 0  # never said
    model.save_pretrained(folder)


def arguments(model: Path, judge: str, given: argparse.Namespace, out: Path) -> list[str]:
    """Of ``medtasks eval``."""
    judged = {"use_judge": True, "judge_mode": "g-eval", "judge_base_url": judge, "judge_cache": str(out / "judge.db")}
    options = {"medexqa": judged, "medcalc_bench": {"max_turns": 6}}
    return [
        *("eval", "--tasks", TASKS, "--data", "sample", "--metadata", json.dumps(options), "--confirm_run_unsafe_code"),
        *("--model", "hf", "--model_args", f"pretrained={model},dtype=float32", "--device", "cpu"),
        *("--batch_size", str(given.batch_size), "--apply_chat_template", "--gen_kwargs", "max_gen_toks=3"),
        *("--limit", str(given.limit), "--log_samples", "--output_path", str(out / "results")),
    ]


def run(commands: list[list[str]], out: Path) -> float:
    """Programs that run together; the seconds until all have ended."""
    environment = {**os.environ, **ON_PROCESSORS, "JUDGE_API_KEY": "none"}
    out.mkdir()
    began = time.perf_counter()
    started = []
    for number, command in enumerate(commands):
        with (out / f"log{number}.txt").open("w") as log:
            started.append(subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT))
    for number, process in enumerate(started):
        if process.wait():
            sys.exit((out / f"log{number}.txt").read_text())
    return time.perf_counter() - began


def saved(out: Path) -> tuple[dict[str, Any], dict[Any, Any]]:
    """The scores of all tasks, and the samples by task, example and filter."""
    (path,) = (out / "results").rglob("results_*.json")
    samples = {}
    for file in (out / "results").rglob("samples_*.jsonl"):
        task = file.name.removeprefix("samples_").rpartition("_")[0]
        for line in file.read_text(encoding="utf-8").splitlines():
            sample = json.loads(line)
            samples[task, sample["doc_id"], sample["filter"]] = sample
    return json.loads(path.read_text(encoding="utf-8"))["results"], samples


def main() -> None:
    """Run all three ways and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=8)
    parser.add_argument("--batch_size", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, JudgeServer() as judge:
        folder = Path(name)
        save_model(folder / "model")
        port = free_port()
        ways = {
            "one process": [[sys.executable]],
            "two processes": [launch(free_port())],
            "two machine ranks": [launch(port, machines=2, rank=rank) for rank in range(2)],
        }
        found = {}
        for way, launchers in ways.items():
            out = folder / way.replace(" ", "_")
            before = len(judge.judging)
            rest = [*MEDTASKS, *arguments(folder / "model", judge.url, given, out)]
            seconds = run([[*launcher, *rest] for launcher in launchers], out)
            results, samples = found[way] = saved(out)
            calls = sum(sample.get("tool_calls", 0) for sample in samples.values()) / 2
            judged = len(judge.judging) - before
            print(f"{way}: {seconds:.0f} s, {len(samples)} samples, {calls:.0f} tool calls, {judged} judge calls")
            if way != "one process":
                one, theirs = found["one process"]
                scores = sum(one[task] == results[task] for task in one)
                same = sum(theirs[key] == samples.get(key) for key in theirs)
                print(f"  as of one process: scores of {scores} of {len(one)} tasks, {same} of {len(theirs)} samples")


if __name__ == "__main__":
    main()
