"""Files of requests and responses: bodies and scores are the same as with a server."""

import random
from itertools import chain

import pytest
from commanding import exit_code, one_line, succeed
from given import each_row, json_lines, table, write_rows
from local_server import LocalServer, completion
from running import saved_results

from medtasks_utils.writing import digest

_, FEW = table("requests")[-1]


def answer(body):
    """Return a reply that depends only on the request; answers, ends and lengths vary."""
    number = int(digest(body), 16)
    text = ("\\boxed{A}", "\\boxed{1}", "The answer is B.", "<answer>12</answer>", "")[number % 5]
    is_cut = not text or number % 7 == 0
    reply = completion(text, finish="length" if is_cut else "stop", prompt_tokens=number % 1000)
    reply["usage"]["completion_tokens"] = number % 100
    return reply


def response(request):
    body = {"status_code": 200, "request_id": "1", "body": answer(request["body"])}
    return {"id": "1", "custom_id": request["custom_id"], "response": body, "error": None}


def written(folder, *words):
    """Return the lines that ``medtasks requests`` writes for the sample."""
    succeed("requests", "--data", "sample", *words, "--model_name", "m", "-o", folder / "r.jsonl")
    return json_lines(folder / "r.jsonl")


def imported(folder, *words, out="out"):
    return exit_code(["import", *words, "--requests", folder / "r.jsonl", "-o", folder / out])


def comparable(folder):
    """Return the files of a run without times, versions and addresses."""
    results = saved_results(folder)
    kept = {key: results.get(key) for key in ("results", "groups", "n-samples", "n-shot", "medtasks")}
    kept["signatures"] = {task: config["metadata"]["signature"] for task, config in results["configs"].items()}
    return kept, {path.name.partition("_202")[0]: json_lines(path) for path in folder.glob("**/samples_*.jsonl")}


@each_row("requests")
def test_requests_and_responses_are_those_of_a_server(name, words, tmp_path):
    with LocalServer(answer) as server:
        succeed("eval", "--data", "sample", *words, *server.flags(), "--log_samples", "-o", tmp_path / "run")
    requests = written(tmp_path, *words)
    assert {(request["method"], request["url"]) for request in requests} == {("POST", "/v1/chat/completions")}
    assert sorted(digest(request["body"]) for request in requests) == sorted(map(digest, server.requests))
    responses = list(map(response, requests))
    random.Random(0).shuffle(responses)
    halves = [write_rows(responses[start::2], tmp_path / f"{start}.jsonl") for start in (0, 1)]
    assert imported(tmp_path, *halves) == 0
    assert comparable(tmp_path / "out") == comparable(tmp_path / "run")


def test_missing_and_unusable_responses_are_counted_and_their_requests_written(tmp_path, capsys):
    requests = written(tmp_path, *FEW)
    names, good = [request["custom_id"] for request in requests], list(map(response, requests[4:]))
    failed = {"custom_id": names[1], "response": {"status_code": 429, "body": {"error": "slow down"}}}
    errored = {"custom_id": names[2], "response": None, "error": {"message": "no luck"}}
    place = names[0].rpartition("-")[0]
    changed, unknown = ({**good[0], "custom_id": name} for name in (f"{place}-00000000", "medqa-0-0-00000000"))
    odd = [{**failed, "response": response} for response in ("text", {"status_code": "?"}, {"body": 3})]
    silent = {"custom_id": names[3]}
    out = write_rows([*good, *odd, failed, errored, silent, good[0], changed, unknown, {}], tmp_path / "out.jsonl")
    out.write_text(out.read_text() + "no JSON\n")
    capsys.readouterr()
    assert imported(tmp_path, out, "--missing", tmp_path / "again.jsonl") == 1
    message = one_line(capsys.readouterr().err)
    for (part,) in table("replies_missing"):
        assert part.format(good=len(good), of=len(requests), names=names, place=place, bad=len(good) + 10) in message
    assert not list((tmp_path / "out").glob("**/results_*.json"))
    again = json_lines(tmp_path / "again.jsonl")
    assert again == requests[:4]
    refused = {"status_code": 400, "body": {"error": "maximum context length"}}
    rest = write_rows([{**failed, "response": refused}, *map(response, again)], tmp_path / "rest.jsonl")
    assert imported(tmp_path, out, rest) == 0
    said, warnings = capsys.readouterr()
    assert f"{len(requests)} of {len(requests)} requests have a reply" in said and "95 % CI" in said
    assert "errors instead of a reply" not in warnings, "those that have a reply by now are none"
    assert "requests with several responses" in warnings and "belong to no request of this run" in warnings
    whole, samples = comparable(tmp_path / "out")
    (n,) = whole["n-samples"].values()
    assert n["effective"] == len(requests) == len(samples["samples_medexqa_all"]) / 2
    assert sum("refusal" in sample for sample in samples["samples_medexqa_all"]) == 2, "one under both filters"


@each_row("requests_edited")
def test_requests_that_were_edited_are_an_error_that_names_what_differs(name, change, said, tmp_path, capsys):
    requests = written(tmp_path, *FEW)
    out = write_rows(map(response, requests), tmp_path / "out.jsonl")
    requests[1]["body"] |= change
    write_rows(requests, tmp_path / "r.jsonl")
    assert imported(tmp_path, out) == 1
    assert said in one_line(capsys.readouterr().err) and not [*tmp_path.glob("**/results_*")]


