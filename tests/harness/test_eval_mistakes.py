"""Mistakes that people make with ``medtasks eval``, with the real harness: one line with the way out, no traceback."""

import asyncio
import errno
import os
import re
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock, call

import pytest
from aiohttp import ClientPayloadError, ConnectionTimeoutError
from commanding import exit_code, one_line
from given import each_row, error_line
from local_server import Fault, LocalServer
from places import at
from scripts import refusal

from medtasks_utils.errors import MedtasksError, UsageError
from medtasks_utils.harness.checks import try_folder
from medtasks_utils.harness.lm_eval_names import LocalChatCompletion
from medtasks_utils.harness.models import check_tokenizer, context_in_process, mistakes_in_process
from medtasks_utils.harness.server_model import endpoint_of
from medtasks_utils.harness.settings import check_arguments
from medtasks_utils.inference.client import explaining_failures
from medtasks_utils.inference.responses import NoConnection, NoResponse
from medtasks_utils.sweep.plan import as_words


def oddly(body):
    """Return the fault that the model's name requests; with ``late`` in the name, probes get a reply first."""
    name, _, status = str(body["model"]).partition("-")
    if name == "late" and body["max_tokens"] == 1:
        return "."
    if name == "raw":
        return Fault(200, status)
    return refusal(int(status), "no luck") if status.isdigit() else "."


@pytest.fixture(scope="module")
def server():
    with LocalServer(oddly, probed=oddly) as served:
        served.page = Fault(200, {"data": [{"id": "m", "max_model_len": 512}, {"id": "big", "max_model_len": 4096}]})
        yield served


@pytest.fixture(autouse=True)
def _here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "HF_TOKEN", "WANDB_API_KEY", "LMEVAL_LOG_LEVEL", "MEDTASKS_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("medtasks_utils.inference.pace.BACKOFF", 0.0)
    Path("a_file").write_text("")
    Path("odd.yaml").write_text("taks: medhallu\n")
    Path("list.yaml").write_text("- tasks\n")
    Path("five.yaml").write_text("limit: 5\n")


def run(changed, server):
    """Run ``medtasks eval`` in this process with changes to the usual flags, and return the exit code."""
    return exit_code([word.replace("AT/", f"{server.base}/") for word in ["eval", *as_words({**USUAL, **changed})]])


def the_line(capsys):
    """Return the line of the error; check that it is the last, and that only the harness's log stands before it."""
    output, errors = capsys.readouterr()
    assert output == ""
    return one_line(errors)


# Each line of the table: what differs from a run that works, the exit code, and what the error has to say. Null leaves
# a flag out; AT stands for the server.
USUAL = {
    "tasks": "medhallu", "data": "sample", "limit": "2", "model": "local-chat-completions", "apply_chat_template": True,
    "model_args": "model=big,base_url=AT/v1/chat/completions,max_retries=1",
}  # fmt: skip


@each_row("eval_mistakes")
def test_a_mistake_on_the_command_line_is_one_line_with_the_way_out(changed, code, says, server, capsys):
    assert run(changed, server) == code
    line = the_line(capsys)
    assert [text for text in says if text.replace("AT/", f"{server.base}/") not in line] == []


@each_row("mistakes_in_process")
def test_what_a_model_cannot_do_here_is_said_before_its_weights_are_loaded(
    name, config, has_gpu, mistakes, batch_size, monkeypatch
):
    cuda, backends = Mock(is_available=lambda: has_gpu), Mock(mps=Mock(is_available=lambda: False))
    torch = SimpleNamespace(cuda=cuda, backends=backends, dtype=str, float16="half")
    monkeypatch.setitem(sys.modules, "torch", torch)
    given = SimpleNamespace(**config)
    said = [*mistakes_in_process(given)]
    assert (len(said), given.batch_size) == (len(mistakes), batch_size)
    assert all(part in mistake for part, mistake in zip(mistakes, said, strict=True))


@each_row("tokenizers_of_models")
def test_a_tokenizer_is_loaded_by_its_name_and_has_a_template_if_one_is_needed(
    name, kind, arguments, needs_template, tokenizer, expected, monkeypatch
):
    error = {"OSError": OSError("gone"), "ValueError": ValueError("odd")}.get(str(tokenizer))
    made = SimpleNamespace(**({} if error else tokenizer))
    loading = Mock(side_effect=error, return_value=made)
    monkeypatch.setitem(sys.modules, "transformers", SimpleNamespace(AutoTokenizer=Mock(from_pretrained=loading)))
    monkeypatch.setattr("medtasks_utils.harness.models.get_model", lambda kind: object)
    is_loaded = at([[]], expected, lambda: check_tokenizer(kind, arguments, needs_template) is made)
    assert is_loaded == (expected if isinstance(expected, str) else bool(expected))
    if isinstance(expected, list):
        assert loading.mock_calls == [call(expected[0], revision=expected[1], trust_remote_code=False)]


def test_the_context_of_a_model_in_this_process_is_that_of_its_configuration(monkeypatch):
    text = SimpleNamespace(max_position_embeddings=7)
    loading = Mock(side_effect=[SimpleNamespace(get_text_config=lambda: text), OSError("gone")])
    monkeypatch.setitem(sys.modules, "transformers", SimpleNamespace(AutoConfig=Mock(from_pretrained=loading)))
    arguments = {"pretrained": "a", "revision": "r"}
    assert [context_in_process("hf", arguments) for _ in range(2)] == [7, None]
    assert loading.mock_calls[0] == call("a", revision="r", trust_remote_code=False)


