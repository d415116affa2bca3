"""Published verdicts: each response is scored and compared."""

import gzip
import json

from commanding import exit_code
from given import each_row, error_line, sample_rows, table

from medtasks_utils.errors import DataError
from medtasks_utils.selfcheck.published import score_published

MEDMCQA = sample_rows("medmcqa/validation.jsonl")[0]["id"]


def write_source(folder, records, name="paper"):
    folder.mkdir(exist_ok=True)
    with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    return folder


def published(benchmark, identity, response, verdict):
    said = {"response": response, "source_verdict": verdict}
    return {"benchmark": benchmark, "run": "one", "id": identity, **said}


def scored(folder):
    return list(score_published(folder, "sample"))


@each_row("published_verdicts")
def test_a_response_is_scored_with_the_example_that_its_id_names(benchmark, identity, response, tmp_path):
    (found,) = scored(write_source(tmp_path, [published(benchmark, identity, "", 0)]))
    (verdict,) = found.verdicts
    assert verdict.answers["strict-match"].value is None
    (found,) = scored(write_source(tmp_path, [published(benchmark, identity, response.format(**verdict.example), 1)]))
    assert found.to_data().items() >= {"strict-match equal": 1, "source %": 100, "strict-match": 100}.items()


def test_the_command_prints_a_line_for_each_run(tmp_path, capsys):
    records = [published("medmcqa", MEDMCQA, text, 1) for text in ("\\boxed{A}", "The answer is A.")]
    write_source(tmp_path, [*records, {**records[0], "run": "two"}])
    assert exit_code(["selfcheck", "--published", str(tmp_path)]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()][1:] == table("lines_of_published")


def test_records_that_cannot_be_scored_are_one_error(tmp_path):
    for record in ({"benchmark": "medmcqa"}, published("medmcqa", "no such id", "A", 1), ["A"]):
        said = error_line(DataError, scored, write_source(tmp_path / "bad", [record]))
        assert "paper.jsonl.gz: not published responses to the rows of sample" in said
    for content in (b"{}", gzip.compress(b"{}")[:-4], gzip.compress(b"")):
        (tmp_path / "bad" / "paper.jsonl.gz").write_bytes(content)
        assert "paper.jsonl.gz" in error_line(DataError, scored, tmp_path / "bad")
