"""Send requests to a model's server over HTTP, concurrently, and retry while it cannot answer.

Runs, the checks before them, and judges all use this client. No other module sets timeouts or limits concurrency.
"""

import asyncio
import math
import os
import re
import signal
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from ssl import SSLContext
from typing import TYPE_CHECKING, TypeVar

from medtasks_utils.errors import UsageError, logger, reason_of
from medtasks_utils.writing import Settings, counted, quoted

from .pace import LONGEST_OUTAGE, Pace
from .replies import MAX_BODY, Completion
from .responses import (
    NoCompletion,
    NoConnection,
    NoResponse,
    PromptFiltered,
    PromptRefused,
    RequestRefused,
    ServerBusy,
    ServerError,
    ServerUnavailable,
    parse_response,
    through_proxy,
)

if TYPE_CHECKING:
    from aiohttp import ClientResponse, TraceConfig

_LONGEST_ADDRESS = 200  # maximum number of characters of an address in a message
OTHER_WORDS = "Hi"
"""The prompt that tests whether a server answers at all."""
_BEFORE_COMPARING, _FAILS_ALONE = 3, 5
"""The number of failures of a request before test prompts are sent, and the number of test prompts answered before the
request is blamed."""
_ENOUGH, _STILL_COMPARED = 10, 100
"""The number of prompts refused in the same words after which further ones are no longer sent a second time, and the
interval, in prompts, at which one of them is still sent a second time."""
ANSWERING: set[tuple[str, str]] = set()
"""The URLs and models that have answered a request of this process."""

Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """A model at a server, with the settings for requests to it.

    Attributes:
        url: the URL to which requests are posted.
        model: the model's name, for messages.
        headers: the headers of each request, with the API key.
        at_once: the maximum number of concurrent requests.
        attempts: the maximum number of attempts per request; None to retry for :data:`.pace.LONGEST_OUTAGE`.
        timeout: seconds until a response must be complete.
        connection_timeout: seconds until a connection must be established.
        pause: seconds after each request during which its slot stays occupied, for endpoints with a rate limit.
        verify: True to check certificates, False to accept any, or the SSL context to use.
        if_silent: advice for messages if there is no response.
    """

    url: str
    model: str
    headers: Mapping[str, str] = field(repr=False)
    at_once: int = 1
    attempts: int | None = None
    timeout: float = 300.0
    connection_timeout: float = 15.0
    pause: float = 0.0
    verify: bool | SSLContext = True
    if_silent: str = ""

    def __post_init__(self) -> None:
        """Check that the headers can be sent.

        Raises:
            UsageError: if a header is not a one-line string; a key read from a file may end with a line break.
        """
        if not isinstance(self.headers, Mapping):
            raise UsageError('header takes names and values as JSON, such as header={"X-Model": "big"}')
        for name, value in self.headers.items():
            if not (isinstance(value, str) and (name + value).isprintable()):
                raise UsageError(
                    f"the header {name!r} must be a one-line string; if its value is an API key read from a file, "
                    "remove the trailing line break"
                )


