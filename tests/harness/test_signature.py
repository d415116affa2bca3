"""Signatures are equal where results are comparable, differ where they are not, and hold no secret."""

import re
from typing import Any

from given import each_row
from running import evaluate, load, right_answer

from medtasks_utils.harness.signature import as_signed, incompatibilities, parse

STRICT = "strict-match"


def signatures(task: str, **settings: Any) -> Any:
    """The signatures by filter that a run writes into its results."""
    return evaluate(task, right_answer, **settings)["configs"][task]["metadata"]["signature"]


def signed(task: str = "medhallu", /, **settings: Any) -> str:
    return str(signatures(task, **{"limit": 3, **settings})[STRICT])


# ---- what is in it


@each_row("signatures")
def test_every_result_has_one_for_each_filter(task, expected, packages):
    """Equal to those of earlier versions but for the versions."""
    found = signatures(task)
    assert list(found) == ["strict-match", "flexible-extract"]
    for name, text in found.items():
        assert text.startswith(f"{task}|data:sample|{expected}|filter:{name}|v:") and not re.search(r"\s", text)
        assert [*parse(text)][-2 - len(packages) :] == ["medtasks", "lm_eval", *packages]


# ---- what changes it


@each_row("signature_changes")
def test_what_makes_another_measurement_is_refused_and_what_is_the_model_s_affair_warned_of(
    task, settings, change, refused, warned
):
    differences = incompatibilities(signed(task, **settings), signed(task, **settings, **change))
    assert [each.field for each in differences if each.refuse] == refused
    assert [each.field for each in differences if not each.refuse] == warned


@each_row("signature_differences")
def test_a_difference_is_refused_or_warned_of(first, second, expected):
    assert [[*each] for each in incompatibilities(first, second)] == expected


def test_functions_are_signed_by_what_they_do_and_alike_in_every_process():
    bodies = ("len(doc)", "str(doc)", "doc * 2", "doc % 2", "doc * 3", "lambda: doc")
    one, other = ([as_signed(eval(f"lambda doc: {body}")) for body in bodies] for _ in "ab")
    assert one == other and len({*one}) == len(bodies)


# ---- what must not be in it


def test_no_secret_and_no_address_is_in_it(monkeypatch):
    monkeypatch.setenv("JUDGE_API_KEY", "sk-secret")
    prompt = "http://host/sk-secret"
    found = signed("medcalc_bench", metadata={"medcalc_bench": {"system_prompt": prompt}, "api_key": "sk-secret"})
    assert re.search(r"\|opts:system_prompt=#[0-9a-f]{8}\|", found)
    assert not re.search("sk-secret|http|host", found)


def test_it_does_not_depend_on_the_process():
    """Each process of a distributed run builds its own part of the prompts, and they sign the whole."""
    contents = set()
    for chosen in {"limit": 6}, {"samples": [0, 2, 4, 6, 8, 10]}:
        tasks = [load("medhallu") for _ in "01"]
        for rank, task in enumerate(tasks):
            task.build_all_requests(rank=rank, world_size=2, apply_chat_template=False, **chosen)
            assert len(task.instances) == 3
            contents.add(task.config.metadata["content"])
        one, other = (task.config.metadata["signature"][STRICT] for task in tasks)
        assert one == other and parse(one)["n"] == "6"
    assert len(contents) == 2, "of the examples of all processes, and of no others"
