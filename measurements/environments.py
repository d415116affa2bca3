"""The scores of the environments that defined the benchmarks, beside ours, response by response.

``python measurements/environments.py ENVIRONMENTS DATA [--evaluate METRICS] [--thinning N]``

ENVIRONMENTS is a folder with the environments' code anywhere below it: a ``medexqa.py``, ``medcalc_bench.py``,
``tools.py``, ``medhallu.py`` and ``postprocess.py`` of theirs, of whichever version; what is not there is left out, and
said. DATA is laid out as for ``MEDTASKS_DATA``. METRICS is the folder ``metrics`` of Hugging Face ``evaluate``. Nothing
of theirs is part of this project. Needs ``pip install verifiers`` (their parsers), scikit-learn and thefuzz.

The functions are taken out of their files one by one, since most are written inside another and the files import a
whole framework. The responses are made here, by a seed, from the rows: right and wrong answers in the forms that models
use, plain and in many wrappers. Differences are printed by cause, with examples. The exit code is 1 if one has no cause
in :data:`CAUSES`, or a cause without a row in the table of ``docs/environments.md``.
"""

from __future__ import annotations

import argparse
import ast
import json
import logging
import math
import random
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from medtasks_utils import Scorer
from medtasks_utils.benchmarks.tables import read_rows
from medtasks_utils.harness.aggregates import HarnessAggregation, combined
from medtasks_utils.tools.calculator import CalculatorTool

MEDEXQA_COLUMNS = ("question", "A", "B", "C", "D", "explanation_1", "explanation_2", "answer")
SHOWN = 3  # differences of a cause
Row = Mapping[str, Any]


