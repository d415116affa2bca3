"""What the end-to-end tests share: runs of the real harness, models whose answers are known, copies of rows."""

from __future__ import annotations

import json
import logging
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

os.environ["TQDM_DISABLE"] = "1"
os.environ["OPENAI_API_KEY"] = "none"  # local servers take any
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.pop("MEDTASKS_DATA", None)

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # in the background of a shell; what tests start would ignore it too
    signal.signal(signal.SIGINT, signal.default_int_handler)

import pyarrow as pa
import pytest
from hypothesis import settings
from lm_eval.api.model import LM
from lm_eval.evaluator import simple_evaluate
from lm_eval.tasks import TaskManager
from lm_eval.tasks._index import TaskIndex
from pyarrow import parquet

from medtasks_utils.__main__ import main
from medtasks_utils.benchmarks.medcalc_bench.kinds import CALCULATORS
from medtasks_utils.benchmarks.tables import read_rows
from medtasks_utils.harness.sources import SAMPLE


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two more than cores: a third of the time, tests wait for a server, a sandbox or a browser."""
    return (os.cpu_count() or 1) + 2


settings.register_profile("ours", deadline=None, max_examples=50)  # machines are slow at times; no test is timed
settings.load_profile("ours")

ROOT = Path(__file__).resolve().parents[1]
TASKS = ROOT / "tasks"
NLTK = ROOT / "tests" / "nltk_data"
"""A WordNet of a few words in WordNet's own format, and a Punkt model of a few sentences, written for this project."""
BENCHMARKS = ("medmcqa", "medexqa", "medcalc_bench", "medhallu")
GENERATION_TASKS = ("medmcqa_openmed", "medexqa_all", "medcalc_bench", "medhallu")
MEDEXQA_COLUMNS = ("question", "A", "B", "C", "D", "explanation_1", "explanation_2", "answer")

# NLTK reads no data that another account may write to, as the files of a clone are under umask 002.
os.umask(0o022)
for _path in (NLTK, *NLTK.rglob("*")):
    if _path.stat().st_mode & 0o022:
        _path.chmod(_path.stat().st_mode & ~0o022)

Row = dict[str, Any]
Chat = list[dict[str, str]]
Answering = Callable[[Row], Any]


@pytest.fixture(autouse=True)
def _no_report_on_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare every run the second in which the harness lists the machine's packages, and a process of git."""
    monkeypatch.setattr("lm_eval.evaluator.add_env_info", lambda results: None)
    monkeypatch.setattr("lm_eval.evaluator.get_git_commit_hash", lambda: None)


@pytest.fixture(autouse=True)
def _logging_as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A command run in this process sets the harness's log up for good, on the standard error of its test."""
    log = logging.getLogger("lm_eval")
    handlers, propagate, level = log.handlers[:], log.propagate, log.level
    monkeypatch.setattr("lm_eval.utils._LOGGING_CONFIGURED", False)
    yield
    log.handlers[:], log.propagate = handlers, propagate
    log.setLevel(level)


@pytest.fixture
def undescribed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare a run the sandbox that it starts to say what confines code, before the one that runs it."""
    monkeypatch.setattr("medtasks_utils.tools.python.PythonTool.description_of_machine", "a sandbox")


# ---- tasks


_build_index = TaskIndex.build
_index_of_ours = cache(lambda: _build_index([TASKS]))


def _index(self: TaskIndex, paths: Iterable[Path]) -> dict[str, Any]:
    """The harness's index of folders of tasks; that of ours, which a run reads anew, is read once here."""
    folders = list(paths)
    return deepcopy(_index_of_ours()) if folders == [TASKS] else _build_index(folders)


TaskIndex.build = _index


def manager(metadata: Mapping[str, Any] | None = None, data: str | Path = "sample") -> TaskManager:
    """A task manager that knows our tasks only; explanations are not scored unless options say so."""
    given = {"medtasks_data": str(data), "medexqa": {}, **(metadata or {})}
    if isinstance(given["medexqa"], dict):
        given["medexqa"] = {"use_explanations": False, **given["medexqa"]}
    return TaskManager(include_path=str(TASKS), include_defaults=False, metadata=given)


def load(name: str, data: str | Path = "sample", /, **metadata: Any) -> Any:
    """One task as the harness makes it; keyword arguments are options by benchmark."""
    return manager(metadata, data).load([name])["tasks"][name]


class Reader:
    """A task whose readings can be called with a response and a document alone."""

    def __init__(self, task: Any) -> None:
        self.task = task

    def strict(self, text: str, doc: Row) -> Any:
        return self.task.benchmark.strict(text, doc, self.task.options)

    def flexible(self, text: str, doc: Row) -> Any:
        return self.task.benchmark.flexible(text, doc, self.task.options)

    def extract(self, filter_name: str, text: str, doc: Row) -> Any:
        return (self.strict if filter_name == "strict-match" else self.flexible)(text, doc)

    def score(self, doc: Row, answer: Any) -> dict[str, Any]:
        values: dict[str, Any] = self.task.benchmark.score(answer, doc, self.task.options).values
        return values

    def __getattr__(self, name: str) -> Any:
        return getattr(self.task, name)


