"""A benchmark that contradicts itself."""

from medtasks_utils.benchmarks.medhallu.benchmark import MedHallu


class HalfBench(MedHallu):
    answers = {"0": "factual"}  # noqa: RUF012


BENCHMARK = HalfBench
