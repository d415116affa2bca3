"""Provide cases and settings for tests of judges."""

from pathlib import Path
from typing import Any

import pytest
from judge_server import JudgeServer

from medtasks_utils.benchmarks.medexqa import options
from medtasks_utils.judging import Case, Judgement, JudgeSettings, judge_all, make_judge

SPECIALTIES = tuple(specialty.name for specialty in options.SPECIALTIES)


def case(number: int = 0, **changed: Any) -> Case:
    return Case(
        specialty=SPECIALTIES[number % 5],
        question=f"Question {number}?",
        options=("one", "two", "three", "four"),
        answer_letter="ABCD"[number % 4],
        explanation=f"Because of reason {number}.",
        references=(f"Reason {number}, that is.", f"See {number}."),
    )._replace(**changed)


def cases(count: int) -> list[Case]:
    return [case(number) for number in range(count)]


def settings_for(url: str | None, folder: Path, model: str = "judge", **changed: Any) -> JudgeSettings:
    return JudgeSettings.from_environment(model=model, base_url=url, cache=folder / "cache.jsonl", **changed)


def judged(
    server: JudgeServer, folder: Path, todo: list[Case], judge: str = "g-eval", coverage: bool = False, **changed: Any
) -> list[Judgement]:
    return judge_all(make_judge(judge, use_coverage=coverage), settings_for(server.url, folder, **changed), todo)


@pytest.fixture(autouse=True)
def no_keys_and_no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JUDGE_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("medtasks_utils.inference.pace.BACKOFF", 0.0)
