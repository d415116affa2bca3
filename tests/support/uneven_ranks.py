"""A program for ``accelerate launch``: a real model whose replies are scripted, so that one rank's end long before."""

import json
import sys
from pathlib import Path
from typing import Any

import torch
from lm_eval.models.huggingface import HFLM
from running import evaluate, samples
from tool_caller import tagged


class Scripted(HFLM):  # type: ignore[misc]
    """Generates with all ranks in step, as a sharded model has to, and replies something else."""

    calls = 0

    def generate_until(self, requests: list[Any], disable_tqdm: bool = True) -> list[str]:
        counts = self.all_gather(torch.tensor(len(requests), device=self.device))
        assert len(set(counts.reshape(-1).tolist())) == 1, f"ranks with {counts.tolist()} requests"
        super().generate_until(requests, disable_tqdm=True)
        self.calls += 1
        return [self.reply(request) for request in requests]

    def reply(self, request: Any) -> str:
        """Rows with an odd number, which the first rank has, call a tool in as many rounds as half their number."""
        turn = request.args[0].count("<assistant>")
        rounds = int(request.doc["row_number"]) % 2 * int(request.doc["row_number"]) // 2
        return tagged("calculator", f"{turn} * 10") if turn <= rounds else f"<answer>{turn}</answer>"


def main(pretrained: str, out: str) -> None:
    model = Scripted(pretrained=pretrained, dtype="float32", device="cpu", batch_size=2)
    settings: dict[str, Any] = {"limit": 7, "gen_kwargs": {"max_gen_toks": 2}}
    result = evaluate("medcalc_bench_calculator", model, metadata={"medcalc_bench": {"repeats": 2}}, **settings)
    assert model.world_size == 2
    assert model.calls == 4, "every rank asks the model in every round"
    if result is not None:
        Path(out).write_text(json.dumps(samples(result), default=str), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
