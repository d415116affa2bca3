"""Marks of samples that can be filtered by, and notes on them.

A task may log its own: a list of short names under ``badges``, and of sentences under ``notes``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from medtasks_utils.results import Sample

DISAGREE = "generations disagree"
TOOL_FAILED = "a tool call failed"
JUDGE_FAILED = "the judge failed"
UNCLOSED = "reasoning never closed"
EMPTY = "empty response"


def badges(sample: Sample) -> list[str]:
    """What marks a sample out, its task's own marks first."""
    first: dict[str, Any] = next(iter(sample.details.values()), {})
    found = list(dict.fromkeys(_texts(first.get("badges"))))
    if len(sample.responses) > 1 and any(len(set(answers)) > 1 for answers in list(sample.answers.values())[:1]):
        found.append(DISAGREE)
    if "transcript" in first and any(call.get("failed") for call in _calls(first["transcript"])):
        found.append(TOOL_FAILED)
    if "judge" in first and any(judge.get("failure") for judge in _mappings(first["judge"])):
        found.append(JUDGE_FAILED)
    if any(text.rfind("<think>") > text.rfind("</think>") for text in sample.responses):
        found.append(UNCLOSED)
    if any(not text.strip() for text in sample.responses):
        found.append(EMPTY)
    return found


def notes(sample: Sample) -> list[str]:
    """Sentences that its task logged about a sample."""
    return list(dict.fromkeys(_texts(next(iter(sample.details.values()), {}).get("notes"))))


def _texts(value: Any) -> list[str]:
    return (
        [str(item) for item in value if item] if isinstance(value, list) else [value] if isinstance(value, str) else []
    )


def _mappings(value: Any) -> Iterable[dict[str, Any]]:
    """The mappings in nested lists."""
    if isinstance(value, dict):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _mappings(item)


def _calls(transcript: Any) -> Iterable[dict[str, Any]]:
    return (call for message in _mappings(transcript) for call in _mappings(message.get("calls")))
