"""Run ``medtasks eval`` once: check the run, then call lm_eval."""

import argparse
import io
import logging
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from medtasks_utils.errors import MedtasksError, UsageError, reason_of
from medtasks_utils.inference.reply_store import ReplyStore, identity_of
from medtasks_utils.inference.responses import ServerUnavailable
from medtasks_utils.writing import SECRETS, JsonObject, digest

from . import patches
from .checks import check_run, folder_of
from .lm_eval_names import EvaluatorConfig
from .patches.evaluator import current_evaluation
from .server_model import spent
from .task_options import SERVED_BY

_OF_LOADING = (ImportError, OSError, RuntimeError, TypeError, ValueError)
"""Errors that indicate wrong arguments, files or packages of a model, or too little memory."""


class StoppedBeforeReplies(Exception):
    """A signal that ends a run once its requests are built, before any is sent."""


class Evaluation:
    """One run of lm_eval.

    Attributes:
        config: the flags of the run.
        seconds: the duration of the run in seconds, until its results are known.
        results: lm_eval's results; None before they are known, and in all processes but the first.
        path: the results file; None if it was not requested, or could not be saved.
        unsaved: messages of errors that occurred while saving, as the keys of a dict, in order of occurrence.
        device: the device of a transformers model; None for other models.
        has_model: True once the model is loaded.
        problem: one line on results that could not be saved or scored; None if all went well.
        store: the store of replies; None if replies are not kept and ``--against`` is not set.
        keeps: True if replies are kept next to the output.
        against: by task and group, the comparison with the run of ``--against``; empty without this flag.
        spent: token counts reported by the server, and the number of replies reused from earlier runs.
    """

    seconds = 0.0
    results: JsonObject | None = None
    path: Path | None = None
    problem: str | None = None
    store: ReplyStore | None = None
    device: str | None = None

    def __init__(
        self,
        config: EvaluatorConfig,
        settings: Sequence[str],
        *,
        keep: bool = True,
        fresh: bool = False,
        saved_run: Any = None,
        extend: bool = False,
    ) -> None:
        """Prepare the configuration and the store of replies, and check the run before it starts.

        Args:
            config: the flags of the run.
            settings: the values of ``--set``.
            keep: False to keep no replies next to the output.
            fresh: True to ignore the replies of interrupted runs.
            saved_run: the :class:`medtasks_utils.compare.against.SavedRun` of ``--against``; None without the flag.
            extend: True to reuse replies of finished runs.

        Raises:
            MedtasksError: for the first error; a UsageError if it is in the command line.
        """
        self.config = config
        self.unsaved: dict[str, None] = {}
        self.spent: JsonObject = {}
        self.has_model = False
        _rearrange(config)
        SECRETS.learn(asdict(config))
        if extend and (fresh or not keep or not config.output_path):
            raise UsageError(
                "--extend reuses replies that are kept next to the output: add --output_path, and omit --fresh and "
                "--no_keep"
            )
        model = {"kind": config.model, "seeds": config.seed, **config.model_args}
        if served_by := os.environ.get(SERVED_BY):
            model["base_url"] = served_by
        if config.use_cache:
            config.use_cache += f"_{digest(identity_of(model))}"  # lm_eval's keys do not contain the model
        self.saved_run = saved_run
        self.against: JsonObject = {}
        if saved_run is not None and config.predict_only:
            raise UsageError("--against compares scores, but --predict_only computes none; omit one of them")
        self.keeps = keep and bool(config.output_path)
        if self.keeps or saved_run is not None:  # with --against, each batch is evaluated twice
            if self.keeps:
                folder = folder_of(config)
            else:
                self._temporary = TemporaryDirectory()
                folder = Path(self._temporary.name)
            self.store = ReplyStore(folder, model, fresh, extend)
        may_be_away = bool(extend and self.store and self.store.kept)
        with only_results_on_standard_output():
            self.manager, tasks = check_run(config, settings, may_be_away)
        if saved_run is not None:
            saved_run.check_tasks(list(tasks))

    def run(self, harness: Any) -> None:
        """Run lm_eval, with everything that it prints sent to standard error.

        If the run fails or is interrupted, the log says how to continue; if the server is unreachable, the error does.
        Results that could not be saved or scored raise no error, but set ``problem``. ``harness`` is the function that
        runs lm_eval, given the flags as a namespace.

        Raises:
            MedtasksError: if the model cannot be loaded, or its server is unreachable.
            StoppedBeforeReplies: if the caller has arranged for the run to end before any request is sent.
        """
        log = logging.getLogger("lm_eval")
        of_saving = logging.getLogger("lm_eval.loggers.evaluation_tracker")

        def note(record: logging.LogRecord) -> bool:
            """Note an error that lm_eval logs without ending the run."""
            error = sys.exc_info()[1]
            if error is not None:
                self.note_unsaved(error)
            return True

        spent.clear()
        self._start = time.perf_counter()
        with ExitStack() as stack:
            of_saving.addFilter(note)
            stack.callback(of_saving.removeFilter, note)
            stack.callback(of_saving.setLevel, of_saving.level)
            of_saving.setLevel(logging.WARNING)  # independently of --verbosity
            stack.callback(current_evaluation.reset, current_evaluation.set(self))
            stack.callback(patches.apply("command"))
            stack.enter_context(only_results_on_standard_output())
            try:
                harness(argparse.Namespace(**asdict(self.config)))
            except StoppedBeforeReplies:
                raise
            except BaseException as error:
                if self.store:
                    self.store.close()
                if explained := self._explained(error):
                    raise explained from None
                log.warning(self._way_on)
                raise
        if self.unsaved:
            details = "; ".join([*self.unsaved, self._way_on])
            self.problem = f"some results could not be saved in {self.config.output_path}: {details}"
            return
        configs = (self.results or {}).get("configs", {}).items()
        metadata = {task: config.get("metadata") or {} for task, config in configs}
        failures = [f"{task}: {about['failure']}" for task, about in metadata.items() if about.get("failure")]
        self.problem = "; ".join(failures) or None
        if self.problem and not any("without_text" in about for about in metadata.values()):
            self.problem += f". {self._way_on}"
        elif self.store and self.results is not None:  # replies without text are not those to continue with
            if any(standing["asked"] < standing["of"] for standing in self.against.values()):
                self.store.close()  # the same command without --against continues the run
            else:
                self.store.end(without_text=bool(self.problem))

    def _explained(self, error: BaseException) -> MedtasksError | None:
        """Return a clearer error if the model cannot be loaded or its server is unreachable; else None."""
        if not self.has_model and isinstance(error, _OF_LOADING):
            problem = f"--model {self.config.model} cannot be loaded with these --model_args"
            return MedtasksError(f"{problem} ({type(error).__name__}: {reason_of(error)})")
        return ServerUnavailable(f"{error}; {self._way_on}") if isinstance(error, ServerUnavailable) else None

    @property
    def _way_on(self) -> str:
        """A sentence on how to continue a run that ended early."""
        if not self.store or not self.keeps:
            return "no replies were kept; with --output_path and without --no_keep, a run can continue where it stopped"
        return self.store.way_on

    def finish(self, results: JsonObject) -> JsonObject:
        """Stop the clock, and return lm_eval's results with token counts and without secrets.

        Standard output is discarded from now on, which hides lm_eval's table.
        """
        self.spent = {"tokens": dict(spent)} if spent else {}
        if self.store and self.store.reused:
            self.spent["answers_taken_over"] = self.store.reused
        self.seconds = time.perf_counter() - self._start
        if self.device:
            results = {**results, "config": {**results["config"], "device": self.device}}
        sys.stdout = io.StringIO()  # hides lm_eval's table, whose first line shows API keys
        self.results = SECRETS.scrub({**results, **({"medtasks": self.spent} if self.spent else {})})
        return self.results

    @property
    def folder(self) -> Path:
        """The folder for the run's results, samples and replies."""
        return folder_of(self.config)

    def note_unsaved(self, error: BaseException) -> None:
        """Add the message of an error that occurred while saving to :attr:`unsaved`."""
        self.unsaved[reason_of(error)] = None


def _rearrange(config: EvaluatorConfig) -> None:
    """Move settings of the model to where lm_eval's classes expect them."""
    if "completions" in config.model and config.model_args.get("seed", "") is None:
        del config.model_args["seed"]  # lm_eval's API models take only a number
        config.gen_kwargs["seed"] = None
    if config.model == "vllm" and "enable_thinking" in (config.model_args.get("chat_template_args") or {}):
        # lm_eval's vLLM class loses it there, and elsewhere wants the mark at which thinking ends.
        is_on = config.model_args["chat_template_args"].pop("enable_thinking")
        mark = {"think_end_token": "</think>"} if is_on else {}
        config.model_args = {"enable_thinking": is_on, **mark, **config.model_args}


@contextmanager
def only_results_on_standard_output() -> Iterator[None]:
    """Redirect standard output to standard error, also in child processes; restore it on exit."""
    sys.stdout.flush()
    standard_output = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        sys.stdout.flush()
        os.dup2(standard_output, 1)
        os.close(standard_output)
