"""Signatures are equal where results are comparable, differ where they are not, and hold no secret."""

import re
from typing import Any

from given import each_row
from running import evaluate, load, manager, right_answer

from medtasks_utils.harness.signature import as_signed, incompatibilities, parse

STRICT = "strict-match"


def signatures(task: str, **settings: Any) -> Any:
    """The signatures by filter that a run writes into its results."""
    return evaluate(task, right_answer, **settings)["configs"][task]["metadata"]["signature"]


def signed(task: str = "medhallu", /, **settings: Any) -> str:
    return str(signatures(task, **{"limit": 3, **settings})[STRICT])


# ---- what is in it


@each_row("signatures")
def test_every_result_has_one_for_each_filter(task, expected):
    """Equal to those of earlier versions but for the rows, which are the sample's, and the versions."""
    found = signatures(task)
    assert list(found) == ["strict-match", "flexible-extract"]
    for name, text in found.items():
        n = len(load(task).eval_docs)
        rows, rest = text.split("|n:")
        assert re.fullmatch(rf"{task}\|data:sample\|rows:[0-9a-f]{{12}}", rows)
        assert rest.startswith(f"{n}|{expected}|filter:{name}|v:") and not re.search(r"\s", text)
        assert {"medtasks", "lm_eval"} < parse(text).keys()


# ---- what changes it


@each_row("signature_changes")
def test_what_makes_another_measurement_is_refused_and_what_is_the_model_s_affair_warned_of(
    task, settings, change, refused, warned
):
    differences = incompatibilities(signed(task, **settings), signed(task, **settings, **change))
    assert [each.field for each in differences if each.refuse] == refused
    assert [each.field for each in differences if not each.refuse] == warned
    assert not any("versions of" in each.message for each in differences)


def test_a_version_that_one_run_lacks_is_warned_of_and_functions_differ_by_what_they_call():
    (found,) = incompatibilities("t|n:1", "t|n:1|bert:2")
    assert found == ("bert", "versions of bert differ (none and 2)", False)
    assert len({as_signed(template) for template in (lambda doc: len(doc), lambda doc: str(doc))}) == 2


# ---- what must not be in it


def test_no_secret_address_or_path_is_in_it(tmp_path, monkeypatch):
    monkeypatch.setenv("JUDGE_API_KEY", "sk-secret")
    prompt = "Use key sk-secret at http://user:password@host/v1 | and more"
    found = signed("medcalc_bench", metadata={"medcalc_bench": {"system_prompt": prompt}, "api_key": "sk-secret"})
    assert re.search(r"\|opts:system_prompt=#[0-9a-f]{8}\|", found)
    for secret in ("sk-secret", "http", "host", "password", str(tmp_path)):
        assert secret not in found


def test_it_does_not_depend_on_the_process(tmp_path):
    """Each process of a distributed run builds its own part of the prompts, and they sign the whole."""
    found = []
    for rank in (0, 1):
        task = manager().load(["medhallu"])["tasks"]["medhallu"]
        task.build_all_requests(limit=6, rank=rank, world_size=2, apply_chat_template=False)
        found.append(task.config.metadata["signature"][STRICT])
    assert found[0] == found[1] and parse(found[0])["n"] == "6"
