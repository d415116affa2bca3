"""``medtasks requests``: write the requests of a run to a file (:mod:`medtasks_utils.elsewhere.batch`)."""

from pathlib import Path
from typing import Literal

from pydantic import PositiveInt
from pydantic.dataclasses import dataclass

from medtasks_utils.errors import UsageError

from .evaluate import HarnessCommand
from .flags import CommandResult


@dataclass(kw_only=True)
class Requests(HarnessCommand):
    about = """
    Write the requests that medtasks eval would send, for a batch service or a machine without network access.

    Each line is a request in the format of batch endpoints (custom_id, method, url, body). The flags of the run are
    saved next to them in <name>.run.json. medtasks import RESPONSES --requests FILE scores the responses; FILE is the
    file given to -o.
    """

    usage = "medtasks requests --tasks TASK,... -o FILE [--model_name NAME] [flags]"
    model_name: str | None = None
    """the model's name in the requests and in the results; default: that of --model_args model=NAME, or else model"""
    form: Literal["chat", "openai", "completions"] = "chat"
    """chat: messages; openai: the same for OpenAI's own models, as --model openai-chat-completions sends them;
    completions: prompts, which --apply_chat_template renders with the tokenizer of --model_args
    tokenizer=NAME"""
    max_requests: PositiveInt = 50_000
    """maximum number of requests per file; with more, FILE becomes several files with _1, _2 and so on before the
    extension; default: 50,000"""

    def run(self) -> CommandResult:
        """Write the requests to one or more files, and return the paths of the files."""
        from medtasks_utils.elsewhere.batch import write_requests
        from medtasks_utils.harness.batch_model import FORMS

        flags = vars(self.arguments)
        file = flags.pop("output_path", None)
        if not file:
            raise UsageError("name the output file for the requests, such as -o requests.jsonl")
        flags["model"] = FORMS[self.form]
        if self.form != "completions":
            flags["apply_chat_template"] = True
        config = self.configured()
        config.model_args["model"] = self.model_name or config.model_args.get("model", "model")
        files = write_requests(config, self.set, Path(file), form=self.form, max_requests=self.max_requests)
        paths = list(map(str, files))
        return CommandResult(paths, {"files": paths})
