"""How replies ended: by themselves, at the limit on tokens, in a filter, without text, or refused for length."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from medtasks_utils.filters import STRICT
from medtasks_utils.results.samples import ENDINGS

from .report_tables import Block, Cell, ReportTable, Section, estimate_cell, samples_link
from .topics import Topic

_LEAD = (
    "A reply that was cut usually has no answer, which says nothing about the model's knowledge: if many were cut, "
    "raise max_gen_toks. The accuracy of the finished is over the replies that ended by themselves, which are the "
    "easier ones."
)


def replies_section(topics: Sequence[Topic]) -> list[Section]:
    """Return a section with a row for each task and run whose samples say how replies ended; nothing if none do."""
    ends = ReportTable(
        "Replies by how they ended (%)", ["Benchmark", "Run", "Replies", *ENDINGS, "acc of the finished"], texts=2
    )
    lengths = ReportTable(
        "Tokens of a reply, reasoning included",
        ["Benchmark", "Run", "median", "90 % below", "99 % below", "most"],
        texts=2,
    )
    for topic in topics:
        for run, samples in topic.samples().items():
            endings = Counter(ending for sample in samples for ending in sample.endings)
            if not topic.benchmark_name or not endings.keys() - {"unknown"}:
                continue
            total = endings.total()
            row = [Cell(topic.title, topic.name), Cell(run), Cell(f"{total:,}")]
            for ending in ENDINGS:
                link = samples_link(task=topic.only_task, run=run, badge=ENDINGS[ending]) if endings[ending] else ""
                row.append(Cell(f"{100 * endings[ending] / total:.1f}", f"{endings[ending]:,}", href=link))
            finished = topic.estimate(run, STRICT, "acc_finished")
            ends.rows.append([*row, estimate_cell(finished, topic.metric("acc"))])
            counts = [count for sample in samples for count in sample.tokens if count is not None]
            if counts:
                quantiles = np.quantile(counts, [0.5, 0.9, 0.99, 1.0])
                numbers = [Cell(f"{number:,.0f}") for number in quantiles]
                lengths.rows.append([*row[:2], *numbers])
    blocks = [Block("Ends", ends, lead=_LEAD), Block("Tokens", lengths)]
    return [Section("replies", "How replies ended", "", "", blocks)] if ends.rows else []