class Client:
    """A client of one endpoint, for use as an asynchronous context manager in a single event loop.

    Attributes:
        endpoint: the endpoint.
        sent: the number of requests sent, including repeated attempts and test prompts.
        pace: the scheduler of the requests.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.sent = 0
        self._server = endpoint.url, endpoint.model
        self._refused: Counter[str] = Counter()  # prompts without a reply, by the words of the refusal
        self._comparing = asyncio.Semaphore(_ENOUGH)
        self.pace = Pace(
            endpoint.at_once, LONGEST_OUTAGE if endpoint.attempts is None else math.inf, self._server in ANSWERING
        )

    async def __aenter__(self) -> "Client":
        """Open a session with at most one connection per concurrent request."""
        from aiohttp import ClientSession, ClientTimeout, TCPConnector  # takes 0.15 s

        endpoint = self.endpoint
        self._session = ClientSession(
            connector=TCPConnector(limit=endpoint.at_once, ssl=endpoint.verify),
            timeout=ClientTimeout(endpoint.timeout, sock_connect=endpoint.connection_timeout),
            headers=endpoint.headers,
            trust_env=True,
            trace_configs=[_within_one_origin()],
        )
        return self

    async def __aexit__(self, *error: object) -> None:
        """Close the connections."""
        await self._session.close()

    async def complete(
        self, body: Settings, attempts: int | None = None, final: type[ServerError] = RequestRefused
    ) -> Completion:
        """Return the completion of a request; retry while the server is unavailable.

        Args:
            body: the body of the request.
            attempts: the maximum number of attempts; None for the endpoint's own limit.
            final: a type of error that is not retried; refusals are never retried.

        Raises:
            ServerError: from the last attempt; PromptRefused if the server repeatedly fails on this prompt, but
                answers the same request with a different prompt.
        """
        attempts, alone = attempts or self.endpoint.attempts, 0
        for attempt in count(1):
            completion = None
            await self.pace.start()
            try:
                completion = await self._send(body)
                self.pace.succeed()
            except ServerUnavailable as error:
                self.pace.fail(error)
                if (attempts and attempt >= attempts) or isinstance(error, final):
                    raise
                alone += attempt >= _BEFORE_COMPARING and await self._answers_other_words(body, error)
                if alone >= _FAILS_ALONE:
                    raise _refusing_alone(error, attempt) from None
            except RequestRefused as error:
                self.pace.succeed()
                if _is_explained(error):
                    raise
                completion = await self._sent_again(body, error)
            finally:
                asyncio.get_running_loop().call_later(self.endpoint.pause, self.pace.release)
            if completion:
                ANSWERING.add(self._server)
                return completion
        raise AssertionError  # the loop has no end

    async def _sent_again(self, body: Settings, error: RequestRefused) -> Completion | None:
        """Send a refused request again, and return its completion; None if the server is then unavailable.

        The request is sent again only if the server answers it with a different prompt. Once ten prompts were refused
        in the same words, only one in a hundred of those that follow is sent again.

        Raises:
            PromptRefused: if the request is refused again, or is not sent again because of earlier refusals in the same
                words.
            RequestRefused: if the server does not answer the different prompt either, or the second refusal has a known
                reason.
        """
        words = re.sub(r"\w*\d\w*", "", error.problem)  # without numbers, such as that of the request
        async with self._comparing:
            number = self._refused[words]
            is_compared = number < _ENOUGH or number % _STILL_COMPARED == 0
            if is_compared:
                if not await self._answers_other_words(body, error):
                    raise error
                try:
                    completion = await self._send(body)
                except ServerUnavailable:
                    return None
                except RequestRefused as again:
                    if _is_explained(again):
                        raise
                else:
                    del self._refused[words]  # which say nothing about the prompt
                    return completion
            self._refused[words] += 1
        if self._refused[words] == _ENOUGH:
            message = "%s; it refused %d prompts in these words, but answers others; few are sent again from now on"
            logger.warning(message, error.problem, _ENOUGH)
        raise _refusing_alone(error, 1 + is_compared) from None

    async def _answers_other_words(self, body: Settings, error: ServerError) -> bool:
        """Return whether the server answers a failed request once its prompt is replaced.

        Return False without sending anything if the error shows a busy or silent server, or if the prompt already
        equals its replacement.
        """
        with_other_words = in_other_words(body)
        if isinstance(error, ServerBusy | NoResponse) or with_other_words == body:
            return False
        with suppress(ServerError):
            await self._send(with_other_words)
            self.pace.succeed()
            return True
        return False

    async def _send(self, body: Settings) -> Completion:
        """Send a request once, and return the completion in the response."""
        url = self.endpoint.url
        self.sent += 1
        with explaining_failures(url, self.endpoint.if_silent):
            async with self._session.post(url, json=body) as response:
                content = await _read_bounded(response)
        return parse_response(
            response.status, content, url, self.endpoint.model, body, response.headers.get("Retry-After")
        )

    async def context(self) -> int | None:
        """Return the model's context length, in tokens of prompt and reply together, as the server reports it.

        vLLM and SGLang report it in the list of models, llama.cpp per slot in its properties. Return None if the
        server reports none.
        """
        base = self.endpoint.url.removesuffix("/").removesuffix("/completions").removesuffix("/chat")
        for url in (f"{base}/models", f"{base.removesuffix('/v1')}/props"):
            with suppress(ServerError, ValueError, AttributeError, TypeError), explaining_failures(url):
                async with self._session.get(url) as response:
                    page = await response.json(content_type=None)
                models = [model for model in page.get("data", ()) if model.get("id") == self.endpoint.model]
                lengths = [model.get("max_model_len") for model in models]
                for length in (*lengths, page.get("default_generation_settings", {}).get("n_ctx")):
                    if isinstance(length, int) and length > 0:
                        return length
        return None


def run_with(endpoint: Endpoint, work: Callable[[Client], Awaitable[Value]]) -> Value:
    """Run ``work`` with a client of an endpoint in an event loop, and return its result.

    If this thread already runs an event loop, as in a notebook, ``work`` runs in a different thread.
    """

    async def run() -> Value:
        if sys.version_info < (3, 11) and threading.current_thread() is threading.main_thread():  # as later ones do
            task = asyncio.current_task()
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, lambda: task and task.cancel())
        async with Client(endpoint) as client:
            return await work(client)

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        try:
            return asyncio.run(run())
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None
    from anyio.from_thread import start_blocking_portal

    with start_blocking_portal() as portal:
        return portal.call(run)


def in_other_words(body: Settings) -> Settings:
    """Return a request whose texts are replaced by a greeting; a prompt of tokens is reduced to its first token."""
    if "messages" not in body:
        prompt = body.get("prompt")
        return {**body, "prompt": [tokens[:1] for tokens in prompt] if isinstance(prompt, list) else OTHER_WORDS}
    messages = body["messages"]
    return {
        **body,
        "messages": [{**message, "content": message.get("content") and OTHER_WORDS} for message in messages],
    }


def _is_explained(error: RequestRefused) -> bool:
    """Return whether the reason for a refusal is known: the prompt, or a cause that the hint names.

    For status 403, the hint names only one of several possible causes.
    """
    return isinstance(error, PromptRefused) or bool(error.hint and error.status != 403)


def _refusing_alone(error: ServerError, attempts: int) -> PromptRefused:
    """Return the error for a prompt that the server refuses, although it answers other prompts.

    For status 403, this is a :class:`.responses.PromptFiltered`, since a content policy is the probable reason.
    """
    kind = PromptFiltered if error.status == 403 else PromptRefused
    problem = f"{error.problem} (in {counted(attempts, 'attempt')}), although it answers other prompts"
    return kind(problem, "", error.status, error.body)


@contextmanager
def explaining_failures(url: str, if_silent: str = "") -> Iterator[None]:
    """Convert connection errors for a URL to :class:`.responses.NoResponse` or :class:`.responses.NoConnection`.

    A timeout of a response becomes NoResponse. A timeout of a connection, an error of aiohttp, or an OSError, the base
    class of the errors of the library requests, which lm_eval uses, becomes NoConnection. ``if_silent`` is the advice
    at the end of the message.
    """
    from aiohttp import ClientError, ConnectionTimeoutError

    try:
        yield
    except (ClientError, OSError, asyncio.TimeoutError) as error:
        is_late = isinstance(error, asyncio.TimeoutError) and not isinstance(error, ConnectionTimeoutError)
        reason = reason_of(error) if str(error) else ""
        if isinstance(error, OSError) and error.errno and error.errno > 0:
            reason = os.strerror(error.errno)
        message = ": ".join(filter(None, (type(error).__name__, reason)))
        raise (NoResponse if is_late else NoConnection)(
            f"{url}{through_proxy(url)} does not respond ({message})", if_silent
        ) from None


def _within_one_origin() -> "TraceConfig":
    """Return a trace that refuses redirects to a different origin, which would receive the API key."""
    from aiohttp import TraceConfig, TraceRequestRedirectParams

    async def check_redirect(session: object, context: object, request: TraceRequestRedirectParams) -> None:
        """Raise RequestRefused if the redirect leads to a different origin."""
        headers = request.response.headers
        target = headers.get("Location") or headers.get("URI") or ""
        with suppress(ValueError):
            if request.url.join(type(request.url)(target)).origin() == request.url.origin():
                return
        request.response.close()
        problem = f"{request.url} redirects to another server ({quoted(target, _LONGEST_ADDRESS)})"
        raise RequestRefused(problem, "set base_url to the address that answers", request.response.status)

    trace = TraceConfig()
    trace.on_request_redirect.append(check_redirect)
    return trace


async def _read_bounded(response: "ClientResponse") -> str:
    """Return the body of a response as text.

    Raises:
        NoCompletion: if the body is longer than :data:`.replies.MAX_BODY`.
    """
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MAX_BODY:
            problem = f"{response.url} sends more than {MAX_BODY >> 20} MiB"
            raise NoCompletion(problem, "check that base_url is right", response.status)
    return body.decode(errors="replace")
