"""Write results in the schemas of every_eval_ever: ``medtasks publish --format every_eval_ever``.

The schemas are ``eval.schema.json`` and ``instance_level_eval.schema.json``, version 0.3.0, of
https://github.com/evaleval/every_eval_ever. Each task, or group of tasks of one benchmark, has two files: the first has
the metrics under the benchmark's published rule, with their standard errors; the second, if the run has samples, has a
line for each sample.
"""

import hashlib
import json
import time
import uuid
from importlib.metadata import version
from itertools import chain, count, repeat

from medtasks_utils.results import Run, Sample
from medtasks_utils.writing import JsonObject, json_lines

from .eval_results import Headline, publishable


def contents(run: Run, model: str, allow_partial: bool) -> dict[str, str]:
    """Return the contents of a run's files by path in evaleval's repository.

    ``model`` is the model's repository on the Hub, such as ``ORG/NAME``. ``allow_partial`` and errors are those of
    :func:`.eval_results.publishable`.
    """
    files = {}
    for headline in publishable(run, allow_partial):
        evaluation = f"{headline.name}/{model}/{run.date}"
        identity = uuid.UUID(bytes=hashlib.sha256(evaluation.encode()).digest()[:16], version=4)
        path = f"data/{headline.name}/{model}/{identity}"
        about = {"schema_version": "0.3.0", "evaluation_id": evaluation}
        scored = [sample for sample in headline.result.samples if headline.filter in sample.metrics]
        lines = [{**about, "model_id": model, **line_of(headline, sample)} for sample in scored]
        results = {**about, **_about_run(run, model), "evaluation_results": _results(headline)}
        if lines:
            text = files[f"{path}_samples.jsonl"] = json_lines(lines)
            results["detailed_evaluation_results"] = {
                "format": "jsonl",
                "file_path": f"{path}_samples.jsonl",
                "hash_algorithm": "sha256",
                "checksum": hashlib.sha256(text.encode()).hexdigest(),
                "total_rows": len(lines),
            }
        files[f"{path}.json"] = json.dumps(results, indent=2, ensure_ascii=False)
    return files


def _about_run(run: Run, model: str) -> JsonObject:
    """Return the evaluator, time and software of a run."""
    return {
        "evaluation_timestamp": run.date,
        "retrieved_timestamp": str(int(time.time())),
        "source_metadata": {
            "source_name": "medtasks",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": "lm_eval",
            "version": version("lm_eval"),
            "additional_details": {"medtasks": version("medtasks")},
        },
        "model_info": {
            "name": run.model,
            "id": model,
            "developer": model.partition("/")[0],
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
    }


def _results(headline: Headline) -> list[JsonObject]:
    """Return the results under the published rule, for metrics with known limits."""
    task = headline.result.tasks[0]
    source: JsonObject = {"dataset_name": headline.name, "source_type": "other"}
    if task.source == "hub":
        source |= {"source_type": "hf_dataset", "hf_repo": str(task.config.get("dataset_path"))}
    details = {"filter": headline.filter, "signature": "; ".join(headline.result.signatures(headline.filter))}
    results = []
    for (name, filter_name), value in headline.result.metrics.items():
        metric = task.metric(name)
        low, high = metric.range
        if filter_name != headline.filter or None in (low, high):
            continue
        score: JsonObject = {"score": value.value, "details": details}
        if value.stderr is not None:
            score["uncertainty"] = {"standard_error": {"value": value.stderr, "method": "analytic"}}
        config = {
            "evaluation_description": name,
            "lower_is_better": metric.higher_is_better is False,
            "score_type": "continuous",
            "min_score": low,
            "max_score": high,
        }
        results.append(
            {"evaluation_name": headline.name, "source_data": source, "metric_config": config, "score_details": score}
        )
    return results


def line_of(headline: Headline, sample: Sample) -> JsonObject:
    """Return the line of a sample; for conversations with tools, it contains all messages instead of the responses."""
    accuracy = sample.metrics[headline.filter].get("acc") or 0.0
    transcript = sample.details[headline.filter].get("transcript") or []
    if len(sample.responses) > 1:  # it is a list of transcripts
        transcript = [*chain.from_iterable(transcript)]
    ways = sample.found_by.get(headline.filter) or repeat("unknown")
    messages = [
        {"turn_idx": turn, "role": message["role"], "content": message["content"]}
        for turn, message in enumerate(transcript)
    ]
    place = {"turn_idx": 0, "source": "output.raw", "is_terminal": True}
    answers = [
        {**place, "extracted_value": answer, "extraction_method": way}
        for answer, way in zip(map(sample.answer_shown, sample.answers[headline.filter], count()), ways, strict=False)
    ]
    return {
        "evaluation_name": headline.name,
        "sample_id": str(sample.doc_id),
        "sample_hash": hashlib.sha256(f"{sample.prompt}{sample.target}".encode()).hexdigest(),
        "interaction_type": "agentic" if transcript else "single_turn",
        "input": {"raw": sample.prompt, "reference": [sample.answer_shown(sample.target, 0)]},
        "output": None if transcript else {"raw": sample.responses},
        "messages": messages or None,
        "answer_attribution": answers,
        "evaluation": {"score": accuracy, "is_correct": accuracy == 1.0},
    }
