"""Which parameters an endpoint takes: learned from its refusals, so that each is met once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal


@dataclass(frozen=True)
class Dialect:
    """What is sent beside the messages.

    Attributes:
        temperature: whether a temperature (of 0) is sent; some reasoning models refuse one.
        limit: the name of the limit on tokens; newer models of the provider refuse the old one.
        structured: the way in which structured output is asked for, None where it is done without.
    """

    temperature: bool = True
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    structured: Literal["json_schema", "json_object"] | None = "json_schema"

    def parameters(self, max_tokens: int, schema: dict[str, Any] | None) -> dict[str, Any]:
        """Arguments of a chat completion."""
        parameters: dict[str, Any] = {self.limit: max_tokens}
        if self.temperature:
            parameters["temperature"] = 0.0
        if schema and self.structured == "json_schema":
            form = {"name": schema.get("title", "reply"), "strict": True, "schema": schema}
            parameters["response_format"] = {"type": "json_schema", "json_schema": form}
        elif schema and self.structured == "json_object":
            parameters["response_format"] = {"type": "json_object"}
        return parameters

    def without(self, complaint: str, schema: dict[str, Any] | None) -> Dialect | None:
        """What to send instead after a 400 or 422 with this complaint; None if nothing that was sent explains it."""
        complaint = complaint.lower()
        if self.limit == "max_tokens" and "max_completion_tokens" in complaint:
            return replace(self, limit="max_completion_tokens")
        if self.temperature and "temperature" in complaint:
            return replace(self, temperature=False)
        if "context length" in complaint or "context window" in complaint:
            return None
        # Endpoints word this in many ways, or not at all, so structured output is what a refusal is put down to.
        if schema and self.structured:
            return replace(self, structured="json_object" if self.structured == "json_schema" else None)
        return None
