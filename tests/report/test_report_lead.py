"""The sentences and the cautions of the first screen, from numbers alone."""

import re
from typing import Any

from given import each_row, table

from medtasks_utils.report.board import Floor, Ranking, Score
from medtasks_utils.report.cautions import Part, Shares, cautions, suspect_parts
from medtasks_utils.report.lead import lead, lead_of_one, lead_of_two
from medtasks_utils.report.pair import PairLine, PairRow
from medtasks_utils.statistics.metrics import ACC

FORBIDDEN = re.compile(
    r"leads? clearly|share the first place|significant|\bequal|outperform|provisional", re.IGNORECASE
)


def standing(label, values, ahead=None, floor=None, highest=(None, None), **more) -> Any:
    """Runs on a benchmark: by run its value, of which the first has an interval."""
    scores = {run: Score(value, None, None, 9) for run, value in values.items()}
    for run in [*values][:1]:
        scores[run] = Score(values[run], highest[0], highest[1], 9)
    more = {"ranked": list(values), "ahead": ahead and score(ahead), "floor": floor and Floor(floor, True), **more}
    return Ranking(label=label, metric=ACC, scores=scores, **more)


def score(difference) -> Score:
    points, low, high = difference
    return Score(points, low, high, 9)


@each_row("lead")
def test_the_lead_of_many_runs_says_who_is_best_and_who_is_not_told_apart(case, standings, mean, said):
    assert lead([standing(**each) for each in standings], mean and standing(**mean)) == said, case


@each_row("lead_of_one")
def test_the_lead_of_one_run_says_its_scores_and_their_intervals(case, results, losses, said):
    assert lead_of_one("x", [standing(**each) for each in results], losses) == said, case


@each_row("lead_of_two")
def test_the_lead_of_two_runs_says_which_is_better_at_what(case, compared, said):
    rows = []
    for label, difference, is_shown, incompatible, counts, *decided in compared:
        line = difference and PairLine(label, 9, 0.0, 0.0, score(difference), None, is_shown, ACC, None)
        also = {"f1": {run: Score(50, None, None, n) for run, n in zip("xy", decided, strict=False)}}
        rows.append(PairRow(standing(label, {"x": 50, "y": 50}, also=also), line, incompatible, counts))
    assert lead_of_two("x", "y", rows) == said, case


@each_row("cautions")
def test_cautions_come_worst_first(case, shares, parts, unranked, said):
    judged = []
    for each in parts:
        scores = [Score(value, low, high, each["n"]) for value, low, high in each["scores"]]
        judged.append(Part(**{**each, "scores": scores}, chance=25, href="#p"))
    links = dict.fromkeys(("cut", "none", "form", "doubted", "contradicted", "audit", "empty", "alike"), "#s")
    found = cautions([Shares(**each, hrefs=links) for each in shares], suspect_parts(judged), unranked)
    assert [caution.text for caution in found] == said, case
    assert all(caution.href.startswith("#") for caution in found)


def test_no_sentence_claims_more_than_is_shown():
    said = [row[-1] for name in ("lead", "lead_of_one", "lead_of_two", "cautions", "who_leads") for row in table(name)]
    assert said and not any(FORBIDDEN.search(sentence) for sentences in said for sentence in sentences)
