"""What multiple-choice benchmarks share: their choices shown in several orders (``vary_order``)."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from lm_eval.api.instance import Instance
from pydantic import Field

from medtasks_utils.errors import OptionError, logger
from medtasks_utils.harness.answer import Answer
from medtasks_utils.harness.generations import order_of
from medtasks_utils.harness.options import Options
from medtasks_utils.harness.sources import Row
from medtasks_utils.harness.task import MedTask, Prompts


class ChoiceOptions(Options):
    """Options of a benchmark with choices."""

    vary_order: bool = Field(False, description="show each generation the choices in another order; needs repeats")


class ChoiceTask(MedTask):
    """A benchmark whose generations may each see the choices in another order; letters stay with their choices."""

    @abstractmethod
    def first_order(self, doc: Row) -> str:
        """The letters in the order that a single generation sees."""

    @abstractmethod
    def in_order(self, doc: Row, order: str) -> Row:
        """The document as the prompt's template takes it, with its choices in another order."""

    @property
    def has_several_prompts(self) -> bool:
        """Whether each generation sees an order of its own."""
        return bool(self.options.vary_order and self.options.repeats > 1)

    def adjust_config(self, config: dict[str, Any]) -> None:
        """Refuse ``vary_order`` where nothing is generated, and say so where there is nothing to vary."""
        super().adjust_config(config)
        if not self.options.vary_order:
            return
        if config["output_type"] != "generate_until":
            raise OptionError(f"{config['task']}: vary_order is for generated answers, and this task scores logits")
        if self.options.repeats == 1:
            logger.warning("%s: vary_order varies the order over repeats, and repeats is 1", config["task"])

    def fewshot_context(self, doc: Row, *arguments: Any, **settings: Any) -> Any:
        """The prompt; with ``vary_order``, one for each generation, with the same few-shot examples."""
        if not self.has_several_prompts:
            return super().fewshot_context(doc, *arguments, **settings)
        sampler = getattr(self, "sampler", None)
        state = sampler.rnd.getstate() if sampler else None
        prompts = Prompts()
        for generation in range(self.options.repeats):
            if sampler:
                sampler.rnd.setstate(state)
            shown = self.in_order(doc, order_of(generation, self.first_order(doc)))
            prompts.append(super().fewshot_context(shown, *arguments, **settings))
        return prompts

    def annotate(self, answer: Answer, instance: Instance) -> None:
        """Add the order that the generation saw to its sample."""
        super().annotate(answer, instance)
        if self.has_several_prompts:
            answer.details["order"] = order_of(instance.idx, self.first_order(instance.doc))
