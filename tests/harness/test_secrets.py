"""No key is in files or output of a run, wherever it was given, even if the server repeats it."""

import gzip
import json
import re
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from pathlib import Path

import psutil
import pytest
from commanding import exit_code, succeed
from given import each_row
from local_server import Answer, Fault, LocalServer, completion
from scripts import in_turn

KEY = "sk-canary/1+2=="
ENCODED = "sk-canary%2F1%2B2%3D%3D"


class Parrot(LocalServer):
    """A server that repeats each request, with headers and address, in the form that ``repeat`` gives it."""

    repeat: Callable[[str], Answer] = staticmethod(
        lambda text: completion(f"You sent {text} \\boxed{{A}}", reasoning_content=text)
    )

    def respond(self, request, headers):
        super().respond(request, headers)
        sent = f"{headers} {json.dumps(request)} {KEY} {ENCODED}"
        if request.get("max_tokens") == 1:
            return completion(sent)
        return self.repeat(f"\x1b[31m{sent}")


def left(folder):
    """Return the names and contents of the files in a folder, including compressed ones."""
    read = {".gz": lambda path: gzip.decompress(path.read_bytes())}
    files = filter(Path.is_file, folder.rglob("*"))
    return "".join(f"{path} {read.get(path.suffix, Path.read_bytes)(path)!r}" for path in files)


@pytest.fixture
def parrot():
    with Parrot() as server:
        yield server


@each_row("places_of_keys")
@pytest.mark.parametrize("ends", [0, 1])
def test_a_key_is_in_nothing_that_a_run_leaves_or_prints(place, given, ends, parrot, tmp_path, monkeypatch, capfd):
    """The server repeats the key in its replies, or in the error that ends the run."""
    arguments, flags, environment = deepcopy(given)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    if ends:
        parrot.repeat = lambda text: Fault(400, {"error": {"message": "x" * 290 + text}})
    else:
        parrot.page = Fault(404, KEY)
    address = parrot.chat + arguments.pop("query", "")
    words = [*parrot.run_of("medmcqa_openmed", base_url=address, **arguments), "--limit", 2, "--log_samples", *flags]
    words += ["--output_path", tmp_path / "out", "--use_cache", tmp_path / "cache", "--show_config"]
    assert exit_code([*words, "--verbosity", "DEBUG"]) == ends
    told = "".join(capfd.readouterr())
    assert "\x1b" not in told and parrot.requests
    assert place != "key of OpenAI" or parrot.headers[0]["authorization"] == f"Bearer {KEY}"
    for text in (told, left(tmp_path)):
        assert not re.findall("(?s).{0,80}canary.{0,40}", text)


@pytest.mark.parametrize("user", ["me:sk-canary", "sk-canary"])
def test_a_key_in_an_address_is_refused_without_it(user, parrot, capfd):
    assert exit_code(parrot.run_of("medhallu", base_url=f"http://{user}@localhost/v1")) == 2
    told = "".join(capfd.readouterr())
    assert "without user and password" in told and "canary" not in told


# ---- where it is sent


@each_row("redirects")
def test_a_key_follows_a_redirect_only_within_one_server(status, is_same, name, tmp_path, capfd):
    with LocalServer() as other, LocalServer() as server:
        place = server if is_same else other
        moved = Fault(status, headers={name: f"{place.chat}/there"})
        server.probed = in_turn(moved, ".")
        code = exit_code([*server.run_of("medmcqa_openmed", header={"X-Api-Key": "sk-canary"}), "--limit", 1])
    told = "".join(capfd.readouterr())
    assert code == (not is_same) and not other.headers
    assert is_same or (f"redirects to another server ({other.chat}" in told and "\x1b" not in told)


def test_the_key_of_a_plan_is_on_no_command_line_and_in_no_file(tmp_path, capfd):
    seen = []

    def answer(request):
        for child in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                seen.extend(child.cmdline())
        return "\\boxed{A}"

    with LocalServer(answer) as server:
        arguments = {"model": "m", "base_url": server.chat, "header": {"X-Api-Key": KEY}, "max_retries": 1}
        model = {"name": "m", "model": "local-chat-completions", "model_args": arguments}
        model["flags"] = {"apply_chat_template": True, "limit": 1, "gen_kwargs": f"api_key={KEY},max_gen_toks=9"}
        plan = {"output": str(tmp_path / "out"), "data": "sample", "models": [model]}
        (tmp_path / "plan.yaml").write_text(json.dumps({**plan, "runs": [{"name": "a", "tasks": "medmcqa_openmed"}]}))
        succeed("sweep", tmp_path / "plan.yaml")
    assert [headers["x-api-key"] for headers in server.headers] == [KEY] * len(server.headers)
    assert server.requests[0]["api_key"] == KEY and server.requests[0]["max_tokens"] == 9
    assert "medmcqa_openmed" in str(seen)
    assert KEY not in f"{seen}{capfd.readouterr()}{left(tmp_path / 'out')}"


# ---- what identifies a model


@pytest.mark.parametrize("by", ["--output_path", "--use_cache"])
def test_models_told_apart_by_a_header_do_not_share_replies_and_a_new_key_makes_no_other_model(by, tmp_path):
    def asked(**header):
        before = len(server.requests)
        more = ["--extend"] if by == "--output_path" else []
        succeed(*server.run_of("medmcqa_openmed", header=header), "--limit", 2, by, tmp_path, *more)
        return len(server.requests) - before

    with LocalServer(lambda request: "\\boxed{A}") as server:
        first = {"X-Model": "big", "Authorization": "Bearer one"}
        assert [asked(**first), asked(**first)] == [2, 0]
        assert asked(**{**first, "X-Model": "small"}) == 2
        assert asked(**{**first, "Authorization": "Bearer two", "X-Api-Key": "three"}) == 0
