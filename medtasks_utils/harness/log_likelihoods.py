"""Check that a server returns log-likelihoods for an echoed prompt, and that they distinguish choices."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from math import isfinite
from typing import Any

from medtasks_utils.errors import MedtasksError
from medtasks_utils.inference.client import Client, run_with
from medtasks_utils.inference.replies import Reply
from medtasks_utils.inference.responses import NoCompletion, ServerBusy, ServerError

from .lm_eval_names import LM, Instance
from .server_model import endpoint_of

_MOST_TIES = 0.1
"""Maximum share of examples whose choices are all equally likely; rounding to bfloat16 causes less than 1 %."""
_WAY_OUT = (
    "a server must echo prompts with their logprobs, as vLLM's does and llama.cpp's does not; use --model vllm or hf, "
    "or omit these tasks"
)


def is_echo(output: Any, size: int) -> bool:
    """Return whether a body contains log-probabilities of a prompt of ``size`` tokens, and of one generated token.

    In OpenAI's format, the first token of the prompt has none, and all others are finite. Equal values for all tokens
    are rejected, since no model returns them.
    """
    try:
        (choice,) = output["choices"]
        first, *values = choice["logprobs"]["token_logprobs"]
        _, *most_likely = choice["logprobs"]["top_logprobs"]
        is_whole = len(values) == size and not first and all(most_likely)
        return is_whole and all(map(isfinite, values)) and len(set(values)) > 1
    except (KeyError, TypeError, ValueError):
        return False


def try_echo(model: LM, tasks: str) -> None:
    """Check that a server returns log-probabilities of a short prompt, requested in the form that the run will use.

    A busy server passes the check.

    Args:
        model: an API model with its tokenizer.
        tasks: the names of the tasks that need log-probabilities, for messages.

    Raises:
        MedtasksError: if the server does not return log-probabilities.
    """
    tokens = model.tok_encode("Which letter comes first in the alphabet? Answer: A")
    endpoint = endpoint_of(model, model.max_retries)
    try:
        run_with(endpoint, lambda client: echo(client, model, tokens))
    except ServerBusy:  # the run waits for it
        return
    except ServerError as error:
        raise MedtasksError(f"{tasks}: {error.problem}: {_WAY_OUT}") from None


async def echo(client: Client, model: LM, tokens: Sequence[int]) -> Any:
    """Return the body of a server's response to a prompt that it should echo.

    Raises:
        ServerError: the error of the last attempt; NoCompletion if the response lacks a finite log-probability for any
            token but the first.
    """
    message = model.create_message([tokens])
    body = model._create_payload(message, generate=False, seed=model._seed)
    completion = await client.complete(body, final=NoCompletion)
    if not is_echo(completion.body, len(tokens)):
        problem = f"does not return a finite log-probability for each of the {len(tokens)} tokens of a prompt"
        raise NoCompletion(f"{client.endpoint.url} {problem}", _WAY_OUT)
    return completion.body


async def log_likelihood(client: Client, model: LM, prompt: str, continuation: str) -> tuple[float, bool]:
    """Return a continuation's log-likelihood, requested from a server, and whether greedy decoding produces it."""
    before, after = model._encode_pair(prompt, continuation)
    tokens = [*before, *after]
    ((value, is_greedy),) = model.parse_logprobs([await echo(client, model, tokens)], [tokens], [len(before)])
    return value, is_greedy


def check_log_likelihoods(task: str, instances: Sequence[Instance]) -> None:
    """Check that log-likelihoods are finite and rarely tie, since a tie makes the first choice the answer.

    Prompts that were not sent have no log-likelihood and are left out.

    Raises:
        MedtasksError: if a value is not finite, or if all choices tie in every example, or in at least two examples
            and more than a tenth of them.
    """
    by_example: dict[int, list[float]] = defaultdict(list)
    for instance in instances:
        if not isinstance(instance.resps[0], Reply):
            by_example[instance.doc_id].append(instance.resps[0][0])
    ties = sum(len(set(values)) == 1 for values in by_example.values())
    problem = ""
    if not all(map(isfinite, chain.from_iterable(by_example.values()))):
        problem = "log-likelihoods are not finite numbers"
    elif ties > max(1, _MOST_TIES * len(by_example)) or 0 < ties == len(by_example):
        problem = f"all choices are equally likely in {ties} of {len(by_example)} examples"
    if problem:
        raise MedtasksError(
            f"{task}: {problem}: {_WAY_OUT}. With --model hf or vllm, try another dtype. If replies were kept, add "
            "--fresh"
        )