def reader(name: str, data: str | Path = "sample", /, **metadata: Any) -> Reader:
    """One task as :func:`load` makes it, with its readings."""
    return Reader(load(name, data, **metadata))


def documents(task: Any) -> list[Row]:
    """The task's documents, without what they know of labels in other files."""
    return [shown(doc) for doc in task.eval_docs]


def shown(doc: Row) -> Row:
    """A document without what it knows of its label in another file."""
    return {key: doc[key] for key in doc if key != "other_label"}


# ---- models


class Scripted(LM):  # type: ignore[misc]
    """A model in this process whose response is a function of the document; it remembers what it was asked."""

    def __init__(self, answer: Answering = lambda doc: "") -> None:
        super().__init__()
        self.answer = answer
        self.prompts: list[str] = []
        self.generation_kwargs: list[dict[str, Any]] = []

    def generate_until(self, requests: list[Any]) -> list[Any]:
        self.prompts += [request.args[0] for request in requests]
        self.generation_kwargs += [request.args[1] for request in requests]
        responses = []
        for request in requests:
            responses.append(self.answer(request.doc))
            self.cache_hook.add_partial("generate_until", request.args, responses[-1])
        return responses

    def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
        self.prompts += [request.args[0] for request in requests]
        return [
            (float(self.answer({**request.doc, "continuation": request.args[1]}) or 0), False) for request in requests
        ]

    def loglikelihood_rolling(self, requests: list[Any]) -> list[float]:
        raise NotImplementedError

    def apply_chat_template(self, chat_history: Chat, add_generation_prompt: bool = True) -> str:
        return json.dumps(chat_history)

    @property
    def tokenizer_name(self) -> str:
        return "scripted"


def right_answer(doc: Row) -> str:
    """A response that is right in every task and under both filters."""
    if "judgement" in doc:
        return f"<answer>{doc['shown_truth']}</answer>"
    if "specialty" in doc:
        return f"The answer is {doc['answer_letter']}."
    return f"<think>So.</think>\n\\boxed{{{doc.get('answer_letter') or doc['target']}}}"


def evaluate(
    tasks: str | Sequence[str],
    answer: Answering | LM = right_answer,
    data: str | Path = "sample",
    metadata: Mapping[str, Any] | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Run the real harness in this process."""
    model = answer if isinstance(answer, LM) else Scripted(answer)
    result: dict[str, Any] = simple_evaluate(
        model=model,
        tasks=[tasks] if isinstance(tasks, str) else list(tasks),
        task_manager=manager(metadata, data),
        **{"apply_chat_template": True, **settings},
    )
    return result


def samples(result: dict[str, Any], filter_name: str = "strict-match") -> list[Row]:
    """Those of the only task, under a filter."""
    (logged,) = result["samples"].values()
    return [sample for sample in logged if sample["filter"] == filter_name]


def lm_eval(
    *arguments: str | Path, cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The stock command line, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "lm_eval", *map(str, arguments)],
        cwd=cwd,
        env=clean_environment(env),
        capture_output=True,
        text=True,
        timeout=300,
    )


def exit_code(words: Sequence[str]) -> int:
    """Of a command in this process, which argparse may end."""
    try:
        return main(words)
    except SystemExit as end:
        return int(end.code or 0)


def one_line(errors: str) -> str:
    """The only line of ours on standard error, which has to be its last."""
    assert "Traceback" not in errors
    lines = errors.strip().splitlines()
    assert [line for line in lines if line.startswith("medtasks: error: ")] == lines[-1:]
    return lines[-1].removeprefix("medtasks: error: ")


class Said(NamedTuple):
    """What a command said."""

    code: int
    out: str
    errors: str


_COMMANDS = """
from medtasks_utils.__main__ import main
import contextlib, io, json, sys
told = []
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as errors:
        try:
            code = main(words)
        except SystemExit as end:
            code = end.code
    told.append([code, out.getvalue(), errors.getvalue()])
print(json.dumps(told))
"""


def medtasks(*commands: list[str], cwd: Path, first: str = "", **environment: str) -> list[Said]:
    """Commands in one process of their own, one after the other; ``first`` is Python that it runs before."""
    done = subprocess.run(
        [sys.executable, "-c", first + _COMMANDS, json.dumps(commands)],
        cwd=cwd,
        env=clean_environment(environment),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [Said(*told) for told in json.loads(done.stdout.splitlines()[-1])]


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    inherited = {key: value for key, value in os.environ.items() if key not in ("MEDTASKS_DATA", "PYTHONHASHSEED")}
    return {**inherited, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", **(extra or {})}


def saved_results(folder: Path) -> dict[str, Any]:
    (path,) = folder.glob("**/results_*.json")
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return result


def saved_samples(folder: Path, task: str) -> list[Row]:
    (path,) = folder.glob(f"**/samples_{task}_*.jsonl")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random Llama of a few thousand weights with a byte-level tokenizer and a chat template."""
    torch = pytest.importorskip("torch", reason="the hf model needs torch")
    transformers = pytest.importorskip("transformers", reason="the hf model needs transformers")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    folder = tmp_path_factory.mktemp("tiny")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel()  # type: ignore[assignment, unused-ignore]
    tokenizer.decoder = decoders.ByteLevel()  # type: ignore[assignment, unused-ignore]
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<s>", "</s>", "<pad>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(["the answer is A B C D \\boxed{0}"] * 5, trainer)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>"
    )
    turns = "{% for m in messages %}<{{m.role}}>{{m.content}}{% endfor %}"
    fast.chat_template = turns + "{% if add_generation_prompt %}<assistant>{% endif %}"
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    configuration = transformers.LlamaConfig(
        vocab_size=len(fast),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=4096,
    )
    transformers.LlamaForCausalLM(configuration).save_pretrained(folder)
    return folder


