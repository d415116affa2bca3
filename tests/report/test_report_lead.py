"""The sentences and the cautions of the first screen, from numbers alone."""

import re

from given import each_row, table

from medtasks_utils.report.board import Score
from medtasks_utils.report.cautions import Part, Shares, cautions, suspect_parts
from medtasks_utils.report.lead import Compared, Difference, Result, Standing, lead, lead_of_one, lead_of_two

FORBIDDEN = re.compile(
    r"leads? clearly|share the first place|significant|\bequal|outperform|provisional", re.IGNORECASE
)


def standing(label, questions, values, best=None, **more) -> Standing:
    if "ahead" in more:
        more["ahead"] = Difference(*more["ahead"])
    return Standing(label=label, questions=questions, values=values, best=best, **{"ranked": list(values), **more})


@each_row("lead")
def test_the_lead_of_many_runs_says_who_is_best_and_who_is_not_told_apart(case, standings, mean, said):
    assert lead([standing(**each) for each in standings], mean and standing(**mean)) == said, case


@each_row("lead_of_one")
def test_the_lead_of_one_run_says_its_scores_and_their_intervals(case, results, said):
    assert lead_of_one("x", [Result(**each) for each in results]) == said, case


@each_row("lead_of_two")
def test_the_lead_of_two_runs_says_which_is_better_at_what(case, compared, said):
    found = []
    for each in compared:
        difference = each.pop("difference", None)
        found.append(Compared(**each, difference=difference and Difference(*difference)))
    assert lead_of_two("x", "y", found) == said, case


@each_row("cautions")
def test_cautions_come_worst_first(case, shares, parts, unranked, said):
    judged = []
    for each in parts:
        scores = [Score(value, low, high, each["n"]) for value, low, high in each["scores"]]
        judged.append(Part(**{**each, "scores": scores}, chance=25, href="#p"))
    links = dict.fromkeys(("cut", "none", "form", "doubted", "audit"), "#s")
    found = cautions([Shares(**each, hrefs=links) for each in shares], suspect_parts(judged), unranked)
    assert [caution.text for caution in found] == said, case
    assert all(caution.href.startswith("#") for caution in found)


def test_no_sentence_claims_more_than_is_shown():
    said = [row[-1] for name in ("lead", "lead_of_one", "lead_of_two", "cautions", "who_leads") for row in table(name)]
    assert said and not any(FORBIDDEN.search(sentence) for sentences in said for sentence in sentences)
