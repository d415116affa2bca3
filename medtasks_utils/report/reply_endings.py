"""Build the table of how replies ended: by themselves, by the token limit or a content filter, empty, or refused."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from medtasks_utils.filters import STRICT
from medtasks_utils.results.samples import ENDINGS

from .report_tables import Cell, ReportTable, samples_link
from .topics import Topic

_LEAD = (
    "A reply that was cut usually has no answer, which says nothing about the model's knowledge: if many were cut, "
    "increase max_gen_toks. The accuracy of finished replies covers those that ended by themselves, which are usually "
    "the easier ones."
)


def replies_table(topics: Sequence[Topic]) -> ReportTable:
    """Return a table with a row for each topic of a benchmark and each run whose samples say how replies ended."""
    heads = ["Benchmark", "Run", "Replies", *ENDINGS, "acc of finished", "median tokens", "90 % below", "maximum"]
    table = ReportTable("How replies ended (%), and their tokens", heads, texts=2, lead=_LEAD, folded=True)
    for topic in topics:
        for run, samples in topic.samples().items():
            endings = Counter(ending for sample in samples for ending in sample.endings)
            if not topic.benchmark_name or not endings.keys() - {"unknown"}:
                continue
            total = endings.total()
            row = [Cell(topic.label), Cell(run), Cell(f"{total:,}")]
            for ending, badge in ENDINGS.items():
                link = samples_link(task=topic.only_task, run=run, badge=badge) if endings[ending] else ""
                row.append(Cell(f"{100 * endings[ending] / total:.1f}", href=link))
            finished = topic.estimate(run, STRICT, "acc_finished")
            counts = [count for sample in samples for count in sample.tokens if count is not None]
            numbers = [f"{tokens:,.0f}" for tokens in np.quantile(counts, [0.5, 0.9, 1.0])] if counts else ["–"] * 3
            table.rows.append([*row, *map(Cell, [topic.metric("acc").shown(finished.value), *numbers])])
    return table
