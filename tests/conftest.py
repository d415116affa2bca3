"""What holds for every test, and the fixtures that tests of several packages use; helpers are in ``support/``."""

import logging
import os
import re
import signal
from copy import deepcopy
from functools import cache
from pathlib import Path

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # everything that tests start would compile its imports again
os.environ["TQDM_DISABLE"] = "1"
os.environ["OPENAI_API_KEY"] = "none"  # local servers take any
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.pop("MEDTASKS_DATA", None)

import pytest
from given import BENCHMARKS, NLTK, TASKS
from hypothesis import settings
from lasting_sandbox import own_process
from lm_eval import evaluator
from lm_eval.tasks._index import TaskIndex

from medtasks_utils.writing import SECRETS

__all__ = ["own_process"]
pytest.register_assert_rewrite("places")  # a failure shows both sides there, too


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Two more than cores: a third of the time, tests wait for a server, a sandbox or a browser."""
    return (os.cpu_count() or 1) + 2


LONGEST = [
    "test_sandbox_escapes",
    "test_report_browser",
    "test_sandbox_sessions",
    "test_sweep_serving",
    "test_report_small",
    "test_extending",
    "test_package",
    "test_secrets",
    "test_medmarks",
    "test_eval_mistakes",
    "test_reply_store",
    "test_against",
    "test_compare_runs",
    "test_statistics",
]


def pytest_collection_modifyitems(items):
    """A file is run by one process, so that its fixtures are made once; the longest first, so that none ends alone."""
    items.sort(key=lambda item: LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST))


settings.register_profile("ours", deadline=None, max_examples=50)  # machines are slow at times; no test is timed
settings.load_profile("ours")
signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background of a shell, tests would inherit none


# NLTK reads no data that another account may write to, as the files of a clone are under umask 002.
os.umask(0o022)
for _path in (NLTK, *NLTK.rglob("*")):
    if _path.stat().st_mode & 0o022:
        _path.chmod(_path.stat().st_mode & ~0o022)


# Spares every run the second in which the harness lists the machine's packages, and a process of git.
for _name in ("add_env_info", "get_git_commit_hash"):
    setattr(evaluator, _name, lambda *results: None)


def _end(*_):
    raise TimeoutError("a test may take five minutes, and a slow one twenty")


@pytest.fixture(autouse=True)
def _an_end(request):
    """A test that waits for what does not come fails where it waits."""
    signal.signal(signal.SIGALRM, _end)
    signal.alarm(1200 if request.node.get_closest_marker("slow") else 300)
    yield
    signal.alarm(0)


@pytest.fixture(autouse=True)
def _logging_as_it_was(monkeypatch):
    """A command run in this process sets the harness's log up for good, on the standard error of its test."""
    log = logging.getLogger("lm_eval")
    handlers, propagate, level = log.handlers[:], log.propagate, log.level
    monkeypatch.setattr("lm_eval.utils._LOGGING_CONFIGURED", False)
    yield
    log.handlers[:], log.propagate = handlers, propagate
    log.setLevel(level)


@pytest.fixture(scope="session", autouse=True)
def _downloads_of_their_own(tmp_path_factory):
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(autouse=True)
def _no_secrets_of_other_tests(monkeypatch):
    monkeypatch.setattr(SECRETS, "known", set())


_build_index = TaskIndex.build
_index_of_ours = cache(lambda: _build_index([TASKS]))


def _index(self, paths):
    """The harness's index of folders of tasks; that of ours, which a run reads anew, is read once here."""
    folders = list(paths)
    return deepcopy(_index_of_ours()) if folders == [TASKS] else _build_index(folders)


TaskIndex.build = _index


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory):
    """A random Llama of a few thousand weights with a byte-level tokenizer and a chat template."""
    for package in ("torch", "transformers"):
        pytest.importorskip(package, reason=f"the hf model needs {package}")
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    folder: Path = tmp_path_factory.mktemp("tiny")
    special = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
    learning = ByteLevelBPETokenizer()
    texts = ["the answer is A B C D \\boxed{0}"] * 5
    learning.train_from_iterator(texts, 300, special_tokens=[*special.values()], show_progress=False)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=learning._tokenizer, **special)
    turns = "{% for m in messages %}<{{m.role}}>{{m.content}}{% endfor %}"
    tokenizer.chat_template = turns + "{% if add_generation_prompt %}<assistant>{% endif %}"
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    shape = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=4096,
        eos_token_id=tokenizer.eos_token_id,
    )
    LlamaForCausalLM(shape).save_pretrained(folder)
    return folder


@pytest.fixture
def data(tmp_path):
    """An empty data directory with a folder for each benchmark."""
    root = tmp_path / "data"
    for benchmark in BENCHMARKS:
        (root / benchmark).mkdir(parents=True)
    return root


@pytest.fixture
def shared():
    """The folder with real rows and the authors' verdicts that ``MEDTASKS_SHARED`` names."""
    value = os.environ.get("MEDTASKS_SHARED")
    if not value:
        pytest.skip("MEDTASKS_SHARED is not set: no real rows")
    return Path(value)


@pytest.fixture
def warnings_of_harness(caplog):
    """Everything that the harness or this project logged at WARNING or above, without what every run says."""
    usual = re.compile("Overwriting default num_fewshot|specified through cli")

    def read():
        said = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
        return [message for message in said if not usual.search(message)]

    return read