FAILING = [
    (ClientPayloadError("half"), NoConnection, "ClientPayloadError: half"),
    (asyncio.TimeoutError(), NoResponse, "TimeoutError"),
    (ConnectionTimeoutError("slow"), NoConnection, "ConnectionTimeoutError: slow"),
    (OSError("31"), NoConnection, "OSError: 31"),
    (OSError(errno.ECONNREFUSED, "no"), NoConnection, "ConnectionRefusedError: Connection refused"),
]


@pytest.mark.parametrize(("error", "kind", "says"), FAILING)
def test_a_failing_connection_names_the_server_and_the_settings_that_help(error, kind, says):
    """Servers that drop the connection in a run are in the table."""
    model = LocalChatCompletion(base_url="http://a/v1", timeout=60)
    hint = endpoint_of(model, 3).if_silent
    line = f"http://a/v1 does not respond ({says}): see the server's log; with --model_args, you can increase timeout"
    with pytest.raises(kind) as raised, explaining_failures(model.base_url, hint):
        raise error
    assert str(raised.value) == f"{line} (now 60 s) and max_retries (now 3)"


def on_a_full_disk(path, *mode, **encoding):
    """Open a file that nothing can be written to."""
    file = path.open("w", **encoding)
    file.write = Mock(side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    return file


@pytest.mark.parametrize("verbosity", ["INFO", "ERROR"])
def test_an_incomplete_file_is_neither_kept_nor_reported_as_saved(verbosity, server, monkeypatch, capsys):
    monkeypatch.setattr("lm_eval.loggers.evaluation_tracker.open", on_a_full_disk, raising=False)
    assert run({"output_path": "r", "log_samples": True, "verbosity": verbosity}, server) == 1
    output, errors = capsys.readouterr()
    assert re.search(
        "some results could not be saved in r: .*No space left on device; replies kept in r/big: 2", errors
    )
    assert output.endswith("\nnot all results are saved in r/big\n") and "next:" not in output
    assert "\nMedHallu    2 of 28 " in output
    kept = sorted(path.name.partition("_")[0] for path in Path("r/big").iterdir())
    assert kept == ["replies", "results"]


@each_row("probes_that_fail")
def test_a_server_that_rejects_one_token_or_is_busy_at_the_probe_is_run(status, says, code, monkeypatch, capsys):
    with LocalServer(lambda body: ".", probed=lambda body: refusal(status, says)) as served:
        assert run({}, served) == code
        monkeypatch.setattr("medtasks_utils.harness.server_model.run_with", Mock(side_effect=NoResponse("")))
        assert run({}, served) == 0  # a slow one too
    assert (len(served.probes), len(served.requests)) == (1, 2 if code else 4)
    assert f"{served.chat} did not respond within 30 s; the run starts anyway" in capsys.readouterr().err


def test_a_model_that_cannot_be_loaded_is_one_line_that_names_its_arguments(server, monkeypatch, capsys):
    monkeypatch.setattr("lm_eval.models.dummy.DummyLM.__init__", Mock(side_effect=OSError("no weights")))
    assert run({"model": "dummy", "model_args": None, "apply_chat_template": None}, server) == 1
    problem = "--model dummy cannot be loaded with these --model_args (OSError: no weights)"
    assert problem in the_line(capsys)


def test_arguments_of_models_in_this_process_are_refused_if_they_look_misspelt():
    class Model:
        def __init__(self, dtype="auto", **more):
            """Take an argument, and others."""

    check_arguments(Model, "hf", {"anything": 1}, is_api=False)
    line = error_line(UsageError, check_arguments, Model, "hf", {"dtyp": 1}, is_api=False)
    assert line == "--model_args: hf has no argument dtyp (did you mean dtype?)"


def test_an_unexpected_error_is_one_line_and_a_file_with_the_traceback(server, monkeypatch, capsys):
    error = ValueError("1 validation error for EngineArgs\nmax_len\n  Extra inputs are not permitted")
    monkeypatch.setattr("lm_eval.models.dummy.DummyLM.generate_until", Mock(side_effect=error))
    monkeypatch.setenv("OPENAI_API_KEY", "EngineArgs")
    dummy = {"model": "dummy", "model_args": None, "apply_chat_template": None, "output_path": "r"}
    assert run(dummy, server) == 1
    line = the_line(capsys)
    assert "ValueError: 1 validation error for [secret] max_len Extra inputs are not permitted" in line
    (file,) = {*re.findall(r"/[^;()]*/medtasks_traceback_\w+\.txt", line)}
    assert "for [secret]\n" in Path(file).read_text()
    Path(file).unlink()


@pytest.mark.parametrize("given", [{"gen_kwargs": "seed=None"}, {"model_args": f"{USUAL['model_args']},seed=None"}])
def test_seed_none_sends_no_seed(given):
    with LocalServer() as served:
        assert run(given, served) == 0
    assert [key for body in (*served.probes, *served.requests) for key in body if key == "seed"] == []


@each_row("folders_not_written")
def test_a_folder_that_cannot_be_written_has_its_way_out(cause, way_out, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "TemporaryFile", Mock(side_effect=OSError(getattr(errno, cause), "no")))
    with pytest.raises(MedtasksError, match=way_out):
        try_folder(tmp_path, "--output_path")
