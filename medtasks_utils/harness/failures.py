"""What a failure inside the harness means for the user, as one line with the way out.

Errors of this pack pass through as they are. What is not known here is somebody's bug: ours ends in its traceback, that
of another library in a line that names the file with the traceback.
"""

from __future__ import annotations

import asyncio
import inspect
import re
import sqlite3
import tempfile
import traceback
from pathlib import Path

import aiohttp
import lm_eval
import requests

from medtasks_utils.errors import MedtasksError, first_line
from medtasks_utils.harness import server
from medtasks_utils.harness.preflight import Plan
from medtasks_utils.harness.preflight_model import missing_package

_SHOWN = 300  # characters of what an error says
_OURS = str(Path(__file__).parents[1])
_HARNESS = str(Path(inspect.getfile(lm_eval)).parent)
_OF_MODELS: tuple[tuple[str, str], ...] = (
    (r"chat_template is not set|no chat template", "the model's tokenizer has no chat template: leave out "
     "--apply_chat_template, or name a tokenizer that has one (tokenizer=NAME in --model_args)"),
    (r"gated repo|restricted", "the model is gated: ask for access on its page of the hub, and set HF_TOKEN"),
    (r"not a local folder and is not a valid model|Repository Not Found|does not appear to have a file named|"
     r"Error no file named|instantiate the backend tokenizer|Repo id must|couldn't connect to|"
     r"Can't load|Unrecognized model|offline mode is enabled",
     "the model cannot be had: is its name or folder right, and is it downloaded where there is no internet?"),
    (r"out of memory", "the model and its batch do not fit: a smaller --batch_size, or dtype=bfloat16 in --model_args"),
    (r"`model_kwargs` are not used", "the model takes no such setting of --gen_kwargs"),
    (r"module 'torch' has no attribute", "dtype in --model_args is none of torch's: take bfloat16, float16, float32 or "
     "auto"),
    (r"not compiled with CUDA|No CUDA GPUs|no NVIDIA driver|Invalid device|Expected one of cpu",
     "the device is not there: --device cpu, or another"),
    (r"[Ll]oglikelihood|logprobs", "the model gives no log-likelihoods: take a task without logits, or hf or "
     "local-completions"),
)  # fmt: skip


def explain(error: Exception, plan: Plan) -> MedtasksError | None:
    """The error for the user; None for a bug of ours."""
    if _is_ours(error) and not isinstance(error, sqlite3.Error):
        return None
    kinds = (_of_the_cache, _of_a_server, _of_a_package, _of_a_model, _of_the_command)
    return next((found for kind in kinds if (found := kind(error, plan))), None) or _unknown(error)


def _of_a_server(error: Exception, plan: Plan) -> MedtasksError | None:
    url = plan.mapping("model_args").get("base_url", "the model's server")
    response = getattr(error, "response", None)
    status = getattr(error, "status", None) or getattr(response, "status_code", None)
    if isinstance(error, aiohttp.ContentTypeError | requests.exceptions.JSONDecodeError):
        return MedtasksError(f"{url} answers with something else than JSON; {plan.way_on}")
    if isinstance(error, aiohttp.ClientResponseError | requests.exceptions.HTTPError) and status:
        said = " ".join(response.text.split())[:200] if response is not None else str(getattr(error, "message", ""))
        said = f" ({said})" if said else ""
        try:
            server.explain(int(status), said, str(url), str(plan.model_name))
        except MedtasksError as known:
            return MedtasksError(f"{known}; {plan.way_on}")
        return MedtasksError(f"{url} answers {status}{said}, every time it was asked; {plan.way_on}")
    if isinstance(error, asyncio.TimeoutError | TimeoutError | requests.exceptions.Timeout):
        return MedtasksError(
            f"{url} did not answer in time: timeout=SECONDS in --model_args gives it more; {plan.way_on}"
        )
    if isinstance(error, aiohttp.ClientPayloadError | requests.exceptions.ChunkedEncodingError):
        return MedtasksError(f"{url} breaks off in the middle of an answer; {plan.way_on}")
    if isinstance(error, aiohttp.ClientError | requests.exceptions.RequestException):
        return MedtasksError(f"{url} answers no longer; {plan.way_on}")
    return None


def _of_the_cache(error: Exception, plan: Plan) -> MedtasksError | None:
    if not (plan.use_cache and isinstance(error, sqlite3.Error)):
        return None
    return MedtasksError(
        f"--use_cache: {plan.use_cache}_rank*.db takes no more answers ({error}): make room, or end what else writes "
        f"to it; {plan.way_on}"
    )


def _of_a_package(error: Exception, plan: Plan) -> MedtasksError | None:
    return missing_package(error, f"--model {plan.model or 'hf'}") if isinstance(error, ImportError) else None


def _of_a_model(error: Exception, plan: Plan) -> MedtasksError | None:
    if isinstance(error, NotImplementedError) and not str(error):
        return MedtasksError(f"--model {plan.model} cannot do what the tasks ask of it; take another kind of model")
    for pattern, advice in _OF_MODELS:
        if re.search(pattern, str(error)) or (pattern == "out of memory" and "OutOfMemory" in type(error).__name__):
            return MedtasksError(f"{advice} ({first_line(error)[:_SHOWN]})")
    return None


def _of_the_command(error: Exception, plan: Plan) -> MedtasksError | None:
    text = first_line(error)[:_SHOWN]
    if isinstance(error, AssertionError) and "samples" in text:
        return MedtasksError(f"--samples: {text}")
    if isinstance(error, OSError) and error.errno is not None and error.filename:
        return MedtasksError(f"{error.filename}: {error.strerror}")
    if re.search(r"[Tt]oken is|[Ii]nvalid user token|401 Client Error", text):
        return MedtasksError(f"the hub does not take the token: set HF_TOKEN to one that may write ({text})")
    return None


def _is_ours(error: Exception) -> bool:
    """Whether the last of our code and the harness's that was under way is ours."""
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    last = next((file for file in reversed(files) if file.startswith((_OURS, _HARNESS))), _OURS)
    return last.startswith(_OURS)


def _unknown(error: Exception) -> MedtasksError:
    with tempfile.NamedTemporaryFile(
        "w", prefix="medtasks_traceback_", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
    ) as file:
        file.write("".join(traceback.format_exception(error)))
    return MedtasksError(
        f"lm_eval ended with {type(error).__name__}: {first_line(error)[:_SHOWN]} (the traceback is in {file.name}; "
        "LMEVAL_LOG_LEVEL=DEBUG shows it)"
    )