def functions(folder: Path, file: str, needed: str, known: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    """All functions of the first file of that name that has the function ``needed``, however deep they stand in it."""
    for path in sorted(folder.rglob(file)):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        constants = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
        if needed not in found:
            continue
        for node in found.values():
            node.decorator_list, node.returns = [], None
            for argument in [*node.args.args, *node.args.kwonlyargs]:
                argument.annotation = None
        names: dict[str, Any] = dict(known)
        statements: list[ast.stmt] = [*constants, *found.values()]
        for statement in statements:
            try:
                exec(compile(ast.Module([statement], []), str(path), "exec"), names)
            except NameError:  # a constant or a default value of the framework's, which nothing here needs
                continue
        print(f"  their code: {path.relative_to(folder)}")
        return names
    return {}


CAUSES: dict[str, Callable[[str], Any]] = {
    "an empty or blank response": re.compile(r"\s*").fullmatch,
    "a think block before the answer": re.compile(r"<think>Option .*</think>").match,
    "a tag or box only inside a closed think block": re.compile(r"<think>So .*</think>\s*Done", re.S).match,
    "a box in a think block that is never closed": re.compile(r"<think>[^<]*\\boxed\{.*\}\Z", re.S).search,
    "a box that is never closed": re.compile(r"\\boxed\{(?![^{}]*(\{[^{}]*\})?[^{}]*\})[^{}]*\Z", re.S).search,
    "`<Answer>` with capitals": re.compile("<A[nN]").search,
    "a space before the box's brace": re.compile(r"\\boxed \{").search,
    "an earlier mention of `<answer>`": re.compile("<answer>.*<answer>", re.S).search,
    "a bare letter or digit, without a box": re.compile(r"\s*[0-2]\s*").fullmatch,
    "marks or spaces around a date": re.compile(r"(<answer>|\\boxed\{)\D+\d+/\d+/\d+").search,
    "a score or an integer that is not whole": re.compile(r"\d\.\d").search,
    "marks around the digit in the box": re.compile(r"\\boxed\{\s*(\\|\(|\*\*|\"|\d\.)").search,
    "functions and signs that the calculator supports": re.compile(r"min|max|//|math\.|np\.|−|²").search,
    "conditionals and truth values for the calculator": re.compile(r"\b(if|and|not|True)\b").search,
}
"""What tells the responses of a documented cause, the first that fits; the names are those of the table's rows."""


class Tally:
    """Equal and different verdicts, with examples of the different by cause."""

    causes: ClassVar[set[str]] = set()

    def __init__(self, title: str) -> None:
        self.title, self.equal = title, 0
        self.different: dict[str, list[str]] = defaultdict(list)

    def add(self, ours: Any, theirs: Any, response: str, shown: str = "") -> None:
        """Count one comparison, a difference under the first cause that fits the response."""
        if ours == theirs:
            self.equal += 1
            return
        cause = next((name for name, fits in CAUSES.items() if fits(response)), "unexplained")
        self.causes.add(cause)
        self.different[cause].append(f"here {ours!r}, there {theirs!r}: {response!r} {shown}")

    def print(self) -> None:
        """Print the counts, and examples of each cause."""
        total = self.equal + sum(map(len, self.different.values()))
        print(f"{self.title}: {self.equal:,} of {total:,} equal")
        for cause, cases in sorted(self.different.items(), key=lambda item: -len(item[1])):
            print(f"  {len(cases):,} {cause}")
            for case in cases[:SHOWN]:
                print(f"      {case[:220]}")


# ---- MedExQA


def medexqa_responses(row: Row, draw: random.Random) -> Iterator[str]:
    """What a model may say on a question: right, wrong, negated, in words, in passing, and nothing of use."""
    letters = "ABCD"
    one, other = draw.sample(letters, 2)
    text, other_text = row[one], row[other]
    yield f"The answer is {one}. {text} fits best."
    yield f"{one}. {text}\n\nExplanation: {other_text} is not right, since it concerns another organ."
    yield f"{text}"
    yield f"I would choose {one} rather than {other}."
    yield f"{other} is not correct. {one} is the correct option."
    yield f"The correct choice isn't {other}; it is {one}"
    yield f"Let us look at {text.lower()} and {other_text.upper()}. A patient may need both."
    yield f"**Answer:** ({one})"
    yield f"Option {other} may be right, but on reflection the answer would be {one}"
    yield f"It is {text[: max(3, len(text) // 2)]}"
    yield " ".join(draw.sample(str(row["question"]).split(), min(6, len(str(row["question"]).split()))))
    yield f"answer: {draw.choice(letters)}{draw.choice(letters)} {one}="
    yield f"<think>Option {other} is tempting. {text} is not.</think>\n{one}. {text}"
    yield draw.choice(["", " \n"])


def medexqa(folder: Path, data: Path) -> None:
    """Letters, by the authors' rules."""
    from thefuzz import process

    theirs = functions(folder, "medexqa.py", "extract_answer_letter", {"re": re, "process": process})
    if not theirs:
        print("MedExQA: no medexqa.py with extract_answer_letter")
        return
    tally, draw, scorer = Tally("MedExQA, letters"), random.Random(1), Scorer("medexqa", use_explanations=False)
    for path in sorted(data.glob("medexqa/test/*_test.tsv")):
        for row in read_rows(path, MEDEXQA_COLUMNS):
            options = {letter: row[letter] for letter in "ABCD"}
            for response in medexqa_responses(row, draw):
                answer = scorer(row, response)["strict-match"].answer
                tally.add(answer, theirs["extract_answer_letter"](response, options), response)
    tally.print()


# ---- MedCalc-Bench


def medcalc_answers(row: Row, draw: random.Random) -> Iterator[str]:
    """Texts for the tag: the truth, near and far from it, with what models put beside it."""
    truth = str(row["Ground Truth Answer"])
    yield truth
    yield f"\n{truth}\n"
    yield f"{truth} mL/min"
    yield f"The result is {truth}"
    yield f"[{truth}]"
    yield draw.choice(["N/A", "Not found", "", "unknown", "(4 weeks, 3 days)", "17 weeks 2 days", "08/17/2025"])
    number = re.fullmatch(r"-?\d+(\.\d+)?", truth)
    value = float(truth) if number else draw.uniform(0, 90)
    for factor in (1.0, 1.02, 0.97, 1.3, -1.0):
        yield f"{value * factor:.{draw.choice([0, 1, 3])}f}"
    yield f"{value:.2f}%"
    yield f"{value:.1f} mL/min/1.73 m²"
    yield f"{value:.0f} out of {value + 3:.0f}"
    yield f"{value:.0f}, {value + 1:.0f}, 9"
    yield f"str(round({value:.3f} * 2 / 2, 3))"
    yield f"str(({value:.3f} + 1"
    yield f"{int(value)}.{draw.randrange(10)}"
    yield f"0{int(abs(value))}"
    yield f"{value:,.2f}"
    yield f"{value:.2e}"


TAG, BOX = "<answer>{}</answer>", "\\boxed{{{}}}"
PLAIN = {"xml": f"So it is.\n{TAG}", "boxed": f"So it is.\n{BOX}"}
WRAPPERS = (
    *(f"<think>So {form}.</think>\nDone." for form in (TAG, BOX)),
    *(f"<think>So {form}" for form in (TAG, BOX)),
    *(f"<think>x</think>\n{form}" for form in (TAG, BOX)),
    *(f"</think>{form}" for form in (TAG, BOX)),
    *("<Answer>{}</Answer>", "<ANSWER>{}</ANSWER>", "I put it into <answer> tags: <answer>{}</answer>"),
    *("<answer>1</answer> or rather <answer>{}</answer>", "\\boxed{{1}} or rather \\boxed{{{}}}"),
    *("<answer>{}", "\\boxed{{{}", "\\boxed {{{}}}", "$\\boxed{{{}}}$", "**\\boxed{{{}}}**", "**<answer>{}</answer>**"),
    *(
        "<answer>\n{}\n</answer>",
        "\\boxed{{\n{}\n}}",
        "\\boxed{{ {} }}",
        "\\boxed{{\\text{{{}}}}}",
        "\\boxed{{\\mathbf{{{}}}}}",
    ),
    *(
        "\\boxed{{({})}}",
        "\\boxed{{**{}**}}",
        "\\boxed{{{}.}}",
        '\\boxed{{"{}"}}',
        '<answer>"{}"</answer>',
        "<answer>**{}**</answer>",
    ),
    *("<answer>str(np.float64({}))</answer>", "<answer>str({})</answer>", "<answer>[{}]</answer>", "{}", "\n{}\n", ""),
)
"""Forms of a response; the answer takes the place of the braces."""


def medcalc(folder: Path, data: Path, thinning: int) -> None:
    """Verdicts on plain answers by tag and by box, also in the form that was not asked for, and on wrapped ones."""
    from verifiers.parsers.parser import Parser
    from verifiers.parsers.xml_parser import XMLParser
    from verifiers.utils.data_utils import extract_boxed_answer

    known = {"re": re, "math": math, "np": np, "datetime": datetime, "extract_boxed_answer": extract_boxed_answer}
    known["print"] = lambda *_: None
    theirs = functions(folder, "medcalc_bench.py", "check_correctness", known)
    if not theirs:
        print("MedCalc-Bench: no medcalc_bench.py with check_correctness")
        return
    boxed = theirs.get("extract_boxed_answer_strict") or (
        lambda text: extract_boxed_answer(text) if "\\boxed{" in text else ""
    )
    parsers = {"xml": XMLParser(fields=["answer"], answer_field="answer"), "boxed": Parser(extract_fn=boxed)}
    rows = [row for name in ("test", "one_shot") for row in read_rows(data / f"medcalc_bench/{name}.csv")]
    for asked in PLAIN:
        scorer = Scorer("medcalc_bench", answer_format=asked)
        in_forms = {form: Tally(f"MedCalc-Bench, asked for {asked}, {form}") for form in ("plain", "wrapped")}
        draw = random.Random(2)
        for row in rows[::thinning]:
            info = {
                "calc_id": row["Calculator ID"],
                "ground_truth": row["Ground Truth Answer"],
                "lower_bound": row["Lower Limit"],
                "upper_bound": row["Upper Limit"],
            }
            answers = list(medcalc_answers(row, draw))
            responses = [("plain", form.format(answer)) for answer in answers for form in PLAIN.values()]
            for answer in (row["Ground Truth Answer"], draw.choice(answers)):
                responses += [("wrapped", form.format(answer)) for form in WRAPPERS]
            for form, response in responses:
                completion = [{"role": "assistant", "content": response}]
                try:
                    verdict = theirs["check_correctness"](parsers[asked], completion, info)
                except SyntaxError:  # of their eval; their framework counts a reward that fails as 0
                    verdict = 0.0
                acc = scorer(row, response)["strict-match"].metrics["acc"]
                in_forms[form].add(float(acc or 0), verdict, response, f"on {info}")
        for tally in in_forms.values():
            tally.print()


def expressions(draw: random.Random, count: int) -> Iterator[str]:
    """Formulas of medicine with other numbers, and what models type beside the rules."""
    forms = (
        "(140 - {a}) * {b} / (72 * {c})",
        "{a} * {b} / {c}",
        "sqrt({a} * {b} / 3600)",
        "{a} - ({b} + {c})",
        "{a}^2 / {b}",
        "round({a} / {b}, 2)",
        "exp(-{c}) * {a}",
        "log10({a} / {b})",
        "log({a}) + {b}",
        "{a} % 7",
        "{a} ÷ {b} × {c}",
        "({a} + 2 * {b}) / 3",
        "abs({c} - {a})",
        "{a} // {b}",
        "{a} mg / {b}",
        "{a} / 0",
        "2 * pi * {a}",
        "({a} + {b}",
        "sin({a}) ** 2 + cos({a}) ** 2",
        "1e-3 * {a}",
        "min({a}, {b})",
        "round({a}.5)",
        "",
        "{a} {b}",
        "math.sqrt({a})",
        "np.sqrt({a})",
        "{a} − {b}",
        "{a}²",
        "{a} if {c} else {b}",
        "{a} and {b}",
        "not {a}",
        "True",
    )
    for place in range(count):
        a, b, c = draw.randint(1, 180), draw.randint(1, 120), round(draw.uniform(0.1, 9), 2)
        yield forms[place % len(forms)].format(a=a, b=b, c=c)


def calculator(folder: Path) -> None:
    """Results of the calculator, as numbers; both fail on what is no expression."""
    from simpleeval import SimpleEval

    theirs = functions(folder, "tools.py", "calculator", {"re": re, "math": math, "SimpleEval": SimpleEval})
    if not theirs:
        print("Calculator: no tools.py with calculator")
        return
    tally, ours = Tally("Calculator"), CalculatorTool()
    for expression in expressions(random.Random(3), 470):
        (outcome,) = ours.run([("", expression)])
        tally.add(_number(outcome.text), _number(theirs["calculator"](expression=expression)), expression)
    tally.print()


def _number(text: str) -> float | str:
    try:
        return float(f"{float(text):.10g}")
    except ValueError:
        return "error"


# ---- MedHallu


def medhallu(folder: Path, data: Path) -> None:
    """F1, precision, recall and accuracy of a hundred runs drawn by chance."""
    from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score
    from verifiers.utils.data_utils import extract_boxed_answer

    def scikit(function: Callable[..., float]) -> Callable[..., float]:
        return lambda *given, **named: float(function(*given, **named))

    scores = {each.__name__: scikit(each) for each in (accuracy_score, f1_score, precision_score, recall_score)}
    theirs = functions(
        folder,
        "postprocess.py",
        "postprocess_medhallu",
        {"json": json, "extract_boxed_answer": extract_boxed_answer} | scores,
    )
    if not theirs:
        print("MedHallu: no postprocess.py with postprocess_medhallu")
        return
    scorer, draw, tally = Scorer("medhallu"), random.Random(4), Tally("MedHallu, four ratios of 100 runs")
    rows = read_rows(data / "medhallu/pqa_labeled.csv")
    names = {"f1": "f1", "precision": "precision", "recall": "recall", "accuracy_answered": "accuracy"}
    how = {metric.name: metric.aggregation for metric in scorer.benchmark.metrics_of(scorer.info, scorer.options)}
    for _ in range(100):
        skill, lines = draw.random(), []
        values: dict[str, list[Any]] = defaultdict(list)
        for row in draw.sample(rows, draw.choice([3, 20, 100])):
            for target, shown in enumerate(("ground_truth", "hallucinated")):
                said = str(target) if draw.random() < skill else draw.choice(["0", "1", "2", "3", "0 or 1"])
                form = draw.choice(["\\boxed{%s}", "I judge it so: \\boxed{%s}", "$\\boxed{%s}$"])
                response = form.replace("%s", said)
                lines.append({"answer": str(target), "completion": [{"content": response}]})
                example = scorer.example(row, shown)
                found = scorer.benchmark.strict(response, example, scorer.options)
                for name, value in scorer.benchmark.score(found, example, scorer.options).values.items():
                    values[name].append(combined([value], None, None))
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
            file.flush()
            there = theirs["postprocess_medhallu"](file.name)
        for name, their_name in names.items():
            ours = HarnessAggregation(how[name])([value for value in values[name] if value is not None])
            kept = there["kept"] > 0
            if kept or not isinstance(ours, str):  # where nothing is answered, accuracy is N/A here and 0 there
                tally.add(ours if isinstance(ours, str) else round(ours, 12), round(there[their_name], 12), name)
    tally.print()


def medhallu_rewards(folder: Path, data: Path) -> None:
    """Rewards of wrapped answers."""
    from verifiers.parsers.parser import Parser
    from verifiers.utils.data_utils import extract_boxed_answer

    theirs = functions(folder, "medhallu.py", "reward_fn", {})
    if not theirs:
        print("MedHallu: no medhallu.py with reward_fn")
        return
    scorer, parser, tally = Scorer("medhallu"), Parser(extract_fn=extract_boxed_answer), Tally("MedHallu, rewards")
    row = read_rows(data / "medhallu/pqa_labeled.csv")[0]
    for target, shown in enumerate(("ground_truth", "hallucinated")):
        example = scorer.example(row, shown)
        for form in WRAPPERS:
            for answer in ("0", "1", "2", "3", "1."):
                response = form.format(answer)
                answer_read = scorer.benchmark.strict(response, example, scorer.options)
                ours = scorer.benchmark.score(answer_read, example, scorer.options).values["reward"]
                completion = [{"role": "assistant", "content": response}]
                tally.add(ours, theirs["reward_fn"](completion, str(target), parser), response)
    tally.print()


# ---- explanations


def explanations(metrics: Path, data: Path) -> None:
    """ROUGE-L, BLEU and METEOR against ``evaluate``, one example at a time."""
    import evaluate

    from medtasks_utils.benchmarks.medexqa.metrics import make_metrics

    draw = random.Random(5)
    texts = [row["Question"] + " " + row["Ground Truth"] for row in read_rows(data / "medhallu/pqa_labeled.csv")]
    pairs = []
    for first, second in list(pairwise(texts))[:665]:
        words = first.split()
        kept = [word for word in words if draw.random() < 0.8]
        pairs.append((" ".join(kept), [first, second]))
    for name in ("rougeL", "bleu", "meteor"):
        theirs = evaluate.load(str(metrics / name.lower().removesuffix("l")))
        (ours,) = make_metrics([name], model="none")
        ours.prepare()
        found = ours.score([text for text, _ in pairs], [references for _, references in pairs])
        largest = max(
            abs(value - 100 * float(theirs.compute(predictions=[text], references=[references])[name]))
            for value, (text, references) in zip(found, pairs, strict=True)
        )
        print(f"{name}: largest difference on {len(pairs)} texts {largest:.1e}")


def main() -> int:
    """Compare all that is there."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("environments", type=Path, help="a folder with the environments' code")
    parser.add_argument("data", type=Path, help="rows, laid out as for MEDTASKS_DATA")
    parser.add_argument("--evaluate", type=Path, metavar="METRICS", help="the folder metrics of Hugging Face evaluate")
    parser.add_argument("--thinning", type=int, default=1, metavar="N", help="take every Nth row of MedCalc-Bench only")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)  # thefuzz warns of every blank response
    medexqa(arguments.environments, arguments.data)
    medcalc(arguments.environments, arguments.data, arguments.thinning)
    calculator(arguments.environments)
    medhallu(arguments.environments, arguments.data)
    medhallu_rewards(arguments.environments, arguments.data)
    if arguments.evaluate:
        explanations(arguments.evaluate, arguments.data)
    document = (Path(__file__).parents[1] / "docs" / "environments.md").read_text(encoding="utf-8")
    without_row = [cause for cause in sorted(Tally.causes) if f"| {cause} |" not in document]
    for cause in without_row:
        print(f"no row in docs/environments.md: {cause}")
    return 1 if without_row else 0


if __name__ == "__main__":
    sys.exit(main())