def test_a_part_is_scored_as_a_run_of_its_examples(tmp_path, capsys):
    chosen = ["--samples", '{"medexqa_all": [4, 2, 9, 6, 11]}', "--model_args", "auth_token=s3cr3t"]
    requests = written(tmp_path, *FEW, *chosen, "--set", "medexqa.repeats=2")
    run = tmp_path / "r.run.json"
    assert "s3cr3t" not in run.read_text()
    everything = write_rows(map(response, requests), tmp_path / "all.jsonl")
    some = write_rows(map(response, [*requests[1:4], *requests[6:8]]), tmp_path / "some.jsonl")
    assert imported(tmp_path, everything, out="whole") == 0
    run.write_text(run.read_text().replace('"sample"', '"/elsewhere"'))
    assert imported(tmp_path, some, "--data", "sample", "--partial") == 0
    samples = comparable(tmp_path / "whole")[1]["samples_medexqa_all"]
    results, of_part = comparable(tmp_path / "out")
    assert of_part["samples_medexqa_all"] == [sample for sample in samples if sample["doc_id"] in (2, 6)]
    assert results["medtasks"]["tokens"]["replies"] == 4
    none = write_rows([{"custom_id": "medexqa_all-2-0-00000000"}], tmp_path / "none.jsonl")
    assert imported(tmp_path, none, "--data", "sample", "--partial", out="nothing") == 1
    message = one_line(capsys.readouterr().err)
    assert message.endswith("; no example has all of its replies, so nothing can be scored")
    assert "--missing FILE writes the requests without a reply" in message and "--partial" not in message
    run.write_text("{")
    assert imported(tmp_path, none) == 1
    assert one_line(capsys.readouterr().err).startswith(f"{run}: ")


def test_a_part_of_a_limited_run_is_scored(tmp_path):
    requests = written(tmp_path, "--tasks", "medhallu,medmcqa_openmed", "--limit", "4")
    replied = [request for request in requests if "medhallu" in request["custom_id"]][1:3]
    bodies = [{"custom_id": request["custom_id"], "response": answer(request["body"])} for request in replied]
    some = write_rows(bodies, tmp_path / "some.jsonl")
    assert imported(tmp_path, some, "--partial") == 0
    assert [sample["doc_id"] for sample in comparable(tmp_path / "out")[1]["samples_medhallu"]] == [1, 2, 1, 2]


def test_files_are_split_and_prompts_are_rendered(tmp_path, monkeypatch, capsys):
    words = ["--max_requests", "3", "--form", "completions", "--limit", "28"]
    monkeypatch.setenv("MEDTASKS_DATA", "sample")
    succeed("requests", "--tasks", "medhallu", *words, "-o", tmp_path / "r.jsonl")
    monkeypatch.delenv("MEDTASKS_DATA")
    names = [f"r_{number}.jsonl" for number in range(1, 11)]
    assert capsys.readouterr().out.splitlines() == [str(tmp_path / name) for name in (*names, "r.run.json")]
    parts = [json_lines(tmp_path / name) for name in names]
    assert list(map(len, parts)) == [3] * 9 + [1] and not (tmp_path / "r.jsonl").exists()
    first = parts[0][0]
    assert first["url"] == "/v1/completions" and isinstance(first["body"]["prompt"], str)
    responses = write_rows(map(response, chain(*parts)), tmp_path / "out.jsonl")
    assert imported(tmp_path, responses) == 0
    parts[9][0]["body"]["temperature"] = 1
    write_rows(parts[9], tmp_path / "r_10.jsonl")
    assert imported(tmp_path, responses) == 1


def test_requests_for_openai_have_the_settings_that_its_models_accept(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    succeed(
        "requests", "--data", "sample", *FEW, "--form", "openai", "--model_name", "gpt-5", "-o", tmp_path / "r.jsonl"
    )
    requests = json_lines(tmp_path / "r.jsonl")
    for body in (request["body"] for request in requests):
        assert body["max_completion_tokens"] and body["temperature"] == 1 and not {"max_tokens", "stop"} & body.keys()
    assert imported(tmp_path, write_rows(map(response, requests), tmp_path / "out.jsonl")) == 0


@pytest.mark.torch
def test_prompts_are_rendered_with_the_chat_template_of_the_named_tokenizer(tiny_model, tmp_path):
    words = ("--form", "completions", "--limit", "1", "--apply_chat_template")
    arguments = ("--model_args", f"tokenizer={tiny_model}")
    prompt = written(tmp_path, "--tasks", "medhallu", *words, *arguments)[0]["body"]["prompt"]
    assert prompt.startswith("<system>") and "<user>" in prompt and prompt.endswith("<assistant>")


@each_row("requests_refused")
def test_requests_that_no_file_can_make_are_one_error(name, words, says, tmp_path, capsys):
    assert exit_code(["requests", "--data", "sample", *words, "-o", tmp_path / "r.jsonl"]) == 2
    assert says in one_line(capsys.readouterr().err)
