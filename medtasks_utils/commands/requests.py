"""``medtasks requests``: the requests of a run as a file (:mod:`medtasks_utils.elsewhere.batch`)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import PositiveInt

from medtasks_utils.errors import UsageError

from .evaluate import HarnessCommand
from .flags import Printout


@dataclass(kw_only=True)
class Requests(HarnessCommand):
    """Write the requests that medtasks eval would send, for a batch service or a machine without network.

    Each line is a request in the form of batch endpoints (custom_id, method, url, body). Beside them stands
    <name>.run.json with the flags of the run. medtasks import RESPONSES --requests FILE scores the responses.

    Attributes:
        model_name: the model's name in the requests and in the results
        form: chat for messages; completions for prompts, which --apply_chat_template renders with the tokenizer of
            --model_args tokenizer=NAME
        max_requests: the most requests in a file; more go into FILE_1, FILE_2 and so on; default: 50,000
    """

    usage = "medtasks requests --tasks TASK,... -o FILE [--model_name NAME] [flags]"
    model_name: str = "model"
    form: Literal["chat", "completions"] = "chat"
    max_requests: PositiveInt = 50_000

    def run(self) -> Printout:
        """Write the files; return their paths."""
        from medtasks_utils.elsewhere.batch import write_requests

        flags = vars(self.arguments)
        file = flags.pop("output_path", None)
        if not file:
            raise UsageError("name the file for the requests, as in -o requests.jsonl")
        if self.form == "chat":
            flags["apply_chat_template"] = True
        config = self.configured()
        config.model_args["model"] = self.model_name
        files = write_requests(config, self.set, Path(file), form=self.form, max_requests=self.max_requests)
        paths = list(map(str, files))
        return Printout("\n".join(paths), {"files": paths})
