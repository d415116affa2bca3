"""What selfcheck expects of MedMCQA."""

from __future__ import annotations

from medtasks_utils.benchmarks.known_answers import Doc, KnownAnswers, Reply


class MedMCQAAnswers(KnownAnswers):
    """Boxed letters."""

    def each(self, doc: Doc, reply: Reply) -> dict[str, float]:
        """With ``format`` and ``one_box``: all but cut-off reasoning is one think block and a box, or a box alone."""
        thought, _, final = reply.text.rpartition("</think>")
        return {**super().each(doc, reply), "format": bool(thought), "one_box": "\\boxed" in final}