# ---- rows


def sample_rows(name: str) -> list[Row]:
    """Rows of a file of the bundled sample, by its path; cells of csv and tsv are strings."""
    path = SAMPLE / name
    return [dict(row) for row in read_rows(path, MEDEXQA_COLUMNS if path.suffix == ".tsv" else None)]


def write_rows(rows: Iterable[Row], path: Path, header: bool = True) -> Path:
    """Write rows in the format that the path's suffix names."""
    rows = list(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        parquet.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    else:
        import csv

        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writerows([list(rows[0])] if header else [])
            writer.writerows(row.values() for row in rows)
    return path


def medmcqa_rows(count: int = 8, **fields: Any) -> list[Row]:
    """Rows with ids, four distinct options and 0-based labels that use every letter."""
    return [
        {
            "id": f"id-{index}",
            "question": f"Question {index}?",
            **{f"op{letter}": f"option {letter} of {index}" for letter in "abcd"},
            "cop": index % 4,
            "subject_name": "Anatomy",
            **fields,
        }
        for index in range(count)
    ]


BY_CALCULATOR = {calculator.id: calculator.kind for calculator in CALCULATORS}
TASK = {
    "medmcqa": "medmcqa_openmed",
    "medexqa": "medexqa_biomedical_engineering",
    "medcalc_bench": "medcalc_bench",
    "medhallu": "medhallu",
}
FILE = {
    "medmcqa": "medmcqa/validation.jsonl",
    "medexqa": "medexqa/test/biomedical_engineer_test.tsv",
    "medcalc_bench": "medcalc_bench/test.csv",
    "medhallu": "medhallu/pqa_labeled.jsonl",
}
ROW: dict[str, Row] = {
    "medmcqa": {
        "id": "id-1",  # shown in the order C, D, A, B
        "question": "Which <one>?\nThink {{well}}.",
        "opa": "first & last",
        "opb": "second",
        "opc": "third",
        "opd": "",
        "cop": 2,
        "exp": "Since it is.",
        "subject_name": "Anatomy",
    },
    "medexqa": {
        "question": "Which device?",
        "A": "Pump",
        "B": "None",
        "C": "Valve.",
        "D": "",
        "explanation_1": "A pump pumps.",
        "explanation_2": "It does.",
        "answer": "A",
    },
    "medcalc_bench": {
        "Row Number": "1",
        "Calculator ID": "2",
        "Calculator Name": "Creatinine Clearance",
        "Category": "lab",
        "Output Type": "decimal",
        "Patient Note": "A man of 60.\nCreatinine 1.0.",
        "Question": "What is his clearance?",
        "Ground Truth Answer": "81.5",
        "Lower Limit": "77.4",
        "Upper Limit": "85.6",
        "Ground Truth Explanation": "It is 81.5.",
    },
    "medhallu": {
        "Question": "Does it help?",
        "Knowledge": ["One study.", "Another."],
        "Ground Truth": "Yes.",
        "Difficulty Level": "easy",
        "Hallucinated Answer": "No.",
        "Category of Hallucination": "Incomplete Information",
    },
}
"""A task, its file in a data directory and a row of it, by benchmark."""


def table(name: str) -> list[Any]:
    """The lines of a file of cases in ``tables/``: each a list, of what is given and what comes of it."""
    path = Path(__file__).parent / "tables" / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """An empty data directory with a folder for each benchmark."""
    root = tmp_path / "data"
    for benchmark in BENCHMARKS:
        (root / benchmark).mkdir(parents=True)
    return root


@pytest.fixture
def shared() -> Path:
    """The folder with real rows and the authors' verdicts that ``MEDTASKS_SHARED`` names."""
    value = os.environ.get("MEDTASKS_SHARED")
    if not value:
        pytest.skip("MEDTASKS_SHARED is not set: no real rows")
    return Path(value)


# ---- logs and numbers


@pytest.fixture
def warnings_of_harness(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """Everything that the harness or this project logged at WARNING or above, without what every run says."""
    usual = ("Overwriting default num_fewshot", "specified through cli")

    def read() -> list[str]:
        return [
            record.getMessage()
            for record in caplog.records
            if record.levelno >= logging.WARNING and not any(text in record.getMessage() for text in usual)
        ]

    return read


def plain_stderr(values: Sequence[float]) -> float:
    """Standard error of the mean of independent values, by the textbook."""
    mean = sum(values) / len(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values))
